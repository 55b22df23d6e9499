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
type Stream[S boxsum.Sum, P boxsum.Pixel] struct {
	push   func(boxsum.Image[P]) (boxsum.View[S], error) // of a stream
	offset float32
}

// NewStream starts a table for slices of this size; zero channels stand for
// one. The table's slice 0 is all zeros; the first Push gives slice 1. The options'
// Progress is not called, for a stream has no end to be near to.
func NewStream[S boxsum.Sum, P boxsum.Pixel](width, height, channels int, opt *Options) (*Stream[S, P], error) {
	f, ok := streams[pairs.Number[P, S]()].(func(width, height, channels int, opt *Options) (*Stream[S, P], error))
	if !ok {
		return nil, engine.NoPair[P, S]()
	}
	return f(width, height, channels, aside(opt))
}

// Push takes the next slice of voxels and gives the next slice of the table,
// (width+1)×(height+1) entries, which is valid until the next Push.
func (s *Stream[S, P]) Push(slice boxsum.Image[P]) (sums boxsum.View[S], err error) {
	if s == nil || s.push == nil {
		return sums, errNoStream()
	}
	return s.push(slice)
}

func errNoStream() error { return grid.Invalid("a stream that was not made by its constructor") }

// Offset is what was subtracted from every voxel, see [Options]: the
// entries lack it.
func (s *Stream[S, P]) Offset() float32 {
	if s == nil {
		return 0
	}
	return s.offset
}

// A stream is what is behind a [Stream].
type stream[S boxsum.Sum, P boxsum.Pixel] struct {
	slices slices
	sums   sliceSums[S, P]
}

func newStream[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](width, height, channels int, opt *Options) (*Stream[S, P], error) {
	j, err := start[S, Q](&Volume[P]{Width: width, Height: height, Channels: channels}, opt, false)
	if err != nil {
		return nil, err
	}
	s := new(stream[S, P])
	s.slices.init(&j.Src.Extent, j.Set, grid.SizeOf[P](), grid.SizeOf[S]())
	err = s.sums.init(&s.slices, false, j.Sum.Offset)
	return grid.OrNil(&Stream[S, P]{s.push, j.Sum.Offset}, err)
}

func (s *stream[S, P]) push(slice boxsum.Image[P]) (sums boxsum.View[S], err error) {
	if err = s.sums.take(slice); err == nil {
		err = s.slices.run(&s.sums.layer)
	}
	return s.sums.give(err), err
}

// A SquaredStream is a [Stream] that makes the table of squares as well.
type SquaredStream[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel] struct {
	push func(boxsum.Image[P]) (boxsum.View[S], boxsum.View[Q], error) // of a squaredStream
}

// NewSquaredStream starts a pair of tables for slices of this size, with types
// as for [IntegrateSquares].
func NewSquaredStream[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](width, height, channels int, opt *Options) (*SquaredStream[S, Q, P], error) {
	list := &squaredStreams
	if !pairs.Usual[P, Q]() {
		list = &otherSquaredStreams
	}
	f, ok := list[pairs.Number[P, S]()].(func(width, height, channels int, opt *Options) (*SquaredStream[S, Q, P], error))
	if !ok {
		return nil, engine.NoSquares[P, S, Q]()
	}
	return f(width, height, channels, aside(opt))
}

// Push takes the next slice of voxels and gives the next slice of both tables,
// which are valid until the next Push.
func (s *SquaredStream[S, Q, P]) Push(slice boxsum.Image[P]) (sums boxsum.View[S], squares boxsum.View[Q], err error) {
	if s == nil || s.push == nil {
		return sums, squares, errNoStream()
	}
	return s.push(slice)
}

// A squaredStream is what is behind a [SquaredStream].
type squaredStream[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel] struct {
	slices  slices
	sums    sliceSums[S, P]
	squares sliceSums[Q, P]
}

func newSquaredStream[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](width, height, channels int, opt *Options) (*SquaredStream[S, Q, P], error) {
	j, err := start[S, Q](&Volume[P]{Width: width, Height: height, Channels: channels}, opt, true)
	if err != nil {
		return nil, err
	}
	s := new(squaredStream[S, Q, P])
	s.slices.init(&j.Src.Extent, j.Set, grid.SizeOf[P](), grid.SizeOf[S]()+grid.SizeOf[Q]())
	if err = s.sums.init(&s.slices, false, j.Sum.Offset); err == nil {
		err = s.squares.init(&s.slices, true, j.Squares.Offset)
	}
	return grid.OrNil(&SquaredStream[S, Q, P]{s.push}, err)
}

func (s *squaredStream[S, Q, P]) push(slice boxsum.Image[P]) (sums boxsum.View[S], squares boxsum.View[Q], err error) {
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
}

func (s *slices) init(e *grid.Extent, set engine.Settings, pixelBytes, sumBytes int) {
	s.extent, s.set = *e, set.Quiet()
	s.extent.Depth = 1
	s.plan = engine.Work{
		Rows: e.Height, N: e.Width * e.Channels, Channels: e.Channels,
		PixelBytes: pixelBytes, SumBytes: sumBytes, Workers: set.Workers(),
	}.Plan()
	s.plan.Writes, s.plan.Slices = kernel.Ahead, 1
}

func (s *slices) run(layers ...engine.Layer) error { return s.engine.Run(&s.set, &s.plan, layers...) }

// sliceSums is one table of a stream: the slice just made.
type sliceSums[S boxsum.Sum, P boxsum.Pixel] struct {
	layer layer[P, S]
	src   engine.Source[P]
	dst   engine.Target[S]
}

func (s *sliceSums[S, P]) init(all *slices, squares bool, offset float32) error {
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
	s.layer.Find(all.set.Level, squares)
	s.layer.Aim(&s.src, &s.dst)
	return s.layer.Prepare(&all.plan)
}

// take points the layer at the next slice.
func (s *sliceSums[S, P]) take(slice boxsum.Image[P]) error {
	s.src = engine.Source[P]{Pix: slice.Pix, Extent: grid.Plane(slice.Width, slice.Height, slice.Channels, slice.Stride)}
	if err := s.src.Pixels(len(slice.Pix)); err != nil {
		return err
	}
	if err := s.dst.Same(&s.src.Extent); err != nil {
		return err
	}
	s.layer.Aim(&s.src, &s.dst)
	return grid.Overlap(slice.Pix, s.dst.Sums)
}

// give is the slice that was made, unless that failed.
func (s *sliceSums[S, P]) give(err error) boxsum.View[S] {
	s.layer.Release()
	s.src.Pix = nil
	if err != nil {
		return boxsum.View[S]{}
	}
	d := &s.dst
	end := d.Height*d.Stride + (d.Width+1)*d.Channels
	return boxsum.View[S]{Sums: d.Sums[:end:end], Stride: d.Stride, Width: d.Width + 1, Height: d.Height + 1, Channels: d.Channels}
}
