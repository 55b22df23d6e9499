package driver

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"github.com/boxsum/boxsum/gpu/internal/cuda"
	"github.com/boxsum/boxsum/internal/raster"
)

// cudaDevices lists the CUDA devices.
func cudaDevices() ([]Info, error) {
	if err := cuda.Load(); err != nil {
		return nil, err
	}
	n, err := cuda.DeviceCount()
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, errors.New("the driver reports no devices")
	}
	var infos []Info
	var reasons []error
	for i := range n {
		b, err := describeCUDA(i)
		if err != nil {
			reasons = append(reasons, fmt.Errorf("device %d: %w", i, err))
			continue
		}
		infos = append(infos, b.about)
	}
	return infos, errors.Join(reasons...)
}

// describeCUDA describes the device with an index, before it is opened. It fails if the kernels
// cannot run on the device.
func describeCUDA(index int) (*CUDABackend, error) {
	b := &CUDABackend{about: Info{Kind: CUDA, Index: index, Vendor: "NVIDIA"}, modules: map[string]cuda.Module{}, kernels: map[string]*Kernel{}, refused: map[string]error{}, planes: map[PlaneKey]PlaneKernel{}, volumes: map[string]VolumeKernel{}}
	info := &b.about
	version, err := cuda.DriverVersion()
	info.Driver = fmt.Sprintf("%d.%d", version/1000, version%1000/10)
	if err == nil {
		b.device, err = cuda.DeviceAt(index)
	}
	if err == nil {
		info.Name, err = b.device.Name()
	}
	if err == nil {
		info.Memory, err = b.device.TotalMemory()
	}
	for a, at := range map[cuda.Attribute]*int{cuda.Major: &b.Major, cuda.Minor: &b.Minor, cuda.Multiprocessors: &info.Units, cuda.MaxPitch: &b.maxPitch} {
		if err == nil {
			*at, err = b.device.Attribute(a)
		}
	}
	info.Version = fmt.Sprintf("%d.%d", b.Major, b.Minor)
	if err == nil && 10*b.Major+b.Minor < oldestCUDA {
		err = fmt.Errorf("%s has compute capability %s, want 7.5 or higher (try OpenCL)", info.Name, info.Version)
	}
	return b, err
}

// oldestCUDA is ten times the lowest compute capability that the kernels' PTX supports. Older
// devices are not listed, so that OpenBest tries OpenCL next.
const oldestCUDA = 75

// A CUDABackend is a CUDA device in its primary context, which the rest of the process shares, so
// that pointers of other libraries are valid. If a device is opened again for a group of devices,
// it has a context of its own.
//
// A context is current on an OS thread. Every method therefore makes it current on the thread that
// it happens to run on, which takes a fraction of a microsecond; a dedicated thread would need two
// switches per call.
type CUDABackend struct {
	tracer
	about        Info
	device       cuda.Device
	context      cuda.Context
	own          bool // the context is not shared
	Major, Minor int
	maxPitch     int

	mu      sync.Mutex
	modules map[string]cuda.Module
	kernels map[string]*Kernel
	refused map[string]error // kernels that the driver rejected
	events  []cuda.Event     // to be reused: creating and freeing them is slower
	planes  map[PlaneKey]PlaneKernel
	volumes map[string]VolumeKernel

	// Tuning overrides the choices of the one-pass kernels' launches. Tests set it.
	Tuning struct {
		Path         string // kernel path for images; see package method
		Turns, Slabs int    // number of interleaved images of a batch; number of concurrent slabs of slices
		Quads        int    // width of the tiles of tilted tables
		PTX          bool   // let the driver compile kernels, as on chips without machine code
	}
}

func openCUDA(info Info) (Backend, error) { return openCUDAIn(info, cuda.Device.Retain, false) }

// openOwnCUDA opens a device in a context of its own.
func openOwnCUDA(info Info) (Backend, error) {
	return openCUDAIn(info, cuda.Device.NewContext, true)
}

func openCUDAIn(info Info, context func(cuda.Device) (cuda.Context, error), own bool) (Backend, error) {
	if err := cuda.Load(); err != nil {
		return nil, fmt.Errorf("%w: CUDA: %w", ErrNoDevice, OneLine{err})
	}
	b, err := describeCUDA(info.Index)
	if err != nil {
		return nil, fmt.Errorf("%w: CUDA: device %d: %w", ErrNoDevice, info.Index, err)
	}
	if b.context, err = context(b.device); err != nil {
		return nil, cudaError("open the device", err)
	}
	b.own = own
	return b, nil
}

// cudaError adds what failed, and wraps ErrMemory if memory was short.
func cudaError(what string, err error) error {
	if errors.Is(err, cuda.OutOfMemory) {
		return raster.OutOfMemory("CUDA: %s", what)
	}
	var result cuda.Result
	if errors.As(err, &result) && result.InCapture() {
		return deviceError("CUDA: %s during graph capture: %w (call it once before the capture, with a destination)", what, err)
	}
	return deviceError("CUDA: %s: %w", what, err)
}

// do calls f with the context current.
func (b *CUDABackend) do(what string, f func() error) error {
	err := b.context.Enter()
	if err == nil {
		err = f()
		cuda.Leave()
	}
	if err != nil {
		return cudaError(what, err)
	}
	return nil
}

// get is like do for functions with a result.
func get[T any](b *CUDABackend, what string, f func() (T, error)) (t T, err error) {
	err = b.do(what, func() (err error) {
		t, err = f()
		return err
	})
	return t, err
}

func (b *CUDABackend) Info() Info { return b.about }

func (b *CUDABackend) CUDA() *CUDABackend { return b }

func (b *CUDABackend) Memory() (free, total int64, err error) {
	err = b.do("ask for free memory", func() (err error) {
		free, total, err = cuda.MemoryInfo()
		return err
	})
	return free, total, err
}

// Close unloads the modules and releases the context. Other users in the process may still hold it,
// so the modules would not be freed with it.
func (b *CUDABackend) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	err := b.do("unload kernels", func() (err error) {
		for _, m := range b.modules {
			err = errors.Join(err, m.Unload())
		}
		for _, e := range b.events {
			err = errors.Join(err, e.Destroy())
		}
		return err
	})
	b.events = nil
	clear(b.modules)
	clear(b.kernels)
	clear(b.planes)
	clear(b.volumes)
	clear(b.refused)
	release := b.device.Release
	if b.own {
		release = b.context.Destroy
	}
	if release := release(); release != nil {
		err = errors.Join(err, cudaError("close the device", release))
	}
	return err
}

func (b *CUDABackend) Alloc(bytes int64) (Memory, error) {
	p, err := get(b, fmt.Sprintf("allocate %d bytes", bytes), func() (cuda.Pointer, error) { return cuda.Alloc(bytes) })
	return Memory(p), err
}

func (b *CUDABackend) Free(m Memory) error {
	return b.do("free memory", func() error { return cuda.Free(cuda.Pointer(m)) })
}

func (b *CUDABackend) AllocHost(bytes int64) (HostMemory, error) {
	at, err := get(b, fmt.Sprintf("take %d page-locked bytes", bytes), func() (unsafe.Pointer, error) { return cuda.AllocHost(bytes) })
	return HostMemory{At: at, Bytes: bytes}, err
}

func (b *CUDABackend) FreeHost(m HostMemory) error {
	return b.do("free page-locked memory", func() error { return cuda.FreeHost(m.At) })
}

func (b *CUDABackend) NewStream() (Stream, error) {
	s, err := get(b, "make a stream", cuda.NewStream)
	return Stream(s), err
}

func (b *CUDABackend) FreeStream(s Stream) error {
	return b.do("free a stream", cuda.Stream(s).Destroy)
}

func (b *CUDABackend) Wait(s Stream) error {
	return b.do("finish the work", cuda.Stream(s).Synchronize)
}

func (b *CUDABackend) Record(s Stream) (e Event, err error) {
	err = b.do("record an event", func() error {
		b.mu.Lock()
		var made cuda.Event
		if last := len(b.events) - 1; last >= 0 {
			made, b.events = b.events[last], b.events[:last]
		}
		b.mu.Unlock()
		if made == 0 {
			if made, err = cuda.NewEvent(); err != nil {
				return err
			}
		}
		if err := made.Record(cuda.Stream(s)); err != nil {
			made.Destroy()
			return err
		}
		e = Event(made)
		return nil
	})
	return e, err
}

func (b *CUDABackend) WaitFor(s Stream, e Event) error {
	return b.do("wait for an event", func() error { return cuda.Stream(s).WaitFor(cuda.Event(e)) })
}

func (b *CUDABackend) WaitEvent(e Event) error {
	return b.do("finish the work", cuda.Event(e).Synchronize)
}

func (b *CUDABackend) Elapsed(from, to Event) (ms float64, err error) {
	return get(b, "read the time of events", func() (float64, error) { return cuda.Elapsed(cuda.Event(from), cuda.Event(to)) })
}

// FreeEvent keeps some events to be reused. Work that waits for one still waits for its old point
// after the event is recorded again.
func (b *CUDABackend) FreeEvent(e Event) error {
	const most = 64
	b.mu.Lock()
	keep := len(b.events) < most
	if keep {
		b.events = append(b.events, cuda.Event(e))
	}
	b.mu.Unlock()
	if keep {
		return nil
	}
	return b.do("free an event", cuda.Event(e).Destroy)
}

func (b *CUDABackend) MoveEvent(e Event, s Stream) (Event, error) {
	if e == 0 {
		return b.Record(s)
	}
	return e, b.do("record an event", func() error { return cuda.Event(e).Record(cuda.Stream(s)) })
}

// CheckStream accepts any stream: the process has one context.
func (b *CUDABackend) CheckStream(Stream) error { return nil }

// Follow asks the driver whether a stream is being captured, except for the legacy default stream,
// which cannot be.
func (b *CUDABackend) Follow(s Stream, e Event) (graph bool, err error) {
	if s <= 1 && e == 0 {
		return false, nil
	}
	err = b.do("wait for an event", func() (err error) {
		if s > 1 {
			if graph, err = cuda.Stream(s).Capturing(); err != nil || graph {
				return err
			}
		}
		if e == 0 {
			return nil
		}
		return cuda.Stream(s).WaitFor(cuda.Event(e))
	})
	return graph, err
}

func (b *CUDABackend) AllocInGraph(s Stream, bytes int64) (Memory, error) {
	p, err := get(b, fmt.Sprintf("take %d bytes in a graph", bytes), func() (cuda.Pointer, error) { return cuda.Stream(s).Alloc(bytes) })
	return Memory(p), err
}

func (b *CUDABackend) FreeInGraph(s Stream, m Memory) error {
	return b.do("free memory in a graph", func() error { return cuda.Stream(s).FreeLater(cuda.Pointer(m)) })
}

// DeviceOf returns the index of the device that a CUDA pointer belongs to.
func DeviceOf(pointer uintptr) (int, error) {
	if err := cuda.Load(); err != nil {
		return 0, fmt.Errorf("%w: CUDA: %w", ErrNoDevice, OneLine{err})
	}
	index, err := cuda.Pointer(pointer).Device()
	if err != nil {
		return 0, cudaError("find the device of a pointer", err)
	}
	return index, nil
}
