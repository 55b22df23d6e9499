// Package pairs is the one list of the types of pixels and sums, and of the pairs
// of them that make tables. Everything else that depends on types is generated
// from it or reads it: the kernels and their dispatch, the lists of CUDA, the
// tables of Python, of the documentation and of the command line.
package pairs

import (
	"fmt"
	"slices"
)

// A Type is that of pixels or of sums.
type Type uint8

// The types. The zero value is none of them.
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
)

var types = [...]struct {
	short, long, c string
	bytes          int
}{
	U8:  {"u8", "uint8", "uint8_t", 1},
	U16: {"u16", "uint16", "uint16_t", 2},
	U32: {"u32", "uint32", "uint32_t", 4},
	U64: {"u64", "uint64", "uint64_t", 8},
	I16: {"i16", "int16", "int16_t", 2},
	I32: {"i32", "int32", "int32_t", 4},
	I64: {"i64", "int64", "int64_t", 8},
	F32: {"f32", "float32", "float", 4},
	F64: {"f64", "float64", "double", 8},
}

// String is the type's name in Go, and that of its dtype in NumPy: "uint8".
func (t Type) String() string { return types[t].long }

// Short is the type's name in kernels and on the command line: "u8".
func (t Type) Short() string { return types[t].short }

// NumPy is the type's code in NumPy, which counts bytes: "u1".
func (t Type) NumPy() string { return fmt.Sprintf("%c%d", t.Short()[0], t.Bytes()) }

// C is the type's name in C.
func (t Type) C() string { return types[t].c }

// Bytes is the size of an element.
func (t Type) Bytes() int { return types[t].bytes }

// Float reports whether the type is of floating-point numbers.
func (t Type) Float() bool { return t == F32 || t == F64 }

// Signed reports whether the type has negative numbers.
func (t Type) Signed() bool { return t >= I16 }

// Bits is the type of the same size that stands for it where only the bits of
// sums count: signed integers add up as unsigned ones do.
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

// All is every type.
func All() []Type {
	all := make([]Type, len(types)-1)
	for i := range all {
		all[i] = Type(i + 1)
	}
	return all
}

// Pixels is the types of pixels, and Accumulators those of sums, in the order of
// the lists.
func Pixels() []Type { return Sums.column(func(p Pair) Type { return p.Pixel }) }

// Accumulators is the types of sums.
func Accumulators() []Type {
	all := Sums.column(func(p Pair) Type { return p.Sum })
	slices.Sort(all)
	return all
}

// Parse finds a type by its name in Go or by its short name.
func Parse(name string) (Type, bool) {
	for _, t := range All() {
		if name == t.String() || name == t.Short() {
			return t, true
		}
	}
	return 0, false
}

// Of is the type of a Go type, and 0 for one that is not in the list.
func Of[T any]() Type {
	var zero T
	t, _ := Parse(fmt.Sprintf("%T", zero))
	return t
}
