package boxsum

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
)

// A Stream computes a table one row at a time, in memory proportional to one row, for
// images that do not fit in memory. Its rows are bit-identical to those of [Integrate].
// A Stream is not safe for concurrent use.
type Stream[S Sum, P Pixel] struct{ rows *engine.Rows }

// NewStream returns a Stream for rows of width pixels. Zero channels means one. Row 0
// of the table is all zeros; the first Push returns row 1.
func NewStream[S Sum, P Pixel](width, channels int, opt *Options) (*Stream[S, P], error) {
	var job engine.Job
	(&Image[P]{Width: width, Channels: channels}).set(&job.Src)
	opt.start(&job, raster.TypeOf[S](), 0)
	rows, err := engine.NewRows(&job)
	return raster.OrNil(&Stream[S, P]{rows}, err)
}

// Push adds the next row of pixels and returns the next row of the table,
// (width+1)·channels sums. The result is valid until the next Push. Push
// returns an error if row does not have width·channels values.
func (s *Stream[S, P]) Push(row []P) ([]S, error) {
	if s == nil {
		s = new(Stream[S, P]) // Push on it returns an error
	}
	sums, _, err := s.rows.Push(raster.Bytes(row))
	if err != nil {
		return nil, err
	}
	return raster.Elems[S](sums), nil
}

// A SquaredStream is a [Stream] that also computes the table of squares.
type SquaredStream[S Sum, Q Square, P Pixel] struct{ rows *engine.Rows }

// NewSquaredStream returns a SquaredStream for rows of width pixels. Zero channels
// means one. The supported types are those of [IntegrateSquares].
func NewSquaredStream[S Sum, Q Square, P Pixel](width, channels int, opt *Options) (*SquaredStream[S, Q, P], error) {
	var job engine.Job
	(&Image[P]{Width: width, Channels: channels}).set(&job.Src)
	opt.start(&job, raster.TypeOf[S](), raster.TypeOf[Q]())
	rows, err := engine.NewRows(&job)
	return raster.OrNil(&SquaredStream[S, Q, P]{rows}, err)
}

// Push adds the next row of pixels and returns the next row of both tables,
// (width+1)·channels entries each. The results are valid until the next Push.
// Push returns an error if row does not have width·channels values.
func (s *SquaredStream[S, Q, P]) Push(row []P) (sums []S, squares []Q, err error) {
	if s == nil {
		s = new(SquaredStream[S, Q, P])
	}
	first, second, err := s.rows.Push(raster.Bytes(row))
	if err != nil {
		return nil, nil, err
	}
	return raster.Elems[S](first), raster.Elems[Q](second), nil
}
