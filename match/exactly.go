package match

import (
	"math"

	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/pairs"
)

// exactly is a score by its definition, for places where transforms and running sums are
// not exact enough. It is NaN where the window has pixels that count and are not finite.
func (t *task) exactly(x, y int) float64 {
	switch src, template := t.src.Mem, t.template.Mem; t.src.Of {
	case pairs.U8:
		return exactlyOf(t, src, template, x, y)
	case pairs.U16:
		return exactlyOf(t, kernel.Of[uint16](src), kernel.Of[uint16](template), x, y)
	case pairs.F32:
		return exactlyOf(t, kernel.Of[float32](src), kernel.Of[float32](template), x, y)
	default:
		return exactlyOf(t, kernel.Of[float64](src), kernel.Of[float64](template), x, y)
	}
}

func exactlyOf[P Pixel](t *task, src, template []P, x, y int) float64 {
	c, w, h := t.src.Channels, t.template.Width, t.template.Height
	count := 0
	for j := range h {
		for i := range w {
			if t.counts(i, j) {
				count++
			}
		}
	}
	var both, squares, squaresT float64
	for ch := range c {
		var first, firstT, sum, sumT, mean, meanT float64
		started, flat := false, true
		for pass := range 2 {
			for j := range h {
				row, rowT := src[(y+j)*t.src.Stride:], template[j*t.template.Stride:]
				for i := range w {
					if !t.counts(i, j) {
						continue
					}
					p, q := float64(row[(x+i)*c+ch]), float64(rowT[i*c+ch])
					switch {
					case pass == 1:
						p, q = p-mean, q-meanT
						if t.method == SSD {
							p = p - q
						}
						both += float64(p * q)
						squares += float64(p * p)
						squaresT += float64(q * q)
						continue
					case !started:
						first, firstT, started = p, q, true
					}
					flat = flat && p == first
					sum, sumT = sum+(p-first), sumT+(q-firstT)
				}
			}
			if mean, meanT = first+sum/float64(count), firstT+sumT/float64(count); t.method != ZNCC {
				mean, meanT = 0, 0
			} else if flat {
				mean = first // no rounding makes it differ
			}
		}
	}
	switch {
	case t.method == SSD:
		return squares
	case squares == 0:
		return 0
	case !finite(squares):
		return math.NaN()
	}
	return float64(clamped(both / math.Sqrt(squares) / math.Sqrt(squaresT)))
}
