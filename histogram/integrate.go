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
	return made(new(Table[uint32]), &img, nil, &bins, opt)
}

// IntegrateInto makes the integral histogram of an image in dst, which must
// have the image's size and must not overlap it. A range that dst leaves open is
// that of the first image's pixels. It allocates nothing once an image of the same
// type has been integrated.
func IntegrateInto[P boxsum.Pixel](dst *Table[uint32], img boxsum.Image[P], opt *Options) error {
	return integrate(dst, &img, nil, opt)
}

// IntegrateWeighted makes an integral histogram in which a pixel counts as much
// as the weight in its place, in all channels. Weights are an image of the same
// size with one channel; the pairs of their type and that of the sums are those
// of [boxsum.Integrate]:
//
//	table, err := histogram.IntegrateWeighted[float64](img, weights, histogram.Bins{N: 32}, nil)
func IntegrateWeighted[S boxsum.Sum, P, W boxsum.Pixel](img boxsum.Image[P], weights boxsum.Image[W], bins Bins, opt *Options) (*Table[S], error) {
	return made(new(Table[S]), &img, &weights, &bins, opt)
}

// IntegrateWeightedInto is [IntegrateWeighted] into a table that is there.
func IntegrateWeightedInto[S boxsum.Sum, P, W boxsum.Pixel](dst *Table[S], img boxsum.Image[P], weights boxsum.Image[W], opt *Options) error {
	return integrate(dst, &img, &weights, opt)
}

// integrate makes the same in a table that is there.
func integrate[S boxsum.Sum](dst *Table[S], img, weights any, opt *Options) error {
	_, err := made(dst, img, weights, nil, opt)
	return err
}

// made makes a table in dst, or in a new one with bins, of what img and weights point to.
func made[S boxsum.Sum](dst *Table[S], img, weights any, fresh *Bins, opt *Options) (*Table[S], error) {
	src := sourceOf(img)
	j, err := newJob(src, sourceOf(weights), weights != nil, pairs.TypeOf[S](), opt)
	if err != nil {
		return nil, err
	}
	if dst == nil {
		return nil, grid.NoTable()
	}
	if fresh == nil {
		e := grid.Plane(dst.Width, dst.Height, dst.Channels, 0)
		if err := e.Same(&j.src.extent); err != nil {
			return nil, err
		}
		fresh = &dst.Bins
	}
	bins, err := over(src.of, *fresh)
	if err == nil && fresh != &dst.Bins {
		dst, err = NewTable[S](src.extent.Width, src.extent.Height, src.extent.Channels, bins)
	}
	if err == nil {
		err = fill(&j, dst, bins)
	}
	return grid.OrNil(dst, err)
}

// A job is an image to integrate, perhaps with weights. What can be wrong with
// them, their types and the options has been checked.
type job struct {
	set          engine.Settings
	src, weights source
	weighted     bool
}

func newJob(src, weights source, weighted bool, sum pairs.Type, opt *Options) (j job, err error) {
	if j.set, err = engineOptions(opt).Check(); err != nil {
		return j, err
	}
	if j.src = src; src.err != nil || !weighted {
		return j, src.err
	}
	if !pairs.Sums.Has(weights.of, sum) {
		return j, grid.Types("no sums of %v from weights of %v", sum, weights.of)
	}
	if weights.err != nil {
		return j, weights.err
	}
	if w, e := &weights.extent, &src.extent; w.Width != e.Width || w.Height != e.Height || w.Channels != 1 {
		return j, grid.Invalid("weights of %v for an image of %d×%d: they take its size and one channel", *w, e.Width, e.Height)
	}
	j.weights, j.weighted = weights, true
	return j, nil
}

// fill makes a table of the image's size, with bins for its pixels.
func fill[S boxsum.Sum](j *job, dst *Table[S], bins Bins) error {
	dst.Bins = bins
	entry := dst.Channels * dst.Bins.N
	if need := (dst.Width + 1) * (dst.Height + 1) * entry; len(dst.Counts) != need {
		return grid.Invalid("the table needs %d counts and has %d: use NewTable", need, len(dst.Counts))
	}
	if err := grid.Overlap(j.src.pixels.bytes(), dst.Counts); err != nil {
		return err
	}
	if err := grid.Overlap(j.weights.pixels.bytes(), dst.Counts); err != nil {
		return err
	}
	run := engine.Take[engine.Run[layer[S]]]()
	l := &run.Layer
	l.table, l.src, l.weights, l.level, l.weighted = dst, j.src.pixels, j.weights.pixels, j.set.Level, j.weighted
	p := engine.Work{
		Rows: j.src.extent.Height, N: j.src.extent.Width * j.src.extent.Channels, Channels: j.src.extent.Channels,
		PixelBytes: j.src.of.Bytes(), SumBytes: dst.Bins.N * grid.SizeOf[S](), Workers: j.set.Workers(),
	}.PlanEntries(maxBand)
	return run.Fill(j.set, p, l)
}
