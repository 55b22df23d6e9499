package sources

import (
	"context"
	"image"
	"io"
	"slices"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/zarr"
)

// pictures lists the extensions of files that are decoded as a whole.
var pictures = []string{".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".pnm", ".pgm", ".ppm", ".pam"}

// openPicture opens a picture, which is decoded on reading. Its shape and type are known
// before that if its format stores sizes at the start. A large tile of a mosaic is decoded
// only once; see [spill].
func openPicture(ctx context.Context, path string, like *zarr.Array, tile bool) (*zarr.Array, error) {
	from := file(path)
	size, err := from.size()
	if err != nil {
		return nil, err
	}
	spec := &zarr.Spec{BigEndian: raster.BigEndian}
	config, _, err := image.DecodeConfig(io.NewSectionReader(from, 0, size))
	if err == nil && like != nil && config.Width > 0 && config.Height > 0 {
		spec.Type, spec.Shape = like.Type(), slices.Concat([]int{config.Height, config.Width}, like.Shape()[2:])
	} else if spec.Type, spec.Shape, _, err = readPicture(path); err != nil {
		return nil, err
	}
	spec.Chunk = spec.Shape
	decode := func() ([]byte, error) {
		typ, shape, data, err := readPicture(path)
		if err == nil && (typ != spec.Type || !slices.Equal(shape, spec.Shape)) {
			err = bad("%s has shape %v and elements of %v, want %v and %v", path, shape, typ, spec.Shape, spec.Type)
		}
		return data, err
	}
	m := &made{what: "a picture", list: from.list, chunk: func(context.Context, []int) ([]byte, error) { return decode() }}
	if all := int64(raster.Product(spec.Shape)) * int64(spec.Type.Size()); tile && all > spillFrom {
		// Its chunks are rows, read from a file once the picture has been decoded.
		s := &spill{decode: decode}
		spec.Chunk = slices.Clone(spec.Shape)
		spec.Chunk[0] = min(spec.Shape[0], 256)
		strip := int64(raster.Product(spec.Chunk)) * int64(spec.Type.Size())
		m.footprint, m.closing = all, s.close
		m.chunk = func(_ context.Context, place []int) ([]byte, error) {
			data, at := raster.Aligned(int(strip)), int64(place[0])*strip
			return data, s.read(data[:min(strip, all-at)], at)
		}
	}
	a, err := newMade(ctx, spec, m)
	if err == nil {
		a.SetCache(zarr.NewCache(a.Footprint() + overhead))
	}
	return raster.OrNil(a, err)
}

// readPicture decodes a file with its colors as stored.
func readPicture(path string) (zarr.Type, []int, []byte, error) {
	p, err := imgio.OpenWith(path, imgio.Options{Color: imgio.Keep, AsStored: true})
	if err != nil {
		return 0, nil, nil, err
	}
	defer p.Close()
	switch img := p.Image.(type) {
	case boxsum.Image[uint8]:
		return rowsOf(img)
	case boxsum.Image[uint16]:
		return rowsOf(img)
	}
	return 0, nil, nil, bad("%s has pixels of %T, want uint8 or uint16", path, p.Image)
}

func rowsOf[P uint8 | uint16](img boxsum.Image[P]) (zarr.Type, []int, []byte, error) {
	shape := []int{img.Height, img.Width}
	if img.Channels > 1 {
		shape = append(shape, img.Channels)
	}
	data := raster.Aligned(raster.Product(shape) * zarr.TypeOf[P]().Size())[:0]
	for y := range img.Height {
		data = append(data, raster.Bytes(img.Row(y))...)
	}
	return zarr.TypeOf[P](), shape, data, nil
}
