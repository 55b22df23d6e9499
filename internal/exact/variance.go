// Package exact turns sums into statistics without rounding on the way.
package exact

import (
	"math"
	"math/bits"

	"github.com/boxsum/boxsum/internal/kernel"
)

// Mean is that of n numbers, and 0 of none.
func Mean[S kernel.Sum](n int, sum S) float64 {
	if n == 0 {
		return 0
	}
	return float64(sum) / float64(n)
}

// Variance is that of n numbers, from their sum and the sum of their squares:
// never negative, 0 of none, from exact integers where both are integers, and NaN
// where such sums cannot be of any numbers, for they did not fit their types.
func Variance[S, Q kernel.Sum](n int, sum S, squares Q) float64 {
	if n == 0 {
		return 0
	}
	if magnitude, ok := integer(sum); ok {
		if squares, ok := any(squares).(uint64); ok {
			return ofIntegers(uint64(n), magnitude, squares)
		}
	}
	mean := Mean(n, sum)
	return max(0, float64(squares)/float64(n)-float64(mean*mean)) // the same bits, fused or not
}

func integer[S kernel.Sum](s S) (magnitude uint64, ok bool) {
	switch s := any(s).(type) {
	case uint32:
		return uint64(s), true
	case uint64:
		return s, true
	case int64:
		if s < 0 {
			return -uint64(s), true
		}
		return uint64(s), true
	}
	return 0, false
}

// ofIntegers is (n·squares − sum²)/n², its numerator in 128 bits.
func ofIntegers(n, sum, squares uint64) float64 {
	hi, lo := bits.Mul64(n, squares)
	subHi, subLo := bits.Mul64(sum, sum)
	lo, borrow := bits.Sub64(lo, subLo, 0)
	hi, borrow = bits.Sub64(hi, subHi, borrow)
	if borrow != 0 {
		return math.NaN()
	}
	// The top 64 bits, with the rest of them in the lowest, round as all would.
	shift := bits.LeadingZeros64(hi)
	top, scale := hi<<shift|lo>>(64-shift), 64-shift
	if lo<<shift != 0 {
		top |= 1
	}
	if hi == 0 {
		top, scale = lo, 0
	}
	return math.Ldexp(float64(top)/(float64(n)*float64(n)), scale)
}
