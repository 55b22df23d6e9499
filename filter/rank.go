package filter

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/filters"
	"github.com/boxsum/boxsum/internal/raster"
)

// Median returns the median of the window around every pixel, or the lower of the two middle
// values if the number of pixels is even. It removes salt-and-pepper noise and preserves edges.
// Medians are exact for all types. The median of a window that contains a NaN is NaN, and -0 comes
// before 0.
//
// Windows of 3×3 and 5×5 pixels are fastest. For larger windows of uint8 pixels, up to 255×255,
// the running time does not depend on the size of the window, except with the border [Clip]. In
// all other cases, the time per pixel is proportional to the height of the window. Windows of
// floats that are wider or higher than 400 need 12 additional bytes of memory for each pixel.
func Median[P Pixel](img boxsum.Image[P], w Window, opt *Options) (boxsum.Image[P], error) {
	j := filters.Job{Kind: filters.Median}
	setJob(&j, &img, w, opt)
	dst, err := checkNew[P](&j)
	if err != nil {
		return dst, err
	}
	return raster.OrZero(dst, j.Run())
}

// MedianInto is like [Median] but writes the result to dst, which must have the size and the
// channels of img, and may be img itself. If it returns an error, the contents of dst are
// undefined. For integers, repeated calls with images of the same type and size do not allocate.
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
// over the range of 8- and 16-bit pixels; float pixels require a range. Pixels outside all bins
// are ignored, and the entropy of a window without any other pixels is 0.
func Entropy[D Float, P Pixel](img boxsum.Image[P], w Window, bins histogram.Bins, opt *Options) (boxsum.Image[D], error) {
	j := filters.Job{Kind: filters.Entropy, Bins: rangeOf(bins)}
	setJob(&j, &img, w, opt)
	dst, err := checkNew[D](&j)
	if err != nil {
		return dst, err
	}
	return raster.OrZero(dst, j.Run())
}

// EntropyInto is like [Entropy] but writes the result to dst, which must have the size and
// the channels of img. dst may be img itself if D and P are the same type. If it returns an
// error, the contents of dst are undefined.
func EntropyInto[D Float, P Pixel](dst boxsum.Image[D], img boxsum.Image[P], w Window, bins histogram.Bins, opt *Options) error {
	j := filters.Job{Kind: filters.Entropy, Bins: rangeOf(bins)}
	setJob(&j, &img, w, opt)
	if err := checkInto(&j, &dst); err != nil {
		return err
	}
	return j.Run()
}
