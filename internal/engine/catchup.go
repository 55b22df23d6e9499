package engine

import "time"

// A loose layer can go on before the band above is done: whole numbers add up in
// any order, so that the row above a tile is a row further up and the pixels
// between.
type loose interface {
	// exact reports whether the layer can do that, for the table that it has.
	exact() bool
	// over gets the row above elements [x, x+n) of the band at y: from the lowest
	// row of the band that ends at row from, and the pixels of rows [from, y).
	over(worker, x, y, n, from int)
}

// slots is how many bands have a carry row of their own, so that those below can go
// on from it while others are late. More than half of these bands are never between
// the first that is not done and the last that has begun.
func (p *Plan) slots() int {
	switch {
	case p.Apart:
		return 2 * p.bands() // its columns, and what it leaves
	case p.Workers == 1:
		return 1
	}
	return min(p.bands(), max(4*p.Workers, min(16*p.Workers, slotBytes/(8*(p.N+1)))))
}

// slotBytes is what carry rows may take, unless workers need more.
const slotBytes = 16 << 20

// begin waits until a band may take its carry row from another.
func (e *Engine) begin(band int, complete *int) bool {
	if e.slots >= len(e.done) {
		return true
	}
	tiles := int64(e.grid.tiles())
	for ; *complete < band-e.slots/2; *complete++ {
		for p := 0; e.done[*complete].done.Load() < tiles; p++ {
			if e.stopped.Load() {
				return false
			}
			if e.pause(p); p > e.spins {
				time.Sleep(50 * time.Microsecond) // so many bands behind: it is not running
			}
		}
	}
	return true
}

// above is from which row on a tile must sum the pixels above it by itself: its own
// if the band above is done there in time. Late is what that band had done when
// it was last given up: who is not running is not waited for at every tile.
// Negative says that the context is done.
func (e *Engine) above(worker, band, tile int, late *int64) int {
	over, y := &e.done[band-1], band*e.grid.BandRows
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
			return (b + 1) * e.grid.BandRows
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

// patience is how often to look for a tile before doing without it: longer
// than workers wait for each other where all of them run.
const patience = 1000
