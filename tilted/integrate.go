// Code generated from integrate.tmpl. DO NOT EDIT.

package tilted

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/pairs"
)

// Integrate makes the 45° table of an image, with the pairs of pixel and sum types
// of [boxsum.Integrate]:
//
//	table, err := tilted.Integrate[uint32](img, nil)
func Integrate[S boxsum.Sum, P boxsum.Pixel](src boxsum.Image[P], opt *Options) (*Table[S], error) {
	return integrateOnce[S](nil, rawOf(&src), opt, true)
}

// IntegrateInto makes the table of an image in dst, which must have the
// image's size and must not overlap it. It does not allocate once an image of
// the same type has been integrated. A table of the caller's own memory works
// too, zero Channels and Stride standing for what they do in a [boxsum.Image]; one
// from [NewTable] is laid out to be written faster.
func IntegrateInto[S boxsum.Sum, P boxsum.Pixel](dst *Table[S], src boxsum.Image[P], opt *Options) error {
	_, err := integrateOnce(dst, rawOf(&src), opt, false)
	return err
}

// integrateOnce is integrate, as this package has compiled it.
func integrateOnce[S boxsum.Sum](dst *Table[S], src engine.Raw, opt *Options, fresh bool) (*Table[S], error) {
	f := tables[pairs.TypeOf[S]()].(func(*Table[S], engine.Raw, *Options, bool) (*Table[S], error))
	return f(dst, src, aside(opt), fresh)
}

// rawOf is an image as bytes. Inlined it would be there for every pair of types.
//
//go:noinline
func rawOf[P boxsum.Pixel](src *boxsum.Image[P]) engine.Raw {
	return engine.RawOf(src.Pix, grid.Plane(src.Width, src.Height, src.Channels, src.Stride))
}

// integrate makes a table in dst, or in a fresh one.
func integrate[S boxsum.Sum](t *Table[S], src engine.Raw, opt *Options, fresh bool) (*Table[S], error) {
	j, err := start[S, uint64](src, opt, false)
	if err == nil && fresh {
		t, err = NewTable[S](src.Width, src.Height, src.Channels)
	}
	if err == nil {
		err = accept(&j.Sum, t, &j.Src, false, true)
	}
	if err == nil {
		err = j.Fill()
	}
	return grid.OrNil(t, err)
}

// A SquaredTable is the 45° table of an image beside that of its squares, from
// which come the variance and standard deviation of any box.
type SquaredTable[S boxsum.Sum, Q boxsum.Square] struct {
	Sum     *Table[S]
	Squares *Table[Q]
}

// NewSquaredTable allocates both tables for an image of this size.
func NewSquaredTable[S boxsum.Sum, Q boxsum.Square](width, height, channels int) (*SquaredTable[S, Q], error) {
	if err := grid.Fit(grid.Plane(width, height, channels, 0), grid.SizeOf[S]()+grid.SizeOf[Q]()); err != nil {
		return nil, err
	}
	sum, err := NewTable[S](width, height, channels)
	if err != nil {
		return nil, err
	}
	squares, err := NewTable[Q](width, height, channels)
	return grid.OrNil(&SquaredTable[S, Q]{Sum: sum, Squares: squares}, err)
}

// IntegrateSquares makes the 45° table of an image and that of its squares in
// one pass over the pixels, with types as for [boxsum.IntegrateSquares]:
//
//	table, err := tilted.IntegrateSquares[uint32, uint64](img, nil)
func IntegrateSquares[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](src boxsum.Image[P], opt *Options) (*SquaredTable[S, Q], error) {
	return squaresOnce[S, Q](nil, rawOf(&src), opt, true)
}

// IntegrateSquaresInto makes both tables of an image in dst, which must have
// the image's size and must overlap neither it nor each other. It does not
// allocate once an image of the same type has been integrated.
func IntegrateSquaresInto[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](dst *SquaredTable[S, Q], src boxsum.Image[P], opt *Options) error {
	_, err := squaresOnce(dst, rawOf(&src), opt, false)
	return err
}

// squaresOnce is squares, as this package has compiled it.
func squaresOnce[S boxsum.Sum, Q boxsum.Square](dst *SquaredTable[S, Q], src engine.Raw, opt *Options, fresh bool) (*SquaredTable[S, Q], error) {
	f := squaredTables[pairs.NumberTwo[S, Q]()].(func(*SquaredTable[S, Q], engine.Raw, *Options, bool) (*SquaredTable[S, Q], error))
	return f(dst, src, aside(opt), fresh)
}

// squares makes both tables in dst, or in a fresh one.
func squares[S boxsum.Sum, Q boxsum.Square](t *SquaredTable[S, Q], src engine.Raw, opt *Options, fresh bool) (*SquaredTable[S, Q], error) {
	j, err := start[S, Q](src, opt, true)
	if err == nil && fresh {
		t, err = NewSquaredTable[S, Q](src.Width, src.Height, src.Channels)
	}
	if err == nil {
		err = fillSquares(j, t)
	}
	return grid.OrNil(t, err)
}

func fillSquares[S boxsum.Sum, Q boxsum.Square](j *job[S, Q], t *SquaredTable[S, Q]) error {
	if t == nil {
		return grid.NoTable()
	}
	if err := accept(&j.Sum, t.Sum, &j.Src, false, true); err != nil {
		return err
	}
	if err := accept(&j.Squares, t.Squares, &j.Src, true, true); err != nil {
		return err
	}
	return j.Fill()
}

type job[S boxsum.Sum, Q boxsum.Square] = engine.Job[S, Q, layer[S], layer[Q], *layer[S], *layer[Q]]

func start[S boxsum.Sum, Q boxsum.Square](src engine.Raw, opt *Options, squares bool) (*job[S, Q], error) {
	j := engine.Take[job[S, Q]]()
	j.Src = src
	err := j.Start(engineOptions(opt), squares)
	return j, err
}

// accept aims a job at a table. It fills in the defaults of a table of the caller's
// own memory. Look is whether to look at pixels that hardly fit, see [engine.Pixels].
func accept[S boxsum.Sum](dst *engine.Target[S], t *Table[S], src *engine.Raw, squares, look bool) error {
	if t == nil {
		return grid.NoTable()
	}
	dst.Table(t.Sums, t.Width, t.Height, t.Channels, t.Stride)
	if err := engine.Accept(dst, src); err != nil {
		return err
	}
	t.Channels, t.Stride = dst.Channels, dst.Stride
	t.pixels = engine.Pixels[S](src, squares, look)
	return nil
}

// A Stream makes a 45° table one row at a time, in memory proportional to one
// row, for images that never fit. Its rows are those of [Integrate], bit for bit.
// It is for one goroutine at a time.
type Stream[S boxsum.Sum, P boxsum.Pixel] struct {
	rows *engine.Rows[S]
}

// NewStream starts a table for rows of this many pixels and channels. The
// table's row 0 is all zeros; the first Push gives row 1.
func NewStream[S boxsum.Sum, P boxsum.Pixel](width, channels int, opt *Options) (*Stream[S, P], error) {
	rows, err := streamOnce[S](rawOf(&boxsum.Image[P]{Width: width, Channels: channels}), opt)
	return grid.OrNil(&Stream[S, P]{rows}, err)
}

// streamOnce is stream, as this package has compiled it.
func streamOnce[S boxsum.Sum](like engine.Raw, opt *Options) (*engine.Rows[S], error) {
	f := streams[pairs.TypeOf[S]()].(func(engine.Raw, *Options) (*engine.Rows[S], error))
	return f(like, aside(opt))
}

func stream[S boxsum.Sum](src engine.Raw, opt *Options) (*engine.Rows[S], error) {
	j, err := start[S, uint64](src, opt, false)
	if err != nil {
		return nil, err
	}
	return engine.NewRows[S](j.Set, false, &j.Src, j.Sum.Offset, new(layer[S]))
}

// Push takes the next row of pixels and gives the next row of the table,
// (width+1)·channels sums, which is valid until the next Push.
func (s *Stream[S, P]) Push(row []P) ([]S, error) {
	if s == nil {
		s = new(Stream[S, P]) // which is an error as well
	}
	return s.rows.Push(kernel.Bytes(row))
}
