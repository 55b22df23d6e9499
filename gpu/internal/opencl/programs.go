package opencl

import (
	"math"
	"unsafe"
)

// ProgramFromSource makes a program to build.
func (d *Driver) ProgramFromSource(c Context, source string) (Program, error) {
	text := append([]byte(source), 0)
	start, length := unsafe.Pointer(&text[0]), uintptr(len(source))
	h, err := d.create(createProgramWithSource, uintptr(c), 1, uintptr(unsafe.Pointer(&start)), uintptr(unsafe.Pointer(&length)))
	return Program(h), err
}

// ProgramFromBinary makes a program from what Binary gave, to be built too.
func (d *Driver) ProgramFromBinary(c Context, dev Device, binary []byte) (Program, error) {
	if len(binary) == 0 {
		return 0, &Error{names[createProgramWithBinary], InvalidBinary}
	}
	start, length := unsafe.Pointer(&binary[0]), uintptr(len(binary))
	var status int32
	h, err := d.create(createProgramWithBinary, uintptr(c), 1, uintptr(unsafe.Pointer(&dev)), uintptr(unsafe.Pointer(&length)), uintptr(unsafe.Pointer(&start)), uintptr(unsafe.Pointer(&status)))
	if err == nil && status != 0 {
		d.ReleaseProgram(Program(h))
		return 0, check(createProgramWithBinary, status)
	}
	return Program(h), err
}

// Build compiles a program; where that fails, log says why if the driver does.
func (d *Driver) Build(p Program, dev Device, options string) (log string, err error) {
	text := append([]byte(options), 0)
	if err = d.call(buildProgram, uintptr(p), 1, uintptr(unsafe.Pointer(&dev)), uintptr(unsafe.Pointer(&text[0])), 0, 0); err == nil {
		return "", nil
	}
	log, _ = d.text(getProgramBuildInfo, uintptr(p), uintptr(dev), programBuildLog)
	return log, err
}

// Binary is a built program of one device, in the driver's own form.
func (d *Driver) Binary(p Program) ([]byte, error) {
	size, err := ask[uintptr](d, getProgramInfo, uintptr(p), programBinarySize)
	if err != nil || size == 0 {
		return nil, err
	}
	binary := make([]byte, size)
	start := unsafe.Pointer(&binary[0])
	err = d.call(getProgramInfo, uintptr(p), programBinaries, unsafe.Sizeof(start), uintptr(unsafe.Pointer(&start)), 0)
	return binary, err
}

// ReleaseProgram gives a program back.
func (d *Driver) ReleaseProgram(p Program) error { return d.call(releaseProgram, uintptr(p)) }

// CreateKernel finds a kernel of a built program.
func (d *Driver) CreateKernel(p Program, name string) (Kernel, error) {
	text := append([]byte(name), 0)
	h, err := d.create(createKernel, uintptr(p), uintptr(unsafe.Pointer(&text[0])))
	return Kernel(h), err
}

// ReleaseKernel gives a kernel back.
func (d *Driver) ReleaseKernel(k Kernel) error { return d.call(releaseKernel, uintptr(k)) }

// SetArg copies an argument of a kernel.
func (d *Driver) SetArg(k Kernel, index int, size uintptr, value unsafe.Pointer) error {
	return d.call(setKernelArg, uintptr(k), uintptr(index), size, uintptr(value))
}

// WorkGroupLimit is how many work-items a work-group of a kernel may have.
func (d *Driver) WorkGroupLimit(k Kernel, dev Device) (int, error) {
	n, err := ask[uintptr](d, getKernelWorkGroupInfo, uintptr(k), uintptr(dev), kernelWorkGroup)
	return int(min(n, math.MaxInt)), err
}

// LocalBytes is how much local memory a work-group of a kernel takes.
func (d *Driver) LocalBytes(k Kernel, dev Device) (int, error) {
	n, err := ask[uint64](d, getKernelWorkGroupInfo, uintptr(k), uintptr(dev), kernelLocalBytes)
	return int(min(n, math.MaxInt)), err
}

// Launch queues a kernel: global and local count work-items.
func (d *Driver) Launch(q Queue, k Kernel, global, local [3]uintptr) error {
	return d.call(enqueueNDRangeKernel, uintptr(q), uintptr(k), 3, 0, uintptr(unsafe.Pointer(&global)), uintptr(unsafe.Pointer(&local)), 0, 0, 0)
}

// Marker is an event that happens when all commands queued so far are done.
func (d *Driver) Marker(q Queue) (Event, error) {
	var e Event
	err := d.call(enqueueMarkerWithWaitList, uintptr(q), 0, 0, uintptr(unsafe.Pointer(&e)))
	return e, err
}

// Barrier makes later commands of a queue wait for an event.
func (d *Driver) Barrier(q Queue, e Event) error {
	return d.call(enqueueBarrierWithWaitList, uintptr(q), 1, uintptr(unsafe.Pointer(&e)), 0)
}

// WaitEvent waits for an event.
func (d *Driver) WaitEvent(e Event) error {
	return d.call(waitForEvents, 1, uintptr(unsafe.Pointer(&e)))
}

// EventTime is when an event happened, in nanoseconds of the device's clock.
func (d *Driver) EventTime(e Event) (uint64, error) {
	return ask[uint64](d, getEventProfilingInfo, uintptr(e), commandEnd)
}

// ReleaseEvent gives an event back.
func (d *Driver) ReleaseEvent(e Event) error { return d.call(releaseEvent, uintptr(e)) }
