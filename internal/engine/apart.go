package engine

// An apart layer can make bands that need no others: the columns of every band are
// summed first, at the cost of reading the pixels once more. Many workers make such
// bands as wide as memory likes them; bands that follow each other a tile apart have
// narrow tiles then, and a late one makes many others late.
type apart interface {
	loose
	// sumBand sums the columns of a band, for the bands below.
	sumBand(band int)
	// enter forgets what a worker has added up.
	enter(worker int)
	// addBand adds a band to what a worker has of those above: its sums if they are
	// there, and otherwise its pixels.
	addBand(worker, band int, there bool)
	// startBand makes the row above the band that comes next.
	startBand(worker int)
}

const (
	// apartWorkers is from how many workers on bands are apart.
	apartWorkers = 8
	// apartBands is how many bands each of them has then.
	apartBands = 2
)

// setApart cuts the image into bands that are apart, if that is better.
func (p *Plan) setApart(w *Work) {
	if !w.Exact || p.Workers < apartWorkers || apartBands*p.Workers*(w.N+1)*8 > slotBytes {
		return
	}
	p.Apart = true
	p.BandRows = DivUp(DivUp(w.Rows, apartBands*p.Workers), 4) * 4
	p.TileWidth = tileBytes / w.SumBytes
}

// workApart makes bands that are apart until none is left or the context is done.
func (e *Engine) workApart(worker int) {
	last := len(e.done) - 1
	for band := e.take(&e.first); band < last && !e.stop(); band = e.take(&e.first) {
		for _, l := range e.layers {
			l.(apart).sumBand(band)
		}
		e.done[band].done.Store(1)
	}
	for _, l := range e.layers {
		l.(apart).enter(worker)
	}
	added := 0
	for band := e.take(&e.next); band <= last; band = e.take(&e.next) {
		for ; added < band; added++ {
			there := e.summed(added)
			for _, l := range e.layers {
				l.(apart).addBand(worker, added, there)
			}
		}
		for _, l := range e.layers {
			l.(apart).startBand(worker)
		}
		if !e.fillBand(worker, band*e.grid.BandRows) {
			return
		}
	}
}

// summed waits for the sums of a band's columns. It reports whether they are there:
// who is not running is not waited for.
func (e *Engine) summed(band int) bool {
	for p := range patience {
		if e.done[band].done.Load() != 0 {
			return true
		}
		e.pause(p)
	}
	return false
}
