package windows

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/raster"
)

// A filterWork is one filter and what it needs to know.
type filterWork struct {
	name    string // of the filter: box, gaussian or a statistic of local
	window  filter.Window
	sigma   filter.Sigma
	floor   float64
	epsilon float64
	bins    histogram.Bins
	guide   any // the image itself where it is nil
	double  bool
	opt     *filter.Options
}

// keepsType reports whether results have the type of the pixels.
func (f *filterWork) keepsType() bool {
	switch f.name {
	case "box", "gaussian", "median", "guided":
		return true
	}
	return false
}

// apply filters an image of any type. Integers that package filter has no pixels for go
// through float64, which holds them.
func (f *filterWork) apply(img any) (any, error) {
	switch img := img.(type) {
	case boxsum.Image[uint8]:
		return applyTo(f, img)
	case boxsum.Image[uint16]:
		return applyTo(f, img)
	case boxsum.Image[float32]:
		return applyTo(f, img)
	case boxsum.Image[float64]:
		return applyTo(f, img)
	case boxsum.Image[int16]:
		return applyWide(f, img, func(v float64) int16 { return int16(math.Floor(v + 0.5)) })
	case boxsum.Image[int32]:
		return applyWide(f, img, func(v float64) int32 { return int32(math.Floor(v + 0.5)) })
	case boxsum.Image[uint32]:
		return applyWide(f, img, func(v float64) uint32 { return uint32(math.Floor(v + 0.5)) })
	}
	return nil, fmt.Errorf("pixels of %v cannot be filtered", imagefile.PixelOf(img))
}

// applyWide filters an image of other integers, whose pixels round gives back.
func applyWide[P boxsum.Pixel](f *filterWork, img boxsum.Image[P], round func(float64) P) (any, error) {
	floats, err := imagefile.Converted(img, imagefile.Same)
	if err != nil {
		return nil, err
	}
	out, err := f.apply(floats)
	if err != nil || !f.keepsType() {
		return out, err
	}
	return imagefile.Converted(out, round)
}

func applyTo[P filter.Pixel](f *filterWork, img boxsum.Image[P]) (any, error) {
	switch {
	case f.name == "box":
		return filter.Box(img, f.window, f.opt)
	case f.name == "gaussian":
		return filter.Gaussian(img, f.sigma, f.opt)
	case f.name == "median":
		return filter.Median(img, f.window, f.opt)
	case f.name == "guided":
		return guidedBy(f, img)
	case f.double:
		return statistic[float64](f, img)
	}
	return statistic[float32](f, img)
}

// guidedBy applies the guided filter with a guide of any type.
func guidedBy[P filter.Pixel](f *filterWork, img boxsum.Image[P]) (any, error) {
	guide := f.guide
	if guide == nil {
		guide = img
		if c := img.Channels; c != 1 && c != 3 { // without its alpha
			return nil, fmt.Errorf("guide has %d channels, want 1 or 3 (name another image with --guide)", c)
		}
	}
	switch guide := guide.(type) {
	case boxsum.Image[uint8]:
		return filter.Guided(img, guide, f.window, f.epsilon, f.opt)
	case boxsum.Image[uint16]:
		return filter.Guided(img, guide, f.window, f.epsilon, f.opt)
	case boxsum.Image[float32]:
		return filter.Guided(img, guide, f.window, f.epsilon, f.opt)
	case boxsum.Image[float64]:
		return filter.Guided(img, guide, f.window, f.epsilon, f.opt)
	}
	return nil, fmt.Errorf("guide has pixels of %v, want uint8, uint16, float32 or float64", imagefile.PixelOf(guide))
}

func statistic[D filter.Float, P filter.Pixel](f *filterWork, img boxsum.Image[P]) (boxsum.Image[D], error) {
	switch f.name {
	case "mean":
		return filter.Mean[D](img, f.window, f.opt)
	case "std":
		return filter.StdDev[D](img, f.window, f.opt)
	case "variance":
		return filter.Variance[D](img, f.window, f.opt)
	case "normalize":
		return filter.Normalize[D](img, f.window, f.floor, f.opt)
	}
	return filter.Entropy[D](img, f.window, f.bins, f.opt)
}

// Images that do not fit in memory twice go row by row, from a file that is mapped.

// stream returns a function that writes the result of an image row by row, or nil if it fits in memory
// or has no stream.
func (f *filterWork) stream(sh *console.Shell, img any) (func(io.Writer) error, error) {
	if f.opt.On != nil { // devices have no streams
		return nil, nil
	}
	switch img := img.(type) {
	case boxsum.Image[uint8]:
		return streamTo(sh, f, img)
	case boxsum.Image[uint16]:
		return streamTo(sh, f, img)
	case boxsum.Image[float32]:
		return streamTo(sh, f, img)
	case boxsum.Image[float64]:
		return streamTo(sh, f, img)
	}
	return nil, nil
}

func streamTo[P filter.Pixel](sh *console.Shell, f *filterWork, img boxsum.Image[P]) (func(io.Writer) error, error) {
	size := raster.SizeOf[P]()
	if !f.keepsType() {
		size = raster.SizeOf[float32]()
		if f.double {
			size = raster.SizeOf[float64]()
		}
	}
	short := raster.Check(float64(img.Width) * float64(img.Height) * float64(img.Channels) * float64(size))
	if short == nil {
		return nil, nil
	}
	switch {
	case f.name == "box":
		s, err := filter.NewBoxStream[P](img.Width, img.Channels, f.window, f.opt)
		return writeStream(sh, img, s), err
	case f.keepsType() || f.name == "entropy" || f.opt.Border == filter.Wrap:
		return nil, fmt.Errorf("%w: %s with border %v needs the whole image in memory (split the image)", short, f.name, f.opt.Border)
	case f.double:
		s, err := statisticStream[float64](f, img)
		return writeStream(sh, img, s), err
	}
	s, err := statisticStream[float32](f, img)
	return writeStream(sh, img, s), err
}

func statisticStream[D filter.Float, P filter.Pixel](f *filterWork, img boxsum.Image[P]) (*filter.Stream[D, P], error) {
	switch f.name {
	case "mean":
		return filter.NewMeanStream[D, P](img.Width, img.Channels, f.window, f.opt)
	case "std":
		return filter.NewStdDevStream[D, P](img.Width, img.Channels, f.window, f.opt)
	case "variance":
		return filter.NewVarianceStream[D, P](img.Width, img.Channels, f.window, f.opt)
	}
	return filter.NewNormalizeStream[D, P](img.Width, img.Channels, f.window, f.floor, f.opt)
}

// writeStream writes the rows of a stream as .npy.
func writeStream[D, P filter.Pixel](sh *console.Shell, img boxsum.Image[P], s *filter.Stream[D, P]) func(io.Writer) error {
	shape := []int{img.Height, img.Width}
	if img.Channels > 1 {
		shape = append(shape, img.Channels)
	}
	return func(w io.Writer) error {
		var failed error
		err := imgio.WriteNPY(w, shape, streamRows(sh.Ctx, img, s, &failed))
		return cmp.Or(failed, err)
	}
}

// streamRows returns the rows of results.
func streamRows[D, P filter.Pixel](ctx context.Context, img boxsum.Image[P], s *filter.Stream[D, P], failed *error) iter.Seq[[]D] {
	return func(yield func([]D) bool) {
		for y := range img.Height {
			row, err := s.Push(img.Row(y))
			if *failed = cmp.Or(err, ctx.Err()); *failed != nil || row != nil && !yield(row) {
				return
			}
		}
		for {
			row, err := s.End()
			if *failed = cmp.Or(err, ctx.Err()); *failed != nil || row == nil || !yield(row) {
				return
			}
		}
	}
}
