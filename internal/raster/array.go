package raster

import (
	"math/bits"
	"unsafe"
)

// An Array holds pixels or sums without their static type, so that the code between the
// typed functions of a package and the kernels is compiled once.
type Array struct {
	Data []byte
	Type Type
	Extent
}

// ArrayOf returns elements as an Array. It does not check that they fill the extent.
func ArrayOf[T Number](elems []T, e Extent) Array {
	return Array{Bytes(elems), TypeOf[T](), e}
}

// SetPlane sets a to the elements of an image or of its table, in place: a copy of
// fields that have just been written has to wait until they are in the cache, which
// takes as long as all checks of a small image.
func SetPlane[T Number](a *Array, elems []T, width, height, channels, stride int) {
	a.Data, a.Type = Bytes(elems), TypeOf[T]()
	a.Extent.SetPlane(width, height, channels, stride)
}

// SetVolume is like [SetPlane] for a volume or its table.
func SetVolume[T Number](a *Array, elems []T, width, height, depth, channels, stride, sliceStride int) {
	a.Data, a.Type = Bytes(elems), TypeOf[T]()
	a.Width, a.Height, a.Depth, a.Channels = width, height, depth, channels
	a.Stride, a.SliceStride, a.solid = stride, sliceStride, true
}

// Len returns the number of elements in memory, gaps included.
func (a *Array) Len() int { return Count(len(a.Data), a.Type.Bytes()) }

// Count returns the number of elements that fit the given number of bytes. Element sizes
// are powers of two: a division would take as long as all other checks of a small image.
func Count(bytes, size int) int { return bytes >> bits.TrailingZeros8(uint8(size)) }

// From returns the memory from the given element on.
func (a *Array) From(element int) []byte { return a.Data[element*a.Type.Bytes():] }

// Check sets the defaults of the extent, and returns an error if the extent or the
// memory is invalid.
func (a *Array) Check() error { return a.Pixels(a.Len()) }

// Span returns the memory of pixels [x, x+n) of row y of an image.
func (a *Array) Span(x, y, n int) []byte {
	size := a.Type.Bytes()
	return a.Data[(y*a.Stride+x*a.Channels)*size:][:n*a.Channels*size]
}

// Bytes returns the memory of elements.
func Bytes[T any](elems []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(elems))), len(elems)*int(unsafe.Sizeof(*new(T))))
}

// Elems returns memory as elements of type T, which must be their actual type: only
// code that was selected by that type calls it.
func Elems[T any](data []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(data))), len(data)/int(unsafe.Sizeof(*new(T))))
}

// First returns the address of the first element for assembly, or nil for a nil slice.
func First[T any](elems []T) *byte { return (*byte)(unsafe.Pointer(unsafe.SliceData(elems))) }
