package transforms

import (
	"math"

	"github.com/boxsum/boxsum/internal/raster"
)

// A Window holds a template and the pixels of an image below it.
type Window struct {
	Pixels, Template        []byte // starting at the first pixel
	Stride, TemplateStride  int    // elements from one row to the next
	Width, Height, Channels int    // of the template

	// Mask is zero for pixels to ignore; a nil Mask includes all.
	Mask       []byte
	MaskStride int

	Centered bool // subtract the means (zncc)
	Squared  bool // sum squared differences (ssd)
}

// counts reports whether the mask includes a pixel.
func (w *Window) counts(x, y int) bool { return w.Mask == nil || w.Mask[y*w.MaskStride+x] != 0 }

// windowKernel holds the loops over windows of one pixel type.
type windowKernel struct {
	score  func(w Window) float64
	energy func(w Window) float64
}

// windowKernels holds the loops by pixel type.
var windowKernels = [raster.NumTypes]windowKernel{
	raster.U8:  {score[uint8], energy[uint8]},
	raster.U16: {score[uint16], energy[uint16]},
	raster.F32: {score[float32], energy[float32]},
	raster.F64: {score[float64], energy[float64]},
}

// Score returns the score of a window by its definition, in two passes. It is used where transforms
// and running sums are not accurate enough. It is 0 for a flat window, and NaN if one of the
// included pixels is not finite.
func (w Window) Score(pixel raster.Type) float64 { return windowKernels[pixel].score(w) }

// Energy returns the sum of the squares of the pixels of a window or, if w.Centered, of their
// distances from the mean, in two passes.
func (w Window) Energy(pixel raster.Type) float64 { return windowKernels[pixel].energy(w) }

func score[P raster.Number](w Window) float64 {
	src, template := raster.Elems[P](w.Pixels), raster.Elems[P](w.Template)
	c, count := w.Channels, 0
	for j := range w.Height {
		for i := range w.Width {
			if w.counts(i, j) {
				count++
			}
		}
	}
	var both, squares, squaresT float64
	for ch := range c {
		var first, firstT, sum, sumT, mean, meanT float64
		started, flat := false, true
		for pass := range 2 {
			for j := range w.Height {
				row, rowT := src[j*w.Stride:], template[j*w.TemplateStride:]
				for i := range w.Width {
					if !w.counts(i, j) {
						continue
					}
					p, q := float64(row[i*c+ch]), float64(rowT[i*c+ch])
					switch {
					case pass == 1:
						p, q = p-mean, q-meanT
						if w.Squared {
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
			if mean, meanT = first+sum/float64(count), firstT+sumT/float64(count); !w.Centered {
				mean, meanT = 0, 0
			} else if flat {
				mean = first // independent of rounding
			}
		}
	}
	switch {
	case w.Squared:
		return squares
	case squares == 0:
		return 0
	case squares-squares != 0:
		return math.NaN()
	}
	return float64(float32(math.Max(-1, math.Min(1, both/math.Sqrt(squares)/math.Sqrt(squaresT)))))
}

func energy[P raster.Number](w Window) (energy float64) {
	pix := raster.Elems[P](w.Pixels)
	c := w.Channels
	for ch := range c {
		first := float64(pix[ch])
		sum, count, flat := 0.0, 0, true
		mean := 0.0
		for pass := range 2 {
			if pass == 1 {
				if mean = first + sum/float64(count); !w.Centered {
					mean = 0
				} else if flat {
					break
				}
			}
			for j := range w.Height {
				row := pix[j*w.Stride:]
				for i := range w.Width {
					if !w.counts(i, j) {
						continue
					}
					p := float64(row[i*c+ch])
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
