package filter

import (
	"fmt"
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/pairs"
	"github.com/boxsum/boxsum/internal/window"
)

func errOverlap() error {
	return fmt.Errorf("boxsum: %w: the result lies in part of the image's memory: give it the image itself, or memory of its own", grid.ErrOverlap)
}

// Box is the mean of the window round every pixel, as pixels of the same type: a box blur.
// Integers are exact and rounded to nearest, ties up.
func Box[P Pixel](img boxsum.Image[P], w Window, opt *Options) (boxsum.Image[P], error) {
	return made[P](&img, w, opt, mean, 0)
}

// BoxInto is [Box] into an image of the same size, which may be img itself. It allocates
// nothing once an image of that type and size has been filtered.
func BoxInto[P Pixel](dst, img boxsum.Image[P], w Window, opt *Options) error {
	return fill(&dst, &img, w, opt, mean, 0)
}

// Sum is the sum of the window round every pixel. Integers are exact: a type that could not
// hold the sum of a window is an error.
func Sum[D boxsum.Pixel, P Pixel](img boxsum.Image[P], w Window, opt *Options) (boxsum.Image[D], error) {
	return made[D](&img, w, opt, sum, 0)
}

// SumInto is [Sum] into an image that is there, see [BoxInto].
func SumInto[D boxsum.Pixel, P Pixel](dst boxsum.Image[D], img boxsum.Image[P], w Window, opt *Options) error {
	return fill(&dst, &img, w, opt, sum, 0)
}

// Mean is the mean of the window round every pixel, as floats:
//
//	m, err := filter.Mean[float32](img, filter.Radius(7), nil)
func Mean[D Float, P Pixel](img boxsum.Image[P], w Window, opt *Options) (boxsum.Image[D], error) {
	return made[D](&img, w, opt, mean, 0)
}

// MeanInto is [Mean] into an image that is there, see [BoxInto].
func MeanInto[D Float, P Pixel](dst boxsum.Image[D], img boxsum.Image[P], w Window, opt *Options) error {
	return fill(&dst, &img, w, opt, mean, 0)
}

// Variance is that of the window round every pixel: the mean of the squared distances from
// the mean, as in [boxsum.SquaredTable].
func Variance[D Float, P Pixel](img boxsum.Image[P], w Window, opt *Options) (boxsum.Image[D], error) {
	return made[D](&img, w, opt, variance, 0)
}

// VarianceInto is [Variance] into an image that is there, see [BoxInto].
func VarianceInto[D Float, P Pixel](dst boxsum.Image[D], img boxsum.Image[P], w Window, opt *Options) error {
	return fill(&dst, &img, w, opt, variance, 0)
}

// StdDev is the standard deviation of the window round every pixel, the root of its
// [Variance].
func StdDev[D Float, P Pixel](img boxsum.Image[P], w Window, opt *Options) (boxsum.Image[D], error) {
	return made[D](&img, w, opt, deviation, 0)
}

// StdDevInto is [StdDev] into an image that is there, see [BoxInto].
func StdDevInto[D Float, P Pixel](dst boxsum.Image[D], img boxsum.Image[P], w Window, opt *Options) error {
	return fill(&dst, &img, w, opt, deviation, 0)
}

// MeanStdDev is [Mean] and [StdDev] at once, which takes little more than one of them.
func MeanStdDev[D Float, P Pixel](img boxsum.Image[P], w Window, opt *Options) (mean, dev boxsum.Image[D], err error) {
	if mean, err = newFor[D](&img, w, opt); err != nil {
		return mean, dev, err
	}
	if dev, err = boxsum.NewImage[D](img.Width, img.Height, img.Channels); err != nil {
		return mean, dev, err
	}
	return mean, dev, MeanStdDevInto(mean, dev, img, w, opt)
}

// MeanStdDevInto is [MeanStdDev] into images that are there, see [BoxInto].
func MeanStdDevInto[D Float, P Pixel](mean, dev boxsum.Image[D], img boxsum.Image[P], w Window, opt *Options) error {
	return fillBoth(&mean, &dev, &img, w, opt)
}

func fillBoth(mean, dev, img any, w Window, opt *Options) error {
	src, first, second := pixels(img), pixels(mean), pixels(dev)
	t := task{kind: meanDeviation}
	if err := t.check(&src, w, opt); err != nil {
		return err
	}
	if err := t.to(0, &first); err != nil {
		return err
	}
	if err := t.to(1, &second); err != nil {
		return err
	}
	return t.run()
}

// Normalize is how many standard deviations of its window a pixel lies above the mean of
// it: local contrast, (p − mean) / max(deviation, floor). A floor keeps noise where there
// is nothing else from becoming large: use the deviation of the noise. In a window of
// equal pixels it is 0.
func Normalize[D Float, P Pixel](img boxsum.Image[P], w Window, floor float64, opt *Options) (boxsum.Image[D], error) {
	return made[D](&img, w, opt, normalized, floor)
}

// NormalizeInto is [Normalize] into an image that is there, see [BoxInto].
func NormalizeInto[D Float, P Pixel](dst boxsum.Image[D], img boxsum.Image[P], w Window, floor float64, opt *Options) error {
	return fill(&dst, &img, w, opt, normalized, floor)
}

// made is a new image of the results of a kind.
func made[D boxsum.Pixel](img any, w Window, opt *Options, k kind, floor float64) (boxsum.Image[D], error) {
	dst, err := newFor[D](img, w, opt)
	if err != nil {
		return dst, err
	}
	return orNone(dst, fill(&dst, img, w, opt, k, floor))
}

// newFor is a new image of the size of one that has been checked, for its results.
func newFor[D boxsum.Pixel](img any, w Window, opt *Options) (boxsum.Image[D], error) {
	src := pixels(img)
	if err := new(task).check(&src, w, opt); err != nil {
		return boxsum.Image[D]{}, err
	}
	return boxsum.NewImage[D](src.Width, src.Height, src.Channels)
}

// pixels are those of an image that img points to, of which nothing has been checked.
func pixels(img any) window.Pixels {
	switch img := img.(type) {
	case *boxsum.Image[uint8]:
		return pixelsOf(img)
	case *boxsum.Image[uint16]:
		return pixelsOf(img)
	case *boxsum.Image[uint32]:
		return pixelsOf(img)
	case *boxsum.Image[int16]:
		return pixelsOf(img)
	case *boxsum.Image[int32]:
		return pixelsOf(img)
	case *boxsum.Image[float32]:
		return pixelsOf(img)
	case *boxsum.Image[float64]:
		return pixelsOf(img)
	}
	panic("no such pixels")
}

func pixelsOf[P boxsum.Pixel](img *boxsum.Image[P]) window.Pixels {
	return window.PixelsOf(img.Pix, img.Width, img.Height, img.Channels, img.Stride)
}

// orNone is no image where there is an error.
func orNone[D boxsum.Pixel](img boxsum.Image[D], err error) (boxsum.Image[D], error) {
	if err != nil {
		return boxsum.Image[D]{}, err
	}
	return img, nil
}

// fill makes the same in an image that is there.
func fill(to, from any, w Window, opt *Options, k kind, floor float64) error {
	dst, img := pixels(to), pixels(from)
	t := task{kind: k, floor: floor}
	if err := t.check(&img, w, opt); err != nil {
		return err
	}
	if !(floor >= 0) || floor > math.MaxFloat64 {
		return grid.Invalid("a least deviation of %v: use 0 or more", floor)
	}
	if err := t.to(0, &dst); err != nil {
		return err
	}
	if k == sum && !img.Of.Float() && t.area()*largest(img.Of) > holds(dst.Of) {
		return grid.Types("the sum of a window of %d×%d pixels of %v may be more than %v holds", t.shape.Width(), t.shape.Height(), img.Of, dst.Of)
	}
	if k == sum && img.Of.Float() && !dst.Of.Float() {
		return grid.Types("sums of %v are floats, not %v", img.Of, dst.Of)
	}
	return t.run()
}

// holds is the greatest whole number that a type holds: floats round what is larger.
func holds(of pairs.Type) float64 {
	switch {
	case of.Float():
		return 0x1p127
	case of.Signed():
		return float64(uint64(1)<<(8*of.Bytes()-1) - 1)
	}
	return float64(uint64(1)<<(8*of.Bytes()) - 1)
}
