// Package launch lets other packages of the module queue kernels and copies on a
// device of package gpu by themselves. Package gpu does not offer that to its users:
// a kernel that is given the wrong arguments writes where it likes.
package launch

import "errors"

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

// Open is the device behind a *gpu.Device. Package gpu sets it.
var Open = func(device any) (Device, error) {
	return nil, errors.New("launch: nobody imported package gpu")
}

// Group is how many work-items the kernels of package papers have, but for those
// with a work-item for each row or column.
const Group = 256

// Kernel is the name of a kernel of package papers over values of this type.
func Kernel(name, element string) string { return "papers_" + name + "_" + element }
