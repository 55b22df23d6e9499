package filter

import (
	"github.com/boxsum/boxsum"
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
type Stream[D boxsum.Pixel, P Pixel] struct{ rows rowStream[D, P] }

type rowStream[D boxsum.Pixel, P Pixel] interface {
	push(row []P) ([]D, error)
	end() ([]D, error)
}

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
	t := task[P, D]{kind: k, floor: floor}
	if err := t.check(&boxsum.Image[P]{Width: width, Channels: channels}, w, opt); err != nil {
		return nil, err
	}
	if !(floor >= 0) || floor > largest[float64]() {
		return nil, grid.Invalid("a least deviation of %v: use 0 or more", floor)
	}
	if t.shape.Border == window.Wrap {
		return nil, grid.Invalid("the border wrap has the last rows above the first: a stream cannot know them, use another")
	}
	t.set = t.set.Quiet()
	t.src.Height = w.Height // of which a window has no more, where it is clipped
	list := streams[:]
	if isFloat[P]() {
		list = floatStreams[:]
	}
	return list[pairs.NumberTwo[D, P]()].(func(task[P, D]) (*Stream[D, P], error))(t)
}

func streamFloats[D boxsum.Pixel, P Pixel](t task[P, D]) (*Stream[D, P], error) {
	return &Stream[D, P]{&streamOf[P, float64, float64, D]{task: t}}, nil
}

func streamTask[D boxsum.Pixel, P Pixel](t task[P, D]) (*Stream[D, P], error) {
	limit := t.area() * largest[P]()
	if t.kind.squares() {
		limit *= largest[P]()
	}
	s := new(Stream[D, P])
	switch {
	case limit >= 1<<63:
		return nil, grid.Invalid("windows of %d×%d are too large for their sums: use smaller ones", t.shape.Width(), t.shape.Height())
	case limit < 1<<32:
		s.rows = &streamOf[P, uint32, uint32, D]{task: t}
	case t.area()*largest[P]() < 1<<32:
		s.rows = &streamOf[P, uint32, uint64, D]{task: t}
	default:
		s.rows = &streamOf[P, uint64, uint64, D]{task: t}
	}
	return s, nil
}

// Push takes the next row of pixels and gives the next row of results, which stays until
// the next call, or nil where it needs rows that are still to come.
func (s *Stream[D, P]) Push(row []P) ([]D, error) {
	if s == nil || s.rows == nil {
		return nil, grid.Invalid("a stream that was not made by its constructor")
	}
	return s.rows.push(row)
}

// End says that there are no more rows. Each call gives another row of results, and nil
// when there are no more.
func (s *Stream[D, P]) End() ([]D, error) {
	if s == nil || s.rows == nil {
		return nil, grid.Invalid("a stream that was not made by its constructor")
	}
	return s.rows.end()
}

// streamOf is a stream with sums of these types.
type streamOf[P Pixel, A, Q kernel.Number, D boxsum.Pixel] struct {
	task    task[P, D]
	frame   window.Frame
	sums    window.Sums[P, A, Q]
	ring    [][]P
	outside []P
	out     []D
	pushed  int // rows
	y       int // the next row of results
	ended   bool
}

// Row implements [window.Rows].
func (s *streamOf[P, A, Q, D]) Row(place int) []P {
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
func (s *streamOf[P, A, Q, D]) size() int {
	return s.task.shape.Height() + max(s.task.shape.Up, s.task.shape.Down) + 3
}

func (s *streamOf[P, A, Q, D]) push(row []P) ([]D, error) {
	t := &s.task
	n := t.src.Width * t.src.Channels
	switch {
	case s.ended:
		return nil, grid.Invalid("a row after the end of the stream")
	case len(row) != n:
		return nil, grid.Invalid("a row of %d values, the stream takes %d", len(row), n)
	}
	if err := t.set.Stopped(); err != nil {
		return nil, err
	}
	if s.pushed == 0 {
		s.start(row)
	}
	if len(s.ring) < s.size() {
		s.ring = append(s.ring, make([]P, n))
	}
	copy(s.ring[s.pushed%s.size()], row)
	s.pushed++
	if s.y+t.shape.Down >= s.pushed || t.shape.Up-s.y >= s.pushed {
		return nil, nil
	}
	return s.next(), nil
}

// start is for the first row.
func (s *streamOf[P, A, Q, D]) start(row []P) {
	t := &s.task
	first := t.src
	first.Image(row, t.src.Width, 1, t.src.Channels, 0)
	s.frame = frameOf(&first, &t.shape, t.kind.squares(), t.set.Level)
	s.frame.Height = 0
	s.out = make([]D, len(row))
	s.outside = window.OutsideRow(s.outside, &s.frame)
	if t.src.Width > 0 {
		s.sums.Aim(&s.frame)
		s.sums.Strip(0, t.src.Width)
	}
}

// next is the next row of results.
func (s *streamOf[P, A, Q, D]) next() []D {
	t, n := &s.task, s.task.src.Width
	if same, ok := any(s.out).([]P); ok && t.kind <= mean && t.shape.Width() == 1 && t.shape.Height() == 1 {
		copy(same, s.ring[s.y%s.size()])
	} else if n > 0 {
		s.sums.Down(s, s.y)
		t.dst[0] = target[D]{s.out, len(s.out)}
		makeRow(t, s.out, 0, 0, n, s.ring[s.y%s.size()], s.sums.Windows())
	}
	s.y++
	return s.out
}

func (s *streamOf[P, A, Q, D]) end() ([]D, error) {
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
