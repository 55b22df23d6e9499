package engine

import "time"

// A reorderable layer can continue before the band above is done: integers add up in any
// order, so the row above a tile can be computed from a row further up and the pixels in
// between.
type reorderable interface {
	// exact reports whether the layer sums integers, so that any order gives the same
	// bits.
	exact() bool
	// rowAbove computes the row above elements [x, x+n) of the band at y, from the lowest
	// row of the band that ends at row from and the pixels of rows [from, y).
	rowAbove(worker, x, y, n, from int)
}

// slots returns the number of bands that have their own carry row, so that bands
// below can continue from it while others are late. At most half of these bands are
// between the first that is not done and the last that has begun.
func (p *Plan) slots() int {
	switch {
	case p.TwoPass:
		return 2 * p.bands() // for each band, its own column sums and those including the bands above
	case p.Workers == 1:
		return 1
	}
	return min(p.bands(), max(4*p.Workers, min(16*p.Workers, slotBytes/(8*(p.N+1)))))
}

// slotBytes is the maximum size of all carry rows, unless workers need more.
const slotBytes = 16 << 20

// begin waits until a band may reuse the carry row of another.
func (e *Engine) begin(band int, complete *int) bool {
	if e.slots >= len(e.done) {
		return true
	}
	tiles := int64(e.plan.tiles())
	for ; *complete < band-e.slots/2; *complete++ {
		for p := 0; e.done[*complete].done.Load() < tiles; p++ {
			if e.stopped.Load() {
				return false
			}
			if e.pause(p); p > e.spins {
				time.Sleep(50 * time.Microsecond) // so far behind, its worker is not running
			}
		}
	}
	return true
}

// above returns the row from which a tile must sum the pixels above it: the tile's own
// first row if the band above finishes there in time, and a row further up otherwise.
// late is the progress of the band above when the last tile gave up on it; if there has
// been none since, above does not wait again. The result is negative if the context is
// done.
func (e *Engine) above(worker, band, tile int, late *int64) int {
	over, y := &e.done[band-1], band*e.plan.BandRows
	want := int64(tile + 1)
	for p := 0; p < patience; p++ {
		done := over.done.Load()
		if done >= want {
			return y
		}
		if done == *late {
			break
		}
		e.pause(p)
	}
	*late = over.done.Load()
	lowest := -1
	if e.slots < len(e.done) {
		lowest = max(-1, band-e.slots/2)
	}
	for b := band - 1; b > lowest; b-- {
		if e.done[b].done.Load() >= want {
			return (b + 1) * e.plan.BandRows
		}
	}
	if lowest < 0 {
		return 0
	}
	if !e.await(worker, band-1, want) {
		return -1
	}
	return y
}

// patience is the number of times to poll for a tile before continuing without it:
// longer than workers wait for each other when all of them run.
const patience = 1000
