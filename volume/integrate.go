package volume

import (
	"fmt"

	"github.com/boxsum/boxsum"
)

// Integrate makes the table of a volume, with the pairs of voxel and sum types
// of [boxsum.Integrate]:
//
//	table, err := volume.Integrate[uint32](vol, nil)
func Integrate[S boxsum.Sum, P boxsum.Pixel](src Volume[P], opt *boxsum.Options) (*Table[S], error) {
	set, err := checkedOptions[S](opt)
	if err != nil {
		return nil, err
	}
	if _, err := sumKernel[S, P](set.level); err != nil {
		return nil, err
	}
	if src, err = src.checked(); err != nil {
		return nil, err
	}
	t, err := NewTable[S](src.Width, src.Height, src.Depth, src.Channels)
	if err != nil {
		return nil, err
	}
	if err := IntegrateInto(t, src, opt); err != nil {
		return nil, err
	}
	return t, nil
}

// IntegrateInto makes the table of a volume in dst, which must have the
// volume's size and must not overlap it. It does not allocate once a volume of
// the same type has been through dst. A table of the caller's own memory works
// too, zero Channels and strides standing for what they do in a [Volume]; one
// from [NewTable] is laid out to be written faster.
func IntegrateInto[S boxsum.Sum, P boxsum.Pixel](dst *Table[S], src Volume[P], opt *boxsum.Options) error {
	set, err := checkedOptions[S](opt)
	if err != nil {
		return err
	}
	f, err := sumKernel[S, P](set.level)
	if err != nil {
		return err
	}
	if src, err = src.checked(); err != nil {
		return err
	}
	if err := dst.accepts(src.Width, src.Height, src.Depth, src.Channels); err != nil {
		return err
	}
	if err := apart(src.Pix, dst.Sums); err != nil {
		return err
	}
	run, ok := dst.scratch.(*sumRun[P, S])
	if !ok || run.owner != dst {
		run = &sumRun[P, S]{owner: dst}
		dst.scratch = run
	}
	dst.Offset = set.offset
	run.sums.kernel = f
	run.sums.aim(dst, src)
	run.integrate(planFor[P](src, set.workers, sizeOf[S]()), &run.sums)
	return nil
}

// sumRun is what integrating into a table needs again and again. A copy of the
// table is another table, and gets its own.
type sumRun[P boxsum.Pixel, S boxsum.Sum] struct {
	run
	owner *Table[S]
	sums  layer[P, S]
}

// A SquaredTable is the table of a volume beside the table of its squares, from
// which come the variance and standard deviation of any box.
type SquaredTable[S boxsum.Sum, Q boxsum.Square] struct {
	Sum     *Table[S]
	Squares *Table[Q]

	scratch any
}

// NewSquaredTable allocates both tables for a volume of this size.
func NewSquaredTable[S boxsum.Sum, Q boxsum.Square](width, height, depth, channels int) (*SquaredTable[S, Q], error) {
	sum, err := NewTable[S](width, height, depth, channels)
	if err != nil {
		return nil, err
	}
	squares, err := NewTable[Q](width, height, depth, channels)
	if err != nil {
		return nil, err
	}
	return &SquaredTable[S, Q]{Sum: sum, Squares: squares}, nil
}

// IntegrateSquares makes the table of a volume and that of its squares in one
// pass over the voxels, with the types of [boxsum.IntegrateSquares]:
//
//	table, err := volume.IntegrateSquares[uint32, uint64](vol, nil)
func IntegrateSquares[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](src Volume[P], opt *boxsum.Options) (*SquaredTable[S, Q], error) {
	set, err := checkedOptions[S](opt)
	if err != nil {
		return nil, err
	}
	if _, err := sumKernel[S, P](set.level); err != nil {
		return nil, err
	}
	if _, err := squareKernel[Q, P](set.level); err != nil {
		return nil, err
	}
	if src, err = src.checked(); err != nil {
		return nil, err
	}
	t, err := NewSquaredTable[S, Q](src.Width, src.Height, src.Depth, src.Channels)
	if err != nil {
		return nil, err
	}
	if err := IntegrateSquaresInto(t, src, opt); err != nil {
		return nil, err
	}
	return t, nil
}

// IntegrateSquaresInto makes both tables of a volume in dst, which must have
// the volume's size and must overlap neither it nor each other. It does not
// allocate once a volume of the same type has been through dst.
func IntegrateSquaresInto[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](dst *SquaredTable[S, Q], src Volume[P], opt *boxsum.Options) error {
	set, err := checkedOptions[S](opt)
	if err != nil {
		return err
	}
	sum, err := sumKernel[S, P](set.level)
	if err != nil {
		return err
	}
	square, err := squareKernel[Q, P](set.level)
	if err != nil {
		return err
	}
	if src, err = src.checked(); err != nil {
		return err
	}
	if dst == nil {
		return fmt.Errorf("volume: %w: no table", boxsum.ErrInvalid)
	}
	if err := dst.Sum.accepts(src.Width, src.Height, src.Depth, src.Channels); err != nil {
		return err
	}
	if err := dst.Squares.accepts(src.Width, src.Height, src.Depth, src.Channels); err != nil {
		return err
	}
	for _, err := range []error{apart(src.Pix, dst.Sum.Sums), apart(src.Pix, dst.Squares.Sums), apart(dst.Sum.Sums, dst.Squares.Sums)} {
		if err != nil {
			return err
		}
	}
	run, ok := dst.scratch.(*squaresRun[P, S, Q])
	if !ok || run.owner != dst {
		run = &squaresRun[P, S, Q]{owner: dst}
		dst.scratch = run
	}
	dst.Sum.Offset, dst.Squares.Offset = set.offset, 0
	run.sums.kernel, run.squares.kernel = sum, square
	run.sums.aim(dst.Sum, src)
	run.squares.aim(dst.Squares, src)
	run.integrate(planFor[P](src, set.workers, sizeOf[S]()+sizeOf[Q]()), &run.sums, &run.squares)
	return nil
}

// squaresRun is what integrating into a pair of tables needs again and again.
type squaresRun[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square] struct {
	run
	owner   *SquaredTable[S, Q]
	sums    layer[P, S]
	squares layer[P, Q]
}
