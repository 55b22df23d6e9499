// Package gpu makes summed-area tables on graphics processors.
//
// It needs no toolkit and no cgo: the drivers, CUDA's and OpenCL's, are opened
// at run time, and the kernels are part of the package. [Devices] says what
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
// to host memory, with copies in, kernels and copies out all at once. Memory and
// streams of other libraries on the device are used in place by [ImageOver],
// [TableOver] and [Device.OnStream].
//
// # Exactness
//
// The pairs of types are those of package boxsum, and so are the tables: integers
// to the bit, floats to within rounding. An entry of floats is off by at most
// about
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
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrNoDevice is wrapped by the error that says why there is no device.
	ErrNoDevice = errors.New("no GPU to use")
	// ErrMemory is wrapped where a device has too little free memory.
	ErrMemory = errors.New("out of device memory")
	// ErrClosed is wrapped where something is used after its Close, or after
	// that of its device.
	ErrClosed = errors.New("already closed")
)

// A Kind is the driver behind a device.
type Kind int

// The kinds of devices.
const (
	CUDA Kind = iota + 1
	OpenCL
)

var kinds = map[Kind]string{CUDA: "cuda", OpenCL: "opencl"}

// String is cuda or opencl.
func (k Kind) String() string {
	if name, ok := kinds[k]; ok {
		return name
	}
	return fmt.Sprintf("Kind(%d)", int(k))
}

// ParseKind is the kind with this name, in any case.
func ParseKind(name string) (Kind, error) {
	for k, n := range kinds {
		if strings.EqualFold(n, name) {
			return k, nil
		}
	}
	return 0, fmt.Errorf("gpu: no kind of device is called %q: there are cuda and opencl", name)
}

// Kernels says which way tables are made.
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

// Options says how to integrate; nil and the zero value mean the best for the
// device.
type Options struct {
	// Offset is subtracted from every pixel before summing and put back by
	// box queries, as in the options of package boxsum: it is for tables of
	// float32, and an error with others.
	Offset float32

	// Kernels is which way to go; [AutoKernels] picks the fastest.
	Kernels Kernels

	// BandRows is how many rows [IntegrateHost] sends to the device at a
	// time. Zero stands for what suits its memory.
	BandRows int
}
