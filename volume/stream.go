package volume

import (
	"fmt"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/memory"
)

// A Stream makes a table one slice at a time, in memory proportional to one
// slice, for volumes that never fit. Its slices are those of [Integrate], bit
// for bit. It is for one goroutine at a time.
type Stream[S boxsum.Sum, P boxsum.Pixel] struct {
	engine engine.Engine
	plan   plan
	sums   sliceSums[S, P]
}

// NewStream starts a table for slices of this size; zero channels stand for
// one. The table's slice 0 is all zeros; the first Push gives slice 1.
func NewStream[S boxsum.Sum, P boxsum.Pixel](width, height, channels int, opt *boxsum.Options) (*Stream[S, P], error) {
	set, err := checkedOptions[S](opt)
	if err != nil {
		return nil, err
	}
	f, err := sumKernel[S, P](set.level)
	if err != nil {
		return nil, err
	}
	s := new(Stream[S, P])
	channels = orOne(channels)
	if err := checkSize(width, height, 1, channels); err != nil {
		return nil, err
	}
	s.plan = slicePlan[P](width, height, channels, set.workers, sizeOf[S]())
	if err := s.sums.init(f, width, height, channels, set.offset, s.plan); err != nil {
		return nil, err
	}
	s.engine.Layers = []engine.Layer{&s.sums.layer}
	return s, nil
}

// Push takes the next slice of voxels and gives the next slice of the table,
// (width+1)×(height+1) entries, which is valid until the next Push.
func (s *Stream[S, P]) Push(slice boxsum.Image[P]) (boxsum.View[S], error) {
	if err := s.sums.take(slice); err != nil {
		return boxsum.View[S]{}, err
	}
	s.engine.Run(s.plan.grid, s.plan.workers)
	return s.sums.give(), nil
}

// Offset is what was subtracted from every voxel, see [boxsum.Options]: the
// entries lack it.
func (s *Stream[S, P]) Offset() float32 { return s.sums.table.Offset }

// A SquaredStream is a [Stream] that makes the table of squares as well.
type SquaredStream[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel] struct {
	engine  engine.Engine
	plan    plan
	sums    sliceSums[S, P]
	squares sliceSums[Q, P]
}

// NewSquaredStream starts a pair of tables for slices of this size, with types
// as for [IntegrateSquares].
func NewSquaredStream[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](width, height, channels int, opt *boxsum.Options) (*SquaredStream[S, Q, P], error) {
	set, err := checkedOptions[S](opt)
	if err != nil {
		return nil, err
	}
	sum, err := sumKernel[S, P](set.level)
	if err != nil {
		return nil, err
	}
	square, err := squareKernel[Q, P](set.level)
	if err != nil {
		return nil, err
	}
	s := new(SquaredStream[S, Q, P])
	channels = orOne(channels)
	if err := checkSize(width, height, 1, channels); err != nil {
		return nil, err
	}
	s.plan = slicePlan[P](width, height, channels, set.workers, sizeOf[S]()+sizeOf[Q]())
	if err := s.sums.init(sum, width, height, channels, set.offset, s.plan); err != nil {
		return nil, err
	}
	if err := s.squares.init(square, width, height, channels, 0, s.plan); err != nil {
		return nil, err
	}
	s.engine.Layers = []engine.Layer{&s.sums.layer, &s.squares.layer}
	return s, nil
}

// Push takes the next slice of voxels and gives the next slice of both tables,
// which are valid until the next Push.
func (s *SquaredStream[S, Q, P]) Push(slice boxsum.Image[P]) (sums boxsum.View[S], squares boxsum.View[Q], err error) {
	if err := s.sums.take(slice); err != nil {
		return sums, squares, err
	}
	if err := s.squares.take(slice); err != nil {
		return sums, squares, err
	}
	s.engine.Run(s.plan.grid, s.plan.workers)
	return s.sums.give(), s.squares.give(), nil
}

// slicePlan is how to cut a slice into tiles.
func slicePlan[P boxsum.Pixel](width, height, channels, workers, sumBytes int) plan {
	slice := engine.Work{
		Rows: height, N: width * channels, Channels: channels,
		PixelBytes: sizeOf[P](), SumBytes: sumBytes, Workers: workers,
	}.Plan()
	return plan{grid: slice.Grid, workers: slice.Workers, writes: kernel.Ahead, bySlices: true}
}

// sliceSums is one table of a stream: the slice just made.
type sliceSums[S boxsum.Sum, P boxsum.Pixel] struct {
	layer layer[P, S]
	table *Table[S] // of one slice, and slice 0
}

func (s *sliceSums[S, P]) init(f kernel.VolumeFunc[P, S], width, height, channels int, offset float32, p plan) error {
	over, err := memory.Make[S](kernel.OverLen(height, width*channels) + kernel.LineBytes)
	if err != nil {
		return fmt.Errorf("volume: %w: a stream of slices of %d×%d: %w", boxsum.ErrInvalid, width, height, err)
	}
	rows, err := boxsum.NewTable[S](width, height, channels)
	if err != nil {
		return fmt.Errorf("volume: %w", err)
	}
	s.table = &Table[S]{
		Sums: rows.Sums, Stride: rows.Stride, // SliceStride 0: all slices lie in the same place
		Width: width, Height: height, Channels: channels, Offset: offset,
	}
	s.layer.kernel, s.layer.over = f, over
	s.layer.aim(s.table, Volume[P]{Width: width, Height: height, Channels: channels})
	s.layer.prepare(p)
	s.layer.release()
	return nil
}

// take points the layer at the next slice.
func (s *sliceSums[S, P]) take(slice boxsum.Image[P]) error {
	t := s.table
	if t == nil {
		return fmt.Errorf("volume: %w: a stream that was not made by its constructor", boxsum.ErrInvalid)
	}
	if slice.Width != t.Width || slice.Height != t.Height || orOne(slice.Channels) != t.Channels {
		return fmt.Errorf("volume: %w: a slice of %d×%d with %d channels, the stream takes %d×%d with %d",
			boxsum.ErrInvalid, slice.Width, slice.Height, orOne(slice.Channels), t.Width, t.Height, t.Channels)
	}
	v, err := Volume[P]{
		Pix: slice.Pix, Stride: slice.Stride,
		Width: slice.Width, Height: slice.Height, Depth: 1, Channels: slice.Channels,
	}.checked()
	if err != nil {
		return err
	}
	if err := apart(slice.Pix, t.Sums); err != nil {
		return err
	}
	s.layer.aim(t, v)
	s.layer.slice(0)
	return nil
}

// give is the slice that was made.
func (s *sliceSums[S, P]) give() boxsum.View[S] {
	s.layer.release()
	t := s.table
	end := t.Height*t.Stride + (t.Width+1)*t.Channels
	return boxsum.View[S]{Sums: t.Sums[:end:end], Stride: t.Stride, Width: t.Width + 1, Height: t.Height + 1, Channels: t.Channels}
}
