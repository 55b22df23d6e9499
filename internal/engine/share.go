package engine

import (
	"sync/atomic"

	"github.com/boxsum/boxsum/internal/kernel"
)

// A share is the range of bands that a worker has not begun. If bands are independent,
// each worker processes its own part of the image: a layer continues from band to band,
// and the same part of the next image of this size is processed by the same processor,
// whose caches may still hold it. A worker that runs out of bands takes half of
// another's.
type share struct {
	bands atomic.Uint64
	_     [kernel.LineBytes - 8]byte
}

func bandsOf(first, end int) uint64 { return uint64(first)<<32 | uint64(end) }

func (s *share) bounds() (first, end int, both uint64) {
	both = s.bands.Load()
	return int(both >> 32), int(both & (1<<32 - 1)), both
}

// share divides the bands among the workers if wanted is set.
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

// workShare fills the bands of a worker's share, and then takes over bands of others.
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
			if !e.fillBand(worker, first*e.plan.BandRows) {
				return
			}
		}
	}
}

// takeOver takes the lower half of the largest remaining share. It reports whether
// there was one.
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
			own.bands.Store(bandsOf(middle, end)) // no worker takes from an empty share, so this cannot overwrite a change
			return true
		}
	}
}
