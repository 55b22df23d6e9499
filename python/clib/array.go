package main

// #include "boxsum.h"
import "C"

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"github.com/boxsum/boxsum/internal/raster"
)

// int64 arrays are viewed as int; the constant does not compile if int has another size.
const _ uint = uint(unsafe.Sizeof(int(0)) - 8)

// An element is the type of an array's values: its kind, such as 'u', and its size in bytes.
type element struct {
	kind  byte
	bytes int
}

// Types that are used apart from the list of pairs.
var (
	u8  = elementOf(raster.U8)
	u16 = elementOf(raster.U16)
	i16 = elementOf(raster.I16)
	u32 = elementOf(raster.U32)
	u64 = elementOf(raster.U64)
	i32 = elementOf(raster.I32)
	i64 = elementOf(raster.I64)
	f16 = element{'f', 2}
	f32 = elementOf(raster.F32)
	f64 = elementOf(raster.F64)
)

func elementOf(t raster.Type) element {
	code := t.NumPy()
	return element{code[0], int(code[1] - '0')}
}

// typesOf holds the types of pixels and sums by their elements.
var typesOf = func() map[element]raster.Type {
	m := map[element]raster.Type{}
	for _, t := range raster.AllTypes() {
		m[elementOf(t)] = t
	}
	return m
}()

// typ returns the type of elements, or 0 if it is neither a pixel type nor a sum type.
func (e element) typ() raster.Type { return typesOf[e] }

// pixels returns the type of elements as pixels. Of 64-bit types it accepts only float64. Other types end the call.
func (e element) pixels(format string) raster.Type {
	t := e.typ()
	if t == 0 || t.Bytes() == 8 && !t.Float() {
		must(wrongTypes(format+", want %s", e, typeNames(raster.SumPairs.For(raster.OnDevice).Pixels()...)))
	}
	return t
}

// typeNames lists the names of types in order.
func typeNames(all ...raster.Type) string {
	names := make([]string, len(all))
	for i, t := range all {
		names[i] = t.String()
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// sums returns the type of elements as sums; int32 sums are treated as uint32, which has the same
// bits. Other types end the call.
func (e element) sums(format string) raster.Type {
	switch e {
	case i32:
		return raster.U32
	case u32, u64, i64, f32, f64:
		return e.typ()
	}
	must(wrongTypes(format+", want %s", e, typeNames(append(raster.SumTypes(), raster.I32)...)))
	return 0
}

// sumsOf returns the type of elements as sums of pixels of a type. Signed and unsigned sums have the
// same bits, so a table may have either type.
func (e element) sumsOf(pixel raster.Type) raster.Type {
	t := e.sums("sums have type %v")
	switch {
	case t == raster.U64 && pixel.Signed() && !pixel.Float():
		return raster.I64
	case t == raster.I64 && !pixel.Signed():
		return raster.U64
	}
	return t
}

// A pairSet holds the pairs of a list in a form that is fast to look up.
type pairSet struct {
	list raster.PairList
	has  [raster.NumTypes][raster.NumTypes]bool
}

var sumTypes, squareTypes = newPairSet(raster.SumPairs.For(raster.OnDevice)), newPairSet(raster.SquarePairs)

func newPairSet(list raster.PairList) *pairSet {
	s := &pairSet{list: list}
	for _, p := range list {
		s.has[p.Pixel][p.Sum] = true
	}
	return s
}

// check ends the call if there is no such pair, with an error that names the pairs of the pixel type.
func (s *pairSet) check(pixel, sum raster.Type, format string, given *array) {
	if s.has[pixel][sum] {
		return
	}
	must(wrongTypes(format, pixel, given.element, typeNames(s.list.Of(pixel)...)))
}

func (e element) String() string {
	name, ok := map[byte]string{'u': "uint", 'i': "int", 'f': "float"}[e.kind]
	if !ok {
		return fmt.Sprintf("kind %q of %d bytes", e.kind, e.bytes)
	}
	return fmt.Sprintf("%s%d", name, 8*e.bytes)
}

// An array is an array of the caller. Its strides are in bytes.
type array struct {
	element
	data    unsafe.Pointer
	shape   extent
	strides []int
	flags   int
}

// An extent is the shape of an array, and prints like a shape in Python. A length of -1 means any.
type extent []int

func (e extent) String() string {
	s := strings.NewReplacer("[", "(", "]", ")", " ", ", ", "-1", "N").Replace(fmt.Sprint([]int(e)))
	if len(e) == 1 {
		s = strings.TrimSuffix(s, ")") + ",)"
	}
	return s
}

func arrayOf(a *C.boxsum_array) array {
	if a.two != 2 || a.nd < 0 {
		panic("not an array")
	}
	n := int(a.nd)
	return array{
		element: element{byte(a.typekind), int(a.itemsize)},
		data:    a.data,
		shape:   unsafe.Slice((*int)(unsafe.Pointer(a.shape)), n),
		strides: unsafe.Slice((*int)(unsafe.Pointer(a.strides)), n),
		flags:   int(a.flags),
	}
}

// native reports whether elements are aligned and in the processor's byte order.
func (a array) native() bool {
	const both = C.boxsum_aligned | C.boxsum_not_swapped
	return a.flags&both == both
}

// mustWrite ends the call if the array is read-only.
func (a array) mustWrite(name string) {
	if a.flags&C.boxsum_writeable == 0 {
		must(invalid("%s is read-only, want a writeable array", name))
	}
}

// A layout describes an array as slices of rows of adjacent values; a plane has one slice. Strides
// are in elements.
type layout struct {
	width, height, depth, channels int
	stride, sliceStride            int
	length                         int // number of elements from the first value to the last
}

type view struct {
	array
	layout
}

// set views an array with the given number of axes, and optionally one more for channels, as rows
// and slices. It returns errLayout if the array has another layout.
func (v *view) set(a *array, axes int) error {
	v.array, v.layout = *a, layout{}
	g := &v.layout
	n := len(a.shape)
	g.channels = 1
	switch n {
	case axes:
	case axes + 1:
		if g.channels = a.shape[n-1]; g.channels == 0 {
			return invalid("array has 0 channels, want 1 or more")
		}
		n--
	default:
		return invalid("array has %d axes, want %d, or %d with channels", len(a.shape), axes, axes+1)
	}
	if !a.native() {
		return errLayout
	}
	g.width, g.height, g.depth = a.shape[n-1], a.shape[n-2], 1
	if axes == 3 {
		g.depth = a.shape[n-3]
	}
	row := g.width * g.channels
	g.stride, g.sliceStride = row, row*g.height
	if row == 0 || g.height == 0 || g.depth == 0 {
		return nil // strides have no meaning in an empty array
	}
	pixel := g.channels * a.bytes
	if g.channels > 1 && a.strides[n] != a.bytes || g.width > 1 && a.strides[n-1] != pixel {
		return errLayout
	}
	if g.height > 1 {
		if g.stride = a.strides[n-2] / a.bytes; g.stride*a.bytes != a.strides[n-2] || g.stride < row {
			return errLayout
		}
	}
	slice := (g.height-1)*g.stride + row
	g.sliceStride = g.height * g.stride
	if g.depth > 1 {
		if g.sliceStride = a.strides[n-3] / a.bytes; g.sliceStride*a.bytes != a.strides[n-3] || g.sliceStride < slice {
			return errLayout
		}
	}
	g.length = (g.depth-1)*g.sliceStride + slice
	return nil
}

// mustView returns a view of the array. An array with another layout ends the call.
func (a array) mustView(axes int) (v view) {
	must(v.set(&a, axes))
	return v
}

// values returns the elements of a view, including the gaps between rows.
func values[T any](v *view) []T { return raster.Elems[T](v.memory()) }

func (v *view) memory() []byte {
	if v.length <= 0 {
		return nil
	}
	return unsafe.Slice((*byte)(v.data), v.length*v.bytes)
}

// pixels returns the view as an image or a volume with elements of type t.
func (v *view) pixels(t raster.Type, volume bool) raster.Array {
	a := raster.Array{Data: v.memory(), Type: t}
	if volume {
		a.Extent = raster.VolumeExtent(v.width, v.height, v.depth, v.channels, v.stride, v.sliceStride)
	} else {
		a.SetPlane(v.width, v.height, v.channels, v.stride)
	}
	return a
}

// table returns the view as the table of an image or a volume with sums of type t. The table has one
// more entry along each axis.
func (v *view) table(t raster.Type, volume bool) raster.Array {
	a := v.pixels(t, volume)
	a.Width--
	a.Height--
	if volume {
		a.Depth--
	}
	return a
}

// list returns the values of an array without gaps, each of one or several elements. Another array
// ends the call with an error that contains name. A length of -1 means any.
func list[T any](a array, e element, name string, shape ...int) []T {
	return raster.Elems[T](memory(a, e, name, shape...))
}

// memory is like list without the type of the values.
func memory(a array, e element, name string, shape ...int) []byte {
	bad := len(a.shape) != len(shape) || a.element != e || !a.native()
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
		must(invalid("%s must be a C-contiguous array of %v with shape %v, not of %v with shape %v", name, e, extent(shape), a.element, a.shape))
	}
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(a.data), n*e.bytes)
}
