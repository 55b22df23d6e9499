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
	MaxPitch              Attribute = 11 // of strides in 2-D copies
	Multiprocessors       Attribute = 16
	L2Bytes               Attribute = 38
	ThreadsPerProcessor   Attribute = 39
	Major                 Attribute = 75 // of the compute capability
	Minor                 Attribute = 76
	SharedPerProcessor    Attribute = 81
	RegistersPerProcessor Attribute = 82
	Cooperative           Attribute = 95
	MaxShared             Attribute = 97 // bytes a block may have when it asks for more
)

// A FunctionAttribute is a CUfunction_attribute.
type FunctionAttribute int32

// Attributes of functions.
const (
	MaxThreads       FunctionAttribute = 0
	StaticShared     FunctionAttribute = 1 // bytes
	LocalBytes       FunctionAttribute = 3
	Registers        FunctionAttribute = 4
	BinaryVersion    FunctionAttribute = 6
	MaxDynamicShared FunctionAttribute = 8 // bytes; may be set
	SharedCarveout   FunctionAttribute = 9 // percent; may be set
)

// DriverVersion is 12040 for CUDA 12.4.
func DriverVersion() (int, error) {
	var v int32
	err := call(cuDriverGetVersion, uintptr(unsafe.Pointer(&v)))
	return int(v), err
}

// DeviceCount is how many devices there are.
func DeviceCount() (int, error) {
	var n int32
	err := call(cuDeviceGetCount, uintptr(unsafe.Pointer(&n)))
	return int(n), err
}

// DeviceAt is the device of this index.
func DeviceAt(index int) (Device, error) {
	var d Device
	err := call(cuDeviceGet, uintptr(unsafe.Pointer(&d)), uintptr(index))
	return d, err
}

// Name is what the device is sold as.
func (d Device) Name() (string, error) {
	var name [256]byte
	err := call(cuDeviceGetName, uintptr(unsafe.Pointer(&name[0])), uintptr(len(name)), uintptr(d))
	text, _, _ := strings.Cut(string(name[:]), "\x00")
	return text, err
}

// Attribute is a property of the device.
func (d Device) Attribute(a Attribute) (int, error) {
	var v int32
	err := call(cuDeviceGetAttribute, uintptr(unsafe.Pointer(&v)), uintptr(a), uintptr(d))
	return int(v), err
}

// TotalMemory is in bytes.
func (d Device) TotalMemory() (int64, error) {
	var v uintptr
	err := call(cuDeviceTotalMem, uintptr(unsafe.Pointer(&v)), uintptr(d))
	return int64(v), err
}

// Retain is the device's primary context, which other CUDA users in the process
// share. Every Retain needs a Release.
func (d Device) Retain() (Context, error) {
	var c Context
	err := call(cuDevicePrimaryCtxRetain, uintptr(unsafe.Pointer(&c)), uintptr(d))
	return c, err
}

// Release gives the primary context back.
func (d Device) Release() error { return call(cuDevicePrimaryCtxRelease, uintptr(d)) }

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
func Alloc(bytes int64) (Pointer, error) {
	var p Pointer
	err := call(cuMemAlloc, uintptr(unsafe.Pointer(&p)), uintptr(bytes))
	return p, err
}

// Device is the index of the device on which the memory is.
func (p Pointer) Device() (int, error) {
	const ordinal = 9 // CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
	var n int32
	err := call(cuPointerGetAttribute, uintptr(unsafe.Pointer(&n)), ordinal, uintptr(p))
	return int(n), err
}

// Free waits for the work that uses the memory.
func Free(p Pointer) error { return call(cuMemFree, uintptr(p)) }

// AllocHost is page-locked memory for all contexts.
func AllocHost(bytes int64) (unsafe.Pointer, error) {
	const portable = 1
	var p unsafe.Pointer
	err := call(cuMemHostAlloc, uintptr(unsafe.Pointer(&p)), uintptr(bytes), portable)
	return p, err
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
	var s Stream
	err := call(cuStreamCreate, uintptr(unsafe.Pointer(&s)), nonBlocking)
	return s, err
}

// Destroy frees the stream once its work is done, without waiting for it.
func (s Stream) Destroy() error { return call(cuStreamDestroy, uintptr(s)) }

// Synchronize waits for all work on the stream.
func (s Stream) Synchronize() error { return call(cuStreamSynchronize, uintptr(s)) }

// WaitFor makes later work on the stream wait for an event.
func (s Stream) WaitFor(e Event) error { return call(cuStreamWaitEvent, uintptr(s), uintptr(e), 0) }

// NewEvent is an event that keeps its time.
func NewEvent() (Event, error) {
	var e Event
	err := call(cuEventCreate, uintptr(unsafe.Pointer(&e)), 0)
	return e, err
}

// Destroy frees the event.
func (e Event) Destroy() error { return call(cuEventDestroy, uintptr(e)) }

// Record puts the event behind all work on the stream.
func (e Event) Record(s Stream) error { return call(cuEventRecord, uintptr(e), uintptr(s)) }

// Synchronize waits for the event.
func (e Event) Synchronize() error { return call(cuEventSynchronize, uintptr(e)) }

// Elapsed is the milliseconds between two events that have happened.
func Elapsed(from, to Event) (float64, error) {
	var ms float32
	err := call(cuEventElapsedTime, uintptr(unsafe.Pointer(&ms)), uintptr(from), uintptr(to))
	return float64(ms), err
}

// LoadModule loads a cubin, or compiles PTX that ends in a zero byte. Log is
// what the compiler has to say where it fails.
func LoadModule(image []byte) (m Module, log string, err error) {
	const (
		errorLog      = 5 // CU_JIT_ERROR_LOG_BUFFER
		errorLogBytes = 6
	)
	text := make([]byte, 4096)
	var pin runtime.Pinner // the driver sees its address as an option's value
	pin.Pin(&text[0])
	defer pin.Unpin()
	options := [2]int32{errorLog, errorLogBytes}
	values := [2]uintptr{uintptr(unsafe.Pointer(&text[0])), uintptr(len(text))}
	err = call(cuModuleLoadDataEx, uintptr(unsafe.Pointer(&m)), uintptr(unsafe.Pointer(&image[0])),
		uintptr(len(options)), uintptr(unsafe.Pointer(&options)), uintptr(unsafe.Pointer(&values)))
	log, _, _ = strings.Cut(string(text), "\x00")
	return m, strings.TrimSpace(log), err
}

// Unload frees the module and its functions.
func (m Module) Unload() error { return call(cuModuleUnload, uintptr(m)) }

// Function is the kernel of this name, or NotFound.
func (m Module) Function(name string) (Function, error) {
	var f Function
	text := append([]byte(name), 0)
	err := call(cuModuleGetFunction, uintptr(unsafe.Pointer(&f)), uintptr(m), uintptr(unsafe.Pointer(&text[0])))
	return f, err
}

// Global reads a variable of the module, which must have as many bytes as dst.
func (m Module) Global(name string, dst []byte) error {
	var at Pointer
	var bytes uintptr
	text := append([]byte(name), 0)
	err := call(cuModuleGetGlobal, uintptr(unsafe.Pointer(&at)), uintptr(unsafe.Pointer(&bytes)), uintptr(m), uintptr(unsafe.Pointer(&text[0])))
	if err != nil {
		return err
	}
	if bytes != uintptr(len(dst)) {
		return InvalidValue
	}
	return call(cuMemcpyDtoH, uintptr(unsafe.Pointer(&dst[0])), uintptr(at), bytes)
}

// Attribute is a property of the function.
func (f Function) Attribute(a FunctionAttribute) (int, error) {
	var v int32
	err := call(cuFuncGetAttribute, uintptr(unsafe.Pointer(&v)), uintptr(a), uintptr(f))
	return int(v), err
}

// SetAttribute changes one.
func (f Function) SetAttribute(a FunctionAttribute, v int) error {
	return call(cuFuncSetAttribute, uintptr(f), uintptr(a), uintptr(v))
}

// BlocksPerProcessor is how many blocks of so many threads and bytes of dynamic
// shared memory fit on a multiprocessor at once.
func (f Function) BlocksPerProcessor(threads, shared int) (int, error) {
	var n int32
	err := call(cuOccupancyMaxActiveBlocksPerMultiprocessor, uintptr(unsafe.Pointer(&n)), uintptr(f), uintptr(threads), uintptr(shared))
	return int(n), err
}

// A Launch is a kernel call.
type Launch struct {
	Function    Function
	Grid, Block [3]int
	Shared      int // bytes of dynamic shared memory
	Stream      Stream
	Params      []unsafe.Pointer // to the value of each parameter
	Cooperative bool             // all blocks run at once, or it is an error
	Early       bool             // may begin before the call before it has ended; the kernel waits where it has to
}

// A launchAttribute is a CUlaunchAttribute.
type launchAttribute struct {
	id    int64
	value [16]int32
}

// early allows a call to begin early. The driver sees its address in a struct.
var early = launchAttribute{id: 6, value: [16]int32{1}} // CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION

// A launchConfig is a CUlaunchConfig.
type launchConfig struct {
	grid, block    [3]uint32
	shared         uint32
	stream         Stream
	attributes     *launchAttribute
	attributeCount uint32
}

// Run queues the call. The driver copies the parameters before Run returns.
func (l *Launch) Run() error {
	var params unsafe.Pointer
	if len(l.Params) > 0 {
		params = unsafe.Pointer(&l.Params[0])
	}
	g, b := l.Grid, l.Block
	if l.Cooperative {
		return call(cuLaunchCooperativeKernel, uintptr(l.Function),
			uintptr(g[0]), uintptr(g[1]), uintptr(g[2]), uintptr(b[0]), uintptr(b[1]), uintptr(b[2]),
			uintptr(l.Shared), uintptr(l.Stream), uintptr(params))
	}
	if l.Early && cuLaunchKernelEx != 0 { // drivers before CUDA 11.8 begin it later
		config := &launchConfig{shared: uint32(l.Shared), stream: l.Stream, attributes: &early, attributeCount: 1}
		for i := range g {
			config.grid[i], config.block[i] = uint32(g[i]), uint32(b[i])
		}
		return call(cuLaunchKernelEx, uintptr(unsafe.Pointer(config)), uintptr(l.Function), uintptr(params), 0)
	}
	return call(cuLaunchKernel, uintptr(l.Function),
		uintptr(g[0]), uintptr(g[1]), uintptr(g[2]), uintptr(b[0]), uintptr(b[1]), uintptr(b[2]),
		uintptr(l.Shared), uintptr(l.Stream), uintptr(params), 0)
}

// A TensorMap is a CUtensorMap: how a kernel copies boxes of a batch of images.
type TensorMap [128]byte

// A Tensor is a batch of images in device memory and the box that copies take.
// Address and strides must be multiples of 16, and sides of the box at most 256.
type Tensor struct {
	At                   Pointer
	Element              int // bytes: 1, 2, 4 or 8
	Width, Height, Count uint64
	Stride, Distance     uint64 // bytes from row to row, and from image to image
	BoxWidth, BoxHeight  uint32
}

// Encode is the map of the tensor. Only drivers since CUDA 12 have it.
func (t *Tensor) Encode() (TensorMap, error) {
	const alignment = 64
	kinds := map[int]uintptr{1: 0, 2: 1, 4: 2, 8: 4} // unsigned integers of the CUtensorMapDataType
	kind, ok := kinds[t.Element]
	if !ok {
		return TensorMap{}, InvalidValue
	}
	room := make([]byte, 128+alignment)
	at := -uintptr(unsafe.Pointer(&room[0])) % alignment
	size := [3]uint64{t.Width, t.Height, t.Count}
	strides := [2]uint64{t.Stride, t.Distance}
	box := [3]uint32{t.BoxWidth, t.BoxHeight, 1}
	steps := [3]uint32{1, 1, 1}
	err := call(cuTensorMapEncodeTiled, uintptr(unsafe.Pointer(&room[at])), kind, uintptr(len(size)), uintptr(t.At),
		uintptr(unsafe.Pointer(&size)), uintptr(unsafe.Pointer(&strides)), uintptr(unsafe.Pointer(&box)), uintptr(unsafe.Pointer(&steps)),
		0, 0, 0, 0) // no interleaving, no swizzle, no promotion in L2, zeros outside
	return TensorMap(room[at:]), err
}
