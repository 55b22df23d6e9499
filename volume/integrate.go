package volume

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
)

// Integrate returns the table of a volume. The supported pairs of voxel and sum
// types are those of [boxsum.Integrate]. For example:
//
//	table, err := volume.Integrate[uint32](vol, nil)
func Integrate[S boxsum.Sum, P boxsum.Pixel](src Volume[P], opt *Options) (*Table[S], error) {
	var job engine.Job
	start(&job, &src, raster.TypeOf[S](), 0, opt)
	if err := job.Check(); err != nil {
		return nil, err
	}
	t, err := NewTable[S](src.Width, src.Height, src.Depth, src.Channels)
	if err != nil {
		return nil, err
	}
	t.set(&job.Sums)
	if err := job.Run(); err != nil {
		return nil, err
	}
	t.adopt(&job.Sums)
	return t, nil
}

// IntegrateInto computes the table of a volume and stores it in dst, which must have
// the size of the volume and must not overlap it. Repeated calls with volumes of the
// same type do not allocate. The memory of dst may be the caller's own; zero Channels
// and strides mean the same as in a [Volume]. Tables from [NewTable] are aligned, which
// makes writing to them faster.
func IntegrateInto[S boxsum.Sum, P boxsum.Pixel](dst *Table[S], src Volume[P], opt *Options) error {
	var job engine.Job
	start(&job, &src, raster.TypeOf[S](), 0, opt)
	if err := job.Check(); err != nil {
		return err
	}
	if dst == nil {
		return raster.NoTable()
	}
	dst.set(&job.Sums)
	if err := job.Run(); err != nil {
		return err
	}
	dst.adopt(&job.Sums)
	return nil
}

// adopt copies what a job has determined about the table: defaults for zero fields, the
// offset and the bound of the voxels.
func (t *Table[S]) adopt(made *engine.Table) {
	t.Channels, t.Stride, t.SliceStride, t.Offset = made.Channels, made.Stride, made.SliceStride, made.Offset
	t.Bound, t.Signed, t.first = made.Known.Bound, false, nil
}

// A SquaredTable holds the table of a volume and the table of its squares, which together
// give the variance and standard deviation of any box. If all voxels are floats that
// lie far from zero, an offset is subtracted first, as in a [boxsum.SquaredTable].
type SquaredTable[S boxsum.Sum, Q boxsum.Square] struct {
	Sum     *Table[S]
	Squares *Table[Q]
}

// NewSquaredTable allocates the table of a volume of the given size and the table of
// its squares. Zero channels means one. NewSquaredTable returns an error that wraps
// [boxsum.ErrInvalid] if an argument is negative, and one that wraps
// [boxsum.ErrMemory] if there is not enough memory.
func NewSquaredTable[S boxsum.Sum, Q boxsum.Square](width, height, depth, channels int) (*SquaredTable[S, Q], error) {
	if err := raster.Fit(raster.VolumeExtent(width, height, depth, channels, 0, 0), raster.SizeOf[S]()+raster.SizeOf[Q]()); err != nil {
		return nil, advised(err)
	}
	sum, err := NewTable[S](width, height, depth, channels)
	if err != nil {
		return nil, err
	}
	squares, err := NewTable[Q](width, height, depth, channels)
	return raster.OrNil(&SquaredTable[S, Q]{Sum: sum, Squares: squares}, err)
}

// IntegrateSquares returns the table of a volume and the table of its squares,
// computed in one pass over the voxels. The supported types are those of
// [boxsum.IntegrateSquares]. For example:
//
//	table, err := volume.IntegrateSquares[uint32, uint64](vol, nil)
func IntegrateSquares[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](src Volume[P], opt *Options) (*SquaredTable[S, Q], error) {
	var job engine.Job
	start(&job, &src, raster.TypeOf[S](), raster.TypeOf[Q](), opt)
	if err := job.Check(); err != nil {
		return nil, err
	}
	t, err := NewSquaredTable[S, Q](src.Width, src.Height, src.Depth, src.Channels)
	if err != nil {
		return nil, err
	}
	return raster.OrNil(t, t.fill(&job))
}

// IntegrateSquaresInto is like [IntegrateSquares] but stores the tables in dst. Both
// tables of dst must have the size of the volume, and they must overlap neither the
// volume nor each other. Repeated calls with volumes of the same type do not allocate.
func IntegrateSquaresInto[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](dst *SquaredTable[S, Q], src Volume[P], opt *Options) error {
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
	t.Sum.set(&job.Sums)
	t.Squares.set(&job.Squares)
	if err := job.Run(); err != nil {
		return err
	}
	t.Sum.adopt(&job.Sums)
	t.Squares.adopt(&job.Squares)
	t.join()
	return nil
}

// SquaredTableOf combines a table with the table of the squares of the same voxels. The
// tables must have the same size; their memory may have been filled elsewhere. The
// [Table.Offset] of squares must be 0 or equal to that of sum. If it is not 0, queries
// of squares read sum as well, to add the offset back.
func SquaredTableOf[S boxsum.Sum, Q boxsum.Square](sum *Table[S], squares *Table[Q]) (*SquaredTable[S, Q], error) {
	if err := sum.room(0, 0); err != nil {
		return nil, err
	}
	if err := squares.room(0, 0); err != nil {
		return nil, err
	}
	size, other := sum.extent(), squares.extent()
	if err := other.Same(&size); err != nil {
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
