package raster

import (
	"math/bits"
	"unsafe"
)

// Number constrains the elements of an Array.
type Number interface {
	uint8 | uint16 | uint32 | uint64 | int16 | int32 | int64 | float32 | float64
}

// TypeOf returns the Type of T. The compiler evaluates it.
func TypeOf[T Number]() Type {
	one := T(1)
	t := Type(bits.Len(uint(unsafe.Sizeof(one))))
	switch {
	case one/2 != 0:
		return t + F64 - U64
	case one-2 < 0:
		return t + I64 - U64
	}
	return t
}
