package tilted

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/pairs"
)

// layer fills one table. Tiles lean to the left, for a sum needs the row above on
// both sides.
type layer[S boxsum.Sum] struct {
	kernel kernel.TiltedFunc[S]
	src    *engine.Raw
	dst    *engine.Target[S]

	writes          kernel.Writes
	scratch         []S
	lead            int // elements of scratch before the one that starts a cache line
	sums, diagonals []S // of the lowest row done so far, in cache and without gaps
	workers         []worker[S]
}

type worker[S boxsum.Sum] struct {
	tile kernel.TiltedTile[S]
	edge []S // of the band's rows
	_    [kernel.LineBytes]byte
}

func (l *layer[S]) Find(pixel pairs.Type, level kernel.Level, squares bool) bool {
	l.kernel = kernel.Tilted[S](pixel, level, squares)
	return l.kernel != nil
}

func (l *layer[S]) Plan(p *engine.Plan, w *engine.Work, _ int) { *p = w.PlanTilted() }

func (l *layer[S]) Aim(src *engine.Raw, dst *engine.Target[S]) { l.src, l.dst = src, dst }

// n is the elements of a row of pixels.
func (l *layer[S]) n() int { return l.dst.Width * l.dst.Channels }

const pageBytes = 4096

func (l *layer[S]) Prepare(p *engine.Plan) error {
	lead := kernel.TiltedLead(l.dst.Channels)
	need := lead + l.n() + kernel.TiltedSlack(l.dst.Channels)
	// Half a page apart modulo pages: a load that has the last twelve bits of
	// a store before it waits for that store.
	size := grid.SizeOf[S]()
	apart := grid.RoundUp(need*size, pageBytes)/size + pageBytes/2/size
	if cap(l.scratch) < apart+need || l.lead != lead {
		l.scratch, l.lead = engine.AtLeastFrom[S](nil, apart+need, lead), lead
	}
	l.sums, l.diagonals = l.scratch[:need:need], l.scratch[apart:][:need:need]
	zero := kernel.TiltedZero[S]()
	for i := range l.sums {
		l.sums[i], l.diagonals[i] = zero, zero
	}
	l.workers = engine.Workers(l.workers, p.Workers)
	for i := range l.workers[:p.Workers] {
		w := &l.workers[i]
		w.edge = engine.AtLeast(w.edge, p.BandRows*kernel.CarryLen(l.dst.Channels))
	}
	l.writes = p.Writes
	engine.ClearEdges(l.dst, p.Rows)
	return nil
}

// Tile implements [engine.Layer]. Its x counts along the first row of the band; rows
// below begin further left.
func (l *layer[S]) Tile(worker, x, y, n, rows int) {
	l.tile(worker, l.dst.Sums[(y+1)*l.dst.Stride:], l.src.From(y*l.src.Stride), x, y, n, rows)
}

// Row makes row y of a table, which must come in order, in the second row of dst.
func (l *layer[S]) Row(row []byte, y int) {
	l.tile(0, l.dst.Sums[l.dst.Stride:], row, 0, y, l.n(), 1)
	l.workers[0].tile = kernel.TiltedTile[S]{}
}

func (l *layer[S]) tile(worker int, dst []S, src []byte, x, y, n, rows int) {
	w := &l.workers[worker]
	w.tile = kernel.TiltedTile[S]{
		Dst:        dst,
		DstStride:  l.dst.Stride,
		Src:        src,
		SrcStride:  l.src.Stride,
		PixelBytes: l.src.Type.Bytes(),
		Sums:       l.sums,
		Diagonals:  l.diagonals,
		Edge:       w.edge,
		X:          x,
		Width:      n,
		Rows:       rows,
		N:          l.n(),
		Channels:   l.dst.Channels,
		First:      y == 0,
		Writes:     l.writes,
	}
	l.kernel(&w.tile)
}

func (l *layer[S]) Finish() {}

func (l *layer[S]) Release() int {
	l.src, l.dst = nil, nil
	bytes := engine.Bytes(l.scratch)
	for i := range l.workers {
		w := &l.workers[i]
		w.tile = kernel.TiltedTile[S]{}
		bytes += engine.Bytes(w.edge)
	}
	return bytes
}
