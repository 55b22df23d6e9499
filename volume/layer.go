package volume

import (
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/pairs"
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
type layer[S boxsum.Sum] struct {
	kernel   kernel.VolumeFunc[S]
	src      *engine.Raw
	dst      *engine.Target[S]
	bySlices bool
	writes   kernel.Writes
	whole    bool // see kernel.VolumeTile

	above      []S // by slices: the lowest row done so far; by bands: that of every slice
	abovePitch int
	over       []S // by slices: the slice before
	z          int // by slices: the slice to do
	workers    []worker[S]
}

type worker[S boxsum.Sum] struct {
	tile  kernel.VolumeTile[S]
	carry []S // of the band's rows
	over  []S // by bands: the band in the slice before

	shifted []byte // the voxels of a tile less an offset
	_       [kernel.LineBytes]byte
}

func (l *layer[S]) Find(pixel pairs.Type, level kernel.Level, squares bool) bool {
	l.kernel = kernel.Volume[S](pixel, level, squares)
	return l.kernel != nil
}

func (l *layer[S]) Plan(p *engine.Plan, w *engine.Work, depth int) { *p = w.PlanVolume(depth) }

func (l *layer[S]) Aim(src *engine.Raw, dst *engine.Target[S]) { l.src, l.dst = src, dst }

// n is the elements of a row of voxels.
func (l *layer[S]) n() int { return l.dst.Width * l.dst.Channels }

func (l *layer[S]) Prepare(p *engine.Plan) error {
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
		l.abovePitch = grid.RoundUp(l.n()+kernel.Slack, kernel.LineBytes)
	}
	l.above = engine.AtLeast(l.above, max(l.n()+kernel.Slack, l.dst.Depth*l.abovePitch))
	if l.bySlices {
		l.over = engine.Zeros(l.over, kernel.OverLen(p.Rows, l.n()))
		l.clearRows(0, 0, l.dst.Height+1)
	}
	l.workers = engine.Workers(l.workers, p.Workers)
	for i := range l.workers[:p.Workers] {
		w := &l.workers[i]
		w.carry = engine.AtLeast(w.carry, p.BandRows*kernel.CarryLen(l.dst.Channels))
		if !l.bySlices {
			w.over = engine.AtLeast(w.over, kernel.OverLen(p.BandRows, l.n()))
		}
	}
	return nil
}

// onLines reports whether the sums of every row start a cache line.
func (l *layer[S]) onLines() bool {
	size := grid.SizeOf[S]()
	first := uintptr(unsafe.Pointer(unsafe.SliceData(l.dst.Sums))) + uintptr(l.dst.Channels*size)
	return first%kernel.LineBytes == 0 && l.dst.Stride*size%kernel.LineBytes == 0 && l.dst.SliceStride*size%kernel.LineBytes == 0
}

func (l *layer[S]) clearRows(z, y, rows int) {
	slice := l.dst.Sums[z*l.dst.SliceStride:]
	for r := range rows {
		clear(slice[(y+r)*l.dst.Stride:][:l.n()+l.dst.Channels])
	}
}

func (l *layer[S]) Slice(z int) {
	l.z = z
	clear(l.above[:l.n()])
	l.clearRows(z+1, 0, 1)
}

func (l *layer[S]) Tile(worker, x, y, n, rows int) {
	if l.bySlices {
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
func (l *layer[S]) tile(worker, x, y, z, n, rows int, above, over []S) {
	w := &l.workers[worker]
	channels := l.dst.Channels
	// After the last row of all nothing belongs to the table.
	whole := l.whole && (z+1 < l.dst.Depth || y+rows < l.dst.Height)
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
	src, stride, pixel := l.src.From(z*l.src.SliceStride+y*l.src.Stride+x), l.src.Stride, l.src.Type
	if l.dst.Shifts() {
		w.shifted = engine.Shifted(w.shifted, src, pixel, stride, n, rows, l.dst.Offset)
		src, stride = w.shifted, n
	}
	w.tile = kernel.VolumeTile[S]{
		Tile: kernel.Tile[S]{
			Dst: dst[channels+x:], DstStride: l.dst.Stride,
			Src: src, SrcStride: stride, PixelBytes: pixel.Bytes(),
			Above: above, Carry: w.carry,
			Rows: rows, N: n, Channels: channels,
			Offset: l.dst.KernelOffset(), Writes: l.writes,
		},
		Over: over, Whole: whole,
	}
	l.kernel(&w.tile)
}

func (l *layer[S]) Finish() {}

func (l *layer[S]) Release() int {
	l.src, l.dst = nil, nil
	bytes := engine.Bytes(l.above) + engine.Bytes(l.over)
	for i := range l.workers {
		w := &l.workers[i]
		w.tile = kernel.VolumeTile[S]{}
		bytes += engine.Bytes(w.carry) + engine.Bytes(w.over) + engine.Bytes(w.shifted)
	}
	return bytes
}
