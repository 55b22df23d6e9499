package histogram

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/pairs"
)

// maxBand is how many rows share one trip of the carry row between two cores. It
// is larger than in plain tables, whose carry row is smaller.
const maxBand = 128

// layer makes a table tile by tile on the engine of plain tables. The lowest
// row done so far lies in above: a row of pixels is added to it there, and then
// copied to its place in the table, past the caches if that is large.
type layer[S boxsum.Sum] struct {
	table    *Table[S]
	src      pixels
	weights  pixels
	weighted bool // or every pixel counts as 1

	level  kernel.Level
	kernel func(*kernel.BinRow[S]) // of made
	made   kernel.Level
	number *numberer
	of     pairs.Type // pixels that lookup is for
	lookup []uint32   // the bin of every value, see numbers
	beyond bool       // writes go past the caches
	above  []S

	workers []worker[S]
}

type worker[S boxsum.Sum] struct {
	row     kernel.BinRow[S]
	index   []uint32
	weights []S
	runs    []S // the histograms so far of the band's rows
	_       [kernel.LineBytes]byte
}

func (l *layer[S]) Prepare(p *engine.Plan) error {
	t := l.table
	entry := t.Channels * t.Bins.N
	l.beyond = p.Writes != kernel.Ahead
	if l.kernel == nil || l.made != l.level {
		l.kernel, l.made = kernel.Bins[S](l.level), l.level
	}
	if l.number == nil || l.number.bins != t.Bins || l.of != l.src.of {
		l.number, l.of = newNumberer(t.Bins), l.src.of
		l.lookup = numbers(l.of, l.number)
	}
	l.above = engine.Zeros(l.above, t.Width*entry)
	l.workers = engine.Workers(l.workers, p.Workers)
	for i := range l.workers[:p.Workers] {
		w := &l.workers[i]
		w.index = engine.Zeros(w.index, p.TileWidth*t.Channels)
		w.weights = engine.Zeros(w.weights, p.TileWidth)
		w.weights[0] = 1
		w.runs = engine.Zeros(w.runs, p.BandRows*entry)
	}
	clear(t.Counts[:(t.Width+1)*entry])
	if t.Width == 0 { // there will be no tiles
		clear(t.Counts)
	}
	return nil
}

func (l *layer[S]) Finish() {}

func (l *layer[S]) Release() int {
	l.table, l.src, l.weights = nil, pixels{}, pixels{}
	bytes := engine.Bytes(l.above) + engine.Bytes(l.lookup)
	for i := range l.workers {
		w := &l.workers[i]
		w.row = kernel.BinRow[S]{}
		bytes += engine.Bytes(w.index) + engine.Bytes(w.weights) + engine.Bytes(w.runs)
	}
	return bytes
}

// Tile implements [engine.Layer], in pixels.
func (l *layer[S]) Tile(worker, x, y, n, rows int) {
	t := l.table
	w := &l.workers[worker]
	entry := t.Channels * t.Bins.N
	if x == 0 {
		clear(w.runs)
	}
	above := l.above[x*entry:][:n*entry]
	w.row = kernel.BinRow[S]{Pitch: entry, Step: t.Channels, Weights: w.weights, N: n}
	if l.weighted {
		w.row.WeightStep = 1
	}
	for r := range rows {
		index := w.index[:n*t.Channels]
		l.numberRow(index, (y+r)*l.src.stride+x*t.Channels)
		if l.weighted {
			l.weigh(w.weights[:n], x, y+r)
		}
		dst := t.Counts[(y+r+1)*(t.Width+1)*entry:]
		if x == 0 {
			clear(dst[:entry])
		}
		dst = dst[(x+1)*entry:][:n*entry]
		l.row(w, above, dst, index, r)
	}
	kernel.StoreFence()
	w.row = kernel.BinRow[S]{}
}

func (l *layer[S]) weigh(dst []S, x, y int) {
	w, at := &l.weights, y*l.weights.stride+x
	switch w.of {
	case pairs.U8:
		convert(dst, elements[uint8](w, at, len(dst)))
	case pairs.U16:
		convert(dst, elements[uint16](w, at, len(dst)))
	case pairs.U32:
		convert(dst, elements[uint32](w, at, len(dst)))
	case pairs.I16:
		convert(dst, elements[int16](w, at, len(dst)))
	case pairs.I32:
		convert(dst, elements[int32](w, at, len(dst)))
	case pairs.F32:
		convert(dst, elements[float32](w, at, len(dst)))
	case pairs.F64:
		convert(dst, elements[float64](w, at, len(dst)))
	}
}

func convert[S boxsum.Sum, W boxsum.Pixel](dst []S, src []W) {
	dst = dst[:len(src)]
	for i, w := range src {
		dst[i] = S(w)
	}
}

// row adds row r of a band, whose bins are in index, to the row above, and writes
// it to dst.
func (l *layer[S]) row(w *worker[S], above, dst []S, index []uint32, r int) {
	bins := l.table.Bins.N
	w.row.Written = false
	for c := range l.table.Channels {
		w.row.Above, w.row.Index = above[c*bins:], index[c:]
		w.row.Run = w.runs[(r*l.table.Channels+c)*bins:][:bins:bins]
		if l.beyond {
			w.row.Dst = dst[c*bins:]
		}
		l.kernel(&w.row)
	}
	switch {
	case w.row.Written:
	case l.beyond:
		kernel.StreamCopy(dst, above)
	default:
		copy(dst, above)
	}
}

func (l *layer[S]) numberRow(dst []uint32, at int) { l.src.number(dst, at, l.number, l.lookup) }
