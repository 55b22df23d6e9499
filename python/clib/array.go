package main

// #include "array.h"
import "C"

import (
	"fmt"
	"strconv"
	"strings"
	"unsafe"

	"github.com/boxsum/boxsum"
)

// Arrays of int64 are seen as int: another size of int does not compile.
const _ uint = uint(unsafe.Sizeof(int(0)) - 8)

// An element is the type of an array's values: its kind, such as 'u', and bytes.
type element struct {
	kind  byte
	bytes int
}

var (
	u8  = element{'u', 1}
	u16 = element{'u', 2}
	u32 = element{'u', 4}
	u64 = element{'u', 8}
	i16 = element{'i', 2}
	i32 = element{'i', 4}
	i64 = element{'i', 8}
	f32 = element{'f', 4}
	f64 = element{'f', 8}
)

func (e element) String() string {
	name, ok := map[byte]string{'u': "uint", 'i': "int", 'f': "float"}[e.kind]
	if !ok {
		return fmt.Sprintf("kind %q of %d bytes", e.kind, e.bytes)
	}
	return fmt.Sprintf("%s%d", name, 8*e.bytes)
}

// What the flags of an array say, see NumPy's array interface.
const (
	aligned    = 0x100
	notSwapped = 0x200
	writeable  = 0x400
)

// An array is an array of the caller's. Its strides are bytes.
type array struct {
	element
	data    unsafe.Pointer
	shape   extent
	strides []int
	flags   int
}

// An extent is the shape of an array, which prints as in Python. Negative lengths
// stand for any.
type extent []int

func (e extent) String() string {
	var s strings.Builder
	for i, n := range e {
		if i > 0 {
			s.WriteString(", ")
		}
		if n < 0 {
			s.WriteString("N")
		} else {
			s.WriteString(strconv.Itoa(n))
		}
	}
	if len(e) == 1 {
		s.WriteString(",")
	}
	return "(" + s.String() + ")"
}

func arrayOf(a *C.boxsum_array) (array, error) {
	if a == nil || a.two != 2 || a.nd < 0 {
		return array{}, fmt.Errorf("boxsum: %w: not an array", boxsum.ErrTypes)
	}
	n := int(a.nd)
	return array{
		element: element{byte(a.typekind), int(a.itemsize)},
		data:    a.data,
		shape:   unsafe.Slice((*int)(unsafe.Pointer(a.shape)), n),
		strides: unsafe.Slice((*int)(unsafe.Pointer(a.strides)), n),
		flags:   int(a.flags),
	}, nil
}

// A grid is an array seen as rows of values that lie side by side, in slices one
// behind the other; a plane has one slice. Strides are elements.
type grid struct {
	width, height, depth, channels int
	stride, sliceStride            int
	length                         int // elements from the first value to the last
}

// grid sees an array with so many axes, and perhaps one more for channels, as a
// grid. Arrays that are laid out in another way are an errLayout.
func (a array) grid(axes int) (g grid, err error) {
	n := len(a.shape)
	g.channels = 1
	switch n {
	case axes:
	case axes + 1:
		if g.channels = a.shape[n-1]; g.channels == 0 {
			return g, fmt.Errorf("boxsum: %w: an array without channels", boxsum.ErrInvalid)
		}
		n--
	default:
		return g, fmt.Errorf("boxsum: %w: an array of %d axes: it takes %d, and one more for channels", boxsum.ErrInvalid, len(a.shape), axes)
	}
	if a.flags&aligned == 0 || a.flags&notSwapped == 0 {
		return g, errLayout
	}
	g.width, g.height, g.depth = a.shape[n-1], a.shape[n-2], 1
	if axes == 3 {
		g.depth = a.shape[n-3]
	}
	row := g.width * g.channels
	g.stride, g.sliceStride = row, row*g.height
	if row == 0 || g.height == 0 || g.depth == 0 {
		return g, nil // the strides of nothing mean nothing
	}
	pixel := g.channels * a.bytes
	if g.channels > 1 && a.strides[n] != a.bytes || g.width > 1 && a.strides[n-1] != pixel {
		return g, errLayout
	}
	if g.height > 1 {
		if g.stride = a.strides[n-2] / a.bytes; g.stride*a.bytes != a.strides[n-2] || g.stride < row {
			return g, errLayout
		}
	}
	slice := (g.height-1)*g.stride + row
	g.sliceStride = g.height * g.stride
	if g.depth > 1 {
		if g.sliceStride = a.strides[n-3] / a.bytes; g.sliceStride*a.bytes != a.strides[n-3] || g.sliceStride < slice {
			return g, errLayout
		}
	}
	g.length = (g.depth-1)*g.sliceStride + slice
	return g, nil
}

// values is what a grid holds.
func values[T any](a array, g grid) []T {
	if g.length <= 0 {
		return nil
	}
	return unsafe.Slice((*T)(a.data), g.length)
}

// list is the values of an array without gaps, each of one element or several,
// or an error that calls it by name. Negative lengths stand for any.
func list[T any](a array, e element, name string, shape ...int) ([]T, error) {
	bad := len(a.shape) != len(shape) || a.element != e || a.flags&aligned == 0 || a.flags&notSwapped == 0
	n := 1
	for _, length := range a.shape {
		n *= length
	}
	step := e.bytes
	for i := len(shape) - 1; i >= 0 && !bad; i-- {
		bad = shape[i] >= 0 && a.shape[i] != shape[i] || n > 0 && a.shape[i] > 1 && a.strides[i] != step
		step *= a.shape[i]
	}
	if bad {
		return nil, fmt.Errorf("boxsum: %w: %s must be a C-contiguous array of %v with shape %v, it is one of %v with shape %v", boxsum.ErrInvalid, name, e, extent(shape), a.element, a.shape)
	}
	if n == 0 {
		return nil, nil
	}
	return unsafe.Slice((*T)(a.data), n*e.bytes/elementBytes[T]()), nil
}

// toWrite says whether an array may be written to.
func (a array) toWrite(name string) error {
	if a.flags&writeable == 0 {
		return fmt.Errorf("boxsum: %w: %s is read-only", boxsum.ErrInvalid, name)
	}
	return nil
}
