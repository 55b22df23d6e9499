package tilted

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
)

// Integrate returns the 45° table of an image. The supported pairs of pixel and sum
// types are those of [boxsum.Integrate]. For example:
//
//	table, err := tilted.Integrate[uint32](img, nil)
func Integrate[S boxsum.Sum, P boxsum.Pixel](src boxsum.Image[P], opt *Options) (*Table[S], error) {
	var job engine.Job
	start(&job, &src, raster.TypeOf[S](), 0, opt)
	if err := job.Check(); err != nil {
		return nil, err
	}
	t, err := NewTable[S](src.Width, src.Height, src.Channels)
	if err != nil {
		return nil, err
	}
	return raster.OrNil(t, t.fill(&job))
}

// IntegrateInto computes the table of an image and stores it in dst, which must have
// the size of the image and must not overlap it. Repeated calls with images of the same
// type do not allocate. The memory of dst may be the caller's own; zero Channels and
// Stride mean the same as in a [boxsum.Image]. Tables from [NewTable] are aligned,
// which makes writing to them faster.
func IntegrateInto[S boxsum.Sum, P boxsum.Pixel](dst *Table[S], src boxsum.Image[P], opt *Options) error {
	var job engine.Job
	start(&job, &src, raster.TypeOf[S](), 0, opt)
	if err := job.Check(); err != nil {
		return err
	}
	return dst.fill(&job)
}

// fill makes the table of a checked job.
func (t *Table[S]) fill(job *engine.Job) error {
	if t == nil {
		return raster.NoTable()
	}
	t.set(&job.Sums.Array)
	if err := job.Run(); err != nil {
		return err
	}
	t.adopt(&job.Sums)
	return nil
}

// adopt copies the defaults for zero fields and the bound of the pixels from a job.
func (t *Table[S]) adopt(made *engine.Table) {
	t.Channels, t.Stride, t.Bound, t.Signed = made.Channels, made.Stride, made.Known.Bound, false
}

// A SquaredTable holds the 45° table of an image and the table of its squares, which together
// give the variance and standard deviation of any box.
type SquaredTable[S boxsum.Sum, Q boxsum.Square] struct {
	Sum     *Table[S]
	Squares *Table[Q]
}

// NewSquaredTable allocates the 45° table of an image of the given size and the 45°
// table of its squares. Zero channels means one. NewSquaredTable returns an error
// that wraps [boxsum.ErrInvalid] if an argument is negative, and one that wraps
// [boxsum.ErrMemory] if there is not enough memory.
func NewSquaredTable[S boxsum.Sum, Q boxsum.Square](width, height, channels int) (*SquaredTable[S, Q], error) {
	if err := raster.Fit(raster.PlaneExtent(width, height, channels, 0), raster.SizeOf[S]()+raster.SizeOf[Q]()); err != nil {
		return nil, err
	}
	sum, err := NewTable[S](width, height, channels)
	if err != nil {
		return nil, err
	}
	squares, err := NewTable[Q](width, height, channels)
	return raster.OrNil(&SquaredTable[S, Q]{Sum: sum, Squares: squares}, err)
}

// IntegrateSquares returns the 45° table of an image and the table of its squares,
// computed in one pass over the pixels. The supported types are those of
// [boxsum.IntegrateSquares]. For example:
//
//	table, err := tilted.IntegrateSquares[uint32, uint64](img, nil)
func IntegrateSquares[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](src boxsum.Image[P], opt *Options) (*SquaredTable[S, Q], error) {
	var job engine.Job
	start(&job, &src, raster.TypeOf[S](), raster.TypeOf[Q](), opt)
	if err := job.Check(); err != nil {
		return nil, err
	}
	t, err := NewSquaredTable[S, Q](src.Width, src.Height, src.Channels)
	if err != nil {
		return nil, err
	}
	return raster.OrNil(t, t.fill(&job))
}

// IntegrateSquaresInto is like [IntegrateSquares] but stores the tables in dst. Both
// tables of dst must have the size of the image, and they must overlap neither the
// image nor each other. Repeated calls with images of the same type do not allocate.
func IntegrateSquaresInto[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](dst *SquaredTable[S, Q], src boxsum.Image[P], opt *Options) error {
	var job engine.Job
	start(&job, &src, raster.TypeOf[S](), raster.TypeOf[Q](), opt)
	if err := job.Check(); err != nil {
		return err
	}
	return dst.fill(&job)
}

// fill makes the tables of a checked job.
func (t *SquaredTable[S, Q]) fill(job *engine.Job) error {
	if t == nil || t.Sum == nil || t.Squares == nil {
		return raster.NoTable()
	}
	t.Sum.set(&job.Sums.Array)
	t.Squares.set(&job.Squares.Array)
	if err := job.Run(); err != nil {
		return err
	}
	t.Sum.adopt(&job.Sums)
	t.Squares.adopt(&job.Squares)
	return nil
}

// A Stream computes a 45° table one row at a time, in memory proportional to one row,
// for images that do not fit in memory. Its rows are bit-identical to those of
// [Integrate]. A Stream is not safe for concurrent use.
type Stream[S boxsum.Sum, P boxsum.Pixel] struct{ rows *engine.Rows }

// NewStream returns a Stream for rows of width pixels. Zero channels means one. Row 0
// of the table is all zeros; the first Push returns row 1.
func NewStream[S boxsum.Sum, P boxsum.Pixel](width, channels int, opt *Options) (*Stream[S, P], error) {
	var job engine.Job
	start(&job, &boxsum.Image[P]{Width: width, Channels: channels}, raster.TypeOf[S](), 0, opt)
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
