package boxsum

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/pairs"
)

// A SquaredStream is a [Stream] that makes the table of squares as well.
type SquaredStream[S Sum, Q Square, P Pixel] struct {
	sums    *engine.Rows[S]
	squares *engine.Rows[Q]
}

// NewSquaredStream starts a pair of tables for rows of this many pixels and
// channels, with types as for [IntegrateSquares].
func NewSquaredStream[S Sum, Q Square, P Pixel](width, channels int, opt *Options) (*SquaredStream[S, Q, P], error) {
	sums, squares, err := squaredStreamOnce[S, Q](rawOf(&Image[P]{Width: width, Channels: channels}), opt)
	return grid.OrNil(&SquaredStream[S, Q, P]{sums, squares}, err)
}

// squaredStreamOnce is squaredStream, as this package has compiled it.
func squaredStreamOnce[S Sum, Q Square](like engine.Raw, opt *Options) (*engine.Rows[S], *engine.Rows[Q], error) {
	f := squaredStreams[pairs.NumberTwo[S, Q]()].(func(engine.Raw, *Options) (*engine.Rows[S], *engine.Rows[Q], error))
	return f(like, aside(opt))
}

func squaredStream[S Sum, Q Square](src engine.Raw, opt *Options) (sums *engine.Rows[S], squares *engine.Rows[Q], err error) {
	j, err := start[S, Q](src, opt, true)
	if err != nil {
		return sums, squares, err
	}
	if sums, err = engine.NewRows[S](j.Set, false, &j.Src, j.Sum.Offset, new(engine.Sums[S])); err == nil {
		squares, err = engine.NewRows[Q](j.Set, true, &j.Src, j.Squares.Offset, new(engine.Sums[Q]))
	}
	return sums, squares, err
}

// Push takes the next row of pixels and gives the next row of both tables,
// which are valid until the next Push.
func (s *SquaredStream[S, Q, P]) Push(row []P) (sums []S, squares []Q, err error) {
	if s == nil {
		s = new(SquaredStream[S, Q, P])
	}
	if sums, err = s.sums.Push(kernel.Bytes(row)); err == nil {
		squares, err = s.squares.Push(kernel.Bytes(row))
	}
	return sums, squares, err
}
