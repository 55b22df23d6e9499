package volume

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/pairs"
)

// A Stream makes a table one slice at a time, in memory proportional to one
// slice, for volumes that never fit. Its slices are those of [Integrate], bit
// for bit. It is for one goroutine at a time.
type Stream[S boxsum.Sum, P boxsum.Pixel] struct{ stream *stream[S] }

// NewStream starts a table for slices of this size; zero channels stand for
// one. The table's slice 0 is all zeros; the first Push gives slice 1. The options'
// Progress is not called, for a stream has no end to be near to.
func NewStream[S boxsum.Sum, P boxsum.Pixel](width, height, channels int, opt *Options) (*Stream[S, P], error) {
	s, err := streamOnce[S](rawOf(&Volume[P]{Width: width, Height: height, Channels: channels}), opt)
	return grid.OrNil(&Stream[S, P]{s}, err)
}

// streamOnce is newStream, as this package has compiled it.
func streamOnce[S boxsum.Sum](like engine.Raw, opt *Options) (*stream[S], error) {
	f := streams[pairs.TypeOf[S]()].(func(engine.Raw, *Options) (*stream[S], error))
	return f(like, aside(opt))
}

// Push takes the next slice of voxels and gives the next slice of the table,
// (width+1)×(height+1) entries, which is valid until the next Push.
func (s *Stream[S, P]) Push(slice boxsum.Image[P]) (sums boxsum.View[S], err error) {
	if s == nil || s.stream == nil {
		return sums, errNoStream()
	}
	return s.stream.push(rawSlice(&slice))
}

func errNoStream() error { return grid.Invalid("a stream that was not made by its constructor") }

// Offset is what was subtracted from every voxel, see [Options]: the
// entries lack it.
func (s *Stream[S, P]) Offset() float32 {
	if s == nil || s.stream == nil {
		return 0
	}
	return s.stream.sums.dst.Offset
}

// A stream is what is behind a [Stream].
type stream[S boxsum.Sum] struct {
	slices slices
	sums   sliceSums[S]
}

func newStream[S boxsum.Sum](like engine.Raw, opt *Options) (*stream[S], error) {
	j, err := start[S, uint64](like, opt, false)
	if err != nil {
		return nil, err
	}
	s := new(stream[S])
	s.slices.init(&j.Src, j.Set, grid.SizeOf[S]())
	return grid.OrNil(s, s.sums.init(&s.slices, false, j.Sum.Offset))
}

func (s *stream[S]) push(slice engine.Raw) (sums boxsum.View[S], err error) {
	if err = s.sums.take(slice); err == nil {
		err = s.slices.run(&s.sums.layer)
	}
	return s.sums.give(err), err
}

// A SquaredStream is a [Stream] that makes the table of squares as well.
type SquaredStream[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel] struct{ stream *squaredStream[S, Q] }

// NewSquaredStream starts a pair of tables for slices of this size, with types
// as for [IntegrateSquares].
func NewSquaredStream[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](width, height, channels int, opt *Options) (*SquaredStream[S, Q, P], error) {
	s, err := squaredStreamOnce[S, Q](rawOf(&Volume[P]{Width: width, Height: height, Channels: channels}), opt)
	return grid.OrNil(&SquaredStream[S, Q, P]{s}, err)
}

// squaredStreamOnce is newSquaredStream, as this package has compiled it.
func squaredStreamOnce[S boxsum.Sum, Q boxsum.Square](like engine.Raw, opt *Options) (*squaredStream[S, Q], error) {
	f := squaredStreams[pairs.NumberTwo[S, Q]()].(func(engine.Raw, *Options) (*squaredStream[S, Q], error))
	return f(like, aside(opt))
}

// Push takes the next slice of voxels and gives the next slice of both tables,
// which are valid until the next Push.
func (s *SquaredStream[S, Q, P]) Push(slice boxsum.Image[P]) (sums boxsum.View[S], squares boxsum.View[Q], err error) {
	if s == nil || s.stream == nil {
		return sums, squares, errNoStream()
	}
	return s.stream.push(rawSlice(&slice))
}

// A squaredStream is what is behind a [SquaredStream].
type squaredStream[S boxsum.Sum, Q boxsum.Square] struct {
	slices  slices
	sums    sliceSums[S]
	squares sliceSums[Q]
}

func newSquaredStream[S boxsum.Sum, Q boxsum.Square](like engine.Raw, opt *Options) (*squaredStream[S, Q], error) {
	j, err := start[S, Q](like, opt, true)
	if err != nil {
		return nil, err
	}
	s := new(squaredStream[S, Q])
	s.slices.init(&j.Src, j.Set, grid.SizeOf[S]()+grid.SizeOf[Q]())
	if err = s.sums.init(&s.slices, false, j.Sum.Offset); err == nil {
		err = s.squares.init(&s.slices, true, j.Squares.Offset)
	}
	return grid.OrNil(s, err)
}

func (s *squaredStream[S, Q]) push(slice engine.Raw) (sums boxsum.View[S], squares boxsum.View[Q], err error) {
	if err = s.sums.take(slice); err == nil {
		err = s.squares.take(slice)
	}
	if err == nil {
		err = s.slices.run(&s.sums.layer, &s.squares.layer)
	}
	return s.sums.give(err), s.squares.give(err), err
}

// slices is how a stream goes from slice to slice.
type slices struct {
	engine engine.Engine
	set    engine.Settings
	plan   engine.Plan
	extent grid.Extent // of a slice, as a volume
	pixel  pairs.Type
}

// rawSlice is a slice as bytes. Inlined it would be there for every pair of types.
//
//go:noinline
func rawSlice[P boxsum.Pixel](s *boxsum.Image[P]) engine.Raw {
	return engine.RawOf(s.Pix, grid.Plane(s.Width, s.Height, s.Channels, s.Stride))
}

func (s *slices) init(e *engine.Raw, set engine.Settings, sumBytes int) {
	s.extent, s.pixel, s.set = e.Extent, e.Type, set.Quiet()
	s.extent.Depth = 1
	s.plan = engine.Work{
		Rows: e.Height, N: e.Width * e.Channels, Channels: e.Channels,
		PixelBytes: e.Type.Bytes(), SumBytes: sumBytes, Workers: set.Workers(),
	}.Plan()
	s.plan.Writes, s.plan.Slices = kernel.Ahead, 1
}

func (s *slices) run(layers ...engine.Layer) error { return s.engine.Run(&s.set, &s.plan, layers...) }

// sliceSums is one table of a stream: the slice just made.
type sliceSums[S boxsum.Sum] struct {
	layer layer[S]
	src   engine.Raw
	dst   engine.Target[S]
}

func (s *sliceSums[S]) init(all *slices, squares bool, offset float32) error {
	e := all.extent
	over, err := grid.Make[S](kernel.OverLen(e.Height, e.Width*e.Channels))
	if err != nil {
		return grid.OutOfMemory("a stream of slices of %d×%d: %w", e.Width, e.Height, err)
	}
	s.layer.over = over
	s.dst.Sums, s.dst.Extent, err = grid.NewSums[S](grid.Plane(e.Width, e.Height, e.Channels, 0))
	if err != nil {
		return err
	}
	s.dst.Offset, s.dst.SliceStride = offset, 0 // all slices lie in the same place
	s.layer.Find(all.pixel, all.set.Level, squares)
	s.layer.Aim(&s.src, &s.dst)
	return s.layer.Prepare(&all.plan)
}

// take points the layer at the next slice.
func (s *sliceSums[S]) take(slice engine.Raw) error {
	s.src = slice
	if err := s.src.Pixels(slice.Len()); err != nil {
		return err
	}
	if err := s.dst.Same(&s.src.Extent); err != nil {
		return err
	}
	s.layer.Aim(&s.src, &s.dst)
	return grid.Overlap(slice.Pix, s.dst.Sums)
}

// give is the slice that was made, unless that failed.
func (s *sliceSums[S]) give(err error) boxsum.View[S] {
	s.layer.Release()
	s.src.Pix = nil
	if err != nil {
		return boxsum.View[S]{}
	}
	d := &s.dst
	end := d.Height*d.Stride + (d.Width+1)*d.Channels
	return boxsum.View[S]{Sums: d.Sums[:end:end], Stride: d.Stride, Width: d.Width + 1, Height: d.Height + 1, Channels: d.Channels}
}
