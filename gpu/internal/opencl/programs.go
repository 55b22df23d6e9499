package opencl

import (
	"math"
	"unsafe"
)

// ProgramFromSource creates a program, to be built, from source.
func (d *Driver) ProgramFromSource(c Context, source string) (Program, error) {
	text := append([]byte(source), 0)
	start, length := unsafe.Pointer(&text[0]), uintptr(len(source))
	h, err := d.create(d.fn.CreateProgramWithSource, uintptr(c), 1, uintptr(unsafe.Pointer(&start)), uintptr(unsafe.Pointer(&length)))
	return Program(h), err
}

// ProgramFromBinary creates a program, to be built, from the result of Binary.
func (d *Driver) ProgramFromBinary(c Context, dev Device, binary []byte) (Program, error) {
	if len(binary) == 0 {
		return 0, &Error{d.fn.CreateProgramWithBinary.name, InvalidBinary}
	}
	start, length := unsafe.Pointer(&binary[0]), uintptr(len(binary))
	var status int32
	h, err := d.create(d.fn.CreateProgramWithBinary, uintptr(c), 1, uintptr(unsafe.Pointer(&dev)), uintptr(unsafe.Pointer(&length)), uintptr(unsafe.Pointer(&start)), uintptr(unsafe.Pointer(&status)))
	if err == nil && status != 0 {
		d.ReleaseProgram(Program(h))
		return 0, check(d.fn.CreateProgramWithBinary, status)
	}
	return Program(h), err
}

// Build compiles a program. If that fails, log holds the driver's messages, if any.
func (d *Driver) Build(p Program, dev Device, options string) (log string, err error) {
	text := append([]byte(options), 0)
	if err = d.call(d.fn.BuildProgram, uintptr(p), 1, uintptr(unsafe.Pointer(&dev)), uintptr(unsafe.Pointer(&text[0])), 0, 0); err == nil {
		return "", nil
	}
	log, _ = d.text(d.fn.GetProgramBuildInfo, uintptr(p), uintptr(dev), programBuildLog)
	return log, err
}

// Binary returns a built program for one device in the driver's own format.
func (d *Driver) Binary(p Program) ([]byte, error) {
	size, err := query[uintptr](d, d.fn.GetProgramInfo, uintptr(p), programBinarySize)
	if err != nil || size == 0 {
		return nil, err
	}
	binary := make([]byte, size)
	start := unsafe.Pointer(&binary[0])
	err = d.call(d.fn.GetProgramInfo, uintptr(p), programBinaries, unsafe.Sizeof(start), uintptr(unsafe.Pointer(&start)), 0)
	return binary, err
}

// ReleaseProgram releases a program.
func (d *Driver) ReleaseProgram(p Program) error { return d.call(d.fn.ReleaseProgram, uintptr(p)) }

// CreateKernel returns a kernel of a built program.
func (d *Driver) CreateKernel(p Program, name string) (Kernel, error) {
	text := append([]byte(name), 0)
	h, err := d.create(d.fn.CreateKernel, uintptr(p), uintptr(unsafe.Pointer(&text[0])))
	return Kernel(h), err
}

// ReleaseKernel releases a kernel.
func (d *Driver) ReleaseKernel(k Kernel) error { return d.call(d.fn.ReleaseKernel, uintptr(k)) }

// SetArg sets an argument of a kernel, which is copied.
func (d *Driver) SetArg(k Kernel, index int, size uintptr, value unsafe.Pointer) error {
	return d.call(d.fn.SetKernelArg, uintptr(k), uintptr(index), size, uintptr(value))
}

// WorkGroupLimit returns the largest work-group size of a kernel.
func (d *Driver) WorkGroupLimit(k Kernel, dev Device) (int, error) {
	n, err := query[uintptr](d, d.fn.GetKernelWorkGroupInfo, uintptr(k), uintptr(dev), kernelWorkGroup)
	return int(min(n, math.MaxInt)), err
}

// LocalBytes returns the local memory that a work-group of a kernel uses.
func (d *Driver) LocalBytes(k Kernel, dev Device) (int, error) {
	n, err := query[uint64](d, d.fn.GetKernelWorkGroupInfo, uintptr(k), uintptr(dev), kernelLocalBytes)
	return int(min(n, math.MaxInt)), err
}

// Launch queues a kernel. global and local are numbers of work-items.
func (d *Driver) Launch(q Queue, k Kernel, global, local [3]uintptr) error {
	return d.call(d.fn.EnqueueNDRangeKernel, uintptr(q), uintptr(k), 3, 0, uintptr(unsafe.Pointer(&global)), uintptr(unsafe.Pointer(&local)), 0, 0, 0)
}

// Marker returns an event that completes when all commands queued so far are done.
func (d *Driver) Marker(q Queue) (Event, error) {
	var e Event
	err := d.call(d.fn.EnqueueMarkerWithWaitList, uintptr(q), 0, 0, uintptr(unsafe.Pointer(&e)))
	return e, err
}

// Barrier makes later commands of a queue wait for an event.
func (d *Driver) Barrier(q Queue, e Event) error {
	return d.call(d.fn.EnqueueBarrierWithWaitList, uintptr(q), 1, uintptr(unsafe.Pointer(&e)), 0)
}

// WaitEvent waits for an event.
func (d *Driver) WaitEvent(e Event) error {
	return d.call(d.fn.WaitForEvents, 1, uintptr(unsafe.Pointer(&e)))
}

// EventTime returns when an event completed, in nanoseconds of the device's clock.
func (d *Driver) EventTime(e Event) (uint64, error) {
	return query[uint64](d, d.fn.GetEventProfilingInfo, uintptr(e), commandEnd)
}

// ReleaseEvent releases an event.
func (d *Driver) ReleaseEvent(e Event) error { return d.call(d.fn.ReleaseEvent, uintptr(e)) }
