package tilted

import (
	"github.com/boxsum/boxsum"
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
	if err := grid.Fit(grid.Plane(width, height, channels, 0), grid.SizeOf[S]()+grid.SizeOf[Q]()); err != nil {
		return nil, err
	}
	sum, err := NewTable[S](width, height, channels)
	if err != nil {
		return nil, err
	}
	squares, err := NewTable[Q](width, height, channels)
	return grid.OrNil(&SquaredTable[S, Q]{Sum: sum, Squares: squares}, err)
}
