package filter

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/filters"
	"github.com/boxsum/boxsum/internal/raster"
)

// Median returns the median of the window around every pixel, or the lower of the two middle values
// if their number is even. It removes salt-and-pepper noise and preserves edges. Medians are exact
// for all types. The median of a window that contains a NaN is NaN, and -0 comes before 0.
//
// Windows of 3×3 and 5×5 are sorted in vectors. For larger windows of bytes, up to 255×255, the
// time does not depend on the size, except with the border Clip. All others take twice as many
// steps per pixel as a window is high: bytes are counted in a histogram that is updated from one
// window to the next, and other pixels are kept in a set of their ranks among those nearby. Only
// windows of floats that are wider or higher than 400 need the ranks of all pixels, which take 12
// bytes per pixel.
func Median[P Pixel](img boxsum.Image[P], w Window, opt *Options) (boxsum.Image[P], error) {
	j := filters.Job{Kind: filters.Median}
	setJob(&j, &img, w, opt)
	dst, err := checkNew[P](&j)
	if err != nil {
		return dst, err
	}
	return raster.OrZero(dst, j.Run())
}

// MedianInto is like [Median] but writes to dst, which has the same size and may be img
// itself. For integers, it allocates nothing after the first image of a type and size.
func MedianInto[P Pixel](dst, img boxsum.Image[P], w Window, opt *Options) error {
	j := filters.Job{Kind: filters.Median}
	setJob(&j, &img, w, opt)
	if err := checkInto(&j, &dst); err != nil {
		return err
	}
	return j.Run()
}

// Entropy returns Shannon's entropy of the histogram of the window around every pixel, in bits: 0
// if all pixels fall into one bin. It detects texture. If bins is zero, the histogram has 256 bins
// over the range of 8- and 16-bit pixels; float pixels require a range. Pixels outside all bins do
// not count, and the entropy of a window in which no pixel counts is 0.
func Entropy[D Float, P Pixel](img boxsum.Image[P], w Window, bins histogram.Bins, opt *Options) (boxsum.Image[D], error) {
	j := filters.Job{Kind: filters.Entropy, Bins: rangeOf(bins)}
	setJob(&j, &img, w, opt)
	dst, err := checkNew[D](&j)
	if err != nil {
		return dst, err
	}
	return raster.OrZero(dst, j.Run())
}

// EntropyInto is like [Entropy] but writes to dst, which must have the same size.
func EntropyInto[D Float, P Pixel](dst boxsum.Image[D], img boxsum.Image[P], w Window, bins histogram.Bins, opt *Options) error {
	j := filters.Job{Kind: filters.Entropy, Bins: rangeOf(bins)}
	setJob(&j, &img, w, opt)
	if err := checkInto(&j, &dst); err != nil {
		return err
	}
	return j.Run()
}
