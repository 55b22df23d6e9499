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

// A package compiles its generic functions for every pair of types into lists, see
// internal/kinds/made.tmpl. These are the places in them.

// Number is the place of a pair, from 1, and 0 for one that makes no table.
func Number[P, S number]() int { return int(numbers[TypeOf[P]()][TypeOf[S]()]) }

// Usual reports whether squares of type Q are the usual ones of pixels of type P: uint64 for
// integers, float64 for floats. The others have lists of their own, which a program that makes
// none of them does not link: the compiler knows the answer.
func Usual[P, Q number]() bool { return (P(1)/2 != 0) == (Q(1)/2 != 0) }

var numbers = func() (n [F64 + 1][F64 + 1]uint8) {
	for i, p := range Sums {
		n[p.Pixel][p.Sum] = uint8(i + 1)
	}
	return n
}()

// NumberTwo is the place of two types that go together without a list.
func NumberTwo[A, B number]() int { return int(TypeOf[A]()*(F64+1) + TypeOf[B]()) }
