package quality

import (
	"math"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// fields is the layer for all comparisons that [integers] does not compute. For every pixel value it makes a few
// numbers, its fields, and adds them over the window, as float64:
//
//	SSIM  x, y, x²+y², xy
//	LNCC  x, y, xy, x², y²
//
// and 1 for pixels that count, if not all do. Here x and y are the pixels less a constant. The fields of a
// row of pixels are the channels of an image of their own, as in the guided filter.
type fields struct {
	engine.Base
	job     *Job
	z       int // the slice
	n       int // fields of a value
	k       constants
	frame   window.Frame
	weights windows.Weights
	along   []float64 // weights from the middle outwards
	beyond  []float64 // the fields of a row beyond the images
	outside []float64 // the same, added over the slices of a window
	workers []fieldsWorker
}

type fieldsWorker struct {
	layer  *fields
	a, b   []float64 // pixels
	marks  []byte    // pixels that count
	ring   []float64 // rows of fields
	places []int     // which rows they are
	sums   window.Sums
	row    []float64 // sums of the windows of a row
	scores []float64
	extra  []float64 // contrasts

	padded []float64 // weighted windows: a row of fields with its neighbors
	across []float64 // rows filtered along x
	_      [raster.LineBytes]byte
}

// fieldsRuns keeps the engines and scratch memory of the layer for later calls.
var fieldsRuns engine.Runs[fields]

// weightedRows is the number of rows of weighted windows that are computed at a time.
const weightedRows = 8

// runFields computes the scores of a job, slice by slice.
func runFields(j *Job) error {
	shape := j.shape()
	set := j.set.Quiet()
	for z := range j.A.Depth {
		run := fieldsRuns.Take()
		l := &run.Layer
		l.aim(j, z)
		p := window.ChainPlan(&set, &l.frame, 8, shape.Height(), j.unit())
		if err := run.Fill(&set, &p, l); err != nil {
			return err
		}
		j.set.Report(float64(z+1) / float64(j.A.Depth))
	}
	return nil
}

// aim prepares the layer for slice z of a job.
func (l *fields) aim(j *Job, z int) {
	l.job, l.z, l.k = j, z, j.constants()
	if j.A.Type.Float() {
		l.k.ox, l.k.oy = float64(engine.Center(&j.A)), float64(engine.Center(&j.B))
	}
	l.n = 4
	if j.Kind == LNCC {
		l.n = 5
	}
	if j.counting {
		l.n++
	}
	l.along = gaussian(l.along, j.Sigma, j.radius)
	l.weights.Set(l.along)
	l.frame = window.Frame{Width: j.A.Width, Height: j.A.Height, Channels: j.A.Channels * l.n, Pixel: raster.F64, Sum: raster.F64, Shape: j.shape(), Level: j.set.Level}
	// Beyond the images, LNCC finds zeros.
	n := j.A.Width * l.frame.Channels
	l.beyond, l.outside = engine.AtLeast(l.beyond, n), engine.AtLeast(l.outside, n)
	slices := 1.0
	if j.Solid && j.Sigma == 0 {
		slices = float64(2*j.radius + 1)
	}
	for i := 0; i < n; i += l.n {
		l.put(l.beyond[i:][:l.n], -l.k.ox, -l.k.oy, 1)
		l.put(l.outside[i:][:l.n], -l.k.ox, -l.k.oy, slices)
	}
	l.frame.Values = l.outside[:l.frame.Channels]
}

// gaussian returns the weights of a window along an axis, from the middle outwards: those of a Gaussian, or 1.
func gaussian(w []float64, sigma float64, radius int) []float64 {
	w = engine.AtLeast(w, radius+1)
	sum := 0.0
	for k := range w {
		w[k] = 1
		if sigma > 0 {
			w[k] = math.Exp(-0.5 * float64(k*k) / (sigma * sigma))
		}
		sum += w[k]
		if k > 0 {
			sum += w[k]
		}
	}
	for k := range w {
		if sigma > 0 {
			w[k] /= sum
		}
	}
	return w
}

// put stores the fields of a value, times a weight.
func (l *fields) put(to []float64, x, y, weight float64) {
	to[0], to[1] = float64(x*weight), float64(y*weight)
	if l.job.Kind == LNCC {
		to[2], to[3], to[4] = float64(float64(x*y)*weight), float64(float64(x*x)*weight), float64(float64(y*y)*weight)
	} else {
		to[2], to[3] = float64(float64(float64(x*x)+float64(y*y))*weight), float64(float64(x*y)*weight)
	}
	if l.job.counting {
		to[l.n-1] = weight
	}
}

// Prepare implements [engine.Layer].
func (l *fields) Prepare(p *engine.Plan) error {
	n, values := l.frame.Width*l.frame.Channels, l.job.A.Width*l.job.A.Channels
	l.workers = engine.Workers(l.workers, p.Workers)
	for i := range l.workers[:p.Workers] {
		w := &l.workers[i]
		w.layer = l
		w.a, w.b, w.marks = engine.AtLeast(w.a, values), engine.AtLeast(w.b, values), engine.AtLeast(w.marks, values)
		w.row, w.scores, w.extra = engine.AtLeast(w.row, l.stride()*weightedRows), engine.AtLeast(w.scores, values), engine.AtLeast(w.extra, values)
		if l.job.Sigma > 0 {
			w.padded = engine.AtLeast(w.padded, l.stride()+2*l.job.radius*l.frame.Channels)
			w.across = engine.AtLeast(w.across, (weightedRows+2*l.job.radius)*l.stride())
			continue
		}
		rows := min(l.frame.Shape.Height(), 2*l.frame.Height) + 1
		w.ring, w.places = engine.AtLeast(w.ring, rows*n), engine.AtLeast(w.places, rows)
	}
	return nil
}

// stride returns the number of elements from one row of weighted fields to the next.
func (l *fields) stride() int {
	return raster.RoundUp(l.frame.Width*l.frame.Channels, windows.WeighUnit)
}

// Row implements [window.Rows] for the fields.
func (w *fieldsWorker) Row(place int) []byte {
	l := w.layer
	y := l.frame.Border.Index(place, l.frame.Height)
	if y < 0 {
		return raster.Bytes(l.outside)
	}
	n, size := l.frame.Width*l.frame.Channels, len(w.places)
	slot := (place%size + size) % size
	row := w.ring[slot*n:][:n]
	if w.places[slot] != place {
		w.places[slot] = place
		w.compute(row, y)
	}
	return raster.Bytes(row)
}

// compute makes the fields of row y. Those of a volume are added over the slices of the window.
func (w *fieldsWorker) compute(row []float64, y int) {
	l := w.layer
	j := l.job
	if !j.Solid {
		w.fields(row, y, 0, 1, false)
		return
	}
	for k := -j.radius; k <= j.radius; k++ {
		weight := l.along[max(k, -k)]
		if z := j.border().Index(l.z+k, j.A.Depth); z >= 0 {
			w.fields(row, y, z, weight, k > -j.radius)
			continue
		}
		if k == -j.radius {
			clear(row)
		}
		for i, v := range l.beyond {
			row[i] += float64(v * weight)
		}
	}
}

// fields makes the fields of row y of slice z, times a weight, or adds them to those in row.
func (w *fieldsWorker) fields(row []float64, y, z int, weight float64, add bool) {
	l := w.layer
	j := l.job
	w.load(y, z)
	n, a, b := l.n, w.a, w.b[:len(w.a)]
	if !add && !j.counting && j.Kind == SSIM && weight == 1 { // the usual case
		for i, p := range a {
			x, y, to := p-l.k.ox, b[i]-l.k.oy, row[4*i:][:4:4]
			to[0], to[1], to[2], to[3] = x, y, float64(x*x)+float64(y*y), float64(x*y)
		}
		return
	}
	var one [6]float64
	if !add {
		clear(row)
	}
	for i, p := range a {
		if j.counting && w.marks[i] == 0 {
			continue
		}
		l.put(one[:n], p-l.k.ox, b[i]-l.k.oy, weight)
		for f, v := range one[:n] {
			row[i*n+f] += v
		}
	}
}

// load reads row y of slice z of both images, and finds the pixels that count.
func (w *fieldsWorker) load(y, z int) {
	j := w.layer.job
	a, b := slice(&j.A, z), slice(&j.B, z)
	windows.Floats(a.Type, w.a, a.Span(0, y, a.Width))
	windows.Floats(b.Type, w.b, b.Span(0, y, b.Width))
	if !j.counting {
		return
	}
	c := j.A.Channels
	var mask []byte
	if j.masked {
		m := slice(&j.Mask, z)
		mask = m.Span(0, y, m.Width)
	}
	for i := range w.marks {
		ok := !j.SkipNaN || w.a[i] == w.a[i] && w.b[i] == w.b[i]
		if ok && mask != nil {
			at := i
			if j.Mask.Channels < c {
				at = i / c
			}
			ok = mask[at] != 0
		}
		w.marks[i] = 0
		if ok {
			w.marks[i] = 1
		}
	}
}

// Tile implements [engine.Layer], in pixels: a band at a time.
func (l *fields) Tile(worker, _, y, n, rows int) {
	w := &l.workers[worker]
	if l.job.Sigma > 0 {
		w.weigh(y, rows)
		return
	}
	for i := range w.places {
		w.places[i] = math.MinInt
	}
	w.sums.Aim(&l.frame)
	w.sums.Strip(0, n)
	row := w.row[:n*l.frame.Channels]
	for end := y + rows; y < end; y++ {
		w.sums.Down(w, y)
		w.sums.Windows().Sums.Floats(row)
		w.finish(row, y)
	}
}

// weigh computes rows of weighted windows: along x first, then down, some rows at a time.
func (w *fieldsWorker) weigh(y, rows int) {
	l := w.layer
	r, c, n, stride := l.job.radius, l.frame.Channels, l.frame.Width*l.frame.Channels, l.stride()
	level := l.frame.Level
	lines := func(s []float64) windows.Lines { return windows.Lines{Data: raster.Bytes(s), Stride: stride * 8} }
	made := 0 // rows of w.across, of which the first is r above y
	for end := y + rows; y < end; {
		m := min(weightedRows, end-y)
		for k := made; k < m+2*r; k++ {
			w.pad(y - r + k)
			l.weights.Add(level, raster.F64, lines(w.across[k*stride:]), lines(w.padded), c*8, n, 1)
		}
		l.weights.Add(level, raster.F64, lines(w.row), lines(w.across), stride*8, n, m)
		for k := range m {
			w.finish(w.row[k*stride:][:n], y+k)
		}
		y += m
		made = copy(w.across, w.across[m*stride:][:2*r*stride]) / stride
	}
}

// pad makes the fields of a row at a position, with those of the neighbors beside the images.
func (w *fieldsWorker) pad(place int) {
	l := w.layer
	r, c, width := l.job.radius, l.frame.Channels, l.frame.Width
	row := w.padded[r*c:][:width*c]
	if y := l.frame.Border.Index(place, l.frame.Height); y >= 0 {
		w.compute(row, y)
	} else {
		copy(row, l.outside)
	}
	for k := 1; k <= r; k++ {
		for _, x := range [2]int{-k, width - 1 + k} {
			to := w.padded[(r+x)*c:][:c]
			if at := l.frame.Border.Index(x, width); at >= 0 {
				copy(to, row[at*c:])
			} else {
				copy(to, l.outside)
			}
		}
	}
}

// finish computes the scores of row y from the sums of its windows.
func (w *fieldsWorker) finish(row []float64, y int) {
	l := w.layer
	j := l.job
	switch {
	case j.Kind == LNCC:
		w.correlate(row)
	default:
		w.compare(row)
	}
	if j.Map.Type != 0 {
		m := slice(&j.Map, l.z)
		windows.Store(m.Type, m.Span(0, y, m.Width), w.scores)
	}
	var marks []byte
	if j.counting {
		w.load(y, l.z)
		marks = w.marks
	}
	j.tally.record(y, l.z, w.scores, w.extra, marks)
}

// compare computes SSIM from sums.
func (w *fieldsWorker) compare(row []float64) {
	l := w.layer
	j, n, k := l.job, l.n, &l.k
	inverse := 1.0
	if j.Sigma == 0 {
		inverse = 1 / math.Pow(float64(2*j.radius+1), l.axes())
	}
	factor := k.factor
	for i := range w.scores {
		s := row[i*n:][:n]
		if j.counting {
			inverse, factor = l.count(s[n-1])
		}
		x, y := float64(s[0]*inverse), float64(s[1]*inverse)
		covariance := float64(s[3]*inverse) - float64(x*y)
		variances := float64(s[2]*inverse) - float64(x*x) - float64(y*y)
		x, y = x+k.ox, y+k.oy
		contrast := (float64(2*float64(factor*covariance)) + k.c2) / (float64(factor*variances) + k.c2)
		w.scores[i] = float64((float64(2*float64(x*y)) + k.c1) / (float64(x*x) + float64(y*y) + k.c1) * contrast)
		w.extra[i] = contrast
	}
}

// axes returns the number of axes of a window.
func (l *fields) axes() float64 {
	if l.job.Solid {
		return 3
	}
	return 2
}

// count returns what sums are multiplied by to get means, and means of squares to get variances, in a window in which
// only some pixels count: their number, or the sum of their weights.
func (l *fields) count(n float64) (inverse, factor float64) {
	j := l.job
	factor = l.k.factor
	if j.Sigma == 0 {
		n = math.Round(n)
		if !j.Population && j.Kind == SSIM {
			factor = n / (n - 1)
			if n < 2 {
				return math.NaN(), math.NaN()
			}
		}
	}
	if n <= 0 {
		return math.NaN(), math.NaN()
	}
	return 1 / n, factor
}

// correlate computes LNCC from sums.
func (w *fieldsWorker) correlate(row []float64) {
	l := w.layer
	j, n := l.job, l.n
	count := math.Pow(float64(2*j.radius+1), l.axes())
	for i := range w.scores {
		s := row[i*n:][:n]
		inverse := 1 / count
		if j.counting {
			inverse, _ = l.count(s[n-1])
		}
		c := s[2] - float64(float64(s[0]*s[1])*inverse)
		a := s[3] - float64(float64(s[0]*s[0])*inverse)
		b := s[4] - float64(float64(s[1]*s[1])*inverse)
		w.scores[i] = correlation(c, a, b, j.Signed)
	}
}

// correlation returns the score of a window from its covariance and variances, all times the number of pixels.
func correlation(c, a, b float64, signed bool) float64 {
	a, b = max(a, leastVariance), max(b, leastVariance) // keeps NaN
	if signed {
		return c / math.Sqrt(float64(a*b))
	}
	c = max(c, leastVariance)
	return float64(c/a) * float64(c/b)
}

// Release implements [engine.Layer].
func (l *fields) Release() int {
	l.job = nil
	l.frame.Values = nil
	bytes := engine.Bytes(l.beyond) + engine.Bytes(l.outside) + engine.Bytes(l.along)
	for i := range l.workers {
		w := &l.workers[i]
		w.sums.Forget()
		bytes += engine.Bytes(w.a) + engine.Bytes(w.b) + engine.Bytes(w.marks) + engine.Bytes(w.ring) + engine.Bytes(w.places) + w.sums.Bytes() +
			engine.Bytes(w.row) + engine.Bytes(w.scores) + engine.Bytes(w.extra) + engine.Bytes(w.padded) + engine.Bytes(w.across)
	}
	return bytes
}
