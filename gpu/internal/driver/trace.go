package driver

import (
	"slices"
	"sync"
)

// KernelInfo describes the resources that one kernel uses, as launched. Zero means that the driver
// does not report a value: OpenCL does not report registers.
type KernelInfo struct {
	Name      string
	Blocks    int     // of the launch; work-groups in OpenCL
	Threads   int     // of a block; work-items in OpenCL
	Registers int     // of a thread
	Shared    int     // shared memory of a block in bytes
	Local     int     // local memory of a thread in bytes, for spilled registers
	Resident  int     // blocks that one multiprocessor runs at once
	Occupancy float64 // fraction of the multiprocessor's threads that these blocks use
}

// launched is a recorded launch of a kernel.
type launched struct {
	name        string
	function    uintptr // the driver's handle of the kernel
	grid, block [3]int
	shared      int // dynamic shared memory in bytes
}

func (l launched) blocks() int  { return l.grid[0] * l.grid[1] * l.grid[2] }
func (l launched) threads() int { return l.block[0] * l.block[1] * l.block[2] }

// A tracer records launches while it is on. Backends embed it and report every launch to it.
type tracer struct {
	mu       sync.Mutex
	on       bool
	launches []launched
}

// Trace records the first launch of each kernel that queue launches.
func (t *tracer) Trace(queue func() error) ([]launched, error) {
	t.set(true)
	err := queue()
	return t.set(false), err
}

func (t *tracer) set(on bool) (launches []launched) {
	t.mu.Lock()
	defer t.mu.Unlock()
	launches, t.on, t.launches = t.launches, on, nil
	return launches
}

func (t *tracer) note(l launched) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.on && !slices.ContainsFunc(t.launches, func(o launched) bool { return o.name == l.name }) {
		t.launches = append(t.launches, l)
	}
}
