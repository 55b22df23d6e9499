package pairs

import (
	"math/bits"
	"unsafe"
)

// number is the Go types of the list.
type number interface {
	uint8 | uint16 | uint32 | uint64 | int16 | int32 | int64 | float32 | float64
}

// TypeOf is [Of] where the compiler knows the answer.
func TypeOf[T number]() Type {
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

// NumberTwo is a number for two types. A package compiles its generic functions for all types
// into lists, see internal/kinds/made.tmpl: by TypeOf, or for two types by this number.
func NumberTwo[A, B number]() int { return int(TypeOf[A]()*(F64+1) + TypeOf[B]()) }
