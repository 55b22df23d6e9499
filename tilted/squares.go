package tilted

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/exact"
	"github.com/boxsum/boxsum/internal/kernel"
)

// A SquaredTable is the 45° table of an image beside that of its squares, from
// which come the variance and standard deviation of any box.
type SquaredTable[S boxsum.Sum, Q boxsum.Square] struct {
	Sum     *Table[S]
	Squares *Table[Q]

	scratch any
}

// NewSquaredTable allocates both tables for an image of this size.
func NewSquaredTable[S boxsum.Sum, Q boxsum.Square](width, height, channels int) (*SquaredTable[S, Q], error) {
	sum, err := NewTable[S](width, height, channels)
	if err != nil {
		return nil, err
	}
	squares, err := NewTable[Q](width, height, channels)
	if err != nil {
		return nil, err
	}
	return &SquaredTable[S, Q]{Sum: sum, Squares: squares}, nil
}

// IntegrateSquares makes the 45° table of an image and that of its squares in
// one pass over the pixels, with types as for [boxsum.IntegrateSquares]:
//
//	table, err := tilted.IntegrateSquares[uint32, uint64](img, nil)
func IntegrateSquares[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](src boxsum.Image[P], opt *boxsum.Options) (*SquaredTable[S, Q], error) {
	if _, _, err := squaresKernels[S, Q, P](opt); err != nil {
		return nil, err
	}
	src, err := checked(src)
	if err != nil {
		return nil, err
	}
	t, err := NewSquaredTable[S, Q](src.Width, src.Height, src.Channels)
	if err != nil {
		return nil, err
	}
	if err := IntegrateSquaresInto(t, src, opt); err != nil {
		return nil, err
	}
	return t, nil
}

// IntegrateSquaresInto makes both tables of an image in dst, which must have
// the image's size and must overlap neither it nor each other. It does not
// allocate once an image of the same type has been through dst.
func IntegrateSquaresInto[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](dst *SquaredTable[S, Q], src boxsum.Image[P], opt *boxsum.Options) error {
	sum, square, err := squaresKernels[S, Q, P](opt)
	if err != nil {
		return err
	}
	if src, err = checked(src); err != nil {
		return err
	}
	if dst == nil {
		return fmt.Errorf("tilted: %w: no table", boxsum.ErrInvalid)
	}
	if err := dst.Sum.accepts(src.Width, src.Height, src.Channels); err != nil {
		return err
	}
	if err := dst.Squares.accepts(src.Width, src.Height, src.Channels); err != nil {
		return err
	}
	if err := errors.Join(apart(src.Pix, dst.Sum.Sums), apart(src.Pix, dst.Squares.Sums), apart(dst.Sum.Sums, dst.Squares.Sums)); err != nil {
		return err
	}
	run, ok := dst.scratch.(*squaresRun[P, S, Q])
	if !ok || run.owner != dst {
		run = &squaresRun[P, S, Q]{owner: dst}
		run.engine.Layers = []engine.Layer{&run.sums, &run.squares}
		dst.scratch = run
	}
	p := plan(src, opt, unsafe.Sizeof(*new(S))+unsafe.Sizeof(*new(Q)))
	layer(&run.sums, dst.Sum, src, sum, p)
	layer(&run.squares, dst.Squares, src, square, p)
	run.engine.Run(p.Grid, p.Workers)
	run.sums.Release()
	run.squares.Release()
	return nil
}

// squaresRun is what integrating into a pair of tables needs again and again.
type squaresRun[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square] struct {
	owner   *SquaredTable[S, Q]
	engine  engine.Engine
	sums    engine.Tilted[P, S]
	squares engine.Tilted[P, Q]
}

// squaresKernels is the two kernels for a pair of tables, if the options are
// good.
func squaresKernels[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](opt *boxsum.Options) (kernel.TiltedFunc[P, S], kernel.TiltedFunc[P, Q], error) {
	sum, err := sumKernel[S, P](opt)
	if err != nil {
		return nil, nil, err
	}
	level, err := levelOf(opt)
	if err != nil {
		return nil, nil, err
	}
	square := kernel.TiltedSquares[P, Q](level)
	if square == nil {
		return nil, nil, fmt.Errorf("tilted: %w: no squares of %T in %T: integer pixels take uint64; float pixels, int32 and uint32 take float64",
			boxsum.ErrTypes, *new(P), *new(Q))
	}
	return sum, square, nil
}

// Mean is the mean of one channel over a box, and 0 for one that is empty or
// that the table does not contain.
func (t *SquaredTable[S, Q]) Mean(b Box, channel int) float64 { return t.Sum.Mean(b, channel) }

// Variance is the variance of one channel over a box: never negative, from
// exact integers in integer tables, and 0 for a box that is empty or that the
// table does not contain. It is as good as [boxsum.SquaredTable.Variance].
func (t *SquaredTable[S, Q]) Variance(b Box, channel int) float64 {
	if !t.Sum.Contains(b) || b.Area() == 0 {
		return 0
	}
	return exact.Variance(b.Area(), t.Sum.SumChannel(b, channel), t.Squares.SumChannel(b, channel))
}

// StdDev is the standard deviation of one channel over a box: the square root
// of its [SquaredTable.Variance].
func (t *SquaredTable[S, Q]) StdDev(b Box, channel int) float64 {
	return math.Sqrt(t.Variance(b, channel))
}
