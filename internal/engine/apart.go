package engine

import "time"

// An apart layer can make bands that need no others: who takes a band sums its columns
// first, and adds up those of the bands above. These were taken before, so that their
// columns are there, or nearly; and the pixels, read twice, are in a near cache the
// second time. Bands that follow each other a tile apart have narrow tiles where there
// are many workers, and a late one makes many others late.
type apart interface {
	loose
	// enter gets memory for a worker.
	enter(worker int)
	// sumBand sums the columns of a band, for the bands below.
	sumBand(band int)
	// goOn has a worker start from what a band left, or for -1 from nothing.
	goOn(worker, band int)
	// addBand adds a band to what a worker has of those above: its sums if they are
	// there, and otherwise its pixels.
	addBand(worker, band int, there bool)
	// startBand makes the row above the band that comes next.
	startBand(worker int)
	// leaveBand leaves what a worker has, and the band's own columns, to those below.
	leaveBand(worker, band int)
}

const (
	// apartWorkers is from how many workers on bands are apart.
	apartWorkers = 8
	// apartRounds is how many bands each of them has then, at least.
	apartRounds = 2
	// apartRows is how many rows a band has at most: its pixels should stay in a
	// near cache, and what it leaves should be little beside its sums.
	apartRows = 128
)

// setApart cuts the image into bands that are apart, if that is better.
func (p *Plan) setApart(w *Work) {
	if !w.Exact || p.Workers < apartWorkers {
		return
	}
	rounds := max(apartRounds, DivUp(w.Rows, apartRows*p.Workers))
	row := 2 * p.Workers * (w.N + 1) * w.SumBytes // what a band of each leaves
	if rounds = min(rounds, apartBytes/row); rounds < apartRounds {
		return
	}
	p.Apart = true
	p.BandRows = DivUp(DivUp(w.Rows, rounds*p.Workers), 4) * 4
	p.TileWidth = tileBytes / w.SumBytes
}

// apartBytes is what bands may leave in all.
const apartBytes = 24 << 20

// What the count of a band that is apart says.
const (
	bandSummed = 1 + iota // its columns are there
	bandLeft              // and those of all bands above, added up
)

// stay is how long a helper makes bands before it lets other programs run: between two
// bands nobody waits for it, and in the midst of one, where the system would stop it,
// all do. A turn of the system is longer.
var stay = time.Millisecond

// workApart makes bands that are apart until none is left or the context is done. It
// reports whether a helper should come again.
func (e *Engine) workApart(worker int) (again bool) {
	start := time.Now()
	for _, l := range e.layers {
		l.(apart).enter(worker)
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
				l.(apart).sumBand(band)
			}
			e.done[band].done.Store(bandSummed)
		}
		e.addAbove(worker, band)
		for _, l := range e.layers {
			l.(apart).startBand(worker)
			if band < last {
				l.(apart).leaveBand(worker, band)
			}
		}
		e.done[band].done.Store(bandLeft)
		if !e.fillBand(worker, band*e.grid.BandRows) {
			return false
		}
	}
}

// addAbove adds up the columns above a band: from the nearest that left all above it on,
// and those between. Who is not running is not waited for.
func (e *Engine) addAbove(worker, band int) {
	from := band - 1
	for from >= 0 && e.done[from].done.Load() != bandLeft {
		from--
	}
	for _, l := range e.layers {
		l.(apart).goOn(worker, from)
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
				l.(apart).goOn(worker, b)
			} else {
				l.(apart).addBand(worker, b, state == bandSummed)
			}
		}
	}
}
