package products

import (
	"context"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
)

// Options configures the computation of a table. Nil and the zero value select the best
// settings for the machine. A device sums the products, which the processor computes.
type Options struct {
	On       boxsum.Device      // device to use, as in [boxsum.Options]; nil selects the processor
	Workers  int                // maximum number of goroutines; 0 means GOMAXPROCS
	Level    boxsum.Level       // instruction set; the zero Level selects the best
	Context  context.Context    // canceling it stops the work; may be nil
	Progress func(done float64) // called with the fraction of the work that is done; may be nil
}

func (o *Options) engine() engine.Options {
	if o == nil {
		return engine.Options{}
	}
	return engine.Options{On: o.On, Workers: o.Workers, Level: o.Level.String(), Context: o.Context, Progress: o.Progress}
}

// Integrate returns the table of the products a·b of the pixels of two images,
// separately for each channel:
//
//	table, err := products.Integrate[uint64](a, b, nil)
//
// Both images must have the same size. The package documentation lists the supported
// pairs of pixel and sum types. For any other pair, Integrate returns an error that
// wraps [boxsum.ErrTypes].
func Integrate[S boxsum.Sum, P boxsum.Pixel](a, b boxsum.Image[P], opt *Options) (*boxsum.Table[S], error) {
	j := job{a: arrayOf(&a), b: arrayOf(&b), sum: raster.TypeOf[S]()}
	if err := j.check(opt.engine()); err != nil {
		return nil, err
	}
	t, err := boxsum.NewTable[S](a.Width, a.Height, a.Channels)
	if err != nil {
		return nil, err
	}
	return raster.OrNil(t, fill(t, &j))
}

// IntegrateInto computes the table of the products of two images and stores it in dst,
// which must have the size of the images and must not overlap them. Repeated calls with
// images of the same type do not allocate on the processor.
func IntegrateInto[S boxsum.Sum, P boxsum.Pixel](dst *boxsum.Table[S], a, b boxsum.Image[P], opt *Options) error {
	j := job{a: arrayOf(&a), b: arrayOf(&b), sum: raster.TypeOf[S]()}
	if err := j.check(opt.engine()); err != nil {
		return err
	}
	return fill(dst, &j)
}

// fill makes the table of a checked job.
func fill[S boxsum.Sum](t *boxsum.Table[S], j *job) error {
	if t == nil {
		return raster.NoTable()
	}
	var made engine.Table
	made.Array = raster.ArrayOf(t.Sums, raster.PlaneExtent(t.Width, t.Height, t.Channels, t.Stride))
	if err := j.fill(&made); err != nil {
		return err
	}
	*t = boxsum.Table[S]{Sums: t.Sums, Stride: made.Stride, Width: t.Width, Height: t.Height, Channels: made.Channels, Bound: made.Known.Bound}
	return nil
}

func arrayOf[P boxsum.Pixel](img *boxsum.Image[P]) raster.Array {
	return raster.ArrayOf(img.Pix, raster.PlaneExtent(img.Width, img.Height, img.Channels, img.Stride))
}
