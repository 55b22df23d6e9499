// Package opencl calls the few functions of OpenCL 1.2 that package gpu needs. It finds them at run
// time in the system's OpenCL loader.
package opencl

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"sync"
	"unsafe"

	"github.com/boxsum/boxsum/gpu/internal/dynamic"
)

// A Driver holds the OpenCL functions, all of which must exist.
type Driver struct {
	fn struct { // named like the functions, without the prefix cl
		GetPlatformIDs, GetDeviceIDs, GetDeviceInfo, CreateContext, ReleaseContext, CreateCommandQueue,
		ReleaseCommandQueue, GetCommandQueueInfo, Flush, Finish, CreateBuffer, ReleaseMemObject, EnqueueMapBuffer,
		EnqueueUnmapMemObject, EnqueueReadBuffer, EnqueueReadBufferRect, EnqueueWriteBuffer, EnqueueWriteBufferRect,
		EnqueueCopyBuffer, EnqueueCopyBufferRect, EnqueueFillBuffer, CreateProgramWithSource, CreateProgramWithBinary,
		BuildProgram, GetProgramInfo, GetProgramBuildInfo, ReleaseProgram, CreateKernel, ReleaseKernel, SetKernelArg,
		GetKernelWorkGroupInfo, EnqueueNDRangeKernel, EnqueueMarkerWithWaitList, EnqueueBarrierWithWaitList,
		WaitForEvents, GetEventProfilingInfo, ReleaseEvent function
	}
}

// A function is a function of OpenCL.
type function struct {
	name string
	at   uintptr
}

// Load opens the system's OpenCL on the first call.
func Load() (*Driver, error) { return load() }

var load = sync.OnceValues(func() (*Driver, error) { return open(libraries()) })

// libraries returns the names to try, the usual one first.
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
		return nil, errors.New("OpenCL needs a 64-bit program")
	}
	var reasons []error
	for _, name := range libraries {
		library, err := dynamic.Open(name, true)
		if errors.Is(err, dynamic.ErrNone) {
			return nil, err
		}
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
	all := reflect.ValueOf(&d.fn).Elem()
	for i := range all.NumField() {
		name := "cl" + all.Type().Field(i).Name
		at, err := dynamic.Symbol(library, name)
		if err != nil || at == 0 {
			return nil, fmt.Errorf("%s is missing, want OpenCL 1.2 or newer", name)
		}
		all.Field(i).Set(reflect.ValueOf(function{name, at}))
	}
	return d, nil
}

// call calls a function that returns an error code.
//
//go:uintptrescapes
func (d *Driver) call(f function, args ...uintptr) error {
	r := dynamic.Call(f.at, args...)
	return check(f, int32(r))
}

func check(f function, code int32) error {
	if code == 0 {
		return nil
	}
	return &Error{f.name, Code(code)}
}
