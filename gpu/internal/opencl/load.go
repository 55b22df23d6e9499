// Package opencl is the few functions of OpenCL 1.2 that package gpu needs,
// found at run time in the system's loader of OpenCL drivers.
package opencl

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// The functions, in the order of names.
const (
	getPlatformIDs = iota
	getPlatformInfo
	getDeviceIDs
	getDeviceInfo
	createContext
	releaseContext
	createCommandQueue
	releaseCommandQueue
	getCommandQueueInfo
	flush
	finish
	createBuffer
	releaseMemObject
	enqueueMapBuffer
	enqueueUnmapMemObject
	enqueueReadBuffer
	enqueueReadBufferRect
	enqueueWriteBuffer
	enqueueWriteBufferRect
	enqueueCopyBuffer
	enqueueCopyBufferRect
	enqueueFillBuffer
	createProgramWithSource
	createProgramWithBinary
	buildProgram
	getProgramInfo
	getProgramBuildInfo
	releaseProgram
	createKernel
	releaseKernel
	setKernelArg
	getKernelWorkGroupInfo
	enqueueNDRangeKernel
	enqueueMarkerWithWaitList
	enqueueBarrierWithWaitList
	waitForEvents
	getEventProfilingInfo
	releaseEvent
	functions
)

var names = [functions]string{
	getPlatformIDs:             "clGetPlatformIDs",
	getPlatformInfo:            "clGetPlatformInfo",
	getDeviceIDs:               "clGetDeviceIDs",
	getDeviceInfo:              "clGetDeviceInfo",
	createContext:              "clCreateContext",
	releaseContext:             "clReleaseContext",
	createCommandQueue:         "clCreateCommandQueue",
	releaseCommandQueue:        "clReleaseCommandQueue",
	getCommandQueueInfo:        "clGetCommandQueueInfo",
	flush:                      "clFlush",
	finish:                     "clFinish",
	createBuffer:               "clCreateBuffer",
	releaseMemObject:           "clReleaseMemObject",
	enqueueMapBuffer:           "clEnqueueMapBuffer",
	enqueueUnmapMemObject:      "clEnqueueUnmapMemObject",
	enqueueReadBuffer:          "clEnqueueReadBuffer",
	enqueueReadBufferRect:      "clEnqueueReadBufferRect",
	enqueueWriteBuffer:         "clEnqueueWriteBuffer",
	enqueueWriteBufferRect:     "clEnqueueWriteBufferRect",
	enqueueCopyBuffer:          "clEnqueueCopyBuffer",
	enqueueCopyBufferRect:      "clEnqueueCopyBufferRect",
	enqueueFillBuffer:          "clEnqueueFillBuffer",
	createProgramWithSource:    "clCreateProgramWithSource",
	createProgramWithBinary:    "clCreateProgramWithBinary",
	buildProgram:               "clBuildProgram",
	getProgramInfo:             "clGetProgramInfo",
	getProgramBuildInfo:        "clGetProgramBuildInfo",
	releaseProgram:             "clReleaseProgram",
	createKernel:               "clCreateKernel",
	releaseKernel:              "clReleaseKernel",
	setKernelArg:               "clSetKernelArg",
	getKernelWorkGroupInfo:     "clGetKernelWorkGroupInfo",
	enqueueNDRangeKernel:       "clEnqueueNDRangeKernel",
	enqueueMarkerWithWaitList:  "clEnqueueMarkerWithWaitList",
	enqueueBarrierWithWaitList: "clEnqueueBarrierWithWaitList",
	waitForEvents:              "clWaitForEvents",
	getEventProfilingInfo:      "clGetEventProfilingInfo",
	releaseEvent:               "clReleaseEvent",
}

// A Driver is the table of OpenCL functions.
type Driver struct{ at [functions]uintptr }

// Load opens the system's OpenCL once and for all.
func Load() (*Driver, error) { return load() }

var load = sync.OnceValues(func() (*Driver, error) { return open(libraries()) })

// libraries is where OpenCL may be, the usual place first.
func libraries() []string {
	switch runtime.GOOS {
	case "windows":
		return []string{"OpenCL.dll"}
	case "darwin":
		return []string{"/System/Library/Frameworks/OpenCL.framework/OpenCL"}
	}
	return []string{"libOpenCL.so.1", "libOpenCL.so"}
}

func open(libraries []string) (*Driver, error) {
	if unsafe.Sizeof(uintptr(0)) < 8 {
		return nil, errors.New("OpenCL's 64-bit arguments take a 64-bit program")
	}
	var reasons []error
	for _, name := range libraries {
		library, err := openLibrary(name)
		if err != nil {
			reasons = append(reasons, err)
			continue
		}
		d, err := find(library)
		if err == nil {
			return d, nil
		}
		reasons = append(reasons, fmt.Errorf("%s: %w", name, err))
	}
	return nil, fmt.Errorf("no loader of OpenCL drivers: %w", errors.Join(reasons...))
}

func find(library uintptr) (*Driver, error) {
	d := new(Driver)
	for i, name := range names {
		at, err := symbol(library, name)
		if err != nil || at == 0 {
			return nil, fmt.Errorf("no %s: it takes OpenCL 1.2 or newer", name)
		}
		d.at[i] = at
	}
	return d, nil
}

// call is for functions that return an error code.
//
//go:uintptrescapes
func (d *Driver) call(function int, args ...uintptr) error {
	r, _, _ := purego.SyscallN(d.at[function], args...)
	return check(function, int32(r))
}

func check(function int, code int32) error {
	if code == 0 {
		return nil
	}
	return &Error{names[function], Code(code)}
}
