package boxsum

import (
	"image"
	"math"

	"github.com/boxsum/boxsum/internal/exact"
	"github.com/boxsum/boxsum/internal/grid"
)

// Square is what a table of squares holds: uint64 for integer pixels, and
// float64 for float pixels. Squares of 8- and 16-bit pixels are always exact
// in uint64. Those of int32 and uint32 are exact as long as the squares of a
// box add up to less than 2^64; float64 takes them of any size, with its
// rounding. It takes those of uint8 and uint16 too, for who wants the table as
// floats: whole numbers while all of the image add up to less than 2^53.
type Square interface{ uint64 | float64 }

// A SquaredTable is the table of an image beside the table of its squares,
// from which come the variance and standard deviation of any box.
type SquaredTable[S Sum, Q Square] struct {
	Sum     *Table[S]
	Squares *Table[Q]
}

// NewSquaredTable allocates both tables for an image of this size.
func NewSquaredTable[S Sum, Q Square](width, height, channels int) (*SquaredTable[S, Q], error) {
	sum, err := NewTable[S](width, height, channels)
	if err != nil {
		return nil, err
	}
	squares, err := NewTable[Q](width, height, channels)
	return grid.OrNil(&SquaredTable[S, Q]{Sum: sum, Squares: squares}, err)
}

// Mean is the mean of one channel over a box, clipped to the image, and 0 for
// an empty box.
func (t *Table[S]) Mean(box image.Rectangle, channel int) float64 {
	return exact.Mean(area(box.Intersect(t.Bounds())), t.SumChannel(box, channel))
}

// Mean is the mean of one channel over a box, clipped to the image, and 0 for
// an empty box.
func (t *SquaredTable[S, Q]) Mean(box image.Rectangle, channel int) float64 {
	if t == nil {
		return 0
	}
	return t.Sum.Mean(box, channel)
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
	if t == nil {
		return 0
	}
	return exact.Variance(area(box.Intersect(t.Sum.Bounds())), t.Sum.SumChannel(box, channel), t.Squares.SumChannel(box, channel))
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
