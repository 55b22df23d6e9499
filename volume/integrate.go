package volume

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
)

// Integrate makes the table of a volume, with the pairs of voxel and sum types
// of [boxsum.Integrate]:
//
//	table, err := volume.Integrate[uint32](vol, nil)
func Integrate[S boxsum.Sum, P boxsum.Pixel](src Volume[P], opt *Options) (*Table[S], error) {
	j, err := start[S, uint64](src, opt, false)
	if err != nil {
		return nil, err
	}
	t, err := NewTable[S](src.Width, src.Height, src.Depth, src.Channels)
	if err == nil {
		err = j.fill(t)
	}
	return grid.OrNil(t, err)
}

// IntegrateInto makes the table of a volume in dst, which must have the
// volume's size and must not overlap it. It does not allocate once a volume of
// the same type has been integrated. A table of the caller's own memory works
// too, zero Channels and strides standing for what they do in a [Volume]; one
// from [NewTable] is laid out to be written faster.
func IntegrateInto[S boxsum.Sum, P boxsum.Pixel](dst *Table[S], src Volume[P], opt *Options) error {
	j, err := start[S, uint64](src, opt, false)
	if err != nil {
		return err
	}
	return j.fill(dst)
}

// IntegrateSquares makes the table of a volume and that of its squares in one
// pass over the voxels, with the types of [boxsum.IntegrateSquares]:
//
//	table, err := volume.IntegrateSquares[uint32, uint64](vol, nil)
func IntegrateSquares[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](src Volume[P], opt *Options) (*SquaredTable[S, Q], error) {
	j, err := start[S, Q](src, opt, true)
	if err != nil {
		return nil, err
	}
	t, err := NewSquaredTable[S, Q](src.Width, src.Height, src.Depth, src.Channels)
	if err == nil {
		err = j.fillBoth(t)
	}
	return grid.OrNil(t, err)
}

// IntegrateSquaresInto makes both tables of a volume in dst, which must have
// the volume's size and must overlap neither it nor each other. It does not
// allocate once a volume of the same type has been integrated.
func IntegrateSquaresInto[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](dst *SquaredTable[S, Q], src Volume[P], opt *Options) error {
	j, err := start[S, Q](src, opt, true)
	if err != nil {
		return err
	}
	return j.fillBoth(dst)
}

// A job makes one table of a volume, or two.
type job[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square] struct {
	engine.Job[P, S, Q, layer[P, S], layer[P, Q], *layer[P, S], *layer[P, Q]]
	offset float32
}

// start checks options, types and the volume.
func start[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](src Volume[P], opt *Options, squares bool) (j job[P, S, Q], err error) {
	o, offset, err := options[S](opt)
	if err == nil {
		j.offset = offset
		err = j.Start(o, engine.Source[P]{Pix: src.Pix, Extent: src.extent()}, squares)
	}
	return j, err
}

func (j *job[P, S, Q]) fill(t *Table[S]) error {
	sum, err := target(t, &j.Src, j.offset)
	if err != nil {
		return err
	}
	return j.Fill(sum, engine.Target[Q]{})
}

func (j *job[P, S, Q]) fillBoth(t *SquaredTable[S, Q]) error {
	if t == nil {
		return grid.NoTable()
	}
	sum, err := target(t.Sum, &j.Src, j.offset)
	if err != nil {
		return err
	}
	squares, err := target(t.Squares, &j.Src, 0)
	if err != nil {
		return err
	}
	return j.Fill(sum, squares)
}

// target is a table that is to take the sums of a volume. It fills in the
// defaults of a table of the caller's own memory.
func target[S boxsum.Sum, P boxsum.Pixel](t *Table[S], src *engine.Source[P], offset float32) (d engine.Target[S], err error) {
	if t == nil {
		return d, grid.NoTable()
	}
	if d.Extent, err = t.extent().Accept(src.Extent, len(t.Sums)); err != nil {
		return d, err
	}
	t.Channels, t.Stride, t.SliceStride, t.Offset = d.Channels, d.Stride, d.SliceStride, offset
	d.Sums, d.Offset, d.Whole = t.Sums, offset, t.ownsGaps()
	return d, grid.Overlap(src.Pix, t.Sums)
}
