// Package launch lets other packages of the module queue kernels and copies on a device of package gpu.
// Package gpu does not export this to users, because a kernel with wrong arguments may write anywhere in
// the device's memory.
package launch

import (
	"errors"
	"time"
)

// An Opener is a *gpu.Device.
type Opener interface {
	Err() error
	launcher() Device
}

// A Handle makes the type that embeds it an [Opener].
type Handle struct{ device Device }

// NewHandle returns the handle of a device.
func NewHandle(d Device) Handle { return Handle{d} }

func (h *Handle) launcher() Device { return h.device }

// Open returns the device behind a *gpu.Device.
func Open(device Opener) (Device, error) {
	if !GPU {
		return nil, errors.ErrUnsupported
	}
	if err := device.Err(); err != nil {
		return nil, err
	}
	return device.launcher(), nil
}

// Kernels calls Kernels of a device.
func Kernels(device Opener, queue func() error) ([]KernelInfo, error) {
	d, err := Open(device)
	if err != nil {
		return nil, err
	}
	return d.Kernels(queue)
}

// NewCopy calls NewCopy of a device.
func NewCopy(device Opener, bytes int64) (Limit, error) {
	d, err := Open(device)
	if err != nil {
		return nil, err
	}
	return d.NewCopy(bytes)
}

// NewFill calls NewFill of a device.
func NewFill(device Opener, bytes int64) (Limit, error) {
	d, err := Open(device)
	if err != nil {
		return nil, err
	}
	return d.NewFill(bytes)
}

// TransferTime calls TransferTime of a device.
func TransferTime(device Opener, in, out int64, count int) (time.Duration, error) {
	d, err := Open(device)
	if err != nil {
		return 0, err
	}
	return d.TransferTime(in, out, count)
}

// A Device is an open device of package gpu. Buffers and streams that have not been freed are freed when
// the device is closed.
type Device interface {
	// Main returns the stream of the device's own calls, to which its Wait and Time apply.
	Main() Stream
	NewStream() (Stream, error)
	FreeStream(Stream) error
	// Join makes later work on one stream wait for work already queued on another.
	Join(later, earlier Stream) error
	Wait(Stream) error

	// Alloc allocates zeroed memory on the device.
	Alloc(bytes int64) (Buffer, error)
	Free(Buffer) error
	// AllocHost allocates page-locked memory, which the garbage collector does not manage. FreeHost frees
	// it, even after the device was closed.
	AllocHost(bytes int64) ([]byte, error)
	FreeHost([]byte) error

	// CopyIn and CopyOut queue a copy of rows that are stride bytes apart on the host. They wait for it
	// unless the host's memory is page-locked.
	CopyIn(s Stream, dst Rows, src []byte, stride int64) error
	CopyOut(s Stream, dst []byte, stride int64, src Rows) error

	// Launch queues a kernel of package kernels. Arguments are int32, int64 or Buffer.
	Launch(s Stream, kernel string, groups, items int, args ...any) error

	// NewCopy allocates memory for copies on the device, each of which reads and writes the given number
	// of bytes: the limit for a table. NewFill is for fills, the limit for a table that is far larger than
	// its image.
	NewCopy(bytes int64) (Limit, error)
	NewFill(bytes int64) (Limit, error)
	// TransferTime returns the time to send bytes from page-locked memory to the device and concurrently
	// receive others, count times.
	TransferTime(in, out int64, count int) (time.Duration, error)
	// Kernels calls queue and lists the kernels that it launches on the device, each once, in the order of
	// their first launch.
	Kernels(queue func() error) ([]KernelInfo, error)
}

// A Limit is work with which tables are compared. Run queues it. Close frees its memory after work in
// progress has finished; closing again has no effect.
type Limit interface {
	Run() error
	Close() error
}

// KernelInfo describes the resources of one kernel on the device, as launched. Zero means that the driver
// does not report a value: OpenCL does not report registers.
type KernelInfo struct {
	Name      string
	Blocks    int     // in the launch; work-groups in OpenCL
	Threads   int     // per block; work-items in OpenCL
	Registers int     // per thread
	Shared    int     // bytes per block
	Local     int     // bytes per thread of spilled registers
	Resident  int     // blocks per multiprocessor
	Occupancy float64 // threads of resident blocks, as a fraction of the maximum
}

// A Stream is a queue of work that is executed in order.
type Stream uintptr

// A Buffer is memory on a device.
type Buffer uintptr

// Rows describes Count rows of Bytes bytes, which start at Offset and are Stride bytes apart.
type Rows struct {
	Buffer                       Buffer
	Offset, Stride, Bytes, Count int64
}

// Group is the number of work-items per group of the kernels in package papers, except those with one
// work-item per row or column.
const Group = 256

// Kernel returns the name of a kernel of package papers for values of the given type.
func Kernel(name, element string) string { return "papers_" + name + "_" + element }
