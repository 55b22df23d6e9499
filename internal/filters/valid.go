package filters

import (
	"math"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel"
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
	rows          validRows
	pixels        pixelRows
	valid         countRows
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
	if !j.Src.Type.Float() {
		l.pixels.Pixel = raster.F64
	}
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
		w.rows.aim(l)
		w.pixels = pixelRows{&w.rows, window.OutsideRow(w.pixels.outside, &l.pixels)}
		w.valid = countRows{&w.rows, window.OutsideRow(w.valid.outside, &l.numbers)}
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
		if l.dividesSums() {
			windows.ValidMeans(l.job.set.Level, l.job.Dst.Type, l.job.Dst.Span(0, y, n), r.Sums, w.numbers.Windows().Sums, l.pixels.Offset)
			continue
		}
		r.Sums.Floats(w.means)
		w.numbers.Windows().Sums.Floats(w.counts)
		if l.job.Kind.squares() {
			r.Squares.Floats(w.spreads)
			l.findSpreads(w, raster.Elems[float64](r.Squares.Hi), y)
		}
		l.makeRow(w, y, n)
	}
}

// dividesSums reports whether the results are sums divided by the numbers of pixels.
func (l *validLayer) dividesSums() bool {
	j := &l.job
	return j.Kind == Mean && j.Dst.Type.Float() && float64(j.shape.Width())*float64(j.shape.Height()) < 1<<31
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
		bytes += w.sums.Bytes() + w.numbers.Bytes() + w.rows.bytes() + cap(w.pixels.outside) + cap(w.valid.outside) + engine.Bytes(w.means) + engine.Bytes(w.spreads) +
			engine.Bytes(w.counts) + engine.Bytes(w.results) + engine.Bytes(w.zeros)
	}
	return bytes
}

// validRows selects the valid pixels of rows. It keeps the two most recent rows, because sums of pixels and their
// numbers need the same ones.
type validRows struct {
	layer     *validLayer
	selector  kernel.Selector
	selection kernel.Selection
	rows      [2]validRow
	latest    int
	mask      []byte // of a row, by channel
	whole     []byte // integer pixels of a row
}

type validRow struct {
	y      int    // or -1
	pixels []byte // those that do not count add nothing to a sum
	valid  []byte // 1 for pixels that count, and 0 for others
}

func (r *validRows) aim(l *validLayer) {
	n, j := l.src.Width*l.src.Channels, &l.job
	r.layer = l
	r.selector = kernel.NewSelector(l.src.Type, j.set.Level, j.masked, j.skipNaN, float32(l.pixels.Offset))
	for i := range r.rows {
		w := &r.rows[i]
		w.y, w.pixels, w.valid = -1, engine.AtLeast(w.pixels, n*l.pixels.Pixel.Bytes()), engine.AtLeast(w.valid, n)
	}
	if !l.src.Type.Float() {
		r.whole = engine.AtLeast(r.whole, n*l.src.Type.Bytes())
	}
}

func (r *validRows) bytes() int {
	bytes := engine.Bytes(r.mask) + engine.Bytes(r.whole)
	for i := range r.rows {
		bytes += engine.Bytes(r.rows[i].pixels) + engine.Bytes(r.rows[i].valid)
	}
	return bytes
}

// row returns row y of the image.
func (r *validRows) row(y int) *validRow {
	for i := range r.rows {
		if r.rows[i].y == y {
			r.latest = i
			return &r.rows[i]
		}
	}
	r.latest ^= 1
	w, l := &r.rows[r.latest], r.layer
	width, channels, mask := l.src.Width, l.src.Channels, &l.job.Options.Mask
	w.y = y
	s := &r.selection
	*s = kernel.Selection{From: l.src.Span(0, y, width), NaN: l.job.skipNaN, To: w.pixels, Valid: w.valid}
	if !l.src.Type.Float() {
		s.To = r.whole
	}
	if l.job.masked {
		s.Mask = mask.Span(0, y, width)
	}
	if l.job.masked && mask.Channels < channels {
		r.mask = engine.AtLeast(r.mask, width*channels)
		for i := range r.mask {
			r.mask[i] = s.Mask[i/channels]
		}
		s.Mask = r.mask
	}
	r.selector.Select(s)
	if !l.src.Type.Float() {
		windows.Floats(l.src.Type, raster.Elems[float64](w.pixels), r.whole)
	}
	return w
}

// pixelRows yields the pixels of rows, and countRows whether they count. Both implement [window.Rows].
type (
	pixelRows struct {
		rows    *validRows
		outside []byte
	}
	countRows struct {
		rows    *validRows
		outside []byte
	}
)

func (r *pixelRows) Row(place int) []byte {
	l := r.rows.layer
	if y := l.pixels.Border.Index(place, l.src.Height); y >= 0 {
		return r.rows.row(y).pixels
	}
	return r.outside
}

func (r *countRows) Row(place int) []byte {
	l := r.rows.layer
	if y := l.pixels.Border.Index(place, l.src.Height); y >= 0 {
		return r.rows.row(y).valid
	}
	return r.outside
}
