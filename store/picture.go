package store

import (
	"context"
	"fmt"
	"image"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/grid"
)

// openArray is [OpenArray]. Like is a tile that this one should be as, or nil, and in the mosaics that this is part of.
func openArray(ctx context.Context, location string, like *Array, in nest) (*Array, error) {
	if in.depth > deepest {
		return nil, bad("%s: mosaics of mosaics of mosaics of mosaics are not opened", Redacted(location))
	}
	path := strings.TrimPrefix(location, "file://")
	end := strings.ToLower(filepath.Ext(path))
	_, notFile := file(path).size()
	switch {
	case isPattern(path):
		return openPattern(ctx, path, in)
	case strings.Contains(path, "://") || notFile != nil: // a store, or what says what is wrong
	case end == ".tif" || end == ".tiff" || end == ".btf":
		return OpenTIFF(ctx, path)
	case end == ".npy":
		return OpenNPY(ctx, path)
	case end == ".vrt":
		return openVRT(ctx, path, in)
	case end == ".csv":
		return openList(ctx, path, in)
	case slices.Contains(pictures, end):
		return openPicture(ctx, path, like, in.depth > 0)
	}
	return openStored(ctx, location)
}

// pictures are how the names of files end that are decoded as a whole.
var pictures = []string{".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".pnm", ".pgm", ".ppm", ".pam"}

// openPicture opens a picture, which is decoded when it is read. What it is like is known without, if the sizes of its kind stand at its start. A large tile
// of a mosaic is decoded once, see [spill].
func openPicture(ctx context.Context, path string, like *Array, tile bool) (*Array, error) {
	from := file(path)
	size, err := from.size()
	if err != nil {
		return nil, err
	}
	spec := &Spec{BigEndian: bigHost}
	config, _, err := image.DecodeConfig(io.NewSectionReader(from, 0, size))
	if err == nil && like != nil && config.Width > 0 && config.Height > 0 {
		spec.Type, spec.Shape = like.m.typ, slices.Concat([]int{config.Height, config.Width}, like.m.shape[2:])
	} else if spec.Type, spec.Shape, _, err = readPicture(path); err != nil {
		return nil, err
	}
	spec.Chunk = spec.Shape
	decode := func() ([]byte, error) {
		typ, shape, data, err := readPicture(path)
		if err == nil && (typ != spec.Type || !slices.Equal(shape, spec.Shape)) {
			err = bad("%s has shape %v and elements of %v, and should have %v and %v", path, shape, typ, spec.Shape, spec.Type)
		}
		return data, err
	}
	m := &made{what: "a picture", list: from.list, chunk: func(context.Context, []int) ([]byte, error) { return decode() }}
	if all := int64(product(spec.Shape)) * int64(spec.Type.Size()); tile && all > spillFrom {
		// Its chunks are some rows, of a file where it is once it was decoded.
		s := &spill{decode: decode}
		spec.Chunk = slices.Clone(spec.Shape)
		spec.Chunk[0] = min(spec.Shape[0], 256)
		strip := int64(product(spec.Chunk)) * int64(spec.Type.Size())
		m.whole, m.closing = all, s.close
		m.chunk = func(_ context.Context, place []int) ([]byte, error) {
			data, at := aligned(int(strip)), int64(place[0])*strip
			return data, s.read(data[:min(strip, all-at)], at)
		}
	}
	a, err := newMade(ctx, spec, m)
	if err == nil {
		a.keepUpTo(a.largest() + overhead)
	}
	return grid.OrNil(a, err)
}

// readPicture decodes a file with its colours, as they are stored.
func readPicture(path string) (Type, []int, []byte, error) {
	p, err := imgio.OpenWith(path, imgio.Options{Color: imgio.Keep, AsStored: true})
	if err != nil {
		return 0, nil, nil, fmt.Errorf("store: %w", err)
	}
	defer p.Close()
	switch img := p.Image.(type) {
	case boxsum.Image[uint8]:
		return rowsOf(img)
	case boxsum.Image[uint16]:
		return rowsOf(img)
	}
	return 0, nil, nil, bad("%s has pixels of %T", path, p.Image)
}

func rowsOf[P uint8 | uint16](img boxsum.Image[P]) (Type, []int, []byte, error) {
	shape := []int{img.Height, img.Width}
	if img.Channels > 1 {
		shape = append(shape, img.Channels)
	}
	data := aligned(product(shape) * TypeOf[P]().Size())[:0]
	for y := range img.Height {
		data = append(data, bytesOf(img.Row(y))...)
	}
	return TypeOf[P](), shape, data, nil
}
