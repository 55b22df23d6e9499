package imgio

import (
	"encoding/binary"
	"errors"
	"image"
	"io"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/raster"
)

// OpenImage is like [OpenWith] for an image whose pixels are of type P:
//
//	img, file, err := imgio.OpenImage[uint8]("photo.jpg", imgio.Options{})
//
// Pixels are not converted: if the file has pixels of another type, OpenImage
// returns an error that wraps [boxsum.ErrTypes]. The only exceptions are arrays
// of 64-bit integers, which are converted to P if P can hold all of their
// values; see [ReadNPY] for int8 and float16. The caller must close the file
// when done with the image.
func OpenImage[P boxsum.Pixel](path string, opt Options) (boxsum.Image[P], io.Closer, error) {
	var none boxsum.Image[P]
	opt.wider = true
	p, err := OpenWith(path, opt)
	if err != nil {
		return none, nil, err
	}
	if img, ok, err := pixelsAs[P](p.Image); ok {
		if err != nil {
			return none, nil, errors.Join(inFile(path, err), p.Close())
		}
		return img, closer(nil), p.Close()
	}
	img, ok := p.Image.(boxsum.Image[P])
	if !ok {
		err := raster.Unsupported("image has pixels of %s, want %T", sliceOf(p.Image).pixel, *new(P))
		return none, nil, errors.Join(inFile(path, err), p.Close())
	}
	return img, p, nil
}

// ToImage converts a boxsum.Image of uint8 or uint16, such as Picture.Image, to
// an image.Image. The image must have 1 to 4 channels: gray; gray and alpha; R,
// G, B; or R, G, B, A with straight alpha. 8-bit images with one or four
// channels share the memory of img; others are copied. For other types of
// pixels, ToImage returns an error that wraps [boxsum.ErrTypes].
func ToImage(img any) (image.Image, error) {
	switch img := img.(type) {
	case boxsum.Image[uint8]:
		if err := showable(&img); err != nil {
			return nil, err
		}
		return toImage8(img), nil
	case boxsum.Image[uint16]:
		if err := showable(&img); err != nil {
			return nil, err
		}
		return toImage16(img), nil
	}
	return nil, raster.Unsupported("%s are not supported, want uint8 or uint16", described(img))
}

// showable validates an image and fills in its defaults.
func showable[P boxsum.Pixel](img *boxsum.Image[P]) error {
	img.Channels = max(img.Channels, 1)
	if img.Stride == 0 {
		img.Stride = img.Width * img.Channels
	}
	return checkShown(img.Width, img.Height, img.Channels, img.Stride, len(img.Pix))
}

func checkShown(width, height, channels, stride, values int) error {
	row := width * channels
	switch {
	case width < 0 || height < 0 || channels > 4 || width > 0 && row/width != channels || stride < row:
		return raster.Invalid("image is %d×%d with %d channels and stride %d, want sides of 0 or more, at most 4 channels and a stride of at least a row", width, height, channels, stride)
	case width > 0 && height > 0 && (values < row || (values-row)/stride < height-1):
		return raster.Invalid("buffer has %d elements, too few for %d×%d pixels with %d channels and stride %d", values, width, height, channels, stride)
	}
	return nil
}

func toImage8(img boxsum.Image[uint8]) image.Image {
	bounds := image.Rect(0, 0, img.Width, img.Height)
	switch img.Channels {
	case 1:
		return &image.Gray{Pix: img.Pix, Stride: img.Stride, Rect: bounds}
	case 4:
		return &image.NRGBA{Pix: img.Pix, Stride: img.Stride, Rect: bounds}
	}
	m := image.NewNRGBA(bounds)
	for y := range img.Height {
		row, to := img.Row(y), m.Pix[y*m.Stride:]
		for x := range img.Width {
			c := colorOf(row[x*img.Channels:], img.Channels, 0xff)
			copy(to[4*x:], c[:])
		}
	}
	return m
}

func toImage16(img boxsum.Image[uint16]) image.Image {
	bounds := image.Rect(0, 0, img.Width, img.Height)
	if img.Channels == 1 {
		m := image.NewGray16(bounds)
		for y := range img.Height {
			for x, v := range img.Row(y) {
				binary.BigEndian.PutUint16(m.Pix[y*m.Stride+2*x:], v)
			}
		}
		return m
	}
	m := image.NewNRGBA64(bounds)
	for y := range img.Height {
		row := img.Row(y)
		for x := range img.Width {
			for i, v := range colorOf(row[x*img.Channels:], img.Channels, 0xffff) {
				binary.BigEndian.PutUint16(m.Pix[y*m.Stride+8*x+2*i:], v)
			}
		}
	}
	return m
}

// colorOf returns a pixel with 2 to 4 channels as R, G, B, A.
func colorOf[P uint8 | uint16](pixel []P, channels int, opaque P) [4]P {
	switch channels {
	case 2:
		return [4]P{pixel[0], pixel[0], pixel[0], pixel[1]}
	case 3:
		return [4]P{pixel[0], pixel[1], pixel[2], opaque}
	}
	return [4]P(pixel[:4])
}
