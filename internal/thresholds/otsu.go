package thresholds

import (
	"encoding/binary"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/kernel/windows"
)

// otsuOf returns the threshold that maximizes the between-class variance of a histogram.
func otsuOf(histogram *[256]uint64) uint8 {
	var all, sum uint64
	for v, n := range histogram {
		all += n
		sum += uint64(v) * n
	}
	var below, sumBelow uint64
	best, threshold := 0.0, uint8(0)
	for v, n := range histogram {
		if below += n; below == 0 {
			continue
		}
		above := all - below
		if above == 0 {
			break
		}
		sumBelow += uint64(v) * n
		d := float64(sumBelow)/float64(below) - float64(sum-sumBelow)/float64(above)
		if between := float64(float64(d*d)*float64(below)) * float64(above); between > best {
			best, threshold = between, uint8(v)
		}
	}
	return threshold
}

// countBytes adds a row to a histogram. It spreads the counts over eight tables because a
// processor stalls on a counter that it has just changed.
func countBytes(histogram *[8][256]uint32, row []uint8) {
	a, b, c, d := &histogram[0], &histogram[1], &histogram[2], &histogram[3]
	e, f, g, h := &histogram[4], &histogram[5], &histogram[6], &histogram[7]
	for ; len(row) >= 8; row = row[8:] {
		v := binary.LittleEndian.Uint64(row)
		a[uint8(v)]++
		b[uint8(v>>8)]++
		c[uint8(v>>16)]++
		d[uint8(v>>24)]++
		e[uint8(v>>32)]++
		f[uint8(v>>40)]++
		g[uint8(v>>48)]++
		h[uint8(v>>56)]++
	}
	for _, v := range row {
		a[v]++
	}
}

// otsu is the layer for one global threshold: it counts the pixels, then compares them.
type otsu struct {
	engine.Base
	job     Job
	workers []otsuWorker
	level   uint8
	count   bool
}

type otsuWorker struct {
	counts
	row []uint8
}

// counts is the histogram of one worker.
type counts struct {
	small [8][256]uint32 // of a few rows
	all   [256]uint64
}

func (c *counts) add(row []uint8) {
	countBytes(&c.small, row)
}

// settle adds the 32-bit counts to the 64-bit ones, which no image overflows.
func (c *counts) settle() {
	for i := range c.small {
		for v, n := range c.small[i] {
			c.all[v] += uint64(n)
		}
	}
	c.small = [8][256]uint32{}
}

// otsuRuns keeps the engines and scratch memory of the layer for later calls.
var otsuRuns engine.Runs[otsu]

func runOtsu(t *Job) error {
	run := otsuRuns.Take()
	l := &run.Layer
	l.job = *t
	p := planRows(t)
	return run.Fill(&t.set, &p, l)
}

const (
	rowsBand    = 64      // rows per band
	rowsPerTurn = 1 << 18 // bytes that justify another worker
)

// planRows splits an image into bands of independent rows, for two passes.
func planRows(t *Job) engine.Plan {
	p := engine.Plan{Grid: engine.Grid{Rows: t.Src.Height, N: t.Src.Width, TileWidth: t.Src.Width, BandRows: min(rowsBand, t.Src.Height)}, Workers: 1, Slices: 2, Shares: true}
	if most := t.Src.Height * t.Src.Width / rowsPerTurn; most > 1 {
		p.Workers = min(t.set.Workers(), most, engine.DivUp(p.Rows, p.BandRows))
	}
	return p
}

// Prepare implements [engine.Layer].
func (l *otsu) Prepare(p *engine.Plan) error {
	l.workers = engine.Workers(l.workers, p.Workers)
	for i := range l.workers {
		l.workers[i].counts = counts{}
		if l.job.Form == AsBits {
			l.workers[i].row = engine.AtLeast(l.workers[i].row, l.job.Src.Width)
		}
	}
	return nil
}

// Slice implements [engine.Layer].
func (l *otsu) Slice(z int) {
	if l.count = z == 0; l.count {
		return
	}
	all := &l.workers[0].all
	for i := range l.workers[1:] {
		for v, n := range l.workers[1+i].all {
			all[v] += n
		}
	}
	l.level = otsuOf(all)
}

// Tile implements [engine.Layer].
func (l *otsu) Tile(worker, x, y, n, rows int) {
	t, w := &l.job, &l.workers[worker]
	for end := y + rows; y < end; y++ {
		row := t.Src.Span(x, y, n)
		if l.count {
			w.add(row)
			continue
		}
		switch t.Form {
		case AsBytes:
			compare(t.set.Level, t.Dst.Span(x, y, n), row, l.level)
		case AsBits:
			compare(t.set.Level, w.row[:n], row, l.level)
			windows.PackBits(l.job.set.Level, t.Dst.Span(x/8, y, engine.DivUp(n, 8)), w.row[:n])
		default:
			windows.Fill(t.Dst.Type, t.Dst.Span(x, y, n), float64(l.level))
		}
	}
	if l.count {
		w.settle()
	}
}

// compare sets dst to 255 where src exceeds than, and to 0 elsewhere.
func compare(level processor.Level, dst, src []uint8, than uint8) {
	for len(src) > 0 {
		n := min(len(src), len(nothing))
		windows.AtLeast(level, dst[:n], nothing[:n], src[:n], than, true)
		dst, src = dst[n:], src[n:]
	}
}

// nothing is a row of zeros.
var nothing [1 << 12]uint8

// Release implements [engine.Layer].
func (l *otsu) Release() (bytes int) {
	l.job = Job{}
	for i := range l.workers {
		bytes += engine.Bytes(l.workers[i].row)
	}
	return bytes
}
