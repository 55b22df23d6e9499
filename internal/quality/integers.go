package quality

import (
	"math"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// integers is the layer for images of bytes or uint16 with windows that weigh all pixels alike. It sums the pixels of
// both images and their squares as package filter does, and the squares of the distances between the images,
// which give the products: 2xy = x² + y² − (x−y)². All sums are exact.
type integers struct {
	engine.Base
	job       *Job
	k         constants
	frame     window.Frame
	distances window.Frame
	images    [2]window.Image
	workers   []integersWorker
}

type integersWorker struct {
	layer   *integers
	sums    [3]window.Sums // of the first image, the second, and the distances
	ring    []byte         // rows of distances
	places  []int          // which rows they are
	beyond  []byte
	fields  [5]windows.Sums // sums of a row: x, y, x², y², (x−y)²
	values  [5][]uint64     // the same, where there is no assembly
	similar windows.Similarity
	scores  []float64
	results []float64 // contrasts
	_       [raster.LineBytes]byte
}

// maxArea is the greatest number of pixels of a window for which n²·(variance of x + variance of y) of 16-bit pixels
// fits in 63 bits.
const maxArea = 1 << 15

// integers reports whether the layer of this name computes the job.
func (j *Job) integers() bool {
	return !j.A.Type.Float() && !j.Solid && !j.counting && j.Sigma == 0 && j.Size*j.Size <= maxArea
}

// integersRuns keeps the engines and scratch memory of the layer for later calls.
var integersRuns engine.Runs[integers]

func runIntegers(j *Job) error {
	run := integersRuns.Take()
	l := &run.Layer
	l.job, l.k = j, j.constants()
	square := raster.U64
	if j.A.Type == raster.U8 { // maxArea squares of bytes fit in 32 bits
		square = raster.U32
	}
	l.frame = window.Frame{Width: j.A.Width, Height: j.A.Height, Channels: j.A.Channels, Pixel: j.A.Type, Sum: raster.U32, Square: square, Shape: j.shape(), Level: j.set.Level}
	l.distances = l.frame
	l.images[0].Src, l.images[1].Src = j.A, j.B
	p := window.ChainPlan(&j.set, &l.frame, 8, j.Size, j.unit())
	return run.Fill(&j.set, &p, l)
}

// Prepare implements [engine.Layer].
func (l *integers) Prepare(p *engine.Plan) error {
	for i := range l.images {
		l.images[i].Border = l.frame.Border
		l.images[i].Outside = window.OutsideRow(l.images[i].Outside, &l.frame)
	}
	n := l.frame.Width * l.frame.Channels
	l.workers = engine.Workers(l.workers, p.Workers)
	for i := range l.workers[:p.Workers] {
		w := &l.workers[i]
		w.layer = l
		rows := min(l.frame.Shape.Height(), 2*l.frame.Height) + 1
		w.ring, w.places = engine.AtLeast(w.ring, rows*n*l.frame.Pixel.Bytes()), engine.AtLeast(w.places, rows)
		for k := range w.values {
			w.values[k] = engine.AtLeast(w.values[k], n)
		}
		w.beyond = engine.Zeros(w.beyond, n*l.frame.Pixel.Bytes())
		w.scores, w.results = engine.AtLeast(w.scores, n), engine.AtLeast(w.results, n)
	}
	return nil
}

// Row implements [window.Rows] for the distances.
func (w *integersWorker) Row(place int) []byte {
	l := w.layer
	y := l.frame.Border.Index(place, l.frame.Height)
	if y < 0 {
		return w.beyond
	}
	j, n, size := l.job, len(w.beyond), len(w.places)
	slot := (place%size + size) % size
	row := w.ring[slot*n:][:n]
	if w.places[slot] != place {
		w.places[slot] = place
		windows.Distances(j.set.Level, j.A.Type, row, j.A.Span(0, y, j.A.Width), j.B.Span(0, y, j.B.Width))
	}
	return row
}

// Tile implements [engine.Layer], in pixels: a band at a time.
func (l *integers) Tile(worker, _, y, n, rows int) {
	w := &l.workers[worker]
	for i := range w.places {
		w.places[i] = math.MinInt
	}
	for i := range w.sums {
		f := &l.frame
		if i == 2 {
			f = &l.distances
		}
		w.sums[i].Aim(f)
		w.sums[i].Strip(0, n)
	}
	for end := y + rows; y < end; y++ {
		for i := range w.sums {
			var src window.Rows = w
			if i < 2 {
				src = &l.images[i]
			}
			w.sums[i].Down(src, y)
			r := w.sums[i].Windows()
			if i < 2 {
				w.fields[i] = r.Sums
			}
			w.fields[2+i] = r.Squares
		}
		w.finish(y)
	}
}

// finish computes the scores of row y from the sums of its windows.
func (w *integersWorker) finish(y int) {
	l := w.layer
	j := l.job
	n, from, s := uint64(j.Size)*uint64(j.Size), 0, &w.similar
	s.Level, s.Count = j.set.Level, n
	s.C1, s.C2, s.Factor = l.scaled(n)
	switch {
	case j.Kind == LNCC && !j.Signed:
		from = s.Correlate(w.scores, &w.fields, leastVariance)
	case j.Kind == SSIM && !j.contrasts:
		from = s.Compare(w.scores, &w.fields)
	}
	if from < len(w.scores) {
		for i := range w.fields {
			rest := w.fields[i].Slice(from, len(w.scores))
			rest.Integers(w.values[i][from:])
		}
		if j.Kind == LNCC {
			w.correlate(n, from)
		} else {
			w.compare(n, from)
		}
	}
	if m := &j.Map; m.Type != 0 {
		windows.Store(m.Type, m.Span(0, y, m.Width), w.scores)
	}
	j.tally.record(y, 0, w.scores, w.results, nil)
}

// scaled returns the constants of SSIM with numerators and denominators multiplied by n², the square of a number of pixels.
func (l *integers) scaled(n uint64) (c1, c2, factor float64) {
	square := float64(n) * float64(n)
	return float64(l.k.c1 * square), float64(l.k.c2 * square), l.k.factor
}

// compare computes SSIM from sums over n pixels, from an element on.
func (w *integersWorker) compare(n uint64, from int) {
	c1, c2, factor := w.layer.scaled(n)
	v := &w.values
	out := w.scores
	x, y, xx, yy, dd := v[0][:len(out)], v[1][:len(out)], v[2][:len(out)], v[3][:len(out)], v[4][:len(out)]
	extra := w.results[:len(out)]
	for i := from; i < len(out); i++ {
		a, b, squares := x[i], y[i], xx[i]+yy[i]
		covariance := n*(squares-dd[i]) - 2*a*b // twice
		variances := n*squares - a*a - b*b
		ab, both := float64(int64(2*a*b)), float64(int64(a*a+b*b))
		top, bottom := float64(factor*float64(int64(covariance)))+c2, float64(factor*float64(int64(variances)))+c2
		extra[i] = top / bottom
		out[i] = float64((ab+c1)*top) / float64((both+c1)*bottom)
	}
}

// correlate computes LNCC from sums over n pixels, from an element on.
func (w *integersWorker) correlate(n uint64, from int) {
	v, inverse := &w.values, 1/float64(n)
	for i := from; i < len(w.scores); i++ {
		a, b := v[0][i], v[1][i]
		covariance := n*(v[2][i]+v[3][i]-v[4][i]) - 2*a*b // twice
		c := float64(float64(int64(covariance)) * float64(inverse/2))
		w.scores[i] = correlation(c, float64(float64(n*v[2][i]-a*a)*inverse), float64(float64(n*v[3][i]-b*b)*inverse), w.layer.job.Signed)
	}
}

// Release implements [engine.Layer].
func (l *integers) Release() int {
	l.job = nil
	bytes := 0
	for i := range l.images {
		l.images[i].Src = raster.Array{}
		bytes += engine.Bytes(l.images[i].Outside)
	}
	for i := range l.workers {
		w := &l.workers[i]
		w.fields, w.similar = [5]windows.Sums{}, windows.Similarity{}
		for k := range w.sums {
			w.sums[k].Forget()
			bytes += w.sums[k].Bytes()
		}
		for k := range w.values {
			bytes += engine.Bytes(w.values[k])
		}
		bytes += engine.Bytes(w.ring) + engine.Bytes(w.places) + engine.Bytes(w.beyond) + engine.Bytes(w.scores) + engine.Bytes(w.results)
	}
	return bytes
}
