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
	// which is too coarse. TestGaussianSciPy measures both.
	boxSigma = 2
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

// weighted is the layer for Gaussians with weights, first along the rows and then down the
// columns.
type weighted struct {
	engine.Base
	job          Job
	image        window.Image
	copied       []byte
	sigmaX       float64 // for which the weights were computed
	sigmaY       float64
	across, down windows.Weights
	columns      []int     // image columns used to the left and right of the image; -1 for outside
	inside       []float64 // clipped windows: 1 over the sum of weights in the image, by element of a row
	real         raster.Type
	workers      []weightedWorker
}

type weightedWorker struct {
	padded []byte // a row of pixels as floats, padded
	ring   []byte // horizontally filtered rows
	first  int    // position of the oldest
	end    int    // position of the next
	sums   []byte
	rows   []*byte
	_      [raster.LineBytes]byte
}

// isNarrow reports whether a Gaussian with this standard deviation uses weights.
func (j *Job) isNarrow(sigma float64) bool { return j.boxes == 0 && sigma > 0 && sigma < boxSigma }

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
	return run.Fill(j.set, window.ChainPlan(&j.set, &f, 4, reach, 1), l)
}

// Prepare implements [engine.Layer].
func (l *weighted) Prepare(p *engine.Plan) error {
	j, r := &l.job, l.across.Radius()
	if j.same {
		l.copied = window.CopyTo(l.copied, &l.image.Src)
	}
	w, c, size := j.Src.Width, j.Src.Channels, l.real.Bytes()
	l.columns = engine.AtLeast(l.columns, 2*r)
	for i := range r {
		l.columns[i], l.columns[r+i] = j.shape.Border.Index(i-r, w), j.shape.Border.Index(w+i, w)
	}
	if j.shape.Border == window.Clip {
		l.inside = engine.AtLeast(l.inside, w*c)
		for i := range l.inside {
			l.inside[i] = inverseOf(&l.across, i/c, w)
		}
	}
	l.workers = engine.Workers(l.workers, p.Workers)
	for i := range l.workers[:p.Workers] {
		k := &l.workers[i]
		k.padded = engine.AtLeast(k.padded, ((w+2*r)*c+windows.WeighUnit)*size)
		k.ring = engine.AtLeast(k.ring, l.rowBytes()*(2*l.down.Radius()+1))
		k.sums = engine.AtLeast(k.sums, l.rowBytes())
		k.rows = engine.AtLeast(k.rows, 2*max(r, l.down.Radius())+1)
		k.first, k.end = 0, 0
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

// rowBytes returns the size of a row of floats, with room for whole vectors.
func (l *weighted) rowBytes() int {
	return raster.RoundUp(l.job.Src.Width*l.job.Src.Channels, windows.WeighUnit) * l.real.Bytes()
}

// Tile implements [engine.Layer]: whole rows.
func (l *weighted) Tile(worker, _, y, n, rows int) {
	j, w, r := &l.job, &l.workers[worker], l.down.Radius()
	count := n * j.Src.Channels
	if w.end != y+r || w.first != w.end-(2*r+1) { // otherwise it continues the band above
		w.first, w.end = y-r, y-r
	}
	for end := y + rows; y < end; y++ {
		for ; w.end <= y+r; w.end++ {
			l.makeAcross(w, l.ringRow(w, w.end), w.end)
		}
		w.first = w.end - (2*r + 1)
		taps := w.rows[:2*r+1]
		taps[0] = raster.First(l.ringRow(w, y))
		for k := 1; k <= r; k++ {
			taps[2*k-1], taps[2*k] = raster.First(l.ringRow(w, y-k)), raster.First(l.ringRow(w, y+k))
		}
		l.down.Add(j.set.Level, l.real, w.sums, taps, count)
		if j.shape.Border == window.Clip {
			windows.Scale(l.real, w.sums, l.inside, inverseOf(&l.down, y, j.Src.Height))
		}
		windows.StoreReals(j.set.Level, j.Src.Type, j.Dst.Span(0, y, n), w.sums)
	}
	clear(w.rows)
}

// ringRow returns the memory of the row at a position.
func (l *weighted) ringRow(w *weightedWorker, place int) []byte {
	size, n := 2*l.down.Radius()+1, l.rowBytes()
	return w.ring[((place%size)+size)%size*n:][:n]
}

// makeAcross computes the row at a position, which may be outside the image.
func (l *weighted) makeAcross(w *weightedWorker, to []byte, place int) {
	j, r := &l.job, l.across.Radius()
	size := l.real.Bytes()
	c, value := j.Src.Channels, 0.0
	if j.shape.Border == window.Constant {
		value = j.shape.Value
	}
	y := j.shape.Border.Index(place, j.Src.Height)
	if y < 0 {
		windows.Fill(l.real, to, value)
		return
	}
	pixel, width := c*size, j.Src.Width
	image := w.padded[r*pixel:][:width*pixel]
	windows.Reals(j.set.Level, j.Src.Type, image, l.image.Src.Span(0, y, width))
	for i, x := range l.columns {
		at := i * pixel
		if i >= r {
			at += width * pixel
		}
		if beside := w.padded[at:][:pixel]; x >= 0 {
			copy(beside, image[x*pixel:])
		} else {
			windows.Fill(l.real, beside, value)
		}
	}
	taps := w.rows[:2*r+1]
	taps[0] = raster.First(w.padded[r*pixel:])
	for k := 1; k <= r; k++ {
		taps[2*k-1], taps[2*k] = raster.First(w.padded[(r-k)*pixel:]), raster.First(w.padded[(r+k)*pixel:])
	}
	l.across.Add(j.set.Level, l.real, to, taps, width*c)
}

// Release implements [engine.Layer].
func (l *weighted) Release() int {
	l.job, l.image.Src = Job{}, raster.Array{}
	bytes := engine.Bytes(l.copied) + engine.Bytes(l.columns) + engine.Bytes(l.inside)
	for i := range l.workers {
		w := &l.workers[i]
		bytes += engine.Bytes(w.padded) + engine.Bytes(w.ring) + engine.Bytes(w.sums) + engine.Bytes(w.rows)
	}
	return bytes
}
