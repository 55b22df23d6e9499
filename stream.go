package boxsum

import (
	"fmt"

	"github.com/boxsum/boxsum/internal/kernel"
)

// A Stream makes a table one row at a time, in memory proportional to one row,
// for images that never fit. Its rows are those of [Integrate], bit for bit. It
// is for one goroutine at a time.
type Stream[S Sum, P Pixel] struct {
	rows rowSums[S, P]
}

// NewStream starts a table for rows of this many pixels and channels. The
// table's row 0 is all zeros; the first Push gives row 1.
func NewStream[S Sum, P Pixel](width, channels int, opt *Options) (*Stream[S, P], error) {
	opt, level, err := opt.checked()
	if err != nil {
		return nil, err
	}
	f := kernel.Sums[P, S](level)
	if err := pairError[S, P](f); err != nil {
		return nil, err
	}
	if err := offsetError[S](opt.Offset); err != nil {
		return nil, err
	}
	s := new(Stream[S, P])
	if err := s.rows.init(f, width, channels, opt.Offset); err != nil {
		return nil, err
	}
	return s, nil
}

// Push takes the next row of pixels and gives the next row of the table,
// (width+1)·channels sums, which is valid until the next Push.
func (s *Stream[S, P]) Push(row []P) ([]S, error) {
	if err := s.rows.check(row); err != nil {
		return nil, err
	}
	return s.rows.push(row), nil
}

// A SquaredStream is a [Stream] that makes the table of squares as well.
type SquaredStream[S Sum, Q Square, P Pixel] struct {
	sums    rowSums[S, P]
	squares rowSums[Q, P]
}

// NewSquaredStream starts a pair of tables for rows of this many pixels and
// channels, with types as for [IntegrateSquares].
func NewSquaredStream[S Sum, Q Square, P Pixel](width, channels int, opt *Options) (*SquaredStream[S, Q, P], error) {
	opt, level, err := opt.checked()
	if err != nil {
		return nil, err
	}
	sum, square, err := squaresPair[S, Q, P](level)
	if err != nil {
		return nil, err
	}
	if err := offsetError[S](opt.Offset); err != nil {
		return nil, err
	}
	s := new(SquaredStream[S, Q, P])
	if err := s.sums.init(sum, width, channels, opt.Offset); err != nil {
		return nil, err
	}
	if err := s.squares.init(square, width, channels, 0); err != nil {
		return nil, err
	}
	return s, nil
}

// Push takes the next row of pixels and gives the next row of both tables,
// which are valid until the next Push.
func (s *SquaredStream[S, Q, P]) Push(row []P) (sums []S, squares []Q, err error) {
	if err := s.sums.check(row); err != nil {
		return nil, nil, err
	}
	return s.sums.push(row), s.squares.push(row), nil
}

// rowSums is one table of a stream: the row above and the row just made.
type rowSums[S Sum, P Pixel] struct {
	kernel kernel.Func[P, S]
	tile   kernel.Tile[P, S]
	row    []S
}

func (r *rowSums[S, P]) init(f kernel.Func[P, S], width, channels int, offset float32) error {
	channels = orOne(channels)
	if err := (&Table[S]{Width: width, Channels: channels}).checkSize(); err != nil {
		return err
	}
	n := width * channels
	row, err := allocate[S](n + channels)
	if err != nil {
		return err
	}
	above, err := allocate[S](n + kernel.Slack)
	if err != nil {
		return err
	}
	r.kernel, r.row = f, row
	r.tile = kernel.Tile[P, S]{
		Dst:      row[channels:],
		Above:    above,
		Carry:    make([]S, kernel.CarryLen(channels)),
		Rows:     1,
		N:        n,
		Channels: channels,
		Offset:   offset,
	}
	return nil
}

func (r *rowSums[S, P]) check(row []P) error {
	if r.kernel == nil {
		return fmt.Errorf("boxsum: %w: a stream that was not made by its constructor", ErrInvalid)
	}
	if len(row) != r.tile.N {
		return fmt.Errorf("boxsum: %w: a row of %d values, the stream takes %d", ErrInvalid, len(row), r.tile.N)
	}
	return nil
}

func (r *rowSums[S, P]) push(row []P) []S {
	clear(r.tile.Carry)
	r.tile.Src = row
	r.kernel(&r.tile)
	r.tile.Src = nil
	return r.row
}
