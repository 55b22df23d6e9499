package imgio

import (
	"fmt"
	"math"
	"strings"
	"unsafe"

	"github.com/boxsum/boxsum"
)

// Element is a constraint that permits the types of the elements of an [Array].
type Element interface {
	uint8 | uint16 | uint32 | uint64 | int16 | int32 | int64 | float32 | float64
}

// An Array is a row-major n-dimensional array, as in .npy files. Data is a
// slice of one of the [Element] types, whose length is the product of Shape.
type Array struct {
	Shape []int
	Data  any
}

// Image returns the array as a boxsum.Image of its own element type, sharing
// its memory. Shape (H, W) means one channel and (H, W, C) means C channels.
// The dynamic type is boxsum.Image[P] with P one of uint8, uint16, uint32,
// int16, int32, float32, float64.
//
// 64-bit integers are copied and converted: int64 to int32 and uint64 to uint32
// if all of them fit, and otherwise to uint32 or, if that does not fit, to
// float64. If float64 cannot represent a value exactly, which may happen beyond
// 2^53, Image returns an error that wraps [boxsum.ErrTypes]; see Wide of
// [Options].
func (a *Array) Image() (any, error) {
	a, err := a.pixels()
	if err != nil {
		return nil, err
	}
	for _, of := range []func(*Array) (any, error){
		imageOf[uint8], imageOf[uint16], imageOf[uint32], imageOf[int16], imageOf[int32], imageOf[float32], imageOf[float64],
	} {
		if img, err := of(a); img != nil || err != nil {
			return img, err
		}
	}
	return nil, fmt.Errorf("type %s is not supported for images or volumes, want uint8, uint16, uint32, int16, int32, float32 or float64",
		strings.TrimPrefix(fmt.Sprintf("%T", a.Data), "[]"))
}

// imageOf returns the image of an array of P, or nil if the array holds another
// type.
func imageOf[P boxsum.Pixel](a *Array) (any, error) {
	data, ok := a.Data.([]P)
	if !ok {
		return nil, nil
	}
	width, height, channels, n, err := imageShape(a.Shape, len(data))
	if err != nil {
		return nil, err
	}
	return boxsum.Image[P]{Pix: data[:n], Stride: width * channels, Width: width, Height: height, Channels: channels}, nil
}

// imageShape returns the size of an array of have elements as an image, and the
// number of elements that the image has.
func imageShape(shape []int, have int) (width, height, channels, n int, err error) {
	fail := func(format string, args ...any) (int, int, int, int, error) {
		return 0, 0, 0, 0, fmt.Errorf(format, args...)
	}
	if len(shape) != 2 && len(shape) != 3 {
		return fail("array of shape %s is not an image, want (H, W) or (H, W, C)", shapeString(shape))
	}
	channels = 1
	if len(shape) == 3 {
		channels = shape[2]
	}
	if channels == 0 {
		return fail("array of shape %s has no channels", shapeString(shape))
	}
	if n, err = elementCount(shape); err != nil {
		return 0, 0, 0, 0, err
	}
	if n == 0 && nonzeroProduct(shape) > maxEmpty {
		return fail("shape %s exceeds the limit of %d for an array without elements", shapeString(shape), maxEmpty)
	}
	if n > have {
		return fail("array of shape %s has %[3]d elements, want %[2]d", shapeString(shape), n, have)
	}
	return shape[1], shape[0], channels, n, nil
}

// elementCount returns the product of a shape, or an error if its size in bytes
// overflows an int.
func elementCount(shape []int) (int, error) {
	n, empty := 1, false
	for _, d := range shape {
		switch {
		case d < 0:
			return 0, fmt.Errorf("shape is %s, want dimensions of 0 or more", shapeString(shape))
		case d == 0:
			empty = true
		case n > math.MaxInt/8/d:
			return 0, fmt.Errorf("shape is %s, whose number of elements does not fit in an int", shapeString(shape))
		default:
			n *= d
		}
	}
	if empty {
		return 0, nil
	}
	return n, nil
}

// nonzeroProduct returns the product of the nonzero dimensions of a shape that
// elementCount accepts.
func nonzeroProduct(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= max(d, 1)
	}
	return n
}

// shapeString formats a shape as Python does.
func shapeString(shape []int) string {
	s := strings.Trim(strings.ReplaceAll(fmt.Sprint(shape), " ", ", "), "[]")
	if len(shape) == 1 {
		s += ","
	}
	return "(" + s + ")"
}

// bytesOf returns the memory of a slice.
func bytesOf[T Element](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}

// hostIsLittle reports whether this machine is little-endian, as most files
// are.
var hostIsLittle = func() bool {
	one := uint16(1)
	return *(*byte)(unsafe.Pointer(&one)) == 1
}()

// swapBytes reverses every run of size bytes.
func swapBytes(b []byte, size int) {
	switch size {
	case 2:
		for ; len(b) >= 2; b = b[2:] {
			b[0], b[1] = b[1], b[0]
		}
	case 4:
		for ; len(b) >= 4; b = b[4:] {
			b[0], b[1], b[2], b[3] = b[3], b[2], b[1], b[0]
		}
	case 8:
		for ; len(b) >= 8; b = b[8:] {
			b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7] = b[7], b[6], b[5], b[4], b[3], b[2], b[1], b[0]
		}
	}
}
