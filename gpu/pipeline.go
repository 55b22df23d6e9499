package gpu

import (
	"cmp"
	"context"
	"iter"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/gpu/internal/transfer"
	"github.com/boxsum/boxsum/internal/raster"
)

// PipelineOptions configures a [Pipeline]. Nil and the zero value suit most uses.
type PipelineOptions struct {
	// Offset, Plain and Kernels have the same meaning as in [Options].
	Offset  float32
	Plain   bool
	Kernels Kernels

	// BandRows divides every image into bands of this many rows, which are
	// processed one after another. Zero processes images whole if they fit in the
	// device's memory.
	BandRows int

	// InFlight is the maximum number of images in progress. The device needs memory
	// for this many images and tables. The host needs as much page-locked memory,
	// except for images and tables that are page-locked already, and memory for one
	// more table with Reuse. Zero selects a number that keeps the copies busy: 4 for
	// each device, or 8 if tables are newly allocated, which takes time.
	InFlight int

	// Reuse returns tables in the page-locked memory to which the device wrote them,
	// which saves a copy and an allocation for each. A table is valid until the loop
	// asks for the next one. After that, it is empty, and its Sums must not be used.
	// [PipelineInto] ignores Reuse; it is as fast and leaves tables to the caller.
	Reuse bool
}

// onDevice returns the options shared with work on a device.
func (o *PipelineOptions) onDevice() *Options {
	return &Options{Offset: o.Offset, Plain: o.Plain, Kernels: o.Kernels}
}

// Pipeline computes the tables of many images on a device, while other images are
// being copied to it and other tables from it:
//
//	for table, err := range gpu.Pipeline[uint32](ctx, d, images, &gpu.PipelineOptions{Reuse: true}) {
//		...
//	}
//
// Tables are returned in the order of the images, which may differ in size. If the
// table of an image cannot be computed, Pipeline yields an error in its place and
// continues with the next image. If the run ends early, its last error is the
// reason: the error of ctx when it is done, or [boxsum.ErrClosed]. A nil ctx is
// never done. If memory is short, fewer images are in flight. Images that are too
// large, or narrow and very tall, are processed in bands.
//
// Images are requested between one table and the next, never concurrently with the
// body of the loop, so neither has to be safe for concurrent use. When the next
// image is requested, at most InFlight-1 tables are outstanding: with InFlight 1,
// each table is returned at once, and nothing overlaps.
//
// The memory of an image may be reused when the next image is requested. The
// exception is an image from [NewHostImage], which the device reads directly: it
// must not change until its table is returned. It is therefore enough to use
// InFlight such images, or InFlight tables of [PipelineInto], in rotation.
//
// A device keeps the memory of a finished pipeline for the next one, until it is
// needed elsewhere or the device is closed.
func Pipeline[S boxsum.Sum, P boxsum.Pixel](ctx context.Context, d *Device, images iter.Seq[boxsum.Image[P]], opt *PipelineOptions) iter.Seq2[*boxsum.Table[S], error] {
	return pipeline(ctx, d, raster.TypeNamed[P](), intoNew[*boxsum.Table[S]](images), opt, sumTables[S](false))
}

// PipelineInto is like [Pipeline] but writes to existing tables: each image comes
// with its table, which must have the size of the image and must not overlap it. A
// table belongs to the pipeline until the loop receives it, possibly with an error.
// The caller may then use it for another image. When the loop ends early, all
// tables belong to the caller again.
//
// The device writes directly to tables from [NewHostTable], which is as fast as
// [PipelineOptions.Reuse]. For all other tables, the CPU copies the results.
func PipelineInto[S boxsum.Sum, P boxsum.Pixel](ctx context.Context, d *Device, images iter.Seq2[*boxsum.Table[S], boxsum.Image[P]], opt *PipelineOptions) iter.Seq2[*boxsum.Table[S], error] {
	return pipeline(ctx, d, raster.TypeNamed[P](), arrays(images), opt, sumTables[S](true))
}

// PipelineSquares is like [Pipeline] but computes the tables of images and of their
// squares. The supported types are those of [boxsum.IntegrateSquares].
func PipelineSquares[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](ctx context.Context, d *Device, images iter.Seq[boxsum.Image[P]], opt *PipelineOptions) iter.Seq2[*boxsum.SquaredTable[S, Q], error] {
	return pipeline(ctx, d, raster.TypeNamed[P](), intoNew[*boxsum.SquaredTable[S, Q]](images), opt, squareTables[S, Q](false))
}

// PipelineSquaresInto is like [PipelineInto] but computes the tables of images and
// of their squares.
func PipelineSquaresInto[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](ctx context.Context, d *Device, images iter.Seq2[*boxsum.SquaredTable[S, Q], boxsum.Image[P]], opt *PipelineOptions) iter.Seq2[*boxsum.SquaredTable[S, Q], error] {
	return pipeline(ctx, d, raster.TypeNamed[P](), arrays(images), opt, squareTables[S, Q](true))
}

// kindOf describes the tables T of a pipeline.
type kindOf[T any] struct {
	transfer.Tables[T]
	sum, square raster.Type
	take        func(w *transfer.Work, t T) error // makes work write to a table
}

func sumTables[S boxsum.Sum](given bool) kindOf[*boxsum.Table[S]] {
	return kindOf[*boxsum.Table[S]]{
		sum:  raster.TypeNamed[S](),
		take: func(w *transfer.Work, t *boxsum.Table[S]) error { return takePlanes(w, t, noPlaneSquares) },
		Tables: transfer.Tables[*boxsum.Table[S]]{
			Given: given,
			Fresh: freshTable[S],
			Over: func(w *transfer.Work, sums, _ devmem.Host) *boxsum.Table[S] {
				t := tableOver[S](w.Job, sums)
				describePlanes(w, t, noPlaneSquares)
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
		sum:    raster.TypeNamed[S](),
		square: raster.TypeNamed[Q](),
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
				describePlanes(w, t.Sum, t.Squares)
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

// freshTable returns a new table on the host for the sums of work.
func freshTable[S boxsum.Sum](w *transfer.Work) (*boxsum.Table[S], error) {
	t, err := transfer.NewTable[S](w.Job.Width, w.Job.Height, w.Job.Channels)
	if err != nil {
		return nil, err
	}
	describePlanes(w, t, noPlaneSquares)
	return t, nil
}

// freshSquares returns two new tables on the host for work.
func freshSquares[S boxsum.Sum, Q boxsum.Square](w *transfer.Work) (*boxsum.SquaredTable[S, Q], error) {
	width, height, channels := w.Job.Width, w.Job.Height, w.Job.Channels
	if err := raster.Fit(raster.PlaneExtent(width, height, channels, 0), raster.SizeOf[S]()+raster.SizeOf[Q]()); err != nil {
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
	describePlanes(w, sums, squares)
	return &boxsum.SquaredTable[S, Q]{Sum: sums, Squares: squares}, nil
}

// tableOver returns a table for the sums of a job in existing memory.
func tableOver[S boxsum.Sum](job method.Job, at devmem.Host) *boxsum.Table[S] {
	stride := int(at.Stride) / raster.TypeNamed[S]().Bytes()
	return &boxsum.Table[S]{
		Sums:   unsafe.Slice((*S)(at.At), job.Height*stride+(job.Width+1)*job.Channels),
		Stride: stride,
		Width:  job.Width, Height: job.Height, Channels: job.Channels,
		Offset: float32(job.Offset),
	}
}

// intoNew pairs each image with a nil table.
func intoNew[T any, P boxsum.Pixel](images iter.Seq[boxsum.Image[P]]) iter.Seq2[T, raster.Array] {
	if images == nil {
		return nil
	}
	return func(yield func(T, raster.Array) bool) {
		var none T
		for im := range images {
			if !yield(none, arrayOfImage(im)) {
				return
			}
		}
	}
}

// arrays erases the type of the pixels of images.
func arrays[T any, P boxsum.Pixel](images iter.Seq2[T, boxsum.Image[P]]) iter.Seq2[T, raster.Array] {
	if images == nil {
		return nil
	}
	return func(yield func(T, raster.Array) bool) {
		for table, im := range images {
			if !yield(table, arrayOfImage(im)) {
				return
			}
		}
	}
}

// arrayOfImage returns an image, which has not been checked, as an array.
func arrayOfImage[P boxsum.Pixel](im boxsum.Image[P]) raster.Array {
	return raster.ArrayOf(im.Pix, raster.PlaneExtent(im.Width, im.Height, im.Channels, im.Stride))
}

// mostInFlight limits the number of images in flight: more is a mistake, and even
// empty slots take some memory.
const mostInFlight = 1 << 16

func pipeline[T any](ctx context.Context, d *Device, pixel raster.Type, images iter.Seq2[T, raster.Array], opt *PipelineOptions, kind kindOf[T]) iter.Seq2[T, error] {
	if ctx == nil {
		ctx = context.Background()
	}
	if opt == nil {
		opt = &PipelineOptions{}
	}
	check := func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := method.PairError(pixel, kind.sum, kind.square); err != nil {
			return err
		}
		if opt.InFlight < 0 || opt.InFlight > mostInFlight {
			return raster.Invalid("images in flight is %d, want 1 to %d", opt.InFlight, mostInFlight)
		}
		if opt.BandRows < 0 {
			return raster.Invalid("band is %d rows, want 1 or more", opt.BandRows)
		}
		_, err := opt.onDevice().check(pixel, kind.sum, "")
		return err
	}
	works := func(yield func(T, *transfer.Work, error) bool) {
		if images == nil {
			return
		}
		for table, im := range images {
			w, err := workPlane(&im, kind.sum, kind.square, opt)
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
