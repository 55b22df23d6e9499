package driver

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/boxsum/boxsum/gpu/internal/cuda"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
)

// A Kernel is a loaded CUDA kernel.
type Kernel struct {
	Name     string
	running  string // action for error messages
	Resident int    // blocks that the device runs at once; 0 before Shaped or Occupy
	Machine  bool   // machine code rather than PTX, which lacks some features of compute capability 9.0
	function cuda.Function
	module   cuda.Module
	reserved bool // Reserve was called
	shared   bool // PreferShared was called
}

// A Run is one launch of a kernel whose only argument is a job.
type Run struct {
	Stream          Stream
	Blocks, Threads int
	Shared          int // dynamic shared memory in bytes
	Job             unsafe.Pointer
	Early           bool // may begin before the previous launch has ended
	Cluster         int  // blocks that share their memory; zero means one
}

// Run queues a launch.
func (b *CUDABackend) Run(k *Kernel, r Run) error {
	return b.launch(k, &cuda.Launch{
		Grid: [3]int{r.Blocks, 1, 1}, Block: [3]int{r.Threads, 1, 1}, Shared: r.Shared,
		Stream: cuda.Stream(r.Stream), Params: []unsafe.Pointer{r.Job}, Early: r.Early, Cluster: r.Cluster,
	})
}

// Raw returns what C code needs to launch a kernel itself: the functions of [cuda.Ways], the
// kernel's function, and its context. They remain valid while the device is open.
func (b *CUDABackend) Raw(k *Kernel) (launch, current, function, context uintptr) {
	launch, current = cuda.LaunchFunctions()
	return launch, current, uintptr(k.function), uintptr(b.context)
}

func (b *CUDABackend) Launch(s Stream, kernel string, groups, group int, args ...Arg) error {
	k, err := b.Kernel(kernels.Module(kernel), kernel)
	if err != nil {
		return err
	}
	params := make([]unsafe.Pointer, len(args))
	for i, a := range args {
		params[i] = a.at
	}
	return b.launch(k, &cuda.Launch{Grid: [3]int{groups, 1, 1}, Block: [3]int{group, 1, 1}, Stream: cuda.Stream(s), Params: params})
}

func (b *CUDABackend) launch(k *Kernel, l *cuda.Launch) error {
	l.Function = k.function
	b.note(launched{k.Name, uintptr(l.Function), l.Grid, l.Block, l.Shared})
	return b.do(k.running, l.Run)
}

// LargestGroup returns most: CUDA kernels are compiled for it.
func (b *CUDABackend) LargestGroup(_ []string, most int) (int, error) { return most, nil }

// Kernel returns a kernel of a module of package kernels, and loads it on first use.
func (b *CUDABackend) Kernel(module, name string) (*Kernel, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.load(module, name)
}

// load is like Kernel for callers that hold b.mu.
func (b *CUDABackend) load(module, name string) (*Kernel, error) {
	if k, ok := b.kernels[name]; ok {
		return k, nil
	}
	k := &Kernel{Name: name, running: "run " + name}
	err := b.do("find kernel "+name, func() error {
		return cuda.WithRelaxedCapture(func() (err error) {
			if k.module, err = b.module(module, name); err == nil {
				k.function, err = k.module.Function(name)
				k.Machine = b.modules[module] == k.module
			}
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	b.kernels[name] = k
	return k, nil
}

// Reserve returns a kernel whose blocks need the given amount of dynamic shared memory.
func (b *CUDABackend) Reserve(module, name string, shared int) (*Kernel, error) {
	k, err := b.Kernel(module, name)
	if err != nil || !k.Machine {
		return k, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !k.reserved {
		err = b.do("reserve shared memory", func() error { return k.function.SetAttribute(cuda.MaxDynamicShared, shared) })
		k.reserved = err == nil
	}
	return k, err
}

// PreferShared configures as much shared memory as possible for a kernel, at the expense of its L1
// cache.
func (b *CUDABackend) PreferShared(k *Kernel) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if k.shared {
		return nil
	}
	err := b.do("prefer shared memory", func() error { return k.function.SetAttribute(cuda.SharedCarveout, 100) })
	k.shared = err == nil
	return err
}

// FindOccupancy determines how many blocks of a kernel the device runs at once.
func (b *CUDABackend) FindOccupancy(k *Kernel, threads int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if k.Resident > 0 {
		return nil
	}
	return b.occupy(k, threads, 0)
}

func (b *CUDABackend) occupy(k *Kernel, threads, shared int) error {
	use, err := b.use(k.function, threads, shared)
	if err != nil {
		return err
	}
	if k.Resident = use.Resident * b.about.Units; k.Resident == 0 {
		return deviceError("CUDA: %s does not fit on %s", k.Name, b.about.Name)
	}
	return nil
}

// Describe adds the driver's information about a function to a launch.
func (b *CUDABackend) Describe(l launched) (KernelInfo, error) {
	info, err := b.use(cuda.Function(l.function), l.threads(), l.shared)
	info.Name, info.Blocks, info.Threads = l.name, l.blocks(), l.threads()
	return info, err
}

// use queries the resources of a function for a number of threads and bytes of dynamic shared
// memory.
func (b *CUDABackend) use(f cuda.Function, threads, shared int) (u KernelInfo, err error) {
	err = b.do("measure a kernel", func() error {
		var errs [5]error
		var most int
		u.Registers, errs[0] = f.Attribute(cuda.Registers)
		u.Shared, errs[1] = f.Attribute(cuda.StaticShared)
		u.Local, errs[2] = f.Attribute(cuda.LocalBytes)
		u.Resident, errs[3] = f.BlocksPerProcessor(threads, shared)
		most, errs[4] = b.device.Attribute(cuda.ThreadsPerProcessor)
		u.Shared += shared
		u.Occupancy = float64(u.Resident*threads) / float64(max(most, 1))
		return errors.Join(errs[:]...)
	})
	return u, err
}

// module loads the first image of a module that the device accepts. Machine code is loaded as a
// whole; PTX is reduced to one kernel, because drivers compile everything that they are given.
func (b *CUDABackend) module(name, kernel string) (cuda.Module, error) {
	if m, ok := b.modules[name]; ok {
		return m, nil
	}
	if err := b.refused[kernel]; err != nil {
		return 0, err
	}
	var reasons []error
	for image := range kernels.CUDA(name, b.Major, b.Minor) {
		key := name
		if !kernels.IsPTX(image) && b.Tuning.PTX {
			continue
		}
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
		return 0, fmt.Errorf("the %s kernels do not support compute capability %d.%d, want 7.5 or higher", name, b.Major, b.Minor)
	}
	err := fmt.Errorf("loading the %s kernels: %w", name, Refusal(reasons))
	if IsRefused(err) {
		b.refused[kernel] = err
	}
	return 0, err
}

// refused is the error for a kernel that the driver will never accept in any form, for example
// because the driver is older than the PTX or has no compiler.
type refused struct{ error }

func (r refused) Unwrap() error { return r.error }

// Refusal joins the driver's errors for the images of a kernel.
func Refusal(reasons []error) error {
	all := OneLine{errors.Join(reasons...)}
	for _, reason := range reasons {
		var result cuda.Result
		if !errors.As(reason, &result) || !result.RejectsModule() {
			return all
		}
	}
	return refused{all}
}

// IsRefused reports whether the driver will never accept a kernel.
func IsRefused(err error) bool {
	var r refused
	return errors.As(err, &r)
}

// Encode returns the map of a tensor of pixels.
func (b *CUDABackend) Encode(t *cuda.Tensor) (cuda.TensorMap, error) {
	return get(b, "map the pixels", t.Encode)
}
