package filter

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/filters"
	"github.com/boxsum/boxsum/internal/raster"
)

// Box blurs an image: it returns the mean of the window around every pixel, in the pixel
// type of img. Means of integers are exact before they are rounded to nearest, ties up.
func Box[P Pixel](img boxsum.Image[P], w Window, opt *Options) (boxsum.Image[P], error) {
	j := filters.Job{Kind: filters.Mean}
	setJob(&j, &img, w, opt)
	dst, err := checkNew[P](&j)
	if err != nil {
		return dst, err
	}
	return raster.OrZero(dst, j.Run())
}

// BoxInto is like [Box] but writes the result to dst, which must have the size and the
// channels of img, and may be img itself. If it returns an error, the contents of dst are
// undefined. Repeated calls with images of the same type and size do not allocate.
func BoxInto[P Pixel](dst, img boxsum.Image[P], w Window, opt *Options) error {
	j := filters.Job{Kind: filters.Mean}
	setJob(&j, &img, w, opt)
	if err := checkInto(&j, &dst); err != nil {
		return err
	}
	return j.Run()
}

// Sum returns the sum of the window around every pixel. Sums of integers are exact: if D is
// too small for the largest possible sum of a window, Sum returns an error that wraps
// [boxsum.ErrTypes].
func Sum[D boxsum.Pixel, P Pixel](img boxsum.Image[P], w Window, opt *Options) (boxsum.Image[D], error) {
	j := filters.Job{Kind: filters.Sum}
	setJob(&j, &img, w, opt)
	dst, err := checkNew[D](&j)
	if err != nil {
		return dst, err
	}
	return raster.OrZero(dst, j.Run())
}

// SumInto is like [Sum] but writes the result to dst, which must have the size and the
// channels of img. dst may be img itself if D and P are the same type. If it returns an
// error, the contents of dst are undefined. Repeated calls with images of the same type
// and size do not allocate.
func SumInto[D boxsum.Pixel, P Pixel](dst boxsum.Image[D], img boxsum.Image[P], w Window, opt *Options) error {
	j := filters.Job{Kind: filters.Sum}
	setJob(&j, &img, w, opt)
	if err := checkInto(&j, &dst); err != nil {
		return err
	}
	return j.Run()
}

// Mean returns the mean of the window around every pixel as a float of type D:
//
//	m, err := filter.Mean[float32](img, filter.Radius(7), nil)
func Mean[D Float, P Pixel](img boxsum.Image[P], w Window, opt *Options) (boxsum.Image[D], error) {
	j := filters.Job{Kind: filters.Mean}
	setJob(&j, &img, w, opt)
	dst, err := checkNew[D](&j)
	if err != nil {
		return dst, err
	}
	return raster.OrZero(dst, j.Run())
}

// MeanInto is like [Mean] but writes the result to dst, which must have the size and the
// channels of img. dst may be img itself if D and P are the same type. If it returns an
// error, the contents of dst are undefined. Repeated calls with images of the same type
// and size do not allocate.
func MeanInto[D Float, P Pixel](dst boxsum.Image[D], img boxsum.Image[P], w Window, opt *Options) error {
	j := filters.Job{Kind: filters.Mean}
	setJob(&j, &img, w, opt)
	if err := checkInto(&j, &dst); err != nil {
		return err
	}
	return j.Run()
}

// Variance returns the variance of the window around every pixel: the mean of the squared
// distances from the mean, as in [boxsum.SquaredTable].
func Variance[D Float, P Pixel](img boxsum.Image[P], w Window, opt *Options) (boxsum.Image[D], error) {
	j := filters.Job{Kind: filters.Variance}
	setJob(&j, &img, w, opt)
	dst, err := checkNew[D](&j)
	if err != nil {
		return dst, err
	}
	return raster.OrZero(dst, j.Run())
}

// VarianceInto is like [Variance] but writes the result to dst, which must have the size
// and the channels of img. dst may be img itself if D and P are the same type. If it
// returns an error, the contents of dst are undefined. Repeated calls with images of the
// same type and size do not allocate.
func VarianceInto[D Float, P Pixel](dst boxsum.Image[D], img boxsum.Image[P], w Window, opt *Options) error {
	j := filters.Job{Kind: filters.Variance}
	setJob(&j, &img, w, opt)
	if err := checkInto(&j, &dst); err != nil {
		return err
	}
	return j.Run()
}

// StdDev returns the standard deviation of the window around every pixel, the square root
// of its [Variance].
func StdDev[D Float, P Pixel](img boxsum.Image[P], w Window, opt *Options) (boxsum.Image[D], error) {
	j := filters.Job{Kind: filters.Deviation}
	setJob(&j, &img, w, opt)
	dst, err := checkNew[D](&j)
	if err != nil {
		return dst, err
	}
	return raster.OrZero(dst, j.Run())
}

// StdDevInto is like [StdDev] but writes the result to dst, which must have the size and
// the channels of img. dst may be img itself if D and P are the same type. If it returns
// an error, the contents of dst are undefined. Repeated calls with images of the same
// type and size do not allocate.
func StdDevInto[D Float, P Pixel](dst boxsum.Image[D], img boxsum.Image[P], w Window, opt *Options) error {
	j := filters.Job{Kind: filters.Deviation}
	setJob(&j, &img, w, opt)
	if err := checkInto(&j, &dst); err != nil {
		return err
	}
	return j.Run()
}

// MeanStdDev returns [Mean] and [StdDev] together, in little more time than one of them.
func MeanStdDev[D Float, P Pixel](img boxsum.Image[P], w Window, opt *Options) (mean, dev boxsum.Image[D], err error) {
	j := filters.Job{Kind: filters.MeanDeviation}
	setJob(&j, &img, w, opt)
	if err = j.Check(); err != nil {
		return mean, dev, err
	}
	if mean, err = boxsum.NewImage[D](img.Width, img.Height, img.Channels); err != nil {
		return mean, dev, err
	}
	if dev, err = boxsum.NewImage[D](img.Width, img.Height, img.Channels); err != nil {
		return mean, dev, err
	}
	setImage(&j.Dst, &mean)
	setImage(&j.Second, &dev)
	return mean, dev, j.Run()
}

// MeanStdDevInto is like [MeanStdDev] but writes the results to mean and dev. Both must
// have the size and the channels of img, and they must not share memory. One of them may be
// img itself if D and P are the same type. If it returns an error, the contents of mean and
// dev are undefined. Repeated calls with images of the same type and size do not allocate.
func MeanStdDevInto[D Float, P Pixel](mean, dev boxsum.Image[D], img boxsum.Image[P], w Window, opt *Options) error {
	j := filters.Job{Kind: filters.MeanDeviation}
	setJob(&j, &img, w, opt)
	setImage(&j.Second, &dev)
	if err := checkInto(&j, &mean); err != nil {
		return err
	}
	return j.Run()
}

// Normalize returns the local contrast of every pixel, the number of standard deviations by
// which the pixel exceeds the mean of its window: (p − mean) / max(deviation, floor). A
// floor of about the deviation of the noise keeps Normalize from amplifying noise in
// windows that contain nothing else. floor must not be negative. The result is 0 in a
// window of equal pixels.
func Normalize[D Float, P Pixel](img boxsum.Image[P], w Window, floor float64, opt *Options) (boxsum.Image[D], error) {
	j := filters.Job{Kind: filters.Normalized, Floor: floor}
	setJob(&j, &img, w, opt)
	dst, err := checkNew[D](&j)
	if err != nil {
		return dst, err
	}
	return raster.OrZero(dst, j.Run())
}

// NormalizeInto is like [Normalize] but writes the result to dst, which must have the size
// and the channels of img. dst may be img itself if D and P are the same type. If it
// returns an error, the contents of dst are undefined. Repeated calls with images of the
// same type and size do not allocate.
func NormalizeInto[D Float, P Pixel](dst boxsum.Image[D], img boxsum.Image[P], w Window, floor float64, opt *Options) error {
	j := filters.Job{Kind: filters.Normalized, Floor: floor}
	setJob(&j, &img, w, opt)
	if err := checkInto(&j, &dst); err != nil {
		return err
	}
	return j.Run()
}

// setJob sets the source, the window and the options of a job, in place: copies of what has just been
// written take longer than all checks of a small image.
func setJob[P Pixel](j *filters.Job, img *boxsum.Image[P], w Window, opt *Options) {
	setImage(&j.Src, img)
	j.Window = filters.Window(w)
	if opt != nil {
		opt.set(&j.Options)
	}
}

// setImage sets a to the pixels of an image, unchecked.
func setImage[P boxsum.Pixel](a *raster.Array, img *boxsum.Image[P]) {
	raster.SetPlane(a, img.Pix, img.Width, img.Height, img.Channels, img.Stride)
}

// checkInto checks a job, and points it to the image for its result.
func checkInto[D boxsum.Pixel](j *filters.Job, dst *boxsum.Image[D]) error {
	err := j.Check()
	setImage(&j.Dst, dst)
	return err
}

// checkNew checks a job, and allocates the image for its result.
func checkNew[D boxsum.Pixel](j *filters.Job) (dst boxsum.Image[D], err error) {
	if err = j.Check(); err != nil {
		return dst, err
	}
	width, height := j.Size()
	dst, err = boxsum.NewImage[D](width, height, j.Src.Channels)
	setImage(&j.Dst, &dst)
	return dst, err
}
