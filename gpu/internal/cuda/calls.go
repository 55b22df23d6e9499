package cuda

import (
	"runtime"
	"strings"
	"unsafe"
)

// Handles of objects of the driver. Zero is not a handle.
type (
	Device   int32
	Context  uintptr
	Pointer  uintptr // device memory
	Stream   uintptr
	Event    uintptr
	Module   uintptr
	Function uintptr
)

// An Attribute is a CUdevice_attribute.
type Attribute int32

// Attributes of devices.
const (
	MaxPitch            Attribute = 11 // of strides in 2-D copies
	Multiprocessors     Attribute = 16
	ThreadsPerProcessor Attribute = 39
	Major               Attribute = 75 // compute capability
	Minor               Attribute = 76
)

// A FunctionAttribute is a CUfunction_attribute.
type FunctionAttribute int32

// Attributes of functions.
const (
	StaticShared     FunctionAttribute = 1 // in bytes
	LocalBytes       FunctionAttribute = 3
	Registers        FunctionAttribute = 4
	MaxDynamicShared FunctionAttribute = 8 // in bytes; can be set
	SharedCarveout   FunctionAttribute = 9 // preferred shared memory in percent of the combined size of L1 cache and shared memory; can be set
)

// DriverVersion returns the version of the driver: 12040 for CUDA 12.4.
func DriverVersion() (int, error) { return number(cuDriverGetVersion) }

// DeviceCount returns the number of devices.
func DeviceCount() (int, error) { return number(cuDeviceGetCount) }

// DeviceAt returns the device with an index.
func DeviceAt(index int) (Device, error) { return query[Device](cuDeviceGet, uintptr(index)) }

// Name returns the product name of the device.
func (d Device) Name() (string, error) {
	var name [256]byte
	err := call(cuDeviceGetName, uintptr(unsafe.Pointer(&name[0])), uintptr(len(name)), uintptr(d))
	text, _, _ := strings.Cut(string(name[:]), "\x00")
	return text, err
}

// Attribute returns an attribute of the device.
func (d Device) Attribute(a Attribute) (int, error) {
	return number(cuDeviceGetAttribute, uintptr(a), uintptr(d))
}

// TotalMemory returns the size of the device's memory in bytes.
func (d Device) TotalMemory() (int64, error) {
	v, err := query[uintptr](cuDeviceTotalMem, uintptr(d))
	return int64(v), err
}

// Retain returns the device's primary context, which all CUDA users in the process share. Every
// Retain needs a Release.
func (d Device) Retain() (Context, error) {
	return query[Context](cuDevicePrimaryCtxRetain, uintptr(d))
}

// Release releases the primary context.
func (d Device) Release() error { return call(cuDevicePrimaryCtxRelease, uintptr(d)) }

// NewContext creates a context of the device besides the primary one. Every NewContext needs a
// Destroy.
func (d Device) NewContext() (Context, error) {
	runtime.LockOSThread()
	var c Context
	if err := call(cuCtxCreate, uintptr(unsafe.Pointer(&c)), 0, uintptr(d)); err != nil {
		runtime.UnlockOSThread()
		return 0, err
	}
	Leave() // the driver has made it current
	return c, nil
}

// Destroy frees a context created by NewContext and everything left in it.
func (c Context) Destroy() error { return call(cuCtxDestroy, uintptr(c)) }

// Enter makes the context current on this thread, and locks the goroutine to the thread until Leave
// restores the previous context.
func (c Context) Enter() error {
	runtime.LockOSThread()
	err := call(cuCtxPushCurrent, uintptr(c))
	if err != nil {
		runtime.UnlockOSThread()
	}
	return err
}

// Leave ends a successful Enter.
func Leave() {
	var c Context
	call(cuCtxPopCurrent, uintptr(unsafe.Pointer(&c)))
	runtime.UnlockOSThread()
}

// MemoryInfo returns the free and total bytes of the current context's device.
func MemoryInfo() (free, total int64, err error) {
	var f, t uintptr
	err = call(cuMemGetInfo, uintptr(unsafe.Pointer(&f)), uintptr(unsafe.Pointer(&t)))
	return int64(f), int64(t), err
}

// Alloc allocates device memory. Zero bytes are an InvalidValue.
func Alloc(bytes int64) (Pointer, error) { return query[Pointer](cuMemAlloc, uintptr(bytes)) }

// Device returns the index of the device that the memory belongs to.
func (p Pointer) Device() (int, error) {
	const ordinal = 9 // CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
	return number(cuPointerGetAttribute, ordinal, uintptr(p))
}

// Free frees memory after waiting for the work that uses it.
func Free(p Pointer) error { return call(cuMemFree, uintptr(p)) }

// AllocHost allocates page-locked memory that is valid in all contexts.
func AllocHost(bytes int64) (unsafe.Pointer, error) {
	const portable = 1
	return query[unsafe.Pointer](cuMemHostAlloc, uintptr(bytes), portable)
}

// FreeHost frees page-locked memory.
func FreeHost(p unsafe.Pointer) error { return call(cuMemFreeHost, uintptr(p)) }

// CopyIn copies from the host to the device.
func CopyIn(dst Pointer, src unsafe.Pointer, bytes int64, s Stream) error {
	return call(cuMemcpyHtoDAsync, uintptr(dst), uintptr(src), uintptr(bytes), uintptr(s))
}

// CopyOut copies from the device to the host.
func CopyOut(dst unsafe.Pointer, src Pointer, bytes int64, s Stream) error {
	return call(cuMemcpyDtoHAsync, uintptr(dst), uintptr(src), uintptr(bytes), uintptr(s))
}

// CopyWithin copies between two places on the device.
func CopyWithin(dst, src Pointer, bytes int64, s Stream) error {
	return call(cuMemcpyDtoDAsync, uintptr(dst), uintptr(src), uintptr(bytes), uintptr(s))
}

// The kinds of memory in a [Copy2D].
const (
	HostMemory   uint32 = 1
	DeviceMemory uint32 = 2
)

// A Copy2D is a CUDA_MEMCPY2D.
type Copy2D struct {
	SrcX, SrcY uintptr
	SrcType    uint32
	SrcHost    unsafe.Pointer
	SrcDevice  Pointer
	srcArray   uintptr
	SrcPitch   uintptr

	DstX, DstY uintptr
	DstType    uint32
	DstHost    unsafe.Pointer
	DstDevice  Pointer
	dstArray   uintptr
	DstPitch   uintptr

	Width, Height uintptr // Width in bytes, Height in rows
}

// CopyRows copies rows between two memories.
func CopyRows(c *Copy2D, s Stream) error {
	return call(cuMemcpy2DAsync, uintptr(unsafe.Pointer(c)), uintptr(s))
}

// Fill sets bytes of device memory to a value.
func Fill(dst Pointer, value byte, bytes int64, s Stream) error {
	return call(cuMemsetD8Async, uintptr(dst), uintptr(value), uintptr(bytes), uintptr(s))
}

// NewStream creates a stream that does not synchronize with the default stream.
func NewStream() (Stream, error) {
	const nonBlocking = 1
	return query[Stream](cuStreamCreate, nonBlocking)
}

// Destroy frees the stream once its work is done, without waiting for it.
func (s Stream) Destroy() error { return call(cuStreamDestroy, uintptr(s)) }

// Synchronize waits for all work on the stream.
func (s Stream) Synchronize() error { return call(cuStreamSynchronize, uintptr(s)) }

// Capturing reports whether work on the stream is captured into a graph instead of being run.
// Drivers before CUDA 10 have no graphs.
func (s Stream) Capturing() (bool, error) {
	if cuStreamIsCapturing.at == 0 {
		return false, nil
	}
	var status int32 // 2 is a capture that has already failed
	err := call(cuStreamIsCapturing, uintptr(s), uintptr(unsafe.Pointer(&status)))
	return status != 0, err
}

// WithRelaxedCapture calls f, which may allocate memory and load kernels even while this thread captures a
// stream; neither becomes part of the graph. The goroutine must be locked to the thread.
func WithRelaxedCapture(f func() error) error {
	mode := int32(2) // CU_STREAM_CAPTURE_MODE_RELAXED
	if cuThreadExchangeStreamCaptureMode.at == 0 || call(cuThreadExchangeStreamCaptureMode, uintptr(unsafe.Pointer(&mode))) != nil {
		return f()
	}
	err := f()
	call(cuThreadExchangeStreamCaptureMode, uintptr(unsafe.Pointer(&mode)))
	return err
}

// Alloc allocates memory that later work on the stream uses, until FreeLater. While the stream
// is captured, the memory belongs to the graph, and has the same address whenever the graph
// runs.
func (s Stream) Alloc(bytes int64) (Pointer, error) {
	return query[Pointer](cuMemAllocAsync, uintptr(bytes), uintptr(s))
}

// FreeLater frees memory of Alloc after the work that is already on the stream.
func (s Stream) FreeLater(p Pointer) error { return call(cuMemFreeAsync, uintptr(p), uintptr(s)) }

// WaitFor makes later work on the stream wait for an event.
func (s Stream) WaitFor(e Event) error { return call(cuStreamWaitEvent, uintptr(s), uintptr(e), 0) }

// NewEvent creates an event that records its time.
func NewEvent() (Event, error) { return query[Event](cuEventCreate, 0) }

// Destroy frees the event.
func (e Event) Destroy() error { return call(cuEventDestroy, uintptr(e)) }

// Record records the event after all work on the stream so far.
func (e Event) Record(s Stream) error { return call(cuEventRecord, uintptr(e), uintptr(s)) }

// Synchronize waits for the event.
func (e Event) Synchronize() error { return call(cuEventSynchronize, uintptr(e)) }

// Elapsed returns the milliseconds between two events, both of which must have completed.
func Elapsed(from, to Event) (float64, error) {
	ms, err := query[float32](cuEventElapsedTime, uintptr(from), uintptr(to))
	return float64(ms), err
}
