// Package stats computes means and variances from sums: of integers without
// intermediate rounding, for boxes of any size, and of floats as accurately as their
// rounding allows. It returns NaN for numbers that it cannot compute.
package stats

import (
	"math"
	"math/bits"

	"github.com/boxsum/boxsum/internal/raster"
)

// Mean returns the mean of n numbers, or 0 if n is 0.
func Mean(n int, sum Sum) float64 {
	switch {
	case n == 0:
		return 0
	case sum.typ == 0:
		return math.NaN()
	case sum.parts:
		return bigMean(n, sum)
	}
	return sum.Float() / float64(n)
}

// A Rounding describes the entries that the sum of a box is computed from, as needed to
// bound the rounding errors of floats.
type Rounding struct {
	Entries int     // number of entries
	Squares float64 // the largest entry of the squares
	Pixels  int     // number of pixels that it sums
	Steps   int     // longest chain of additions that led to it
}

const (
	// certain is the minimum ratio of a variance to its possible rounding error for it
	// to be accepted as is: its square root is then accurate to six digits.
	certain = 1e6 / 2
	// eaten is the minimum ratio of a variance to its possible rounding error for it
	// not to be NaN.
	eaten = 50
)

// Variance returns the variance of n numbers, from their sum and the sum of their
// squares. It is never negative, and 0 if n is 0 or 1. If both sums are integers, it is
// exact apart from the last two roundings, and NaN for impossible sums, which did not
// fit their types. If there are floats, it is NaN if the rounding error of the sums may
// exceed a fiftieth of it, because of cancellation. A nil Rounding means no rounding.
// Sums of whole numbers do not round; whole reports whether all entries are whole; see
// [IsWhole].
func Variance(n int, sum, squares Sum, r *Rounding, whole func() bool) float64 {
	switch {
	case n == 0:
		return 0
	case sum.typ == 0 || squares.typ == 0:
		return math.NaN()
	case squares.parts:
		return bigVariance(n, sum.truncated(), squares)
	case !sum.typ.Float() && !squares.typ.Float() && !sum.parts:
		return VarianceOfIntegers(n, sum.magnitude(), squares.lo)
	}
	all, unit, magnitude := sum.Float(), Unit(sum.typ), sum.magnitude()
	if sum.parts {
		all, unit, magnitude = bigMean(n, sum)*float64(n), Unit(raster.F64), 0
	}
	v, exact, ask := ofFloats(n, all, squares.Float(), magnitude, unit, Unit(squares.typ), r)
	if ask && whole() {
		return exact
	}
	return v
}

// ofFloats returns the variance if there are floats. If ask is set, exact is the
// variance in case all entries are whole numbers. The magnitude is that of an integer
// sum.
func ofFloats(n int, sum, squares float64, magnitude uint64, epsilon, epsilonSquares float64, r *Rounding) (v, exact float64, ask bool) {
	if n <= 1 {
		return 0, 0, false
	}
	mean := sum / float64(n)
	v = squares/float64(n) - float64(mean*mean) // same bits with and without fused operations
	if r == nil {
		return max(0, v), 0, false
	}
	noise := r.ofVariance(n, mean, epsilon, epsilonSquares)
	if v > certain*noise {
		return v, 0, false
	}
	if ask = isWhole(sum, squares, epsilon); ask {
		if epsilon != 0 {
			magnitude = uint64(math.Abs(sum))
		}
		exact = VarianceOfIntegers(n, magnitude, uint64(squares))
	}
	if !(v > eaten*noise) {
		v = math.NaN()
	}
	return v, exact, ask
}

// ofVariance returns an upper bound on the rounding error of a variance: each addition
// on the way to an entry rounds by at most half a unit in the last place of that entry.
// In most images most of that cancels, but not if all rows are alike. By the
// Cauchy–Schwarz inequality, no intermediate sum exceeds the square root of the number
// of pixels times the sum of their squares.
func (r *Rounding) ofVariance(n int, mean, sums, squares float64) float64 {
	grown := float64(r.Entries) * float64(r.Steps) / float64(n)
	ofSquares := grown * squares * r.Squares
	ofMean := grown * sums * math.Sqrt(float64(r.Pixels)*r.Squares)
	return ofSquares + 2*math.Abs(mean)*ofMean + ofMean*ofMean
}

// Unit returns half a unit in the last place of 1, or 0 for integers.
func Unit(t raster.Type) float64 {
	switch t {
	case raster.F32:
		return 0x1p-24
	case raster.F64:
		return 0x1p-53
	}
	return 0
}

// IsWhole reports whether an entry of a table of this type and one of its squares are
// whole numbers small enough for everything that led to them to be exact if it was
// whole, too. To conclude that, callers test several entries: the limits leave some
// bits that would not be zero by chance.
func IsWhole(sum, squares float64, t raster.Type) bool {
	return isWhole(sum, squares, Unit(t))
}

func isWhole(s, q, epsilon float64) bool {
	limits := [...]float64{1 << 46, 1 << 46} // of the sum and of the squares
	switch epsilon {
	case 0: // then the pixels are integers, too
		limits = [...]float64{math.Inf(1), 1 << 53}
	case 0x1p-24:
		limits[0] = 1 << 20
	}
	return math.Abs(s) < limits[0] && q < limits[1] && s == math.Trunc(s) && q == math.Trunc(q)
}

// StaysExact reports whether sums of integers of at most most are exact.
func StaysExact(most float64, t raster.Type) bool {
	switch t {
	case raster.F32:
		return most < 1<<24
	case raster.F64:
		return most < 1<<53
	}
	return true // modulo a power of two
}

// Magnitude returns the magnitude of an integer.
func Magnitude[S raster.Number](s S) uint64 {
	if s < 0 {
		return -uint64(s)
	}
	return uint64(s)
}

// VarianceOfIntegers returns the variance of n integers, (n·squares − sum²)/n², with a
// 128-bit numerator. sum is the magnitude of their sum.
func VarianceOfIntegers(n int, sum, squares uint64) float64 {
	return ofWide(uint64(n), sum, 0, squares)
}

// ofWide is like VarianceOfIntegers for squares of more than 64 bits. It returns NaN if
// the numerator is negative, or n times the squares has more than 128 bits.
func ofWide(n, sum, squaresHi, squaresLo uint64) float64 {
	hi, lo := bits.Mul64(n, squaresLo)
	over, more := bits.Mul64(n, squaresHi)
	hi, carry := bits.Add64(hi, more, 0)
	subHi, subLo := bits.Mul64(sum, sum)
	lo, borrow := bits.Sub64(lo, subLo, 0)
	hi, borrow = bits.Sub64(hi, subHi, borrow)
	if borrow != 0 || over != 0 || carry != 0 {
		return math.NaN()
	}
	return overSquare(hi, lo, n)
}

// overSquare returns a number of 128 bits divided by n².
func overSquare(hi, lo, n uint64) float64 {
	// Rounding the top 64 bits, with the remaining bits ORed into the lowest, rounds
	// like all bits.
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

// WideVariance returns the variance of n integers from their sum and two forms of the
// sum of their squares: rounded, and modulo 2^64. If the first is accurate to 2^62,
// both together give the exact sum. WideVariance returns NaN if they contradict each
// other.
func WideVariance(n int, sum Sum, rounded float64, modulo uint64) float64 {
	switch {
	case n == 0:
		return 0
	case sum.typ.Float() || !(math.Abs(rounded) < 0x1p126):
		return math.NaN()
	}
	magnitude := sum.magnitude()
	negative := rounded < 0 // possible for a small sum because of rounding
	hi := uint64(math.Abs(rounded) / 0x1p64)
	lo := uint64(math.Abs(rounded) - float64(hi)*0x1p64)
	if negative {
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		hi = -hi - borrow
	}
	off := int64(modulo - lo)
	if off > 1<<62 || off < -1<<62 {
		return math.NaN()
	}
	lo, carry := bits.Add64(lo, uint64(off), 0)
	hi += uint64(off>>63) + carry
	if int64(hi) < 0 {
		return math.NaN()
	}
	return ofWide(uint64(n), magnitude, hi, lo)
}
