package threshold

import (
	"bytes"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/pairs"
	"github.com/boxsum/boxsum/internal/window"
)

// What a pixel of ISauvola is before all is done.
const (
	marked = 0 // black, and connected to a pixel of high contrast
	black  = 1
	white  = 255
)

// The slices of ISauvola.
const (
	countContrast = iota // the histogram of the contrast, for Otsu
	decideAndMark        // Sauvola's decision, and where it is black with high contrast
	connectBands         // marks go on to neighbours in the same band
	finishRows           // what is marked is black
	improvedSlices
)

// improved is the layer of ISauvola.
type improved[A, Q kernel.Number] struct {
	window.Layer[A, Q]
	marking
}

// marking is what does not depend on the type of sums.
type marking struct {
	bands   *window.Bands // of the layer
	task    task
	slice   int
	inPlace bool
	level   uint8
	columns bool          // decisions are made from the sums of columns
	rows    int           // of a band
	marks   window.Pixels // the result, or memory of its own
	memory  []uint8
	workers []improvedWorker
}

type improvedWorker struct {
	counts
	decider kernel.Decider
	row     []uint8
	pix     []float64
	spans   []span
	_       [kernel.LineBytes]byte
}

func runISauvola(t *task) error {
	area := t.area()
	switch {
	case t.columns() || area*255*255 < 1<<32:
		return runImproved[uint32, uint32](t)
	case area*255 < 1<<32:
		return runImproved[uint32, uint64](t)
	case area*255*255 >= 1<<63:
		return grid.Invalid("windows of %d×%d are too large for their sums: use smaller ones, or the border clip", t.shape.Width(), t.shape.Height())
	}
	return runImproved[uint64, uint64](t)
}

func runImproved[A, Q kernel.Number](t *task) error {
	run := engine.Take[engine.Run[improved[A, Q]]]()
	l := &run.Layer
	l.Sink, l.bands, l.task = l, &l.Layer.Bands, *t
	l.Src, l.InPlace, l.Reach = t.src, t.same, 1
	l.Frame = t.frame()
	l.Frame.Squares, l.columns = true, t.columns()
	p := planOf(l.Plan(&t.set, t.dst.Size), t)
	p.Slices = improvedSlices
	if p.BandRows < floodRows {
		p.BandRows = grid.RoundUp(floodRows, p.BandRows)
	}
	return run.Fill(t.set, p, l)
}

// floodRows is how many rows a band has at least: what reaches its edge is gone on with later.
const floodRows = 192

// Prepare implements [engine.Layer].
func (l *improved[A, Q]) Prepare(p *engine.Plan) error {
	if err := l.prepare(p); err != nil {
		return err
	}
	err := l.Layer.Prepare(p)
	l.inPlace = l.InPlace
	return err
}

func (l *marking) prepare(p *engine.Plan) error {
	t := &l.task
	l.marks = t.dst.Pixels
	if t.dst.form == asBits {
		if err := grid.Enough(t.src.Width*t.src.Height, 1); err != nil {
			return err
		}
		l.memory = engine.AtLeast(l.memory, t.src.Width*t.src.Height)
		l.marks = window.PixelsOf(l.memory, t.src.Width, t.src.Height, 1, t.src.Width)
	}
	l.rows = p.BandRows
	l.workers = engine.Workers(l.workers, p.Workers)
	for i := range l.workers {
		w := &l.workers[i]
		w.counts = counts{}
		w.row = engine.AtLeast(w.row, p.TileWidth)
		if !l.columns {
			w.pix = engine.AtLeast(w.pix, p.TileWidth)
		}
		w.spans = engine.AtLeast(w.spans, maxSpans)[:0]
		if l.columns {
			aim(&w.decider, t, &l.bands.Frame)
		}
	}
	return nil
}

// Slice implements [engine.Slicer].
func (l *marking) Slice(z int) {
	l.slice, l.bands.InPlace = z, z == decideAndMark && l.inPlace
	switch z {
	case decideAndMark:
		l.level = otsuOfAll(l.workers)
	case finishRows:
		// What went up to the edge of a band goes on from there.
		f := l.flood(0)
		for y := l.rows; y < l.task.src.Height; y += l.rows {
			f.rows(y-1, y+1)
		}
		for f.full {
			f.full = false
			f.rows(0, l.task.src.Height)
		}
	}
}

// otsuOfAll is the threshold of what all workers counted.
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
func (l *improved[A, Q]) Tile(worker, x, y, n, rows int) {
	if l.slice == decideAndMark {
		l.Layer.Tile(worker, x, y, n, rows)
	} else {
		l.tile(worker, x, y, n, rows)
	}
}

func (l *marking) tile(worker, x, y, n, rows int) {
	t, w := &l.task, &l.workers[worker]
	switch l.slice {
	case countContrast:
		for end := y + rows; y < end; y++ {
			l.contrast(w.row[:n], &l.bands.Image, x, y)
			w.add(w.row[:n])
		}
		w.settle()
	case connectBands:
		if x > 0 { // all of a band at once
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
			row := l.marks.Row(x, y, n)
			if t.dst.form == asBits {
				above(t.set.Level, w.row[:n], row, marked)
				kernel.PackBits(t.set.Level, t.dst.Row(x/8, y, engine.DivUp(n, 8)), w.row[:n])
			} else {
				above(t.set.Level, row, row, marked)
			}
		}
	}
}

// contrast is that of pixels [x, x+len(dst)) of row y.
func (l *marking) contrast(dst []uint8, rows window.Rows, x, y int) {
	contrastRow(l.task.set.Level, dst, rows.Row(max(0, y-1)), rows.Row(y), rows.Row(min(y+1, l.task.src.Height-1)), x)
}

// Row implements [window.Sink].
func (l *improved[A, Q]) Row(worker, x, y, n int, pix []uint8, s *window.Sums[A, Q]) {
	w, f := &l.workers[worker], &l.task.formula
	l.contrast(w.row[:n], s.Rows(), x, y)
	dst := l.marks.Row(x, y, n)
	if l.columns {
		r, cols, squares := columnsOf(s)
		w.decider.Counts(x, r.Across, r.Down, r.Area, n)
		w.decider.Row(dst, pix, cols, squares)
	} else {
		r := s.Windows()
		window.Floats(w.pix, pix, pairs.U8)
		for i, j := 0, 0; i < n; i = j {
			j = r.Same(i)
			some := stretchOf(r, w.pix, i, j)
			decide(f, dst[i:j], &some)
		}
	}
	kernel.KeepContrast(l.task.set.Level, dst, w.row[:n], l.level)
}

// Release implements [engine.Layer].
func (l *improved[A, Q]) Release() int { return l.Layer.Release() + l.release() }

func (l *marking) release() int {
	l.task, l.marks = task{}, window.Pixels{}
	bytes := engine.Bytes(l.memory)
	for i := range l.workers {
		l.workers[i].decider.Forget()
		bytes += engine.Bytes(l.workers[i].row) + engine.Bytes(l.workers[i].spans) + engine.Bytes(l.workers[i].pix) + l.workers[i].decider.Bytes()
	}
	return bytes
}

// maxSpans is how many spans may wait for their neighbours to be looked at, in 48 KiB. If
// there are more, all is gone through again.
const maxSpans = 4 << 10

// A span is black pixels [x0, x1) of a row that are all marked.
type span struct{ y, x0, x1 int32 }

// A flood carries marks on to black pixels beside and above and below marked ones, also
// across corners, in some rows.
type flood struct {
	marks    window.Pixels
	width    int
	from, to int // the rows
	spans    []span
	full     bool // a span had to be left
}

func (l *marking) flood(worker int) flood {
	return flood{marks: l.marks, width: l.task.src.Width, to: l.task.src.Height, spans: l.workers[worker].spans[:0]}
}

// rows goes on from all that is marked in rows [y, end).
func (f *flood) rows(y, end int) {
	for ; y < end; y++ {
		row := f.marks.Row(0, y, f.width)
		for x := 0; ; {
			next := bytes.IndexByte(row[x:], marked)
			if next < 0 {
				break
			}
			s := grow(row, x+next)
			s.y = int32(y)
			f.around(s)
			for len(f.spans) > 0 {
				last := f.spans[len(f.spans)-1]
				f.spans = f.spans[:len(f.spans)-1]
				f.around(last)
			}
			x = int(s.x1)
		}
	}
}

// grow marks all black pixels that go on from x to both sides.
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

// around looks for black pixels above and below a span.
func (f *flood) around(s span) {
	x0, x1 := max(0, int(s.x0)-1), min(f.width, int(s.x1)+1)
	for _, y := range [2]int{int(s.y) - 1, int(s.y) + 1} {
		if y < f.from || y >= f.to {
			continue
		}
		row := f.marks.Row(0, y, f.width)
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
