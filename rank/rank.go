// Package rank computes filters from the histogram of the window around every pixel: the brightest pixel, the most
// frequent, those that a percentile or Otsu's threshold separates, and images whose contrast is equalized around every pixel.
//
//	clear, err := rank.Filter(img, rank.Equalize, filter.Square(31), nil)
//
// Results are those of scikit-image's filters.rank, for windows, masks and 8 and 16 bits. Windows end at the edges
// of the image. Package filter has the median and the entropy with other borders, and for floats.
package rank

import (
	"context"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/internal/rank"
	"github.com/boxsum/boxsum/internal/raster"
)

// Pixel is the constraint for the pixels of images to filter.
type Pixel interface{ uint8 | uint16 }

// A Statistic is what a filter computes from the pixels of a window, of which there are n, and from g, the pixel that the
// window is around. L is the number of levels: 256 for bytes, see [Options.Levels] for 16 bits. The result for a window in
// which no pixel counts is 0.
type Statistic uint8

const (
	Minimum       = Statistic(rank.Minimum)
	Maximum       = Statistic(rank.Maximum)
	Gradient      = Statistic(rank.Gradient)      // the maximum less the minimum
	Mean          = Statistic(rank.Mean)          // rounded down; filter.Box rounds to nearest
	Sum           = Statistic(rank.Sum)           // modulo what a pixel holds; filter.Sum has wider results
	SubtractMean  = Statistic(rank.SubtractMean)  // half of what g exceeds the mean by, plus L/2-1, toward zero
	Threshold     = Statistic(rank.Threshold)     // 1 if g exceeds the mean, and 0 otherwise
	Percentile    = Statistic(rank.Percentile)    // the lowest level up to which more than Options.Fraction of the pixels are
	Majority      = Statistic(rank.Majority)      // the most frequent level, the lowest of several
	Autolevel     = Statistic(rank.Autolevel)     // g, after the range of the window is stretched to all levels
	Equalize      = Statistic(rank.Equalize)      // (L-1)·c/n, where c pixels are at most g: local histogram equalization
	Otsu          = Statistic(rank.Otsu)          // Otsu's threshold, the lowest of several; 0 in a flat window
	BilateralMean = Statistic(rank.BilateralMean) // the mean of the pixels between g-Below and g+Above, exclusive, rounded down
)

// String returns the name of the statistic in lower case, such as "bilateral-mean".
func (s Statistic) String() string { return rank.Kind(s).String() }

// ParseStatistic returns the statistic with the given name.
func ParseStatistic(name string) (Statistic, error) {
	k, err := rank.ParseKind(name)
	if err == nil && Statistic(k) > BilateralMean {
		return 0, raster.Invalid("%s has results of its own: see Entropies and Histograms", k)
	}
	return Statistic(k), err
}

// Options configures filters. Nil and the zero value count all pixels, and select the best for the machine.
type Options struct {
	// Mask is nonzero for the pixels that count, an image of the same size with one channel or as many. It does not
	// limit the pixels for which results are computed. The zero Image counts all.
	Mask boxsum.Image[uint8]

	// Footprint, if not nil, has a value for each pixel of a window, row by row, which is 0 for those that do not belong to it:
	// windows then need not be rectangles.
	Footprint []uint8

	// Levels is the number of levels of 16-bit pixels, which must be less. 0 means one more than the greatest pixel of the
	// image, but at least 4, as in scikit-image: set it to compare images, such as 4096 for 12 bits.
	Levels int

	Fraction     float64 // for Percentile: 0 is the minimum, 0.5 the median, 1 the maximum
	Below, Above int     // for BilateralMean: distances from the pixel in the middle, which are excluded

	Workers  int                // maximum number of goroutines; 0 means GOMAXPROCS
	Level    boxsum.Level       // instruction set; the zero Level is the best available
	Context  context.Context    // cancels the work, see [boxsum.Options]; nil never does
	Progress func(done float64) // called with the fraction done, see [boxsum.Options]
}

// Filter returns the statistic of the window around every pixel, for each channel. The border of filters does not apply:
// windows end at the edges of the image.
func Filter[P Pixel](img boxsum.Image[P], s Statistic, w filter.Window, opt *Options) (boxsum.Image[P], error) {
	j := jobOf(&img, rank.Kind(s), w, opt)
	dst, err := checkNew[P](j)
	if err != nil {
		return dst, err
	}
	return raster.OrZero(dst, j.Run())
}

// FilterInto is like [Filter] but writes to dst, which has the same size and may be img itself. After an error, dst may be
// incomplete.
func FilterInto[P Pixel](dst, img boxsum.Image[P], s Statistic, w filter.Window, opt *Options) error {
	j := jobOf(&img, rank.Kind(s), w, opt)
	if err := j.Check(); err != nil {
		return err
	}
	setImage(&j.Dst, &dst)
	return j.Run()
}

// Entropies returns Shannon's entropy of the window around every pixel, in bits.
func Entropies[D filter.Float, P Pixel](img boxsum.Image[P], w filter.Window, opt *Options) (boxsum.Image[D], error) {
	j := jobOf(&img, rank.Entropy, w, opt)
	dst, err := checkNew[D](j)
	if err != nil {
		return dst, err
	}
	return raster.OrZero(dst, j.Run())
}

// Histograms returns the histogram of the window around every pixel: an image with a channel for each of the lowest levels,
// which holds the share of the pixels that have it. If img has several channels, those of the first come first.
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
		j.Options.Workers, j.Options.Level, j.Options.Context, j.Options.Progress = o.Workers, o.Level.String(), o.Context, o.Progress
	}
	return j
}

// setImage sets a to the pixels of an image, unchecked.
func setImage[P boxsum.Pixel](a *raster.Array, img *boxsum.Image[P]) {
	raster.SetPlane(a, img.Pix, img.Width, img.Height, img.Channels, img.Stride)
}
