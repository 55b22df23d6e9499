package volume

import (
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel"
)

// layer fills one table on the engine of plane tables, in one of two ways.
//
// By bands: a band of rows goes through all slices, so that what it needs of
// the slice before is in its worker's cache. What an engine takes for the
// columns of an image are the slices; a tile needs the lowest row over it in
// the same slice, which the band above has left in above.
//
// By slices: each is cut into tiles as a plane table is, and what it needs of
// the slice before is as large as a slice.
type layer[P boxsum.Pixel, S boxsum.Sum] struct {
	kernel kernel.VolumeFunc[P, S]
	src    Volume[P]
	dst    Table[S]
	plan   plan

	above      []S // by slices: the lowest row done so far; by bands: that of every slice
	abovePitch int
	over       []S // by slices: the slice before
	z          int // by slices: the slice to do
	workers    []worker[P, S]
}

// worker is what one worker has to itself.
type worker[P boxsum.Pixel, S boxsum.Sum] struct {
	tile  kernel.VolumeTile[P, S]
	carry []S // of the band's rows
	over  []S // by bands: the band in the slice before
	_     [kernel.LineBytes]byte
}

// aim points the layer at a table and a volume.
func (l *layer[P, S]) aim(dst *Table[S], src Volume[P]) {
	l.dst, l.src = *dst, src
	l.dst.scratch = nil
}

// n is the elements of a row.
func (l *layer[P, S]) n() int { return l.src.Width * l.src.Channels }

// prepare gets the scratch memory for a plan.
func (l *layer[P, S]) prepare(p plan) {
	if !l.onLines() {
		p.writes = kernel.Ahead
	}
	p.whole = p.writes != kernel.Ahead && !p.bySlices && l.dst.ownsGaps()
	l.plan = p
	rows := p.grid.BandRows
	l.abovePitch = 0
	if !p.bySlices && rows < p.grid.Rows {
		l.abovePitch = roundUp(l.n()+kernel.Slack, kernel.LineBytes)
	}
	l.above = atLeast(l.above, max(l.n()+kernel.Slack, l.src.Depth*l.abovePitch))
	if p.bySlices {
		l.over = atLeast(l.over, kernel.OverLen(l.src.Height, l.n()))
		clear(l.over)
	}
	for len(l.workers) < p.workers {
		l.workers = append(l.workers, worker[P, S]{})
	}
	for i := range l.workers[:p.workers] {
		w := &l.workers[i]
		w.carry = atLeast(w.carry, rows*kernel.CarryLen(l.src.Channels))
		if !p.bySlices {
			w.over = atLeast(w.over, kernel.OverLen(rows, l.n()))
		}
	}
}

// atLeast is n elements that start a cache line, in the memory of have where it
// is enough.
func atLeast[S boxsum.Sum](have []S, n int) []S {
	if cap(have) >= n {
		return have[:n]
	}
	line := kernel.LineBytes / sizeOf[S]()
	s := make([]S, n+line)
	for i := range line {
		if uintptr(unsafe.Pointer(&s[i]))%kernel.LineBytes == 0 {
			return s[i:][:n:n]
		}
	}
	return s[:n:n]
}

// onLines says whether the sums of every row start a cache line.
func (l *layer[P, S]) onLines() bool {
	size := sizeOf[S]()
	first := uintptr(unsafe.Pointer(unsafe.SliceData(l.dst.Sums))) + uintptr(l.dst.Channels*size)
	return first%kernel.LineBytes == 0 && l.dst.Stride*size%kernel.LineBytes == 0 && l.dst.SliceStride*size%kernel.LineBytes == 0
}

// clearRows clears rows of a slice of the table.
func (l *layer[P, S]) clearRows(z, y, rows int) {
	slice := l.dst.Sums[z*l.dst.SliceStride:]
	for r := range rows {
		clear(slice[(y+r)*l.dst.Stride:][:l.n()+l.dst.Channels])
	}
}

// clearSlice clears slice z of the table.
func (l *layer[P, S]) clearSlice(z int) { l.clearRows(z, 0, l.dst.Height+1) }

// slice gets ready for slice z, where the table is made by slices.
func (l *layer[P, S]) slice(z int) {
	l.z = z
	clear(l.above[:l.n()])
	l.clearRows(z+1, 0, 1)
}

// Tile implements [engine.Layer].
func (l *layer[P, S]) Tile(worker, x, y, n, rows int) {
	if l.plan.bySlices {
		over := l.over[y*kernel.OverLen(1, l.n())+rows*x:]
		l.tile(worker, x, y, l.z, n, rows, l.above[x:], over)
		return
	}
	w := &l.workers[worker]
	if x == 0 {
		clear(w.over[:kernel.OverLen(rows, l.n())])
		l.clearRows(0, y+1, rows)
		if y == 0 {
			l.clearRows(0, 0, 1)
		}
	}
	for z := x; z < x+n; z++ {
		above := l.above[z*l.abovePitch:]
		if y == 0 {
			clear(above[:l.n()])
			l.clearRows(z+1, 0, 1)
		}
		l.tile(worker, 0, y, z, l.n(), rows, above, w.over)
	}
}

// tile makes rows [y, y+rows) and elements [x, x+n) of them, in slice z.
func (l *layer[P, S]) tile(worker, x, y, z, n, rows int, above, over []S) {
	w := &l.workers[worker]
	channels := l.dst.Channels
	// After the last row of all nothing belongs to the table.
	whole := l.plan.whole && (z+1 < l.src.Depth || y+rows < l.src.Height)
	dst := l.dst.Sums[(z+1)*l.dst.SliceStride+(y+1)*l.dst.Stride:]
	if x == 0 {
		clear(w.carry)
	}
	// The rows above have written the zeros of column 0 with their own.
	column := rows
	if whole {
		column = 0
		if y == 0 {
			column = 1
		}
	}
	if x == 0 {
		for r := range column {
			clear(dst[r*l.dst.Stride:][:channels])
		}
	}
	w.tile = kernel.VolumeTile[P, S]{
		Tile: kernel.Tile[P, S]{
			Dst: dst[channels+x:], DstStride: l.dst.Stride,
			Src: l.src.Pix[z*l.src.SliceStride+y*l.src.Stride+x:], SrcStride: l.src.Stride,
			Above: above, Carry: w.carry,
			Rows: rows, N: n, Channels: channels,
			Offset: l.dst.Offset, Writes: l.plan.writes,
		},
		Over: over, Whole: whole,
	}
	l.kernel(&w.tile)
}

// release lets go of the caller's memory and keeps the scratch.
func (l *layer[P, S]) release() {
	l.src, l.dst = Volume[P]{}, Table[S]{}
	for i := range l.workers {
		l.workers[i].tile = kernel.VolumeTile[P, S]{}
	}
}

// tables is a layer of any types.
type tables interface {
	engine.Layer
	prepare(plan)
	slice(z int)
	clearSlice(z int)
	release()
}

// run fills the tables of a volume.
type run struct {
	engine engine.Engine
	layers []tables
}

// integrate fills tables as planned.
func (r *run) integrate(p plan, layers ...tables) {
	if len(r.layers) == 0 {
		for _, l := range layers {
			r.layers = append(r.layers, l)
			r.engine.Layers = append(r.engine.Layers, l)
		}
	}
	switch {
	case p.empty:
		for _, l := range r.layers {
			for z := range p.depth + 1 {
				l.clearSlice(z)
			}
		}
	case p.bySlices:
		for _, l := range r.layers {
			l.prepare(p)
			l.clearSlice(0)
		}
		for z := range p.depth {
			for _, l := range r.layers {
				l.slice(z)
			}
			r.engine.Run(p.grid, p.workers)
		}
	default:
		for _, l := range r.layers {
			l.prepare(p)
		}
		r.engine.Run(p.grid, p.workers)
	}
	for _, l := range r.layers {
		l.release()
	}
}
