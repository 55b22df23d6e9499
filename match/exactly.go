package match

import "math"

// exactly is a score by its definition, for places where transforms and running sums are
// not exact enough. It is NaN where the window has pixels that count and are not finite.
func (t *task[P]) exactly(x, y int) float64 {
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
				row, rowT := t.src.Pix[(y+j)*t.src.Stride:], t.template.Pix[j*t.template.Stride:]
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
