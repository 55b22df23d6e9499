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

	onePassSums    = pairs.Sums.For(pairs.OnDevice | pairs.OnePass)
	onePassSquares = pairs.Squares.For(pairs.OnDevice | pairs.OnePass)
)

// typesObstacle reports what the one-pass kernels miss of the types of a job. Zero stands
// for a table that is not made.
func typesObstacle(pixel, sum, square pairs.Type) string {
	switch {
	case sum != 0 && !onePassSums.Has(pixel, sum):
		return fmt.Sprintf("do not make sums of %v from %v pixels", sum, pixel)
	case square != 0 && !onePassSquares.Has(pixel, square):
		return fmt.Sprintf("do not make squares of %v from %v pixels", square, pixel)
	}
	return ""
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
