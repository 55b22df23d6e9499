package volume

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/grid"
)

// A SquaredTable is the table of a volume beside the table of its squares, from
// which come the variance and standard deviation of any box. Float voxels that all
// lie far from zero lose an offset first, as in a [boxsum.SquaredTable].
type SquaredTable[S boxsum.Sum, Q boxsum.Square] struct {
	Sum     *Table[S]
	Squares *Table[Q]
}

// NewSquaredTable allocates both tables for a volume of this size.
func NewSquaredTable[S boxsum.Sum, Q boxsum.Square](width, height, depth, channels int) (*SquaredTable[S, Q], error) {
	if err := grid.Fit(grid.Volume(width, height, depth, channels, 0, 0), grid.SizeOf[S]()+grid.SizeOf[Q]()); err != nil {
		return nil, advised(err)
	}
	sum, err := NewTable[S](width, height, depth, channels)
	if err != nil {
		return nil, err
	}
	squares, err := NewTable[Q](width, height, depth, channels)
	return grid.OrNil(&SquaredTable[S, Q]{Sum: sum, Squares: squares}, err)
}
