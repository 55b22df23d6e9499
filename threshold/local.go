package threshold

import (
	"math"
	"unsafe"

	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/window"
)

// local is the layer of thresholds that are made from the sums of windows. Wolf goes
// through the image twice: first for its greatest variance and its least pixel.
type local[A, Q kernel.Number] struct {
	window.Layer[A, Q]
	deciding
}

// deciding is what does not depend on the type of sums.
type deciding struct {
	bands   *window.Bands // of the layer
	task    task
	columns bool // results are made from the sums of columns, by deciders
	quads   bool // deciders slide the columns themselves
	past    bool // results go past the caches
	look    bool // the first time of two
	inPlace bool // when results are written
	workers []localWorker
}

// localWorker is what a worker has.
type localWorker struct {
	decider  *kernel.Decider
	quads    *kernel.Quads // whose decider that is, where there is one
	x, y     int           // the place below the rows that the quads have gone down
	row      []uint8       // decisions, before they are packed
	pix      []float64     // the pixels of a row
	variance float64       // the greatest
	darkest  float64       // the least pixel
	_        [kernel.LineBytes]byte
}

func runLocal[A, Q kernel.Number](t *task) error {
	run := engine.Take[engine.Run[local[A, Q]]]()
	l := &run.Layer
	l.Sink = l
	l.start(t, &l.Layer.Bands)
	p := planOf(l.Plan(&t.set, t.dst.Size), t)
	if t.formula.Kind == kernel.WolfFormula {
		p.Slices = 2
	}
	return run.Fill(t.set, p, l)
}

// start is for a task.
func (l *deciding) start(t *task, b *window.Bands) {
	l.bands, l.task, l.look = b, *t, false
	b.Src, b.InPlace = t.src, t.same
	b.Frame = t.frame()
	l.columns = t.columns()
	l.quads = l.columns && t.shape.Border == window.Clip && !(t.same && t.src.Width > kernel.QuadWidth) && // strips write over each other's rows
		(t.dst.form == asBytes || t.dst.form == asBits) &&
		kernel.QuadsDecide(t.set.Level, &t.formula, b.Frame.Span(), t.height())
	l.past = l.quads && t.dst.form == asBytes && !t.same && kernel.Past(t.src.Width*t.src.Height)
	if b.Widest = 0; l.quads {
		b.Widest = kernel.QuadWidth
	}
}

// planOf is how to cut the work, as windows have it.
func planOf(p engine.Plan, t *task) engine.Plan {
	if t.dst.form == asBits { // no two workers write to a byte
		p.TileWidth = grid.RoundUp(p.TileWidth, 64)
	}
	return p
}

// Prepare implements [engine.Layer].
func (l *local[A, Q]) Prepare(p *engine.Plan) error {
	l.prepare(p)
	err := l.Layer.Prepare(p)
	l.inPlace = l.InPlace
	if p.Slices == 0 {
		l.aim()
	}
	return err
}

func (l *deciding) prepare(p *engine.Plan) {
	l.workers = engine.Workers(l.workers, p.Workers)
	for i := range l.workers { // also those that earlier images had more
		w := &l.workers[i]
		w.variance, w.darkest = math.SmallestNonzeroFloat64, math.Inf(1)
		if i >= p.Workers {
			continue
		}
		switch {
		case l.quads:
			if w.quads == nil {
				w.quads = new(kernel.Quads)
			}
			w.decider, w.y = &w.quads.Decider, -1
		case l.columns && w.decider == nil:
			w.decider = new(kernel.Decider)
		}
		if l.task.dst.form == asBits || l.past {
			w.row = engine.AtLeast(w.row, p.TileWidth)
		}
		if !l.columns {
			w.pix = engine.AtLeast(w.pix, p.TileWidth)
		}
	}
}

// aim tells the deciders of the formula, once it is known.
func (l *deciding) aim() {
	for i := range l.workers {
		if d := l.workers[i].decider; l.columns && d != nil {
			aim(d, &l.task, &l.bands.Frame)
		}
	}
}

func aim(d *kernel.Decider, t *task, f *window.Frame) {
	d.Aim(t.set.Level, &t.formula, f.Span(), t.height(), min(f.Up, f.Down, f.Height-1)+1)
}

// Slice implements [engine.Slicer].
func (l *deciding) Slice(z int) {
	if l.look = z == 0; l.look {
		l.bands.InPlace = false
		l.aim()
		return
	}
	l.bands.InPlace = l.inPlace
	f := &l.task.formula
	f.Darkest, f.Spread = math.Inf(1), smallestNormal
	for i := range l.workers {
		f.Darkest = min(f.Darkest, l.workers[i].darkest)
		f.Spread = max(f.Spread, l.workers[i].variance)
	}
	f.Spread = math.Sqrt(f.Spread)
	l.aim()
}

// smallestNormal is the variance of images that have none.
const smallestNormal = 0x1p-1022

// Release implements [engine.Layer].
func (l *local[A, Q]) Release() int { return l.Layer.Release() + l.release() }

func (l *deciding) release() (bytes int) {
	l.task = task{}
	for i := range l.workers {
		if d := l.workers[i].decider; d != nil {
			d.Forget()
			bytes += d.Bytes()
		}
		bytes += engine.Bytes(l.workers[i].row) + engine.Bytes(l.workers[i].pix)
	}
	return bytes
}

// Tile implements [engine.Layer].
func (l *local[A, Q]) Tile(worker, x, y, n, rows int) {
	if w := &l.workers[worker]; l.look || !l.quads || !w.decider.Fast() {
		l.Layer.Tile(worker, x, y, n, rows)
	} else {
		l.tile(w, x, y, n, rows)
	}
}

// tile is for deciders that slide columns.
func (l *deciding) tile(w *localWorker, x, y, n, rows int) {
	t := &l.task
	f := &l.bands.Frame
	row := func(of window.Rows, y int) []uint8 {
		if y < 0 || y >= f.Height {
			return nil
		}
		return of.Row(y)
	}
	of, own := l.bands.RowsOf(y)
	if w.x != x || w.y != y { // else it goes on
		w.quads.Strip(x, n, min(f.Left, f.Width), f.Width) // as Span has it
		for i := max(0, y-f.Up); i < min(y+f.Down, f.Height); i++ {
			w.quads.Slide(row(of, i), nil, row(of, i+1), nil)
		}
		if y > f.Up {
			w.quads.Slide(row(of, y-f.Up-1), nil, nil, nil) // it leaves with the first row
		}
	}
	w.x, w.y = x, y+rows
	for end := y + rows; y < end; y++ {
		out := w.row
		if t.dst.form == asBytes && !l.past {
			out = t.dst.Row(x, y, n)
		}
		var ahead []uint8
		if y+1 < end { // the rows of a band end here
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
			kernel.StreamCopy(t.dst.Row(x, y, n), out[:n])
		case t.dst.form == asBits:
			kernel.PackBits(t.set.Level, t.dst.Row(x/8, y, engine.DivUp(n, 8)), out[:n])
		}
	}
	if l.past {
		kernel.StoreFence()
	}
}

// Row implements [window.Sink].
func (l *local[A, Q]) Row(worker, x, y, n int, pix []byte, s *window.Sums[A, Q]) {
	w, t := &l.workers[worker], &l.task
	if l.columns {
		r, cols, squares := columnsOf(s)
		w.decider.Counts(x, r.Across, r.Down, r.Area, n)
		l.fromColumns(w, x, y, pix, cols, squares)
		return
	}
	r := s.Windows()
	window.Floats(w.pix, pix, t.src.Of)
	for i, j := 0, 0; i < n; i = j {
		j = r.Same(i)
		some := stretchOf(r, w.pix, i, j)
		switch {
		case l.look:
			some.look(w)
		case t.dst.form == asBits:
			decide(&t.formula, w.row[i:j], &some)
		case t.dst.form == asBytes:
			decide(&t.formula, t.dst.Row(x+i, y, j-i), &some)
		case t.dst.form == asSingles:
			draw(&t.formula, kernel.Of[float32](t.dst.Row(x+i, y, j-i)), &some)
		default:
			draw(&t.formula, kernel.Of[float64](t.dst.Row(x+i, y, j-i)), &some)
		}
	}
	if !l.look && t.dst.form == asBits {
		kernel.PackBits(l.task.set.Level, t.dst.Row(x/8, y, engine.DivUp(n, 8)), w.row[:n])
	}
}

// columnsOf is the sums of columns, which are known to be of 32 bits.
func columnsOf[A, Q kernel.Number](s *window.Sums[A, Q]) (r *window.Row[A, Q], cols, squares []uint32) {
	first, _ := s.Columns(1)
	if s.Squared() {
		squares = slice[uint32](s.SquareColumns(1))
	}
	return s.Row(), slice[uint32](first), squares
}

// fromColumns makes a row of bytes.
func (l *deciding) fromColumns(w *localWorker, x, y int, pix []uint8, cols, squares []uint32) {
	n, dst := len(pix), &l.task.dst
	switch {
	case l.look:
		darkest := uint8(min(w.darkest, 255))
		w.variance, darkest = w.decider.Look(w.variance, darkest, pix, cols, squares)
		w.darkest = float64(darkest)
	case dst.form == asBits:
		w.decider.Row(w.row[:n], pix, cols, squares)
		kernel.PackBits(l.task.set.Level, dst.Row(x/8, y, engine.DivUp(n, 8)), w.row[:n])
	case dst.form == asBytes:
		w.decider.Row(dst.Row(x, y, n), pix, cols, squares)
	case dst.form == asSingles:
		kernel.Thresholds(w.decider, kernel.Of[float32](dst.Row(x, y, n)), pix, cols, squares)
	default:
		kernel.Thresholds(w.decider, kernel.Of[float64](dst.Row(x, y, n)), pix, cols, squares)
	}
}

// slice is a slice whose elements are known to be of type T.
func slice[T, F any](s []F) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

// A stretch is pixels of a row whose windows have as many pixels.
type stretch[A, Q kernel.Number] struct {
	pix      []float64
	hi, lo   []A
	hi2, lo2 []Q
	count    int64
	inverse  float64 // of the count
	offset   float64 // of floats
}

// stretchOf is pixels [i, j) of a row.
func stretchOf[A, Q kernel.Number](r *window.Row[A, Q], pix []float64, i, j int) stretch[A, Q] {
	some := stretch[A, Q]{pix: pix[i:j], hi: r.Hi[i:j], lo: r.Lo[i:j], inverse: 1 / float64(r.Count(i)), count: r.Count(i), offset: r.Offset}
	if r.HiSquares != nil {
		some.hi2, some.lo2 = r.HiSquares[i:j], r.LoSquares[i:j]
	}
	return some
}

// squareRounding is what the rounding of floats may leave of a prefix of squares where the
// pixels of a window are equal.
const squareRounding = 0x1p-49

// stats are the mean and the variance of a window.
func (s *stretch[A, Q]) stats(i int) (mean, variance float64) {
	sum := float64(s.hi[i] - s.lo[i])
	mean = float64(sum * s.inverse)
	if s.hi2 != nil {
		variance = float64(float64(s.hi2[i]-s.lo2[i])*s.inverse) - float64(mean*mean)
		if A(1)/2 != 0 && variance < float64(s.hi2[i])*squareRounding*s.inverse {
			variance = 0 // a NaN stays
		}
	}
	return mean + s.offset, variance
}

// look is for the greatest variance and the least pixel.
func (s *stretch[A, Q]) look(w *localWorker) {
	for i, p := range s.pix {
		_, variance := s.stats(i)
		if variance > w.variance {
			w.variance = variance
		}
		if p < w.darkest {
			w.darkest = p
		}
	}
}

// rounded is the mean of integers, rounded to nearest, ties up.
func (s *stretch[A, Q]) rounded(i int) float64 {
	return float64((uint64(s.hi[i]-s.lo[i]) + uint64(s.count)/2) / uint64(s.count))
}

// at is the threshold of a pixel.
func at[A, Q kernel.Number](f *kernel.Formula, s *stretch[A, Q], i int, floor bool) float64 {
	mean, variance := s.stats(i)
	if floor && variance < 0 {
		variance = 0
	}
	if f.Kind == kernel.MeanCFormula && f.Whole {
		mean = s.rounded(i)
	}
	return f.At(s.pix[i], mean, variance)
}

// decide makes 0 of pixels that are no more than their threshold, and 255 of others. Where
// the rounding of bytes makes a variance less than zero there is no threshold, and pixels
// are white, as Doxa has them.
func decide[A, Q kernel.Number](f *kernel.Formula, dst []uint8, s *stretch[A, Q]) {
	for i, p := range s.pix {
		var v uint8 = 255
		if p <= at(f, s, i, !f.Bytes) {
			v = 0
		}
		dst[i] = v
	}
}

// draw makes a row of the map.
func draw[A, Q kernel.Number, D filter.Float](f *kernel.Formula, dst []D, s *stretch[A, Q]) {
	for i := range s.pix {
		dst[i] = D(at(f, s, i, true))
	}
}
