// Package raster describes the types of pixels and sums at run time, arrays of them,
// and the pairs of types that make tables. Kernels and their dispatch, the lists for
// CUDA and the tables of Python are generated from these pairs. It also has the sizes,
// strides, limits of memory and errors that images, volumes and their tables share.
package raster

import (
	"fmt"
	"math"
	"slices"
)

// A Type is the element type of pixels or sums.
type Type uint8

// The element types. The zero Type is none of them.
const (
	U8 Type = iota + 1
	U16
	U32
	U64
	I16
	I32
	I64
	F32
	F64

	// NumTypes is the length of an array that is indexed by a Type.
	NumTypes
)

var types = [...]struct {
	short, long, c string
}{
	U8:  {"u8", "uint8", "uint8_t"},
	U16: {"u16", "uint16", "uint16_t"},
	U32: {"u32", "uint32", "uint32_t"},
	U64: {"u64", "uint64", "uint64_t"},
	I16: {"i16", "int16", "int16_t"},
	I32: {"i32", "int32", "int32_t"},
	I64: {"i64", "int64", "int64_t"},
	F32: {"f32", "float32", "float"},
	F64: {"f64", "float64", "double"},
}

// String returns the Go name of the type, which is also its dtype in NumPy: "uint8".
func (t Type) String() string { return types[t].long }

// Short returns the name of the type in kernels and on the command line: "u8".
func (t Type) Short() string { return types[t].short }

// NumPy returns the NumPy code of the type, which counts bytes: "u1".
func (t Type) NumPy() string { return fmt.Sprintf("%c%d", t.Short()[0], t.Bytes()) }

// C returns the name of the type in C.
func (t Type) C() string { return types[t].c }

// sizes holds the sizes in bytes. It is a table of its own, with an entry for every uint8, because
// Bytes is called for each row of a small image.
var sizes = [256]uint8{U8: 1, U16: 2, U32: 4, U64: 8, I16: 2, I32: 4, I64: 8, F32: 4, F64: 8}

// Bytes returns the size of an element.
func (t Type) Bytes() int { return int(sizes[t]) }

// Float reports whether the type is a floating-point type.
func (t Type) Float() bool { return t == F32 || t == F64 }

// Signed reports whether the type has negative numbers.
func (t Type) Signed() bool { return t >= I16 }

var maxima = [NumTypes]float64{
	U8: math.MaxUint8, U16: math.MaxUint16, U32: math.MaxUint32, U64: math.MaxUint64,
	I16: math.MaxInt16, I32: math.MaxInt32, I64: math.MaxInt64, F32: math.MaxFloat32, F64: math.MaxFloat64,
}

// Max returns the greatest number of the type, rounded to a float64.
func (t Type) Max() float64 { return maxima[t] }

// Bits returns the type of the same size to use if only the bits of sums matter: signed
// integers add up like unsigned integers.
func (t Type) Bits() Type {
	switch t {
	case I16:
		return U16
	case I32:
		return U32
	case I64:
		return U64
	}
	return t
}

// AllTypes returns all types.
func AllTypes() []Type {
	all := make([]Type, len(types)-1)
	for i := range all {
		all[i] = Type(i + 1)
	}
	return all
}

// PixelTypes returns the pixel types, in the order of the list of pairs.
func PixelTypes() []Type { return SumPairs.Pixels() }

// SumTypes returns the sum types, in order.
func SumTypes() []Type {
	all := SumPairs.column(func(p Pair) Type { return p.Sum })
	slices.Sort(all)
	return all
}

// ParseType returns the type with the given Go name or short name.
func ParseType(name string) (Type, bool) {
	for _, t := range AllTypes() {
		if name == t.String() || name == t.Short() {
			return t, true
		}
	}
	return 0, false
}

// TypeNamed returns the Type of a Go type, or 0 if there is none.
func TypeNamed[T any]() Type {
	var zero T
	t, _ := ParseType(fmt.Sprintf("%T", zero))
	return t
}
