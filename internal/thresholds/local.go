package thresholds

import (
	"math"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// local is the layer for thresholds computed from window sums. Wolf takes two passes: the
// first finds the image's greatest variance and darkest pixel.
type local struct {
	window.Layer
	job     Job
	columns bool // deciders work from column sums
	quads   bool // deciders slide the column sums themselves
	past    bool // write results past the caches
	look    bool // first pass of two
	inPlace bool // InPlace for the pass that writes results
	workers []localWorker
}

// localWorker is the state of one worker.
type localWorker struct {
	decider  *windows.Decider
	quads    *windows.Quads // owner of decider, if not nil
	x, y     int            // position below the last row the quads slid over
	row      []uint8        // decisions before they are packed
	stats    rowStats       // used without columns
	variance float64        // greatest seen
	darkest  float64        // darkest pixel seen
	_        [raster.LineBytes]byte
}

// localRuns keeps the engines and scratch memory of the layer for later calls.
var localRuns engine.Runs[local]

// aim prepares the layer for a job, and returns how to cut the image.
func (l *local) aim(j *Job) (p engine.Plan, err error) {
	sum, square, err := j.sumTypes()
	if err != nil {
		return p, err
	}
	l.job, l.look = *j, false
	l.Src, l.InPlace, l.Frame = j.Src, j.same, j.frame(sum, square)
	l.columns = j.columns()
	l.quads = l.columns && j.shape.Border == window.Clip && !(j.same && j.Src.Width > windows.QuadWidth) && // strips would overwrite each other's rows
		j.Form != AsMap && windows.QuadsDecide(j.set.Level, &j.formula, l.Frame.Span(), j.height())
	l.past = l.quads && j.Form == AsBytes && !j.same && windows.BypassCaches(j.Src.Width*j.Src.Height)
	if l.Widest = 0; l.quads {
		l.Widest = windows.QuadWidth
	}
	p = j.plan(l.Plan(&j.set, j.Dst.Type.Bytes()))
	if j.formula.Kind == windows.WolfFormula {
		p.Slices = 2
	}
	return p, nil
}

// plan adjusts a window plan to the destination.
func (j *Job) plan(p engine.Plan) engine.Plan {
	if j.Form == AsBits { // no two workers may write to the same byte
		p.TileWidth = raster.RoundUp(p.TileWidth, 64)
	}
	return p
}

// Prepare implements [engine.Layer].
func (l *local) Prepare(p *engine.Plan) error {
	l.workers = engine.Workers(l.workers, p.Workers)
	for i := range l.workers { // includes workers that only earlier images used
		w := &l.workers[i]
		w.variance, w.darkest = math.SmallestNonzeroFloat64, math.Inf(1)
		if i >= p.Workers {
			continue
		}
		switch {
		case l.quads:
			if w.quads == nil {
				w.quads = new(windows.Quads)
			}
			w.decider, w.y = &w.quads.Decider, -1
		case l.columns && w.decider == nil:
			w.decider = new(windows.Decider)
		}
		if l.job.Form == AsBits || l.past {
			w.row = engine.AtLeast(w.row, p.TileWidth)
		}
		if !l.columns {
			w.stats.resize(p.TileWidth)
		}
	}
	err := l.Layer.Prepare(p)
	l.inPlace = l.InPlace
	if p.Slices == 0 {
		l.aimDeciders()
	}
	return err
}

// aimDeciders passes the formula to the deciders, once it is complete.
func (l *local) aimDeciders() {
	for i := range l.workers {
		if d := l.workers[i].decider; l.columns && d != nil {
			aim(d, &l.job, &l.Frame)
		}
	}
}

func aim(d *windows.Decider, t *Job, f *window.Frame) {
	d.Aim(t.set.Level, &t.formula, f.Span(), t.height(), min(f.Up, f.Down, f.Height-1)+1)
}

// Slice implements [engine.Layer].
func (l *local) Slice(z int) {
	if l.look = z == 0; l.look {
		l.InPlace = false
		l.aimDeciders()
		return
	}
	l.InPlace = l.inPlace
	f := &l.job.formula
	f.Darkest, f.Spread = math.Inf(1), smallestNormal
	for i := range l.workers {
		f.Darkest = min(f.Darkest, l.workers[i].darkest)
		f.Spread = max(f.Spread, l.workers[i].variance)
	}
	f.Spread = math.Sqrt(f.Spread)
	l.aimDeciders()
}

// smallestNormal is the variance used for images that have none.
const smallestNormal = 0x1p-1022

// Release implements [engine.Layer].
func (l *local) Release() int {
	l.job = Job{}
	bytes := l.Layer.Release()
	for i := range l.workers {
		w := &l.workers[i]
		if d := w.decider; d != nil {
			d.Forget()
			bytes += d.Bytes()
		}
		bytes += engine.Bytes(w.row) + w.stats.bytes()
	}
	return bytes
}

// Tile implements [engine.Layer].
func (l *local) Tile(worker, x, y, n, rows int) {
	w := &l.workers[worker]
	if l.quads && !l.look && w.decider.Fast() {
		l.tileQuads(w, x, y, n, rows)
		return
	}
	s, src := l.Start(worker, x, y, n)
	for end := y + rows; y < end; y++ {
		s.Down(src, y)
		if l.columns {
			l.fromColumns(w, x, y, n, s)
		} else {
			l.fromWindows(w, x, y, n, s)
		}
	}
}

// tileQuads makes a tile with a decider that slides the column sums itself.
func (l *local) tileQuads(w *localWorker, x, y, n, rows int) {
	t := &l.job
	f := &l.Frame
	row := func(of window.Rows, y int) []uint8 {
		if y < 0 || y >= f.Height {
			return nil
		}
		return of.Row(y)
	}
	of, own := l.RowsOf(y)
	if w.x != x || w.y != y { // otherwise the tile continues the last one
		w.quads.Strip(x, n, min(f.Left, f.Width), f.Width) // must match Span
		for i := max(0, y-f.Up); i < min(y+f.Down, f.Height); i++ {
			w.quads.Slide(row(of, i), nil, row(of, i+1), nil)
		}
		if y > f.Up {
			w.quads.Slide(row(of, y-f.Up-1), nil, nil, nil) // the row that leaves the first window
		}
	}
	w.x, w.y = x, y+rows
	for end := y + rows; y < end; y++ {
		out := w.row
		if t.Form == AsBytes && !l.past {
			out = t.Dst.Span(x, y, n)
		}
		var ahead []uint8
		if y+1 < end { // the last row of the band slides nothing in
			ahead = row(of, y+f.Down+1)
		}
		w.quads.Slide(row(of, y+f.Down), row(of, y-f.Up-1), ahead, out)
		w.quads.Counts(int64(min(f.Height, y+f.Down+1) - max(0, y-f.Up)))
		if own != nil {
			own.Keep()
		}
		pix := row(of, y)[x:][:n]
		w.quads.Row(out[:n], pix)
		switch {
		case l.past:
			processor.StreamCopy(t.Dst.Span(x, y, n), out[:n])
		case t.Form == AsBits:
			windows.PackBits(t.set.Level, t.Dst.Span(x/8, y, engine.DivUp(n, 8)), out[:n])
		}
	}
	if l.past {
		processor.StoreFence()
	}
}

// fromWindows computes n pixels of row y from the sums of windows.
func (l *local) fromWindows(w *localWorker, x, y, n int, s *window.Sums) {
	t, r := &l.job, s.Windows()
	f := &t.formula
	windows.Floats(t.Src.Type, w.stats.pix, l.Src.Span(x, y, n))
	row := w.row
	if t.Form == AsBytes {
		row = t.Dst.Span(x, y, n)
	}
	var p window.Part
	for i := 0; i < n; i = p.To {
		r.Cut(&p, i)
		w.stats.find(f, &p, r.Offset)
		switch {
		case l.look:
			w.updateExtremes()
		case t.Form == AsMap:
			w.stats.draw(f)
			size := t.Dst.Type.Bytes()
			windows.Store(t.Dst.Type, t.Dst.Span(x, y, n)[p.From*size:p.To*size], w.stats.mean)
		default:
			w.stats.decide(f, row[p.From:p.To])
		}
	}
	if !l.look && t.Form == AsBits {
		windows.PackBits(t.set.Level, t.Dst.Span(x/8, y, engine.DivUp(n, 8)), w.row[:n])
	}
}

// columnsOf returns the column sums, which are 32 bits wide.
func columnsOf(s *window.Sums) (r *window.Row, cols, squares []uint32) {
	first, _ := s.Columns(1)
	if s.Squared() {
		squares = raster.Elems[uint32](s.SquareColumns(1))
	}
	return s.Row(), raster.Elems[uint32](first), squares
}

// fromColumns computes n pixels of row y, which are bytes, from column sums.
func (l *local) fromColumns(w *localWorker, x, y, n int, s *window.Sums) {
	pix, dst := l.Src.Span(x, y, n), &l.job.Dst
	r, cols, squares := columnsOf(s)
	w.decider.Counts(x, r.Across, r.Down, r.Area, n)
	switch {
	case l.look:
		darkest := uint8(min(w.darkest, 255))
		w.variance, darkest = w.decider.Look(w.variance, darkest, pix, cols, squares)
		w.darkest = float64(darkest)
	case l.job.Form == AsBits:
		w.decider.Row(w.row[:n], pix, cols, squares)
		windows.PackBits(l.job.set.Level, dst.Span(x/8, y, engine.DivUp(n, 8)), w.row[:n])
	case l.job.Form == AsBytes:
		w.decider.Row(dst.Span(x, y, n), pix, cols, squares)
	case dst.Type == raster.F32:
		windows.Thresholds(w.decider, raster.Elems[float32](dst.Span(x, y, n)), pix, cols, squares)
	default:
		windows.Thresholds(w.decider, raster.Elems[float64](dst.Span(x, y, n)), pix, cols, squares)
	}
}
