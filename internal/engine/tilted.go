package engine

import (
	"unsafe"

	"github.com/boxsum/boxsum/internal/kernel"
)

// Tilted is the layer that fills one 45° table of sums of type S. Set the
// exported fields and call Prepare before every run of a grid of
// [Work.PlanTilted].
type Tilted[P kernel.Pixel, S kernel.Sum] struct {
	Kernel    kernel.TiltedFunc[P, S]
	Src       []P
	SrcStride int
	Dst       []S // entry (0, 0)
	DstStride int
	N         int // of the image, in elements
	Channels  int
	Writes    kernel.Writes // where a row of Dst allows it

	sums, diagonals []S // of the lowest row done so far, in cache and without gaps
	workers         []tiltedWorker[P, S]
}

// tiltedWorker is what one worker has to itself.
type tiltedWorker[P kernel.Pixel, S kernel.Sum] struct {
	tile kernel.TiltedTile[P, S]
	edge []S // of the band's rows
	_    [kernel.LineBytes]byte
}

// Prepare gets the scratch memory for a grid and clears what a run starts from.
func (l *Tilted[P, S]) Prepare(g Grid, workers int) {
	lead := kernel.TiltedLead(l.Channels)
	need := lead + l.N + kernel.TiltedSlack(l.Channels)
	if cap(l.sums) < need {
		// Half a page apart modulo pages: a load that has the last twelve bits of
		// a store before it waits for that store.
		size := int(unsafe.Sizeof(*new(S)))
		apart := roundUp(need*size, pageBytes)/size + pageBytes/2/size
		both := lineOf[S](apart+need, lead)
		l.sums, l.diagonals = both[:need:need], both[apart:][:need:need]
	}
	l.sums, l.diagonals = l.sums[:need], l.diagonals[:need]
	zero := kernel.TiltedZero[S]()
	for i := range l.sums {
		l.sums[i], l.diagonals[i] = zero, zero
	}
	for len(l.workers) < workers {
		l.workers = append(l.workers, tiltedWorker[P, S]{})
	}
	for i := range l.workers[:workers] {
		if w := &l.workers[i]; len(w.edge) < g.BandRows*kernel.CarryLen(l.Channels) {
			w.edge = make([]S, g.BandRows*kernel.CarryLen(l.Channels))
		}
	}
	clear(l.Dst[:l.N+l.Channels])
	if l.N == 0 { // there will be no tiles, but column 0 there is
		for y := range g.Rows {
			clear(l.Dst[(y+1)*l.DstStride:][:l.Channels])
		}
	}
}

// lineOf is n elements, of which the one at starts a cache line.
func lineOf[S kernel.Sum](n, at int) []S {
	line := kernel.LineBytes / int(unsafe.Sizeof(*new(S)))
	s := make([]S, n+line)
	for i := range line {
		if uintptr(unsafe.Pointer(&s[i+at]))%kernel.LineBytes == 0 {
			return s[i:][:n:n]
		}
	}
	return s[:n:n]
}

// Tile implements [Layer]. Its x counts along the first row of the band; rows
// below begin further left.
func (l *Tilted[P, S]) Tile(worker, x, y, n, rows int) {
	l.tile(worker, l.Dst[(y+1)*l.DstStride:], l.Src[y*l.SrcStride:], x, y, n, rows)
}

// Row makes row y of a table, which must come in order, from Src into the
// second row of Dst.
func (l *Tilted[P, S]) Row(y int) { l.tile(0, l.Dst[l.DstStride:], l.Src, 0, y, l.N, 1) }

func (l *Tilted[P, S]) tile(worker int, dst []S, src []P, x, y, n, rows int) {
	w := &l.workers[worker]
	w.tile = kernel.TiltedTile[P, S]{
		Dst:       dst,
		DstStride: l.DstStride,
		Src:       src,
		SrcStride: l.SrcStride,
		Sums:      l.sums,
		Diagonals: l.diagonals,
		Edge:      w.edge,
		X:         x,
		Width:     n,
		Rows:      rows,
		N:         l.N,
		Channels:  l.Channels,
		First:     y == 0,
		Writes:    l.Writes,
	}
	l.Kernel(&w.tile)
}

// Release lets go of the caller's memory and keeps the scratch.
func (l *Tilted[P, S]) Release() {
	l.Src, l.Dst = nil, nil
	for i := range l.workers {
		l.workers[i].tile = kernel.TiltedTile[P, S]{}
	}
}

const pageBytes = 4096

const (
	// tiltedTileBytes is the width of a tile's sums: two rows of them, the sums
	// and the diagonals, stay in the first-level cache while rows go by.
	tiltedTileBytes = 8 << 10
	// tiltedBandRows is as bandRows, but that higher bands lean more and so make
	// the worker of the next one wait longer.
	tiltedBandRows = 32
	// tiltedWorkerBytes is as workerBytes: a worker waits longer for its turn.
	tiltedWorkerBytes = 3 << 20
)

// PlanTilted is [Work.Plan] for a 45° table. The rows of a tile begin further
// left from row to row, so a band is wider than the image, and the band above
// must be ahead by that much.
func (w Work) PlanTilted() Plan {
	p := w.Plan()
	if w.N == 0 {
		return p
	}
	skew := kernel.TiltedSkew(w.Channels, w.SumBytes)
	width := tiltedTileBytes / w.SumBytes
	p.Workers = max(1, min(p.Workers, w.Rows*w.N*(w.PixelBytes+w.SumBytes)/tiltedWorkerBytes))
	p.BandRows = min(tiltedBandRows, max(1, w.Rows))
	if p.Workers > 1 {
		// A band leans by a tile at most, and the next begins when two are done:
		// smaller tiles leave time to spare before one worker waits for another.
		width = roundUp(min(3*width/8, w.N/(2*p.Workers-1)), 4*skew)
		p.BandRows = max(4, min(p.BandRows, w.Rows/(8*p.Workers), width/skew)&^3)
	}
	over := (p.BandRows - 1) * skew
	p.N += over
	if p.Workers == 1 && w.N <= 2*width {
		width = p.N // whole rows
	}
	p.TileWidth = roundUp(width, 4*skew) // so that four rows begin together
	p.Lead = (w.Channels + over + p.TileWidth - 1) / p.TileWidth
	p.Workers = max(1, min(p.Workers, (w.Rows+p.BandRows-1)/p.BandRows))
	return p
}
