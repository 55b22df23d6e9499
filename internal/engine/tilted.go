package engine

import (
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/raster"
)

// tilted is the layer of 45° tables. Its tiles lean to the left, because a sum needs the
// row above on both sides.
type tilted struct {
	Base
	kernel kernel.TiltedFunc
	src    *raster.Array
	dst    *Table
	size   int // of a sum, in bytes

	writes          kernel.Writes
	scratch         []byte
	lead            int    // number of bytes before the first one at the start of a cache line
	sums, diagonals []byte // of the lowest finished row, without gaps, to stay in the cache
	workers         []tiltedWorker
}

// tiltedWorker holds the scratch memory of one worker.
type tiltedWorker struct {
	tile kernel.TiltedTile
	edge []byte // carries of a band's rows
	_    [kernel.LineBytes]byte
}

func (l *tilted) find(pixel, sum raster.Type, level kernel.Level, squares bool) {
	l.kernel, l.size = kernel.Tilted(pixel, sum, level, squares), sum.Bytes()
}

func (l *tilted) cut(p *Plan, w *Work, _ int) { *p = w.PlanTilted() }

func (l *tilted) aim(src *raster.Array, dst *Table) { l.src, l.dst = src, dst }

// n returns the number of elements in a row of pixels.
func (l *tilted) n() int { return l.dst.Width * l.dst.Channels }

const pageBytes = 4096

// Prepare implements [Layer].
func (l *tilted) Prepare(p *Plan) error {
	lead := kernel.TiltedLead(l.dst.Channels) * l.size
	need := lead + (l.n()+kernel.TiltedSlack(l.dst.Channels))*l.size
	// Half a page apart, modulo the page size: a load waits for an earlier store whose
	// address has the same lowest twelve bits.
	apart := raster.RoundUp(need, pageBytes) + pageBytes/2
	if cap(l.scratch) < apart+need || l.lead != lead {
		l.scratch, l.lead = AtLeastFrom[byte](nil, apart+need, lead), lead
	}
	l.scratch = l.scratch[:apart+need]
	l.sums, l.diagonals = l.scratch[:need:need], l.scratch[apart:][:need:need]
	kernel.TiltedZero(l.sums, l.dst.Type)
	kernel.TiltedZero(l.diagonals, l.dst.Type)
	l.workers = Workers(l.workers, p.Workers)
	for i := range l.workers[:p.Workers] {
		w := &l.workers[i]
		w.edge = AtLeast(w.edge, p.BandRows*kernel.CarryLen(l.dst.Channels)*l.size)
	}
	l.writes = p.Writes
	l.dst.clearEdges(p.Rows)
	return nil
}

// Tile implements [Layer]. x is a position in the first row of the band; rows below begin
// further left.
func (l *tilted) Tile(worker, x, y, n, rows int) {
	l.kernel(l.pointTile(worker, l.dst.From((y+1)*l.dst.Stride), l.src.From(y*l.src.Stride), x, y, n, rows))
}

// pushRow implements [rowLayer].
func (l *tilted) pushRow(row []byte, y int) {
	l.kernel(l.pointTile(0, l.dst.From(l.dst.Stride), row, 0, y, l.n(), 1))
	l.workers[0].tile = kernel.TiltedTile{}
}

// pointTile returns a worker's tile for the given pixels and sums, ready for the kernel.
func (l *tilted) pointTile(worker int, dst, src []byte, x, y, n, rows int) *kernel.TiltedTile {
	w := &l.workers[worker]
	w.tile = kernel.TiltedTile{
		Dst:       dst,
		DstStride: l.dst.Stride,
		Src:       src,
		SrcStride: l.src.Stride,
		Sums:      l.sums,
		Diagonals: l.diagonals,
		Edge:      w.edge,
		X:         x,
		Width:     n,
		Rows:      rows,
		N:         l.n(),
		Channels:  l.dst.Channels,
		First:     y == 0,
		Writes:    l.writes,
	}
	return &w.tile
}

// Release implements [Layer].
func (l *tilted) Release() int {
	l.src.Data, l.dst.Data = nil, nil
	l.src, l.dst = nil, nil
	bytes := Bytes(l.scratch)
	for i := range l.workers {
		w := &l.workers[i]
		w.tile = kernel.TiltedTile{}
		bytes += Bytes(w.edge)
	}
	return bytes
}
