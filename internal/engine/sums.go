package engine

import (
	"unsafe"

	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/pairs"
)

// Sums is the layer of upright tables.
type Sums[S kernel.Sum] struct {
	kernel  kernel.Func[S]
	columns kernel.Columns[S] // nil for floats
	src     *Raw
	dst     *Target[S]

	writes kernel.Writes
	band   int // rows
	n      int
	apart  bool
	// above holds the lowest row done so far, without gaps. With several workers,
	// each of the last slots bands has its own: the row above it, and as tiles get
	// done the lowest of the band. Where bands are apart it holds the sums of their
	// columns, and then what they leave: those and all above.
	above   []S
	slots   int
	pitch   int
	workers []sumsWorker[S]
}

// sumsWorker is what one worker has to itself.
type sumsWorker[S kernel.Sum] struct {
	tile  kernel.Tile[S]
	carry []S // of the band's rows
	edge  []S // the row above at the end of the last tile
	acc   []S // sums of columns
	above []S // the row above its band, if bands are apart

	shifted []byte // the pixels of a tile less an offset
	_       [kernel.LineBytes]byte
}

// Find implements [TableLayer].
func (l *Sums[S]) Find(pixel pairs.Type, level kernel.Level, squares bool) bool {
	l.kernel = kernel.Plane[S](pixel, level, squares)
	l.columns = kernel.ColumnsOf[S](pixel, level, squares)
	return l.kernel != nil
}

// Plan implements [TableLayer].
func (l *Sums[S]) Plan(p *Plan, w *Work, _ int) { w.plan(p) }

// Aim implements [TableLayer].
func (l *Sums[S]) Aim(src *Raw, dst *Target[S]) { l.src, l.dst = src, dst }

// Prepare implements [Layer].
func (l *Sums[S]) Prepare(p *Plan) error {
	l.slots, l.pitch = p.slots(), grid.RoundUp(p.N+kernel.Slack, kernel.LineBytes)
	l.above = AtLeast(l.above, l.slots*l.pitch)
	clear(l.above[:p.N+kernel.Slack])
	l.workers = Workers(l.workers, p.Workers)
	for i := range l.workers[:p.Workers] {
		w := &l.workers[i]
		w.carry = AtLeast(w.carry, p.BandRows*kernel.CarryLen(l.dst.Channels))
		w.edge = AtLeast(w.edge, l.dst.Channels)
	}
	l.writes, l.band, l.n, l.apart = p.Writes, p.BandRows, p.N, p.Apart
	if !l.onLines() {
		l.writes = min(l.writes, kernel.Ahead)
	}
	ClearEdges(l.dst, p.Rows)
	return nil
}

// onLines reports whether the sums of every row start a cache line.
func (l *Sums[S]) onLines() bool {
	d := l.dst
	if len(d.Sums)-d.Channels <= d.Stride {
		return false // no row of sums, or a huge stride before none
	}
	first := uintptr(unsafe.Pointer(&d.Sums[d.Stride+d.Channels]))
	pitch := uintptr(d.Stride) * unsafe.Sizeof(d.Sums[0])
	return first%kernel.LineBytes == 0 && pitch%kernel.LineBytes == 0
}

// Tile implements [Layer].
func (l *Sums[S]) Tile(worker, x, y, n, rows int) {
	pix, stride, pixel := l.src.From(y*l.src.Stride+x), l.src.Stride, l.src.Type
	if l.dst.Shifts() {
		w := &l.workers[worker]
		w.shifted = Shifted(w.shifted, pix, pixel, stride, n, rows, l.dst.Offset)
		pix, stride = w.shifted, n
	}
	l.TileOf(worker, pix, pixel.Bytes(), stride, x, y, n, rows)
}

// TileOf is Tile, or some rows of it, with pixels from elsewhere: for layers that
// make them from others.
func (l *Sums[S]) TileOf(worker int, pix []byte, pixelBytes, pixStride, x, y, n, rows int) {
	w, channels, stride := &l.workers[worker], l.dst.Channels, l.dst.Stride
	slot := kernel.CarryLen(channels)
	carry := w.carry[y%l.band*slot:][:rows*slot]
	dst := l.dst.Sums[(y+1)*stride:]
	if x == 0 {
		clear(carry)
		if channels == 1 {
			for r := 0; r < rows*stride; r += stride {
				dst[r] = 0
			}
		}
		for r := 0; r < rows && channels > 1; r++ {
			for c := range dst[r*stride:][:channels] { // which are few: a call would take longer
				dst[r*stride+c] = 0
			}
		}
	}
	w.tile = kernel.Tile[S]{
		Dst:        dst[channels+x:],
		DstStride:  stride,
		Src:        pix,
		SrcStride:  pixStride,
		PixelBytes: pixelBytes,
		Above:      l.aboveOf(w, y)[x:],
		Carry:      carry,
		Rows:       rows,
		N:          n,
		Channels:   channels,
		Offset:     l.dst.KernelOffset(),
		Writes:     l.writes,
	}
	l.kernel(&w.tile)
}

// aboveOf is the row above the tiles of a worker's band.
func (l *Sums[S]) aboveOf(w *sumsWorker[S], y int) []S {
	if l.apart {
		return w.above
	}
	return l.row(y)
}

// row is the carry row of the band that has row y.
func (l *Sums[S]) row(y int) []S {
	if l.slots == 1 {
		return l.above
	}
	return l.above[y/l.band%l.slots*l.pitch:][:l.pitch]
}

func (l *Sums[S]) exact() bool { return l.columns != nil }

func (l *Sums[S]) over(worker, x, y, n, from int) {
	if l.slots == 1 || y == 0 {
		return
	}
	w, channels, to := &l.workers[worker], l.dst.Channels, l.row(y)
	switch {
	case from == y:
		copy(to[x:x+n], l.row(y - 1)[x:])
	default:
		l.catchUp(w, to, x, y, n, from)
	}
	copy(w.edge[:channels], to[x+n-min(n, channels):])
}

// catchUp makes the row above elements [x, x+n) of row y from that of row from and
// the pixels between.
func (l *Sums[S]) catchUp(w *sumsWorker[S], to []S, x, y, n, from int) {
	channels := l.dst.Channels
	w.acc = Zeros(w.acc, n)
	l.columns(w.acc, l.src.From(from*l.src.Stride+x), l.src.Stride, y-from)
	if x > 0 { // what the rows between add left of x
		for c := range channels {
			w.acc[c] += w.edge[c]
			if from > 0 {
				w.acc[c] -= l.row(from - 1)[x-channels+c]
			}
		}
	}
	for i := channels; i < n; i++ {
		w.acc[i] += w.acc[i-channels]
	}
	if from > 0 {
		for i, v := range l.row(from - 1)[x:][:n] {
			w.acc[i] += v
		}
	}
	copy(to[x:], w.acc)
}

func (l *Sums[S]) sumBand(band int) {
	sums := l.row(band * l.band)[:l.n]
	clear(sums)
	l.addColumns(sums, band)
}

// addColumns adds the columns of a band, as many at a time as the nearest cache holds.
func (l *Sums[S]) addColumns(sums []S, band int) {
	const wide = 4096
	for x := 0; x < len(sums); x += wide {
		l.columns(sums[x:min(x+wide, len(sums))], l.src.From(band*l.band*l.src.Stride+x), l.src.Stride, l.band)
	}
}

func (l *Sums[S]) enter(worker int) {
	w := &l.workers[worker]
	w.acc, w.above = AtLeast(w.acc, l.n), AtLeast(w.above, l.pitch)
}

func (l *Sums[S]) goOn(worker, band int) {
	if acc := l.workers[worker].acc; band < 0 {
		clear(acc)
	} else {
		copy(acc, l.left(band))
	}
}

func (l *Sums[S]) addBand(worker, band int, there bool) {
	acc := l.workers[worker].acc
	if !there {
		l.addColumns(acc, band)
		return
	}
	for i, v := range l.row(band * l.band)[:len(acc)] {
		acc[i] += v
	}
}

func (l *Sums[S]) startBand(worker int) {
	w, channels := &l.workers[worker], l.dst.Channels
	above := w.above[:copy(w.above, w.acc)]
	for i := channels; i < len(above); i++ {
		above[i] += above[i-channels]
	}
}

func (l *Sums[S]) leaveBand(worker, band int) {
	acc := l.workers[worker].acc
	to, own := l.left(band)[:len(acc)], l.row(band * l.band)[:len(acc)]
	for i, v := range acc {
		to[i] = own[i] + v
	}
}

// left is what a band leaves, see above.
func (l *Sums[S]) left(band int) []S { return l.above[(l.slots/2+band)*l.pitch:][:l.pitch] }

// Row implements [RowLayer].
func (l *Sums[S]) Row(row []byte, _ int) {
	l.src.Pix = row
	l.Tile(0, 0, 0, l.n, 1)
	l.src.Pix, l.workers[0].tile = nil, kernel.Tile[S]{}
}

// Finish implements [Layer].
func (l *Sums[S]) Finish() {}

// Release implements [Layer].
func (l *Sums[S]) Release() int {
	l.src, l.dst = nil, nil
	bytes := Bytes(l.above)
	for i := range l.workers {
		w := &l.workers[i]
		w.tile = kernel.Tile[S]{}
		bytes += Bytes(w.carry) + Bytes(w.edge) + Bytes(w.acc) + Bytes(w.above) + Bytes(w.shifted)
	}
	return bytes
}

// ClearEdges clears row 0 of a plane table; and column 0, where there are no tiles
// to do that.
func ClearEdges[S any](t *Target[S], rows int) {
	clear(t.Sums[:(t.Width+1)*t.Channels])
	if t.Width == 0 {
		for y := range rows {
			clear(t.Sums[(y+1)*t.Stride:][:t.Channels])
		}
	}
}
