// Package pixels converts between images of types known only at run time and arrays, whose type is data.
package pixels

import (
	"fmt"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/raster"
)

// Of returns the pixels of img, which is a boxsum.Image. The extent is complete, but neither it nor the memory
// is checked. The type is 0 if img is anything else.
func Of(img any) raster.Array {
	switch img := img.(type) {
	case boxsum.Image[uint8]:
		return array(img)
	case boxsum.Image[uint16]:
		return array(img)
	case boxsum.Image[uint32]:
		return array(img)
	case boxsum.Image[int16]:
		return array(img)
	case boxsum.Image[int32]:
		return array(img)
	case boxsum.Image[float32]:
		return array(img)
	case boxsum.Image[float64]:
		return array(img)
	case boxsum.Image[int64]:
		return array(img)
	case boxsum.Image[uint64]:
		return array(img)
	}
	return raster.Array{}
}

func array[P boxsum.Pixel](img boxsum.Image[P]) raster.Array {
	channels, stride := max(img.Channels, 1), img.Stride
	if stride == 0 {
		stride = img.Width * channels
	}
	return raster.ArrayOf(img.Pix, raster.PlaneExtent(img.Width, img.Height, channels, stride))
}

// Image returns an array as a boxsum.Image that shares its memory.
func Image(a raster.Array) (any, error) {
	switch a.Type {
	case raster.U8:
		return image[uint8](a), nil
	case raster.U16:
		return image[uint16](a), nil
	case raster.U32:
		return image[uint32](a), nil
	case raster.I16:
		return image[int16](a), nil
	case raster.I32:
		return image[int32](a), nil
	case raster.F32:
		return image[float32](a), nil
	case raster.F64:
		return image[float64](a), nil
	}
	return nil, fmt.Errorf("%w: pixels have type %v, want uint8, uint16, uint32, int16, int32, float32 or float64", boxsum.ErrTypes, a.Type)
}

func image[P boxsum.Pixel](a raster.Array) boxsum.Image[P] {
	return boxsum.Image[P]{Pix: raster.Elems[P](a.Data), Stride: a.Stride, Width: a.Width, Height: a.Height, Channels: a.Channels}
}
