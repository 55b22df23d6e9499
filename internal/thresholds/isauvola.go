package thresholds

import (
	"bytes"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// States of a pixel while ISauvola runs.
const (
	marked = 0 // black and connected to a high-contrast pixel
	black  = 1
	white  = 255
)

// The passes (slices) of ISauvola.
const (
	countContrast = iota // compute the histogram of the contrast, for Otsu
	decideAndMark        // apply Sauvola, and mark black pixels with high contrast
	connectBands         // spread marks to neighbors within a band
	finishRows           // make marked pixels black and all others white
	improvedSlices
)

// improved is the layer for ISauvola.
type improved struct {
	window.Layer
	job     Job
	slice   int
	inPlace bool
	level   uint8
	columns bool         // decide from column sums
	rows    int          // rows per band
	marks   raster.Array // the result, or memory of its own
	memory  []uint8
	workers []improvedWorker
}

type improvedWorker struct {
	counts
	decider windows.Decider
	row     []uint8
	stats   rowStats
	spans   []span
	_       [raster.LineBytes]byte
}

// improvedRuns keeps the engines and scratch memory of the layer for later calls.
var improvedRuns engine.Runs[improved]

func runISauvola(j *Job) error {
	sum, square, err := j.sumTypes()
	if err != nil {
		return err
	}
	run := improvedRuns.Take()
	l := &run.Layer
	l.job = *j
	l.Src, l.InPlace, l.Reach = j.Src, j.same, 1
	l.Frame, l.columns = j.frame(sum, square), j.columns()
	p := j.plan(l.Plan(&j.set, j.Dst.Type.Bytes()))
	p.Slices = improvedSlices
	if p.BandRows < floodRows {
		p.BandRows = raster.RoundUp(floodRows, p.BandRows)
	}
	return run.Fill(&j.set, &p, l)
}

// floodRows is the minimum height of a band. Spans that reach a band's edge need a later,
// serial pass.
const floodRows = 192

// Prepare implements [engine.Layer].
func (l *improved) Prepare(p *engine.Plan) error {
	t := &l.job
	l.marks = t.Dst
	if t.Form == AsBits {
		if err := raster.CheckMemory(t.Src.Width*t.Src.Height, 1); err != nil {
			return err
		}
		l.memory = engine.AtLeast(l.memory, t.Src.Width*t.Src.Height)
		l.marks = raster.ArrayOf(l.memory, raster.PlaneExtent(t.Src.Width, t.Src.Height, 1, t.Src.Width))
	}
	l.rows = p.BandRows
	l.workers = engine.Workers(l.workers, p.Workers)
	for i := range l.workers {
		w := &l.workers[i]
		w.counts = counts{}
		w.row = engine.AtLeast(w.row, p.TileWidth)
		if !l.columns {
			w.stats.resize(p.TileWidth)
		}
		w.spans = engine.AtLeast(w.spans, maxSpans)[:0]
		if l.columns {
			aim(&w.decider, t, &l.Frame)
		}
	}
	err := l.Layer.Prepare(p)
	l.inPlace = l.InPlace
	return err
}

// Slice implements [engine.Layer].
func (l *improved) Slice(z int) {
	l.slice, l.InPlace = z, z == decideAndMark && l.inPlace
	switch z {
	case decideAndMark:
		l.level = otsuOfAll(l.workers)
	case finishRows:
		// Continue marks that reached the edge of a band.
		f := l.flood(0)
		for y := l.rows; y < l.job.Src.Height; y += l.rows {
			f.rows(y-1, y+1)
		}
		for f.full {
			f.full = false
			f.rows(0, l.job.Src.Height)
		}
	}
}

// otsuOfAll returns Otsu's threshold for the combined histograms of all workers.
func otsuOfAll(workers []improvedWorker) uint8 {
	var all [256]uint64
	for i := range workers {
		for v, n := range workers[i].all {
			all[v] += n
		}
	}
	return otsuOf(&all)
}

// Tile implements [engine.Layer].
func (l *improved) Tile(worker, x, y, n, rows int) {
	t, w := &l.job, &l.workers[worker]
	switch l.slice {
	case decideAndMark:
		s, src := l.Start(worker, x, y, n)
		for end := y + rows; y < end; y++ {
			s.Down(src, y)
			l.mark(w, x, y, n, s)
		}
	case countContrast:
		for end := y + rows; y < end; y++ {
			l.contrast(w.row[:n], &l.Image, x, y)
			w.add(w.row[:n])
		}
		w.settle()
	case connectBands:
		if x > 0 { // one call does the whole band
			return
		}
		f := l.flood(worker)
		f.from, f.to = y, y+rows
		for again := true; again; again = f.full {
			f.full = false
			f.rows(y, y+rows)
		}
	case finishRows:
		for end := y + rows; y < end; y++ {
			row := l.marks.Span(x, y, n)
			if t.Form == AsBits {
				compare(t.set.Level, w.row[:n], row, marked)
				windows.PackBits(t.set.Level, t.Dst.Span(x/8, y, engine.DivUp(n, 8)), w.row[:n])
			} else {
				compare(t.set.Level, row, row, marked)
			}
		}
	}
}

// contrast computes the contrast of pixels [x, x+len(dst)) of row y.
func (l *improved) contrast(dst []uint8, rows window.Rows, x, y int) {
	contrastRow(l.job.set.Level, dst, rows.Row(max(0, y-1)), rows.Row(y), rows.Row(min(y+1, l.job.Src.Height-1)), x)
}

// mark decides n pixels of row y, and marks black ones with high contrast.
func (l *improved) mark(w *improvedWorker, x, y, n int, s *window.Sums) {
	f, pix := &l.job.formula, l.Src.Span(x, y, n)
	l.contrast(w.row[:n], s.Rows(), x, y)
	dst := l.marks.Span(x, y, n)
	if l.columns {
		r, cols, squares := columnsOf(s)
		w.decider.Counts(x, r.Across, r.Down, r.Area, n)
		w.decider.Row(dst, pix, cols, squares)
	} else {
		r := s.Windows()
		windows.Floats(raster.U8, w.stats.pix, pix)
		var p window.Part
		for i := 0; i < n; {
			r.Cut(&p, i)
			w.stats.find(f, &p, r.Offset)
			w.stats.decide(f, dst[p.From:p.To])
			i = p.To
		}
	}
	windows.KeepContrast(l.job.set.Level, dst, w.row[:n], l.level)
}

// Release implements [engine.Layer].
func (l *improved) Release() int {
	l.job, l.marks = Job{}, raster.Array{}
	bytes := l.Layer.Release() + engine.Bytes(l.memory)
	for i := range l.workers {
		w := &l.workers[i]
		w.decider.Forget()
		bytes += engine.Bytes(w.row) + engine.Bytes(w.spans) + w.stats.bytes() + w.decider.Bytes()
	}
	return bytes
}

// maxSpans limits the spans whose neighbors have not been visited yet, to 48 KiB. If there
// are more, the rows are scanned again.
const maxSpans = 4 << 10

// A span is a run of marked pixels [x0, x1) in row y.
type span struct{ y, x0, x1 int32 }

// A flood spreads marks from marked pixels to their black neighbors, including diagonal
// ones, within a range of rows.
type flood struct {
	marks    raster.Array
	width    int
	from, to int // the range of rows
	spans    []span
	full     bool // a span was dropped
}

func (l *improved) flood(worker int) flood {
	return flood{marks: l.marks, width: l.job.Src.Width, to: l.job.Src.Height, spans: l.workers[worker].spans[:0]}
}

// rows spreads all marks in rows [y, end).
func (f *flood) rows(y, end int) {
	for ; y < end; y++ {
		row := f.marks.Span(0, y, f.width)
		for x := 0; ; {
			next := bytes.IndexByte(row[x:], marked)
			if next < 0 {
				break
			}
			s := grow(row, x+next)
			s.y = int32(y)
			f.fillNeighbors(s)
			for len(f.spans) > 0 {
				last := f.spans[len(f.spans)-1]
				f.spans = f.spans[:len(f.spans)-1]
				f.fillNeighbors(last)
			}
			x = int(s.x1)
		}
	}
}

// grow marks the run of black pixels that contains x.
func grow(row []uint8, x int) span {
	x0, x1 := x, x+1
	row[x] = marked
	for x0 > 0 && row[x0-1] != white {
		x0--
		row[x0] = marked
	}
	for x1 < len(row) && row[x1] != white {
		row[x1] = marked
		x1++
	}
	return span{x0: int32(x0), x1: int32(x1)}
}

// fillNeighbors marks the black pixels above and below a span.
func (f *flood) fillNeighbors(s span) {
	x0, x1 := max(0, int(s.x0)-1), min(f.width, int(s.x1)+1)
	for _, y := range [2]int{int(s.y) - 1, int(s.y) + 1} {
		if y < f.from || y >= f.to {
			continue
		}
		row := f.marks.Span(0, y, f.width)
		for x := x0; x < x1; {
			next := bytes.IndexByte(row[x:x1], black)
			if next < 0 {
				break
			}
			found := grow(row, x+next)
			found.y = int32(y)
			if x = int(found.x1); len(f.spans) == cap(f.spans) {
				f.full = true
				continue
			}
			f.spans = append(f.spans, found)
		}
	}
}
