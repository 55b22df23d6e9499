package driver

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/opencl"
)

func (b *OpenCLBackend) Info() Info { return b.about }

// Memory counts what this backend has allocated: OpenCL does not report what others use.
func (b *OpenCLBackend) Memory() (free, total int64, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return max(b.about.Memory-b.taken, 0), b.about.Memory, nil
}

func (b *OpenCLBackend) Close() error {
	openCLDrivers.Lock()
	defer openCLDrivers.Unlock()
	return b.release()
}

// release frees everything that the backend owns. The caller holds openCLDrivers.
func (b *OpenCLBackend) release() error {
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

func (b *OpenCLBackend) Alloc(bytes int64) (Memory, error) {
	m, err := b.buffer(opencl.MemReadWrite, max(bytes, 1))
	return m, openCLError(fmt.Sprintf("allocate %d bytes", bytes), err)
}

// lazyBytes is the size from which on memory is touched after allocation: some drivers allocate on
// first use, and then the work that uses it would fail.
const lazyBytes = 1 << 20

func (b *OpenCLBackend) buffer(flags uint64, bytes int64) (Memory, error) {
	if bytes > b.maxAlloc {
		return 0, fmt.Errorf("%w: allocation of %d bytes, but %s allows at most %d at a time", boxsum.ErrMemory, bytes, b.about.Name, b.maxAlloc)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if bytes > b.about.Memory-b.taken {
		return 0, fmt.Errorf("%w: allocation of %d bytes, but %d of %d are in use", boxsum.ErrMemory, bytes, b.taken, b.about.Memory)
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
	b.sizes[Memory(m)] = bytes
	b.taken += bytes
	return Memory(m), nil
}

func (b *OpenCLBackend) Free(m Memory) error {
	b.mu.Lock()
	b.taken -= b.sizes[m]
	delete(b.sizes, m)
	b.mu.Unlock()
	return openCLError("free memory", b.driver.ReleaseMemory(opencl.Memory(m)))
}

// AllocHost allocates a buffer in host memory that stays mapped, which drivers copy from and to
// directly.
func (b *OpenCLBackend) AllocHost(bytes int64) (HostMemory, error) {
	what := fmt.Sprintf("take %d page-locked bytes", bytes)
	m, err := b.driver.CreateBuffer(b.context, opencl.MemReadWrite|opencl.MemAllocHostPtr, max(bytes, 1))
	if err != nil {
		return HostMemory{}, openCLError(what, err)
	}
	at, err := b.driver.Map(b.queue, m, max(bytes, 1))
	if err != nil {
		return HostMemory{}, openCLError(what, errors.Join(err, b.driver.ReleaseMemory(m)))
	}
	host := HostMemory{At: at, Bytes: bytes, buffer: Memory(m)}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pinned = append(b.pinned, host)
	return host, nil
}

func (b *OpenCLBackend) FreeHost(m HostMemory) error {
	b.mu.Lock()
	b.pinned = slices.DeleteFunc(b.pinned, func(p HostMemory) bool { return p.buffer == m.buffer })
	b.mu.Unlock()
	buffer := opencl.Memory(m.buffer)
	return openCLError("free page-locked memory", errors.Join(
		b.driver.Unmap(b.queue, buffer, m.At), b.driver.Finish(b.queue), b.driver.ReleaseMemory(buffer)))
}

// isPinned reports whether host memory is page-locked; copies of other memory must wait.
func (b *OpenCLBackend) isPinned(at unsafe.Pointer) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.pinned, func(p HostMemory) bool {
		return uintptr(at) >= uintptr(p.At) && uintptr(at) < uintptr(p.At)+uintptr(p.Bytes)
	})
}

func (b *OpenCLBackend) NewStream() (Stream, error) {
	q, err := b.driver.CreateQueue(b.context, b.device, opencl.QueueProfilingEnable)
	return Stream(q), openCLError("create a queue", err)
}

func (b *OpenCLBackend) FreeStream(s Stream) error {
	return openCLError("free a queue", b.driver.ReleaseQueue(opencl.Queue(s)))
}

func (b *OpenCLBackend) Wait(s Stream) error {
	return openCLError("finish the work", b.driver.Finish(opencl.Queue(s)))
}

func (b *OpenCLBackend) Record(s Stream) (Event, error) {
	e, err := b.driver.Marker(opencl.Queue(s))
	if err != nil {
		return 0, openCLError("record an event", err)
	}
	if err := b.flushed(s, "record an event", nil); err != nil {
		return 0, FirstError(err, b.FreeEvent(Event(e)))
	}
	return Event(e), nil
}

// flushed submits the queued commands to the device, because another queue may wait for them.
func (b *OpenCLBackend) flushed(s Stream, what string, err error) error {
	if err == nil {
		err = b.driver.Flush(opencl.Queue(s))
	}
	return openCLError(what, err)
}

func (b *OpenCLBackend) WaitFor(s Stream, e Event) error {
	return openCLError("wait for an event", b.driver.Barrier(opencl.Queue(s), opencl.Event(e)))
}

func (b *OpenCLBackend) WaitEvent(e Event) error {
	return openCLError("finish the work", b.driver.WaitEvent(opencl.Event(e)))
}

func (b *OpenCLBackend) Elapsed(from, to Event) (float64, error) {
	start, err := b.driver.EventTime(opencl.Event(from))
	if err != nil {
		return 0, openCLError("read the time of an event", err)
	}
	end, err := b.driver.EventTime(opencl.Event(to))
	return float64(int64(end-start)) / 1e6, openCLError("read the time of an event", err)
}

func (b *OpenCLBackend) FreeEvent(e Event) error {
	return openCLError("free an event", b.driver.ReleaseEvent(opencl.Event(e)))
}

func (b *OpenCLBackend) MoveEvent(old Event, s Stream) (Event, error) {
	e, err := b.Record(s)
	if err != nil || old == 0 {
		return e, err
	}
	return e, b.FreeEvent(old)
}
