package tilted

import (
	"fmt"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
)

// A Stream makes a 45° table one row at a time, in memory proportional to one
// row, for images that never fit. Its rows are those of [Integrate], bit for
// bit. It is for one goroutine at a time.
type Stream[S boxsum.Sum, P boxsum.Pixel] struct {
	layer engine.Tilted[P, S]
	rows  []S // row 0, which is never shown, and the one just made
	y     int
}

// NewStream starts a table for rows of this many pixels and channels. The
// table's row 0 is all zeros; the first Push gives row 1.
func NewStream[S boxsum.Sum, P boxsum.Pixel](width, channels int, opt *boxsum.Options) (*Stream[S, P], error) {
	f, err := sumKernel[S, P](opt)
	if err != nil {
		return nil, err
	}
	t, err := NewTable[S](width, 1, channels)
	if err != nil {
		return nil, err
	}
	s := &Stream[S, P]{rows: t.Sums}
	s.layer = engine.Tilted[P, S]{
		Kernel: f,
		Dst:    t.Sums, DstStride: t.Stride,
		N: width * t.Channels, Channels: t.Channels,
	}
	s.layer.Prepare(s.grid(), 1)
	return s, nil
}

func (s *Stream[S, P]) grid() engine.Grid { return engine.Grid{Rows: 1, N: s.layer.N, BandRows: 1} }

// Push takes the next row of pixels and gives the next row of the table,
// (width+1)·channels sums, which is valid until the next Push.
func (s *Stream[S, P]) Push(row []P) ([]S, error) {
	if s.layer.Kernel == nil {
		return nil, fmt.Errorf("tilted: %w: a stream that was not made by its constructor", boxsum.ErrInvalid)
	}
	if len(row) != s.layer.N {
		return nil, fmt.Errorf("tilted: %w: a row of %d values, the stream takes %d", boxsum.ErrInvalid, len(row), s.layer.N)
	}
	s.layer.Src = row
	s.layer.Row(s.y)
	s.layer.Src = nil
	s.y++
	return s.rows[s.layer.DstStride:][:s.layer.N+s.layer.Channels], nil
}
