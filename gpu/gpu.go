// Package gpu makes summed-area tables on graphics processors.
//
// It needs no toolkit and no cgo: the drivers, CUDA's and OpenCL's, are opened
// at run time, and the kernels are part of the package. [Devices] lists what
// there is, and [OpenBest] opens the best of it:
//
//	d, err := gpu.OpenBest()
//	...
//	defer d.Close()
//	table, err := gpu.IntegrateHost[uint32](d, img, nil)
//
// [IntegrateHost] goes from host memory to host memory, also where the device
// cannot hold it all. To keep pixels and tables on the device between calls,
// [Upload] images, [Integrate] them, ask [Table.SumBoxes], and Close what is no
// longer needed, and likewise with [UploadVolume] and [IntegrateVolume], or with
// [IntegrateHistogram]; one [Image] and one [Table] hold a batch of any number of
// images of the same size. [Pipeline] takes any number of images from host memory
// to host memory, with copies in, kernels and copies out all at once. Both go over
// several devices that [OpenAll] opens as one. Memory and
// streams of other libraries on the device are used in place by package interop.
//
// # Exactness
//
// The pairs of types are those of package boxsum, and so are the tables: integers
// to the bit, floats to within rounding. What the host gets knows its pixels, so
// that means and variances are right, or NaN, for boxes of any size, as those of
// tables of the CPU. An entry of floats is off by at most about
//
//	(W + H + 16) · 2^-24 · Σ|p|    in float32, and
//	(W + H + 16) · 2^-53 · Σ|p|    in float64,
//
// where Σ|p| adds up the magnitudes of the pixels in [0,x)×[0,y). It has the same
// bits from run to run of the same kernels in the same bands.
//
// # Calls
//
// Devices, images and tables are safe for use by several goroutines. Calls that
// work on the device only ([IntegrateInto]) return as soon as the work is
// queued and run in the order of the calls; those that return data wait for it.
//
// # Compiled kernels
//
// OpenCL compiles kernels when they are first used. They are kept for the next
// process in the folder boxsum/opencl of [os.UserCacheDir], or in the one that
// the environment variable BOXSUM_OPENCL_CACHE names; "off" keeps nothing.
package gpu

import (
	"context"
	"fmt"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/internal/pairs"
)

// ErrNoDevice is wrapped by the error that says why there is no device.
var ErrNoDevice = driver.ErrNoDevice

// Kernels is which way tables are made.
type Kernels int

const (
	// AutoKernels is the fastest way that the device and its driver have.
	AutoKernels Kernels = iota
	// Portable kernels run everywhere; they read pixels twice.
	Portable
	// Fast kernels read pixels once. They need CUDA 11.1 on a device of compute
	// capability 8.0 and at most four channels, of volumes one; elsewhere
	// asking for them is an error.
	Fast
)

// Options is how to integrate; nil and the zero value mean the best for the
// device.
type Options struct {
	// Offset is subtracted from every pixel before summing and squaring, and put
	// back by box queries, as in the options of package boxsum: it is for float
	// pixels, and for float32 sums of any.
	//
	// Tables of squares of float pixels choose one by themselves, as there, where
	// it is zero and all pixels lie far from zero, as a few of them tell. Of images
	// on the device these few are fetched, so that the call waits for the work
	// before it. Plain keeps tables from it: then the entries are the sums of the
	// pixels as they are. So they are of tables in memory of other libraries and
	// on their streams, where nobody else would know of the offset, or wait.
	Offset float32
	Plain  bool

	// Kernels is which way to go; [AutoKernels] picks the fastest.
	Kernels Kernels

	// BandRows is how many rows, or slices of a volume, go to the device at a time
	// where image and table are on the host. Zero stands for what suits its memory.
	BandRows int

	// Context ends a call, which then returns an error that wraps that of the context
	// and leaves the table undefined. Nil never does.
	Context context.Context

	// Progress is called with the fraction that is done, on the goroutine of the caller,
	// where image and table are on the host. The last call is with 1.
	Progress func(done float64)
}

// check reports what is wrong with the options for a table of these pixels and sums. A table
// without an offset has a reason for it.
func (o *Options) check(pixel, sum pairs.Type, noOffset string) (Options, error) {
	if o == nil {
		return Options{}, nil
	}
	offset := float64(o.Offset)
	switch {
	case offset-offset != 0:
		return *o, fmt.Errorf("gpu: %w: an offset of %v", boxsum.ErrInvalid, offset)
	case offset != 0 && noOffset != "":
		return *o, fmt.Errorf("gpu: %w: %s", boxsum.ErrTypes, noOffset)
	case offset != 0 && sum != pairs.F32 && !(pixel.Float() && sum.Float()):
		return *o, fmt.Errorf("gpu: %w: an offset is for float pixels and for float32 sums, not for %s in %s", boxsum.ErrTypes, pixel, sum)
	case o.BandRows < 0:
		return *o, fmt.Errorf("gpu: %w: bands of %d rows", boxsum.ErrInvalid, o.BandRows)
	case o.Kernels < AutoKernels || o.Kernels > Fast:
		return *o, fmt.Errorf("gpu: %w: no kernels are number %d", boxsum.ErrTypes, o.Kernels)
	case o.Context != nil && o.Context.Err() != nil:
		return *o, fmt.Errorf("gpu: %w", o.Context.Err())
	}
	return *o, nil
}

// way is the kernels as package method calls them.
func (k Kernels) way() method.Way {
	return [...]method.Way{method.Auto, method.Portable, method.OnePass}[k]
}
