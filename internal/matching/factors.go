package matching

import (
	"math"
	"math/bits"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/transforms"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// Scores are computed in two steps. The first stores in each score the factor for its
// numerator, computed from window sums. The second computes the numerators block by block;
// the factors tell it how accurate they must be, and need no memory of their own.
//
// The factor is 1/√Σ(I-mean)², or 1/√ΣI² for NCC, since templates are normalized. It is 0
// for a flat window, and NaN for one that contains a NaN.

// factorLayer computes the factors.
type factorLayer struct {
	window.Layer
	job  Job
	area int

	directly bool // computes scores instead of factors
	direct   direct
	workers  []factorWorker
}

type factorWorker struct {
	directWorker
	whole, wholeSquares   []uint64 // sums of a row
	floats, floatsSquares []float64
}

// factors fills the scores with factors, using the sum types that fit the pixels and the
// window.
func factors(j *Job) error {
	if !j.whole() {
		return runFactors(j, raster.F64, raster.F64)
	}
	area := uint64(j.Template.Width) * uint64(j.Template.Height)
	most := uint64(j.Src.Type.Max())
	switch {
	case area < 1<<32/(most*most):
		return runFactors(j, raster.U32, raster.U32)
	case area < 1<<32/most:
		return runFactors(j, raster.U32, raster.U64)
	}
	return runFactors(j, raster.U64, raster.U64)
}

// factorRuns keeps the engines and scratch memory of the layer for later calls.
var factorRuns engine.Runs[factorLayer]

func runFactors(t *Job, sum, square raster.Type) error {
	run := factorRuns.Take()
	l := &run.Layer
	l.job, l.Src = *t, t.Src
	l.area = t.Template.Width * t.Template.Height
	l.Frame = window.Frame{Width: t.Src.Width, Height: t.Src.Height, Channels: t.Src.Channels, Pixel: t.Src.Type, Sum: sum, Square: square, Level: t.set.Level,
		Shape: window.Shape{Right: t.Template.Width - 1, Down: t.Template.Height - 1, Border: window.Clip}}
	if t.Method == ZNCC && !t.whole() {
		l.Frame.Offset = centerOf(&t.Src)
	}
	p := l.Plan(&t.set, 4)
	p.Rows, p.N = t.height, t.width
	p.BandRows, p.TileWidth = min(p.BandRows, p.Rows), min(p.TileWidth, p.N)
	l.workers = engine.Workers(l.workers, p.Workers)
	if l.directly = t.goesDirectly(); !l.directly {
		n := p.TileWidth * t.Src.Channels
		for i := range l.workers[:p.Workers] {
			l.workers[i].resize(n, sum)
		}
		set := t.set.Quiet()
		return run.Fill(&set, &p, l)
	}
	l.direct.set(t.set.Level, &t.Template)
	for i := range l.workers[:p.Workers] {
		l.workers[i].directWorker.resize(&l.direct, p.TileWidth)
	}
	return run.Fill(&t.set, &p, l)
}

// resize allocates n sums of the given type.
func (w *factorWorker) resize(n int, sum raster.Type) {
	if sum.Float() {
		w.floats, w.floatsSquares = engine.AtLeast(w.floats, n), engine.AtLeast(w.floatsSquares, n)
	} else {
		w.whole, w.wholeSquares = engine.AtLeast(w.whole, n), engine.AtLeast(w.wholeSquares, n)
	}
}

// centerOf returns the offset to subtract from float pixels.
func centerOf(src *raster.Array) float64 {
	values := engine.NoValues()
	for at := range engine.Samples(&src.Extent) {
		values.Add(windows.At(src.Type, src.Data, at))
	}
	return float64(values.Center())
}

// Release implements [engine.Layer].
func (l *factorLayer) Release() int {
	l.job = Job{}
	n := l.Layer.Release()
	for i := range l.workers {
		w := &l.workers[i]
		n += w.bytes() + engine.Bytes(w.whole) + engine.Bytes(w.wholeSquares) + engine.Bytes(w.floats) + engine.Bytes(w.floatsSquares)
	}
	return n
}

// Tile implements [engine.Layer].
func (l *factorLayer) Tile(worker, x, y, n, rows int) {
	s, src := l.Start(worker, x, y, n)
	for end := y + rows; y < end; y++ {
		s.Down(src, y)
		l.row(&l.workers[worker], x, y, n, s)
	}
}

// row computes the factors, or the scores, of n positions of row y.
func (l *factorLayer) row(w *factorWorker, x, y, n int, s *window.Sums) {
	t, c := &l.job, l.Frame.Channels
	r := s.Windows()
	dst := t.dst[y*t.stride+x:][:n]
	if l.directly {
		products := w.row(&l.direct, &t.Src, x, y, n)
		l.direct.scores(t.set.Level, t.Method, dst, products, words(r.Sums.Hi), words(r.Sums.Lo), words(r.Squares.Hi), words(r.Squares.Lo))
		return
	}
	sums, squares := r.Sums.Slice(0, n*c), r.Squares.Slice(0, n*c)
	if !t.whole() {
		sums.Floats(w.floats[:n*c])
		squares.Floats(w.floatsSquares[:n*c])
		l.floats(dst, w, raster.Elems[float64](squares.Hi), x, y)
		return
	}
	area := uint64(l.area)
	root := math.Sqrt(float64(l.area))
	if t.Method == NCC {
		root = 1
	}
	if c == 1 && float64(l.area)*t.Src.Type.Max()*t.Src.Type.Max() < 1<<31 { // S and Q are 32-bit sums
		area, mean := float64(l.area), 1.0
		if t.Method == NCC {
			area, mean = 1, 0
		}
		transforms.Factors(t.set.Level, dst, words(sums.Hi), words(sums.Lo), words(squares.Hi), words(squares.Lo), area, mean, float32(root))
		return
	}
	sums.Integers(w.whole[:n*c])
	squares.Integers(w.wholeSquares[:n*c])
	for i := range dst {
		var v wide
		for k := i * c; k < (i+1)*c; k++ {
			q := w.wholeSquares[k]
			if t.Method == NCC {
				v = v.plus(wide{0, q})
			} else {
				sum := w.whole[k]
				v = v.plus(product(q, area).minus(product(sum, sum)))
			}
		}
		dst[i] = factor(v.float(), root)
	}
}

// words returns sums as 32-bit values.
func words(sums []byte) []uint32 { return raster.Elems[uint32](sums) }

// factor returns root/√v, or 0 if v is 0.
func factor(v, root float64) float32 {
	if v == 0 {
		return 0
	}
	return float32(root / math.Sqrt(v))
}

// A wide is an unsigned 128-bit integer.
type wide struct{ hi, lo uint64 }

func product(a, b uint64) (p wide) {
	p.hi, p.lo = bits.Mul64(a, b)
	return p
}

func (a wide) plus(b wide) (s wide) {
	var carry uint64
	s.lo, carry = bits.Add64(a.lo, b.lo, 0)
	s.hi, _ = bits.Add64(a.hi, b.hi, carry)
	return s
}

func (a wide) minus(b wide) (s wide) {
	var borrow uint64
	s.lo, borrow = bits.Sub64(a.lo, b.lo, 0)
	s.hi, _ = bits.Sub64(a.hi, b.hi, borrow)
	return s
}

func (a wide) float() float64 { return float64(float64(a.hi)*0x1p64) + float64(a.lo) }

// surePart is the fraction of a prefix above which rounding changes an energy by less than
// 1e-6.
const surePart = 0x1p-30

// floats computes the factors of float windows. Where rounding may exceed a small part of a
// window's energy, it sums the window's pixels directly.
func (l *factorLayer) floats(dst []float32, w *factorWorker, prefix []float64, x, y int) {
	t, c, inverse := &l.job, l.Frame.Channels, 1/float64(l.area)
	for i := range dst {
		v, most := 0.0, 0.0
		for k := i * c; k < (i+1)*c; k++ {
			q, sum := w.floatsSquares[k], w.floats[k]
			if t.Method == ZNCC {
				q -= float64(float64(sum*sum) * inverse)
			}
			v += q
			most += math.Abs(prefix[k])
		}
		if v <= most*surePart {
			v = t.energy(x+i, y)
		}
		f := factor(v, 1)
		if !finite(v) || !finite(float64(f)) {
			f = float32(math.NaN())
		}
		dst[i] = f
	}
}
