package match

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/pairs"
	"github.com/boxsum/boxsum/internal/window"
)

// Scores are made in two steps: first every score is the factor by which the numerator is to
// be multiplied, from the sums of its window. So the second step, which makes numerators
// block by block, knows how exact they have to be, and needs no memory for factors.
//
// The factor is 1/√Σ(I-mean)², or 1/√ΣI² for NCC: templates have a norm of 1. It is 0 for a
// flat window, and NaN for one with a NaN.

// factorLayer makes the factors.
type factorLayer[A, Q kernel.Number] struct {
	window.Layer[A, Q]
	task task
	area int

	directly bool // scores, and not factors
	direct   direct
	each     []directWorker
}

// factors fills the scores with factors, with sums that fit the pixels and the window.
func factors(t *task) error {
	if !t.whole() {
		return runFactors[float64, float64](t)
	}
	area := uint64(t.template.Width) * uint64(t.template.Height)
	most := uint64(largest(t.src.Of))
	switch {
	case area < 1<<32/(most*most):
		return runFactors[uint32, uint32](t)
	case area < 1<<32/most:
		return runFactors[uint32, uint64](t)
	}
	return runFactors[uint64, uint64](t)
}

func runFactors[A, Q kernel.Number](t *task) error {
	run := engine.Take[engine.Run[factorLayer[A, Q]]]()
	l := &run.Layer
	l.task, l.Src, l.Sink = *t, t.src, l
	l.area = t.template.Width * t.template.Height
	l.Frame = window.Frame{Width: t.src.Width, Height: t.src.Height, Channels: t.src.Channels, Pixel: t.src.Of, Squares: true, Level: t.set.Level,
		Shape: window.Shape{Right: t.template.Width - 1, Down: t.template.Height - 1, Border: window.Clip}}
	if t.method == ZNCC && !t.whole() {
		l.Frame.Offset = centerOf(&t.src)
	}
	p := l.Plan(&t.set, 4)
	p.Rows, p.N = t.height, t.width
	p.BandRows, p.TileWidth = min(p.BandRows, p.Rows), min(p.TileWidth, p.N)
	if l.directly = t.goesDirectly(); !l.directly {
		return run.Fill(t.set.Quiet(), p, l)
	}
	l.direct.set(t.set.Level, &t.template)
	l.each = engine.Workers(l.each, p.Workers)
	for i := range l.each[:p.Workers] {
		l.each[i].resize(&l.direct, p.TileWidth)
	}
	return run.Fill(t.set, p, l)
}

// centerOf is what is taken away from floats.
func centerOf(src *window.Pixels) float64 {
	if src.Of == pairs.F32 {
		return float64(engine.Center(&engine.Source[float32]{Pix: kernel.Of[float32](src.Mem), Extent: src.Extent}))
	}
	return float64(engine.Center(&engine.Source[float64]{Pix: kernel.Of[float64](src.Mem), Extent: src.Extent}))
}

// Release implements [engine.Layer].
func (l *factorLayer[A, Q]) Release() int {
	l.task = task{}
	n := l.Layer.Release()
	for i := range l.each {
		n += l.each[i].bytes()
	}
	return n
}

// Row implements [window.Sink].
func (l *factorLayer[A, Q]) Row(worker, x, y, n int, _ []byte, s *window.Sums[A, Q]) {
	t, c := &l.task, l.Frame.Channels
	r := s.Windows()
	dst := t.dst[y*t.stride+x:][:n]
	if l.directly {
		products := l.each[worker].row(&l.direct, &t.src, x, y, n)
		l.direct.scores(t.set.Level, t.method, dst, products, words(r.Hi), words(r.Lo), words(r.HiSquares), words(r.LoSquares))
		return
	}
	if A(1)/2 != 0 {
		l.floats(dst, r, x, y)
		return
	}
	area := uint64(l.area)
	root := math.Sqrt(float64(l.area))
	if t.method == NCC {
		root = 1
	}
	if c == 1 && float64(l.area)*largest(t.src.Of)*largest(t.src.Of) < 1<<31 { // then S and Q are sums of 32 bits
		area, mean := float64(l.area), 1.0
		if t.method == NCC {
			area, mean = 1, 0
		}
		kernel.Factors(t.set.Level, dst, words(r.Hi), words(r.Lo), words(r.HiSquares), words(r.LoSquares), area, mean, float32(root))
		return
	}
	for i := range dst {
		var v wide
		for k := i * c; k < (i+1)*c; k++ {
			q := uint64(r.Squares(k))
			if t.method == NCC {
				v = v.plus(wide{0, q})
			} else {
				sum := uint64(r.Sum(k))
				v = v.plus(product(q, area).minus(product(sum, sum)))
			}
		}
		dst[i] = factor(v.float(), root)
	}
}

// words is sums that are known to be of 32 bits.
func words[A kernel.Number](s []A) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

// factor is root/√v, and 0 where v is.
func factor(v, root float64) float32 {
	if v == 0 {
		return 0
	}
	return float32(root / math.Sqrt(v))
}

// A wide is a whole number of 128 bits.
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

// surePart is the part of a prefix that rounding cannot take more of than 1e-6.
const surePart = 0x1p-30

// floats makes the factors of floats. Where rounding may be more than a little of a
// window's energy it is summed by itself.
func (l *factorLayer[A, Q]) floats(dst []float32, r *window.Row[A, Q], x, y int) {
	t, c, inverse := &l.task, l.Frame.Channels, 1/float64(l.area)
	for i := range dst {
		v, most := 0.0, 0.0
		for k := i * c; k < (i+1)*c; k++ {
			q, sum := float64(r.Squares(k)), float64(r.Sum(k))
			if t.method == ZNCC {
				q -= float64(float64(sum*sum) * inverse)
			}
			v += q
			most += math.Abs(float64(r.HiSquares[k]))
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

// energy is Σ(I-mean)² of a window of floats, or ΣI² for NCC, in two passes.
func (t *task) energy(x, y int) float64 {
	if t.src.Of == pairs.F32 {
		return energyOf(t, kernel.Of[float32](t.src.Mem), x, y)
	}
	return energyOf(t, kernel.Of[float64](t.src.Mem), x, y)
}

func energyOf[P float32 | float64](t *task, pix []P, x, y int) (energy float64) {
	c, w, h := t.src.Channels, t.template.Width, t.template.Height
	for ch := range c {
		first := float64(pix[y*t.src.Stride+x*c+ch])
		sum, count, flat := 0.0, 0, true
		mean := 0.0
		for pass := range 2 {
			if pass == 1 {
				if mean = first + sum/float64(count); t.method == NCC {
					mean = 0
				} else if flat {
					break
				}
			}
			for j := range h {
				row := pix[(y+j)*t.src.Stride:]
				for i := range w {
					if !t.counts(i, j) {
						continue
					}
					p := float64(row[(x+i)*c+ch])
					if pass == 0 {
						if count == 0 {
							first = p
						}
						d := p - first
						sum += d
						flat = flat && d == 0
						count++
					} else {
						d := p - mean
						energy += float64(d * d)
					}
				}
			}
		}
	}
	return energy
}
