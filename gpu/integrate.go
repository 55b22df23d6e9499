package gpu

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/internal/pairs"
)

// tables is tables on a device and how they are made.
type tables struct {
	method        method.Method
	sums, squares *devmem.Array // squares may be nil
	takes         *devmem.Array // of which size and on which device the images must be; nil: as the sums
	bins          int           // of a histogram
	open          func() error  // whether the method can be used, if that is a question
	noOffset      string        // why there is none
}

// integrate checks everything and queues the work.
func (t tables) integrate(src *devmem.Array, opt *Options) error {
	job, all := method.Job{Pixel: src.Element, Sum: t.sums.Element}, []*devmem.Array{t.sums}
	if t.squares != nil {
		job.Square, all = t.squares.Element, append(all, t.squares)
	}
	if src.Device == nil {
		return errNoImage
	}
	for _, a := range all {
		if a.Device == nil {
			return errNoTable
		}
	}
	if t.bins == 0 { // histograms are of all pixels
		if err := method.PairError(job.Pixel, job.Sum, job.Square); err != nil {
			return err
		}
	}
	o, err := opt.check(job.Sum, t.noOffset)
	if err != nil {
		return err
	}
	sized := all
	if t.takes != nil {
		sized = []*devmem.Array{t.takes}
	}
	for _, a := range sized {
		if err := a.Takes(src); err != nil {
			return err
		}
	}
	return using(src, func() error {
		for i, a := range all {
			if err := a.Open(); err != nil {
				return err
			}
			if a.Overlaps(src) || i > 0 && a.Overlaps(all[0]) {
				return devmem.ErrOverlap
			}
		}
		if t.open != nil {
			if err := t.open(); err != nil {
				return err
			}
		}
		t.sums.Offset = o.Offset
		job := method.Of(t.sums, t.squares, src, o.Offset)
		job.Bins, job.Context = t.bins, o.Context
		return method.Run(t.method, job, o.Kernels.way())
	})
}

// pairError reports whether there are tables of sums S, and squares Q, of pixels P.
func pairError[S boxsum.Sum, P boxsum.Pixel]() error {
	return method.PairError(pairs.Of[P](), pairs.Of[S](), 0)
}

func squaresError[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel]() error {
	return method.PairError(pairs.Of[P](), pairs.Of[S](), pairs.Of[Q]())
}
