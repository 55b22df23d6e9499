package opencl

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"github.com/boxsum/boxsum/gpu/internal/dynamic"
)

// Handles of OpenCL objects; zero is no handle.
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
	DeviceTypeAll = 0xFFFFFFFF
	DeviceTypeCPU = 1 << 1

	DeviceType              = 0x1000
	DeviceMaxComputeUnits   = 0x1002
	DeviceMaxWorkGroupSize  = 0x1004
	DeviceMaxMemAllocSize   = 0x1010
	DeviceGlobalMemSize     = 0x101F
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

// Platforms returns the installed drivers.
func (d *Driver) Platforms() ([]Platform, error) {
	var n uint32
	if err := d.call(d.fn.GetPlatformIDs, 0, 0, uintptr(unsafe.Pointer(&n))); err != nil || n == 0 {
		return nil, err
	}
	ids := make([]Platform, n)
	err := d.call(d.fn.GetPlatformIDs, uintptr(n), uintptr(unsafe.Pointer(&ids[0])), 0)
	return ids, err
}

// Devices returns the devices of a driver, which may have none.
func (d *Driver) Devices(p Platform) ([]Device, error) {
	var n uint32
	err := d.call(d.fn.GetDeviceIDs, uintptr(p), DeviceTypeAll, 0, 0, uintptr(unsafe.Pointer(&n)))
	var failed *Error
	if errors.As(err, &failed) && failed.Code == DeviceNotFound {
		return nil, nil
	}
	if err != nil || n == 0 {
		return nil, err
	}
	ids := make([]Device, n)
	err = d.call(d.fn.GetDeviceIDs, uintptr(p), DeviceTypeAll, uintptr(n), uintptr(unsafe.Pointer(&ids[0])), 0)
	return ids, err
}

// DeviceString returns a string property of a device.
func (d *Driver) DeviceString(dev Device, what uint32) (string, error) {
	return d.text(d.fn.GetDeviceInfo, uintptr(dev), uintptr(what))
}

// DeviceNumber returns an integer property of a device, whatever its width. Values above the
// largest int64 are clamped to it.
func (d *Driver) DeviceNumber(dev Device, what uint32) (int64, error) {
	n, err := query[uint64](d, d.fn.GetDeviceInfo, uintptr(dev), uintptr(what)) // all supported machines are little-endian, so that narrower values fit
	return int64(min(n, math.MaxInt64)), err
}

// CreateContext creates a context of one device.
func (d *Driver) CreateContext(dev Device) (Context, error) {
	h, err := d.create(d.fn.CreateContext, 0, 1, uintptr(unsafe.Pointer(&dev)), 0, 0)
	return Context(h), err
}

// ReleaseContext releases a context.
func (d *Driver) ReleaseContext(c Context) error { return d.call(d.fn.ReleaseContext, uintptr(c)) }

// CreateQueue creates a queue that runs its commands in order.
func (d *Driver) CreateQueue(c Context, dev Device, properties uint64) (Queue, error) {
	h, err := d.create(d.fn.CreateCommandQueue, uintptr(c), uintptr(dev), uintptr(properties))
	return Queue(h), err
}

// ReleaseQueue releases a queue once its commands are done.
func (d *Driver) ReleaseQueue(q Queue) error { return d.call(d.fn.ReleaseCommandQueue, uintptr(q)) }

// QueueContext returns the context of a queue.
func (d *Driver) QueueContext(q Queue) (Context, error) {
	return query[Context](d, d.fn.GetCommandQueueInfo, uintptr(q), queueContext)
}

// Flush submits the queue's commands to the device.
func (d *Driver) Flush(q Queue) error { return d.call(d.fn.Flush, uintptr(q)) }

// Finish waits for all commands of a queue.
func (d *Driver) Finish(q Queue) error { return d.call(d.fn.Finish, uintptr(q)) }

// CreateBuffer allocates memory.
func (d *Driver) CreateBuffer(c Context, flags uint64, bytes int64) (Memory, error) {
	h, err := d.create(d.fn.CreateBuffer, uintptr(c), uintptr(flags), uintptr(bytes), 0)
	return Memory(h), err
}

// ReleaseMemory frees memory.
func (d *Driver) ReleaseMemory(m Memory) error { return d.call(d.fn.ReleaseMemObject, uintptr(m)) }

// Map maps a whole buffer into host memory, and waits until it is accessible.
func (d *Driver) Map(q Queue, m Memory, bytes int64) (unsafe.Pointer, error) {
	h, err := d.create(d.fn.EnqueueMapBuffer, uintptr(q), uintptr(m), 1, mapRead|mapWrite, 0, uintptr(bytes), 0, 0, 0)
	return *(*unsafe.Pointer)(unsafe.Pointer(&h)), err // C memory, which Go does not move
}

// Unmap undoes Map.
func (d *Driver) Unmap(q Queue, m Memory, p unsafe.Pointer) error {
	return d.call(d.fn.EnqueueUnmapMemObject, uintptr(q), uintptr(m), uintptr(p), 0, 0, 0)
}

// Read copies from a buffer to the host, and waits if blocking.
func (d *Driver) Read(q Queue, m Memory, blocking bool, offset, bytes int64, dst unsafe.Pointer) error {
	return d.call(d.fn.EnqueueReadBuffer, uintptr(q), uintptr(m), boolean(blocking), uintptr(offset), uintptr(bytes), uintptr(dst), 0, 0, 0)
}

// Write copies from the host to a buffer, and waits if blocking.
func (d *Driver) Write(q Queue, m Memory, blocking bool, offset, bytes int64, src unsafe.Pointer) error {
	return d.call(d.fn.EnqueueWriteBuffer, uintptr(q), uintptr(m), boolean(blocking), uintptr(offset), uintptr(bytes), uintptr(src), 0, 0, 0)
}

// A Region describes equal rows in two memories: where the first row starts in each, and the
// distance between rows.
type Region struct {
	Bytes, Rows             int64 // bytes of a row; number of rows
	BufferStart, OtherStart int64
	BufferPitch, OtherPitch int64
}

// box returns the region in OpenCL's terms: x in bytes, y in rows, one slice.
func (r Region) box() (buffer, other, size *[3]uintptr) {
	return origin(r.BufferStart, r.BufferPitch, r.Bytes), origin(r.OtherStart, r.OtherPitch, r.Bytes),
		&[3]uintptr{uintptr(r.Bytes), uintptr(r.Rows), 1}
}

// origin keeps rows within the pitch where possible, as some drivers require.
func origin(start, pitch, bytes int64) *[3]uintptr {
	if x := start % pitch; x+bytes <= pitch {
		return &[3]uintptr{uintptr(x), uintptr(start / pitch), 0}
	}
	return &[3]uintptr{uintptr(start), 0, 0}
}

// ReadRows copies rows from a buffer to the host, which is the other side of the region.
func (d *Driver) ReadRows(q Queue, m Memory, blocking bool, r Region, dst unsafe.Pointer) error {
	return d.hostRows(d.fn.EnqueueReadBufferRect, q, m, blocking, r, dst)
}

// WriteRows copies rows from the host, which is the other side of the region, to a buffer.
func (d *Driver) WriteRows(q Queue, m Memory, blocking bool, r Region, src unsafe.Pointer) error {
	return d.hostRows(d.fn.EnqueueWriteBufferRect, q, m, blocking, r, src)
}

func (d *Driver) hostRows(f function, q Queue, m Memory, blocking bool, r Region, host unsafe.Pointer) error {
	from, to, size := r.box()
	return d.call(f, uintptr(q), uintptr(m), boolean(blocking), uintptr(unsafe.Pointer(from)), uintptr(unsafe.Pointer(to)), uintptr(unsafe.Pointer(size)),
		uintptr(r.BufferPitch), 0, uintptr(r.OtherPitch), 0, uintptr(host), 0, 0, 0)
}

// Copy copies between buffers.
func (d *Driver) Copy(q Queue, dst, src Memory, dstOffset, srcOffset, bytes int64) error {
	return d.call(d.fn.EnqueueCopyBuffer, uintptr(q), uintptr(src), uintptr(dst), uintptr(srcOffset), uintptr(dstOffset), uintptr(bytes), 0, 0, 0)
}

// CopyRows copies rows from one buffer to another.
func (d *Driver) CopyRows(q Queue, dst, src Memory, r Region) error {
	to, from, size := r.box()
	return d.call(d.fn.EnqueueCopyBufferRect, uintptr(q), uintptr(src), uintptr(dst), uintptr(unsafe.Pointer(from)), uintptr(unsafe.Pointer(to)), uintptr(unsafe.Pointer(size)),
		uintptr(r.OtherPitch), 0, uintptr(r.BufferPitch), 0, 0, 0, 0)
}

// Fill sets the bytes of a buffer.
func (d *Driver) Fill(q Queue, m Memory, value byte, offset, bytes int64) error {
	return d.call(d.fn.EnqueueFillBuffer, uintptr(q), uintptr(m), uintptr(unsafe.Pointer(&value)), 1, uintptr(offset), uintptr(bytes), 0, 0, 0)
}

// create calls a function that returns a handle and stores an error code through its last argument.
//
//go:uintptrescapes
func (d *Driver) create(f function, args ...uintptr) (uintptr, error) {
	code := new(int32)
	var pin runtime.Pinner // go:uintptrescapes does not cover a conversion inside append
	pin.Pin(code)
	defer pin.Unpin()
	h := dynamic.Call(f.at, append(args, uintptr(unsafe.Pointer(code)))...)
	return h, check(f, *code)
}

// query returns a property of an object. What the arguments point to is not kept alive.
func query[T any](d *Driver, f function, of ...uintptr) (T, error) {
	answer := new(T)
	var pin runtime.Pinner // as in create
	pin.Pin(answer)
	defer pin.Unpin()
	err := d.call(f, append(of, unsafe.Sizeof(*answer), uintptr(unsafe.Pointer(answer)), 0)...)
	return *answer, err
}

// text queries a string property.
func (d *Driver) text(f function, of ...uintptr) (string, error) {
	size := new(uintptr)
	var pin runtime.Pinner
	pin.Pin(size)
	defer pin.Unpin()
	if err := d.call(f, append(slices.Clip(of), 0, 0, uintptr(unsafe.Pointer(size)))...); err != nil || *size == 0 {
		return "", err
	}
	out := make([]byte, *size)
	pin.Pin(&out[0])
	err := d.call(f, append(slices.Clip(of), *size, uintptr(unsafe.Pointer(&out[0])), 0)...)
	return strings.Trim(string(out), "\x00 \n\t"), err
}

func boolean(b bool) uintptr {
	if b {
		return 1
	}
	return 0
}
