package filter

import (
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/pairs"
	"github.com/boxsum/boxsum/internal/window"
)

// A Stream filters rows as they come, for images that never are in memory as a whole: it
// keeps about twice as many rows as a window has. The results are the same bits as those
// of the whole image. It is for one goroutine.
//
//	s, err := filter.NewBoxStream[uint8](width, 1, filter.Radius(7), nil)
//	for ... {
//		out, err := s.Push(row) // nil at first: a window also has rows below
//	}
//	for out, err := s.End(); out != nil; out, err = s.End() {
//	}
type Stream[D boxsum.Pixel, P Pixel] struct{ rows *stream }

// NewBoxStream starts a [Box] for rows of this many pixels and channels. The border cannot
// be Wrap, which has the last rows above the first.
func NewBoxStream[P Pixel](width, channels int, w Window, opt *Options) (*Stream[P, P], error) {
	return newStream[P, P](width, channels, w, opt, mean, 0)
}

// NewMeanStream is the same for [Mean].
func NewMeanStream[D Float, P Pixel](width, channels int, w Window, opt *Options) (*Stream[D, P], error) {
	return newStream[D, P](width, channels, w, opt, mean, 0)
}

// NewStdDevStream is the same for [StdDev].
func NewStdDevStream[D Float, P Pixel](width, channels int, w Window, opt *Options) (*Stream[D, P], error) {
	return newStream[D, P](width, channels, w, opt, deviation, 0)
}

// NewVarianceStream is the same for [Variance].
func NewVarianceStream[D Float, P Pixel](width, channels int, w Window, opt *Options) (*Stream[D, P], error) {
	return newStream[D, P](width, channels, w, opt, variance, 0)
}

// NewNormalizeStream is the same for [Normalize].
func NewNormalizeStream[D Float, P Pixel](width, channels int, w Window, floor float64, opt *Options) (*Stream[D, P], error) {
	return newStream[D, P](width, channels, w, opt, normalized, floor)
}

func newStream[D boxsum.Pixel, P Pixel](width, channels int, w Window, opt *Options, k kind, floor float64) (*Stream[D, P], error) {
	s, err := startStream(pairs.TypeOf[D](), window.Pixels{Of: pairs.TypeOf[P](), Size: grid.SizeOf[P](), Extent: grid.Plane(width, 0, channels, 0)}, w, opt, k, floor)
	if err != nil {
		return nil, err
	}
	return &Stream[D, P]{s}, nil
}

// startStream is a stream of results of a type, from rows like those of an image without any.
func startStream(of pairs.Type, src window.Pixels, w Window, opt *Options, k kind, floor float64) (*stream, error) {
	s := &stream{task: task{kind: k, floor: floor}}
	t := &s.task
	if err := t.check(&src, w, opt); err != nil {
		return nil, err
	}
	if !(floor >= 0) || floor > math.MaxFloat64 {
		return nil, grid.Invalid("a least deviation of %v: use 0 or more", floor)
	}
	if t.shape.Border == window.Wrap {
		return nil, grid.Invalid("the border wrap has the last rows above the first: a stream cannot know them, use another")
	}
	t.set = t.set.Quiet()
	t.src.Height = w.Height // of which a window has no more, where it is clipped
	t.dst[0].Of, t.dst[0].Size, t.dst[0].Channels = of, of.Bytes(), t.src.Channels
	switch t.sums() {
	case noSums:
		return nil, grid.Invalid("windows of %d×%d are too large for their sums: use smaller ones", t.shape.Width(), t.shape.Height())
	case shortSums:
		s.sums = new(streamSums[uint32, uint32])
	case mixedSums:
		s.sums = new(streamSums[uint32, uint64])
	case longSums:
		s.sums = new(streamSums[uint64, uint64])
	default:
		s.sums = new(streamSums[float64, float64])
	}
	return s, nil
}

// Push takes the next row of pixels and gives the next row of results, which stays until
// the next call, or nil where it needs rows that are still to come.
func (s *Stream[D, P]) Push(row []P) ([]D, error) {
	if s == nil || s.rows == nil {
		return nil, grid.Invalid("a stream that was not made by its constructor")
	}
	out, err := s.rows.push(kernel.Bytes(row))
	return kernel.Of[D](out), err
}

// End says that there are no more rows. Each call gives another row of results, and nil
// when there are no more.
func (s *Stream[D, P]) End() ([]D, error) {
	if s == nil || s.rows == nil {
		return nil, grid.Invalid("a stream that was not made by its constructor")
	}
	out, err := s.rows.finish()
	return kernel.Of[D](out), err
}

// A stream is what does not depend on types.
type stream struct {
	task    task
	frame   window.Frame
	sums    rowSums
	ring    [][]byte
	outside []byte
	out     []byte
	pushed  int // rows
	y       int // the next row of results
	ended   bool
}

// rowSums are the sums of a stream.
type rowSums interface {
	start(f *window.Frame)
	// row makes a row of results, for the pixels that the windows are round.
	row(out []byte, rows window.Rows, y int, t *task, pix []byte)
	End(height int)
}

type streamSums[A, Q kernel.Number] struct{ window.Sums[A, Q] }

func (s *streamSums[A, Q]) start(f *window.Frame) {
	s.Aim(f)
	s.Strip(0, f.Width)
}

func (s *streamSums[A, Q]) row(out []byte, rows window.Rows, y int, t *task, pix []byte) {
	s.Down(rows, y)
	makeRow(t, out, 0, 0, t.src.Width, pix, s.Windows())
}

// Row implements [window.Rows].
func (s *stream) Row(place int) []byte {
	height := s.pushed
	if !s.ended {
		height = max(height, place+1) // mirrors are further down
	}
	i := s.frame.Border.Index(place, height)
	if i < 0 {
		return s.outside
	}
	return s.ring[i%s.size()]
}

// size is how many rows it keeps.
func (s *stream) size() int {
	return s.task.shape.Height() + max(s.task.shape.Up, s.task.shape.Down) + 3
}

func (s *stream) push(row []byte) ([]byte, error) {
	t := &s.task
	n, size := t.src.Width*t.src.Channels, t.src.Size
	switch {
	case s.ended:
		return nil, grid.Invalid("a row after the end of the stream")
	case len(row) != n*size:
		return nil, grid.Invalid("a row of %d values, the stream takes %d", len(row)/size, n)
	}
	if err := t.set.Stopped(); err != nil {
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
	if s.y+t.shape.Down >= s.pushed || t.shape.Up-s.y >= s.pushed {
		return nil, nil
	}
	return s.next(), nil
}

// start is for the first row.
func (s *stream) start(row []byte) {
	t := &s.task
	first := t.src
	first.Mem, first.Height = row, 1
	s.frame = frameOf(&first, &t.shape, t.kind.squares(), t.set.Level)
	s.frame.Height = 0
	s.out = engine.AtLeast[byte](nil, t.src.Width*t.src.Channels*t.dst[0].Size)
	s.outside = window.OutsideRow(s.outside, &s.frame)
	if t.src.Width > 0 {
		s.sums.start(&s.frame)
	}
}

// next is the next row of results.
func (s *stream) next() []byte {
	pix := s.ring[s.y%s.size()]
	switch {
	case s.task.single():
		copy(s.out, pix)
	case s.task.src.Width > 0:
		s.sums.row(s.out, s, s.y, &s.task, pix)
	}
	s.y++
	return s.out
}

// finish is for what follows the last row.
func (s *stream) finish() ([]byte, error) {
	if err := s.task.set.Stopped(); err != nil {
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
