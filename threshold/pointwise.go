package threshold

import (
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
)

// Pointwise returns the function that computes the threshold of one pixel from its value and
// the mean and variance of the pixels in its window. With a
// [boxsum.SquaredTable], this thresholds any part of an image without the rest; for the whole
// image, [Binarize] is faster.
// A pixel is black if it does not exceed its threshold.
//
// Wolf, ISauvola, Su and Otsu need more than one window and are a [boxsum.ErrInvalid].
func Pointwise[P filter.Pixel](rule Rule) (func(pixel, mean, variance float64) float64, error) {
	f, err := formulaOf(raster.TypeOf[P](), &rule)
	if err != nil {
		return nil, err
	}
	switch rule.Method {
	case Wolf, ISauvola, Su, Otsu:
		return nil, raster.Invalid("%v needs the whole image (use Binarize)", rule.Method)
	}
	return func(pixel, mean, variance float64) float64 { return pointwise(&f, pixel, mean, variance) }, nil
}

func pointwise(f *windows.Formula, pixel, mean, variance float64) float64 {
	if variance < 0 && !f.Bytes { // rounding; for bytes there is then no threshold, as in Doxa
		variance = 0
	}
	return f.At(pixel, mean, variance)
}
