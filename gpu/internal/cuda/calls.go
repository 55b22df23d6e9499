package cuda

import (
	"runtime"
	"strings"
	"unsafe"
)

// The handles of the driver. Zero is none.
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
	Major               Attribute = 75 // of the compute capability
	Minor               Attribute = 76
)

// A FunctionAttribute is a CUfunction_attribute.
type FunctionAttribute int32

// Attributes of functions.
const (
	StaticShared     FunctionAttribute = 1 // bytes
	LocalBytes       FunctionAttribute = 3
	Registers        FunctionAttribute = 4
	MaxDynamicShared FunctionAttribute = 8 // bytes; may be set
	SharedCarveout   FunctionAttribute = 9 // percent of what caches and shared memory have together; may be set
)

// DriverVersion is 12040 for CUDA 12.4.
func DriverVersion() (int, error) { return number(cuDriverGetVersion) }

// DeviceCount is how many devices there are.
func DeviceCount() (int, error) { return number(cuDeviceGetCount) }

// DeviceAt is the device of this index.
func DeviceAt(index int) (Device, error) { return ask[Device](cuDeviceGet, uintptr(index)) }

// Name is what the device is sold as.
func (d Device) Name() (string, error) {
	var name [256]byte
	err := call(cuDeviceGetName, uintptr(unsafe.Pointer(&name[0])), uintptr(len(name)), uintptr(d))
	text, _, _ := strings.Cut(string(name[:]), "\x00")
	return text, err
}

// Attribute is a property of the device.
func (d Device) Attribute(a Attribute) (int, error) {
	return number(cuDeviceGetAttribute, uintptr(a), uintptr(d))
}

// TotalMemory is in bytes.
func (d Device) TotalMemory() (int64, error) {
	v, err := ask[uintptr](cuDeviceTotalMem, uintptr(d))
	return int64(v), err
}

// Retain is the device's primary context, which other CUDA users in the process
// share. Every Retain needs a Release.
func (d Device) Retain() (Context, error) { return ask[Context](cuDevicePrimaryCtxRetain, uintptr(d)) }

// Release gives the primary context back.
func (d Device) Release() error { return call(cuDevicePrimaryCtxRelease, uintptr(d)) }

// NewContext is a context of the device beside the primary one. Every one needs a Destroy.
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

// Destroy frees a context of NewContext, and all that is left in it.
func (c Context) Destroy() error { return call(cuCtxDestroy, uintptr(c)) }

// Enter makes the context current on this thread, to which it ties the
// goroutine until Leave; the context that was current before is then so again.
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

// MemoryInfo is the free and total bytes of the current context's device.
func MemoryInfo() (free, total int64, err error) {
	var f, t uintptr
	err = call(cuMemGetInfo, uintptr(unsafe.Pointer(&f)), uintptr(unsafe.Pointer(&t)))
	return int64(f), int64(t), err
}

// Alloc is device memory; zero bytes are an InvalidValue.
func Alloc(bytes int64) (Pointer, error) { return ask[Pointer](cuMemAlloc, uintptr(bytes)) }

// Device is the index of the device on which the memory is.
func (p Pointer) Device() (int, error) {
	const ordinal = 9 // CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
	return number(cuPointerGetAttribute, ordinal, uintptr(p))
}

// Free waits for the work that uses the memory.
func Free(p Pointer) error { return call(cuMemFree, uintptr(p)) }

// AllocHost is page-locked memory for all contexts.
func AllocHost(bytes int64) (unsafe.Pointer, error) {
	const portable = 1
	return ask[unsafe.Pointer](cuMemHostAlloc, uintptr(bytes), portable)
}

// FreeHost frees page-locked memory.
func FreeHost(p unsafe.Pointer) error { return call(cuMemFreeHost, uintptr(p)) }

// CopyIn copies from the host.
func CopyIn(dst Pointer, src unsafe.Pointer, bytes int64, s Stream) error {
	return call(cuMemcpyHtoDAsync, uintptr(dst), uintptr(src), uintptr(bytes), uintptr(s))
}

// CopyOut copies to the host.
func CopyOut(dst unsafe.Pointer, src Pointer, bytes int64, s Stream) error {
	return call(cuMemcpyDtoHAsync, uintptr(dst), uintptr(src), uintptr(bytes), uintptr(s))
}

// CopyWithin copies between places on the device.
func CopyWithin(dst, src Pointer, bytes int64, s Stream) error {
	return call(cuMemcpyDtoDAsync, uintptr(dst), uintptr(src), uintptr(bytes), uintptr(s))
}

// The kinds of memory that a [Copy2D] can name.
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

	Width, Height uintptr // bytes of a row, rows
}

// CopyRows copies rows.
func CopyRows(c *Copy2D, s Stream) error {
	return call(cuMemcpy2DAsync, uintptr(unsafe.Pointer(c)), uintptr(s))
}

// Fill sets bytes.
func Fill(dst Pointer, value byte, bytes int64, s Stream) error {
	return call(cuMemsetD8Async, uintptr(dst), uintptr(value), uintptr(bytes), uintptr(s))
}

// NewStream is a stream that does not wait for the default one.
func NewStream() (Stream, error) {
	const nonBlocking = 1
	return ask[Stream](cuStreamCreate, nonBlocking)
}

// Destroy frees the stream once its work is done, without waiting for it.
func (s Stream) Destroy() error { return call(cuStreamDestroy, uintptr(s)) }

// Synchronize waits for all work on the stream.
func (s Stream) Synchronize() error { return call(cuStreamSynchronize, uintptr(s)) }

// Capturing reports whether work on the stream becomes part of a graph instead of being done. Drivers before CUDA 10
// have no graphs.
func (s Stream) Capturing() (bool, error) {
	if cuStreamIsCapturing.at == 0 {
		return false, nil
	}
	var status int32 // 2 is that of a capture which has failed already
	err := call(cuStreamIsCapturing, uintptr(s), uintptr(unsafe.Pointer(&status)))
	return status != 0, err
}

// Relaxed calls f, which may take memory and load kernels even while this thread captures a stream: neither becomes
// part of the graph. The thread must be tied to the goroutine.
func Relaxed(f func() error) error {
	mode := int32(2) // CU_STREAM_CAPTURE_MODE_RELAXED
	if cuThreadExchangeStreamCaptureMode.at == 0 || call(cuThreadExchangeStreamCaptureMode, uintptr(unsafe.Pointer(&mode))) != nil {
		return f()
	}
	err := f()
	call(cuThreadExchangeStreamCaptureMode, uintptr(unsafe.Pointer(&mode)))
	return err
}

// Alloc is memory for work on the stream from here on, until FreeLater. While the stream is captured it belongs to the
// graph, and has the same address whenever that is run.
func (s Stream) Alloc(bytes int64) (Pointer, error) {
	return ask[Pointer](cuMemAllocAsync, uintptr(bytes), uintptr(s))
}

// FreeLater frees such memory after the work that is on the stream.
func (s Stream) FreeLater(p Pointer) error { return call(cuMemFreeAsync, uintptr(p), uintptr(s)) }

// WaitFor makes later work on the stream wait for an event.
func (s Stream) WaitFor(e Event) error { return call(cuStreamWaitEvent, uintptr(s), uintptr(e), 0) }

// NewEvent is an event that keeps its time.
func NewEvent() (Event, error) { return ask[Event](cuEventCreate, 0) }

// Destroy frees the event.
func (e Event) Destroy() error { return call(cuEventDestroy, uintptr(e)) }

// Record puts the event behind all work on the stream.
func (e Event) Record(s Stream) error { return call(cuEventRecord, uintptr(e), uintptr(s)) }

// Synchronize waits for the event.
func (e Event) Synchronize() error { return call(cuEventSynchronize, uintptr(e)) }

// Elapsed is the milliseconds between two events that have happened.
func Elapsed(from, to Event) (float64, error) {
	ms, err := ask[float32](cuEventElapsedTime, uintptr(from), uintptr(to))
	return float64(ms), err
}
