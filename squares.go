package boxsum

import "github.com/boxsum/boxsum/internal/grid"

// Square is what a table of squares holds: uint64 for integer pixels, and
// float64 for float pixels. Squares of 8- and 16-bit pixels are always exact
// in uint64. Those of int32 and uint32 are exact as long as the squares of a
// box add up to less than 2^64; float64 takes them of any size, with its
// rounding. It takes those of uint8 and uint16 too, for who wants the table as
// floats: whole numbers while all of the image add up to less than 2^53.
type Square interface{ uint64 | float64 }

// A SquaredTable is the table of an image beside the table of its squares,
// from which come the variance and standard deviation of any box.
//
// Float pixels that all lie far from zero lose an offset before they are summed and
// squared, see [Options]: then Squares holds the squares of pixels less Offset.
type SquaredTable[S Sum, Q Square] struct {
	Sum     *Table[S]
	Squares *Table[Q]
}

// NewSquaredTable allocates both tables for an image of this size.
func NewSquaredTable[S Sum, Q Square](width, height, channels int) (*SquaredTable[S, Q], error) {
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
