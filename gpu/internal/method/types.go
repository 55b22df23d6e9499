package method

import (
	"fmt"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/raster"
)

// Sums is the tables that devices make, and Squares those of squares beside them.
var (
	Sums    = raster.SumPairs.For(raster.OnDevice)
	Squares = raster.SquarePairs.For(raster.OnDevice)

	onePassSums    = raster.SumPairs.For(raster.OnDevice | raster.OnePass)
	onePassSquares = raster.SquarePairs.For(raster.OnDevice | raster.OnePass)
)

// typesObstacle reports what the one-pass kernels miss of the types of a job. Zero stands
// for a table that is not made.
func typesObstacle(pixel, sum, square raster.Type) string {
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
func PairError(pixel, sum, square raster.Type) error {
	if !Sums.Has(pixel, sum) {
		return fmt.Errorf("gpu: %w: %s", boxsum.ErrTypes, Sums.Missing(pixel, sum))
	}
	if square != 0 && !Squares.Has(pixel, square) {
		return fmt.Errorf("gpu: %w: no squares of %s in %s: squares of %s", boxsum.ErrTypes, pixel, square, Squares.Choices(pixel))
	}
	return nil
}
