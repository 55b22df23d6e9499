package gpu

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/boxsum/boxsum/gpu/internal/opencl"
)

// openCLDrivers is held while devices are listed, opened and let go: PoCL sets
// its devices up when they are first listed, may give them up with the last
// context, and crashes where another thread asks about them meanwhile.
var openCLDrivers sync.Mutex

// openCLDevices lists the devices of all OpenCL drivers.
func openCLDevices() ([]Info, error) {
	openCLDrivers.Lock()
	defer openCLDrivers.Unlock()
	var infos []Info
	_, err := eachOpenCL(func(_ opencl.Device, info Info) bool {
		infos = append(infos, info)
		return true
	})
	return infos, err
}

// eachOpenCL calls f for every device that the kernels can run on, until f says
// false. The error is about devices and drivers that were left out. The caller
// holds openCLDrivers.
func eachOpenCL(f func(opencl.Device, Info) bool) (*opencl.Driver, error) {
	driver, err := opencl.Load()
	if err != nil {
		return nil, err
	}
	platforms, err := driver.Platforms()
	if err != nil {
		return nil, err
	}
	if len(platforms) == 0 {
		return nil, errors.New("no driver of OpenCL is installed")
	}
	var reasons []error
	index := 0
	for i, p := range platforms {
		devices, err := driver.Devices(p)
		if err != nil { // not by name: such a driver may not know that either
			reasons = append(reasons, fmt.Errorf("driver %d of %d: %w", i+1, len(platforms), err))
		}
		for _, d := range devices {
			info, err := describeOpenCL(driver, d)
			if err != nil {
				reasons = append(reasons, err)
				continue
			}
			info.Index = index
			index++
			if !f(d, info) {
				return driver, nil
			}
		}
	}
	if index == 0 && len(reasons) == 0 {
		reasons = append(reasons, errors.New("the drivers of OpenCL have no devices"))
	}
	return driver, errors.Join(reasons...)
}

func describeOpenCL(driver *opencl.Driver, d opencl.Device) (Info, error) {
	info := Info{Kind: OpenCL}
	var err error
	text := func(what uint32) (s string) {
		if err == nil {
			s, err = driver.DeviceString(d, what)
		}
		return s
	}
	number := func(what uint32) (n int64) {
		if err == nil {
			n, err = driver.DeviceNumber(d, what)
		}
		return n
	}
	info.Name, info.Vendor, info.Driver = text(opencl.DeviceName), text(opencl.DeviceVendor), text(opencl.DriverVersion)
	info.Memory, info.Units = number(opencl.DeviceGlobalMemSize), int(number(opencl.DeviceMaxComputeUnits))
	info.CPU = number(opencl.DeviceType)&opencl.DeviceTypeCPU != 0
	usable := number(opencl.DeviceAvailable) != 0 && number(opencl.DeviceCompilerAvailable) != 0
	version := text(opencl.DeviceVersion) // "OpenCL 3.0 and what the vendor likes"
	if err != nil {
		return info, err
	}
	if !usable {
		return info, fmt.Errorf("%s: the device or its compiler is not available", info.Name)
	}
	var major, minor int
	if _, err := fmt.Sscanf(version, "OpenCL %d.%d", &major, &minor); err != nil || major*10+minor < 12 {
		return info, fmt.Errorf("%s: %s: it takes OpenCL 1.2 or newer", info.Name, version)
	}
	info.Version = fmt.Sprintf("%d.%d", major, minor)
	return info, nil
}

// An openCLBackend is a device of OpenCL in a context of its own.
type openCLBackend struct {
	tracer
	about    Info
	driver   *opencl.Driver
	device   opencl.Device
	context  opencl.Context
	queue    opencl.Queue // for mapping memory
	maxAlloc int64
	maxGroup int
	float64  bool // whether it has them

	mu       sync.Mutex
	sizes    map[memory]int64 // of what is allocated
	taken    int64            // their sum
	pinned   []hostMemory
	programs programs
}

func openOpenCL(info Info) (backend, error) {
	openCLDrivers.Lock()
	defer openCLDrivers.Unlock()
	var found opencl.Device
	driver, err := eachOpenCL(func(d opencl.Device, i Info) bool {
		if i.Index == info.Index {
			found, info = d, i
		}
		return found == 0
	})
	if found == 0 {
		if err == nil {
			err = fmt.Errorf("no device %d", info.Index)
		}
		return nil, fmt.Errorf("gpu: %w: opencl: %w", ErrNoDevice, oneLine{err})
	}
	b := &openCLBackend{about: info, driver: driver, device: found, sizes: map[memory]int64{}, programs: newPrograms()}
	if err := b.open(); err != nil {
		return nil, firstError(openCLError("open the device", err), b.release())
	}
	return b, nil
}

func (b *openCLBackend) open() (err error) {
	if b.maxAlloc, err = b.driver.DeviceNumber(b.device, opencl.DeviceMaxMemAllocSize); err != nil {
		return err
	}
	group, err := b.driver.DeviceNumber(b.device, opencl.DeviceMaxWorkGroupSize)
	if err != nil {
		return err
	}
	b.maxGroup = int(min(max(group, 0), math.MaxInt32))
	extensions, err := b.driver.DeviceString(b.device, opencl.DeviceExtensions)
	if err != nil {
		return err
	}
	b.float64 = slices.Contains(strings.Fields(extensions), "cl_khr_fp64")
	if b.context, err = b.driver.CreateContext(b.device); err != nil {
		return err
	}
	b.queue, err = b.driver.CreateQueue(b.context, b.device, 0)
	return err
}

// checkQueue says whether work can go on a queue of the caller's: what the backend
// has is in a context of its own, and queues of others cannot use it.
func (b *openCLBackend) checkQueue(q opencl.Queue) error {
	context, err := b.driver.QueueContext(q)
	if err != nil {
		return openCLError("look at a queue", err)
	}
	if context != b.context {
		return fmt.Errorf("gpu: opencl: %w: the queue is in another context than the device: make it in the context of memory that Device.Take gave", ErrNoDevice)
	}
	return nil
}

// openCLError says what failed, and that it was memory where it was.
func openCLError(what string, err error) error {
	if err == nil {
		return nil
	}
	var failed *opencl.Error
	if errors.As(err, &failed) {
		switch failed.Code {
		case opencl.MemObjectAllocation, opencl.OutOfResources, opencl.OutOfHostMemory, opencl.InvalidBufferSize:
			return fmt.Errorf("gpu: opencl: %s: %w: %w", what, ErrMemory, err)
		}
	}
	return fmt.Errorf("gpu: opencl: %s: %w", what, err)
}

func (b *openCLBackend) info() Info { return b.about }

// memory counts what this device has given: OpenCL does not say what others have.
func (b *openCLBackend) memory() (free, total int64, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return max(b.about.Memory-b.taken, 0), b.about.Memory, nil
}

func (b *openCLBackend) close() error {
	openCLDrivers.Lock()
	defer openCLDrivers.Unlock()
	return b.release()
}

// release frees what the backend has. The caller holds openCLDrivers.
func (b *openCLBackend) release() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	errs := []error{b.programs.release(b.driver)}
	if b.queue != 0 {
		errs = append(errs, b.driver.ReleaseQueue(b.queue))
	}
	if b.context != 0 {
		errs = append(errs, b.driver.ReleaseContext(b.context))
	}
	b.queue, b.context = 0, 0
	return openCLError("close the device", errors.Join(errs...))
}

func (b *openCLBackend) alloc(bytes int64) (memory, error) {
	m, err := b.buffer(opencl.MemReadWrite, max(bytes, 1))
	return m, openCLError(fmt.Sprintf("take %d bytes", bytes), err)
}

// lazyBytes is from which size on memory is touched, to know that it is there:
// some drivers take it on first use only, and it is work that fails then.
const lazyBytes = 1 << 20

func (b *openCLBackend) buffer(flags uint64, bytes int64) (memory, error) {
	if bytes > b.maxAlloc {
		return 0, fmt.Errorf("%w: %s gives at most %d bytes at a time", ErrMemory, b.about.Name, b.maxAlloc)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if bytes > b.about.Memory-b.taken {
		return 0, fmt.Errorf("%w: %d of %d bytes are in use", ErrMemory, b.taken, b.about.Memory)
	}
	m, err := b.driver.CreateBuffer(b.context, flags, bytes)
	if err != nil {
		return 0, err
	}
	if bytes >= lazyBytes {
		err = b.driver.Fill(b.queue, m, 0, bytes-1, 1)
		if err == nil {
			err = b.driver.Finish(b.queue)
		}
		if err != nil {
			return 0, errors.Join(err, b.driver.ReleaseMemory(m))
		}
	}
	b.sizes[memory(m)] = bytes
	b.taken += bytes
	return memory(m), nil
}

func (b *openCLBackend) free(m memory) error {
	b.mu.Lock()
	b.taken -= b.sizes[m]
	delete(b.sizes, m)
	b.mu.Unlock()
	return openCLError("free memory", b.driver.ReleaseMemory(opencl.Memory(m)))
}

// allocHost is a buffer in host memory that stays mapped: drivers copy from and
// to it without a detour.
func (b *openCLBackend) allocHost(bytes int64) (hostMemory, error) {
	what := fmt.Sprintf("take %d page-locked bytes", bytes)
	m, err := b.driver.CreateBuffer(b.context, opencl.MemReadWrite|opencl.MemAllocHostPtr, max(bytes, 1))
	if err != nil {
		return hostMemory{}, openCLError(what, err)
	}
	at, err := b.driver.Map(b.queue, m, max(bytes, 1))
	if err != nil {
		return hostMemory{}, openCLError(what, errors.Join(err, b.driver.ReleaseMemory(m)))
	}
	host := hostMemory{at: at, bytes: bytes, buffer: memory(m)}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pinned = append(b.pinned, host)
	return host, nil
}

func (b *openCLBackend) freeHost(m hostMemory) error {
	b.mu.Lock()
	b.pinned = slices.DeleteFunc(b.pinned, func(p hostMemory) bool { return p.buffer == m.buffer })
	b.mu.Unlock()
	buffer := opencl.Memory(m.buffer)
	return openCLError("free page-locked memory", errors.Join(
		b.driver.Unmap(b.queue, buffer, m.at), b.driver.Finish(b.queue), b.driver.ReleaseMemory(buffer)))
}

// isPinned says whether host memory is page-locked; a copy must wait otherwise.
func (b *openCLBackend) isPinned(at unsafe.Pointer) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.pinned, func(p hostMemory) bool {
		return uintptr(at) >= uintptr(p.at) && uintptr(at) < uintptr(p.at)+uintptr(p.bytes)
	})
}

func (b *openCLBackend) newStream() (stream, error) {
	q, err := b.driver.CreateQueue(b.context, b.device, opencl.QueueProfilingEnable)
	return stream(q), openCLError("make a queue", err)
}

func (b *openCLBackend) freeStream(s stream) error {
	return openCLError("free a queue", b.driver.ReleaseQueue(opencl.Queue(s)))
}

func (b *openCLBackend) wait(s stream) error {
	return openCLError("finish the work", b.driver.Finish(opencl.Queue(s)))
}

func (b *openCLBackend) record(s stream) (event, error) {
	e, err := b.driver.Marker(opencl.Queue(s))
	if err != nil {
		return 0, openCLError("record an event", err)
	}
	if err := b.flushed(s, "record an event", nil); err != nil {
		return 0, firstError(err, b.freeEvent(event(e)))
	}
	return event(e), nil
}

// flushed makes the device begin with what is queued: another queue may wait
// for it.
func (b *openCLBackend) flushed(s stream, what string, err error) error {
	if err == nil {
		err = b.driver.Flush(opencl.Queue(s))
	}
	return openCLError(what, err)
}

func (b *openCLBackend) waitFor(s stream, e event) error {
	return openCLError("wait for an event", b.driver.Barrier(opencl.Queue(s), opencl.Event(e)))
}

func (b *openCLBackend) waitEvent(e event) error {
	return openCLError("finish the work", b.driver.WaitEvent(opencl.Event(e)))
}

func (b *openCLBackend) elapsed(from, to event) (float64, error) {
	start, err := b.driver.EventTime(opencl.Event(from))
	if err != nil {
		return 0, openCLError("read the time of an event", err)
	}
	end, err := b.driver.EventTime(opencl.Event(to))
	return float64(int64(end-start)) / 1e6, openCLError("read the time of an event", err)
}

func (b *openCLBackend) freeEvent(e event) error {
	return openCLError("free an event", b.driver.ReleaseEvent(opencl.Event(e)))
}

func (b *openCLBackend) copyIn(s stream, dst plane, src unsafe.Pointer, hostStride int64, rows rows) error {
	q, m, wait := opencl.Queue(s), opencl.Memory(dst.memory), !b.isPinned(src)
	region, whole := copyRegion(dst, plane{stride: hostStride}, rows)
	var err error
	switch {
	case region.Bytes == 0:
		return nil
	case whole:
		err = b.driver.Write(q, m, wait, dst.offset, region.Bytes, src)
	default:
		err = b.driver.WriteRows(q, m, wait, region, src)
	}
	return b.flushed(s, "copy to the device", err)
}

func (b *openCLBackend) copyOut(s stream, dst unsafe.Pointer, hostStride int64, src plane, rows rows) error {
	q, m, wait := opencl.Queue(s), opencl.Memory(src.memory), !b.isPinned(dst)
	region, whole := copyRegion(src, plane{stride: hostStride}, rows)
	var err error
	switch {
	case region.Bytes == 0:
		return nil
	case whole:
		err = b.driver.Read(q, m, wait, src.offset, region.Bytes, dst)
	default:
		err = b.driver.ReadRows(q, m, wait, region, dst)
	}
	return b.flushed(s, "copy to the host", err)
}

func (b *openCLBackend) copyWithin(s stream, dst, src plane, rows rows) error {
	q := opencl.Queue(s)
	region, whole := copyRegion(dst, src, rows)
	var err error
	switch {
	case region.Bytes == 0:
		return nil
	case whole:
		err = b.driver.Copy(q, opencl.Memory(dst.memory), opencl.Memory(src.memory), dst.offset, src.offset, region.Bytes)
	default:
		err = b.driver.CopyRows(q, opencl.Memory(dst.memory), opencl.Memory(src.memory), region)
	}
	return b.flushed(s, "copy on the device", err)
}

// copyRegion is what to copy, and whether that is one run of bytes.
func copyRegion(buffer, other plane, rows rows) (r opencl.Region, whole bool) {
	if rows.count == 0 || rows.bytes == 0 {
		return opencl.Region{}, false
	}
	r = opencl.Region{
		Bytes: rows.bytes, Rows: rows.count,
		BufferStart: buffer.offset, BufferPitch: buffer.stride,
		OtherStart: other.offset, OtherPitch: other.stride,
	}
	if rows.count == 1 || buffer.stride == rows.bytes && other.stride == rows.bytes {
		r.Bytes, r.Rows = rows.bytes*rows.count, 1
		return r, true
	}
	return r, false
}

func (b *openCLBackend) fill(s stream, dst plane, value byte, bytes int64) error {
	if bytes == 0 {
		return nil
	}
	return b.flushed(s, "fill memory", b.driver.Fill(opencl.Queue(s), opencl.Memory(dst.memory), value, dst.offset, bytes))
}

func (b *openCLBackend) launch(s stream, kernel string, grid, block [3]int, _ int, args ...arg) error {
	b.mu.Lock() // a kernel keeps its arguments from one call to the next
	defer b.mu.Unlock()
	k, err := b.kernel(kernel, block[0])
	if err != nil {
		return err
	}
	b.note(launched{name: kernel, function: uintptr(k), grid: grid, block: block})
	for i, a := range args {
		if err := b.driver.SetArg(k, i, a.size, a.at); err != nil {
			return openCLError(fmt.Sprintf("argument %d of %s", i, kernel), err)
		}
	}
	var global, local [3]uintptr
	for i := range 3 {
		global[i], local[i] = uintptr(grid[i])*uintptr(block[i]), uintptr(block[i])
	}
	return b.flushed(s, "run "+kernel, b.driver.Launch(opencl.Queue(s), k, global, local))
}

// describe tells what OpenCL knows of a kernel.
func (b *openCLBackend) describe(l launched) (KernelInfo, error) {
	shared, err := b.driver.LocalBytes(opencl.Kernel(l.function), b.device)
	return KernelInfo{Name: l.name, Blocks: l.blocks(), Threads: l.threads(), Shared: shared}, openCLError("describe "+l.name, err)
}
