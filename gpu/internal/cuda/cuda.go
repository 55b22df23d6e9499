// Package cuda calls the few functions of NVIDIA's driver API that boxsum needs. It finds them at
// run time: no toolkit, no vendor headers, no cgo.
//
// No function except [Load] may be called before Load succeeded. Those that work in a context need
// it to be current on the calling thread; see [Context.Enter].
package cuda

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"unsafe"

	"github.com/boxsum/boxsum/gpu/internal/dynamic"
)

// A function is a function of the driver.
type function struct {
	names    []string // the newest last
	optional bool
	at       uintptr // address, or 0 if not found
}

// functions lists all functions of the driver that this package declares.
var functions []*function

// required declares a function that every supported driver has, under one of the given names.
func required(names ...string) *function {
	f := &function{names: names}
	functions = append(functions, f)
	return f
}

// optional declares a function that older drivers lack. Calling it then returns [NotSupported].
func optional(name string) *function {
	f := required(name)
	f.optional = true
	return f
}

// The functions. CUDA's headers map some plain names to names with the suffix _v2.
var (
	cuInit                    = required("cuInit")
	cuDriverGetVersion        = required("cuDriverGetVersion")
	cuGetErrorName            = required("cuGetErrorName")
	cuGetErrorString          = required("cuGetErrorString")
	cuDeviceGetCount          = required("cuDeviceGetCount")
	cuDeviceGet               = required("cuDeviceGet")
	cuDeviceGetName           = required("cuDeviceGetName")
	cuDeviceGetAttribute      = required("cuDeviceGetAttribute")
	cuDeviceTotalMem          = required("cuDeviceTotalMem_v2")
	cuDevicePrimaryCtxRetain  = required("cuDevicePrimaryCtxRetain")
	cuDevicePrimaryCtxRelease = required("cuDevicePrimaryCtxRelease_v2")
	cuCtxCreate               = required("cuCtxCreate_v2")
	cuCtxDestroy              = required("cuCtxDestroy_v2")
	cuCtxPushCurrent          = required("cuCtxPushCurrent_v2")
	cuCtxPopCurrent           = required("cuCtxPopCurrent_v2")
	cuMemGetInfo              = required("cuMemGetInfo_v2")
	cuMemAlloc                = required("cuMemAlloc_v2")
	cuMemFree                 = required("cuMemFree_v2")
	cuMemHostAlloc            = required("cuMemHostAlloc")
	cuMemFreeHost             = required("cuMemFreeHost")
	cuMemcpyHtoDAsync         = required("cuMemcpyHtoDAsync_v2")
	cuMemcpyDtoHAsync         = required("cuMemcpyDtoHAsync_v2")
	cuMemcpyDtoDAsync         = required("cuMemcpyDtoDAsync_v2")
	cuMemcpy2DAsync           = required("cuMemcpy2DAsync_v2")
	cuMemsetD8Async           = required("cuMemsetD8Async")
	cuStreamCreate            = required("cuStreamCreate")
	cuStreamDestroy           = required("cuStreamDestroy_v2")
	cuStreamSynchronize       = required("cuStreamSynchronize")
	cuStreamWaitEvent         = required("cuStreamWaitEvent")
	cuEventCreate             = required("cuEventCreate")
	cuEventDestroy            = required("cuEventDestroy_v2")
	cuEventRecord             = required("cuEventRecord")
	cuEventSynchronize        = required("cuEventSynchronize")
	cuEventElapsedTime        = required("cuEventElapsedTime", "cuEventElapsedTime_v2")
	cuModuleLoadDataEx        = required("cuModuleLoadDataEx")
	cuModuleUnload            = required("cuModuleUnload")
	cuModuleGetFunction       = required("cuModuleGetFunction")
	cuFuncGetAttribute        = required("cuFuncGetAttribute")
	cuLaunchKernel            = required("cuLaunchKernel")

	cuFuncSetAttribute                          = optional("cuFuncSetAttribute")
	cuOccupancyMaxActiveBlocksPerMultiprocessor = optional("cuOccupancyMaxActiveBlocksPerMultiprocessor")
	cuModuleGetGlobal                           = optional("cuModuleGetGlobal_v2")
	cuMemcpyDtoH                                = optional("cuMemcpyDtoH_v2")
	cuTensorMapEncodeTiled                      = optional("cuTensorMapEncodeTiled")
	cuPointerGetAttribute                       = optional("cuPointerGetAttribute")
	cuLaunchKernelEx                            = optional("cuLaunchKernelEx")
	cuCtxGetCurrent                             = optional("cuCtxGetCurrent")
	cuStreamIsCapturing                         = optional("cuStreamIsCapturing")
	cuThreadExchangeStreamCaptureMode           = optional("cuThreadExchangeStreamCaptureMode")
	cuMemAllocAsync                             = optional("cuMemAllocAsync")
	cuMemFreeAsync                              = optional("cuMemFreeAsync")
)

// Load finds and initializes the driver. Later calls return the result of the first one.
var Load = sync.OnceValue(load)

func load() error {
	if strconv.IntSize < 64 {
		return errors.New("CUDA needs a 64-bit program")
	}
	library, err := openAny(libraries)
	if err != nil {
		return err
	}
	for _, f := range functions {
		for _, name := range f.names {
			f.at = cmp.Or(find(library, name), f.at)
		}
		if f.at == 0 && !f.optional {
			return fmt.Errorf("the NVIDIA driver's library has no function %s (the driver may be too old)", f.names[0])
		}
	}
	return call(cuInit, 0)
}

// openAny opens the first library that exists. It stays open for the life of the process.
func openAny(names []string) (uintptr, error) {
	if len(names) == 0 {
		return 0, fmt.Errorf("CUDA is not available on %s", runtime.GOOS)
	}
	var reasons []error
	for _, name := range names {
		library, err := open(name)
		if errors.Is(err, dynamic.ErrNone) {
			return 0, err
		}
		if err == nil {
			return library, nil
		}
		reasons = append(reasons, err)
	}
	return 0, fmt.Errorf("no NVIDIA driver: %w", errors.Join(reasons...))
}

// A Result is a CUresult other than success.
type Result int32

// The results that callers distinguish.
const (
	InvalidValue Result = 1
	OutOfMemory  Result = 2
	NoDevice     Result = 100
	NotSupported Result = 801
)

// InCapture reports whether the result is the driver's answer to an operation that is not allowed
// while a stream is captured.
func (r Result) InCapture() bool { return r >= 900 && r < 910 }

// RejectsModule reports whether the result means that the driver will never load a module, because of its
// version, the device, or what is installed.
func (r Result) RejectsModule() bool {
	switch r {
	case 200, 209, 218, 221, 222, 223: // invalid image, no binary for the GPU, invalid PTX, no compiler, unsupported PTX version, compiling disabled
		return true
	}
	return false
}

// Error returns the driver's name for the result and its explanation.
func (r Result) Error() string {
	return fmt.Sprintf("%s (%s)", describe(cuGetErrorName, r), describe(cuGetErrorString, r))
}

func describe(f *function, r Result) string {
	var text *byte // points to the driver's constant memory
	if call(f, uintptr(r), uintptr(unsafe.Pointer(&text))) != nil || text == nil {
		return "CUDA error " + strconv.Itoa(int(r))
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(text), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(text, n))
}

// call calls a function of the driver. It keeps what the arguments point to alive and in place
// until it returns.
//
//go:uintptrescapes
func call(f *function, args ...uintptr) error {
	if f.at == 0 {
		return NotSupported
	}
	r := dynamic.Call(f.at, args...)
	if result := Result(r); result != 0 {
		return result
	}
	return nil
}

// query calls a function that stores its result through its first argument. The other arguments must
// be numbers and handles: what they point to is not kept alive.
func query[T any](f *function, args ...uintptr) (T, error) {
	answer := new(T)
	var pin runtime.Pinner // go:uintptrescapes does not cover a conversion inside append
	pin.Pin(answer)
	defer pin.Unpin()
	err := call(f, append([]uintptr{uintptr(unsafe.Pointer(answer))}, args...)...)
	return *answer, err
}

// number calls a function with a 32-bit result.
func number(f *function, args ...uintptr) (int, error) {
	n, err := query[int32](f, args...)
	return int(n), err
}
