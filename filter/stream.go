package filter

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/filters"
	"github.com/boxsum/boxsum/internal/raster"
)

// A Stream filters rows as they arrive, for images that are never entirely in memory. It
// keeps about twice as many rows as a window is high. Results are bit-identical to those
// for the whole image. A Stream is not safe for concurrent use.
//
//	s, err := filter.NewBoxStream[uint8](width, 1, filter.Radius(7), nil)
//	for ... {
//		out, err := s.Push(row) // nil at first: a window also has rows below
//	}
//	for out, err := s.End(); out != nil; out, err = s.End() {
//	}
type Stream[D boxsum.Pixel, P Pixel] struct{ rows *filters.Stream }

// NewBoxStream returns a stream that applies [Box] to rows of width pixels. Zero channels
// means one. The border must not be [Wrap], for which the first windows would need the
// last rows. Streams do not support [Options.Valid] and [Options.On].
func NewBoxStream[P Pixel](width, channels int, w Window, opt *Options) (*Stream[P, P], error) {
	return newStream[P, P](width, channels, w, opt, filters.Mean, 0)
}

// NewMeanStream is like [NewBoxStream] but applies [Mean], which returns floats of type D.
func NewMeanStream[D Float, P Pixel](width, channels int, w Window, opt *Options) (*Stream[D, P], error) {
	return newStream[D, P](width, channels, w, opt, filters.Mean, 0)
}

// NewStdDevStream is like [NewBoxStream] but applies [StdDev], which returns floats of
// type D.
func NewStdDevStream[D Float, P Pixel](width, channels int, w Window, opt *Options) (*Stream[D, P], error) {
	return newStream[D, P](width, channels, w, opt, filters.Deviation, 0)
}

// NewVarianceStream is like [NewBoxStream] but applies [Variance], which returns floats of
// type D.
func NewVarianceStream[D Float, P Pixel](width, channels int, w Window, opt *Options) (*Stream[D, P], error) {
	return newStream[D, P](width, channels, w, opt, filters.Variance, 0)
}

// NewNormalizeStream is like [NewBoxStream] but applies [Normalize] with the given floor,
// which must not be negative. Results are floats of type D.
func NewNormalizeStream[D Float, P Pixel](width, channels int, w Window, floor float64, opt *Options) (*Stream[D, P], error) {
	return newStream[D, P](width, channels, w, opt, filters.Normalized, floor)
}

func newStream[D boxsum.Pixel, P Pixel](width, channels int, w Window, opt *Options, k filters.Kind, floor float64) (*Stream[D, P], error) {
	j := filters.Job{Kind: k, Floor: floor}
	setJob(&j, &boxsum.Image[P]{Width: width, Channels: channels}, w, opt)
	j.Dst.Type = raster.TypeOf[D]()
	s, err := filters.NewStream(&j)
	if err != nil {
		return nil, err
	}
	return &Stream[D, P]{s}, nil
}

// Push adds the next row of pixels, width·channels values, and returns the next row of
// results, which has as many. It returns nil if that row depends on rows still to come.
// The result is valid until the next call of Push or End.
func (s *Stream[D, P]) Push(row []P) ([]D, error) {
	if s == nil || s.rows == nil {
		return nil, raster.Invalid("uninitialized stream (use its constructor)")
	}
	out, err := s.rows.Push(raster.Bytes(row))
	return raster.Elems[D](out), err
}

// End ends the input. Each call returns the next remaining row of results, which is valid
// until the next call; after the last row, End returns nil. Push must not be called after
// End.
func (s *Stream[D, P]) End() ([]D, error) {
	if s == nil || s.rows == nil {
		return nil, raster.Invalid("uninitialized stream (use its constructor)")
	}
	out, err := s.rows.End()
	return raster.Elems[D](out), err
}
