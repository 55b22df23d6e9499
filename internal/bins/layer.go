package bins

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/kernel/histograms"
	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// maxBand is the maximum number of rows in a band: the more rows, the less often the
// carry row is transferred between two cores. It is larger than for plain tables because
// the carry row of a histogram is larger.
const maxBand = 128

// layer fills a table tile by tile. above holds the lowest finished row: each row of
// pixels is added to it there, and the result is copied to its place in the table, past
// the caches if the table is large.
type layer struct {
	engine.Base
	table   Table
	src     raster.Array
	weights raster.Array // has no type if every pixel counts as 1

	level  processor.Level
	number *numberer
	beyond bool // write past the caches
	above  []byte

	workers []worker
}

// one is the weight of pixels in unweighted histograms.
var one = [...]byte{1}

type worker struct {
	row     histograms.Row
	index   []uint32
	weights []byte
	runs    []byte // running histograms of the band's rows
	_       [raster.LineBytes]byte
}

// entry returns the size of a table entry in bytes.
func (l *layer) entry() int {
	return l.src.Channels * l.table.Range.N * l.table.Counts.Type.Bytes()
}

// Prepare implements [engine.Layer].
func (l *layer) Prepare(p *engine.Plan) error {
	t, entry := &l.table, l.entry()
	l.beyond = p.Writes != kernel.Ahead
	if l.number == nil || l.number.of != t.Range || l.number.pixel != l.src.Type {
		l.number = newNumberer(t.Range, l.src.Type)
	}
	l.above = engine.Zeros(l.above, l.src.Width*entry)
	l.workers = engine.Workers(l.workers, p.Workers)
	for i := range l.workers[:p.Workers] {
		w := &l.workers[i]
		w.index = engine.Zeros(w.index, p.TileWidth*l.src.Channels)
		w.weights = engine.Zeros(w.weights, p.TileWidth*t.Counts.Type.Bytes())
		converters[t.Counts.Type][raster.U8](w.weights, one[:])
		w.runs = engine.Zeros(w.runs, p.BandRows*entry)
	}
	clear(t.Counts.Data[:(l.src.Width+1)*entry])
	if l.src.Width == 0 { // without columns, there are no tiles that would clear the table
		clear(t.Counts.Data)
	}
	return nil
}

// Release implements [engine.Layer].
func (l *layer) Release() int {
	l.table, l.src, l.weights = Table{}, raster.Array{}, raster.Array{}
	bytes := engine.Bytes(l.above)
	if l.number != nil {
		bytes += engine.Bytes(l.number.values)
	}
	for i := range l.workers {
		w := &l.workers[i]
		w.row = histograms.Row{}
		bytes += engine.Bytes(w.index) + engine.Bytes(w.weights) + engine.Bytes(w.runs)
	}
	return bytes
}

// Tile implements [engine.Layer]. Positions are in pixels.
func (l *layer) Tile(worker, x, y, n, rows int) {
	w, t, entry := &l.workers[worker], &l.table, l.entry()
	if x == 0 {
		clear(w.runs)
	}
	above := l.above[x*entry:][:n*entry]
	w.row = histograms.Row{Pitch: l.src.Channels * t.Range.N, Step: l.src.Channels, Weights: w.weights, Bins: t.Range.N, N: n}
	if l.weights.Type != 0 {
		w.row.WeightStep = 1
	}
	number := numberRows[l.src.Type]
	for r := range rows {
		index := w.index[:n*l.src.Channels]
		number(index, l.src.From((y+r)*l.src.Stride+x*l.src.Channels), l.number)
		if l.weights.Type != 0 {
			size := l.weights.Type.Bytes()
			converters[t.Counts.Type][l.weights.Type](w.weights, l.weights.From((y+r)*l.weights.Stride + x)[:n*size])
		}
		dst := t.Counts.Data[(y+r+1)*(l.src.Width+1)*entry:]
		if x == 0 {
			clear(dst[:entry])
		}
		l.row(w, above, dst[(x+1)*entry:][:n*entry], index, r)
	}
	processor.StoreFence()
	w.row = histograms.Row{}
}

// row adds row r of a band, whose bins are in index, to the row above, and writes the
// result to dst.
func (l *layer) row(w *worker, above, dst []byte, index []uint32, r int) {
	t := &l.table
	bytes, add := t.Range.N*t.Counts.Type.Bytes(), histograms.For(t.Counts.Type, l.level)
	w.row.Written = false
	for c := range l.src.Channels {
		w.row.Above, w.row.Index = above[c*bytes:], index[c:]
		w.row.Run = w.runs[(r*l.src.Channels+c)*bytes:][:bytes:bytes]
		if l.beyond {
			w.row.Dst = dst[c*bytes:]
		}
		add(&w.row)
	}
	switch {
	case w.row.Written:
	case l.beyond:
		processor.StreamCopy(dst, above)
	default:
		copy(dst, above)
	}
}

// converters holds functions that convert weights to counts, by the types of counts and
// of weights.
var converters = [raster.NumTypes][raster.NumTypes]func(dst, src []byte){
	raster.U32: convertersTo[uint32](),
	raster.U64: convertersTo[uint64](),
	raster.I64: convertersTo[int64](),
	raster.F32: convertersTo[float32](),
	raster.F64: convertersTo[float64](),
}

func convertersTo[S raster.Number]() [raster.NumTypes]func(dst, src []byte) {
	return [raster.NumTypes]func(dst, src []byte){
		raster.U8:  convert[S, uint8],
		raster.U16: convert[S, uint16],
		raster.U32: convert[S, uint32],
		raster.U64: convert[S, uint64],
		raster.I16: convert[S, int16],
		raster.I32: convert[S, int32],
		raster.I64: convert[S, int64],
		raster.F32: convert[S, float32],
		raster.F64: convert[S, float64],
	}
}

func convert[S, W raster.Number](dst, src []byte) {
	weights := raster.Elems[W](src)
	sums := raster.Elems[S](dst)[:len(weights)]
	for i, w := range weights {
		sums[i] = S(w)
	}
}
