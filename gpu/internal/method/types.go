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
	onePass = pairs.Sums.For(pairs.OnDevice | pairs.OnePass)
)

// typesObstacle reports what the one-pass kernels miss for sums of pixels.
func typesObstacle(pixel, sum pairs.Type) string {
	if !Sums.Has(pixel, sum) || onePass.Has(pixel, sum) {
		return ""
	}
	return fmt.Sprintf("do not make sums of %v from %v pixels", sum, pixel)
}

// PairError is the error of a table that there is not. Square is 0 where there are no
// squares.
func PairError(pixel, sum, square pairs.Type) error {
	if !Sums.Has(pixel, sum) {
		return fmt.Errorf("gpu: %w: %s", boxsum.ErrTypes, Sums.Missing(pixel, sum))
	}
	if square != 0 && !Squares.Has(pixel, square) {
		return fmt.Errorf("gpu: %w: no squares of %s in %s: integer pixels take uint64, float pixels and 32-bit integers float64",
			boxsum.ErrTypes, pixel, square)
	}
	return nil
}
