package gpu

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/internal/raster"
)

// tables describes tables on a device and how they are computed.
type tables struct {
	method        method.Method
	sums, squares *devmem.Array // squares may be nil
	takes         *devmem.Array // gives the size and the device of the images; nil means that of the sums
	bins          int           // of a histogram
	open          func() error  // checks that the method can be used; may be nil
	noOffset      string        // why there is no offset
	squared       bool          // the sums are sums of squares, which the method knows
}

// integrate validates everything and queues the work.
func (t tables) integrate(src *devmem.Array, opt *Options) error {
	o, err := t.check(src, opt)
	if err != nil {
		return err
	}
	return using(src, func() error {
		if err := t.checkMemory(src); err != nil {
			return err
		}
		offsets, err := t.offsets(src, &o)
		if err != nil {
			return err
		}
		if t.bins == 0 {
			t.sums.SetOrigin(t.squares, src.Element, offsets)
			t.sums.Squared = t.squared
		}
		return t.queue(src, offsets, &o)
	})
}

// all returns the tables of sums and of squares.
func (t tables) all() []*devmem.Array {
	if t.squares == nil {
		return []*devmem.Array{t.sums}
	}
	return []*devmem.Array{t.sums, t.squares}
}

// check returns an error if types, options or sizes are invalid, and the options.
func (t tables) check(src *devmem.Array, opt *Options) (o Options, err error) {
	if src.Device == nil {
		return o, errNoImage
	}
	for _, a := range t.all() {
		if a.Device == nil {
			return o, errNoTable
		}
	}
	pixel, sum, square := src.Element, t.sums.Element, raster.Type(0)
	if t.squares != nil {
		square = t.squares.Element
	}
	if t.squared {
		sum, square = method.Sums.Default(pixel), sum
	}
	if t.bins == 0 { // histograms count any pixels
		if err := method.PairError(pixel, sum, square); err != nil {
			return o, err
		}
	}
	if o, err = opt.check(pixel, t.sums.Element, t.noOffset); err != nil {
		return o, err
	}
	sized := t.all()
	if t.takes != nil {
		sized = []*devmem.Array{t.takes}
	}
	for _, a := range sized {
		if err := a.CheckSource(src); err != nil {
			return o, err
		}
	}
	return o, nil
}

// checkMemory returns an error if tables are closed or share memory.
func (t tables) checkMemory(src *devmem.Array) error {
	for i, a := range t.all() {
		if err := a.CheckOpen(); err != nil {
			return err
		}
		if a.Overlaps(src) || i > 0 && a.Overlaps(t.sums) {
			return devmem.ErrOverlap
		}
	}
	if t.open != nil {
		return t.open()
	}
	return nil
}

// queue queues the work for checked tables: consecutive images with equal offsets together.
func (t tables) queue(src *devmem.Array, offsets []float32, o *Options) error {
	job := method.Of(t.sums, t.squares, src, offsets[0])
	job.Bins, job.Context = t.bins, o.Context
	if t.sums.Offsets == nil {
		return method.Run(t.method, job, o.Kernels.way())
	}
	for first := 0; first < len(offsets); {
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
}

// offsets returns the offset of each image, or a single one for all. Squares of
// floats determine it from the pixels, unless software other than this package
// reads the tables or waits for the stream.
func (t tables) offsets(src *devmem.Array, o *Options) ([]float32, error) {
	if !shifts(src.Element, t.squares != nil, o, t.noOffset) || !t.sums.Owned || !t.squares.Owned || src.Device.Borrowed() {
		return []float32{o.Offset}, nil
	}
	return method.Centers(src)
}

// shifts reports whether tables determine their offset from the pixels.
func shifts(pixel raster.Type, squares bool, o *Options, noOffset string) bool {
	return squares && pixel.Float() && noOffset == "" && o.Offset == 0 && !o.Plain
}

// pairError returns an error if sums S, and squares Q, are not supported for pixels
// P.
func pairError[S boxsum.Sum, P boxsum.Pixel]() error {
	return method.PairError(raster.TypeNamed[P](), raster.TypeNamed[S](), 0)
}

func squaresError[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel]() error {
	return method.PairError(raster.TypeNamed[P](), raster.TypeNamed[S](), raster.TypeNamed[Q]())
}
