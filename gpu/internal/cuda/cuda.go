// Package cuda is the few functions of NVIDIA's driver API that boxsum needs,
// found at run time: no toolkit, no vendor headers, no cgo.
//
// Every function but [Load] may be called only after Load succeeded. Those that
// work in a context want it current on the calling thread, see [Context.Enter].
package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// The functions. Each is 0 until it is found.
var (
	cuInit                    uintptr
	cuDriverGetVersion        uintptr
	cuGetErrorName            uintptr
	cuGetErrorString          uintptr
	cuDeviceGetCount          uintptr
	cuDeviceGet               uintptr
	cuDeviceGetName           uintptr
	cuDeviceGetAttribute      uintptr
	cuDeviceTotalMem          uintptr
	cuDevicePrimaryCtxRetain  uintptr
	cuDevicePrimaryCtxRelease uintptr
	cuCtxPushCurrent          uintptr
	cuCtxPopCurrent           uintptr
	cuMemGetInfo              uintptr
	cuMemAlloc                uintptr
	cuMemFree                 uintptr
	cuMemHostAlloc            uintptr
	cuMemFreeHost             uintptr
	cuMemcpyHtoDAsync         uintptr
	cuMemcpyDtoHAsync         uintptr
	cuMemcpyDtoDAsync         uintptr
	cuMemcpy2DAsync           uintptr
	cuMemsetD8Async           uintptr
	cuStreamCreate            uintptr
	cuStreamDestroy           uintptr
	cuStreamSynchronize       uintptr
	cuStreamWaitEvent         uintptr
	cuEventCreate             uintptr
	cuEventDestroy            uintptr
	cuEventRecord             uintptr
	cuEventSynchronize        uintptr
	cuEventElapsedTime        uintptr
	cuModuleLoadDataEx        uintptr
	cuModuleUnload            uintptr
	cuModuleGetFunction       uintptr
	cuFuncGetAttribute        uintptr
	cuLaunchKernel            uintptr

	cuFuncSetAttribute                          uintptr
	cuOccupancyMaxActiveBlocksPerMultiprocessor uintptr
	cuLaunchCooperativeKernel                   uintptr
	cuModuleGetGlobal                           uintptr
	cuMemcpyDtoH                                uintptr
	cuTensorMapEncodeTiled                      uintptr
	cuPointerGetAttribute                       uintptr
	cuLaunchKernelEx                            uintptr
)

type symbol struct {
	name string
	at   *uintptr
}

// required must all be there. A name with _v2 is what programs have called
// under the plain name since that version.
var required = []symbol{
	{"cuInit", &cuInit},
	{"cuDriverGetVersion", &cuDriverGetVersion},
	{"cuGetErrorName", &cuGetErrorName},
	{"cuGetErrorString", &cuGetErrorString},
	{"cuDeviceGetCount", &cuDeviceGetCount},
	{"cuDeviceGet", &cuDeviceGet},
	{"cuDeviceGetName", &cuDeviceGetName},
	{"cuDeviceGetAttribute", &cuDeviceGetAttribute},
	{"cuDeviceTotalMem_v2", &cuDeviceTotalMem},
	{"cuDevicePrimaryCtxRetain", &cuDevicePrimaryCtxRetain},
	{"cuDevicePrimaryCtxRelease_v2", &cuDevicePrimaryCtxRelease},
	{"cuCtxPushCurrent_v2", &cuCtxPushCurrent},
	{"cuCtxPopCurrent_v2", &cuCtxPopCurrent},
	{"cuMemGetInfo_v2", &cuMemGetInfo},
	{"cuMemAlloc_v2", &cuMemAlloc},
	{"cuMemFree_v2", &cuMemFree},
	{"cuMemHostAlloc", &cuMemHostAlloc},
	{"cuMemFreeHost", &cuMemFreeHost},
	{"cuMemcpyHtoDAsync_v2", &cuMemcpyHtoDAsync},
	{"cuMemcpyDtoHAsync_v2", &cuMemcpyDtoHAsync},
	{"cuMemcpyDtoDAsync_v2", &cuMemcpyDtoDAsync},
	{"cuMemcpy2DAsync_v2", &cuMemcpy2DAsync},
	{"cuMemsetD8Async", &cuMemsetD8Async},
	{"cuStreamCreate", &cuStreamCreate},
	{"cuStreamDestroy_v2", &cuStreamDestroy},
	{"cuStreamSynchronize", &cuStreamSynchronize},
	{"cuStreamWaitEvent", &cuStreamWaitEvent},
	{"cuEventCreate", &cuEventCreate},
	{"cuEventDestroy_v2", &cuEventDestroy},
	{"cuEventRecord", &cuEventRecord},
	{"cuEventSynchronize", &cuEventSynchronize},
	{"cuEventElapsedTime", &cuEventElapsedTime},
	{"cuModuleLoadDataEx", &cuModuleLoadDataEx},
	{"cuModuleUnload", &cuModuleUnload},
	{"cuModuleGetFunction", &cuModuleGetFunction},
	{"cuFuncGetAttribute", &cuFuncGetAttribute},
	{"cuLaunchKernel", &cuLaunchKernel},
}

// optional are newer; without one, what needs it is [NotSupported]. The newer
// name of a required function replaces the older one.
var optional = []symbol{
	{"cuEventElapsedTime_v2", &cuEventElapsedTime},
	{"cuFuncSetAttribute", &cuFuncSetAttribute},
	{"cuOccupancyMaxActiveBlocksPerMultiprocessor", &cuOccupancyMaxActiveBlocksPerMultiprocessor},
	{"cuLaunchCooperativeKernel", &cuLaunchCooperativeKernel},
	{"cuModuleGetGlobal_v2", &cuModuleGetGlobal},
	{"cuMemcpyDtoH_v2", &cuMemcpyDtoH},
	{"cuTensorMapEncodeTiled", &cuTensorMapEncodeTiled},
	{"cuPointerGetAttribute", &cuPointerGetAttribute},
	{"cuLaunchKernelEx", &cuLaunchKernelEx},
}

// Load finds the driver and initialises it, once; later calls return what the
// first one did.
var Load = sync.OnceValue(load)

func load() error {
	if strconv.IntSize < 64 {
		return errors.New("CUDA needs a 64-bit program")
	}
	library, err := openAny(libraries)
	if err != nil {
		return err
	}
	for _, s := range required {
		if *s.at = find(library, s.name); *s.at == 0 {
			return fmt.Errorf("the driver's library has no %s: it is too old, or something else of that name", s.name)
		}
	}
	for _, s := range optional {
		if at := find(library, s.name); at != 0 {
			*s.at = at
		}
	}
	return call(cuInit, 0)
}

// openAny opens the first library that is there. It stays open for the life of
// the process.
func openAny(names []string) (uintptr, error) {
	if len(names) == 0 {
		return 0, fmt.Errorf("there is no CUDA driver for %s", runtime.GOOS)
	}
	var reasons []error
	for _, name := range names {
		library, err := open(name)
		if err == nil {
			return library, nil
		}
		reasons = append(reasons, err)
	}
	return 0, fmt.Errorf("no NVIDIA driver: %w", errors.Join(reasons...))
}

// A Result is a CUresult other than success.
type Result int32

// The results that callers act upon.
const (
	InvalidValue Result = 1
	OutOfMemory  Result = 2
	NoDevice     Result = 100
	NotFound     Result = 500
	NotSupported Result = 801
)

// Refuses says whether this is how a driver answers to a module that it will never
// load, because of its version, the device or what is installed.
func (r Result) Refuses() bool {
	switch r {
	case 200, 209, 218, 221, 222, 223: // invalid image, no binary for the GPU, invalid PTX, no compiler, unsupported PTX version, compiling disabled
		return true
	}
	return false
}

// Error is the driver's name of the result and its explanation.
func (r Result) Error() string {
	return fmt.Sprintf("%s (%s)", describe(cuGetErrorName, r), describe(cuGetErrorString, r))
}

func describe(function uintptr, r Result) string {
	var text *byte // the driver's own, and constant
	if function == 0 || call(function, uintptr(r), uintptr(unsafe.Pointer(&text))) != nil || text == nil {
		return "CUDA error " + strconv.Itoa(int(r))
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(text), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(text, n))
}

// call calls a function of the driver. What the arguments point to is kept
// alive, and in place, until it returns.
//
//go:uintptrescapes
func call(function uintptr, args ...uintptr) error {
	if function == 0 {
		return NotSupported
	}
	r, _, _ := purego.SyscallN(function, args...)
	if result := Result(r); result != 0 {
		return result
	}
	return nil
}
