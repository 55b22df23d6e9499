package engine

import "time"

// An apart layer can make bands that do not depend on others: the worker that takes a
// band sums its columns first, and then adds those of the bands above. Those bands were
// taken earlier, so their columns are ready, or nearly so; and the pixels, which are
// read twice, are in a near cache the second time. The alternative, bands that follow
// each other one tile apart, has narrow tiles if there are many workers, and a late
// worker delays many others.
type apart interface {
	// enter allocates memory for a worker.
	enter(worker int)
	// sumBand sums the columns of a band, for the bands below.
	sumBand(band int)
	// goOn sets a worker's column sums to those that a band left, or to zero if band is -1.
	goOn(worker, band int)
	// addBand adds the columns of a band to a worker's sums of the bands above it. If
	// there is set, the band's column sums are ready; otherwise its pixels are summed.
	addBand(worker, band int, there bool)
	// startBand computes the row above a worker's next band from its column sums.
	startBand(worker int)
	// leaveBand stores a worker's sums plus the band's own column sums, for the bands
	// below.
	leaveBand(worker, band int)
}

const (
	// apartWorkers is the minimum number of workers for bands to be apart.
	apartWorkers = 8
	// apartRounds is the minimum number of such bands for each worker.
	apartRounds = 2
	// apartRows is the maximum number of rows in such a band: its pixels should stay in a
	// near cache, and the column sums it leaves should be small compared with its sums.
	apartRows = 128
)

// setApart cuts the image into bands that are apart if that is faster.
func (p *Plan) setApart(w *Work) {
	if !w.Exact || p.Workers < apartWorkers {
		return
	}
	rounds := max(apartRounds, DivUp(w.Rows, apartRows*p.Workers))
	row := 2 * p.Workers * (w.N + 1) * w.SumBytes // bytes of column sums, for one band of each worker
	if rounds = min(rounds, apartBytes/row); rounds < apartRounds {
		return
	}
	p.Apart = true
	p.BandRows = DivUp(DivUp(w.Rows, rounds*p.Workers), 4) * 4
	p.TileWidth = tileBytes / w.SumBytes
}

// apartBytes is the maximum size of the column sums of all bands together.
const apartBytes = 24 << 20

// States of a band that is apart, stored in its tileCount.
const (
	bandSummed = 1 + iota // its columns are summed
	bandLeft              // and those of all bands above are added
)

// stay is the time after which a helper yields to other programs. It yields between two
// bands, when nobody waits for it; in the middle of one, where the system would otherwise
// preempt it, all other workers do. A time slice of the system is longer.
var stay = time.Millisecond

// workApart makes bands that are apart until none is left or the context is done. It
// reports whether a helper should return later.
func (e *Engine) workApart(worker int) (again bool) {
	start := time.Now()
	for _, l := range e.layers {
		l.enter(worker)
	}
	last := len(e.done) - 1
	for {
		if worker > 0 && time.Since(start) > stay && int(e.next.Load()) <= last {
			return true
		}
		band := e.take(&e.next)
		if band > last || e.stop() {
			return false
		}
		if band < last {
			for _, l := range e.layers {
				l.sumBand(band)
			}
			e.done[band].done.Store(bandSummed)
		}
		e.addAbove(worker, band)
		for _, l := range e.layers {
			l.startBand(worker)
			if band < last {
				l.leaveBand(worker, band)
			}
		}
		e.done[band].done.Store(bandLeft)
		if !e.fillBand(worker, band*e.plan.BandRows) {
			return false
		}
	}
}

// addAbove adds the columns of all bands above a band, starting from the nearest band
// that has left its sums. It does not wait for a worker that is not running.
func (e *Engine) addAbove(worker, band int) {
	from := band - 1
	for from >= 0 && e.done[from].done.Load() != bandLeft {
		from--
	}
	for _, l := range e.layers {
		l.goOn(worker, from)
	}
	looks := 0
	for b := from + 1; b < band; b++ {
		state := e.done[b].done.Load()
		for ; state == 0 && looks < patience; looks++ {
			e.pause(looks)
			state = e.done[b].done.Load()
		}
		for _, l := range e.layers {
			if state == bandLeft {
				l.goOn(worker, b)
			} else {
				l.addBand(worker, b, state == bandSummed)
			}
		}
	}
}
