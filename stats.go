package boxsum

import (
	"image"
	"math"
	"math/bits"
)

// Mean is the mean of one channel over a box, clipped to the image, and 0 for
// an empty box.
func (t *Table[S]) Mean(box image.Rectangle, channel int) float64 {
	n := area(box.Intersect(t.Bounds()))
	if n == 0 {
		return 0
	}
	return float64(t.SumChannel(box, channel)) / float64(n)
}

// Variance is the variance of one channel over a box, clipped to the image:
// the mean square distance from the mean, never negative, and 0 for an empty
// box.
//
// For integer tables it comes from exact integers and is right to two units in
// the last place, wherever the sum and the squares of the box fit their types:
// with uint32 sums of 8-bit pixels, for boxes of up to 16,843,009 pixels. For
// float tables it is the difference of two rounded numbers, as small as it may
// be beside them: pixels far from zero that differ little call for float64
// sums.
func (t *SquaredTable[S, Q]) Variance(box image.Rectangle, channel int) float64 {
	n := area(box.Intersect(t.Sum.Bounds()))
	if n == 0 {
		return 0
	}
	sum, square := t.Sum.SumChannel(box, channel), t.Squares.SumChannel(box, channel)
	if magnitude, ok := integer(sum); ok {
		if squares, ok := any(square).(uint64); ok {
			return exactVariance(uint64(n), magnitude, squares)
		}
	}
	mean := float64(sum) / float64(n)
	return max(0, float64(square)/float64(n)-float64(mean*mean)) // the same bits, fused or not
}

// StdDev is the standard deviation of one channel over a box: the square root
// of its [SquaredTable.Variance].
func (t *SquaredTable[S, Q]) StdDev(box image.Rectangle, channel int) float64 {
	return math.Sqrt(t.Variance(box, channel))
}

func area(box image.Rectangle) int {
	if box.Empty() {
		return 0
	}
	return box.Dx() * box.Dy()
}

// integer is the magnitude of an integer sum.
func integer[S Sum](s S) (magnitude uint64, ok bool) {
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

// exactVariance is (n·squares − sum²)/n², its numerator in 128 bits.
func exactVariance(n, sum, squares uint64) float64 {
	hi, lo := bits.Mul64(n, squares)
	subHi, subLo := bits.Mul64(sum, sum)
	lo, borrow := bits.Sub64(lo, subLo, 0)
	hi, borrow = bits.Sub64(hi, subHi, borrow)
	if borrow != 0 {
		return math.NaN() // the sums of the box did not fit their types
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
