package gpu

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/gpu/internal/transfer"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/pairs"
)

// PipelineOptions is how a [Pipeline] runs; nil and the zero value suit most.
type PipelineOptions struct {
	// Offset, Plain and Kernels are those of [Options].
	Offset  float32
	Plain   bool
	Kernels Kernels

	// BandRows has every image go through in bands of this many rows, one after
	// another.
	BandRows int

	// InFlight is how many images are under way at a time, at most. It bounds
	// the memory of a pipeline, which is that of as many images and tables on
	// the device, and as much that is page-locked on the host, except for what
	// is page-locked already; with Reuse it is one more. Zero stands for what
	// keeps the copies busy: 4 for each device, and 8 where tables are new, since
	// memory for these takes its time.
	InFlight int

	// Reuse hands tables out in the page-locked memory that the device wrote
	// them to, which saves a copy and new memory for each. A table is valid
	// until the loop asks for the next one, and empty from then on; its Sums,
	// if kept, must not be used. [PipelineInto], which does not heed Reuse, is
	// as fast and leaves tables to the caller.
	Reuse bool
}

// Pipeline makes the tables of many images on a device, while others are on
// their way there and back:
//
//	for table, err := range gpu.Pipeline[uint32](ctx, d, images, &gpu.PipelineOptions{Reuse: true}) {
//		...
//	}
//
// Tables come in the order of the images, which may differ in size. An image
// that cannot have a table has an error in its place, and the next one follows.
// What ends the run early comes once, as the last error: that of ctx when it is
// done, or [boxsum.ErrClosed]. A nil ctx is never done. Where memory is short, fewer images are in flight, and
// those that are too large go in bands as in [IntegrateHost], as do those that are
// narrow and very tall.
//
// Images are asked for between one table and the next, never beside the body of
// the loop, so that neither has to know of goroutines. Before the next image is
// asked for, at most InFlight-1 tables are still owed: with InFlight 1 each table
// comes at once, and nothing overlaps. The memory of an image is free when the next
// one is asked for, except that of [NewHostImage], which the device reads
// directly: it must stay as it is until the table is there. As many images as
// may be in flight can therefore take turns, and as many tables of [PipelineInto].
//
// A device keeps the memory of a pipeline that has come to its end for the next
// one, until it is needed or the device is closed.
func Pipeline[S boxsum.Sum, P boxsum.Pixel](ctx context.Context, d *Device, images iter.Seq[boxsum.Image[P]], opt *PipelineOptions) iter.Seq2[*boxsum.Table[S], error] {
	return pipeline(ctx, d, intoNew[*boxsum.Table[S]](images), opt, sumTables[S](false))
}

// PipelineInto is [Pipeline] into tables that are already there: each image comes
// with the table that it goes into, which must have its size and may not lie in its
// memory. A table is the pipeline's until it comes out; then it is the caller's
// again, for good or for another image. It comes out beside an error of its image,
// too, and after a loop that has ended early all are the caller's.
//
// A device writes into a [NewHostTable] directly, which is as fast as Reuse; into
// other tables processors copy.
func PipelineInto[S boxsum.Sum, P boxsum.Pixel](ctx context.Context, d *Device, images iter.Seq2[*boxsum.Table[S], boxsum.Image[P]], opt *PipelineOptions) iter.Seq2[*boxsum.Table[S], error] {
	return pipeline(ctx, d, images, opt, sumTables[S](true))
}

// PipelineSquares is [Pipeline] for the tables of images and those of their
// squares. The types go together as in [boxsum.IntegrateSquares].
func PipelineSquares[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](ctx context.Context, d *Device, images iter.Seq[boxsum.Image[P]], opt *PipelineOptions) iter.Seq2[*boxsum.SquaredTable[S, Q], error] {
	return pipeline(ctx, d, intoNew[*boxsum.SquaredTable[S, Q]](images), opt, squareTables[S, Q](false))
}

// PipelineSquaresInto is [PipelineInto] for the tables of images and those of
// their squares.
func PipelineSquaresInto[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](ctx context.Context, d *Device, images iter.Seq2[*boxsum.SquaredTable[S, Q], boxsum.Image[P]], opt *PipelineOptions) iter.Seq2[*boxsum.SquaredTable[S, Q], error] {
	return pipeline(ctx, d, images, opt, squareTables[S, Q](true))
}

// kindOf is what a pipeline must know of the tables T that it makes.
type kindOf[T any] struct {
	transfer.Tables[T]
	sum, square pairs.Type
	take        func(w *transfer.Work, t T) error // has work go into a table
}

func sumTables[S boxsum.Sum](given bool) kindOf[*boxsum.Table[S]] {
	return kindOf[*boxsum.Table[S]]{
		sum:  pairs.Of[S](),
		take: func(w *transfer.Work, t *boxsum.Table[S]) error { return takePlanes(w, t, noPlaneSquares) },
		Tables: transfer.Tables[*boxsum.Table[S]]{
			Given: given,
			Fresh: freshTable[S],
			Over: func(w *transfer.Work, sums, _ devmem.Host) *boxsum.Table[S] {
				t := tableOver[S](w.Job, sums)
				tellPlanes(w, t, noPlaneSquares)
				return t
			},
			Rows: func(t *boxsum.Table[S]) (sums, squares devmem.Host) {
				return devmem.HostRows(t.Sums, t.Stride), devmem.Host{}
			},
			Empty: func(t *boxsum.Table[S]) { *t = boxsum.Table[S]{} },
		},
	}
}

func squareTables[S boxsum.Sum, Q boxsum.Square](given bool) kindOf[*boxsum.SquaredTable[S, Q]] {
	return kindOf[*boxsum.SquaredTable[S, Q]]{
		sum:    pairs.Of[S](),
		square: pairs.Of[Q](),
		take: func(w *transfer.Work, t *boxsum.SquaredTable[S, Q]) error {
			if t == nil || t.Squares == nil {
				return errNoHostTable
			}
			return takePlanes(w, t.Sum, t.Squares)
		},
		Tables: transfer.Tables[*boxsum.SquaredTable[S, Q]]{
			Given: given,
			Fresh: freshSquares[S, Q],
			Over: func(w *transfer.Work, sums, squares devmem.Host) *boxsum.SquaredTable[S, Q] {
				t := &boxsum.SquaredTable[S, Q]{Sum: tableOver[S](w.Job, sums), Squares: tableOver[Q](w.Job, squares)}
				tellPlanes(w, t.Sum, t.Squares)
				return t
			},
			Rows: func(t *boxsum.SquaredTable[S, Q]) (sums, squares devmem.Host) {
				return devmem.HostRows(t.Sum.Sums, t.Sum.Stride), devmem.HostRows(t.Squares.Sums, t.Squares.Stride)
			},
			Empty: func(t *boxsum.SquaredTable[S, Q]) {
				*t.Sum, *t.Squares = boxsum.Table[S]{}, boxsum.Table[Q]{}
			},
		},
	}
}

// freshTable is a table of the host for the sums of work.
func freshTable[S boxsum.Sum](w *transfer.Work) (*boxsum.Table[S], error) {
	t, err := transfer.NewTable[S](w.Job.Width, w.Job.Height, w.Job.Channels)
	if err != nil {
		return nil, err
	}
	tellPlanes(w, t, noPlaneSquares)
	return t, nil
}

// freshSquares is both tables of the host for work.
func freshSquares[S boxsum.Sum, Q boxsum.Square](w *transfer.Work) (*boxsum.SquaredTable[S, Q], error) {
	width, height, channels := w.Job.Width, w.Job.Height, w.Job.Channels
	if err := grid.Fit(grid.Plane(width, height, channels, 0), grid.SizeOf[S]()+grid.SizeOf[Q]()); err != nil {
		return nil, err
	}
	sums, err := transfer.NewTable[S](width, height, channels)
	if err != nil {
		return nil, err
	}
	squares, err := transfer.NewTable[Q](width, height, channels)
	if err != nil {
		return nil, err
	}
	tellPlanes(w, sums, squares)
	return &boxsum.SquaredTable[S, Q]{Sum: sums, Squares: squares}, nil
}

// tableOver is a table for the sums of a job in memory that is already there.
func tableOver[S boxsum.Sum](job method.Job, at devmem.Host) *boxsum.Table[S] {
	stride := int(at.Stride) / pairs.Of[S]().Bytes()
	return &boxsum.Table[S]{
		Sums:   unsafe.Slice((*S)(at.At), job.Height*stride+(job.Width+1)*job.Channels),
		Stride: stride,
		Width:  job.Width, Height: job.Height, Channels: job.Channels,
		Offset: float32(job.Offset),
	}
}

// intoNew is images that have no tables yet.
func intoNew[T any, P boxsum.Pixel](images iter.Seq[boxsum.Image[P]]) iter.Seq2[T, boxsum.Image[P]] {
	if images == nil {
		return nil
	}
	return func(yield func(T, boxsum.Image[P]) bool) {
		var none T
		for im := range images {
			if !yield(none, im) {
				return
			}
		}
	}
}

// mostInFlight bounds the images under way: more is a mistake, and slots take some
// memory even if empty.
const mostInFlight = 1 << 16

func pipeline[T any, P boxsum.Pixel](ctx context.Context, d *Device, images iter.Seq2[T, boxsum.Image[P]], opt *PipelineOptions, kind kindOf[T]) iter.Seq2[T, error] {
	if ctx == nil {
		ctx = context.Background()
	}
	if opt == nil {
		opt = &PipelineOptions{}
	}
	o := &Options{Offset: opt.Offset, Plain: opt.Plain, Kernels: opt.Kernels, BandRows: opt.BandRows}
	check := func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := method.PairError(pairs.Of[P](), kind.sum, kind.square); err != nil {
			return err
		}
		if opt.InFlight < 0 || opt.InFlight > mostInFlight {
			return fmt.Errorf("gpu: %w: %d images in flight: between 1 and %d can be", boxsum.ErrInvalid, opt.InFlight, mostInFlight)
		}
		_, err := o.check(pairs.Of[P](), kind.sum, "")
		return err
	}
	works := func(yield func(T, *transfer.Work, error) bool) {
		if images == nil {
			return
		}
		for table, im := range images {
			w, err := workPlane(&im, kind.sum, kind.square, o)
			if err == nil && kind.Given {
				err = kind.take(w, table)
			}
			if !yield(table, w, err) {
				return
			}
		}
	}
	return func(yield func(T, error) bool) {
		if err := check(); err != nil {
			var none T
			yield(none, err)
			return
		}
		reuse, inFlight := opt.Reuse && !kind.Given, 8
		if opt.Reuse || kind.Given {
			inFlight = 4
		}
		shared := d.shared()
		transfer.Pipeline(ctx, shared, works, cmp.Or(opt.InFlight, inFlight*len(shared.Devices)), reuse, kind.Tables)(yield)
	}
}
