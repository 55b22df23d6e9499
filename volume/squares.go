package volume

import (
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/exact"
	"github.com/boxsum/boxsum/internal/grid"
)

// A SquaredTable is the table of a volume beside the table of its squares, from
// which come the variance and standard deviation of any box.
type SquaredTable[S boxsum.Sum, Q boxsum.Square] struct {
	Sum     *Table[S]
	Squares *Table[Q]
}

// NewSquaredTable allocates both tables for a volume of this size.
func NewSquaredTable[S boxsum.Sum, Q boxsum.Square](width, height, depth, channels int) (*SquaredTable[S, Q], error) {
	sum, err := NewTable[S](width, height, depth, channels)
	if err != nil {
		return nil, err
	}
	squares, err := NewTable[Q](width, height, depth, channels)
	return grid.OrNil(&SquaredTable[S, Q]{Sum: sum, Squares: squares}, err)
}

// Mean is the mean of one channel over a box, clipped to the volume, and 0 for
// an empty box.
func (t *SquaredTable[S, Q]) Mean(box Box, channel int) float64 {
	if t == nil {
		return 0
	}
	return t.Sum.Mean(box, channel)
}

// Variance is the variance of one channel over a box, clipped to the volume:
// the mean square distance from the mean, never negative, and 0 for an empty
// box.
//
// For integer tables it comes from exact integers and is right to two units in
// the last place, wherever the sum and the squares of the box fit their types:
// with uint32 sums of 8-bit voxels, for boxes of up to 16,843,009 voxels, such
// as 256×256×257. Beyond, take uint64. For float tables it is the difference of
// two rounded numbers, as small as it may be beside them.
func (t *SquaredTable[S, Q]) Variance(box Box, channel int) float64 {
	if t == nil {
		return 0
	}
	return exact.Variance(box.Intersect(t.Sum.Bounds()).Voxels(), t.Sum.SumChannel(box, channel), t.Squares.SumChannel(box, channel))
}

// StdDev is the standard deviation of one channel over a box: the square root
// of its [SquaredTable.Variance].
func (t *SquaredTable[S, Q]) StdDev(box Box, channel int) float64 {
	return math.Sqrt(t.Variance(box, channel))
}
