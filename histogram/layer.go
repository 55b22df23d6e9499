package histogram

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel"
)

// maxBand is how many rows share one trip of the carry row between two cores. It
// is larger than in plain tables, whose carry row is smaller.
const maxBand = 128

// layer makes a table tile by tile on the engine of plain tables. The lowest
// row done so far lies in above: a row of pixels is added to it there, and then
// copied to its place in the table, past the caches if that is large.
type layer[P, W boxsum.Pixel, S boxsum.Sum] struct {
	table    *Table[S]
	src      engine.Source[P]
	weights  engine.Source[W]
	weighted bool // or every pixel counts as 1

	level  kernel.Level
	kernel func(*kernel.BinRow[S]) // of made
	made   kernel.Level
	number *numberer
	lookup []uint32 // the bin of every value, see numbers
	beyond bool     // writes go past the caches
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

func (l *layer[P, W, S]) Prepare(p *engine.Plan) error {
	t := l.table
	entry := t.Channels * t.Bins.N
	l.beyond = p.Writes != kernel.Ahead
	if l.kernel == nil || l.made != l.level {
		l.kernel, l.made = kernel.Bins[S](l.level), l.level
	}
	if l.number == nil || l.number.bins != t.Bins {
		l.number = newNumberer(t.Bins)
		l.lookup = numbers[P](l.number)
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

func (l *layer[P, W, S]) Finish() {}

func (l *layer[P, W, S]) Release() int {
	l.table, l.src, l.weights = nil, engine.Source[P]{}, engine.Source[W]{}
	bytes := engine.Bytes(l.above) + engine.Bytes(l.lookup)
	for i := range l.workers {
		w := &l.workers[i]
		w.row = kernel.BinRow[S]{}
		bytes += engine.Bytes(w.index) + engine.Bytes(w.weights) + engine.Bytes(w.runs)
	}
	return bytes
}

// Tile implements [engine.Layer], in pixels.
func (l *layer[P, W, S]) Tile(worker, x, y, n, rows int) {
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
		l.numberRow(index, l.src.Pix[(y+r)*l.src.Stride+x*t.Channels:][:n*t.Channels])
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

func (l *layer[P, W, S]) weigh(dst []S, x, y int) {
	for i, w := range l.weights.Pix[y*l.weights.Stride+x:][:len(dst)] {
		dst[i] = S(w)
	}
}

// row adds row r of a band, whose bins are in index, to the row above, and writes
// it to dst.
func (l *layer[P, W, S]) row(w *worker[S], above, dst []S, index []uint32, r int) {
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

func (l *layer[P, W, S]) numberRow(dst []uint32, src []P) {
	dst = dst[:len(src)]
	switch small := any(src).(type) {
	case []uint8:
		lookup := (*[1 << 8]uint32)(l.lookup)
		for i, p := range small {
			dst[i] = lookup[p]
		}
	case []uint16:
		lookup := (*[1 << 16]uint32)(l.lookup)
		for i, p := range small {
			dst[i] = lookup[p]
		}
	case []int16:
		lookup := (*[1 << 16]uint32)(l.lookup)
		for i, p := range small {
			dst[i] = lookup[uint16(p)]
		}
	default:
		for i, p := range src {
			dst[i] = l.number.number(float64(p))
		}
	}
}
