package engine

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/boxsum/boxsum/internal/kernel"
)

// A tileCount counts the tiles of a band that are done, for the one worker that
// follows: that of the band below. It is polled, so it has a line of its own.
type tileCount struct {
	done atomic.Int64
	want atomic.Int64 // what the worker that follows sleeps for; 0 while it is awake
	who  atomic.Int64 // that worker
	_    [5]int64
}

// spins is how often to look for a tile before sleeping, about a millisecond. To
// wake somebody takes so long that a row of workers who sleep never catches up
// again; but who is not running at all should not be waited for in this way.
const spins = 20_000

// pause lets time pass, and every now and then others run.
func (e *Engine) pause(turn int) {
	kernel.Pause()
	if turn%64 == 63 || e.crowded {
		runtime.Gosched()
	}
}

// A bed is where a worker sleeps: it gets up when something comes.
type bed chan struct{}

// await returns once that many tiles of the band are done. It reports whether
// they are: not so where the worker of that band has stopped.
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

// reached says that so many tiles of a band are done, and wakes the worker that
// sleeps for them.
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

// leave returns once no helper is at work.
func (e *Engine) leave() {
	for spun := 0; ; spun++ {
		crew := e.crew.Load()
		switch {
		case crew < closed: // who comes late finds no seat
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

// sleep returns once nobody else is in. It reports how far the others are.
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
