package windows

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/filters"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// A filterWork is a filter with its parameters.
type filterWork struct {
	name   string       // box, gaussian or a statistic of the local command
	job    filters.Job  // without images
	guide  raster.Array // guide image; without a type, the image itself is the guide
	double bool         // statistics are float64
}

// kinds holds the kinds of filters by name.
var kinds = map[string]filters.Kind{
	"box": filters.Mean, "gaussian": filters.Gaussian, "median": filters.Median, "guided": filters.Guided,
	"mean": filters.Mean, "std": filters.Deviation, "variance": filters.Variance, "normalize": filters.Normalized, "entropy": filters.Entropy,
}

// keepsType reports whether results have the type of the pixels.
func (f *filterWork) keepsType() bool { return f.name == "box" || kinds[f.name].KeepsType() }

// result returns the type of the results for a pixel type.
func (f *filterWork) result(pixel raster.Type) raster.Type {
	switch {
	case f.keepsType():
		return pixel
	case f.double:
		return raster.F64
	}
	return raster.F32
}

// apply filters an image. Integers that package filters does not support are filtered
// as float64.
func (f *filterWork) apply(img raster.Array) (raster.Array, error) {
	round := func(v float64) float64 { return math.Floor(v + 0.5) }
	switch img.Type {
	case raster.I16:
		return applyWide(f, img, func(v float64) int16 { return int16(round(v)) })
	case raster.I32:
		return applyWide(f, img, func(v float64) int32 { return int32(round(v)) })
	case raster.U32:
		return applyWide(f, img, func(v float64) uint32 { return uint32(round(v)) })
	}
	j, err := f.jobFor(img)
	if err != nil {
		return img, err
	}
	return j.Make(f.result(j.Src.Type))
}

// applyWide filters an image as float64 and converts the result back to its type with round.
func applyWide[P boxsum.Pixel](f *filterWork, img raster.Array, round func(float64) P) (raster.Array, error) {
	floats, err := imagefile.Converted(img, imagefile.Same)
	if err != nil {
		return img, err
	}
	out, err := f.apply(floats)
	if err != nil || !f.keepsType() {
		return out, err
	}
	return imagefile.Converted(out, round)
}

// jobFor returns the job of filtering an image.
func (f *filterWork) jobFor(img raster.Array) (*filters.Job, error) {
	j := f.job
	j.Kind, j.Src = kinds[f.name], img
	if !filters.TakesPixels(j.Src.Type) {
		return nil, fmt.Errorf("pixels of %v cannot be filtered, want uint8, uint16, float32 or float64", j.Src.Type)
	}
	if j.Kind != filters.Guided {
		return &j, nil
	}
	if j.Guide = f.guide; f.guide.Type == 0 {
		j.Guide = j.Src
		if c := j.Src.Channels; c != 1 && c != 3 { // without alpha
			return nil, fmt.Errorf("guide has %d channels, want 1 or 3 (name another image with --guide)", c)
		}
	}
	if !filters.TakesPixels(j.Guide.Type) {
		return nil, fmt.Errorf("guide has pixels of %v, want uint8, uint16, float32 or float64", j.Guide.Type)
	}
	return &j, nil
}

// Images that do not fit in memory twice are filtered row by row from a mapped file.

// stream returns a function that writes the result row by row. It returns nil if the result fits in
// memory or the filter cannot stream.
func (f *filterWork) stream(sh *console.Shell, src raster.Array) (func(io.Writer) error, error) {
	if f.job.Options.On != nil { // devices do not stream
		return nil, nil
	}
	if !filters.TakesPixels(src.Type) {
		return nil, nil
	}
	result := f.result(src.Type)
	short := raster.Check(float64(src.Width) * float64(src.Height) * float64(src.Channels) * float64(result.Bytes()))
	if short == nil {
		return nil, nil
	}
	if f.job.Options.SkipNaN || f.job.Options.Mask.Type != 0 {
		return nil, fmt.Errorf("%w: --nan skip and --mask need the whole image in memory (split the image)", short)
	}
	if kind := kinds[f.name]; kind.KeepsType() || kind == filters.Entropy || f.job.Options.Border == window.Wrap {
		return nil, fmt.Errorf("%w: %s with border %v needs the whole image in memory (split the image)", short, f.name, f.job.Options.Border)
	}
	j := f.job
	j.Kind, j.Dst.Type = kinds[f.name], result
	j.Src.Type, j.Src.Extent = src.Type, raster.PlaneExtent(src.Width, 0, src.Channels, 0)
	s, err := filters.NewStream(&j)
	if err != nil {
		return nil, err
	}
	return func(w io.Writer) error {
		var failed error
		err := imgio.WriteNPYBytes(w, result.String(), shapeOf(&src), streamRows(sh, &src, s, &failed))
		return cmp.Or(failed, err)
	}, nil
}

// streamRows yields the rows of the result.
func streamRows(sh *console.Shell, src *raster.Array, s *filters.Stream, failed *error) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for y := range src.Height {
			row, err := s.Push(src.Row(y))
			if *failed = cmp.Or(err, sh.Ctx.Err()); *failed != nil || row != nil && !yield(row) {
				return
			}
		}
		for {
			row, err := s.End()
			if *failed = cmp.Or(err, sh.Ctx.Err()); *failed != nil || row == nil || !yield(row) {
				return
			}
		}
	}
}

// shapeOf returns the shape of an image as an array.
func shapeOf(src *raster.Array) []int {
	if src.Channels > 1 {
		return []int{src.Height, src.Width, src.Channels}
	}
	return []int{src.Height, src.Width}
}
