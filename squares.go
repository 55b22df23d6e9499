package boxsum

import (
	"errors"
	"fmt"
	"image"
	"unsafe"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel"
)

// Square is what a table of squares holds: uint64 for integer pixels, and
// float64 for float pixels. Squares of 8- and 16-bit pixels are always exact
// in uint64. Those of int32 and uint32 are exact as long as the squares of a
// box add up to less than 2^64; float64 takes them of any size, with its
// rounding. It takes those of uint8 and uint16 too, for who wants the table as
// floats: whole numbers while all of the image add up to less than 2^53.
type Square interface{ uint64 | float64 }

// A SquaredTable is the table of an image beside the table of its squares,
// from which come the variance and standard deviation of any box.
type SquaredTable[S Sum, Q Square] struct {
	Sum     *Table[S]
	Squares *Table[Q]

	scratch any
}

// NewSquaredTable allocates both tables for an image of this size.
func NewSquaredTable[S Sum, Q Square](width, height, channels int) (*SquaredTable[S, Q], error) {
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

// IntegrateSquares makes the table of an image and that of its squares in one
// pass over the pixels. The sum type goes with the pixels as in [Integrate];
// the squares are uint64 for integer pixels, float64 for float pixels, and
// either for int32 and unsigned pixels:
//
//	table, err := boxsum.IntegrateSquares[uint32, uint64](img, nil)
func IntegrateSquares[S Sum, Q Square, P Pixel](src Image[P], opt *Options) (*SquaredTable[S, Q], error) {
	src, err := src.checked()
	if err != nil {
		return nil, err
	}
	if _, _, err := squaresPair[S, Q, P](kernel.Portable); err != nil {
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
func IntegrateSquaresInto[S Sum, Q Square, P Pixel](dst *SquaredTable[S, Q], src Image[P], opt *Options) error {
	opt, level, err := opt.checked()
	if err != nil {
		return err
	}
	if src, err = src.checked(); err != nil {
		return err
	}
	sum, square, err := squaresPair[S, Q, P](level)
	if err != nil {
		return err
	}
	if dst == nil {
		return fmt.Errorf("boxsum: %w: no table", ErrInvalid)
	}
	if err := dst.Sum.accepts(src.Width, src.Height, src.Channels); err != nil {
		return err
	}
	if err := dst.Squares.accepts(src.Width, src.Height, src.Channels); err != nil {
		return err
	}
	if err := offsetError[S](opt.Offset); err != nil {
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
	dst.Sum.Offset, dst.Squares.Offset = opt.Offset, 0
	both := int(unsafe.Sizeof(*new(S)) + unsafe.Sizeof(*new(Q)))
	plan := opt.plan(src.Width, src.Height, src.Channels, int(unsafe.Sizeof(*new(P))), both)
	layer(&run.sums, dst.Sum, src, sum, plan)
	layer(&run.squares, dst.Squares, src, square, plan)
	run.engine.Run(plan.Grid, plan.Workers)
	run.sums.Release()
	run.squares.Release()
	return nil
}

// squaresRun is what integrating into a pair of tables needs again and again.
type squaresRun[P Pixel, S Sum, Q Square] struct {
	owner   *SquaredTable[S, Q]
	engine  engine.Engine
	sums    engine.Sums[P, S]
	squares engine.Sums[P, Q]
}

// squaresPair is the two kernels for a pair of tables.
func squaresPair[S Sum, Q Square, P Pixel](level kernel.Level) (kernel.Func[P, S], kernel.Func[P, Q], error) {
	sum, square := kernel.Sums[P, S](level), kernel.Squares[P, Q](level)
	if err := pairError[S, P](sum); err != nil {
		return nil, nil, err
	}
	if square == nil {
		return nil, nil, fmt.Errorf("boxsum: %w: no squares of %T in %T: integer pixels take uint64; float, unsigned and int32 pixels take float64",
			ErrTypes, *new(P), *new(Q))
	}
	return sum, square, nil
}

// Mean is the mean of one channel over a box, clipped to the image, and 0 for
// an empty box.
func (t *SquaredTable[S, Q]) Mean(box image.Rectangle, channel int) float64 {
	return t.Sum.Mean(box, channel)
}
