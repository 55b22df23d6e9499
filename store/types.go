package store

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"unsafe"
)

// A Type is what the elements of an array are.
type Type uint8

// The types of elements.
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

// String is the name that Zarr has for the type, such as uint8.
func (t Type) String() string {
	if int(t) < len(types) && t > 0 {
		return types[t].name
	}
	return fmt.Sprintf("Type(%d)", uint8(t))
}

// Size is how many bytes an element has.
func (t Type) Size() int {
	if int(t) < len(types) {
		return types[t].size
	}
	return 0
}

func (t Type) isFloat() bool  { return t >= Float16 && t <= Float64 }
func (t Type) isSigned() bool { return t >= Int8 && t <= Int64 }

// ParseType is the type of that name.
func ParseType(name string) (Type, error) {
	for t := Bool; int(t) < len(types); t++ {
		if types[t].name == name {
			return t, nil
		}
	}
	return 0, bad("data type %q is not supported: bool, int8 to int64, uint8 to uint64, float16 to float64 are", name)
}

// Element is a Go type that holds elements: uint8 also for bool, and uint16 for the bits of float16.
type Element interface {
	uint8 | uint16 | uint32 | uint64 | int8 | int16 | int32 | int64 | float32 | float64
}

// TypeOf is the type of elements of a Go type.
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

// aligned is n bytes that may be seen as elements of any type.
func aligned(n int) []byte {
	if n == 0 {
		return nil
	}
	words := make([]uint64, (n+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), len(words)*8)[:n]
}

// bytesOf is the memory of elements.
func bytesOf[T Element](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*int(unsafe.Sizeof(s[0])))
}

// elementsOf is aligned memory as elements.
func elementsOf[T Element](b []byte) []T {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), len(b)/int(unsafe.Sizeof(*new(T))))
}

// bigHost is whether this machine has the most significant byte first.
var bigHost = func() bool {
	x := uint16(1)
	return *(*byte)(unsafe.Pointer(&x)) == 0
}()

// swapped copies elements in the other byte order.
func swapped(dst, src []byte, size int) {
	switch size {
	case 2:
		for i := 0; i+2 <= len(src); i += 2 {
			binary.LittleEndian.PutUint16(dst[i:], bits.ReverseBytes16(binary.LittleEndian.Uint16(src[i:])))
		}
	case 4:
		for i := 0; i+4 <= len(src); i += 4 {
			binary.LittleEndian.PutUint32(dst[i:], bits.ReverseBytes32(binary.LittleEndian.Uint32(src[i:])))
		}
	case 8:
		for i := 0; i+8 <= len(src); i += 8 {
			binary.LittleEndian.PutUint64(dst[i:], bits.ReverseBytes64(binary.LittleEndian.Uint64(src[i:])))
		}
	default:
		copy(dst, src)
	}
}

// fillBytes writes an element again and again.
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

// halfToFloat is the number that the 16 bits of a half float stand for.
func halfToFloat(h uint16) float32 {
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

// floatToHalf is the half float nearest to a number that came from one, or any other.
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
