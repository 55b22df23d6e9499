package tilted

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
)

// A Stream makes a 45° table one row at a time, in memory proportional to one
// row, for images that never fit. Its rows are those of [Integrate], bit for
// bit. It is for one goroutine at a time.
type Stream[S boxsum.Sum, P boxsum.Pixel] struct {
	rows engine.Rows[P, S]
}

// NewStream starts a table for rows of this many pixels and channels. The
// table's row 0 is all zeros; the first Push gives row 1.
func NewStream[S boxsum.Sum, P boxsum.Pixel](width, channels int, opt *Options) (*Stream[S, P], error) {
	j, err := start[S, uint64](&boxsum.Image[P]{Width: width, Channels: channels}, opt, false)
	if err != nil {
		return nil, err
	}
	s := new(Stream[S, P])
	s.rows, err = engine.NewRows[P, S](j.Set, false, &j.Src.Extent, 0, new(layer[P, S]))
	return grid.OrNil(s, err)
}

// Push takes the next row of pixels and gives the next row of the table,
// (width+1)·channels sums, which is valid until the next Push.
func (s *Stream[S, P]) Push(row []P) ([]S, error) {
	if s == nil {
		s = new(Stream[S, P]) // which is an error as well
	}
	return s.rows.Push(row)
}
