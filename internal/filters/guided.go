package filters

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// checkGuide validates the guide, and checks that it does not partly overlap the result.
func (j *Job) checkGuide() (err error) {
	g := &j.Guide
	if !TakesPixels(g.Type) {
		return raster.Unsupported("guide has pixels of %v, want uint8, uint16, float32 or float64", g.Type)
	}
	if err = g.Check(); err != nil {
		return err
	}
	if g.Width != j.Src.Width || g.Height != j.Src.Height || g.Channels != 1 && g.Channels != 3 {
		return raster.Invalid("guide is %v, want %d×%d (the size of the image) with 1 or 3 channels", g.Extent, j.Src.Width, j.Src.Height)
	}
	if j.over, err = overlap(&j.Dst, g); err != nil || j.Src.Width == 0 || j.Src.Height == 0 {
		return err
	}
	if w, h := j.shape.Width(), j.shape.Height(); float64(w)*float64(h) >= 1<<40 {
		return raster.Invalid("window is %d×%d, want fewer than 2^40 pixels for a guided filter", w, h)
	}
	return window.CheckWrap(&j.shape, j.Src.Height)
}

// guidedRuns keeps the engines and scratch memory of the layer for later calls.
var guidedRuns engine.Runs[guided]

// runGuided runs the guided filter.
func runGuided(j *Job) error {
	if box, ok := j.guidedBox(); ok {
		return runGuidedBytes(j, box)
	}
	run := guidedRuns.Take()
	l := &run.Layer
	l.job = *j
	p := l.plan()
	return run.Fill(&j.set, &p, l)
}

// guided is the layer for guided filters. Products of pixels become the channels of an
// image of their own, row by row; a and b of its windows become those of another.
type guided struct {
	engine.Base
	job Job

	values  []float64
	frame   window.Frame // of the products
	fit     window.Frame // of a and b
	workers []guidedWorker

	copied      []byte
	copiedGuide []byte
}

type guidedWorker struct {
	layer  *guided
	rows   [2][]float64 // of products, the latest two
	latest int
	beyond []float64
	floats [3][]float64 // a row of the image, of the guide and of the result
	means  []float64    // of the products of a window
	first  window.Stage
	last   window.Sums
	_      [raster.LineBytes]byte
}

// single reports whether image and guide have one channel, for which there are kernels.
func (l *guided) single() bool { return l.job.Src.Channels == 1 && l.job.Guide.Channels == 1 }

func (l *guided) plan() engine.Plan {
	shape, set, e := &l.job.shape, &l.job.set, &l.job.Src.Extent
	p, g := e.Channels, l.job.Guide.Channels
	l.frame = window.Frame{
		Width: e.Width, Height: e.Height, Channels: g + p + g*(g+1)/2 + g*p,
		Pixel: raster.F64, Sum: raster.F64, Shape: *shape, Level: set.Level,
	}
	l.fit = l.frame
	l.fit.Channels = p * (g + 1)
	if l.fit.Border == window.Wrap {
		l.fit.Height = 0
	}
	if l.fit.Border == window.Constant { // a and b have no border constant
		l.values = l.values[:0]
		for i := range l.frame.Channels {
			v := shape.Value
			if i >= g+p {
				v *= v
			}
			l.values = append(l.values, v)
		}
		l.frame.Values, l.fit.Border = l.values, window.Clip
	}
	return window.ChainPlan(set, &l.frame, l.job.Src.Type.Bytes()*8, 2*shape.Height(), window.Block(raster.F64, shape.Height()))
}

// Prepare implements [engine.Layer].
func (l *guided) Prepare(p *engine.Plan) error {
	if l.job.same {
		l.copied = window.CopyTo(l.copied, &l.job.Src)
	}
	if l.job.over {
		l.copiedGuide = window.CopyTo(l.copiedGuide, &l.job.Guide)
	}
	l.workers = engine.Workers(l.workers, p.Workers)
	width, n := l.frame.Width, l.frame.Width*l.frame.Channels
	for i := range l.workers[:p.Workers] {
		w := &l.workers[i]
		w.layer = l
		w.rows[0], w.rows[1] = engine.AtLeast(w.rows[0], n), engine.AtLeast(w.rows[1], n)
		w.beyond = engine.AtLeast(w.beyond, n)
		for k, channels := range [...]int{l.job.Src.Channels, l.job.Guide.Channels, l.job.Src.Channels} {
			w.floats[k] = engine.AtLeast(w.floats[k], width*channels)
		}
		w.means = engine.AtLeast(w.means, l.frame.Channels)
		w.outside()
	}
	return nil
}

// outside computes the row of products beyond the image.
func (w *guidedWorker) outside() {
	l := w.layer
	clear(w.beyond)
	for i := 0; i < len(w.beyond) && l.frame.Values != nil; i += l.frame.Channels {
		copy(w.beyond[i:], l.frame.Values)
	}
}

// Row implements [window.Rows] for the products.
func (w *guidedWorker) Row(place int) []byte {
	l := w.layer
	y := l.frame.Border.Index(place, l.frame.Height)
	if y < 0 {
		return raster.Bytes(w.beyond)
	}
	w.latest ^= 1
	row := w.rows[w.latest]
	w.products(row, y)
	return raster.Bytes(row)
}

// products computes the products of the pixels of a row.
func (w *guidedWorker) products(row []float64, y int) {
	l := w.layer
	src, guide := &l.job.Src, &l.job.Guide
	p, g := src.Channels, guide.Channels
	pix, by := src.Span(0, y, src.Width), guide.Span(0, y, src.Width)
	if l.single() {
		windows.GuidedProducts(l.frame.Level, src.Type, guide.Type, row, pix, by)
		return
	}
	windows.Floats(src.Type, w.floats[0], pix)
	windows.Floats(guide.Type, w.floats[1], by)
	c := l.frame.Channels
	for x := range src.Width {
		v, i, to := w.floats[0][x*p:][:p], w.floats[1][x*g:][:g], row[x*c:][:c]
		k := 0
		put := func(v float64) { to[k] = v; k++ }
		for _, a := range i {
			put(a)
		}
		for _, a := range v {
			put(a)
		}
		for j, a := range i {
			for _, b := range i[j:] {
				put(a * b)
			}
		}
		for _, b := range v {
			for _, a := range i {
				put(a * b)
			}
		}
	}
}

// Make implements [window.Maker]: for each channel of the image, it computes a for each
// channel of the guide, and b.
func (w *guidedWorker) Make(to []byte, _ int, s *window.Sums) {
	l, r, dst := w.layer, s.Windows(), raster.Elems[float64](to)
	p, g, c := l.job.Src.Channels, l.job.Guide.Channels, l.frame.Channels
	hi, lo := raster.Elems[float64](r.Sums.Hi), raster.Elems[float64](r.Sums.Lo)
	out := p * (g + 1)
	if l.single() {
		var part window.Part
		for from, to, n := 0, 0, len(hi)/4; from < n; from = to {
			r.Cut(&part, from)
			to = part.To
			windows.GuidedFit(l.frame.Level, dst[2*from:2*to], hi[4*from:4*to], lo[4*from:4*to], float64(part.Count), l.job.Epsilon)
		}
		return
	}
	m := w.means
	for x := range len(hi) / c {
		n := 1 / float64(r.Count(x))
		for k := range c {
			m[k] = (hi[x*c+k] - lo[x*c+k]) * n
		}
		l.solve(dst[x*out:][:out], m[:g], m[g:g+p], m[g+p:g+p+g*(g+1)/2], m[g+p+g*(g+1)/2:c])
	}
}

// quotient returns a/b, or 0 if the guide is flat and epsilon does not smooth it.
func quotient(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// solve computes a and b from the means of the guide, of the image, of the products of the
// guide's channels, and of those with the image's.
func (l *guided) solve(to, i, v, ii, iv []float64) {
	g := len(i)
	if g == 1 {
		variance := max(0, ii[0]-float64(i[0]*i[0])) + l.job.Epsilon
		for c, m := range v {
			a := quotient(iv[c]-float64(i[0]*m), variance)
			to[2*c], to[2*c+1] = a, m-float64(a*i[0])
		}
		return
	}
	// The guide's covariances C are a symmetric 3×3 matrix. C + epsilon is factored into
	// L·D·Lᵀ, which remains accurate where windows have few colors and C has no inverse,
	// unlike cofactors.
	rr, rg, rb := ii[0]-float64(i[0]*i[0]), ii[1]-float64(i[0]*i[1]), ii[2]-float64(i[0]*i[2])
	gg, gb, bb := ii[3]-float64(i[1]*i[1]), ii[4]-float64(i[1]*i[2]), ii[5]-float64(i[2]*i[2])
	d0 := l.inverse(rr+l.job.Epsilon, ii[0])
	l10, l20 := float64(rg*d0), float64(rb*d0)
	d1 := l.inverse(gg+l.job.Epsilon-float64(l10*rg), ii[3])
	rest := gb - float64(l10*rb)
	l21 := float64(rest * d1)
	d2 := l.inverse(bb+l.job.Epsilon-float64(l20*rb)-float64(l21*rest), ii[5])
	for c, m := range v {
		r, g, b := iv[3*c]-float64(i[0]*m), iv[3*c+1]-float64(i[1]*m), iv[3*c+2]-float64(i[2]*m)
		g -= float64(l10 * r)
		b -= float64(l20*r) + float64(l21*g)
		a := to[4*c:][:4]
		a[2] = float64(b * d2)
		a[1] = float64(g*d1) - float64(l21*a[2])
		a[0] = float64(r*d0) - float64(l10*a[1]) - float64(l20*a[2])
		a[3] = m - float64(a[0]*i[0]) - float64(a[1]*i[1]) - float64(a[2]*i[2])
	}
}

// inverse returns 1/d for a variance d that is at least epsilon and was computed from this
// mean of squares. It returns 0 if only rounding errors remain.
func (l *guided) inverse(d, squares float64) float64 {
	if d < l.job.Epsilon {
		d = l.job.Epsilon // keeps NaN
	}
	if l.job.Epsilon == 0 && d <= squares*0x1p-48 {
		return 0
	}
	return 1 / d
}

// Tile implements [engine.Layer], in pixels: a band at a time.
func (l *guided) Tile(worker, _, y, n, rows int) {
	w := &l.workers[worker]
	w.first.Maker = w
	w.first.Aim(w, &l.frame, &l.fit, y)
	w.last.Aim(&l.fit)
	w.last.Strip(0, n)
	for end := y + rows; y < end; y++ {
		w.last.Down(&w.first, y)
		w.results(y, n, w.last.Windows())
	}
}

// results computes a row of n pixels from the sums of a and b.
func (w *guidedWorker) results(y, n int, r *window.Row) {
	l := w.layer
	src, guide := &l.job.Src, &l.job.Guide
	p, g := src.Channels, guide.Channels
	hi, lo := raster.Elems[float64](r.Sums.Hi), raster.Elems[float64](r.Sums.Lo)
	dst, by := l.job.Dst.Span(0, y, n), guide.Span(0, y, n)
	if l.single() {
		size, guideSize := src.Type.Bytes(), guide.Type.Bytes()
		var part window.Part
		for from, to := 0, 0; from < n; from = to {
			r.Cut(&part, from)
			to = part.To
			windows.GuidedPixels(l.frame.Level, src.Type, guide.Type, dst[from*size:to*size], by[from*guideSize:to*guideSize], hi[2*from:2*to], lo[2*from:2*to], float64(part.Count))
		}
		return
	}
	windows.Floats(guide.Type, w.floats[1], by)
	out := w.floats[2]
	for x := range n {
		inv := 1 / float64(r.Count(x))
		i := w.floats[1][x*g:][:g]
		for c := range p {
			at := (x*p + c) * (g + 1)
			q := float64((hi[at+g] - lo[at+g]) * inv)
			for k, v := range i {
				q += float64(float64((hi[at+k]-lo[at+k])*inv) * v)
			}
			out[x*p+c] = q
		}
	}
	windows.Store(src.Type, dst, out)
}

func (l *guided) Release() int {
	l.job = Job{}
	bytes := engine.Bytes(l.copied) + engine.Bytes(l.copiedGuide)
	for i := range l.workers {
		w := &l.workers[i]
		bytes += w.first.Forget() + w.last.Bytes() + engine.Bytes(w.rows[0])*2 + engine.Bytes(w.beyond)
		for _, f := range w.floats {
			bytes += engine.Bytes(f)
		}
		bytes += engine.Bytes(w.means)
		w.last.Forget()
	}
	return bytes
}
