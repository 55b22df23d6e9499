package filter

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/raster"
)

// Box returns the mean of the window around every pixel, in the pixel type of img: a box
// blur. Integers are exact and rounded to nearest, ties up.
func Box[P Pixel](img boxsum.Image[P], w Window, opt *Options) (boxsum.Image[P], error) {
	j := job{kind: mean, src: arrayOf(&img)}
	if err := j.check(w, opt); err != nil {
		return boxsum.Image[P]{}, err
	}
	return newResult[P](&j)
}

// BoxInto is like [Box] but writes to dst, which has the same size and may be img itself.
// It allocates nothing after the first image of a type and size.
func BoxInto[P Pixel](dst, img boxsum.Image[P], w Window, opt *Options) error {
	j := job{kind: mean, src: arrayOf(&img)}
	if err := j.check(w, opt); err != nil {
		return err
	}
	return j.fill(arrayOf(&dst))
}

// Sum returns the sum of the window around every pixel. Integers are exact: a type D that
// may not hold the sum of a window is an error.
func Sum[D boxsum.Pixel, P Pixel](img boxsum.Image[P], w Window, opt *Options) (boxsum.Image[D], error) {
	j := job{kind: sum, src: arrayOf(&img)}
	if err := j.check(w, opt); err != nil {
		return boxsum.Image[D]{}, err
	}
	return newResult[D](&j)
}

// SumInto is like [Sum] but writes to dst, see [BoxInto].
func SumInto[D boxsum.Pixel, P Pixel](dst boxsum.Image[D], img boxsum.Image[P], w Window, opt *Options) error {
	j := job{kind: sum, src: arrayOf(&img)}
	if err := j.check(w, opt); err != nil {
		return err
	}
	return j.fill(arrayOf(&dst))
}

// Mean returns the mean of the window around every pixel, as floats:
//
//	m, err := filter.Mean[float32](img, filter.Radius(7), nil)
func Mean[D Float, P Pixel](img boxsum.Image[P], w Window, opt *Options) (boxsum.Image[D], error) {
	j := job{kind: mean, src: arrayOf(&img)}
	if err := j.check(w, opt); err != nil {
		return boxsum.Image[D]{}, err
	}
	return newResult[D](&j)
}

// MeanInto is like [Mean] but writes to dst, see [BoxInto].
func MeanInto[D Float, P Pixel](dst boxsum.Image[D], img boxsum.Image[P], w Window, opt *Options) error {
	j := job{kind: mean, src: arrayOf(&img)}
	if err := j.check(w, opt); err != nil {
		return err
	}
	return j.fill(arrayOf(&dst))
}

// Variance returns the variance of the window around every pixel: the mean of the squared
// distances from the mean, as in [boxsum.SquaredTable].
func Variance[D Float, P Pixel](img boxsum.Image[P], w Window, opt *Options) (boxsum.Image[D], error) {
	j := job{kind: variance, src: arrayOf(&img)}
	if err := j.check(w, opt); err != nil {
		return boxsum.Image[D]{}, err
	}
	return newResult[D](&j)
}

// VarianceInto is like [Variance] but writes to dst, see [BoxInto].
func VarianceInto[D Float, P Pixel](dst boxsum.Image[D], img boxsum.Image[P], w Window, opt *Options) error {
	j := job{kind: variance, src: arrayOf(&img)}
	if err := j.check(w, opt); err != nil {
		return err
	}
	return j.fill(arrayOf(&dst))
}

// StdDev returns the standard deviation of the window around every pixel, the square root
// of its [Variance].
func StdDev[D Float, P Pixel](img boxsum.Image[P], w Window, opt *Options) (boxsum.Image[D], error) {
	j := job{kind: deviation, src: arrayOf(&img)}
	if err := j.check(w, opt); err != nil {
		return boxsum.Image[D]{}, err
	}
	return newResult[D](&j)
}

// StdDevInto is like [StdDev] but writes to dst, see [BoxInto].
func StdDevInto[D Float, P Pixel](dst boxsum.Image[D], img boxsum.Image[P], w Window, opt *Options) error {
	j := job{kind: deviation, src: arrayOf(&img)}
	if err := j.check(w, opt); err != nil {
		return err
	}
	return j.fill(arrayOf(&dst))
}

// MeanStdDev returns [Mean] and [StdDev] together, in little more time than one of them.
func MeanStdDev[D Float, P Pixel](img boxsum.Image[P], w Window, opt *Options) (mean, dev boxsum.Image[D], err error) {
	j := job{kind: meanDeviation, src: arrayOf(&img)}
	if err = j.check(w, opt); err != nil {
		return mean, dev, err
	}
	if mean, err = boxsum.NewImage[D](img.Width, img.Height, img.Channels); err != nil {
		return mean, dev, err
	}
	if dev, err = boxsum.NewImage[D](img.Width, img.Height, img.Channels); err != nil {
		return mean, dev, err
	}
	return mean, dev, j.fillBoth(arrayOf(&mean), arrayOf(&dev))
}

// MeanStdDevInto is like [MeanStdDev] but writes to mean and dev, see [BoxInto].
func MeanStdDevInto[D Float, P Pixel](mean, dev boxsum.Image[D], img boxsum.Image[P], w Window, opt *Options) error {
	j := job{kind: meanDeviation, src: arrayOf(&img)}
	if err := j.check(w, opt); err != nil {
		return err
	}
	return j.fillBoth(arrayOf(&mean), arrayOf(&dev))
}

// Normalize returns the local contrast of every pixel, the number of standard deviations by
// which it exceeds the mean of its window: (p − mean) / max(deviation, floor). floor
// prevents the amplification of noise in windows that contain nothing else: use the
// deviation of the noise. The result is 0 in a window of equal pixels.
func Normalize[D Float, P Pixel](img boxsum.Image[P], w Window, floor float64, opt *Options) (boxsum.Image[D], error) {
	j := job{kind: normalized, src: arrayOf(&img), floor: floor}
	if err := j.check(w, opt); err != nil {
		return boxsum.Image[D]{}, err
	}
	return newResult[D](&j)
}

// NormalizeInto is like [Normalize] but writes to dst, see [BoxInto].
func NormalizeInto[D Float, P Pixel](dst boxsum.Image[D], img boxsum.Image[P], w Window, floor float64, opt *Options) error {
	j := job{kind: normalized, src: arrayOf(&img), floor: floor}
	if err := j.check(w, opt); err != nil {
		return err
	}
	return j.fill(arrayOf(&dst))
}

// arrayOf returns the pixels of an image, unchecked.
func arrayOf[P boxsum.Pixel](img *boxsum.Image[P]) raster.Array {
	return raster.ArrayOf(img.Pix, raster.PlaneExtent(img.Width, img.Height, img.Channels, img.Stride))
}

// newResult returns a new image that a job has filled.
func newResult[D boxsum.Pixel](j *job) (boxsum.Image[D], error) {
	dst, err := boxsum.NewImage[D](j.src.Width, j.src.Height, j.src.Channels)
	if err == nil {
		err = j.fill(arrayOf(&dst))
	}
	if err != nil {
		return boxsum.Image[D]{}, err
	}
	return dst, nil
}
