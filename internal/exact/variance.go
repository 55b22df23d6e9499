// Package exact turns sums into statistics: from integers without rounding on the
// way, whatever the size of the box, and from floats as far as their rounding lets
// it.
package exact

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/boxsum/boxsum/internal/kernel"
)

// Mean is that of n numbers, and 0 of none.
func Mean[S kernel.Sum](n int, sum S) float64 {
	if n == 0 {
		return 0
	}
	return float64(sum) / float64(n)
}

// A Rounding is what the entries that a box was read from say about the rounding
// of floats in them.
type Rounding struct {
	Entries int     // how many there are
	Squares float64 // the largest of the squares
	Pixels  int     // of all that it sums
	Steps   int     // how many additions, one after the other, led to it at most
}

const (
	// certain is how many times what rounding may have done to it a variance must be
	// to be taken as it is: its root is then right to six digits.
	certain = 1e6 / 2
	// eaten is that for a variance that rounding has eaten.
	eaten = 50
)

// Variance is that of n numbers, from their sum and the sum of their squares:
// never negative, and 0 of none or one. Where both are integers it is exact but for the
// last two roundings, and NaN where such sums cannot be of any numbers, for they
// did not fit their types. Where there are floats it is NaN if the rounding of the
// sums may be more than a fiftieth of it: then cancellation has eaten it. That is
// so of nothing if no rounding is given, nor where all entries are whole numbers
// that are exact, see [IsWhole].
func Variance[S, Q kernel.Sum](n int, sum S, squares Q, r *Rounding, whole func() bool) float64 {
	if !IsFloat[S]() && isWords[Q]() {
		if n == 0 {
			return 0
		}
		return ofIntegers(uint64(n), magnitude(sum), uint64(squares))
	}
	v, exact, ask := ofFloats(n, float64(sum), float64(squares), magnitude(sum), epsilon[S](), epsilon[Q](), r)
	if ask && whole() {
		return exact
	}
	return v
}

// ofFloats is the variance where there are floats, and what it is where all entries are whole numbers, if that is to be
// asked for. Of integers it takes the magnitude of the sum.
func ofFloats(n int, sum, squares float64, magnitude uint64, epsilon, epsilonSquares float64, r *Rounding) (v, exact float64, ask bool) {
	if n <= 1 {
		return 0, 0, false
	}
	mean := Mean(n, sum)
	v = squares/float64(n) - float64(mean*mean) // the same bits, fused or not
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
		exact = ofIntegers(uint64(n), magnitude, uint64(squares))
	}
	if !(v > eaten*noise) {
		v = math.NaN()
	}
	return v, exact, ask
}

// ofVariance is how far rounding may have moved a variance at most: each addition on
// the way to an entry rounds by no more than half a unit in the last place of
// that entry. In most images much of that cancels, but not where all rows are alike. By
// the inequality of Cauchy and Schwarz no sum on the way is above the root of the pixels
// times their squares.
func (r *Rounding) ofVariance(n int, mean, sums, squares float64) float64 {
	grown := float64(r.Entries) * float64(r.Steps) / float64(n)
	ofSquares := grown * squares * r.Squares
	ofMean := grown * sums * math.Sqrt(float64(r.Pixels)*r.Squares)
	return ofSquares + 2*math.Abs(mean)*ofMean + ofMean*ofMean
}

// IsFloat reports whether sums are floats. The compiler knows the answer, as it does not of a switch over types.
func IsFloat[S kernel.Sum]() bool { one := S(1); return one/2 != 0 }

func isSigned[S kernel.Sum]() bool { one := S(1); return one-2 < 0 && !IsFloat[S]() }

// isWords reports whether sums are uint64.
func isWords[S kernel.Sum]() bool {
	return !IsFloat[S]() && !isSigned[S]() && unsafe.Sizeof(S(0)) == 8
}

// signed is a sum of 32 bits as a signed number.
func signed[S kernel.Sum](s S) int64 { return int64(int32(uint32(s))) }

// epsilon is half a unit in the last place of 1, and 0 for integers.
func epsilon[S kernel.Sum]() float64 {
	switch {
	case !IsFloat[S]():
		return 0
	case unsafe.Sizeof(S(0)) == 4:
		return 0x1p-24
	}
	return 0x1p-53
}

// IsWhole reports whether an entry of the sums and one of the squares are whole
// numbers, and so small that all that led to them was exact if it was whole too. That
// all were is taken from several entries: so the limits leave some bits that would
// not be zero by chance.
func IsWhole[S, Q kernel.Sum](sum S, squares Q) bool {
	return isWhole(float64(sum), float64(squares), epsilon[S]())
}

func isWhole(s, q, epsilon float64) bool {
	limits := [...]float64{1 << 46, 1 << 46} // of the sum and of the squares
	switch epsilon {
	case 0: // then so are the pixels
		limits = [...]float64{math.Inf(1), 1 << 53}
	case 0x1p-24:
		limits[0] = 1 << 20
	}
	return math.Abs(s) < limits[0] && q < limits[1] && s == math.Trunc(s) && q == math.Trunc(q)
}

// StaysWhole reports whether sums up to this are exact where what they add is whole.
func StaysWhole[S kernel.Sum](most float64) bool {
	switch epsilon[S]() {
	case 0:
		return true // modulo a power of two
	case 0x1p-24:
		return most < 1<<24
	}
	return most < 1<<53
}

// magnitude is that of an integer sum, and 0 of floats.
func magnitude[S kernel.Sum](s S) uint64 {
	switch {
	case IsFloat[S]():
		return 0
	case s < 0:
		return -uint64(s)
	}
	return uint64(s)
}

// ofIntegers is (n·squares − sum²)/n², its numerator in 128 bits.
func ofIntegers(n, sum, squares uint64) float64 { return ofWide(n, sum, 0, squares) }

// ofWide is that for squares of more than 64 bits. It is NaN where the numerator is
// less than zero, or n times the squares more than 128 bits.
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

// WideVariance is the variance of n integers from their sum and two forms of the sum of
// their squares: rounded, and modulo 2^64. Where the first is right to 2^62, both
// together are that sum; it is NaN where they contradict each other.
func WideVariance[S kernel.Sum](n int, sum S, rounded float64, modulo uint64) float64 {
	if IsFloat[S]() && n != 0 {
		return math.NaN()
	}
	return wideVariance(n, magnitude(sum), rounded, modulo)
}

func wideVariance(n int, magnitude uint64, rounded float64, modulo uint64) float64 {
	switch {
	case n == 0:
		return 0
	case !(math.Abs(rounded) < 0x1p126):
		return math.NaN()
	}
	negative := rounded < 0 // which a small sum may be by rounding
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
