package boxsum

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
)

// Integrate makes the table of an image:
//
//	table, err := boxsum.Integrate[uint32](img, nil)
//
// The pairs of pixel and sum types are uint8 to uint32, uint64, float32 or
// float64; uint16 to uint64 or float64; uint32 to uint64 or uint32; int16 and
// int32 to int64; float32 to float64 or float32; float64 to float64. Any other
// is an [ErrTypes].
func Integrate[S Sum, P Pixel](src Image[P], opt *Options) (*Table[S], error) {
	j, err := start[S, uint64](&src, opt, false)
	if err != nil {
		return nil, err
	}
	t, err := NewTable[S](src.Width, src.Height, src.Channels)
	if err == nil {
		err = fill(j, t)
	}
	return grid.OrNil(t, err)
}

// IntegrateInto makes the table of an image in dst, which must have the
// image's size and must not overlap it. It does not allocate once an image of
// the same type has been integrated. A table of the caller's own memory works
// too, zero Channels and Stride standing for what they do in an [Image]; one
// from [NewTable] is laid out to be written faster.
func IntegrateInto[S Sum, P Pixel](dst *Table[S], src Image[P], opt *Options) error {
	j, err := start[S, uint64](&src, opt, false)
	if err != nil {
		return err
	}
	return fill(j, dst)
}

func fill[S Sum, P Pixel](j *job[P, S, uint64], t *Table[S]) error {
	if err := accept(&j.Sum, t, &j.Src, false); err != nil {
		return err
	}
	return j.Fill()
}

// IntegrateSquares makes the table of an image and that of its squares in one
// pass over the pixels. The sum type goes with the pixels as in [Integrate];
// the squares are uint64 for integer pixels, float64 for float pixels, and
// either for int32 and unsigned pixels:
//
//	table, err := boxsum.IntegrateSquares[uint32, uint64](img, nil)
func IntegrateSquares[S Sum, Q Square, P Pixel](src Image[P], opt *Options) (*SquaredTable[S, Q], error) {
	j, err := start[S, Q](&src, opt, true)
	if err != nil {
		return nil, err
	}
	t, err := NewSquaredTable[S, Q](src.Width, src.Height, src.Channels)
	if err == nil {
		err = fillSquares(j, t)
	}
	return grid.OrNil(t, err)
}

// IntegrateSquaresInto makes both tables of an image in dst, which must have
// the image's size and must overlap neither it nor each other. It does not
// allocate once an image of the same type has been integrated.
func IntegrateSquaresInto[S Sum, Q Square, P Pixel](dst *SquaredTable[S, Q], src Image[P], opt *Options) error {
	j, err := start[S, Q](&src, opt, true)
	if err != nil {
		return err
	}
	return fillSquares(j, dst)
}

func fillSquares[S Sum, Q Square, P Pixel](j *job[P, S, Q], t *SquaredTable[S, Q]) error {
	if t == nil {
		return grid.NoTable()
	}
	if err := accept(&j.Sum, t.Sum, &j.Src, false); err != nil {
		return err
	}
	if err := accept(&j.Squares, t.Squares, &j.Src, true); err != nil {
		return err
	}
	if t.Squares.first = nil; t.Squares.Offset != 0 {
		t.Squares.first = t.Sum
	}
	return j.Fill()
}

type job[P Pixel, S Sum, Q Square] = engine.Job[P, S, Q, engine.Sums[P, S], engine.Sums[P, Q], *engine.Sums[P, S], *engine.Sums[P, Q]]

func start[S Sum, Q Square, P Pixel](src *Image[P], opt *Options, squares bool) (*job[P, S, Q], error) {
	j := engine.Take[job[P, S, Q]]()
	j.Src.Image(src.Pix, src.Width, src.Height, src.Channels, src.Stride)
	err := j.Start(opt.engine(), squares)
	if err == nil {
		err = j.Shift(opt.offset())
	}
	return j, err
}

// accept aims a job at a table. It fills in the defaults of a table of the caller's
// own memory.
func accept[S Sum, P Pixel](dst *engine.Target[S], t *Table[S], src *engine.Source[P], squares bool) error {
	if t == nil {
		return grid.NoTable()
	}
	dst.Table(t.Sums, t.Width, t.Height, t.Channels, t.Stride)
	if err := engine.Accept(dst, src); err != nil {
		return err
	}
	t.Channels, t.Stride, t.Offset = dst.Channels, dst.Stride, dst.Offset
	t.pixels = engine.Pixels(dst, src, squares, squares)
	return nil
}
