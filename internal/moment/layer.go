package moment

import (
	"math"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// runs is the number of running sums of a row: those of x^p·I for p from 0 to 3. Multiplied by y^q, they are
// what the row adds to the ten sums.
const runs = 4

// layer makes a table tile by tile on the engine of plain tables. The lowest finished row is in above: a
// row of pixels is added to it there, and the result is then copied to its place in the table, past the
// caches if the table is large.
type layer struct {
	engine.Base
	table  *Table
	src    raster.Array
	writes kernel.Writes
	above  []uint64
	// A float pixel in units is the pixel times both factors: their product may exceed the range of
	// floats.
	factors [2]float64

	workers []worker
}

type worker struct {
	runs []wide // running sums of the band's rows
	_    [kernel.LineBytes]byte
}

// Prepare implements [engine.Layer].
func (l *layer) Prepare(p *engine.Plan) error {
	t := l.table
	entry := t.Channels * t.perEntry()
	l.writes = p.Writes
	_, exponent := math.Frexp(t.unit)
	l.factors = [2]float64{math.Ldexp(1, -(exponent-1)/2), math.Ldexp(1, -(exponent-1)+(exponent-1)/2)}
	l.above = engine.Zeros(l.above, t.Width*entry)
	l.workers = engine.Workers(l.workers, p.Workers)
	for i := range l.workers[:p.Workers] {
		w := &l.workers[i]
		w.runs = engine.Zeros(w.runs, p.BandRows*t.Channels*runs)
	}
	clear(t.words[:(t.Width+1)*entry])
	if t.Width == 0 { // there are no tiles to clear it
		clear(t.words)
	}
	return nil
}

// Release implements [engine.Layer].
func (l *layer) Release() int {
	l.table, l.src = nil, raster.Array{}
	bytes := engine.Bytes(l.above)
	for i := range l.workers {
		bytes += engine.Bytes(l.workers[i].runs)
	}
	return bytes
}

// Tile implements [engine.Layer], in pixels.
func (l *layer) Tile(worker, x, y, n, rows int) {
	t := l.table
	w := &l.workers[worker]
	entry := t.Channels * t.perEntry()
	if x == 0 {
		clear(w.runs)
	}
	above, add := l.above[x*entry:][:n*entry], addRow[l.src.Type]
	for r := range rows {
		src := l.src.From((y+r)*l.src.Stride + x*t.Channels)[:n*t.Channels*l.src.Type.Bytes()]
		add(l, above, src, w.runs[r*t.Channels*runs:], x, y+r)
		dst := t.words[(y+r+1)*(t.Width+1)*entry:]
		if x == 0 {
			clear(dst[:entry])
		}
		dst = dst[(x+1)*entry:][:n*entry]
		if l.writes == kernel.Stream || l.writes == kernel.Mixed && r%2 == 0 {
			processor.StreamCopy(dst, above)
		} else {
			copy(dst, above)
		}
	}
	processor.StoreFence()
}

// addRow holds, by pixel type, functions that add a row of pixels, starting at (x, y), to the sums above.
// so holds the running sums of the row.
var addRow = [raster.NumTypes]func(l *layer, above []uint64, src []byte, so []wide, x, y int){
	raster.U8:  addNarrow[uint8],
	raster.U16: addNarrow[uint16],
	raster.I16: addNarrow[int16],
	raster.U32: addWide[uint32],
	raster.I32: addWide[int32],
	raster.F32: addWide[float32],
	raster.F64: addWide[float64],
}

func addNarrow[P raster.Number](l *layer, above []uint64, src []byte, so []wide, x, y int) {
	for c := range l.table.Channels {
		narrowRow(l, above[c*orders:], raster.Elems[P](src)[c:], (*[runs]wide)(so[c*runs:]), x, y)
	}
}

func addWide[P raster.Number](l *layer, above []uint64, src []byte, so []wide, x, y int) {
	for c := range l.table.Channels {
		wideRow(l, above[c*2*orders:], raster.Elems[P](src)[c:], (*[runs]wide)(so[c*runs:]), x, y)
	}
}

// narrowRow adds a row of one channel, starting at pixel (x, y), to the sums above.
func narrowRow[P raster.Number](l *layer, above []uint64, src []P, run *[runs]wide, x, y int) {
	step := l.table.Channels
	r0, r1, r2, r3 := run[0].lo, run[1].lo, run[2].lo, run[3].lo
	at, y1 := uint64(x), uint64(y)
	y2 := y1 * y1
	y3 := y2 * y1
	for i := 0; i < len(src); i += step {
		v := uint64(int64(src[i]))
		r0 += v
		v *= at
		r1 += v
		v *= at
		r2 += v
		v *= at
		r3 += v
		a := (*[orders]uint64)(above[i*orders:])
		a[m00] += r0
		a[m10] += r1
		a[m01] += y1 * r0
		a[m20] += r2
		a[m11] += y1 * r1
		a[m02] += y2 * r0
		a[m30] += r3
		a[m21] += y1 * r2
		a[m12] += y2 * r1
		a[m03] += y3 * r0
		at++
	}
	run[0].lo, run[1].lo, run[2].lo, run[3].lo = r0, r1, r2, r3
}

// wideRow is like narrowRow modulo 2^128.
func wideRow[P raster.Number](l *layer, above []uint64, src []P, run *[runs]wide, x, y int) {
	step := l.table.Channels
	r := *run
	at, y1 := uint64(x), uint64(y)
	y2 := y1 * y1
	for i := 0; i < len(src); i += step {
		v := widen(units(l, src[i]))
		for p := range r {
			r[p] = r[p].add(v)
			v = v.times(at)
		}
		a := (*[2 * orders]uint64)(above[i*2*orders:])
		plus(a, m00, r[0])
		plus(a, m10, r[1])
		plus(a, m01, r[0].times(y1))
		plus(a, m20, r[2])
		plus(a, m11, r[1].times(y1))
		plus(a, m02, r[0].times(y2))
		plus(a, m30, r[3])
		plus(a, m21, r[2].times(y1))
		plus(a, m12, r[1].times(y2))
		plus(a, m03, r[0].times(y2).times(y1))
		at++
	}
	*run = r
}

func plus(a *[2 * orders]uint64, i int, v wide) {
	v = v.add(wide{lo: a[2*i], hi: a[2*i+1]})
	a[2*i], a[2*i+1] = v.lo, v.hi
}

// units returns a pixel as an integer number of units.
func units[P raster.Number](l *layer, p P) int64 {
	if raster.TypeOf[P]().Float() {
		return int64(math.RoundToEven(float64(p) * l.factors[0] * l.factors[1]))
	}
	return int64(p)
}
