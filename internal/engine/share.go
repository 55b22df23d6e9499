package engine

import (
	"sync/atomic"

	"github.com/boxsum/boxsum/internal/kernel"
)

// A share is the bands of a worker: the first that it has not begun, and the one after
// the last. Where bands do not need each other, each worker goes down its own part of the
// image: a layer goes on from band to band, and the next image of that size finds its part in the
// caches of the same processor. Who has none left takes half of what another has.
type share struct {
	bands atomic.Uint64
	_     [kernel.LineBytes - 8]byte
}

func bandsOf(first, end int) uint64 { return uint64(first)<<32 | uint64(end) }

func (s *share) bounds() (first, end int, both uint64) {
	both = s.bands.Load()
	return int(both >> 32), int(both & (1<<32 - 1)), both
}

// share gives every worker its part, if there are parts.
func (e *Engine) share(wanted bool, bands, workers int) {
	e.shares = e.shares[:0]
	if !wanted {
		return
	}
	e.shares = Workers(e.shares, workers)
	for i := range e.shares {
		e.shares[i].bands.Store(bandsOf(i*bands/workers, (i+1)*bands/workers))
	}
}

// workShare makes the bands of a worker, and then those that others have not come to.
func (e *Engine) workShare(worker int) {
	own := &e.shares[worker]
	for {
		first, end, both := own.bounds()
		switch {
		case first == end:
			if !e.takeOver(own) {
				return
			}
		case own.bands.CompareAndSwap(both, bandsOf(first+1, end)):
			if !e.fillBand(worker, first*e.grid.BandRows) {
				return
			}
		}
	}
}

// takeOver takes the lower half of the largest share that is left. It reports whether there
// is any.
func (e *Engine) takeOver(own *share) bool {
	for {
		var most *share
		left := 0
		for i := range e.shares {
			if first, end, _ := e.shares[i].bounds(); end-first > left {
				most, left = &e.shares[i], end-first
			}
		}
		if most == nil {
			return false
		}
		first, end, both := most.bounds()
		if first == end {
			continue
		}
		middle := first + (end-first)/2
		if most.bands.CompareAndSwap(both, bandsOf(first, middle)) {
			own.bands.Store(bandsOf(middle, end)) // nobody takes from one that has nothing
			return true
		}
	}
}
