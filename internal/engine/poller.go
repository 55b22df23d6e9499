package engine

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/boxsum/boxsum/internal/kernel/processor"
)

// A tileCount counts the finished tiles of a band for the worker of the band below. That
// worker polls the count, so it has a cache line of its own.
type tileCount struct {
	done atomic.Int64
	want atomic.Int64 // the count that the worker below sleeps for; 0 while it is awake
	who  atomic.Int64 // the number of the worker below
	_    [5]int64
}

// spins is the number of times to poll for a tile before sleeping, which takes about a
// millisecond. Waking a worker takes so long that a chain of sleeping workers never
// catches up again, but a worker must not spin for long while the other one is not
// running.
const spins = 20_000

// pause waits briefly, and every 64th turn yields to other goroutines.
func (e *Engine) pause(turn int) {
	processor.Pause()
	if turn%64 == 63 || e.crowded {
		runtime.Gosched()
	}
}

// A wakeup is a channel on which a worker sleeps until it receives a value.
type wakeup chan struct{}

// await waits until the given number of tiles of a band are done. It returns false if the
// run has been stopped.
func (e *Engine) await(worker, band int, tiles int64) bool {
	c := &e.done[band]
	for p := range e.spins {
		if c.done.Load() >= tiles {
			return true
		}
		if e.stopped.Load() {
			return false
		}
		e.pause(p)
	}
	c.who.Store(int64(worker))
	c.want.Store(tiles)
	if c.done.Load() < tiles && !e.stopped.Load() || !c.want.CompareAndSwap(tiles, 0) {
		<-e.wakeups[worker]
	}
	return !e.stopped.Load()
}

// reached records that the given number of tiles of a band are done, and wakes the worker
// that waits for them.
func (e *Engine) reached(band, tiles int) {
	c := &e.done[band]
	c.done.Store(int64(tiles))
	if want := c.want.Load(); want != 0 && int64(tiles) >= want {
		e.wake(c, want)
	}
}

func (e *Engine) wake(c *tileCount, want int64) {
	if c.want.CompareAndSwap(want, 0) {
		e.wakeups[c.who.Load()] <- struct{}{}
	}
}

// waitForHelpers waits until no helper is running.
func (e *Engine) waitForHelpers() {
	for spun := 0; ; spun++ {
		helpers := e.helpers.Load()
		switch {
		case helpers < closed: // helpers that start later find no free number
			e.helpers.CompareAndSwap(helpers, helpers%freeWorker+closed)
		case helpers == closed:
			return
		case spun < e.spins:
			e.report()
			e.pause(spun)
		default:
			e.callerSleeps.Store(true)
			if e.helpers.Load() != closed || !e.callerSleeps.CompareAndSwap(true, false) {
				e.sleep()
			}
		}
	}
}

// sleep waits until the last helper has finished. It reports progress meanwhile.
func (e *Engine) sleep() {
	if e.set.progress == nil {
		<-e.wakeups[0]
		return
	}
	often := time.NewTicker(5 * time.Millisecond)
	defer often.Stop()
	for {
		select {
		case <-e.wakeups[0]:
			return
		case <-often.C:
			e.report()
		}
	}
}
