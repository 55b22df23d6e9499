// Package engine cuts a table into tiles and runs them in dependency order on
// several workers, so that every pixel is read once and every sum written once.
package engine

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/boxsum/boxsum/internal/kernel"
)

// A Layer fills one table, a tile at a time: rows [y, y+rows) and elements
// [x, x+n) of them, on behalf of one worker. The engine calls it once the
// tiles on the left and above are done; a band of tiles stays with one worker.
type Layer interface {
	Tile(worker, x, y, n, rows int)
}

// A Grid says how to cut the image: into bands of rows, and each into tiles.
type Grid struct {
	Rows, N   int // of the image, N in elements
	BandRows  int
	TileWidth int // in elements
	Lead      int // how many tiles beyond the one above it a tile needs done there
}

// An Engine runs one grid at a time and allocates nothing when it runs the
// like again. Its zero value is ready.
//
// A worker takes the next band and follows the worker of the band above, one
// tile behind: a tile needs the sums over it, which that worker leaves in the
// layer's carry row, and its row sums so far, which it has itself.
type Engine struct {
	Layers []Layer

	grid     Grid
	nextBand atomic.Int64
	done     []tileCount // of every band

	crew atomic.Int64 // who is in: see join
	help func()       // made once, so that starting a helper allocates nothing
}

type tileCount struct {
	atomic.Int64
	_ [7]int64 // a line of its own, for it is polled
}

// Run fills every tile of the grid.
func (e *Engine) Run(g Grid, workers int) {
	if g.Rows == 0 || g.N == 0 {
		return
	}
	bands := (g.Rows + g.BandRows - 1) / g.BandRows
	if cap(e.done) < bands {
		e.done = make([]tileCount, bands)
	}
	e.done = e.done[:bands]
	for i := range e.done {
		e.done[i].Store(0)
	}
	e.grid = g
	e.nextBand.Store(0)
	if workers = min(workers, bands); workers == 1 {
		e.work(0)
		return
	}
	if e.help == nil {
		e.help = e.helper
	}
	e.crew.Store(int64(workers-1) * seat)
	for range workers - 1 {
		go e.help()
	}
	e.work(0)
	for p := poller(0); ; {
		crew := e.crew.Load()
		if crew%seat == 0 && e.crew.CompareAndSwap(crew, 0) {
			return // nobody is at work, and whoever comes late finds no seat
		}
		if crew >= seat { // take the free seats away first
			e.crew.CompareAndSwap(crew, crew%seat)
			continue
		}
		p.wait()
	}
}

// The crew counts the helpers at work and, in units of seat, the seats still
// free. A helper that the scheduler starts after the work is done finds none
// and goes away, so that nobody ever waits for it.
const seat = 1 << 32

func (e *Engine) helper() {
	for {
		crew := e.crew.Load()
		if crew < seat {
			return
		}
		if e.crew.CompareAndSwap(crew, crew-seat+1) {
			e.work(int(crew / seat))
			e.crew.Add(-1)
			return
		}
	}
}

// work takes bands until none is left.
func (e *Engine) work(worker int) {
	g := e.grid
	for {
		band := int(e.nextBand.Add(1)) - 1
		if band >= len(e.done) {
			return
		}
		y := band * g.BandRows
		rows := min(g.BandRows, g.Rows-y)
		tiles := (g.N + g.TileWidth - 1) / g.TileWidth
		for x := 0; x < g.N; x += g.TileWidth {
			if band > 0 {
				e.await(band-1, int64(min(x/g.TileWidth+1+g.Lead, tiles)))
			}
			for _, l := range e.Layers {
				l.Tile(worker, x, y, min(g.TileWidth, g.N-x), rows)
			}
			e.done[band].Add(1)
		}
	}
}

// await returns once that many tiles of the band are done.
func (e *Engine) await(band int, tiles int64) {
	var p poller
	for e.done[band].Load() < tiles {
		p.wait()
	}
}

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
