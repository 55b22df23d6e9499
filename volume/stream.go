package volume

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
)

// A Stream computes a table one slice at a time, in memory proportional to one slice,
// for volumes that do not fit in memory. Its slices are bit-identical to those of
// [Integrate]. A Stream is not safe for concurrent use.
type Stream[S boxsum.Sum, P boxsum.Pixel] struct{ slices *engine.Slices }

// NewStream returns a Stream for slices of the given size; zero channels means one.
// Slice 0 of the table is all zeros; the first Push returns slice 1. Progress is not
// called, because the number of slices is not known.
func NewStream[S boxsum.Sum, P boxsum.Pixel](width, height, channels int, opt *Options) (*Stream[S, P], error) {
	var job engine.Job
	start(&job, &Volume[P]{Width: width, Height: height, Channels: channels}, raster.TypeOf[S](), 0, opt)
	slices, err := engine.NewSlices(&job)
	return raster.OrNil(&Stream[S, P]{slices}, err)
}

// Push adds the next slice of voxels and returns the next slice of the table,
// (width+1)×(height+1) entries. The result is valid until the next Push. Push
// returns an error if slice does not have the size and the channels of the
// stream.
func (s *Stream[S, P]) Push(slice boxsum.Image[P]) (sums boxsum.View[S], err error) {
	if s == nil {
		s = new(Stream[S, P]) // Push on it returns an error
	}
	made, _, err := s.slices.Push(sliceArray(&slice))
	if err != nil {
		return sums, err
	}
	return view[S](&made), nil
}

// Offset returns the value that is subtracted from every voxel; see
// [boxsum.Options.Offset]. The entries do not include it.
func (s *Stream[S, P]) Offset() float32 {
	if s == nil {
		return 0
	}
	return s.slices.Offset()
}

// A SquaredStream is a [Stream] that also computes the table of squares.
type SquaredStream[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel] struct{ slices *engine.Slices }

// NewSquaredStream returns a SquaredStream for slices of the given size. Zero
// channels means one. The supported types are those of [IntegrateSquares].
func NewSquaredStream[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](width, height, channels int, opt *Options) (*SquaredStream[S, Q, P], error) {
	var job engine.Job
	start(&job, &Volume[P]{Width: width, Height: height, Channels: channels}, raster.TypeOf[S](), raster.TypeOf[Q](), opt)
	slices, err := engine.NewSlices(&job)
	return raster.OrNil(&SquaredStream[S, Q, P]{slices}, err)
}

// Push adds the next slice of voxels and returns the next slice of both tables. The
// results are valid until the next Push. Push returns an error if slice does not
// have the size and the channels of the stream.
func (s *SquaredStream[S, Q, P]) Push(slice boxsum.Image[P]) (sums boxsum.View[S], squares boxsum.View[Q], err error) {
	if s == nil {
		s = new(SquaredStream[S, Q, P])
	}
	first, second, err := s.slices.Push(sliceArray(&slice))
	if err != nil {
		return sums, squares, err
	}
	return view[S](&first), view[Q](&second), nil
}

func sliceArray[P boxsum.Pixel](s *boxsum.Image[P]) raster.Array {
	return raster.ArrayOf(s.Pix, raster.PlaneExtent(s.Width, s.Height, s.Channels, s.Stride))
}

// view returns a slice of a table as a view of (width+1)×(height+1) entries.
func view[S boxsum.Sum](a *raster.Array) boxsum.View[S] {
	end := a.Height*a.Stride + (a.Width+1)*a.Channels
	return boxsum.View[S]{Sums: raster.Elems[S](a.Data)[:end:end], Stride: a.Stride, Width: a.Width + 1, Height: a.Height + 1, Channels: a.Channels}
}
