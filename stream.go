package boxsum

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/pairs"
)

// A SquaredStream is a [Stream] that makes the table of squares as well.
type SquaredStream[S Sum, Q Square, P Pixel] struct {
	sums    engine.Rows[P, S]
	squares engine.Rows[P, Q]
}

// NewSquaredStream starts a pair of tables for rows of this many pixels and
// channels, with types as for [IntegrateSquares].
func NewSquaredStream[S Sum, Q Square, P Pixel](width, channels int, opt *Options) (*SquaredStream[S, Q, P], error) {
	list := &squaredStreams
	if !pairs.Usual[P, Q]() {
		list = &otherSquaredStreams
	}
	f, ok := list[pairs.Number[P, S]()].(func(width, channels int, opt *Options) (*SquaredStream[S, Q, P], error))
	if !ok {
		return nil, engine.NoSquares[P, S, Q]()
	}
	return f(width, channels, aside(opt))
}

func squaredStream[S Sum, Q Square, P Pixel](width, channels int, opt *Options) (*SquaredStream[S, Q, P], error) {
	j, err := start[S, Q](&Image[P]{Width: width, Channels: channels}, opt, true)
	if err != nil {
		return nil, err
	}
	s := new(SquaredStream[S, Q, P])
	if s.sums, err = engine.NewRows[P, S](j.Set, false, &j.Src.Extent, j.Sum.Offset, new(engine.Sums[P, S])); err == nil {
		s.squares, err = engine.NewRows[P, Q](j.Set, true, &j.Src.Extent, j.Squares.Offset, new(engine.Sums[P, Q]))
	}
	return grid.OrNil(s, err)
}

// Push takes the next row of pixels and gives the next row of both tables,
// which are valid until the next Push.
func (s *SquaredStream[S, Q, P]) Push(row []P) (sums []S, squares []Q, err error) {
	if s == nil {
		s = new(SquaredStream[S, Q, P])
	}
	if sums, err = s.sums.Push(row); err == nil {
		squares, err = s.squares.Push(row)
	}
	return sums, squares, err
}
