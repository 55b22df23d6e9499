package filters

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// A Stream filters rows as they arrive; see package filter.
type Stream struct {
	job     Job
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

// NewStream returns a stream for a job whose source is an image without rows, and whose result has only a
// type.
func NewStream(j *Job) (*Stream, error) {
	if err := j.Check(); err != nil {
		return nil, err
	}
	if j.shape.Border == window.Wrap {
		return nil, raster.Invalid("border wrap needs the last rows first, which a stream does not have (use another border)")
	}
	if j.counts() {
		return nil, raster.Unsupported("masks and skipped NaN are not supported by streams (filter the whole image)")
	}
	if err := j.set.ProcessorOnly("streams"); err != nil {
		return nil, err
	}
	s := &Stream{job: *j}
	own := &s.job
	own.set = j.set.Quiet()
	own.Src.Height = j.Window.Height // clipped windows have no more rows than this
	own.Dst.Channels = j.Src.Channels
	sum, square, err := own.sumTypes()
	if err != nil {
		return nil, err
	}
	s.frame.Sum, s.frame.Square = sum, square
	return s, nil
}

// Row implements [window.Rows].
func (s *Stream) Row(place int) []byte {
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
func (s *Stream) size() int {
	return s.job.shape.Height() + max(s.job.shape.Up, s.job.shape.Down) + 3
}

// Push adds the next row of pixels and returns the next row of results, or nil if that depends on rows still
// to come.
func (s *Stream) Push(row []byte) ([]byte, error) {
	j := &s.job
	n, size := j.Src.Width*j.Src.Channels, j.Src.Type.Bytes()
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
func (s *Stream) start(row []byte) {
	j := &s.job
	first := *j
	first.Src.Data, first.Src.Height = row, 1
	s.frame = first.frame(s.frame.Sum, s.frame.Square)
	s.frame.Height = 0
	s.out = engine.AtLeast[byte](nil, j.Src.Width*j.Src.Channels*j.Dst.Type.Bytes())
	s.outside = window.OutsideRow(s.outside, &s.frame)
	if j.Src.Width > 0 {
		s.sums.Aim(&s.frame)
		s.sums.Strip(0, s.frame.Width)
	}
}

// next returns the next row of results.
func (s *Stream) next() []byte {
	pix := s.ring[s.y%s.size()]
	switch {
	case s.job.single():
		copy(s.out, pix)
	case s.job.Src.Width > 0:
		s.sums.Down(s, s.y)
		s.job.makeRow(s.out, nil, pix, s.sums.Windows(), s.job.Src.Width, &s.scratch)
	}
	s.y++
	return s.out
}

// End returns the rows of results after the last row of pixels.
func (s *Stream) End() ([]byte, error) {
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
