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
	squared       bool          // the sums are of the squares: the method knows
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
		sum, square := job.Sum, job.Square
		if t.squared {
			sum, square = method.Sums.Usual(job.Pixel), job.Sum
		}
		if err := method.PairError(job.Pixel, sum, square); err != nil {
			return err
		}
	}
	o, err := opt.check(job.Pixel, job.Sum, t.noOffset)
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
		offsets, err := t.offsets(src, &o)
		if err != nil {
			return err
		}
		if t.bins == 0 {
			t.sums.Note(t.squares, src.Element, offsets)
			t.sums.Squared = t.squared
		}
		job := method.Of(t.sums, t.squares, src, offsets[0])
		job.Bins, job.Context = t.bins, o.Context
		if t.sums.Offsets == nil {
			return method.Run(t.method, job, o.Kernels.way())
		}
		for first := 0; first < len(offsets); { // neighbours that have one together
			n := 1
			for first+n < len(offsets) && offsets[first+n] == offsets[first] {
				n++
			}
			part := t.method.Part(job, first, n)
			part.Offset = float64(offsets[first])
			if err := method.Run(t.method, part, o.Kernels.way()); err != nil {
				return err
			}
			first += n
		}
		return nil
	})
}

// offsets is what is taken away from the pixels of each image, or of all. Squares of floats
// find it out, unless others than this package read the tables or wait for the stream.
func (t tables) offsets(src *devmem.Array, o *Options) ([]float32, error) {
	if !shifts(src.Element, t.squares != nil, o, t.noOffset) || !t.sums.Owned || !t.squares.Owned || src.Device.Borrowed() {
		return []float32{o.Offset}, nil
	}
	return method.Centers(src)
}

// shifts reports whether tables choose an offset by themselves.
func shifts(pixel pairs.Type, squares bool, o *Options, noOffset string) bool {
	return squares && pixel.Float() && noOffset == "" && o.Offset == 0 && !o.Plain
}

// pairError reports whether there are tables of sums S, and squares Q, of pixels P.
func pairError[S boxsum.Sum, P boxsum.Pixel]() error {
	return method.PairError(pairs.Of[P](), pairs.Of[S](), 0)
}

func squaresError[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel]() error {
	return method.PairError(pairs.Of[P](), pairs.Of[S](), pairs.Of[Q]())
}
