package threshold

import (
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/thresholds"
)

// Pointwise returns a function that computes the threshold of a pixel from its value and
// from the mean and the variance of its window. A pixel is black if it does not exceed its
// threshold. With a [boxsum.SquaredTable], the function can binarize any part of an image
// without the rest; for the whole image, [Binarize] is faster.
//
// Wolf, ISauvola, Su and Otsu need more than one window. For these methods, Pointwise
// returns an error that wraps [boxsum.ErrInvalid].
func Pointwise[P filter.Pixel](rule Rule) (func(pixel, mean, variance float64) float64, error) {
	var r thresholds.Rule
	rule.set(&r)
	return thresholds.Pointwise(raster.TypeOf[P](), &r)
}
