// Package driver is the devices of CUDA and OpenCL behind one interface. It finds and opens
// them, and loads each kernel once.
package driver

import (
	"unsafe"
)

// A Backend is one open device of one driver: cuda.go and opencl.go implement
// it. Its methods are safe for several goroutines at once; work on one stream
// runs in order.
//
// Errors already begin with "gpu: " and wrap [boxsum.ErrMemory] where the device, or
// the memory that it can reach on the host, is full.
type Backend interface {
	Info() Info
	Memory() (free, total int64, err error)
	Close() error

	// Alloc is device memory that starts on a multiple of 256 bytes.
	Alloc(bytes int64) (Memory, error)
	Free(Memory) error

	// AllocHost is page-locked host memory: the only kind that copies may
	// still be using after CopyIn and CopyOut return.
	AllocHost(bytes int64) (HostMemory, error)
	FreeHost(HostMemory) error

	NewStream() (Stream, error)
	FreeStream(Stream) error
	Wait(Stream) error // until everything on the stream is done

	Record(Stream) (Event, error)                   // a point on a stream
	WaitFor(Stream, Event) error                    // later work on the stream waits for the point; the caller does not
	WaitEvent(Event) error                          // the caller waits for the point
	Elapsed(from, to Event) (ms float64, err error) // both must have been reached
	FreeEvent(Event) error
	// Move is an event at the point where a stream is now, in the place of another one.
	Move(Event, Stream) (Event, error)
	// CheckStream reports what keeps work from a stream of another library.
	CheckStream(Stream) error
	// Follow has later work on a stream of another library wait for an event, which may be 0, as WaitFor does. If that
	// work becomes part of a graph, to be done whenever that is run, it reports so and nothing waits.
	Follow(Stream, Event) (graph bool, err error)
	// AllocInGraph is memory that belongs to the graph as which a stream is captured, until FreeInGraph.
	AllocInGraph(s Stream, bytes int64) (Memory, error)
	FreeInGraph(Stream, Memory) error

	// Copies of rows.Count rows of rows.Bytes bytes; host rows are
	// hostStride bytes apart.
	CopyIn(s Stream, dst Plane, src unsafe.Pointer, hostStride int64, rows Rows) error
	CopyOut(s Stream, dst unsafe.Pointer, hostStride int64, src Plane, rows Rows) error
	CopyWithin(s Stream, dst, src Plane, rows Rows) error
	Fill(s Stream, dst Plane, value byte, bytes int64) error

	// Launch runs a portable kernel in this many work-groups, each of group work-items.
	Launch(s Stream, kernel string, groups, group int, args ...Arg) error
	// LargestGroup is how many work-items a work-group of these kernels may have: most,
	// or a fraction of it.
	LargestGroup(names []string, most int) (int, error)

	// Trace notes the kernels that queue launches, and Describe tells of one of them.
	Trace(queue func() error) ([]launched, error)
	Describe(launched) (KernelInfo, error)
}

// Handles mean what the driver says: a device pointer or a cl_mem, a CUstream
// or a cl_command_queue, a CUevent or a cl_event. Zero is none.
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

// A Plane is rows on the device: the first starts offset bytes into memory, and
// they are stride bytes apart.
type Plane struct {
	Memory         Memory
	Offset, Stride int64
}

// Rows are Count rows of Bytes bytes each.
type Rows struct{ Bytes, Count int64 }

// An Arg is one kernel argument: its size and where its value lies. The value
// of a buffer is its memory handle; where in it to begin is an argument of its
// own, since OpenCL has no pointers to add to.
type Arg struct {
	at   unsafe.Pointer
	size uintptr
}

// Value is the argument *v. Launches copy it before they return.
func Value[T any](v *T) Arg { return Arg{unsafe.Pointer(v), unsafe.Sizeof(*v)} }

// Address is where the first row of the first image begins.
func (p Plane) Address() uint64 { return uint64(p.Memory) + uint64(p.Offset) }

// SmallestGroup is how many work-items a work-group must have at least: the portable
// kernels cut a row of a tile into as many tasks.
const SmallestGroup = 16
