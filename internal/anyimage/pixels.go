// Code generated from anyimage.tmpl. DO NOT EDIT.

package anyimage

import (
	"fmt"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/pairs"
)

// Size is that of a [boxsum.Image].
func Size(img any) (width, height, channels int) {
	switch img := img.(type) {
	case boxsum.Image[uint8]:
		return img.Width, img.Height, img.Channels
	case boxsum.Image[uint16]:
		return img.Width, img.Height, img.Channels
	case boxsum.Image[uint32]:
		return img.Width, img.Height, img.Channels
	case boxsum.Image[int16]:
		return img.Width, img.Height, img.Channels
	case boxsum.Image[int32]:
		return img.Width, img.Height, img.Channels
	case boxsum.Image[float32]:
		return img.Width, img.Height, img.Channels
	case boxsum.Image[float64]:
		return img.Width, img.Height, img.Channels
	}
	return 0, 0, 0
}

// Layout is how far apart its rows are, and how many values it has memory for.
func Layout(img any) (stride, values int) {
	switch img := img.(type) {
	case boxsum.Image[uint8]:
		return img.Stride, len(img.Pix)
	case boxsum.Image[uint16]:
		return img.Stride, len(img.Pix)
	case boxsum.Image[uint32]:
		return img.Stride, len(img.Pix)
	case boxsum.Image[int16]:
		return img.Stride, len(img.Pix)
	case boxsum.Image[int32]:
		return img.Stride, len(img.Pix)
	case boxsum.Image[float32]:
		return img.Stride, len(img.Pix)
	case boxsum.Image[float64]:
		return img.Stride, len(img.Pix)
	}
	return 0, 0
}

// Row is a row of a [boxsum.Image], a slice.
func Row(img any, y int) any {
	switch img := img.(type) {
	case boxsum.Image[uint8]:
		return img.Row(y)
	case boxsum.Image[uint16]:
		return img.Row(y)
	case boxsum.Image[uint32]:
		return img.Row(y)
	case boxsum.Image[int16]:
		return img.Row(y)
	case boxsum.Image[int32]:
		return img.Row(y)
	case boxsum.Image[float32]:
		return img.Row(y)
	case boxsum.Image[float64]:
		return img.Row(y)
	}
	return nil
}

// Floats appends every step-th value of row y of a [boxsum.Image], between two of its values.
func Floats(to []float64, img any, y, first, end, step int) []float64 {
	switch img := img.(type) {
	case boxsum.Image[uint8]:
		return floats(to, img.Row(y)[first:end], step)
	case boxsum.Image[uint16]:
		return floats(to, img.Row(y)[first:end], step)
	case boxsum.Image[uint32]:
		return floats(to, img.Row(y)[first:end], step)
	case boxsum.Image[int16]:
		return floats(to, img.Row(y)[first:end], step)
	case boxsum.Image[int32]:
		return floats(to, img.Row(y)[first:end], step)
	case boxsum.Image[float32]:
		return floats(to, img.Row(y)[first:end], step)
	case boxsum.Image[float64]:
		return floats(to, img.Row(y)[first:end], step)
	}
	return to
}

// Pixel is the type of the pixels of a [boxsum.Image], and 0 where there is none.
func Pixel(img any) pairs.Type {
	switch img.(type) {
	case boxsum.Image[uint8]:
		return pairs.U8
	case boxsum.Image[uint16]:
		return pairs.U16
	case boxsum.Image[uint32]:
		return pairs.U32
	case boxsum.Image[int16]:
		return pairs.I16
	case boxsum.Image[int32]:
		return pairs.I32
	case boxsum.Image[float32]:
		return pairs.F32
	case boxsum.Image[float64]:
		return pairs.F64
	}
	return 0
}

// New allocates a [boxsum.Image].
func New(pixel pairs.Type, width, height, channels int) (any, error) {
	switch pixel {
	case pairs.U8:
		return boxsum.NewImage[uint8](width, height, channels)
	case pairs.U16:
		return boxsum.NewImage[uint16](width, height, channels)
	case pairs.U32:
		return boxsum.NewImage[uint32](width, height, channels)
	case pairs.I16:
		return boxsum.NewImage[int16](width, height, channels)
	case pairs.I32:
		return boxsum.NewImage[int32](width, height, channels)
	case pairs.F32:
		return boxsum.NewImage[float32](width, height, channels)
	case pairs.F64:
		return boxsum.NewImage[float64](width, height, channels)
	}
	return nil, fmt.Errorf("%w: there are no images of %v", boxsum.ErrTypes, pixel)
}

// Copy copies the rows of a [boxsum.Image] into another, from its row y on.
func Copy(dst any, y int, src any) {
	switch dst := dst.(type) {
	case boxsum.Image[uint8]:
		copyRows(dst, y, src.(boxsum.Image[uint8]))
	case boxsum.Image[uint16]:
		copyRows(dst, y, src.(boxsum.Image[uint16]))
	case boxsum.Image[uint32]:
		copyRows(dst, y, src.(boxsum.Image[uint32]))
	case boxsum.Image[int16]:
		copyRows(dst, y, src.(boxsum.Image[int16]))
	case boxsum.Image[int32]:
		copyRows(dst, y, src.(boxsum.Image[int32]))
	case boxsum.Image[float32]:
		copyRows(dst, y, src.(boxsum.Image[float32]))
	case boxsum.Image[float64]:
		copyRows(dst, y, src.(boxsum.Image[float64]))
	}
}

// Memory is that of the pixels of a [boxsum.Image].
func Memory(img any) []byte {
	switch img := img.(type) {
	case boxsum.Image[uint8]:
		return bytesOf(img.Pix)
	case boxsum.Image[uint16]:
		return bytesOf(img.Pix)
	case boxsum.Image[uint32]:
		return bytesOf(img.Pix)
	case boxsum.Image[int16]:
		return bytesOf(img.Pix)
	case boxsum.Image[int32]:
		return bytesOf(img.Pix)
	case boxsum.Image[float32]:
		return bytesOf(img.Pix)
	case boxsum.Image[float64]:
		return bytesOf(img.Pix)
	}
	return nil
}
