package driver

import (
	"slices"
	"sync"
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

// launched is a kernel as it was launched.
type launched struct {
	name        string
	function    uintptr // what the driver calls the kernel
	grid, block [3]int
	shared      int // dynamic bytes
}

func (l launched) blocks() int  { return l.grid[0] * l.grid[1] * l.grid[2] }
func (l launched) threads() int { return l.block[0] * l.block[1] * l.block[2] }

// A tracer notes launches while somebody wants to know them. Backends embed it and
// tell it of every launch.
type tracer struct {
	mu       sync.Mutex
	on       bool
	launches []launched
}

// Trace notes the first launch of each kernel that queue launches.
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
