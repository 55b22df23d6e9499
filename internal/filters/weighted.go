package filters

import (
	"math"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

const (
	// boxSigma is the smallest standard deviation that boxes approximate unless Passes is
	// set. Narrower Gaussians use their own weights, because boxes have integer sizes,
	// which is too coarse. TestGaussianSciPy measures both. Pixels other than bytes have a
	// higher limit, below which weights are also about as fast as boxes, or faster.
	boxSigma, wordBoxSigma = 2, 6
	// truncated is the number of standard deviations that the weights cover, as in SciPy.
	truncated = 4
)

// weights returns the weights of a Gaussian, from the center outwards.
func weights(sigma float64) []float64 {
	all := make([]float64, 1+int(truncated*sigma+0.5))
	all[0] = 1
	sum := 1.0
	for k := 1; k < len(all); k++ {
		all[k] = math.Exp(-0.5 * float64(k*k) / (sigma * sigma))
		sum += 2 * all[k]
	}
	for k := range all {
		all[k] /= sum
	}
	return all
}

// weighted is the layer for Gaussians with weights, first along the rows and then down the columns. It
// computes some rows of a strip of columns at a time, which fit in the first-level cache.
type weighted struct {
	engine.Base
	job          Job
	image        window.Image
	copied       []byte
	sigmaX       float64 // for which the weights were computed
	sigmaY       float64
	across, down windows.Weights
	left, right  []int     // elements of a row that appear beside it, or -1
	inside       []float64 // clipped windows: 1 over the sum of weights in the image, by element of a row
	real         raster.Type
	strip        int // columns of a strip
	rows         int // rows computed at a time
	workers      []weightedWorker
}

type weightedWorker struct {
	beside []byte // pixels that appear beside the image
	padded []byte // rows of pixels as floats, with their neighbors
	across []byte // horizontally filtered rows
	sums   []byte // and vertically
	_      [raster.LineBytes]byte
}

const (
	// weightedStrip is the width of a strip in bytes of floats.
	weightedStrip = 2 << 10
	// weightedRows is the number of rows that are computed at a time.
	weightedRows = 16
)

// boxSigmaOf returns the smallest standard deviation that boxes approximate for pixels of a type.
func boxSigmaOf(pixel raster.Type) float64 {
	if pixel == raster.U8 {
		return boxSigma
	}
	return wordBoxSigma
}

// isNarrow reports whether a Gaussian with this standard deviation uses weights.
func (j *Job) isNarrow(sigma float64) bool {
	return j.boxes == 0 && sigma > 0 && sigma < boxSigmaOf(j.Src.Type)
}

// weightedRuns keeps the engines and scratch memory of the layer for later calls.
var weightedRuns engine.Runs[weighted]

// runWeighted computes a Gaussian along both axes, either of whose deviations may be zero.
func runWeighted(j *Job, sigmaX, sigmaY float64) error {
	run := weightedRuns.Take()
	l := &run.Layer
	l.job = *j
	l.image.Src, l.image.Border = j.Src, j.shape.Border
	l.real = windows.RealOf(j.Src.Type)
	if l.sigmaX != sigmaX || l.sigmaY != sigmaY {
		l.sigmaX, l.sigmaY = sigmaX, sigmaY
		l.across.Set(weights(sigmaX))
		l.down.Set(weights(sigmaY))
	}
	f := j.frame(raster.F64, 0)
	reach := 2*l.down.Radius() + 1
	p := window.ChainPlan(&j.set, &f, 4, reach, 1)
	return run.Fill(&j.set, &p, l)
}

// Prepare implements [engine.Layer].
func (l *weighted) Prepare(p *engine.Plan) error {
	j, r := &l.job, l.across.Radius()
	if j.same {
		l.copied = window.CopyTo(l.copied, &l.image.Src)
	}
	w, c, size := j.Src.Width, j.Src.Channels, l.real.Bytes()
	l.left = j.shape.Border.AppendColumns(l.left[:0], -r, 0, w, c)
	l.right = j.shape.Border.AppendColumns(l.right[:0], w, w+r, w, c)
	if j.shape.Border == window.Clip {
		l.inside = engine.AtLeast(l.inside, w*c)
		for i := range l.inside {
			l.inside[i] = inverseOf(&l.across, i/c, w)
		}
	}
	l.strip = min(w, max(windows.WeighUnit, weightedStrip/(c*size)))
	l.rows = min(j.Src.Height, max(weightedRows, weightedStrip*weightedRows/(l.strip*c*size)))
	rows := l.rows + 2*l.down.Radius()
	l.workers = engine.Workers(l.workers, p.Workers)
	for i := range l.workers[:p.Workers] {
		k := &l.workers[i]
		k.beside = engine.AtLeast(k.beside, rows*r*c*j.Src.Type.Bytes())
		k.padded = engine.AtLeast(k.padded, rows*l.paddedStride(l.strip))
		k.across = engine.AtLeast(k.across, rows*l.stride(l.strip))
		k.sums = engine.AtLeast(k.sums, l.rows*l.stride(l.strip))
	}
	return nil
}

// inverseOf returns 1 over the sum of the weights around pixel x that lie in an image of n
// pixels.
func inverseOf(w *windows.Weights, x, n int) float64 {
	if r := w.Radius(); x >= r && x < n-r {
		return 1
	}
	return 1 / w.Sum(x, n-1-x)
}

// stride returns the distance in bytes between rows of floats of some columns, with room for whole vectors.
func (l *weighted) stride(columns int) int {
	return raster.RoundUp(columns*l.job.Src.Channels, windows.WeighUnit) * l.real.Bytes()
}

// paddedStride is like stride for rows with their neighbors.
func (l *weighted) paddedStride(columns int) int {
	return l.stride(columns) + raster.RoundUp(2*l.across.Radius()*l.job.Src.Channels*l.real.Bytes(), raster.LineBytes)
}

// Tile implements [engine.Layer]: whole rows.
func (l *weighted) Tile(worker, _, y, n, rows int) {
	for x := 0; x < n; x += l.strip {
		l.computeStrip(&l.workers[worker], x, min(l.strip, n-x), y, rows)
	}
}

// computeStrip computes columns [x, x+n) of some rows.
func (l *weighted) computeStrip(w *weightedWorker, x, n, y, rows int) {
	j, c, r := &l.job, l.job.Src.Channels, l.down.Radius()
	stride := l.stride(n)
	sums, across := windows.Lines{Data: w.sums, Stride: stride}, windows.Lines{Data: w.across, Stride: stride}
	made := 0 // rows in w.across, of which the first is r above y
	for end := y + rows; y < end; {
		m := min(l.rows, end-y)
		l.makeAcross(w, across.From(made*stride), x, n, y-r+made, m+2*r-made)
		dst, whole := linesOf(&j.Dst, x, y), 0
		if j.shape.Border != window.Clip {
			whole = l.down.AddPixels(j.set.Level, j.Src.Type, dst, across, stride, n*c, m)
		}
		if rest := n*c - whole; rest > 0 {
			l.down.Add(j.set.Level, l.real, sums, across.From(whole*l.real.Bytes()), stride, rest, m)
			for i := 0; i < m && j.shape.Border == window.Clip; i++ {
				windows.Scale(l.real, w.sums[i*stride:], l.inside[x*c:][:rest], inverseOf(&l.down, y+i, j.Src.Height))
			}
			windows.StoreReals(j.set.Level, j.Src.Type, dst.From(whole*j.Src.Type.Bytes()), sums, rest, m)
		}
		y += m
		made = copy(w.across, w.across[m*stride:][:2*r*stride]) / stride
	}
}

// linesOf returns the rows of an image from y on, without the first x pixels of each.
func linesOf(a *raster.Array, x, y int) windows.Lines {
	return windows.Lines{Data: a.From(y*a.Stride + x*a.Channels), Stride: a.Stride * a.Type.Bytes()}
}

// makeAcross computes columns [x, x+n) of rows from a position on, which may be outside the image.
func (l *weighted) makeAcross(w *weightedWorker, to windows.Lines, x, n, place, rows int) {
	j, src := &l.job, &l.image.Src
	c, size, value := src.Channels, l.real.Bytes(), 0.0
	if j.shape.Border == window.Constant {
		value = j.shape.Value
	}
	padded := windows.Lines{Data: w.padded, Stride: l.paddedStride(n)}
	for k := 0; k < rows; {
		y, run := j.shape.Border.Index(place+k, src.Height), 1
		if y >= 0 {
			if y == place+k { // the following rows are those of the image
				run = min(rows-k, src.Height-y)
			}
			l.pad(w, padded.From(k*padded.Stride), x, n, y, run)
		}
		k += run
	}
	l.across.Add(j.set.Level, l.real, to, padded, c*size, n*c, rows)
	for k := range rows {
		if j.shape.Border.Index(place+k, src.Height) < 0 {
			windows.Fill(l.real, to.Data[k*to.Stride:][:n*c*size], value)
		}
	}
}

// pad converts columns [x, x+n) of some rows, and their neighbors, to floats.
func (l *weighted) pad(w *weightedWorker, to windows.Lines, x, n, y, rows int) {
	src, r := &l.image.Src, l.across.Radius()
	level, c, size := l.job.set.Level, src.Channels, l.real.Bytes()
	from, end := max(0, x-r), min(src.Width, x+n+r)
	windows.Reals(level, src.Type, to.From((from-x+r)*c*size), linesOf(src, from, y), (end-from)*c, rows)
	before, after := l.left[min(len(l.left), x*c):], l.right[:max(0, x+n+r-src.Width)*c]
	l.padSide(w, to, before, y, rows)
	l.padSide(w, to.From((end-x+r)*c*size), after, y, rows)
}

// padSide converts the given elements of some rows to floats.
func (l *weighted) padSide(w *weightedWorker, to windows.Lines, elems []int, y, rows int) {
	if len(elems) == 0 {
		return
	}
	src := &l.image.Src
	beside := windows.Lines{Data: w.beside, Stride: len(elems) * src.Type.Bytes()}
	windows.Gather(src.Type, beside, linesOf(src, 0, y), elems, l.job.shape.Value, rows)
	windows.Reals(l.job.set.Level, src.Type, to, beside, len(elems), rows)
}

// Release implements [engine.Layer].
func (l *weighted) Release() int {
	l.job, l.image.Src = Job{}, raster.Array{}
	bytes := engine.Bytes(l.copied) + engine.Bytes(l.left) + engine.Bytes(l.right) + engine.Bytes(l.inside)
	for i := range l.workers {
		w := &l.workers[i]
		bytes += engine.Bytes(w.beside) + engine.Bytes(w.padded) + engine.Bytes(w.across) + engine.Bytes(w.sums)
	}
	return bytes
}
