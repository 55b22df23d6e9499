package filters

import (
	"math"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// checkValid validates the mask of a job whose image has been checked.
func (j *Job) checkValid() error {
	j.skipNaN = j.Options.SkipNaN && j.Src.Type.Float()
	j.masked = j.Options.Mask.Type != 0
	if !j.masked && !j.Options.SkipNaN {
		return nil
	}
	if j.Kind > Normalized {
		return raster.Unsupported("masks and skipped NaN are not supported by this filter, only by box, sum, mean, variance, standard deviation and normalization")
	}
	if float64(j.shape.Width())*float64(j.shape.Height()) >= 1<<32 {
		return raster.Invalid("window is %d×%d, want fewer than 2^32 pixels with a mask or skipped NaN", j.shape.Width(), j.shape.Height())
	}
	if !j.masked {
		return nil
	}
	m := &j.Options.Mask
	if m.Type != raster.U8 {
		return raster.Unsupported("the mask has type %v, want uint8", m.Type)
	}
	if err := m.Check(); err != nil {
		return err
	}
	if m.Width != j.Src.Width || m.Height != j.Src.Height || m.Channels != 1 && m.Channels != j.Src.Channels {
		return raster.Invalid("the mask is %v, want %d×%d with 1 channel or %d (those of the image)", m.Extent, j.Src.Width, j.Src.Height, j.Src.Channels)
	}
	return nil
}

// counts reports whether only some pixels count.
func (j *Job) counts() bool { return j.masked || j.skipNaN }

// validLayer is the layer for windows of valid pixels: the float64 sums of pixels, to which
// others add nothing, and the numbers of valid pixels.
type validLayer struct {
	engine.Base
	job             Job
	src             raster.Array // the image, or a copy if it is overwritten
	copied          []byte
	pixels, numbers window.Frame
	workers         []validWorker
}

type validWorker struct {
	sums, numbers window.Sums
	pixels        pixelRows
	valid         validRows
	means         []float64 // of a row; sums at first
	spreads       []float64 // sums of squares at first
	counts        []float64
	results       []float64
	zeros         []float64
	_             [raster.LineBytes]byte
}

// validRuns keeps the engines and scratch memory of the layer for later calls.
var validRuns engine.Runs[validLayer]

func runValid(j *Job) error {
	run := validRuns.Take()
	l := &run.Layer
	l.job, l.src = *j, j.Src
	l.pixels, l.numbers = j.frame(raster.F64, 0), j.frame(raster.U32, 0)
	if j.Kind.squares() {
		l.pixels.Square = raster.F64
	}
	l.pixels.Pixel = raster.F64
	l.numbers.Pixel, l.numbers.Offset, l.numbers.Value = raster.U8, 0, 1
	height := j.shape.Height()
	p := window.ChainPlan(&j.set, &l.pixels, 16, height, window.Block(raster.F64, height))
	return run.Fill(&j.set, &p, l)
}

// Prepare implements [engine.Layer].
func (l *validLayer) Prepare(p *engine.Plan) error {
	if l.job.same {
		l.copied = window.CopyTo(l.copied, &l.src)
	}
	n := l.src.Width * l.src.Channels
	l.workers = engine.Workers(l.workers, p.Workers)
	for i := range l.workers[:p.Workers] {
		w := &l.workers[i]
		w.valid.aim(l)
		w.pixels.aim(l)
		w.means, w.spreads, w.counts = engine.AtLeast(w.means, n), engine.AtLeast(w.spreads, n), engine.AtLeast(w.counts, n)
		w.results, w.zeros = engine.AtLeast(w.results, n), engine.Zeros(w.zeros, n)
	}
	return nil
}

// Tile implements [engine.Layer], in pixels: a band at a time.
func (l *validLayer) Tile(worker, _, y, n, rows int) {
	w := &l.workers[worker]
	w.sums.Aim(&l.pixels)
	w.sums.Strip(0, n)
	w.numbers.Aim(&l.numbers)
	w.numbers.Strip(0, n)
	for end := y + rows; y < end; y++ {
		w.sums.Down(&w.pixels, y)
		w.numbers.Down(&w.valid, y)
		r := w.sums.Windows()
		r.Sums.Floats(w.means)
		w.numbers.Windows().Sums.Floats(w.counts)
		if l.job.Kind.squares() {
			r.Squares.Floats(w.spreads)
			l.findSpreads(w, raster.Elems[float64](r.Squares.Hi), y)
		}
		l.makeRow(w, y, n)
	}
}

// findSpreads computes variances from the sums of a row and of its squares.
func (l *validLayer) findSpreads(w *validWorker, prefix []float64, y int) {
	c := l.src.Channels
	for i, sum := range w.means {
		n := w.counts[i]
		if n == 0 {
			w.spreads[i] = math.NaN()
			continue
		}
		v := w.spreads[i] - float64(sum*sum)/n
		if most := prefix[i]; v <= most*validUnsure && most != 0 { // keeps NaN
			if e := l.spread(i/c, y, i%c); e == e {
				v = e
			} else if v < most*validRounding {
				v = 0
			}
		}
		w.spreads[i] = v / n
	}
}

const (
	// validUnsure is the fraction of a prefix of squares below which rounding may exceed a
	// ten-thousandth of a sum, and validRounding the fraction that rounding may leave where
	// all pixels are equal.
	validUnsure   = 0x1p-36
	validRounding = 0x1p-49
	// validPixels is the maximum number of pixels in a window that is summed pixel by pixel.
	validPixels = 1 << 12
)

// spread returns Σ(p-mean)² of the valid pixels of a window, or NaN if it has too many.
func (l *validLayer) spread(x, y, ch int) (energy float64) {
	s := &l.job.shape
	if s.Width() > validPixels/s.Height() {
		return math.NaN()
	}
	var first, mean float64
	for pass := range 2 {
		count, sum := 0, 0.0
		for j := y - s.Up; j <= y+s.Down; j++ {
			for i := x - s.Left; i <= x+s.Right; i++ {
				p, ok := l.pixel(i, j, ch)
				switch {
				case !ok:
					continue
				case pass == 1:
					d := p - first - mean
					energy += float64(d * d)
					continue
				case count == 0:
					first = p
				}
				count++
				sum += p - first
			}
		}
		if pass == 0 {
			mean = sum / float64(count)
		}
	}
	return energy
}

// pixel returns the pixel at a position, which may be outside the image, and reports
// whether it counts.
func (l *validLayer) pixel(x, y, ch int) (p float64, ok bool) {
	j := &l.job
	u, v := j.shape.Border.Index(x, l.src.Width), j.shape.Border.Index(y, l.src.Height)
	if u < 0 || v < 0 {
		return j.shape.Value, j.shape.Border == window.Constant
	}
	p = windows.At(l.src.Type, l.src.Data, v*l.src.Stride+u*l.src.Channels+ch)
	if m := &j.Options.Mask; j.masked && m.Data[v*m.Stride+u*m.Channels+min(ch, m.Channels-1)] == 0 {
		return p, false
	}
	return p, !j.skipNaN || p == p
}

// makeRow computes the results of row y.
func (l *validLayer) makeRow(w *validWorker, y, n int) {
	j, offset, out := &l.job, l.pixels.Offset, w.results
	dst := &j.Dst
	to := dst.Span(0, y, n)
	whole := !dst.Type.Float()
	if j.Kind == Sum {
		for i, v := range w.means {
			if out[i] = v + offset*w.counts[i]; w.counts[i] == 0 {
				out[i] = 0 // not the rounding error
			}
		}
		sums := windows.Sums{Type: raster.F64, Hi: raster.Bytes(out), Lo: raster.Bytes(w.zeros)}
		sums.Totals(dst.Type, to, 0)
		return
	}
	for i, v := range w.means {
		count := w.counts[i]
		switch {
		case count == 0:
			w.means[i] = math.NaN() // 0 for integers
		case whole:
			w.means[i] = float64((uint64(v) + uint64(count)/2) / uint64(count))
		default:
			w.means[i] = v/count + offset
		}
	}
	switch j.Kind {
	case Mean, MeanDeviation:
		windows.Store(dst.Type, to, w.means)
		if j.Kind == Mean {
			return
		}
		to = j.Second.Span(0, y, n)
	}
	for i, v := range w.spreads {
		if j.Kind != Variance {
			v = math.Sqrt(v)
		}
		out[i] = v
	}
	if j.Kind == Normalized {
		for i := range out {
			out[i] = l.contrast(i/l.src.Channels, y, i%l.src.Channels, w.means[i], out[i])
		}
	}
	windows.Store(dst.Type, to, out)
}

// contrast returns by how many deviations a pixel exceeds the mean, or NaN if the pixel
// does not count.
func (l *validLayer) contrast(x, y, ch int, mean, deviation float64) float64 {
	p, ok := l.pixel(x, y, ch)
	if !(deviation >= l.job.Floor) {
		deviation = max(deviation, l.job.Floor) // keeps NaN
	}
	switch {
	case !ok:
		return math.NaN()
	case deviation == 0:
		return 0
	}
	return (p - mean) / deviation
}

// Release implements [engine.Layer].
func (l *validLayer) Release() int {
	l.job, l.src = Job{}, raster.Array{}
	bytes := engine.Bytes(l.copied)
	for i := range l.workers {
		w := &l.workers[i]
		w.sums.Forget()
		w.numbers.Forget()
		bytes += w.sums.Bytes() + w.numbers.Bytes() + w.pixels.bytes() + w.valid.bytes() + engine.Bytes(w.means) + engine.Bytes(w.spreads) +
			engine.Bytes(w.counts) + engine.Bytes(w.results) + engine.Bytes(w.zeros)
	}
	return bytes
}

// validRows yields rows of 1 for pixels that count and 0 for others. It keeps the two most
// recent rows.
type validRows struct {
	layer   *validLayer
	rows    [2][]byte
	outside []byte
	values  []float64
	latest  int
}

func (r *validRows) aim(l *validLayer) {
	n := l.src.Width * l.src.Channels
	r.layer = l
	r.rows[0], r.rows[1], r.values = engine.AtLeast(r.rows[0], n), engine.AtLeast(r.rows[1], n), engine.AtLeast(r.values, n)
	r.outside = window.OutsideRow(r.outside, &l.numbers)
}

func (r *validRows) bytes() int { return 2*cap(r.rows[0]) + cap(r.outside) + engine.Bytes(r.values) }

// Row implements [window.Rows].
func (r *validRows) Row(place int) []byte {
	y := r.layer.numbers.Border.Index(place, r.layer.src.Height)
	if y < 0 {
		return r.outside
	}
	r.latest ^= 1
	row := r.rows[r.latest]
	r.layer.mark(row, r.values, y)
	return row
}

// mark finds the pixels of row y that count. It stores the pixels in values.
func (l *validLayer) mark(row []byte, values []float64, y int) {
	j, width := &l.job, l.src.Width
	windows.Floats(l.src.Type, values, l.src.Span(0, y, width))
	for i, v := range values {
		row[i] = 1
		if j.skipNaN && v != v {
			row[i] = 0
		}
	}
	if !j.masked {
		return
	}
	mask, c := j.Options.Mask.Span(0, y, width), l.src.Channels
	for i := range row {
		at := i
		if j.Options.Mask.Channels < c {
			at = i / c
		}
		if mask[at] == 0 {
			row[i] = 0
		}
	}
}

// pixelRows yields rows of pixels as float64, in which pixels that do not count add
// nothing. It keeps the two most recent rows.
type pixelRows struct {
	layer   *validLayer
	rows    [2][]float64
	valid   []byte
	outside []byte
	latest  int
}

func (r *pixelRows) aim(l *validLayer) {
	n := l.src.Width * l.src.Channels
	r.layer = l
	r.rows[0], r.rows[1], r.valid = engine.AtLeast(r.rows[0], n), engine.AtLeast(r.rows[1], n), engine.AtLeast(r.valid, n)
	r.outside = window.OutsideRow(r.outside, &l.pixels)
}

func (r *pixelRows) bytes() int {
	return 2*engine.Bytes(r.rows[0]) + cap(r.valid) + cap(r.outside)
}

// Row implements [window.Rows].
func (r *pixelRows) Row(place int) []byte {
	l := r.layer
	y := l.pixels.Border.Index(place, l.src.Height)
	if y < 0 {
		return r.outside
	}
	r.latest ^= 1
	row := r.rows[r.latest]
	l.mark(r.valid, row, y)
	for i, ok := range r.valid {
		if ok == 0 {
			row[i] = l.pixels.Offset
		}
	}
	return raster.Bytes(row)
}
