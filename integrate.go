package boxsum

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
)

// Integrate returns the table of an image:
//
//	table, err := boxsum.Integrate[uint32](img, nil)
//
// The package documentation lists the supported pairs of pixel and sum types under
// Types. For any other pair, Integrate returns an error that wraps [ErrTypes] and names
// the sum types that the pixel type supports.
func Integrate[S Sum, P Pixel](src Image[P], opt *Options) (*Table[S], error) {
	var job engine.Job
	src.set(&job.Src)
	opt.start(&job, raster.TypeOf[S](), 0)
	if err := job.Check(); err != nil {
		return nil, err
	}
	t, err := NewTable[S](src.Width, src.Height, src.Channels)
	if err != nil {
		return nil, err
	}
	t.set(&job.Sums.Array)
	if err := job.Run(); err != nil {
		return nil, err
	}
	t.adopt(&job.Sums)
	return t, nil
}

// IntegrateInto computes the table of an image and stores it in dst, which must have
// the size of the image and must not overlap it. Repeated calls with images of the same
// type do not allocate. The memory of dst may be the caller's own; zero Channels and
// Stride mean the same as in an [Image]. Tables from [NewTable] are aligned, which
// makes writing to them faster.
func IntegrateInto[S Sum, P Pixel](dst *Table[S], src Image[P], opt *Options) error {
	var job engine.Job
	src.set(&job.Src)
	opt.start(&job, raster.TypeOf[S](), 0)
	if err := job.Check(); err != nil {
		return err
	}
	if dst == nil {
		return raster.NoTable()
	}
	dst.set(&job.Sums.Array)
	if err := job.Run(); err != nil {
		return err
	}
	dst.adopt(&job.Sums)
	return nil
}

// adopt copies what a job has determined about the table: defaults for zero fields, the
// offset and the bound of the pixels.
func (t *Table[S]) adopt(made *engine.Table) {
	t.Channels, t.Stride, t.Offset = made.Channels, made.Stride, made.Offset
	t.Bound, t.Signed, t.first, t.valid = made.Known.Bound, false, nil, nil
}

// A SquaredTable holds the table of an image and the table of its squares, which
// together give the variance and standard deviation of any box.
//
// If all pixels are floats that lie far from zero, an offset is subtracted before they
// are summed and squared; see [Options.Offset]. The entries of Squares are then sums of
// the squared differences between the pixels and the offset.
type SquaredTable[S Sum, Q Square] struct {
	Sum     *Table[S]
	Squares *Table[Q]
}

// NewSquaredTable allocates the table of an image of the given size and the table of
// its squares. Zero channels means one. NewSquaredTable returns an error that wraps
// [ErrInvalid] if an argument is negative, and one that wraps [ErrMemory] if there
// is not enough memory.
func NewSquaredTable[S Sum, Q Square](width, height, channels int) (*SquaredTable[S, Q], error) {
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

// IntegrateSquares returns the table of an image and the table of its squares, computed in
// one pass over the pixels. It supports the same pairs of pixel and sum types as
// [Integrate]. The squares are uint64 or float64 for integer pixels, and float64 for
// float pixels:
//
//	table, err := boxsum.IntegrateSquares[uint32, uint64](img, nil)
func IntegrateSquares[S Sum, Q Square, P Pixel](src Image[P], opt *Options) (*SquaredTable[S, Q], error) {
	var job engine.Job
	src.set(&job.Src)
	opt.start(&job, raster.TypeOf[S](), raster.TypeOf[Q]())
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
func IntegrateSquaresInto[S Sum, Q Square, P Pixel](dst *SquaredTable[S, Q], src Image[P], opt *Options) error {
	var job engine.Job
	src.set(&job.Src)
	opt.start(&job, raster.TypeOf[S](), raster.TypeOf[Q]())
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
	t.join()
	return nil
}

// SquaredTableOf combines a table with the table of the squares of the same pixels. The
// tables must have the same size; their memory may have been filled elsewhere. The
// [Table.Offset] of squares must be 0 or equal to that of sum. If it is not 0, queries
// of squares read sum as well, to add the offset back.
func SquaredTableOf[S Sum, Q Square](sum *Table[S], squares *Table[Q]) (*SquaredTable[S, Q], error) {
	if err := sum.room(0, 0); err != nil {
		return nil, err
	}
	size := sum.extent()
	if err := sameSize(squares, &size); err != nil {
		return nil, err
	}
	if squares.Offset != 0 && squares.Offset != sum.Offset {
		return nil, raster.Invalid("the squares have offset %v, want %v like the sums, or 0", squares.Offset, sum.Offset)
	}
	t := &SquaredTable[S, Q]{Sum: sum, Squares: squares}
	t.join()
	return t, nil
}

// join links squares with an offset to the sums, which are needed to add it back.
func (t *SquaredTable[S, Q]) join() {
	t.Squares.first = nil
	if t.Squares.Offset != 0 {
		t.Squares.first = t.Sum
	}
}
