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

// names is the functions that there must be, by their numbers.
var names []string

func function(name string) int {
	names = append(names, name)
	return len(names) - 1
}

// The functions.
var (
	getPlatformIDs             = function("clGetPlatformIDs")
	getDeviceIDs               = function("clGetDeviceIDs")
	getDeviceInfo              = function("clGetDeviceInfo")
	createContext              = function("clCreateContext")
	releaseContext             = function("clReleaseContext")
	createCommandQueue         = function("clCreateCommandQueue")
	releaseCommandQueue        = function("clReleaseCommandQueue")
	getCommandQueueInfo        = function("clGetCommandQueueInfo")
	flush                      = function("clFlush")
	finish                     = function("clFinish")
	createBuffer               = function("clCreateBuffer")
	releaseMemObject           = function("clReleaseMemObject")
	enqueueMapBuffer           = function("clEnqueueMapBuffer")
	enqueueUnmapMemObject      = function("clEnqueueUnmapMemObject")
	enqueueReadBuffer          = function("clEnqueueReadBuffer")
	enqueueReadBufferRect      = function("clEnqueueReadBufferRect")
	enqueueWriteBuffer         = function("clEnqueueWriteBuffer")
	enqueueWriteBufferRect     = function("clEnqueueWriteBufferRect")
	enqueueCopyBuffer          = function("clEnqueueCopyBuffer")
	enqueueCopyBufferRect      = function("clEnqueueCopyBufferRect")
	enqueueFillBuffer          = function("clEnqueueFillBuffer")
	createProgramWithSource    = function("clCreateProgramWithSource")
	createProgramWithBinary    = function("clCreateProgramWithBinary")
	buildProgram               = function("clBuildProgram")
	getProgramInfo             = function("clGetProgramInfo")
	getProgramBuildInfo        = function("clGetProgramBuildInfo")
	releaseProgram             = function("clReleaseProgram")
	createKernel               = function("clCreateKernel")
	releaseKernel              = function("clReleaseKernel")
	setKernelArg               = function("clSetKernelArg")
	getKernelWorkGroupInfo     = function("clGetKernelWorkGroupInfo")
	enqueueNDRangeKernel       = function("clEnqueueNDRangeKernel")
	enqueueMarkerWithWaitList  = function("clEnqueueMarkerWithWaitList")
	enqueueBarrierWithWaitList = function("clEnqueueBarrierWithWaitList")
	waitForEvents              = function("clWaitForEvents")
	getEventProfilingInfo      = function("clGetEventProfilingInfo")
	releaseEvent               = function("clReleaseEvent")
)

// A Driver is the table of OpenCL functions.
type Driver struct{ at []uintptr }

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
	for _, name := range names {
		at, err := symbol(library, name)
		if err != nil || at == 0 {
			return nil, fmt.Errorf("no %s: it takes OpenCL 1.2 or newer", name)
		}
		d.at = append(d.at, at)
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
