package method

import (
	"fmt"

	"github.com/boxsum/boxsum/internal/raster"
)

// Sums lists the tables that devices support, and Squares those of squares.
var (
	Sums    = raster.SumPairs.For(raster.OnDevice)
	Squares = raster.SquarePairs.For(raster.OnDevice)

	onePassSums    = raster.SumPairs.For(raster.OnDevice | raster.OnePass)
	onePassSquares = raster.SquarePairs.For(raster.OnDevice | raster.OnePass)
)

// typesObstacle returns why the one-pass kernels do not support the types of a job, or "". Zero
// means that a table is not wanted.
func typesObstacle(pixel, sum, square raster.Type) string {
	switch {
	case sum != 0 && !onePassSums.Has(pixel, sum):
		return fmt.Sprintf("do not support sums of %v for %v pixels", sum, pixel)
	case square != 0 && !onePassSquares.Has(pixel, square):
		return fmt.Sprintf("do not support squares of %v for %v pixels", square, pixel)
	}
	return ""
}

// PairError returns an error if a table is not supported. square is 0 if no squares are wanted.
func PairError(pixel, sum, square raster.Type) error {
	if !Sums.Has(pixel, sum) {
		return raster.Unsupported("devices have %s", Sums.Missing(pixel, sum))
	}
	if square != 0 && !Squares.Has(pixel, square) {
		return raster.Unsupported("devices cannot sum squares of %s in %s: squares of %s", pixel, square, Squares.Choices(pixel))
	}
	return nil
}
