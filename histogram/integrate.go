package histogram

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/pairs"
)

// Integrate makes the integral histogram of an image:
//
//	table, err := histogram.Integrate(img, histogram.Bins{N: 32}, nil)
func Integrate[P boxsum.Pixel](img boxsum.Image[P], bins Bins, opt *Options) (*Table[uint32], error) {
	return tableOf[uint32](img, boxsum.Image[uint8]{}, false, bins, opt)
}

// IntegrateInto makes the integral histogram of an image in dst, which must
// have the image's size and must not overlap it. A range that dst leaves open is
// that of the first image's pixels. It allocates nothing once an image of the same
// type has been integrated.
func IntegrateInto[P boxsum.Pixel](dst *Table[uint32], img boxsum.Image[P], opt *Options) error {
	return integrate(dst, img, boxsum.Image[uint8]{}, false, opt)
}

// IntegrateWeighted makes an integral histogram in which a pixel counts as much
// as the weight in its place, in all channels. Weights are an image of the same
// size with one channel; the pairs of their type and that of the sums are those
// of [boxsum.Integrate]:
//
//	table, err := histogram.IntegrateWeighted[float64](img, weights, histogram.Bins{N: 32}, nil)
func IntegrateWeighted[S boxsum.Sum, P, W boxsum.Pixel](img boxsum.Image[P], weights boxsum.Image[W], bins Bins, opt *Options) (*Table[S], error) {
	return tableOf[S](img, weights, true, bins, opt)
}

// IntegrateWeightedInto is [IntegrateWeighted] into a table that is there.
func IntegrateWeightedInto[S boxsum.Sum, P, W boxsum.Pixel](dst *Table[S], img boxsum.Image[P], weights boxsum.Image[W], opt *Options) error {
	return integrate(dst, img, weights, true, opt)
}

func tableOf[S boxsum.Sum, P, W boxsum.Pixel](img boxsum.Image[P], weights boxsum.Image[W], weighted bool, bins Bins, opt *Options) (*Table[S], error) {
	j, err := newJob[S](img, weights, weighted, opt)
	if err != nil {
		return nil, err
	}
	if bins, err = Over[P](bins); err != nil {
		return nil, err
	}
	t, err := NewTable[S](img.Width, img.Height, img.Channels, bins)
	if err == nil {
		err = fill(&j, t, bins)
	}
	return grid.OrNil(t, err)
}

// integrate makes the same in a table that is there.
func integrate[S boxsum.Sum, P, W boxsum.Pixel](dst *Table[S], img boxsum.Image[P], weights boxsum.Image[W], weighted bool, opt *Options) error {
	j, err := newJob[S](img, weights, weighted, opt)
	if err != nil {
		return err
	}
	if dst == nil {
		return grid.NoTable()
	}
	e := grid.Plane(dst.Width, dst.Height, dst.Channels, 0)
	if err := e.Same(&j.extent); err != nil {
		return err
	}
	bins, err := Over[P](dst.Bins)
	if err != nil {
		return err
	}
	return fill(&j, dst, bins)
}

// A job is an image to integrate, perhaps with weights. What can be wrong with
// them, their types and the options has been checked.
type job struct {
	set      engine.Settings
	extent   grid.Extent
	src      pixels
	weights  pixels
	weighted bool
}

func newJob[S boxsum.Sum, P, W boxsum.Pixel](img boxsum.Image[P], weights boxsum.Image[W], weighted bool, opt *Options) (j job, err error) {
	if j.set, err = engineOptions(opt).Check(); err != nil {
		return j, err
	}
	j.extent, j.src, err = source(img)
	if err != nil || !weighted {
		return j, err
	}
	j.weighted = true
	if pairs.Number[W, S]() == 0 {
		return j, grid.Types("no sums of %T from weights of %T", *new(S), *new(W))
	}
	var w grid.Extent
	if w, j.weights, err = source(weights); err != nil {
		return j, err
	}
	if w.Width != img.Width || w.Height != img.Height || w.Channels != 1 {
		return j, grid.Invalid("weights of %v for an image of %d×%d: they take its size and one channel", w, img.Width, img.Height)
	}
	return j, nil
}

// source is the pixels of an image, which it checks.
func source[P boxsum.Pixel](img boxsum.Image[P]) (grid.Extent, pixels, error) {
	src := engine.Source[P]{Pix: img.Pix, Extent: grid.Plane(img.Width, img.Height, img.Channels, img.Stride)}
	err := src.Pixels(len(img.Pix))
	return src.Extent, pixelsOf(&src), err
}

// fill makes a table of the image's size, with bins for its pixels.
func fill[S boxsum.Sum](j *job, dst *Table[S], bins Bins) error {
	dst.Bins = bins
	entry := dst.Channels * dst.Bins.N
	if need := (dst.Width + 1) * (dst.Height + 1) * entry; len(dst.Counts) != need {
		return grid.Invalid("the table needs %d counts and has %d: use NewTable", need, len(dst.Counts))
	}
	if err := grid.Overlap(j.src.bytes(), dst.Counts); err != nil {
		return err
	}
	if err := grid.Overlap(j.weights.bytes(), dst.Counts); err != nil {
		return err
	}
	run := engine.Take[engine.Run[layer[S]]]()
	l := &run.Layer
	l.table, l.src, l.weights, l.level, l.weighted = dst, j.src, j.weights, j.set.Level, j.weighted
	p := engine.Work{
		Rows: j.extent.Height, N: j.extent.Width * j.extent.Channels, Channels: j.extent.Channels,
		PixelBytes: j.src.of.Bytes(), SumBytes: dst.Bins.N * grid.SizeOf[S](), Workers: j.set.Workers(),
	}.PlanEntries(maxBand)
	return run.Fill(j.set, p, l)
}
