package cuda

import (
	"runtime"
	"strings"
	"unsafe"
)

// LoadModule loads a cubin, or compiles PTX, which must end with a zero byte. If that fails, log
// holds the compiler's messages.
func LoadModule(image []byte) (m Module, log string, err error) {
	const (
		errorLog      = 5 // CU_JIT_ERROR_LOG_BUFFER
		errorLogBytes = 6
	)
	text := make([]byte, 4096)
	var pin runtime.Pinner // the address is passed as the value of an option
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

// Function returns the kernel with a name.
func (m Module) Function(name string) (Function, error) {
	var f Function
	text := append([]byte(name), 0)
	err := call(cuModuleGetFunction, uintptr(unsafe.Pointer(&f)), uintptr(m), uintptr(unsafe.Pointer(&text[0])))
	return f, err
}

// Global reads a variable of the module, whose size must be that of dst.
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

// Attribute returns an attribute of the function.
func (f Function) Attribute(a FunctionAttribute) (int, error) {
	return number(cuFuncGetAttribute, uintptr(a), uintptr(f))
}

// SetAttribute sets an attribute of the function.
func (f Function) SetAttribute(a FunctionAttribute, v int) error {
	return call(cuFuncSetAttribute, uintptr(f), uintptr(a), uintptr(v))
}

// BlocksPerProcessor returns how many blocks with the given number of threads and bytes of dynamic
// shared memory fit on a multiprocessor at once.
func (f Function) BlocksPerProcessor(threads, shared int) (int, error) {
	return number(cuOccupancyMaxActiveBlocksPerMultiprocessor, uintptr(f), uintptr(threads), uintptr(shared))
}

// A Launch is a kernel launch.
type Launch struct {
	Function    Function
	Grid, Block [3]int
	Shared      int // bytes of dynamic shared memory
	Stream      Stream
	Params      []unsafe.Pointer // pointers to the values of the parameters
	Early       bool             // may begin before the previous launch has ended; the kernel waits where necessary
	Cluster     int              // blocks in a cluster that share their memory, if more than one
}

// A launchAttribute is a CUlaunchAttribute.
type launchAttribute struct {
	id    int64
	value [16]int32
}

// early allows a launch to begin early. The launch configuration holds its address.
var early = launchAttribute{id: 6, value: [16]int32{1}} // CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION

// inClusters returns the attribute that groups blocks into clusters.
func inClusters(blocks int) launchAttribute {
	return launchAttribute{id: 4, value: [16]int32{int32(blocks), 1, 1}} // CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
}

// A launchConfig is a CUlaunchConfig.
type launchConfig struct {
	grid, block    [3]uint32
	shared         uint32
	stream         Stream
	attributes     *launchAttribute
	attributeCount uint32
}

// Run queues the launch. The driver copies the parameters before Run returns.
func (l *Launch) Run() error {
	var params unsafe.Pointer
	if len(l.Params) > 0 {
		params = unsafe.Pointer(&l.Params[0])
	}
	g, b := l.Grid, l.Block
	if (l.Early || l.Cluster > 1) && cuLaunchKernelEx.at != 0 { // drivers before CUDA 11.8 begin launches later, and do not support chips with clusters
		config := &launchConfig{shared: uint32(l.Shared), stream: l.Stream, attributes: &early, attributeCount: 1}
		if l.Cluster > 1 {
			clusters := inClusters(l.Cluster)
			config.attributes = &clusters
		}
		for i := range g {
			config.grid[i], config.block[i] = uint32(g[i]), uint32(b[i])
		}
		return call(cuLaunchKernelEx, uintptr(unsafe.Pointer(config)), uintptr(l.Function), uintptr(params), 0)
	}
	return call(cuLaunchKernel, uintptr(l.Function),
		uintptr(g[0]), uintptr(g[1]), uintptr(g[2]), uintptr(b[0]), uintptr(b[1]), uintptr(b[2]),
		uintptr(l.Shared), uintptr(l.Stream), uintptr(params), 0)
}

// LaunchFunctions returns the addresses of the functions with which C code launches kernels, cuLaunchKernelEx
// and cuCtxGetCurrent, or zeros if the driver lacks them.
func LaunchFunctions() (launch, current uintptr) { return cuLaunchKernelEx.at, cuCtxGetCurrent.at }

// A TensorMap is a CUtensorMap, which describes how a kernel copies boxes of a batch of images.
type TensorMap [128]byte

// A Tensor describes a batch of images in device memory and the box that is copied. Address and
// strides must be multiples of 16, and the sides of the box at most 256.
type Tensor struct {
	At                   Pointer
	Element              int // bytes: 1, 2, 4 or 8
	Width, Height, Count uint64
	Stride, Distance     uint64 // bytes between rows, and between images
	BoxWidth, BoxHeight  uint32
}

// Encode returns the map of the tensor. It needs a driver of CUDA 12 or later.
func (t *Tensor) Encode() (TensorMap, error) {
	const alignment = 64
	kinds := map[int]uintptr{1: 0, 2: 1, 4: 2, 8: 4} // unsigned integers of CUtensorMapDataType
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
		0, 0, 0, 0) // no interleaving, no swizzle, no L2 promotion, zeros outside
	return TensorMap(room[at:]), err
}
