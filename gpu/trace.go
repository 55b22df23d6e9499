package gpu

import (
	"fmt"
	"slices"
	"sync"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/cuda"
)

// KernelInfo is what one kernel takes from the device, as it was launched. Zero
// stands for what the driver does not tell: OpenCL tells nothing of registers.
type KernelInfo struct {
	Name      string
	Blocks    int     // of the launch; work-groups in the words of OpenCL
	Threads   int     // of a block; work-items
	Registers int     // of a thread
	Shared    int     // bytes of a block
	Local     int     // bytes of a thread that found no register
	Resident  int     // blocks that one multiprocessor runs at once
	Occupancy float64 // the threads of these, of those that it could run
}

// Kernels calls queue and says which kernels it launched on the device, each
// once, in the order of their first launch. It gives [ErrClosed] when the device is
// closed meanwhile, which queue may do too.
func (d *Device) Kernels(queue func() error) (infos []KernelInfo, err error) {
	if queue == nil {
		return nil, fmt.Errorf("gpu: %w: nothing to queue", boxsum.ErrInvalid)
	}
	if err := d.hold(); err != nil {
		return nil, err
	}
	defer func() { err = firstError(err, d.release()) }()
	traced, ok := d.backend.(interface {
		tracing() *tracer
		describe(launched) (KernelInfo, error)
	})
	if !ok {
		return nil, queue()
	}
	t := traced.tracing()
	t.start()
	err = queue()
	launches := t.stop()
	if err == nil {
		err = d.enter() // it may be closed now
	}
	if err != nil {
		return nil, err
	}
	defer d.leave()
	for _, l := range launches {
		if slices.ContainsFunc(infos, func(k KernelInfo) bool { return k.Name == l.name }) {
			continue
		}
		info, err := traced.describe(l)
		if err != nil {
			return nil, err
		}
		infos = append(infos, info)
	}
	return infos, nil
}

// launched is a kernel as it was launched.
type launched struct {
	name        string
	function    uintptr // what the driver calls the kernel
	grid, block [3]int
	shared      int // dynamic bytes
}

func (l launched) blocks() int  { return l.grid[0] * l.grid[1] * l.grid[2] }
func (l launched) threads() int { return l.block[0] * l.block[1] * l.block[2] }

// A tracer notes launches while it is started. Backends embed it and tell it of
// every launch.
type tracer struct {
	mu       sync.Mutex
	on       bool
	launches []launched
}

func (t *tracer) tracing() *tracer { return t }

func (t *tracer) start() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.on, t.launches = true, nil
}

func (t *tracer) stop() []launched {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.on = false
	return t.launches
}

func (t *tracer) note(l launched) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.on {
		t.launches = append(t.launches, l)
	}
}

// describe adds what the driver knows of a function.
func (b *cudaBackend) describe(l launched) (KernelInfo, error) {
	use, err := b.use(cuda.Function(l.function), l.threads(), l.shared)
	return KernelInfo{
		Name: l.name, Blocks: l.blocks(), Threads: l.threads(),
		Registers: use.registers, Shared: use.shared, Local: use.local, Resident: use.blocks, Occupancy: use.occupancy,
	}, err
}
