// Package engine cuts a table into tiles and processes them in dependency order on
// several workers, so that every pixel is read once and every sum written once. It also
// has the options and the scratch memory of all kinds of tables.
package engine

import (
	"runtime"
	"sync/atomic"
)

// A Layer fills one table, tile by tile. A layer embeds [Base] and overrides the methods
// that it needs.
type Layer interface {
	// Prepare allocates scratch memory for a plan and clears the initial state
	// of a run. If the plan has no tiles, it clears the whole table.
	Prepare(p *Plan) error
	// Slice begins slice z if the layer is filled slice by slice; see [Plan].
	Slice(z int)
	// Tile fills elements [x, x+n) of rows [y, y+rows) on behalf of a worker. The tiles
	// to the left and above are done. All tiles of a band have the same worker.
	Tile(worker, x, y, n, rows int)
	// Finish does the work that remains when all tiles are done.
	Finish()
	// Release drops references to the caller's memory. It keeps the scratch memory and
	// returns its size in bytes.
	Release() int

	reorderable
	twoPass
}

// Base provides empty implementations of the methods of [Layer] that many layers do not
// need. A layer embeds it.
type Base struct{}

// Slice implements [Layer].
func (Base) Slice(int) {}

// Finish implements [Layer].
func (Base) Finish() {}

func (Base) exact() bool                { return false }
func (Base) rowAbove(_, _, _, _, _ int) {}
func (Base) enter(int)                  {}
func (Base) sumBand(int)                {}
func (Base) resumeFrom(_, _ int)        {}
func (Base) addBand(_, _ int, _ bool)   {}
func (Base) startBand(int)              {}
func (Base) leaveBand(_, _ int)         {}

// A Grid describes how to cut the image into bands of rows, and bands into tiles.
type Grid struct {
	Rows, N   int // size of the image; N is in elements
	BandRows  int
	TileWidth int // in elements
	Lead      int // number of tiles by which the band above must be ahead
}

// bands returns the number of bands, and tiles the number of tiles in each band.
func (g *Grid) bands() int { return DivUp(g.Rows, g.BandRows) }
func (g *Grid) tiles() int { return DivUp(g.N, g.TileWidth) }

// An Engine runs one grid at a time and does not allocate if it runs a similar one
// again. The zero value is ready to use.
//
// A worker takes the next band and follows the worker of the band above, one tile
// behind: a tile needs the sums above it, which that worker leaves in the layer's carry
// row, and its row sums so far, which the worker itself has.
type Engine struct {
	layers []Layer
	set    Settings
	plan   Plan
	keep   func() // returns the engine to its pool for the next call; nil for none

	next     atomic.Int64 // the next band to take
	done     []tileCount  // number of finished tiles, by band
	stopped  atomic.Bool  // the context is done
	progress progress

	helpers      atomic.Int64  // counts of helpers, see freeWorker
	busy         []atomic.Bool // whether a worker number is in use
	callerSleeps atomic.Bool   // the caller sleeps until the last helper has finished
	slots        int           // see Plan.slots
	exact        bool          // all layers are exact: they do not have to wait for the band above
	twoPass      bool          // bands are filled in two passes
	shares       []share       // ranges of bands by worker, if bands are independent

	crowded bool     // there are more workers than processors, so a waiting worker blocks another
	spins   int      // number of polls before sleeping
	wakeups []wakeup // by worker
	help    func()   // allocated once, so that starting a helper does not allocate
}

// Fill prepares layers, fills their tables as planned and releases them. If it returns
// an error, the tables are not complete.
func (e *Engine) Fill(set *Settings, plan *Plan, layers ...Layer) (err error) {
	e.set, e.plan, e.layers = *set, *plan, append(e.layers[:0], layers...)
	p := &e.plan
	for _, l := range layers {
		if err == nil {
			err = l.Prepare(p)
		}
	}
	if err == nil {
		e.stopped.Store(false)
		if e.set.progress != nil {
			e.progress.start(p)
		}
		for z := 0; z < p.passes() && !e.stopped.Load(); z++ {
			if p.Slices > 0 {
				for _, l := range layers {
					l.Slice(z)
				}
			}
			if workers := min(p.Workers, p.bands()); workers > 1 || p.TwoPass {
				e.fillTogether(p, workers)
				continue
			}
			for y := 0; y < p.Rows && e.fillBand(0, y); y += p.BandRows {
			}
		}
		err = e.finish()
	}
	scratch := 0
	for _, l := range layers {
		scratch += l.Release()
	}
	e.set = Settings{} // do not keep the caller's context and callback
	if e.keep != nil && scratch <= IdleBytes {
		e.keep()
	}
	return err
}

// passes returns the number of times to fill the grid: once, or once per slice.
func (p *Plan) passes() int {
	if p.Rows == 0 || p.N == 0 {
		return 0
	}
	return max(1, p.Slices)
}

// finish ends a run. It returns the error of the context if that stopped the run.
func (e *Engine) finish() (err error) {
	if e.stopped.Load() {
		err = e.set.Stopped()
	} else {
		for _, l := range e.layers {
			l.Finish()
		}
		e.set.Report(1)
	}
	return err
}

// fillTogether fills every tile of the grid with several workers, unless the context is
// done earlier.
func (e *Engine) fillTogether(p *Plan, workers int) {
	e.slots, e.exact = p.slots(), isExact(e.layers)
	e.twoPass = p.TwoPass && e.exact
	e.allocate(p, workers)
	for range workers - 1 {
		go e.help()
	}
	startLast()
	e.work(0)
	e.waitForHelpers()
}

// startLast starts a goroutine that does nothing, after those that should start at once.
// The Go scheduler puts the goroutine started last where only its own processor looks for
// it; other processors take it from there after a sleep, which takes about 60 µs on
// Linux, whereas waking a thread takes 10 µs. All goroutines before the last start
// without this sleep.
func startLast() { go func() {}() }

// allocate allocates the memory that a run with several workers needs.
func (e *Engine) allocate(p *Plan, workers int) {
	bands := p.bands()
	e.share(p.Shares, bands, workers)
	if cap(e.done) < bands {
		e.done = make([]tileCount, bands)
	}
	e.done = e.done[:bands]
	for i := range e.done {
		e.done[i].done.Store(0)
	}
	for len(e.wakeups) < workers {
		e.wakeups = append(e.wakeups, make(wakeup, 1))
	}
	if cap(e.busy) < workers {
		e.busy = make([]atomic.Bool, workers)
	}
	e.busy = e.busy[:workers]
	e.spins, e.crowded = spins, workers > runtime.GOMAXPROCS(0)
	if e.crowded {
		e.spins = 100
	}
	if e.help == nil {
		e.help = e.helper
	}
	e.next.Store(0)
	e.helpers.Store(int64(workers-1) * freeWorker)
}

// fillBand fills the band that begins at row y without waiting for other bands. It
// reports whether to continue.
func (e *Engine) fillBand(worker, y int) bool {
	g := &e.plan.Grid
	rows := min(g.BandRows, g.Rows-y)
	for x := 0; x < g.N; x += g.TileWidth {
		if e.stop() {
			return false
		}
		for _, l := range e.layers {
			l.Tile(worker, x, y, min(g.TileWidth, g.N-x), rows)
		}
		e.tileDone(worker)
	}
	return true
}

// Engine.helpers counts the helpers that are running and, in units of freeWorker, the
// free worker numbers. A helper that the scheduler starts after the work is done finds
// the counter closed and returns, so the caller never waits for it.
const (
	freeWorker = 1 << 32
	closed     = 1 << 62
)

func (e *Engine) helper() {
	for {
		helpers := e.helpers.Load()
		if helpers < freeWorker || helpers >= closed {
			return
		}
		if !e.helpers.CompareAndSwap(helpers, helpers-freeWorker+1) {
			continue
		}
		worker := e.takeNumber()
		again := e.work(worker)
		e.busy[worker].Store(false)
		e.helperDone(again)
		if !again {
			return
		}
		yieldThread()
	}
}

// takeNumber returns a free worker number. The caller has reserved one in helpers, so
// there is one.
func (e *Engine) takeNumber() int {
	for worker := 1; ; worker = worker%(len(e.busy)-1) + 1 {
		if e.busy[worker].CompareAndSwap(false, true) {
			return worker
		}
	}
}

// helperDone ends a helper's work. If the work continues, its worker number becomes free for
// another helper.
func (e *Engine) helperDone(again bool) {
	for {
		helpers := e.helpers.Load()
		next := helpers - 1
		if again && helpers < closed {
			next += freeWorker
		}
		if e.helpers.CompareAndSwap(helpers, next) {
			if next%freeWorker == 0 && e.callerSleeps.CompareAndSwap(true, false) {
				e.wakeups[0] <- struct{}{}
			}
			return
		}
	}
}

// work takes bands until none is left or the context is done. It reports whether a
// helper should return later.
func (e *Engine) work(worker int) (again bool) {
	switch {
	case e.twoPass:
		return e.workTwoPass(worker)
	case len(e.shares) > 0:
		e.workShare(worker)
		return false
	}
	complete := 0 // all bands before this one are done
	for {
		band := e.take(&e.next)
		if band >= len(e.done) || !e.begin(band, &complete) || !e.workBand(worker, band) {
			return false
		}
	}
}

// take increments a counter and returns its previous value.
func (e *Engine) take(next *atomic.Int64) int { return int(next.Add(1)) - 1 }

// workBand fills a band. It reports whether to continue.
func (e *Engine) workBand(worker, band int) bool {
	g := &e.plan.Grid
	tiles := g.tiles()
	y := band * g.BandRows
	rows := min(g.BandRows, g.Rows-y)
	late := int64(-1)
	for tile := range tiles {
		from := y
		switch {
		case band == 0:
		case e.exact:
			from = e.above(worker, band, tile, &late)
		case !e.await(worker, band-1, int64(min(tile+1+g.Lead, tiles))):
			from = -1
		}
		if from < 0 || e.stop() {
			return false
		}
		x := tile * g.TileWidth
		n := min(g.TileWidth, g.N-x)
		for _, l := range e.layers {
			l.rowAbove(worker, x, y, n, from)
			l.Tile(worker, x, y, n, rows)
		}
		e.reached(band, tile+1)
		e.tileDone(worker)
	}
	return true
}

// stop reports whether to stop because the context is done.
func (e *Engine) stop() bool {
	if e.set.context == nil || e.set.context.Err() == nil {
		return false
	}
	e.stopped.Store(true)
	for i := range e.done {
		if want := e.done[i].want.Load(); want != 0 {
			e.wake(&e.done[i], want)
		}
	}
	return true
}
