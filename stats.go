package boxsum

import (
	"image"
	"math"

	"github.com/boxsum/boxsum/internal/exact"
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
	return exact.Variance(n, t.Sum.SumChannel(box, channel), t.Squares.SumChannel(box, channel))
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
