// Package launch lets other packages of the module queue kernels and copies on a
// device of package gpu by themselves. Package gpu does not offer that to its users:
// a kernel that is given the wrong arguments writes where it likes.
package launch

import (
	"errors"
	"time"
)

// An Opener is a *gpu.Device.
type Opener interface {
	Wait() error
	Close() error
}

// open returns the device behind an Opener; nil until package gpu registers.
var open func(Opener) (Device, error)

// Register sets how devices are opened. Package gpu calls it when it is initialized.
func Register(f func(Opener) (Device, error)) { open = f }

// Open returns the device behind a *gpu.Device.
func Open(device Opener) (Device, error) {
	if !GPU || open == nil {
		return nil, errors.ErrUnsupported
	}
	return open(device)
}

// Kernels, NewCopy, NewFill and TransferTime are those of the device that Open gives.
func Kernels(device Opener, queue func() error) ([]KernelInfo, error) {
	d, err := Open(device)
	if err != nil {
		return nil, err
	}
	return d.Kernels(queue)
}

// NewCopy is that of the device.
func NewCopy(device Opener, bytes int64) (Limit, error) {
	d, err := Open(device)
	if err != nil {
		return nil, err
	}
	return d.NewCopy(bytes)
}

// NewFill is that of the device.
func NewFill(device Opener, bytes int64) (Limit, error) {
	d, err := Open(device)
	if err != nil {
		return nil, err
	}
	return d.NewFill(bytes)
}

// TransferTime is that of the device.
func TransferTime(device Opener, in, out int64, count int) (time.Duration, error) {
	d, err := Open(device)
	if err != nil {
		return 0, err
	}
	return d.TransferTime(in, out, count)
}

// A Device is an open device of package gpu. Buffers and streams that are
// left are freed when the device is closed.
type Device interface {
	// Main is the stream of the device's own calls, which its Wait and Time
	// are about.
	Main() Stream
	NewStream() (Stream, error)
	FreeStream(Stream) error
	// Join makes later work on one stream wait for what is on another by now.
	Join(later, earlier Stream) error
	Wait(Stream) error

	// Alloc is zeroed memory on the device.
	Alloc(bytes int64) (Buffer, error)
	Free(Buffer) error
	// AllocHost is page-locked memory, which the garbage collector knows nothing
	// of: FreeHost gives it back, also after the device was closed.
	AllocHost(bytes int64) ([]byte, error)
	FreeHost([]byte) error

	// CopyIn and CopyOut queue a copy of rows that are stride bytes apart on
	// the host. They wait for it unless the host's memory is page-locked.
	CopyIn(s Stream, dst Rows, src []byte, stride int64) error
	CopyOut(s Stream, dst []byte, stride int64, src Rows) error

	// Launch queues a kernel of package kernels. Arguments are int32, int64 or
	// Buffer.
	Launch(s Stream, kernel string, groups, items int, args ...any) error

	// NewCopy takes memory for copies on the device, each of which reads this many bytes
	// and writes as many: the limit that a table stands beside. NewFill is for fills, the
	// limit of a table that is far larger than its image.
	NewCopy(bytes int64) (Limit, error)
	NewFill(bytes int64) (Limit, error)
	// TransferTime is how long it takes to send this many bytes from page-locked memory
	// to the device, count times, and as often others back meanwhile.
	TransferTime(in, out int64, count int) (time.Duration, error)
	// Kernels calls queue and lists the kernels that it launches on the device, each
	// once, in the order of their first launch.
	Kernels(queue func() error) ([]KernelInfo, error)
}

// A Limit is work that tables are measured against. Run queues it. Close frees its memory
// after what is under way; closing again does nothing.
type Limit interface {
	Run() error
	Close() error
}

// KernelInfo is what one kernel takes from the device, as it was launched. Zero
// stands for what the driver does not tell: OpenCL tells nothing of registers.
type KernelInfo struct {
	Name      string
	Blocks    int     // of the launch; work-groups in the words of OpenCL
	Threads   int     // of a block; work-items
	Registers int     // of a thread
	Shared    int     // bytes of a block
	Local     int     // bytes of a thread that found no register
	Resident  int     // blocks that one multiprocessor runs at once
	Occupancy float64 // the threads of these, of those that it could run
}

// A Stream is work in the order in which it was queued.
type Stream uintptr

// A Buffer is memory on a device.
type Buffer uintptr

// Rows are Count rows of Bytes bytes, Stride bytes apart from Offset on.
type Rows struct {
	Buffer                       Buffer
	Offset, Stride, Bytes, Count int64
}

// Group is how many work-items the kernels of package papers have, but for those
// with a work-item for each row or column.
const Group = 256

// Kernel is the name of a kernel of package papers over values of this type.
func Kernel(name, element string) string { return "papers_" + name + "_" + element }
