package engine

import "time"

// A twoPass layer can fill bands that do not wait for each other, by reduce-then-scan:
// the worker that takes a band first sums its columns, and then adds the column sums of
// the bands above. Those bands were taken earlier, so their sums are usually ready, and
// the second pass over the pixels finds them in a near cache. The alternative, bands that
// follow each other one tile apart, needs narrow tiles if there are many workers, and a
// late worker delays many others.
type twoPass interface {
	// enter allocates memory for a worker.
	enter(worker int)
	// sumBand sums the columns of a band, for the bands below.
	sumBand(band int)
	// resumeFrom sets a worker's column sums to those that a band left, or to zero if
	// band is -1.
	resumeFrom(worker, band int)
	// addBand adds the columns of a band to a worker's sums of the bands above it. If
	// ready is set, the band's column sums have been computed; otherwise addBand computes
	// them from the pixels.
	addBand(worker, band int, ready bool)
	// startBand computes the row above a worker's next band from its column sums.
	startBand(worker int)
	// leaveBand stores a worker's sums plus the band's own column sums, for the bands
	// below.
	leaveBand(worker, band int)
}

const (
	// twoPassWorkers is the minimum number of workers for which two passes are faster.
	twoPassWorkers = 8
	// twoPassRounds is the minimum number of bands for each worker.
	twoPassRounds = 2
	// twoPassRows is the maximum number of rows in a band: its pixels should stay in a
	// near cache, and its column sums should be small compared with its part of the
	// table.
	twoPassRows = 128
)

// setTwoPass plans two passes over the image if that is faster.
func (p *Plan) setTwoPass(w *Work) {
	if !w.Exact || p.Workers < twoPassWorkers {
		return
	}
	rounds := max(twoPassRounds, DivUp(w.Rows, twoPassRows*p.Workers))
	row := 2 * p.Workers * (w.N + 1) * w.SumBytes // size of the column sums of one band per worker, in bytes
	if rounds = min(rounds, twoPassBytes/row); rounds < twoPassRounds {
		return
	}
	p.TwoPass = true
	p.BandRows = DivUp(DivUp(w.Rows, rounds*p.Workers), 4) * 4
	p.TileWidth = tileBytes / w.SumBytes
}

// twoPassBytes is the maximum size of the column sums of all bands together.
const twoPassBytes = 24 << 20

// The states of a band in two passes, stored in its tileCount.
const (
	bandSummed = 1 + iota // the sums of the band's own columns are ready
	bandLeft              // the sums including all bands above are ready
)

// helperTime is the time after which a helper yields to other programs. It yields between
// two bands, when no other worker waits for it. If the system preempted it in the middle
// of a band, all others would wait. The system's own time slices are longer than this.
var helperTime = time.Millisecond

// workTwoPass fills bands in two passes until none is left or the context is done. It
// reports whether a helper should return later.
func (e *Engine) workTwoPass(worker int) (again bool) {
	start := time.Now()
	for _, l := range e.layers {
		l.enter(worker)
	}
	last := len(e.done) - 1
	for {
		if worker > 0 && time.Since(start) > helperTime && int(e.next.Load()) <= last {
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
// that has left its sums. It does not wait for a worker that is not running: it sums the
// pixels of that worker's band itself.
func (e *Engine) addAbove(worker, band int) {
	from := band - 1
	for from >= 0 && e.done[from].done.Load() != bandLeft {
		from--
	}
	for _, l := range e.layers {
		l.resumeFrom(worker, from)
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
				l.resumeFrom(worker, b)
			} else {
				l.addBand(worker, b, state == bandSummed)
			}
		}
	}
}
