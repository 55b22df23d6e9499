package moment

import (
	"math"
	"math/bits"
)

// A wide is a signed integer modulo 2^128.
type wide struct{ hi, lo uint64 }

func widen(v int64) wide { return wide{uint64(v >> 63), uint64(v)} }

func (a wide) add(b wide) wide {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	hi, _ := bits.Add64(a.hi, b.hi, carry)
	return wide{hi, lo}
}

func (a wide) sub(b wide) wide {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	hi, _ := bits.Sub64(a.hi, b.hi, borrow)
	return wide{hi, lo}
}

func (a wide) times(b uint64) wide {
	hi, lo := bits.Mul64(a.lo, b)
	return wide{hi + a.hi*b, lo}
}

func (a wide) timesSigned(b int64) wide {
	if b < 0 {
		return wide{}.sub(a.times(-uint64(b)))
	}
	return a.times(uint64(b))
}

func (a wide) negative() bool { return a.hi>>63 != 0 }

// float returns the nearest float64.
func (a wide) float() float64 {
	if a.negative() {
		return -wide{}.sub(a).float()
	}
	if a.hi == 0 {
		return float64(a.lo)
	}
	// Rounding the top 64 bits, with the remaining bits ORed into the lowest, rounds like all bits.
	shift := bits.LeadingZeros64(a.hi)
	top := a.hi<<shift | a.lo>>(64-shift)
	if a.lo<<shift != 0 {
		top |= 1
	}
	return math.Ldexp(float64(top), 64-shift)
}
