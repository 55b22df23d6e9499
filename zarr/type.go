package zarr

import (
	"fmt"
	"math"
)

// A Type is the element type of an array.
type Type uint8

// Element types.
const (
	Bool Type = iota + 1
	Int8
	Int16
	Int32
	Int64
	Uint8
	Uint16
	Uint32
	Uint64
	Float16
	Float32
	Float64
)

var types = [...]struct {
	name, v2 string
	size     int
}{
	Bool: {"bool", "b1", 1},
	Int8: {"int8", "i1", 1}, Int16: {"int16", "i2", 2}, Int32: {"int32", "i4", 4}, Int64: {"int64", "i8", 8},
	Uint8: {"uint8", "u1", 1}, Uint16: {"uint16", "u2", 2}, Uint32: {"uint32", "u4", 4}, Uint64: {"uint64", "u8", 8},
	Float16: {"float16", "f2", 2}, Float32: {"float32", "f4", 4}, Float64: {"float64", "f8", 8},
}

// String returns the name of the type in Zarr, such as uint8.
func (t Type) String() string {
	if int(t) < len(types) && t > 0 {
		return types[t].name
	}
	return fmt.Sprintf("Type(%d)", uint8(t))
}

// Size returns the number of bytes of an element in memory.
func (t Type) Size() int {
	if int(t) < len(types) {
		return types[t].size
	}
	return 0
}

func (t Type) isFloat() bool  { return t >= Float16 && t <= Float64 }
func (t Type) isSigned() bool { return t >= Int8 && t <= Int64 }

// ParseType returns the type with the given name, such as uint8. It returns an error that
// wraps [ErrFormat] for any other name.
func ParseType(name string) (Type, error) {
	for t := Bool; int(t) < len(types); t++ {
		if types[t].name == name {
			return t, nil
		}
	}
	return 0, bad("data type %q is not supported, want bool, int8 to int64, uint8 to uint64 or float16 to float64", name)
}

// holds reports whether elements of this type are read and written as elements of another.
func (t Type) holds(other Type) bool {
	return t == other || t == Bool && other == Uint8 || t == Float16 && other == Uint16
}

// Element is a constraint that permits the Go types of elements. Bool elements are uint8,
// and Float16 elements are their bits in a uint16.
type Element interface {
	uint8 | uint16 | uint32 | uint64 | int8 | int16 | int32 | int64 | float32 | float64
}

// TypeOf returns the element type for a Go type.
func TypeOf[T Element]() Type {
	switch any(*new(T)).(type) {
	case uint8:
		return Uint8
	case uint16:
		return Uint16
	case uint32:
		return Uint32
	case uint64:
		return Uint64
	case int8:
		return Int8
	case int16:
		return Int16
	case int32:
		return Int32
	case int64:
		return Int64
	case float32:
		return Float32
	}
	return Float64
}

// fillBytes fills dst with copies of element.
func fillBytes(dst, element []byte) {
	zero := true
	for _, b := range element {
		zero = zero && b == 0
	}
	if zero {
		clear(dst)
		return
	}
	for n := copy(dst, element); n > 0 && n < len(dst); n *= 2 {
		copy(dst[n:], dst[:n])
	}
}

// FromFloat16 returns the value of a Float16 element from its bits.
func FromFloat16(bits uint16) float32 {
	h := bits
	sign, exponent, fraction := uint32(h>>15)<<31, uint32(h>>10)&31, uint32(h)&1023
	switch {
	case exponent == 31:
		return math.Float32frombits(sign | 255<<23 | fraction<<13)
	case exponent > 0:
		return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
	}
	x := float32(fraction) * 0x1p-24
	if sign != 0 {
		x = -x
	}
	return x
}

// floatToHalf returns the bits of the float16 nearest to f.
func floatToHalf(f float64) uint16 {
	b := math.Float64bits(f)
	sign := uint16(b>>48) & 0x8000
	a := math.Abs(f)
	switch {
	case a != a:
		return sign | 0x7e00
	case a >= 65520:
		return sign | 0x7c00
	case a < 0x1p-14:
		return sign | uint16(math.RoundToEven(a*0x1p24))
	}
	fraction, exponent := math.Frexp(a) // in [0.5, 1)
	m := math.RoundToEven(fraction * 2048)
	if m == 2048 {
		m, exponent = 1024, exponent+1
	}
	return sign | uint16(exponent+14)<<10 + uint16(m) - 1024
}
