package thresholds

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// rowStats computes the window statistics of a row, one part at a time.
type rowStats struct {
	pix []float64 // pixels of the row

	// Of the current part:
	first    int // its first pixel
	mean     []float64
	variance []float64
	whole    []uint64
}

// resize allocates room for rows of n pixels.
func (s *rowStats) resize(n int) {
	s.pix, s.mean = engine.AtLeast(s.pix, n), engine.AtLeast(s.mean, n)
	s.variance, s.whole = engine.AtLeast(s.variance, n), engine.AtLeast(s.whole, n)
}

func (s *rowStats) bytes() int {
	return engine.Bytes(s.pix) + engine.Bytes(s.mean) + engine.Bytes(s.variance) + engine.Bytes(s.whole)
}

// squareRounding bounds the rounding error of a float prefix of squares, relative to the
// prefix, for windows whose pixels are all equal.
const squareRounding = 0x1p-49

// find computes the means and variances that the formula needs for the windows of a part.
// offset is added to the means of float sums, which lack it.
func (s *rowStats) find(f *windows.Formula, p *window.Part, offset float64) {
	n, inverse := p.To-p.From, 1/float64(p.Count)
	s.first, s.mean, s.variance = p.From, s.mean[:n], s.variance[:n]
	p.Sums.Floats(s.mean)
	for i, sum := range s.mean {
		s.mean[i] = float64(sum * inverse)
	}
	clear(s.variance)
	if p.Squares.Hi != nil {
		p.Squares.Floats(s.variance)
		for i, sum := range s.variance {
			s.variance[i] = float64(sum*inverse) - float64(s.mean[i]*s.mean[i])
		}
	}
	switch {
	case p.Sums.Type.Float():
		if p.Squares.Hi != nil {
			for i, prefix := range raster.Elems[float64](p.Squares.Hi) {
				if s.variance[i] < float64(prefix)*squareRounding*inverse {
					s.variance[i] = 0 // keeps NaN
				}
			}
		}
		for i := range s.mean {
			s.mean[i] += offset
		}
	case f.Kind == windows.MeanCFormula: // rounded to nearest, ties up
		s.whole = s.whole[:n]
		p.Sums.Integers(s.whole)
		count := uint64(p.Count)
		for i, sum := range s.whole {
			s.mean[i] = float64((sum + count/2) / count)
		}
	}
}

// threshold returns the threshold of pixel i of the part.
func (s *rowStats) threshold(f *windows.Formula, i int, floor bool) float64 {
	variance := s.variance[i]
	if floor && variance < 0 {
		variance = 0
	}
	return f.At(s.pix[s.first+i], s.mean[i], variance)
}

// decide sets dst to 0 for pixels that do not exceed their threshold, and to 255 for
// others. If rounding makes the variance of bytes negative, there is no threshold and the
// pixel is white, as in Doxa.
func (s *rowStats) decide(f *windows.Formula, dst []uint8) {
	for i, p := range s.pix[s.first:][:len(dst)] {
		var v uint8 = 255
		if p <= s.threshold(f, i, !f.Bytes) {
			v = 0
		}
		dst[i] = v
	}
}

// draw replaces the means by thresholds.
func (s *rowStats) draw(f *windows.Formula) {
	for i := range s.mean {
		s.mean[i] = s.threshold(f, i, true)
	}
}

// updateExtremes updates the worker's greatest variance and darkest pixel.
func (w *localWorker) updateExtremes() {
	s := &w.stats
	for i, p := range s.pix[s.first:][:len(s.mean)] {
		if s.variance[i] > w.variance {
			w.variance = s.variance[i]
		}
		if p < w.darkest {
			w.darkest = p
		}
	}
}
