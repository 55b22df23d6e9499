package threshold

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/window"
)

// The slices of Su.
const (
	countSu  = iota // the histogram of the contrast, for Otsu
	strokeSu        // how wide strokes are, if no window was given
	decideSu
	suSlices
)

// su is the layer of Su: sums of the pixels with high contrast alone, and how many they are.
type su[A, Q kernel.Number] struct {
	strokes
	sums []suSums[A, Q] // of workers
}

type suSums[A, Q kernel.Number] struct {
	values window.Sums[A, Q]
	_      [kernel.LineBytes]byte
}

// strokes is what does not depend on the type of sums.
type strokes struct {
	task    task
	src     window.Pixels // the image, or a copy where it is written over
	memory  []uint8
	slice   int
	level   uint8 // of the contrast: more is high
	auto    bool  // the window is found from the strokes
	frame   window.Frame
	workers []suWorker
}

type suWorker struct {
	counts
	strokes []uint64
	rows    maskedRows
	mask    maskOf
	numbers window.Sums[uint32, uint32]
	masked  kernel.Masked
	row     []uint8
	_       [kernel.LineBytes]byte
}

func runSu(t *task) error {
	auto := t.shape == window.Shape{}
	area := t.area()
	if auto { // at most twice the width
		area = 2 * float64(t.src.Width) * float64(t.src.Height)
	}
	switch {
	case area*255*255 < 1<<32:
		return fillSu[uint32, uint32](t, auto)
	case area*255 < 1<<32:
		return fillSu[uint32, uint64](t, auto)
	}
	return fillSu[uint64, uint64](t, auto)
}

func fillSu[A, Q kernel.Number](t *task, auto bool) error {
	run := engine.Take[engine.Run[su[A, Q]]]()
	l := &run.Layer
	l.task, l.src, l.auto = *t, t.src, auto
	p := planRows(t)
	p.BandRows = min(max(suBand, 8*min(t.shape.Height(), t.src.Height)), engine.DivUp(p.Rows, p.Workers))
	p.Slices = suSlices
	return run.Fill(t.set, p, l)
}

// suBand is how many rows a band has at least: it starts with as many as a window has.
const suBand = 128

// Prepare implements [engine.Layer].
func (l *su[A, Q]) Prepare(p *engine.Plan) error {
	l.sums = engine.Workers(l.sums, p.Workers)
	return l.prepare(p)
}

func (l *strokes) prepare(p *engine.Plan) error {
	src := &l.task.src
	if l.task.same {
		if err := grid.Enough(src.Width*src.Height, 1); err != nil {
			return err
		}
		l.memory = l.src.Copy(l.memory)
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

// Slice implements [engine.Slicer].
func (l *su[A, Q]) Slice(z int) {
	if l.enter(z); z == decideSu {
		for i := range l.sums {
			s := &l.sums[i].values
			s.Aim(&l.frame)
			s.Strip(0, l.frame.Width)
		}
	}
}

func (l *strokes) enter(z int) {
	t := &l.task
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
			t.minN = size // as Doxa has it, whatever was asked for
		}
		l.frame = window.Frame{Width: t.src.Width, Height: t.src.Height, Channels: 1, Pixel: t.src.Of, Shape: t.shape, Squares: true, Level: t.set.Level}
		for i := range l.workers {
			l.workers[i].aim(l)
		}
	}
}

// aim is for a new image.
func (w *suWorker) aim(l *strokes) {
	w.rows.aim(l.src, &l.frame, l.level)
	w.mask.rows = &w.rows
	numbers := l.frame
	numbers.Squares = false
	w.numbers.Aim(&numbers)
	w.numbers.Strip(0, l.frame.Width)
}

// strokeWidth is the most frequent distance of strokes, of two pixels and more.
func (l *strokes) strokeWidth() int {
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

// countStrokes counts the distances between pixels of high contrast whose neighbours on both
// sides have none.
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
func (l *su[A, Q]) Tile(worker, x, y, n, rows int) {
	if l.slice != decideSu {
		l.count(worker, y, rows)
		return
	}
	w, s := &l.workers[worker], &l.sums[worker].values
	w.rows.start(y)
	for end := y + rows; y < end; y++ {
		s.Down(&w.rows, y)
		w.numbers.Down(&w.mask, y)
		l.decide(w, s.Windows(), y)
	}
}

// count is for the slices before the last.
func (l *strokes) count(worker, y, rows int) {
	w := &l.workers[worker]
	c := contrasted{&l.src, l.task.set.Level}
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

// decide makes a row.
func (l *su[A, Q]) decide(w *suWorker, values *window.Row[A, Q], y int) {
	t := &l.task
	pix := l.src.Row(0, y, l.src.Width)
	s := masked[A, Q]{pix: pix, values: values, numbers: w.numbers.Windows(), minN: int64(t.minN)}
	if grid.SizeOf[A]()+grid.SizeOf[Q]() == 8 && t.area()*255*255 < 1<<31 {
		s.kernel, s.level = &w.masked, t.set.Level
	}
	switch t.dst.form {
	case asBytes:
		s.decide(t.dst.Row(0, y, len(pix)))
	case asBits:
		s.decide(w.row)
		kernel.PackBits(l.task.set.Level, t.dst.Row(0, y, engine.DivUp(len(pix), 8)), w.row)
	case asSingles:
		drawMasked(kernel.Of[float32](t.dst.Row(0, y, len(pix))), &s)
	default:
		drawMasked(kernel.Of[float64](t.dst.Row(0, y, len(pix))), &s)
	}
}

// masked is the windows of a row, of which only pixels of high contrast count.
type masked[A, Q kernel.Number] struct {
	pix     []uint8
	values  *window.Row[A, Q]
	numbers *window.Row[uint32, uint32]
	minN    int64

	kernel *kernel.Masked // for sums below 2^31
	level  kernel.Level
}

// at is the threshold of a pixel, and -1 where too few pixels have high contrast.
func (m *masked[A, Q]) at(i int) float64 {
	n := int64(m.numbers.Sum(i))
	if n < m.minN {
		return -1
	}
	return kernel.SuThreshold(float64(m.values.Sum(i)), float64(m.values.Squares(i)), float64(n))
}

func (m *masked[A, Q]) decide(dst []uint8) {
	if m.kernel != nil {
		v := m.values
		m.kernel.Row(m.level, dst, m.pix, slice[uint32](v.Hi), slice[uint32](v.Lo), slice[uint32](v.HiSquares), slice[uint32](v.LoSquares), m.numbers.Hi, m.numbers.Lo, m.minN)
		return
	}
	for i, p := range m.pix {
		var v uint8 = 255
		if float64(p) <= m.at(i) {
			v = 0
		}
		dst[i] = v
	}
}

func drawMasked[A, Q kernel.Number, D float32 | float64](dst []D, m *masked[A, Q]) {
	for i := range m.pix {
		dst[i] = D(m.at(i))
	}
}

// Finish implements [engine.Layer].
func (l *su[A, Q]) Finish() {}

// Release implements [engine.Layer].
func (l *su[A, Q]) Release() int {
	bytes := l.release()
	for i := range l.sums {
		l.sums[i].values.Forget()
		bytes += l.sums[i].values.Bytes()
	}
	return bytes
}

func (l *strokes) release() int {
	l.task, l.src = task{}, window.Pixels{}
	bytes := engine.Bytes(l.memory)
	for i := range l.workers {
		w := &l.workers[i]
		w.numbers.Forget()
		w.rows.src = window.Pixels{}
		bytes += w.numbers.Bytes() + engine.Bytes(w.row) + engine.Bytes(w.strokes) + engine.Bytes(w.rows.values) + engine.Bytes(w.rows.masks)
	}
	return bytes
}
