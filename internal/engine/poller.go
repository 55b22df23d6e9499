package engine

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/boxsum/boxsum/internal/kernel/processor"
)

// A tileCount counts the finished tiles of a band for the one worker that follows,
// which is that of the band below. It is polled, so it has its own cache line.
type tileCount struct {
	done atomic.Int64
	want atomic.Int64 // count that the following worker sleeps for; 0 while it is awake
	who  atomic.Int64 // the following worker
	_    [5]int64
}

// spins is the number of times to poll for a tile before sleeping, about a millisecond.
// Waking takes so long that a chain of sleeping workers never catches up again, but
// spinning must not go on if the other worker is not running.
const spins = 20_000

// pause waits briefly, and from time to time yields to other goroutines.
func (e *Engine) pause(turn int) {
	processor.Pause()
	if turn%64 == 63 || e.crowded {
		runtime.Gosched()
	}
}

// A bed is a channel on which a worker sleeps until it receives a value.
type bed chan struct{}

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
		<-e.beds[worker]
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
		e.beds[c.who.Load()] <- struct{}{}
	}
}

// leave waits until no helper is at work.
func (e *Engine) leave() {
	for spun := 0; ; spun++ {
		crew := e.crew.Load()
		switch {
		case crew < closed: // latecomers find no seat
			e.crew.CompareAndSwap(crew, crew%seat+closed)
		case crew == closed:
			return
		case spun < e.spins:
			e.report()
			e.pause(spun)
		default:
			e.alone.Store(true)
			if e.crew.Load() != closed || !e.alone.CompareAndSwap(true, false) {
				e.sleep()
			}
		}
	}
}

// sleep waits until no helper is left. It reports progress meanwhile.
func (e *Engine) sleep() {
	if e.set.progress == nil {
		<-e.beds[0]
		return
	}
	often := time.NewTicker(5 * time.Millisecond)
	defer often.Stop()
	for {
		select {
		case <-e.beds[0]:
			return
		case <-often.C:
			e.report()
		}
	}
}
