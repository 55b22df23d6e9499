package engine

import (
	"unsafe"

	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/raster"
)

// solid is the layer of volumes. It fills a table in one of two ways.
//
// By bands: a worker fills a band of rows in all slices, one after the other, so the sums
// of the previous slice that it needs are in its cache. Slices take the place of the
// columns of an image: a tile needs the row above it in the same slice, which the worker
// of the band above has stored in above.
//
// By slices: each slice is divided into tiles like an image. A tile needs the sums of the
// previous slice, which is complete.
type solid struct {
	Base
	kernel   kernel.VolumeFunc
	src      *raster.Array
	dst      *Table
	size     int // size of a sum in bytes
	bySlices bool
	writes   kernel.Writes
	whole    bool // see kernel.VolumeTile

	above      []byte // the lowest finished row: by slices, of this slice; by bands, of each slice
	abovePitch int    // bytes
	over       []byte // the previous slice, if filled by slices
	z          int    // the current slice, if filled by slices
	workers    []solidWorker
}

// solidWorker holds the scratch memory of one worker.
type solidWorker struct {
	tile  kernel.VolumeTile
	carry []byte // carries of a band's rows
	over  []byte // the band in the previous slice, if filled by bands

	shifted []byte // the voxels of a tile minus an offset
	_       [kernel.LineBytes]byte
}

func (l *solid) find(pixel, sum raster.Type, level kernel.Level, squares bool) {
	l.kernel, l.size = kernel.Volume(pixel, sum, level, squares), sum.Bytes()
}

func (l *solid) cut(p *Plan, w *Work, depth int) { *p = w.PlanVolume(depth) }

func (l *solid) aim(src *raster.Array, dst *Table) { l.src, l.dst = src, dst }

// n returns the number of elements in a row of voxels.
func (l *solid) n() int { return l.dst.Width * l.dst.Channels }

// Prepare implements [Layer].
func (l *solid) Prepare(p *Plan) error {
	if p.Rows == 0 {
		for z := range l.dst.Depth + 1 {
			l.clearRows(z, 0, l.dst.Height+1)
		}
		return nil
	}
	l.bySlices, l.writes = p.Slices > 0, p.Writes
	if !l.onLines() {
		l.writes = kernel.Ahead
	}
	l.whole = l.dst.Whole && l.writes != kernel.Ahead && !l.bySlices
	l.abovePitch = 0
	if !l.bySlices && p.BandRows < p.Rows {
		l.abovePitch = raster.RoundUp(l.n()+kernel.Slack, kernel.LineBytes) * l.size
	}
	l.above = AtLeast(l.above, max((l.n()+kernel.Slack)*l.size, l.dst.Depth*l.abovePitch))
	if l.bySlices {
		l.over = Zeros(l.over, kernel.OverLen(p.Rows, l.n())*l.size)
		l.clearRows(0, 0, l.dst.Height+1)
	}
	l.workers = Workers(l.workers, p.Workers)
	for i := range l.workers[:p.Workers] {
		w := &l.workers[i]
		w.carry = AtLeast(w.carry, p.BandRows*kernel.CarryLen(l.dst.Channels)*l.size)
		if !l.bySlices {
			w.over = AtLeast(w.over, kernel.OverLen(p.BandRows, l.n())*l.size)
		}
	}
	return nil
}

// onLines reports whether the sums of every row start a cache line.
func (l *solid) onLines() bool {
	size := l.size
	first := uintptr(unsafe.Pointer(unsafe.SliceData(l.dst.Data))) + uintptr(l.dst.Channels*size)
	return first%kernel.LineBytes == 0 && l.dst.Stride*size%kernel.LineBytes == 0 && l.dst.SliceStride*size%kernel.LineBytes == 0
}

func (l *solid) clearRows(z, y, rows int) {
	slice := l.dst.From(z * l.dst.SliceStride)
	for r := range rows {
		clear(slice[(y+r)*l.dst.Stride*l.size:][:(l.n()+l.dst.Channels)*l.size])
	}
}

// Slice implements [Layer].
func (l *solid) Slice(z int) {
	l.z = z
	clear(l.above[:l.n()*l.size])
	l.clearRows(z+1, 0, 1)
}

// Tile implements [Layer].
func (l *solid) Tile(worker, x, y, n, rows int) {
	if l.bySlices {
		over := l.over[(y*kernel.OverLen(1, l.n())+rows*x)*l.size:]
		l.kernel(l.pointTile(worker, x, y, l.z, n, rows, l.above[x*l.size:], over))
		return
	}
	w := &l.workers[worker]
	if x == 0 {
		clear(w.over[:kernel.OverLen(rows, l.n())*l.size])
		l.clearRows(0, y+1, rows)
		if y == 0 {
			l.clearRows(0, 0, 1)
		}
	}
	for z := x; z < x+n; z++ {
		above := l.above[z*l.abovePitch:]
		if y == 0 {
			clear(above[:l.n()*l.size])
			l.clearRows(z+1, 0, 1)
		}
		l.kernel(l.pointTile(worker, 0, y, z, l.n(), rows, above, w.over))
	}
}

// pointTile returns the tile of a worker for elements [x, x+n) of rows [y, y+rows) in slice
// z, ready for the kernel.
func (l *solid) pointTile(worker, x, y, z, n, rows int, above, over []byte) *kernel.VolumeTile {
	w := &l.workers[worker]
	channels := l.dst.Channels
	// The gap after the very last row is outside the table's memory.
	whole := l.whole && (z+1 < l.dst.Depth || y+rows < l.dst.Height)
	dst := l.dst.From((z+1)*l.dst.SliceStride + (y+1)*l.dst.Stride)
	if x == 0 {
		clear(w.carry)
	}
	// The rows above have written the zeros of column 0 together with their own.
	column := rows
	if whole {
		column = 0
		if y == 0 {
			column = 1
		}
	}
	if x == 0 {
		for r := range column {
			clear(dst[r*l.dst.Stride*l.size:][:channels*l.size])
		}
	}
	src, stride, pixel := l.src.From(z*l.src.SliceStride+y*l.src.Stride+x), l.src.Stride, l.src.Type
	if l.dst.shift() != 0 {
		w.shifted = Shifted(w.shifted, src, pixel, stride, n, rows, l.dst.Offset)
		src, stride = w.shifted, n
	}
	w.tile = kernel.VolumeTile{
		Tile: kernel.Tile{
			Dst: dst[(channels+x)*l.size:], DstStride: l.dst.Stride,
			Src: src, SrcStride: stride,
			Above: above, Carry: w.carry,
			Rows: rows, N: n, Channels: channels,
			Offset: l.dst.kernelOffset(), Writes: l.writes,
		},
		Over: over, Whole: whole,
	}
	return &w.tile
}

// Release implements [Layer].
func (l *solid) Release() int {
	l.src.Data, l.dst.Data = nil, nil
	l.src, l.dst = nil, nil
	bytes := Bytes(l.above) + Bytes(l.over)
	for i := range l.workers {
		w := &l.workers[i]
		w.tile = kernel.VolumeTile{}
		bytes += Bytes(w.carry) + Bytes(w.over) + Bytes(w.shifted)
	}
	return bytes
}
