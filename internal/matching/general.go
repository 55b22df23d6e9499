package matching

import (
	"math"

	"github.com/boxsum/boxsum/internal/fourier"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
)

// doubleLanes is the number of float64 values in a line.
const doubleLanes = raster.LineBytes / 8

// sure is the ratio of a number to its rounding error that makes it accurate to 1e-6.
const sure = 1e6

// A general computes SSD, and all scores with a mask, of two blocks in float64. Window sums
// are correlations with the mask.
type general struct {
	*blockLayer
	*precision[float64]
	blocks [2]int
	in     [2 * maxChannels]*fourier.Block[float64] // pixels, then their squares
	size   float64                                  // of a typical pixel
	size2  float64                                  // of a typical pixel's square
	bad    bool                                     // some pixels are not finite
}

func (l *blockLayer) general(w *precision[float64], blocks [2]int) {
	g := general{blockLayer: l, precision: w, blocks: blocks}
	c := l.job.Src.Channels
	for ch := range c {
		g.in[ch], g.in[c+ch] = &w.pixels[ch], &w.squared[ch]
		centers := [2]float64{l.center[ch], l.center[ch]}
		switch l.job.Method {
		case NCC:
			centers = [2]float64{}
		case ZNCC:
			centers = [2]float64{l.centerOf(blocks[0], ch), l.centerOf(blocks[1], ch)}
		}
		g.size += fill(l, w, g.in[ch], blocks, ch, centers)
		for i, v := range g.in[ch].Lines {
			v *= v
			g.in[c+ch].Lines[i] = v
			g.size2 += float64(v * v)
		}
		g.bad = g.bad || !l.job.whole() && l.notFinite(w.values[:], blocks, ch)
	}
	points := float64(l.nx) * float64(l.ny)
	g.size, g.size2 = math.Sqrt(g.size/points), math.Sqrt(g.size2/points)
	for _, b := range g.in[:2*c] {
		for x := 0; x < l.nx; x += doubleLanes {
			b.Columns(l.job.set.Level, x)
		}
	}
	if l.job.Method == SSD {
		g.differences()
	} else {
		g.correlations()
	}
	if g.bad {
		g.leaveOut()
	}
}

// convolve computes one result from several blocks, each with its own spectrum.
func (g *general) convolve(to int, in []*fourier.Block[float64], spectra ...*fourier.Spectrum[float64]) []float64 {
	b, level := &g.results[to], g.job.set.Level
	g.conv.Convolve(level, b, in, spectra)
	for x := 0; x < g.width; x += doubleLanes {
		b.InverseColumns(level, x)
	}
	return b.Lines
}

// each calls visit for all scores of the blocks, a few at a time, with the position of the
// first and its index in the lines of a result.
func (g *general) each(visit func(scores []float32, x, y, at int)) {
	for i, block := range g.blocks {
		if block >= g.blockLayer.blocks {
			continue
		}
		x0, y0 := g.place(block)
		for row := 0; ; row++ {
			scores := g.scores(block, row)
			if scores == nil {
				break
			}
			for x := 0; x < len(scores); x += doubleLanes {
				visit(scores[x:min(x+doubleLanes, len(scores))], x0+x, y0+row, (2*(x/doubleLanes*g.ny+row)+i)*doubleLanes)
			}
		}
	}
}

// rounding returns the largest error of a sum of pixels of a typical size, for a spectrum
// with the given peak.
func (l *blockLayer) rounding(size, peak, epsilon float64) float64 {
	return roundings * epsilon * (log2(l.nx) + log2(l.ny)) * size * peak
}

// rounded rounds v to an integer if pixels are integers and the noise is small enough.
func (t *Job) rounded(v, noise float64) float64 {
	if t.whole() && noise < 0.25 {
		return math.Round(v)
	}
	return v
}

// differences computes SSD as ΣI² - 2ΣIT + ΣT².
func (g *general) differences() {
	t, c := &g.job, g.job.Src.Channels
	var spectra [2 * maxChannels]*fourier.Spectrum[float64]
	for ch := range c {
		spectra[ch], spectra[c+ch] = &g.double[ch], &g.ones
	}
	noise := g.rounding(g.size, g.peak, epsilon64) + g.rounding(g.size2, float64(g.count), epsilon64)
	exact := t.whole() && noise < 0.25
	lines := g.convolve(0, g.in[:2*c], spectra[:2*c]...)
	g.each(func(scores []float32, x, y, at int) {
		for i, v := range lines[at:][:len(scores)] {
			v = t.rounded(v+g.squares, noise)
			if !exact && v <= sure*noise {
				v = t.exactly(x+i, y)
			}
			scores[i] = float32(v)
		}
	})
}

// correlations computes NCC and ZNCC with a mask.
func (g *general) correlations() {
	t, c := &g.job, g.job.Src.Channels
	var spectra [maxChannels]*fourier.Spectrum[float64]
	for ch := range c {
		spectra[ch] = &g.ones
	}
	n := float64(g.count)
	noise := g.rounding(g.size2, n, epsilon64)
	most := t.Src.Type.Max()
	exact := t.whole() && noise < 0.25 && n*n*most*most < 1<<53
	lines := g.convolve(0, g.in[c:2*c], spectra[:c]...)
	for i, v := range lines {
		lines[i] = n * t.rounded(v, noise)
	}
	for ch := 0; ch < c && t.Method == ZNCC; ch++ {
		noise := g.rounding(g.size, n, epsilon64)
		for i, v := range g.convolve(1, g.in[ch:ch+1], &g.ones) {
			v = t.rounded(v, noise)
			lines[i] -= float64(v * v)
		}
	}
	for ch := range c {
		spectra[ch] = &g.double[ch]
	}
	numerators := g.convolve(2, g.in[:c], spectra[:c]...)
	bound := g.rounding(g.size, g.peak, epsilon64)
	g.each(func(scores []float32, x, y, at int) {
		energies, numerators := lines[at:][:len(scores)], numerators[at:][:len(scores)]
		for i, v := range energies {
			f := math.Sqrt(n / v)
			switch {
			case exact && v == 0:
				scores[i] = 0
			case !exact && v <= sure*noise*n, bound*f > tolerance, !finite(f):
				scores[i] = float32(t.exactly(x+i, y))
			default:
				scores[i] = clamped(numerators[i] * f)
			}
		}
	})
}

// leaveOut sets the scores of windows to NaN if they have pixels in the mask that are not
// finite.
func (g *general) leaveOut() {
	t, c, b := &g.job, g.job.Src.Channels, g.in[0]
	clear(b.Lines)
	for part, block := range g.blocks {
		if block >= g.blockLayer.blocks {
			continue
		}
		x0, y0 := g.place(block)
		for y := range min(g.ny, t.Src.Height-y0) {
			row := (y0+y)*t.Src.Stride + x0*c
			for x := range min(g.nx, t.Src.Width-x0) {
				for i := range c {
					if !finite(windows.At(t.Src.Type, t.Src.Data, row+x*c+i)) {
						b.Lines[(2*(x/doubleLanes*g.ny+y)+part)*doubleLanes+x%doubleLanes] = 1
					}
				}
			}
		}
	}
	for x := 0; x < g.nx; x += doubleLanes {
		b.Columns(t.set.Level, x)
	}
	counts := g.convolve(1, g.in[:1], &g.ones)
	g.each(func(scores []float32, _, _, at int) {
		for i, v := range counts[at:][:len(scores)] {
			if v > 0.5 {
				scores[i] = float32(math.NaN())
			}
		}
	})
}

// notFinite reports whether the blocks contain pixels that are not finite.
func (l *blockLayer) notFinite(pixels []float64, blocks [2]int, ch int) bool {
	src := &l.job.Src
	for _, block := range blocks {
		if block >= l.blocks {
			continue
		}
		x0, y0 := l.place(block)
		for y := y0; y < min(y0+l.ny, src.Height); y++ {
			end := min(x0+l.nx, src.Width)
			for x := x0; x < end; x += len(pixels) {
				part := pixels[:min(len(pixels), end-x)]
				windows.FloatsOf(src.Type, part, src.From(y*src.Stride+x*src.Channels+ch), src.Channels)
				for _, v := range part {
					if !finite(v) {
						return true
					}
				}
			}
		}
	}
	return false
}
