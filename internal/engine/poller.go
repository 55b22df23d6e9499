package engine

import (
	"runtime"
	"time"

	"github.com/boxsum/boxsum/internal/kernel"
)

// A poller lets time pass in a loop that waits for another worker: a tile is a
// few microseconds, so at first it spins. If that takes long the other is not
// running, and spinning may be what keeps it from running: it sleeps.
type poller int

func (p *poller) wait() {
	*p++
	switch {
	case *p < 1000:
		kernel.Pause()
	case *p < 1020:
		runtime.Gosched()
	default:
		time.Sleep(50 * time.Microsecond)
	}
}
