package filter

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
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
type Stream[D boxsum.Pixel, P Pixel] struct{ rows *stream }

// NewBoxStream returns a stream that applies [Box] to rows of the given width and number of
// channels. The border must not be Wrap, which needs the last rows above the first.
func NewBoxStream[P Pixel](width, channels int, w Window, opt *Options) (*Stream[P, P], error) {
	return newStream[P, P](width, channels, w, opt, mean, 0)
}

// NewMeanStream is like [NewBoxStream] for [Mean].
func NewMeanStream[D Float, P Pixel](width, channels int, w Window, opt *Options) (*Stream[D, P], error) {
	return newStream[D, P](width, channels, w, opt, mean, 0)
}

// NewStdDevStream is like [NewBoxStream] for [StdDev].
func NewStdDevStream[D Float, P Pixel](width, channels int, w Window, opt *Options) (*Stream[D, P], error) {
	return newStream[D, P](width, channels, w, opt, deviation, 0)
}

// NewVarianceStream is like [NewBoxStream] for [Variance].
func NewVarianceStream[D Float, P Pixel](width, channels int, w Window, opt *Options) (*Stream[D, P], error) {
	return newStream[D, P](width, channels, w, opt, variance, 0)
}

// NewNormalizeStream is like [NewBoxStream] for [Normalize].
func NewNormalizeStream[D Float, P Pixel](width, channels int, w Window, floor float64, opt *Options) (*Stream[D, P], error) {
	return newStream[D, P](width, channels, w, opt, normalized, floor)
}

func newStream[D boxsum.Pixel, P Pixel](width, channels int, w Window, opt *Options, k kind, floor float64) (*Stream[D, P], error) {
	j := job{kind: k, floor: floor, src: raster.Array{Type: raster.TypeOf[P](), Extent: raster.PlaneExtent(width, 0, channels, 0)}}
	if err := j.check(w, opt); err != nil {
		return nil, err
	}
	s, err := startStream(&j, raster.TypeOf[D](), w.Height)
	if err != nil {
		return nil, err
	}
	return &Stream[D, P]{s}, nil
}

// startStream returns a stream for a job whose image has no rows, with results of the given
// type.
func startStream(j *job, result raster.Type, height int) (*stream, error) {
	if j.shape.Border == window.Wrap {
		return nil, raster.Invalid("border wrap needs the last rows first, which a stream does not have (use another border)")
	}
	if j.counts() {
		return nil, raster.Unsupported("Options.Valid is not supported by streams (filter the whole image)")
	}
	if err := j.set.ProcessorOnly("streams"); err != nil {
		return nil, err
	}
	j.set = j.set.Quiet()
	j.src.Height = height // clipped windows have no more rows than this
	j.dst[0].Type, j.dst[0].Channels = result, j.src.Channels
	sum, square, err := j.sumTypes()
	if err != nil {
		return nil, err
	}
	s := &stream{job: *j}
	s.frame.Sum, s.frame.Square = sum, square
	return s, nil
}

// Push adds the next row of pixels and returns the next row of results, which is valid
// until the next call. It returns nil if that row depends on rows still to come.
func (s *Stream[D, P]) Push(row []P) ([]D, error) {
	if s == nil || s.rows == nil {
		return nil, raster.Invalid("the stream was not made by its constructor")
	}
	out, err := s.rows.push(raster.Bytes(row))
	return raster.Elems[D](out), err
}

// End ends the input. Each call returns another row of results, and nil after the last.
func (s *Stream[D, P]) End() ([]D, error) {
	if s == nil || s.rows == nil {
		return nil, raster.Invalid("the stream was not made by its constructor")
	}
	out, err := s.rows.finish()
	return raster.Elems[D](out), err
}

// A stream is a [Stream] whose types are data.
type stream struct {
	job     job
	frame   window.Frame
	sums    window.Sums
	scratch pixelScratch
	ring    [][]byte
	outside []byte
	out     []byte
	pushed  int // number of rows
	y       int // next row of results
	ended   bool
}

// Row implements [window.Rows].
func (s *stream) Row(place int) []byte {
	height := s.pushed
	if !s.ended {
		height = max(height, place+1) // mirrors reach further down
	}
	i := s.frame.Border.Index(place, height)
	if i < 0 {
		return s.outside
	}
	return s.ring[i%s.size()]
}

// size returns the number of rows to keep.
func (s *stream) size() int {
	return s.job.shape.Height() + max(s.job.shape.Up, s.job.shape.Down) + 3
}

func (s *stream) push(row []byte) ([]byte, error) {
	j := &s.job
	n, size := j.src.Width*j.src.Channels, j.src.Type.Bytes()
	switch {
	case s.ended:
		return nil, raster.Invalid("the stream has ended and accepts no more rows")
	case len(row) != n*size:
		return nil, raster.Invalid("row has %d values, want %d", len(row)/size, n)
	}
	if err := j.set.Stopped(); err != nil {
		return nil, err
	}
	if s.pushed == 0 {
		s.start(row)
	}
	if len(s.ring) < s.size() {
		s.ring = append(s.ring, engine.AtLeast[byte](nil, len(row)))
	}
	copy(s.ring[s.pushed%s.size()], row)
	s.pushed++
	if s.y+j.shape.Down >= s.pushed || j.shape.Up-s.y >= s.pushed {
		return nil, nil
	}
	return s.next(), nil
}

// start handles the first row.
func (s *stream) start(row []byte) {
	j := &s.job
	first := *j
	first.src.Data, first.src.Height = row, 1
	s.frame = first.frame(s.frame.Sum, s.frame.Square)
	s.frame.Height = 0
	s.out = engine.AtLeast[byte](nil, j.src.Width*j.src.Channels*j.dst[0].Type.Bytes())
	s.outside = window.OutsideRow(s.outside, &s.frame)
	if j.src.Width > 0 {
		s.sums.Aim(&s.frame)
		s.sums.Strip(0, s.frame.Width)
	}
}

// next returns the next row of results.
func (s *stream) next() []byte {
	pix := s.ring[s.y%s.size()]
	switch {
	case s.job.single():
		copy(s.out, pix)
	case s.job.src.Width > 0:
		s.sums.Down(s, s.y)
		s.job.makeRow(s.out, nil, pix, s.sums.Windows(), s.job.src.Width, &s.scratch)
	}
	s.y++
	return s.out
}

// finish returns the rows of results after the last row of pixels.
func (s *stream) finish() ([]byte, error) {
	if err := s.job.set.Stopped(); err != nil {
		return nil, err
	}
	if !s.ended && s.pushed > 0 {
		s.sums.End(s.pushed)
	}
	s.ended = true
	if s.y >= s.pushed {
		return nil, nil
	}
	return s.next(), nil
}
