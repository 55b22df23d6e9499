package method

import (
	"fmt"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/pairs"
)

// Sums is the tables that devices make, and Squares those of squares beside them.
var (
	Sums    = pairs.Sums.For(pairs.OnDevice)
	Squares = pairs.Squares.For(pairs.OnDevice)
)

// typesObstacle reports what the one-pass kernels miss for sums of pixels, or of their
// squares. Either may be 0.
func typesObstacle(pixel, sum, square pairs.Type) string {
	switch {
	case missing(pairs.Sums, pixel, sum):
		return fmt.Sprintf("do not make sums of %v from %v pixels", sum, pixel)
	case missing(pairs.Squares, pixel, square):
		return fmt.Sprintf("do not make squares of %v from %v pixels", square, pixel)
	}
	return ""
}

// missing reports whether devices make a table, but not in one pass.
func missing(all pairs.List, pixel, sum pairs.Type) bool {
	return all.For(pairs.OnDevice).Has(pixel, sum) && !all.For(pairs.OnDevice|pairs.OnePass).Has(pixel, sum)
}

// PairError is the error of a table that there is not. Square is 0 where there are no
// squares.
func PairError(pixel, sum, square pairs.Type) error {
	if !Sums.Has(pixel, sum) {
		return fmt.Errorf("gpu: %w: %s", boxsum.ErrTypes, Sums.Missing(pixel, sum))
	}
	if square != 0 && !Squares.Has(pixel, square) {
		return fmt.Errorf("gpu: %w: no squares of %s in %s: squares of %s", boxsum.ErrTypes, pixel, square, Squares.Choices(pixel))
	}
	return nil
}
