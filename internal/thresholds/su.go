package thresholds

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// The passes (slices) of Su.
const (
	countSu  = iota // compute the histogram of the contrast, for Otsu
	strokeSu        // measure the strokes, if no window was given
	decideSu
	suSlices
)

// su is the layer for Su: it sums and counts the high-contrast pixels of each window.
type su struct {
	engine.Base
	job     Job
	src     raster.Array // the image, or a copy if it is overwritten
	memory  []uint8
	slice   int
	level   uint8 // contrast greater than this is high
	auto    bool  // choose the window from the strokes
	sum     raster.Type
	square  raster.Type
	frame   window.Frame
	workers []suWorker
}

type suWorker struct {
	counts
	strokes []uint64
	rows    maskedRows
	mask    maskRows
	values  window.Sums // sums of pixels
	numbers window.Sums // counts of pixels, in 32 bits
	masked  windows.Masked
	sums    []float64 // of a row of windows, where masked is not used
	squares []float64
	row     []uint8
	_       [raster.LineBytes]byte
}

// suRuns keeps the engines and scratch memory of the layer for later calls.
var suRuns engine.Runs[su]

func runSu(j *Job) error {
	run := suRuns.Take()
	l := &run.Layer
	l.job, l.src = *j, j.Src
	l.auto = j.shape == window.Shape{}
	area := j.area()
	if l.auto { // the window is at most twice as wide as the image
		area = 2 * float64(j.Src.Width) * float64(j.Src.Height)
	}
	l.sum, l.square = raster.U64, raster.U64
	if area*255 < 1<<32 {
		l.sum = raster.U32
	}
	if area*255*255 < 1<<32 {
		l.square = raster.U32
	}
	p := planRows(j)
	p.BandRows = min(max(suBand, 8*min(j.shape.Height(), j.Src.Height)), engine.DivUp(p.Rows, p.Workers))
	p.Slices = suSlices
	return run.Fill(&j.set, &p, l)
}

// suBand is the minimum height of a band. Each band starts by reading as many rows as a
// window is high.
const suBand = 128

// Prepare implements [engine.Layer].
func (l *su) Prepare(p *engine.Plan) error {
	src := &l.job.Src
	if l.job.same {
		if err := raster.CheckMemory(src.Width*src.Height, 1); err != nil {
			return err
		}
		l.memory = window.CopyTo(l.memory, &l.src)
	}
	l.workers = engine.Workers(l.workers, p.Workers)
	for i := range l.workers {
		w := &l.workers[i]
		w.counts = counts{}
		w.row = engine.AtLeast(w.row, src.Width)
		if l.auto {
			w.strokes = engine.Zeros(w.strokes, src.Width)
		}
	}
	return nil
}

// Slice implements [engine.Layer].
func (l *su) Slice(z int) {
	t := &l.job
	switch l.slice = z; z {
	case strokeSu:
		all := &l.workers[0].all
		for i := range l.workers[1:] {
			for v, n := range l.workers[1+i].all {
				all[v] += n
			}
		}
		l.level = otsuOf(all)
	case decideSu:
		if l.auto {
			size := 2 * l.strokeWidth()
			t.shape = window.Shape{Left: size / 2, Right: size / 2, Up: size / 2, Down: size / 2, Border: window.Clip}
			t.minN = size // as in Doxa, whatever MinN is
		}
		l.frame = window.Frame{Width: t.Src.Width, Height: t.Src.Height, Channels: 1, Pixel: t.Src.Type, Sum: l.sum, Square: l.square, Shape: t.shape, Level: t.set.Level}
		for i := range l.workers {
			l.workers[i].aim(l)
		}
	}
}

// aim prepares the worker for a new image.
func (w *suWorker) aim(l *su) {
	w.rows.aim(l.src, &l.frame, l.level)
	w.mask.rows = &w.rows
	numbers := l.frame
	numbers.Sum, numbers.Square = raster.U32, 0
	w.numbers.Aim(&numbers)
	w.numbers.Strip(0, l.frame.Width)
	w.values.Aim(&l.frame)
	w.values.Strip(0, l.frame.Width)
}

// strokeWidth returns the most frequent distance between strokes of two pixels or more, or
// 3 if there is none.
func (l *su) strokeWidth() int {
	all, best, width := l.workers[0].strokes, uint64(0), 3
	for i := range l.workers[1:] {
		for d, n := range l.workers[1+i].strokes {
			all[d] += n
		}
	}
	for d := 2; d < len(all); d++ {
		if all[d] > best {
			best, width = all[d], d
		}
	}
	return width
}

// countStrokes counts the distances between high-contrast pixels that have low-contrast
// neighbors on both sides.
func countStrokes(distances []uint64, contrast []uint8, level uint8) {
	last := -1
	for x := 1; x < len(contrast)-1; x++ {
		if contrast[x] > level && contrast[x-1] <= level && contrast[x+1] <= level {
			if last >= 0 {
				distances[x-last]++
			}
			last = x
		}
	}
}

// Tile implements [engine.Layer].
func (l *su) Tile(worker, x, y, n, rows int) {
	if l.slice != decideSu {
		l.count(worker, y, rows)
		return
	}
	w := &l.workers[worker]
	w.rows.start(y)
	for end := y + rows; y < end; y++ {
		w.values.Down(&w.rows, y)
		w.numbers.Down(&w.mask, y)
		l.decide(w, w.values.Windows(), y)
	}
}

// count runs the passes before the last.
func (l *su) count(worker, y, rows int) {
	w := &l.workers[worker]
	c := contrasted{&l.src, l.job.set.Level}
	switch {
	case l.slice == countSu:
		for end := y + rows; y < end; y++ {
			c.row(w.row, y)
			w.add(w.row)
		}
		w.settle()
	case l.auto:
		for end := y + rows; y < end; y++ {
			c.row(w.row, y)
			countStrokes(w.strokes, w.row, l.level)
		}
	}
}

// decide computes row y of the result.
func (l *su) decide(w *suWorker, values *window.Row, y int) {
	t, n := &l.job, l.src.Width
	pix := l.src.Span(0, y, n)
	numbers := w.numbers.Windows()
	hi, lo := raster.Elems[uint32](numbers.Sums.Hi), raster.Elems[uint32](numbers.Sums.Lo)
	row := w.row
	if t.Form == AsBytes {
		row = t.Dst.Span(0, y, n)
	}
	if t.Form != AsMap && l.square == raster.U32 && t.area()*255*255 < 1<<31 {
		elems := raster.Elems[uint32]
		w.masked.Row(t.set.Level, row, pix, elems(values.Sums.Hi), elems(values.Sums.Lo), elems(values.Squares.Hi), elems(values.Squares.Lo), hi, lo, int64(t.minN))
	} else {
		levels := w.thresholds(values, hi, lo, int64(t.minN))
		if t.Form == AsMap {
			windows.Store(t.Dst.Type, t.Dst.Span(0, y, n), levels)
			return
		}
		for i, p := range pix {
			var v uint8 = 255
			if float64(p) <= levels[i] {
				v = 0
			}
			row[i] = v
		}
	}
	if t.Form == AsBits {
		windows.PackBits(t.set.Level, t.Dst.Span(0, y, engine.DivUp(n, 8)), row)
	}
}

// thresholds returns the thresholds of a row of windows from their high-contrast pixels, or
// -1 for windows with fewer than least of them.
func (w *suWorker) thresholds(values *window.Row, hi, lo []uint32, least int64) []float64 {
	w.sums, w.squares = engine.AtLeast(w.sums, len(hi)), engine.AtLeast(w.squares, len(hi))
	values.Sums.Floats(w.sums)
	values.Squares.Floats(w.squares)
	for i, sum := range w.sums {
		n := int64(hi[i] - lo[i])
		if w.sums[i] = -1; n >= least {
			w.sums[i] = windows.SuThreshold(sum, w.squares[i], float64(n))
		}
	}
	return w.sums
}

// Release implements [engine.Layer].
func (l *su) Release() int {
	l.job, l.src = Job{}, raster.Array{}
	bytes := engine.Bytes(l.memory)
	for i := range l.workers {
		w := &l.workers[i]
		w.numbers.Forget()
		w.values.Forget()
		w.rows.src = raster.Array{}
		bytes += w.numbers.Bytes() + w.values.Bytes() + engine.Bytes(w.row) + engine.Bytes(w.strokes) + engine.Bytes(w.rows.values) + engine.Bytes(w.rows.masks) +
			engine.Bytes(w.sums) + engine.Bytes(w.squares)
	}
	return bytes
}
