// Package gpu computes summed-area tables on GPUs.
//
// It needs neither a toolkit nor cgo: it loads the CUDA and OpenCL drivers at run
// time, and contains its kernels. [Devices] lists the available devices, and
// [OpenBest] opens the best one:
//
//	d, err := gpu.OpenBest()
//	...
//	defer d.Close()
//	table, err := boxsum.Integrate[uint32](img, &boxsum.Options{On: d})
//
// With [boxsum.Options.On], and the options of that name in other packages, images
// and results stay in host memory and may be larger than the device's memory. To
// keep pixels and tables on the device between calls, [Upload] images, [Integrate]
// them, query [Table.SumBoxes], and Close what is no longer needed; [UploadVolume],
// [IntegrateVolume] and [IntegrateHistogram] work likewise. An [Image] or a [Table]
// holds a batch of any number of images of the same size. [Pipeline] processes a
// sequence of images from host memory to host memory, and overlaps copies in,
// kernels and copies out. Both can use several devices that [OpenAll] opens as one.
// Package interop uses device memory and streams of other libraries in place.
//
// # Exactness
//
// The supported pairs of types are those of package boxsum, and the tables are the
// same: integers bit for bit, floats within rounding. Tables returned to the host
// know the range of their pixels, so means and variances of boxes of any size are
// correct or NaN, as for tables computed on the CPU. An entry of floats is off by
// at most about
//
//	(W + H + 16) · 2^-24 · Σ|p|    in float32, and
//	(W + H + 16) · 2^-53 · Σ|p|    in float64,
//
// where Σ|p| is the sum of the magnitudes of the pixels in [0,x)×[0,y). Results are
// bit-identical from run to run for the same kernels and bands.
//
// # Concurrency
//
// Devices, images and tables are safe for concurrent use. Calls that work only on
// the device, such as [IntegrateInto], return as soon as the work is queued, and
// their work runs in the order of the calls. Calls that return data wait for it.
//
// # Compiled kernels
//
// OpenCL compiles kernels on first use. They are cached for other processes in the
// folder boxsum/opencl of [os.UserCacheDir], or in the folder given by the
// environment variable BOXSUM_OPENCL_CACHE; "off" disables the cache.
package gpu

import (
	"context"

	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/internal/raster"
)

// Errors to test for with [errors.Is].
var (
	// ErrNoDevice is wrapped by errors that explain why there is no device.
	ErrNoDevice = driver.ErrNoDevice
	// ErrDevice is wrapped by errors that CUDA or OpenCL report, except for a lack of
	// memory, which is [boxsum.ErrMemory].
	ErrDevice = driver.ErrDevice
)

// Kernels selects the kernels that compute tables: those that run on every device, or
// faster ones for CUDA.
type Kernels int

const (
	// AutoKernels selects the fastest kernels that the device and its driver
	// support.
	AutoKernels Kernels = iota
	// Portable selects kernels that every device supports. They read pixels twice.
	Portable
	// Fast selects kernels that read pixels once. They require CUDA 11.1, a device of
	// compute capability 8.0, and images of at most four channels, or volumes of one.
	// If they are not supported, the call returns an error.
	Fast
)

// Options configures how tables are computed on a device. Nil and the zero value
// select the best settings for the device.
type Options struct {
	// Offset is subtracted from every pixel before summing and squaring, and added
	// back by box queries, like [boxsum.Options.Offset]. It is for float pixels, and
	// for float32 sums of any pixels.
	//
	// If Offset is zero and a sample of float pixels suggests that all lie far from
	// zero, tables of squares choose an offset themselves. For images on the device,
	// the call then waits for earlier work to fetch this sample. Plain prevents this:
	// the entries are then sums of the unchanged pixels. Tables in the memory of other
	// libraries, or on their streams, are always plain, because those libraries would
	// not know about the offset.
	Offset float32
	Plain  bool

	// Kernels selects the kernels; [AutoKernels] selects the fastest.
	Kernels Kernels

	// Context cancels a call when it is done. The call then returns an error that
	// wraps the context's, and the contents of the table are undefined. A nil Context
	// never cancels.
	Context context.Context
}

// check validates the options for tables of the given types. If tables have no
// offset, noOffset is the reason.
func (o *Options) check(pixel, sum raster.Type, noOffset string) (Options, error) {
	if o == nil {
		return Options{}, nil
	}
	offset := float64(o.Offset)
	switch {
	case offset-offset != 0:
		return *o, raster.Invalid("offset is %v, want a finite number", offset)
	case offset != 0 && noOffset != "":
		return *o, raster.Unsupported("%s", noOffset)
	case offset != 0 && sum != raster.F32 && !(pixel.Float() && sum.Float()):
		return *o, raster.Unsupported("offset is %v, want 0 for sums of %s pixels in %s (offsets require float pixels or float32 sums)", offset, pixel, sum)
	case o.Kernels < AutoKernels || o.Kernels > Fast:
		return *o, raster.Unsupported("unknown kernels %d, want AutoKernels, Portable or Fast", o.Kernels)
	case o.Context != nil && o.Context.Err() != nil:
		return *o, o.Context.Err()
	}
	return *o, nil
}

// way returns the kernels as defined by package method.
func (k Kernels) way() method.Way {
	return [...]method.Way{method.Auto, method.Portable, method.OnePass}[k]
}
