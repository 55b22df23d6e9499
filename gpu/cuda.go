package gpu

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"github.com/boxsum/boxsum/gpu/internal/cuda"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
)

// cudaDevices lists the devices of CUDA.
func cudaDevices() ([]Info, error) {
	if err := cuda.Load(); err != nil {
		return nil, err
	}
	n, err := cuda.DeviceCount()
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, errors.New("the driver has no devices")
	}
	var infos []Info
	var reasons []error
	for i := range n {
		_, info, err := describeCUDA(i)
		if err != nil {
			reasons = append(reasons, fmt.Errorf("device %d: %w", i, err))
			continue
		}
		infos = append(infos, info)
	}
	return infos, errors.Join(reasons...)
}

// describeCUDA is the device of this index, if the kernels can run on it.
func describeCUDA(index int) (cuda.Device, Info, error) {
	info := Info{Kind: CUDA, Index: index, Vendor: "NVIDIA"}
	version, err := cuda.DriverVersion()
	info.Driver = fmt.Sprintf("%d.%d", version/1000, version%1000/10)
	var d cuda.Device
	if err == nil {
		d, err = cuda.DeviceAt(index)
	}
	if err == nil {
		info.Name, err = d.Name()
	}
	var major, minor int
	for _, a := range []struct {
		attribute cuda.Attribute
		at        *int
	}{{cuda.Major, &major}, {cuda.Minor, &minor}, {cuda.Multiprocessors, &info.Units}} {
		if err == nil {
			*a.at, err = d.Attribute(a.attribute)
		}
	}
	if err == nil {
		info.Memory, err = d.TotalMemory()
	}
	info.Version = fmt.Sprintf("%d.%d", major, minor)
	if err == nil && 10*major+minor < oldestCUDA {
		err = fmt.Errorf("%s has compute capability %s, and the kernels need 7.5: it may do with OpenCL", info.Name, info.Version)
	}
	return d, info, err
}

// oldestCUDA is ten times the compute capability that the PTX of package kernels
// is for. Older devices are not listed, so that OpenBest goes on to OpenCL.
const oldestCUDA = 75

// A cudaBackend is a device of CUDA in its primary context, which the rest of
// the process shares: its pointers are those of other libraries.
//
// A context belongs to an OS thread. Every method therefore makes it current on
// the thread that it happens to run on, which costs a fraction of a microsecond;
// a thread of its own would cost two switches a call.
type cudaBackend struct {
	tracer
	about        Info
	device       cuda.Device
	context      cuda.Context
	major, minor int
	maxPitch     int64

	mu        sync.Mutex
	modules   map[string]cuda.Module
	functions map[[2]string]loaded // by module and name
	fast      fastKernels
	volumes   volumeKernels
	refusals  map[[2]string]error // by module and kernel, those that the driver did not take
	residents map[string]int      // blocks of a kernel that run at once
	events    []cuda.Event        // to record again: making and freeing them takes longer
}

// loaded is a kernel and the module that it came in.
type loaded struct {
	function cuda.Function
	module   cuda.Module
}

func openCUDA(info Info) (backend, error) {
	if err := cuda.Load(); err != nil {
		return nil, fmt.Errorf("gpu: %w: cuda: %w", ErrNoDevice, oneLine{err})
	}
	d, info, err := describeCUDA(info.Index)
	if err != nil {
		return nil, fmt.Errorf("gpu: %w: cuda: device %d: %w", ErrNoDevice, info.Index, err)
	}
	b := &cudaBackend{about: info, device: d, modules: map[string]cuda.Module{}, functions: map[[2]string]loaded{}}
	for _, a := range []struct {
		attribute cuda.Attribute
		at        *int
	}{{cuda.Major, &b.major}, {cuda.Minor, &b.minor}} {
		if *a.at, err = d.Attribute(a.attribute); err != nil {
			return nil, cudaError("describe the device", err)
		}
	}
	pitch, err := d.Attribute(cuda.MaxPitch)
	if err != nil {
		return nil, cudaError("describe the device", err)
	}
	b.maxPitch = int64(pitch)
	if b.context, err = d.Retain(); err != nil {
		return nil, cudaError("open the device", err)
	}
	return b, nil
}

// cudaError says what failed, and that it was memory where it was.
func cudaError(what string, err error) error {
	if errors.Is(err, cuda.OutOfMemory) {
		return fmt.Errorf("gpu: cuda: %s: %w", what, ErrMemory)
	}
	return fmt.Errorf("gpu: cuda: %s: %w", what, err)
}

// do calls f with the context current.
func (b *cudaBackend) do(what string, f func() error) error {
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

func (b *cudaBackend) info() Info { return b.about }

func (b *cudaBackend) memory() (free, total int64, err error) {
	err = b.do("ask for free memory", func() (err error) {
		free, total, err = cuda.MemoryInfo()
		return err
	})
	return free, total, err
}

// close gives the context back; other users in the process may still hold it,
// so the modules do not go away by themselves.
func (b *cudaBackend) close() error {
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
	clear(b.functions)
	clear(b.refusals)
	b.fast, b.volumes = fastKernels{}, volumeKernels{}
	if release := b.device.Release(); release != nil {
		err = errors.Join(err, cudaError("close the device", release))
	}
	return err
}

func (b *cudaBackend) alloc(bytes int64) (m memory, err error) {
	err = b.do(fmt.Sprintf("take %d bytes", bytes), func() error {
		p, err := cuda.Alloc(bytes)
		m = memory(p)
		return err
	})
	return m, err
}

func (b *cudaBackend) free(m memory) error {
	return b.do("free memory", func() error { return cuda.Free(cuda.Pointer(m)) })
}

func (b *cudaBackend) allocHost(bytes int64) (m hostMemory, err error) {
	err = b.do(fmt.Sprintf("take %d page-locked bytes", bytes), func() error {
		at, err := cuda.AllocHost(bytes)
		m = hostMemory{at: at, bytes: bytes}
		return err
	})
	return m, err
}

func (b *cudaBackend) freeHost(m hostMemory) error {
	return b.do("free page-locked memory", func() error { return cuda.FreeHost(m.at) })
}

func (b *cudaBackend) newStream() (s stream, err error) {
	err = b.do("make a stream", func() error {
		made, err := cuda.NewStream()
		s = stream(made)
		return err
	})
	return s, err
}

func (b *cudaBackend) freeStream(s stream) error {
	return b.do("free a stream", cuda.Stream(s).Destroy)
}

func (b *cudaBackend) wait(s stream) error {
	return b.do("finish the work", cuda.Stream(s).Synchronize)
}

func (b *cudaBackend) record(s stream) (e event, err error) {
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
		e = event(made)
		return nil
	})
	return e, err
}

func (b *cudaBackend) waitFor(s stream, e event) error {
	return b.do("wait for an event", func() error { return cuda.Stream(s).WaitFor(cuda.Event(e)) })
}

func (b *cudaBackend) waitEvent(e event) error {
	return b.do("finish the work", cuda.Event(e).Synchronize)
}

func (b *cudaBackend) elapsed(from, to event) (ms float64, err error) {
	err = b.do("read the time of events", func() (err error) {
		ms, err = cuda.Elapsed(cuda.Event(from), cuda.Event(to))
		return err
	})
	return ms, err
}

// freeEvent keeps some events for the next ones. What waits for one goes on waiting
// for the point where it was, also when it is recorded again.
func (b *cudaBackend) freeEvent(e event) error {
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

// An end is rows that a copy reads or writes, on the host or on the device.
type end struct {
	host   unsafe.Pointer // nil for the device
	device cuda.Pointer
	stride int64
}

func onHost(at unsafe.Pointer, stride int64) end { return end{host: at, stride: stride} }

func (p plane) end() end {
	return end{device: cuda.Pointer(uintptr(p.memory) + uintptr(p.offset)), stride: p.stride}
}

// row is the end from row y on.
func (e end) row(y int64) end {
	if e.host != nil {
		e.host = unsafe.Add(e.host, y*e.stride)
	} else {
		e.device += cuda.Pointer(y * e.stride)
	}
	return e
}

func (e end) kind() uint32 {
	if e.host != nil {
		return cuda.HostMemory
	}
	return cuda.DeviceMemory
}

func (b *cudaBackend) copyIn(s stream, dst plane, src unsafe.Pointer, hostStride int64, rows rows) error {
	return b.copy("copy to the device", s, dst.end(), onHost(src, hostStride), rows)
}

func (b *cudaBackend) copyOut(s stream, dst unsafe.Pointer, hostStride int64, src plane, rows rows) error {
	return b.copy("copy to the host", s, onHost(dst, hostStride), src.end(), rows)
}

func (b *cudaBackend) copyWithin(s stream, dst, src plane, rows rows) error {
	return b.copy("copy on the device", s, dst.end(), src.end(), rows)
}

// copy copies rows without gaps in one piece, and those with gaps together, or
// one by one where the driver does not take such long strides.
func (b *cudaBackend) copy(what string, s stream, dst, src end, rows rows) error {
	if dst.stride == rows.bytes && src.stride == rows.bytes {
		rows.bytes, rows.count = rows.bytes*rows.count, 1
	}
	if rows.bytes == 0 {
		return nil
	}
	return b.do(what, func() error {
		if rows.count > 1 && max(dst.stride, src.stride) <= b.maxPitch {
			return cuda.CopyRows(&cuda.Copy2D{
				SrcType: src.kind(), SrcHost: src.host, SrcDevice: src.device, SrcPitch: uintptr(src.stride),
				DstType: dst.kind(), DstHost: dst.host, DstDevice: dst.device, DstPitch: uintptr(dst.stride),
				Width: uintptr(rows.bytes), Height: uintptr(rows.count),
			}, cuda.Stream(s))
		}
		for y := range rows.count {
			if err := copyLine(dst.row(y), src.row(y), rows.bytes, cuda.Stream(s)); err != nil {
				return err
			}
		}
		return nil
	})
}

func copyLine(dst, src end, bytes int64, s cuda.Stream) error {
	switch {
	case src.host != nil:
		return cuda.CopyIn(dst.device, src.host, bytes, s)
	case dst.host != nil:
		return cuda.CopyOut(dst.host, src.device, bytes, s)
	}
	return cuda.CopyWithin(dst.device, src.device, bytes, s)
}

func (b *cudaBackend) fill(s stream, dst plane, value byte, bytes int64) error {
	if bytes == 0 {
		return nil
	}
	return b.do("fill memory", func() error { return cuda.Fill(dst.end().device, value, bytes, cuda.Stream(s)) })
}

func (b *cudaBackend) launch(s stream, kernel string, grid, block [3]int, shared int, args ...arg) error {
	f, err := b.function(kernels.Module(kernel), kernel)
	if err != nil {
		return err
	}
	params := make([]unsafe.Pointer, len(args))
	for i, a := range args {
		params[i] = a.at
	}
	return b.run(kernel, &cuda.Launch{Function: f, Grid: grid, Block: block, Shared: shared, Stream: cuda.Stream(s), Params: params})
}

// run queues any kernel.
func (b *cudaBackend) run(name string, l *cuda.Launch) error {
	b.note(launched{name, uintptr(l.Function), l.Grid, l.Block, l.Shared})
	err := b.context.Enter()
	if err == nil {
		err = l.Run()
		cuda.Leave()
	}
	if err != nil {
		return cudaError("run "+name, err)
	}
	return nil
}

// function is a kernel of a module of package kernels, which is loaded the first
// time that something in it is asked for.
func (b *cudaBackend) function(module, name string) (cuda.Function, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l, err := b.find(module, name)
	return l.function, err
}

// find is function for those who hold the lock.
func (b *cudaBackend) find(module, name string) (l loaded, err error) {
	key := [2]string{module, name}
	if l, ok := b.functions[key]; ok {
		return l, nil
	}
	err = b.do("find kernel "+name, func() (err error) {
		if l.module, err = b.module(module, name); err == nil {
			l.function, err = l.module.Function(name)
		}
		return err
	})
	if err == nil {
		b.functions[key] = l
	}
	return l, err
}

// module loads the first image that the device takes, for one of its kernels:
// machine code whole, but of PTX only that kernel, since drivers compile all
// that they are given.
func (b *cudaBackend) module(name, kernel string) (cuda.Module, error) {
	if m, ok := b.modules[name]; ok {
		return m, nil
	}
	if err := b.refusals[[2]string{name, kernel}]; err != nil {
		return 0, err
	}
	var reasons []error
	for _, image := range kernels.CUDA(name, b.major, b.minor) {
		key := name
		if kernels.IsPTX(image) {
			key, image = name+" "+kernel, kernels.OneKernel(image, kernel)
		}
		m, log, err := cuda.LoadModule(image)
		if err == nil {
			b.modules[key] = m
			return m, nil
		}
		if log != "" {
			err = fmt.Errorf("%w: %s", err, log)
		}
		reasons = append(reasons, err)
	}
	if len(reasons) == 0 {
		return 0, fmt.Errorf("no %s kernels for compute capability %d.%d", name, b.major, b.minor)
	}
	err := fmt.Errorf("load the %s kernels: %w", name, refusal(reasons))
	if isRefused(err) {
		if b.refusals == nil {
			b.refusals = map[[2]string]error{}
		}
		b.refusals[[2]string{name, kernel}] = err
	}
	return 0, err
}

// refused is the error of a kernel that the driver takes in no form, today or later:
// it is older than the PTX, say, or has no compiler for it.
type refused struct{ error }

func (r refused) Unwrap() error { return r.error }

// refusal joins what the driver said to the images of a kernel.
func refusal(reasons []error) error {
	all := oneLine{errors.Join(reasons...)}
	for _, reason := range reasons {
		var result cuda.Result
		if !errors.As(reason, &result) || !result.Refuses() {
			return all
		}
	}
	return refused{all}
}

func isRefused(err error) bool {
	var r refused
	return errors.As(err, &r)
}

// setShared lets a function be launched with so many bytes of dynamic shared
// memory; 48 KiB need no asking.
func (b *cudaBackend) setShared(f cuda.Function, bytes int) error {
	return b.do("reserve shared memory", func() error { return f.SetAttribute(cuda.MaxDynamicShared, bytes) })
}

// A kernelUse is what a CUDA kernel takes from a multiprocessor.
type kernelUse struct {
	registers int // of a thread
	shared    int // bytes of a block, static and dynamic
	local     int // bytes of a thread that did not fit registers
	blocks    int // at once on a multiprocessor
	occupancy float64
}

// use measures a function as launched with so many threads and dynamic shared
// bytes.
func (b *cudaBackend) use(f cuda.Function, threads, shared int) (u kernelUse, err error) {
	err = b.do("measure a kernel", func() error {
		var errs [5]error
		var most int
		u.registers, errs[0] = f.Attribute(cuda.Registers)
		u.shared, errs[1] = f.Attribute(cuda.StaticShared)
		u.local, errs[2] = f.Attribute(cuda.LocalBytes)
		u.blocks, errs[3] = f.BlocksPerProcessor(threads, shared)
		most, errs[4] = b.device.Attribute(cuda.ThreadsPerProcessor)
		u.shared += shared
		u.occupancy = float64(u.blocks*threads) / float64(max(most, 1))
		return errors.Join(errs[:]...)
	})
	return u, err
}

// attribute is a property of the device.
func (b *cudaBackend) attribute(a cuda.Attribute) (int, error) {
	v, err := b.device.Attribute(a)
	if err != nil {
		return 0, cudaError("describe the device", err)
	}
	return v, nil
}
