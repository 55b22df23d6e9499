package engine

import (
	"unsafe"

	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/raster"
)

// upright is the layer of upright tables.
type upright struct {
	Base
	kernel  kernel.Func
	columns kernel.Columns // empty for float sums
	src     *raster.Array
	dst     *Table
	size    int // size of a sum in bytes

	writes  kernel.Writes
	band    int // height of a band in rows
	n       int
	twoPass bool
	// above holds the lowest finished row, without gaps. With several workers, each of
	// the last slots bands has its own row, which holds the row above the band at first,
	// and the lowest row of the band wherever its tiles are done. If bands are filled in
	// two passes, the first half of above holds the column sums of each band, and the
	// second half these plus the column sums of all bands above.
	above   []byte
	slots   int
	pitch   int // distance between these rows in bytes
	workers []uprightWorker
}

// uprightWorker holds the scratch memory of one worker.
type uprightWorker struct {
	tile  kernel.Tile
	carry []byte // carries of a band's rows
	edge  []byte // the row above, at the end of the last tile
	acc   []byte // column sums
	above []byte // the row above the worker's band, if bands are filled in two passes

	shifted []byte // the pixels of a tile minus an offset
	_       [kernel.LineBytes]byte
}

func (l *upright) find(pixel, sum raster.Type, level kernel.Level, squares bool) {
	l.kernel = kernel.Plane(pixel, sum, level, squares)
	l.columns = kernel.ColumnsOf(pixel, sum, level, squares)
	l.size = sum.Bytes()
}

func (l *upright) cut(p *Plan, w *Work, _ int) { w.plan(p) }

func (l *upright) aim(src *raster.Array, dst *Table) { l.src, l.dst = src, dst }

// Prepare implements [Layer].
func (l *upright) Prepare(p *Plan) error {
	l.slots, l.pitch = p.slots(), raster.RoundUp(p.N+kernel.Slack, kernel.LineBytes)*l.size
	l.above = AtLeast(l.above, l.slots*l.pitch)
	clear(l.above[:(p.N+kernel.Slack)*l.size])
	l.workers = Workers(l.workers, p.Workers)
	for i := range l.workers[:p.Workers] {
		w := &l.workers[i]
		w.carry = AtLeast(w.carry, p.BandRows*kernel.CarryLen(l.dst.Channels)*l.size)
		w.edge = AtLeast(w.edge, l.dst.Channels*l.size)
	}
	l.writes, l.band, l.n, l.twoPass = p.Writes, p.BandRows, p.N, p.TwoPass
	if !l.onLines() {
		l.writes = min(l.writes, kernel.Ahead)
	}
	l.dst.clearEdges(p.Rows)
	return nil
}

// onLines reports whether the sums of every row start a cache line.
func (l *upright) onLines() bool {
	d := l.dst
	if d.Len()-d.Channels <= d.Stride {
		return false // no row of sums, or a huge stride that is never used
	}
	first := uintptr(unsafe.Pointer(&d.Data[(d.Stride+d.Channels)*l.size]))
	return first%kernel.LineBytes == 0 && d.Stride*l.size%kernel.LineBytes == 0
}

// Tile implements [Layer].
func (l *upright) Tile(worker, x, y, n, rows int) {
	t := l.pointTile(worker, x, y, n, rows)
	t.Src, t.SrcStride = l.src.From(y*l.src.Stride+x), l.src.Stride
	if l.dst.shift() != 0 {
		w := &l.workers[worker]
		w.shifted = Shifted(w.shifted, t.Src, l.src.Type, t.SrcStride, n, rows, l.dst.Offset)
		t.Src, t.SrcStride = w.shifted, n
	}
	l.kernel(t)
}

// pointTile returns a worker's tile for elements [x, x+n) of rows [y, y+rows), which may
// be only some rows of a band. The caller sets its pixels and calls the kernel.
func (l *upright) pointTile(worker, x, y, n, rows int) *kernel.Tile {
	w, channels, stride := &l.workers[worker], l.dst.Channels, l.dst.Stride
	slot := kernel.CarryLen(channels) * l.size
	carry := w.carry[y%l.band*slot:][:rows*slot]
	dst := l.dst.From((y + 1) * stride)
	if x == 0 {
		clear(carry)
		clearColumn(dst, stride*l.size, channels*l.size, rows)
	}
	t := &w.tile // a composite literal would be built on the stack and copied
	t.Dst, t.DstStride = dst[(channels+x)*l.size:], stride
	t.Above, t.Carry = l.aboveOf(w, y)[x*l.size:], carry
	t.Rows, t.N, t.Channels = rows, n, channels
	t.Offset, t.Writes = l.dst.kernelOffset(), l.writes
	return t
}

// clearColumn clears the first bytes of each row. The sizes of a single sum are written
// out, because these stores take less time than a call.
func clearColumn(dst []byte, stride, bytes, rows int) {
	switch bytes {
	case 4:
		for r := range rows {
			*(*[4]byte)(dst[r*stride:]) = [4]byte{}
		}
	case 8:
		for r := range rows {
			*(*[8]byte)(dst[r*stride:]) = [8]byte{}
		}
	default:
		for r := range rows {
			clear(dst[r*stride:][:bytes])
		}
	}
}

// aboveOf returns the row above the tiles of a worker's band.
func (l *upright) aboveOf(w *uprightWorker, y int) []byte {
	if l.twoPass {
		return w.above
	}
	return l.row(y)
}

// row returns the carry row of the band that contains row y.
func (l *upright) row(y int) []byte {
	if l.slots == 1 {
		return l.above
	}
	return l.above[y/l.band%l.slots*l.pitch:][:l.pitch]
}

func (l *upright) exact() bool { return l.columns.Sum != nil }

func (l *upright) rowAbove(worker, x, y, n, from int) {
	if l.slots == 1 || y == 0 {
		return
	}
	w, pixel, to := &l.workers[worker], l.dst.Channels*l.size, l.row(y)[x*l.size:][:n*l.size]
	if from == y {
		copy(to, l.row(y - 1)[x*l.size:])
	} else {
		l.catchUp(w, to, x, y, from)
	}
	copy(w.edge[:pixel], to[max(0, len(to)-pixel):])
}

// catchUp computes the row above row y, from the row above row from and the pixels in
// between. It computes len(to) bytes of it, from element x on.
func (l *upright) catchUp(w *uprightWorker, to []byte, x, y, from int) {
	pixel := min(l.dst.Channels*l.size, len(to))
	clear(to)
	l.columns.Sum(to, l.src.From(from*l.src.Stride+x), l.src.Stride, y-from)
	if x > 0 { // add the pixels of these rows to the left of x
		l.columns.Add(to[:pixel], w.edge)
		if from > 0 {
			l.columns.Sub(to[:pixel], l.row(from - 1)[x*l.size-pixel:])
		}
	}
	l.columns.Prefix(to, l.dst.Channels)
	if from > 0 {
		l.columns.Add(to, l.row(from - 1)[x*l.size:])
	}
}

func (l *upright) sumBand(band int) {
	sums := l.row(band * l.band)[:l.n*l.size]
	clear(sums)
	l.addColumns(sums, band)
}

// addColumns adds the columns of a band to sums, as many at a time as the nearest cache
// holds.
func (l *upright) addColumns(sums []byte, band int) {
	const wide = 4096
	for x := 0; x < l.n; x += wide {
		l.columns.Sum(sums[x*l.size:min(x+wide, l.n)*l.size], l.src.From(band*l.band*l.src.Stride+x), l.src.Stride, l.band)
	}
}

func (l *upright) enter(worker int) {
	w := &l.workers[worker]
	w.acc, w.above = AtLeast(w.acc, l.n*l.size), AtLeast(w.above, l.pitch)
}

func (l *upright) resumeFrom(worker, band int) {
	if acc := l.workers[worker].acc; band < 0 {
		clear(acc)
	} else {
		copy(acc, l.columnTotals(band))
	}
}

func (l *upright) addBand(worker, band int, ready bool) {
	acc := l.workers[worker].acc
	if !ready {
		l.addColumns(acc, band)
		return
	}
	l.columns.Add(acc, l.row(band*l.band))
}

func (l *upright) startBand(worker int) {
	w := &l.workers[worker]
	l.columns.Prefix(w.above[:copy(w.above, w.acc)], l.dst.Channels)
}

func (l *upright) leaveBand(worker, band int) {
	acc := l.workers[worker].acc
	to := l.columnTotals(band)[:copy(l.columnTotals(band), acc)]
	l.columns.Add(to, l.row(band*l.band))
}

// columnTotals returns the column sums of a band and all bands above it.
func (l *upright) columnTotals(band int) []byte { return l.above[(l.slots/2+band)*l.pitch:][:l.pitch] }

// pushRow implements [rowLayer].
func (l *upright) pushRow(row []byte, _ int) {
	l.src.Data = row
	l.Tile(0, 0, 0, l.n, 1)
	l.src.Data, l.workers[0].tile = nil, kernel.Tile{}
}

// Release implements [Layer].
func (l *upright) Release() int {
	l.src.Data, l.dst.Data = nil, nil
	l.src, l.dst = nil, nil
	bytes := Bytes(l.above)
	for i := range l.workers {
		w := &l.workers[i]
		w.tile = kernel.Tile{}
		bytes += Bytes(w.carry) + Bytes(w.edge) + Bytes(w.acc) + Bytes(w.above) + Bytes(w.shifted)
	}
	return bytes
}

// clearEdges clears row 0 of a table, and column 0 if there are no tiles that would clear
// it.
func (t *Table) clearEdges(rows int) {
	size := t.Type.Bytes()
	clear(t.Data[:(t.Width+1)*t.Channels*size])
	if t.Width == 0 {
		for y := range rows {
			clear(t.From((y + 1) * t.Stride)[:t.Channels*size])
		}
	}
}

// shift returns the offset to subtract from pixels before they are passed to the kernel.
// It is zero for float32 sums, whose kernels subtract the offset themselves.
func (t *Table) shift() float32 {
	if t.Type == raster.F32 {
		return 0
	}
	return t.Offset
}

// kernelOffset returns the offset that the kernel subtracts.
func (t *Table) kernelOffset() float32 {
	if t.Type == raster.F32 {
		return t.Offset
	}
	return 0
}
