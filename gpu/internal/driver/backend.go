// Package driver provides the devices of CUDA and OpenCL behind one interface. It finds and opens
// them, and loads each kernel once.
package driver

import (
	"unsafe"
)

// A Backend is one open device of one driver, implemented in cuda.go and opencl.go. Its methods may
// be called by several goroutines at once; work on one stream runs in order.
//
// Errors wrap [boxsum.ErrMemory] if the device, or the host memory that it can access, is full, and
// [ErrDevice] for other failures.
type Backend interface {
	Info() Info
	// CUDA returns the backend if its driver is CUDA, or nil.
	CUDA() *CUDABackend
	Memory() (free, total int64, err error)
	Close() error

	// Alloc allocates device memory aligned to 256 bytes.
	Alloc(bytes int64) (Memory, error)
	Free(Memory) error

	// AllocHost allocates page-locked host memory, the only kind that copies may still use after
	// CopyIn and CopyOut return.
	AllocHost(bytes int64) (HostMemory, error)
	FreeHost(HostMemory) error

	NewStream() (Stream, error)
	FreeStream(Stream) error
	Wait(Stream) error // waits until all work on the stream is done

	Record(Stream) (Event, error)                   // records a point on a stream
	WaitFor(Stream, Event) error                    // makes later work on the stream wait for the point; the caller does not wait
	WaitEvent(Event) error                          // waits for the point
	Elapsed(from, to Event) (ms float64, err error) // both points must have been reached
	FreeEvent(Event) error
	// MoveEvent replaces an event by one at the current point of a stream.
	MoveEvent(Event, Stream) (Event, error)
	// CheckStream returns an error if work cannot be queued on a stream of another library.
	CheckStream(Stream) error
	// Follow makes later work on a stream of another library wait for an event, which may be 0,
	// like WaitFor. If the stream is being captured into a graph, it reports so and nothing waits.
	Follow(Stream, Event) (graph bool, err error)
	// AllocInGraph allocates memory that belongs to the graph into which a stream is captured,
	// until FreeInGraph.
	AllocInGraph(s Stream, bytes int64) (Memory, error)
	FreeInGraph(Stream, Memory) error

	// Copies of rows.Count rows of rows.Bytes bytes. Host rows are hostStride bytes apart.
	CopyIn(s Stream, dst Plane, src unsafe.Pointer, hostStride int64, rows Rows) error
	CopyOut(s Stream, dst unsafe.Pointer, hostStride int64, src Plane, rows Rows) error
	CopyWithin(s Stream, dst, src Plane, rows Rows) error
	Fill(s Stream, dst Plane, value byte, bytes int64) error

	// Launch runs a portable kernel with groups work-groups of group work-items each.
	Launch(s Stream, kernel string, groups, group int, args ...Arg) error
	// LargestGroup returns the largest work-group size, most or a fraction of it, that all of these
	// kernels support.
	LargestGroup(names []string, most int) (int, error)

	// Trace records the kernels that queue launches, and Describe describes one of them.
	Trace(queue func() error) ([]launched, error)
	Describe(launched) (KernelInfo, error)
}

// Handles of the driver: a device pointer or a cl_mem, a CUstream or a cl_command_queue, a CUevent
// or a cl_event. Zero is no handle.
type (
	Memory uintptr
	Stream uintptr
	Event  uintptr
)

// A HostMemory is page-locked memory. OpenCL also needs the buffer behind it.
type HostMemory struct {
	At     unsafe.Pointer
	Bytes  int64
	buffer Memory
}

// A Plane is rows on the device. The first starts Offset bytes into the memory, and they are Stride
// bytes apart.
type Plane struct {
	Memory         Memory
	Offset, Stride int64
}

// Rows are Count rows of Bytes bytes each.
type Rows struct{ Bytes, Count int64 }

// An Arg is one kernel argument: its size and the address of its value. The value of a buffer is
// its memory handle; an offset into it is a separate argument, because OpenCL 1.2 has no pointer
// arithmetic on handles.
type Arg struct {
	at   unsafe.Pointer
	size uintptr
}

// Value returns the argument *v. Launches copy it before they return.
func Value[T any](v *T) Arg { return Arg{unsafe.Pointer(v), unsafe.Sizeof(*v)} }

// From returns the rows from y on.
func (p Plane) From(y int64) Plane { return Plane{p.Memory, p.Offset + y*p.Stride, p.Stride} }

// Address returns the address of the first row.
func (p Plane) Address() uint64 { return uint64(p.Memory) + uint64(p.Offset) }

// SmallestGroup is the smallest supported work-group size: the portable kernels cut a row of a tile
// into this many tasks.
const SmallestGroup = 16
