package tilted

import (
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/exact"
	"github.com/boxsum/boxsum/internal/grid"
)

// A SquaredTable is the 45° table of an image beside that of its squares, from
// which come the variance and standard deviation of any box.
type SquaredTable[S boxsum.Sum, Q boxsum.Square] struct {
	Sum     *Table[S]
	Squares *Table[Q]
}

// NewSquaredTable allocates both tables for an image of this size.
func NewSquaredTable[S boxsum.Sum, Q boxsum.Square](width, height, channels int) (*SquaredTable[S, Q], error) {
	sum, err := NewTable[S](width, height, channels)
	if err != nil {
		return nil, err
	}
	squares, err := NewTable[Q](width, height, channels)
	return grid.OrNil(&SquaredTable[S, Q]{Sum: sum, Squares: squares}, err)
}

// Mean is the mean of one channel over a box, clipped to the image, and 0 for
// one without pixels.
func (t *SquaredTable[S, Q]) Mean(b Box, channel int) float64 {
	if t == nil {
		return 0
	}
	return t.Sum.Mean(b, channel)
}

// Variance is the variance of one channel over a box, clipped to the image: never
// negative, from exact integers in integer tables, and 0 for a box without
// pixels. It is as good as [boxsum.SquaredTable.Variance].
func (t *SquaredTable[S, Q]) Variance(b Box, channel int) float64 {
	if t == nil {
		return 0
	}
	return exact.Variance(t.Sum.Area(b), t.Sum.SumChannel(b, channel), t.Squares.SumChannel(b, channel))
}

// StdDev is the standard deviation of one channel over a box: the square root
// of its [SquaredTable.Variance].
func (t *SquaredTable[S, Q]) StdDev(b Box, channel int) float64 {
	return math.Sqrt(t.Variance(b, channel))
}
