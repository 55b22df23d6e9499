package gpu

import "unsafe"

// A backend is one open device of one driver: cuda.go and opencl.go implement
// it. Its methods are safe for several goroutines at once; work on one stream
// runs in order.
//
// Errors already begin with "gpu: " and wrap [ErrMemory] where the device, or
// the memory that it can reach on the host, is full.
type backend interface {
	info() Info
	memory() (free, total int64, err error)
	close() error

	// alloc is device memory that starts on a multiple of 256 bytes.
	alloc(bytes int64) (memory, error)
	free(memory) error

	// allocHost is page-locked host memory: the only kind that copies may
	// still be using after copyIn and copyOut return.
	allocHost(bytes int64) (hostMemory, error)
	freeHost(hostMemory) error

	newStream() (stream, error)
	freeStream(stream) error
	wait(stream) error // until everything on the stream is done

	record(stream) (event, error)                   // a point on a stream
	waitFor(stream, event) error                    // later work on the stream waits for the point; the caller does not
	waitEvent(event) error                          // the caller waits for the point
	elapsed(from, to event) (ms float64, err error) // both must have been reached
	freeEvent(event) error

	// Copies of rows.count rows of rows.bytes bytes; host rows are
	// hostStride bytes apart.
	copyIn(s stream, dst plane, src unsafe.Pointer, hostStride int64, rows rows) error
	copyOut(s stream, dst unsafe.Pointer, hostStride int64, src plane, rows rows) error
	copyWithin(s stream, dst, src plane, rows rows) error
	fill(s stream, dst plane, value byte, bytes int64) error

	// launch runs a portable kernel: grid and block count work-groups and the
	// work-items of one, and shared is bytes of dynamic shared memory.
	launch(s stream, kernel string, grid, block [3]int, shared int, args ...arg) error
}

// Handles mean what the driver says: a device pointer or a cl_mem, a CUstream
// or a cl_command_queue, a CUevent or a cl_event. Zero is none.
type (
	memory uintptr
	stream uintptr
	event  uintptr
)

// A hostMemory is page-locked memory. OpenCL also needs the buffer behind it.
type hostMemory struct {
	at     unsafe.Pointer
	bytes  int64
	buffer memory
}

// A plane is rows on the device: the first starts offset bytes into memory, and
// they are stride bytes apart.
type plane struct {
	memory         memory
	offset, stride int64
}

type rows struct{ bytes, count int64 }

// An arg is one kernel argument: its size and where its value lies. The value
// of a buffer is its memory handle; where in it to begin is an argument of its
// own, since OpenCL has no pointers to add to.
type arg struct {
	at   unsafe.Pointer
	size uintptr
}

// value is the argument *v. Launches copy it before they return.
func value[T any](v *T) arg { return arg{unsafe.Pointer(v), unsafe.Sizeof(*v)} }
