package boxsum

import (
	"context"

	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
)

// A Device is a GPU or another accelerator that computes tables and filters images
// instead of the processor; see [Options.On]. Package gpu provides devices; no other
// type implements the interface.
type Device interface {
	// Wait waits until all work queued on the device is done, and returns the error of
	// any work that failed.
	Wait() error
	// Close waits for work in progress, then frees the device and all of its memory.
	Close() error
	// Err returns nil while the device can be used, and an error that wraps [ErrClosed]
	// once it is closed.
	Err() error
	sealed
}

type sealed = device.Sealed

// Options configures the computation of a table. Nil and the zero value select the
// best settings for the machine.
type Options struct {
	// On is the device to use, a *gpu.Device. It may combine several devices, as
	// gpu.OpenAll returns. Nil selects the processor. Image and table stay in host
	// memory, and need not fit the device's memory. Integer tables are bit-identical to
	// those made by the processor. An operation that the device does not support
	// returns an error; it never falls back to the processor.
	On Device

	// BandRows is the number of rows of an image, or slices of a volume, that a device
	// processes at a time. Zero selects a number that suits its memory. The processor
	// ignores it.
	BandRows int

	// Workers is the maximum number of goroutines that work at once. Zero means
	// GOMAXPROCS. Small images use fewer. A device ignores it.
	Workers int

	// Level is the instruction set to use; the zero Level selects the best. On a
	// device, the zero Level selects the fastest kernels and portable those that run on
	// every device; any other level is an error.
	Level Level

	// Batch is the number of images in the batch that this image belongs to, if several
	// images of this size are integrated one after another. If all their tables
	// together do not fit the caches near the cores, each table is written directly to
	// memory. A device ignores it.
	Batch int

	// Offset is subtracted from every pixel before summing and squaring, and added back
	// by box queries. Subtracting the mean keeps float sums small and therefore nearly
	// exact. Offset is for float pixels, and for float32 sums of any pixels. For float32
	// pixels, differences from the offset are rounded to float32, so pixels that are much
	// nearer to zero than the offset lose digits.
	//
	// If Offset is zero and a sample of float pixels suggests that all lie far from
	// zero, tables of squares choose an offset themselves. Plain prevents this: the
	// entries are then sums of the unchanged pixels.
	Offset float32
	Plain  bool

	// Context cancels the computation when it is done. The call then returns an error
	// that wraps the context's, and the contents of its destination are undefined. A
	// nil Context never cancels.
	Context context.Context

	// Progress, if not nil, is called from time to time, on the goroutine of the
	// caller, with the fraction of the work that is done. The last call has the
	// argument 1.
	Progress func(done float64)
}

// engine returns the options that are common to all kinds of tables.
func (o *Options) engine() engine.Options {
	if o == nil {
		return engine.Options{}
	}
	return engine.Options{
		On: o.On, BandRows: o.BandRows, Workers: o.Workers, Level: o.Level.name, Batch: o.Batch, Context: o.Context, Progress: o.Progress,
	}
}

// start sets up the job of making the table of an image, and that of its squares unless
// squares is 0. It works in place because copying a job takes as long as checking it.
func (o *Options) start(j *engine.Job, sums, squares raster.Type) {
	j.Sums.Type, j.Squares.Type = sums, squares
	if o != nil {
		j.Options, j.Offset, j.Plain = o.engine(), o.Offset, o.Plain
	}
}
