package threshold

import (
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/thresholds"
)

// Pointwise returns the function that computes the threshold of one pixel from its value and
// the mean and variance of the pixels in its window. With a
// [boxsum.SquaredTable], this thresholds any part of an image without the rest; for the whole
// image, [Binarize] is faster.
// A pixel is black if it does not exceed its threshold.
//
// Wolf, ISauvola, Su and Otsu need more than one window and are a [boxsum.ErrInvalid].
func Pointwise[P filter.Pixel](rule Rule) (func(pixel, mean, variance float64) float64, error) {
	var r thresholds.Rule
	rule.set(&r)
	return thresholds.Pointwise(raster.TypeOf[P](), &r)
}
