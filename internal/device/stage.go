package device

import (
	"context"
	"iter"

	"github.com/boxsum/boxsum/internal/raster"
)

// A Stager holds images and tables in the memory of a device, or in page-locked memory. It
// is for programs that measure devices and learn types at run time; others use the generic
// functions of package gpu.
type Stager interface {
	Stage(*StageJob) (Stage, error)
	// StageRotated is like Stage for tables along the lines of a rotation. The job has the
	// first of the images; kernels is a gpu.Kernels.
	StageRotated(job *Rotated, images []raster.Array, kernels int) (Stage, error)
	Pipeline(context.Context, *PipelineJob) iter.Seq2[raster.Array, error]
	// LockedArray allocates an array in page-locked memory: an image, or the table of an image
	// of that size.
	LockedArray(t raster.Type, image raster.Extent, table bool) (locked raster.Array, free func() error, err error)
}

// A StageJob describes images and their tables.
type StageJob struct {
	Kind          Kind
	Images        []raster.Array // of one type and size; one volume
	Sums, Squares raster.Array   // on the host, for [Stage.Download]; Squares has no type if there is no table of squares
	Offset        float32        // see [Tables]
	Plain         bool           // do not choose an offset from the pixels
	Kernels       int            // a gpu.Kernels
}

// A Stage holds images and their tables on a device.
type Stage interface {
	Queue() error         // queues the work for all tables
	Download(i int) error // copies the tables of image i to the host
	Close() error
}

// A PipelineJob describes images that go through a device one after the other.
type PipelineJob struct {
	Pixel, Sum raster.Type
	Images     iter.Seq2[raster.Array, raster.Array] // the table to write to, which counts only if Given is set, and the image
	Given      bool
	Reuse      bool // see gpu.PipelineOptions
	InFlight   int
	Offset     float32
	Kernels    int // a gpu.Kernels
}
