// Code generated from integrate.tmpl. DO NOT EDIT.

package volume

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/pairs"
)

// Integrate makes the table of a volume, with the pairs of voxel and sum types
// of [boxsum.Integrate]:
//
//	table, err := volume.Integrate[uint32](vol, nil)
func Integrate[S boxsum.Sum, P boxsum.Pixel](src Volume[P], opt *Options) (*Table[S], error) {
	return integrateOnce[S](nil, rawOf(&src), opt, true)
}

// IntegrateInto makes the table of a volume in dst, which must have the
// volume's size and must not overlap it. It does not allocate once a volume of
// the same type has been integrated. A table of the caller's own memory works
// too, zero Channels and strides standing for what they do in a [Volume]; one
// from [NewTable] is laid out to be written faster.
func IntegrateInto[S boxsum.Sum, P boxsum.Pixel](dst *Table[S], src Volume[P], opt *Options) error {
	_, err := integrateOnce(dst, rawOf(&src), opt, false)
	return err
}

// integrateOnce is integrate, as this package has compiled it.
func integrateOnce[S boxsum.Sum](dst *Table[S], src engine.Raw, opt *Options, fresh bool) (*Table[S], error) {
	f := tables[pairs.TypeOf[S]()].(func(*Table[S], engine.Raw, *Options, bool) (*Table[S], error))
	return f(dst, src, aside(opt), fresh)
}

// rawOf is a volume as bytes. Inlined it would be there for every pair of types.
//
//go:noinline
func rawOf[P boxsum.Pixel](src *Volume[P]) engine.Raw {
	return engine.RawOf(src.Pix, src.extent())
}

// integrate makes a table in dst, or in a fresh one.
func integrate[S boxsum.Sum](t *Table[S], src engine.Raw, opt *Options, fresh bool) (*Table[S], error) {
	j, err := start[S, uint64](src, opt, false)
	if err == nil && fresh {
		t, err = NewTable[S](src.Width, src.Height, src.Depth, src.Channels)
	}
	if err == nil {
		err = accept(&j.Sum, t, &j.Src, false, false)
	}
	if err == nil {
		err = j.Fill()
	}
	return grid.OrNil(t, err)
}

// A SquaredTable is the table of a volume beside that of its squares, from
// which come the variance and standard deviation of any box. Float voxels that all
// lie far from zero lose an offset first, as in a [boxsum.SquaredTable].
type SquaredTable[S boxsum.Sum, Q boxsum.Square] struct {
	Sum     *Table[S]
	Squares *Table[Q]
}

// NewSquaredTable allocates both tables for a volume of this size.
func NewSquaredTable[S boxsum.Sum, Q boxsum.Square](width, height, depth, channels int) (*SquaredTable[S, Q], error) {
	if err := grid.Fit(grid.Volume(width, height, depth, channels, 0, 0), grid.SizeOf[S]()+grid.SizeOf[Q]()); err != nil {
		return nil, advised(err)
	}
	sum, err := NewTable[S](width, height, depth, channels)
	if err != nil {
		return nil, err
	}
	squares, err := NewTable[Q](width, height, depth, channels)
	return grid.OrNil(&SquaredTable[S, Q]{Sum: sum, Squares: squares}, err)
}

// IntegrateSquares makes the table of a volume and that of its squares in
// one pass over the voxels, with types as for [boxsum.IntegrateSquares]:
//
//	table, err := volume.IntegrateSquares[uint32, uint64](vol, nil)
func IntegrateSquares[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](src Volume[P], opt *Options) (*SquaredTable[S, Q], error) {
	return squaresOnce[S, Q](nil, rawOf(&src), opt, true)
}

// IntegrateSquaresInto makes both tables of a volume in dst, which must have
// the volume's size and must overlap neither it nor each other. It does not
// allocate once a volume of the same type has been integrated.
func IntegrateSquaresInto[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](dst *SquaredTable[S, Q], src Volume[P], opt *Options) error {
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
		t, err = NewSquaredTable[S, Q](src.Width, src.Height, src.Depth, src.Channels)
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
	if t.Squares.Offset != 0 {
		t.Squares.first = t.Sum
	}
	return j.Fill()
}

type job[S boxsum.Sum, Q boxsum.Square] = engine.Job[S, Q, layer[S], layer[Q], *layer[S], *layer[Q]]

func start[S boxsum.Sum, Q boxsum.Square](src engine.Raw, opt *Options, squares bool) (*job[S, Q], error) {
	j := engine.Take[job[S, Q]]()
	j.Src = src
	err := j.Start(engineOptions(opt), squares)
	switch {
	case err != nil:
	case opt == nil:
		err = j.Shift(0, false)
	default:
		err = j.Shift(opt.Offset, opt.Plain)
	}
	return j, err
}

// accept aims a job at a table. It fills in the defaults of a table of the caller's
// own memory. Look is whether to look at pixels that hardly fit, see [engine.Pixels].
func accept[S boxsum.Sum](dst *engine.Target[S], t *Table[S], src *engine.Raw, squares, look bool) error {
	if t == nil {
		return grid.NoTable()
	}
	*dst = engine.Target[S]{Sums: t.Sums, Extent: t.extent(), Offset: dst.Offset}
	if err := engine.Accept(dst, src); err != nil {
		return err
	}
	t.Channels, t.Stride = dst.Channels, dst.Stride
	t.pixels = engine.Pixels[S](src, squares, look)
	t.Offset, t.first = dst.Offset, nil
	t.SliceStride = dst.SliceStride
	dst.Whole = t.ownsGaps()
	return nil
}
