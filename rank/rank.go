// Package rank computes filters from the histogram of the window around every pixel: its extremes, percentiles and most
// frequent value, Otsu's threshold, and local histogram equalization.
//
//	clear, err := rank.Filter(img, rank.Equalize, filter.Square(31), nil)
//
// Results are bit-identical to those of scikit-image's filters.rank for 8- and 16-bit images, with windows of any shape and
// with masks. Windows end at the edges of the image. For medians and entropies with other borders or of floats, use package
// filter.
package rank

import (
	"context"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/internal/rank"
	"github.com/boxsum/boxsum/internal/raster"
)

// Pixel is a constraint that permits the pixel types of images to filter.
type Pixel interface{ uint8 | uint16 }

// A Statistic is a function of the pixels in a window. In the comments on the constants, g is the
// pixel in the middle, n the number of pixels that count, and L the number of levels: 256 for 8-bit
// pixels, and [Options.Levels] for 16-bit pixels. If no pixel of a window counts, the result is 0.
type Statistic uint8

const (
	Minimum       = Statistic(rank.Minimum)
	Maximum       = Statistic(rank.Maximum)
	Gradient      = Statistic(rank.Gradient)      // the maximum less the minimum
	Mean          = Statistic(rank.Mean)          // rounded down; filter.Box rounds to nearest
	Sum           = Statistic(rank.Sum)           // the sum, which wraps in the type of the pixels; filter.Sum has wider results
	SubtractMean  = Statistic(rank.SubtractMean)  // (g-mean)/2 + L/2-1, rounded toward zero
	Threshold     = Statistic(rank.Threshold)     // 1 if g exceeds the mean, and 0 otherwise
	Percentile    = Statistic(rank.Percentile)    // the smallest level such that more than Options.Fraction of the pixels do not exceed it
	Majority      = Statistic(rank.Majority)      // the most frequent level; if there are several, the lowest
	Autolevel     = Statistic(rank.Autolevel)     // g after stretching the range of the window to all levels
	Equalize      = Statistic(rank.Equalize)      // local histogram equalization: (L-1)·c/n, where c is the number of pixels that do not exceed g
	Otsu          = Statistic(rank.Otsu)          // Otsu's threshold; if there are several, the lowest; 0 in a flat window
	BilateralMean = Statistic(rank.BilateralMean) // the mean of the pixels above g-Below and below g+Above, rounded down
)

// String returns the name of the statistic in lower case, such as "bilateral-mean".
func (s Statistic) String() string { return rank.Kind(s).String() }

// ParseStatistic returns the statistic with the given name, as returned by [Statistic.String]. It returns an error that
// wraps [boxsum.ErrInvalid] for any other name.
func ParseStatistic(name string) (Statistic, error) {
	k, err := rank.ParseKind(name)
	if err == nil && Statistic(k) > BilateralMean {
		return 0, raster.Invalid("statistic is %s, which has another type of result (use Entropies or Histograms)", k)
	}
	return Statistic(k), err
}

// Options configures filters. Nil and the zero value select all pixels and the best settings for
// the machine.
type Options struct {
	// Mask selects the pixels that count: those where it is not zero. It must have the size of the
	// image and one channel or as many as the image. Results are still computed for all pixels. The
	// zero Image means that all pixels count.
	Mask boxsum.Image[uint8]

	// Footprint selects the pixels of a window that count, for windows that are not rectangles. It has
	// one value for each pixel, row by row; zero excludes the pixel. Nil means all pixels.
	Footprint []uint8

	// Levels is the number of levels of 16-bit images. All pixels must be smaller. 0 means one more
	// than the greatest pixel of the image, but at least 4, as in scikit-image. To compare the results
	// for several images, set it to a fixed number, such as 4096 for 12-bit cameras.
	Levels int

	Fraction     float64 // for Percentile: 0 is the minimum, 0.5 the median, 1 the maximum
	Below, Above int     // for BilateralMean: how far from g the pixels below and above it must be to be excluded

	// On is the device to use; nil selects the processor. See [boxsum.Options.On]. Devices support
	// Mean and, for 8-bit pixels, Percentile, Minimum, Maximum and Equalize, without a mask or a
	// footprint.
	On boxsum.Device

	Workers  int                // maximum number of goroutines; 0 means GOMAXPROCS
	Level    boxsum.Level       // instruction set; the zero Level selects the best
	Context  context.Context    // canceling it stops the work; may be nil
	Progress func(done float64) // called with the fraction of the work that is done; may be nil
}

// Filter returns the statistic of the window around every pixel, for each channel separately. Windows end at the edges
// of the image: unlike package filter, package rank has no borders.
func Filter[P Pixel](img boxsum.Image[P], s Statistic, w filter.Window, opt *Options) (boxsum.Image[P], error) {
	j := jobOf(&img, rank.Kind(s), w, opt)
	dst, err := checkNew[P](j)
	if err != nil {
		return dst, err
	}
	return raster.OrZero(dst, j.Run())
}

// FilterInto is like [Filter] but writes the result to dst, which must have the same size and may
// be img itself. If it returns an error, the contents of dst are undefined.
func FilterInto[P Pixel](dst, img boxsum.Image[P], s Statistic, w filter.Window, opt *Options) error {
	j := jobOf(&img, rank.Kind(s), w, opt)
	if err := j.Check(); err != nil {
		return err
	}
	setImage(&j.Dst, &dst)
	return j.Run()
}

// Entropies returns Shannon's entropy of the window around every pixel, in bits, for each channel separately. It is 0
// for a window without pixels that count.
func Entropies[D filter.Float, P Pixel](img boxsum.Image[P], w filter.Window, opt *Options) (boxsum.Image[D], error) {
	j := jobOf(&img, rank.Entropy, w, opt)
	dst, err := checkNew[D](j)
	if err != nil {
		return dst, err
	}
	return raster.OrZero(dst, j.Run())
}

// Histograms returns the histogram of the window around every pixel, as an image with levels channels for each channel
// of img; levels must be from 1 to 65536. Each of them holds the fraction of the window's pixels that have its level,
// from 0 to levels−1. The levels of the first channel of img come first. Pixels of higher levels are in none of them.
func Histograms[D filter.Float, P Pixel](img boxsum.Image[P], w filter.Window, levels int, opt *Options) (boxsum.Image[D], error) {
	j := jobOf(&img, rank.Histogram, w, opt)
	j.Bins = levels
	dst, err := checkNew[D](j)
	if err != nil {
		return dst, err
	}
	return raster.OrZero(dst, j.Run())
}

// checkNew checks a job, and allocates the image for its result.
func checkNew[D boxsum.Pixel](j *rank.Job) (dst boxsum.Image[D], err error) {
	if err = j.Check(); err != nil {
		return dst, err
	}
	dst, err = boxsum.NewImage[D](j.Src.Width, j.Src.Height, j.Channels())
	setImage(&j.Dst, &dst)
	return dst, err
}

// jobOf returns a job for an image.
func jobOf[P Pixel](img *boxsum.Image[P], kind rank.Kind, w filter.Window, opt *Options) *rank.Job {
	j := &rank.Job{Kind: kind, Width: w.Width, Height: w.Height, ShiftX: w.Shift.X, ShiftY: w.Shift.Y}
	setImage(&j.Src, img)
	if o := opt; o != nil {
		j.Footprint, j.Levels, j.Fraction, j.Below, j.Above = o.Footprint, o.Levels, o.Fraction, o.Below, o.Above
		if m := &o.Mask; m.Width != 0 || m.Height != 0 || m.Pix != nil {
			setImage(&j.Mask, m)
		}
		j.Options.On, j.Options.Workers, j.Options.Level, j.Options.Context, j.Options.Progress = o.On, o.Workers, o.Level.String(), o.Context, o.Progress
	}
	return j
}

// setImage sets a to the pixels of an image, unchecked.
func setImage[P boxsum.Pixel](a *raster.Array, img *boxsum.Image[P]) {
	raster.SetPlane(a, img.Pix, img.Width, img.Height, img.Channels, img.Stride)
}
