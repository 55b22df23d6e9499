package opencl

import (
	"errors"
	"math"
	"runtime"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Handles of OpenCL's objects; zero is none.
type (
	Platform uintptr
	Device   uintptr
	Context  uintptr
	Queue    uintptr
	Memory   uintptr
	Program  uintptr
	Kernel   uintptr
	Event    uintptr
)

// Values of the standard that callers pass.
const (
	PlatformName = 0x0902

	DeviceTypeAll = 0xFFFFFFFF
	DeviceTypeCPU = 1 << 1

	DeviceType              = 0x1000
	DeviceMaxComputeUnits   = 0x1002
	DeviceMaxWorkGroupSize  = 0x1004
	DeviceMaxMemAllocSize   = 0x1010
	DeviceGlobalMemSize     = 0x101F
	DeviceLocalMemSize      = 0x1023
	DeviceAvailable         = 0x1027
	DeviceCompilerAvailable = 0x1028
	DeviceName              = 0x102B
	DeviceVendor            = 0x102C
	DriverVersion           = 0x102D
	DeviceVersion           = 0x102F
	DeviceExtensions        = 0x1030

	QueueProfilingEnable = 1 << 1

	MemReadWrite    = 1 << 0
	MemAllocHostPtr = 1 << 4

	queueContext      = 0x1090
	mapRead           = 1 << 0
	mapWrite          = 1 << 1
	programBinarySize = 0x1165
	programBinaries   = 0x1166
	programBuildLog   = 0x1183
	kernelWorkGroup   = 0x11B0
	kernelLocalBytes  = 0x11B2
	commandEnd        = 0x1283
)

// Platforms lists the installed drivers.
func (d *Driver) Platforms() ([]Platform, error) {
	var n uint32
	if err := d.call(getPlatformIDs, 0, 0, uintptr(unsafe.Pointer(&n))); err != nil || n == 0 {
		return nil, err
	}
	ids := make([]Platform, n)
	err := d.call(getPlatformIDs, uintptr(n), uintptr(unsafe.Pointer(&ids[0])), 0)
	return ids, err
}

// PlatformString is a text about a driver.
func (d *Driver) PlatformString(p Platform, what uint32) (string, error) {
	return d.text(getPlatformInfo, uintptr(p), uintptr(what))
}

// Devices lists the devices of a driver, which may be none.
func (d *Driver) Devices(p Platform) ([]Device, error) {
	var n uint32
	err := d.call(getDeviceIDs, uintptr(p), DeviceTypeAll, 0, 0, uintptr(unsafe.Pointer(&n)))
	var failed *Error
	if errors.As(err, &failed) && failed.Code == DeviceNotFound {
		return nil, nil
	}
	if err != nil || n == 0 {
		return nil, err
	}
	ids := make([]Device, n)
	err = d.call(getDeviceIDs, uintptr(p), DeviceTypeAll, uintptr(n), uintptr(unsafe.Pointer(&ids[0])), 0)
	return ids, err
}

// DeviceString is a text about a device.
func (d *Driver) DeviceString(dev Device, what uint32) (string, error) {
	return d.text(getDeviceInfo, uintptr(dev), uintptr(what))
}

// DeviceNumber is a number about a device, whatever its width. The largest int64 stands
// for all that are larger.
func (d *Driver) DeviceNumber(dev Device, what uint32) (int64, error) {
	var n uint64 // little-endian everywhere, so that narrower ones fit
	err := d.call(getDeviceInfo, uintptr(dev), uintptr(what), unsafe.Sizeof(n), uintptr(unsafe.Pointer(&n)), 0)
	return int64(min(n, math.MaxInt64)), err
}

// CreateContext makes a context of one device.
func (d *Driver) CreateContext(dev Device) (Context, error) {
	h, err := d.create(createContext, 0, 1, uintptr(unsafe.Pointer(&dev)), 0, 0)
	return Context(h), err
}

// ReleaseContext gives a context back.
func (d *Driver) ReleaseContext(c Context) error { return d.call(releaseContext, uintptr(c)) }

// CreateQueue makes a queue that runs its commands in order.
func (d *Driver) CreateQueue(c Context, dev Device, properties uint64) (Queue, error) {
	h, err := d.create(createCommandQueue, uintptr(c), uintptr(dev), uintptr(properties))
	return Queue(h), err
}

// ReleaseQueue gives a queue back once its commands are done.
func (d *Driver) ReleaseQueue(q Queue) error { return d.call(releaseCommandQueue, uintptr(q)) }

// QueueContext is the context that a queue is in.
func (d *Driver) QueueContext(q Queue) (Context, error) {
	var c Context
	err := d.call(getCommandQueueInfo, uintptr(q), queueContext, unsafe.Sizeof(c), uintptr(unsafe.Pointer(&c)), 0)
	return c, err
}

// Flush hands the queue's commands to the device.
func (d *Driver) Flush(q Queue) error { return d.call(flush, uintptr(q)) }

// Finish waits for all commands of a queue.
func (d *Driver) Finish(q Queue) error { return d.call(finish, uintptr(q)) }

// CreateBuffer allocates memory.
func (d *Driver) CreateBuffer(c Context, flags uint64, bytes int64) (Memory, error) {
	h, err := d.create(createBuffer, uintptr(c), uintptr(flags), uintptr(bytes), 0)
	return Memory(h), err
}

// ReleaseMemory gives memory back.
func (d *Driver) ReleaseMemory(m Memory) error { return d.call(releaseMemObject, uintptr(m)) }

// Map makes a whole buffer visible to the host, and waits until it is.
func (d *Driver) Map(q Queue, m Memory, bytes int64) (unsafe.Pointer, error) {
	h, err := d.create(enqueueMapBuffer, uintptr(q), uintptr(m), 1, mapRead|mapWrite, 0, uintptr(bytes), 0, 0, 0)
	return *(*unsafe.Pointer)(unsafe.Pointer(&h)), err // C's memory, which Go does not move
}

// Unmap ends what Map began.
func (d *Driver) Unmap(q Queue, m Memory, p unsafe.Pointer) error {
	return d.call(enqueueUnmapMemObject, uintptr(q), uintptr(m), uintptr(p), 0, 0, 0)
}

// Read copies from a buffer to the host, and waits for it if blocking.
func (d *Driver) Read(q Queue, m Memory, blocking bool, offset, bytes int64, dst unsafe.Pointer) error {
	return d.call(enqueueReadBuffer, uintptr(q), uintptr(m), boolean(blocking), uintptr(offset), uintptr(bytes), uintptr(dst), 0, 0, 0)
}

// Write copies from the host to a buffer, and waits for it if blocking.
func (d *Driver) Write(q Queue, m Memory, blocking bool, offset, bytes int64, src unsafe.Pointer) error {
	return d.call(enqueueWriteBuffer, uintptr(q), uintptr(m), boolean(blocking), uintptr(offset), uintptr(bytes), uintptr(src), 0, 0, 0)
}

// A Region is equal rows in two memories: where the first row starts in each,
// and how far apart rows are.
type Region struct {
	Bytes, Rows             int64 // of a row; how many
	BufferStart, OtherStart int64
	BufferPitch, OtherPitch int64
}

// box is the region as OpenCL counts it: x in bytes, y in rows, one slice.
func (r Region) box() (buffer, other, size *[3]uintptr) {
	return origin(r.BufferStart, r.BufferPitch, r.Bytes), origin(r.OtherStart, r.OtherPitch, r.Bytes),
		&[3]uintptr{uintptr(r.Bytes), uintptr(r.Rows), 1}
}

// origin keeps rows within the pitch where it can: some drivers insist.
func origin(start, pitch, bytes int64) *[3]uintptr {
	if x := start % pitch; x+bytes <= pitch {
		return &[3]uintptr{uintptr(x), uintptr(start / pitch), 0}
	}
	return &[3]uintptr{uintptr(start), 0, 0}
}

// ReadRows copies rows from a buffer to the host, the region's other side.
func (d *Driver) ReadRows(q Queue, m Memory, blocking bool, r Region, dst unsafe.Pointer) error {
	buffer, host, size := r.box()
	return d.call(enqueueReadBufferRect, uintptr(q), uintptr(m), boolean(blocking), uintptr(unsafe.Pointer(buffer)), uintptr(unsafe.Pointer(host)), uintptr(unsafe.Pointer(size)),
		uintptr(r.BufferPitch), 0, uintptr(r.OtherPitch), 0, uintptr(dst), 0, 0, 0)
}

// WriteRows copies rows from the host, the region's other side, to a buffer.
func (d *Driver) WriteRows(q Queue, m Memory, blocking bool, r Region, src unsafe.Pointer) error {
	buffer, host, size := r.box()
	return d.call(enqueueWriteBufferRect, uintptr(q), uintptr(m), boolean(blocking), uintptr(unsafe.Pointer(buffer)), uintptr(unsafe.Pointer(host)), uintptr(unsafe.Pointer(size)),
		uintptr(r.BufferPitch), 0, uintptr(r.OtherPitch), 0, uintptr(src), 0, 0, 0)
}

// Copy copies between buffers.
func (d *Driver) Copy(q Queue, dst, src Memory, dstOffset, srcOffset, bytes int64) error {
	return d.call(enqueueCopyBuffer, uintptr(q), uintptr(src), uintptr(dst), uintptr(srcOffset), uintptr(dstOffset), uintptr(bytes), 0, 0, 0)
}

// CopyRows copies rows to a buffer from another one.
func (d *Driver) CopyRows(q Queue, dst, src Memory, r Region) error {
	to, from, size := r.box()
	return d.call(enqueueCopyBufferRect, uintptr(q), uintptr(src), uintptr(dst), uintptr(unsafe.Pointer(from)), uintptr(unsafe.Pointer(to)), uintptr(unsafe.Pointer(size)),
		uintptr(r.OtherPitch), 0, uintptr(r.BufferPitch), 0, 0, 0, 0)
}

// Fill sets bytes of a buffer.
func (d *Driver) Fill(q Queue, m Memory, value byte, offset, bytes int64) error {
	return d.call(enqueueFillBuffer, uintptr(q), uintptr(m), uintptr(unsafe.Pointer(&value)), 1, uintptr(offset), uintptr(bytes), 0, 0, 0)
}

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
	var size uintptr
	if d.call(getProgramBuildInfo, uintptr(p), uintptr(dev), programBuildLog, 0, 0, uintptr(unsafe.Pointer(&size))) != nil || size == 0 {
		return "", err
	}
	out := make([]byte, size)
	d.call(getProgramBuildInfo, uintptr(p), uintptr(dev), programBuildLog, size, uintptr(unsafe.Pointer(&out[0])), 0)
	return trimmed(out), err
}

// Binary is a built program of one device, in the driver's own form.
func (d *Driver) Binary(p Program) ([]byte, error) {
	var size uintptr
	if err := d.call(getProgramInfo, uintptr(p), programBinarySize, unsafe.Sizeof(size), uintptr(unsafe.Pointer(&size)), 0); err != nil || size == 0 {
		return nil, err
	}
	binary := make([]byte, size)
	start := unsafe.Pointer(&binary[0])
	err := d.call(getProgramInfo, uintptr(p), programBinaries, unsafe.Sizeof(start), uintptr(unsafe.Pointer(&start)), 0)
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
	var n uintptr
	err := d.call(getKernelWorkGroupInfo, uintptr(k), uintptr(dev), kernelWorkGroup, unsafe.Sizeof(n), uintptr(unsafe.Pointer(&n)), 0)
	return int(min(n, math.MaxInt)), err
}

// LocalBytes is how much local memory a work-group of a kernel takes.
func (d *Driver) LocalBytes(k Kernel, dev Device) (int, error) {
	var n uint64
	err := d.call(getKernelWorkGroupInfo, uintptr(k), uintptr(dev), kernelLocalBytes, unsafe.Sizeof(n), uintptr(unsafe.Pointer(&n)), 0)
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
	var ns uint64
	err := d.call(getEventProfilingInfo, uintptr(e), commandEnd, unsafe.Sizeof(ns), uintptr(unsafe.Pointer(&ns)), 0)
	return ns, err
}

// ReleaseEvent gives an event back.
func (d *Driver) ReleaseEvent(e Event) error { return d.call(releaseEvent, uintptr(e)) }

// create is for functions that return a handle, with the error code last.
//
//go:uintptrescapes
func (d *Driver) create(function int, args ...uintptr) (uintptr, error) {
	code := new(int32)
	var pin runtime.Pinner // a conversion inside append keeps nothing alive
	pin.Pin(code)
	defer pin.Unpin()
	h, _, _ := purego.SyscallN(d.at[function], append(args, uintptr(unsafe.Pointer(code)))...)
	return h, check(function, *code)
}

func (d *Driver) text(function int, of, what uintptr) (string, error) {
	var size uintptr
	if err := d.call(function, of, what, 0, 0, uintptr(unsafe.Pointer(&size))); err != nil || size == 0 {
		return "", err
	}
	out := make([]byte, size)
	err := d.call(function, of, what, size, uintptr(unsafe.Pointer(&out[0])), 0)
	return trimmed(out), err
}

func trimmed(text []byte) string { return strings.Trim(string(text), "\x00 \n\t") }

func boolean(b bool) uintptr {
	if b {
		return 1
	}
	return 0
}
