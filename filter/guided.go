package filter

import (
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/pairs"
	"github.com/boxsum/boxsum/internal/window"
)

// Guided is the guided filter of He, Sun and Tang: it smooths img where the guide is
// smooth, and keeps edges that the guide has. In every window the result is a linear
// function of the guide, a·I + b, that is nearest to img; a and b of all windows that have
// a pixel are averaged. epsilon is how large a variance of the guide counts as smooth, in
// the squared units of its pixels: 100 to 1000 for 8 bits.
//
// The guide has the size of img and one channel or three, gray or colour; each channel of
// img is filtered with all of the guide. An image is its own guide where it is given for
// both. Sums are float64; integers are rounded to nearest, and clamped to their range.
func Guided[P, G Pixel](img boxsum.Image[P], guide boxsum.Image[G], w Window, epsilon float64, opt *Options) (boxsum.Image[P], error) {
	return guidedNew[P](&img, &guide, w, epsilon, opt)
}

func guidedNew[P Pixel](img, guide any, w Window, epsilon float64, opt *Options) (boxsum.Image[P], error) {
	dst, err := newFor[P](img, w, opt)
	if err != nil {
		return dst, err
	}
	return orNone(dst, guidedInto(&dst, img, guide, w, epsilon, opt))
}

// GuidedInto is [Guided] into an image of the same size, which may be img or the guide
// itself. It allocates nothing once images of these types and sizes have been filtered.
func GuidedInto[P, G Pixel](dst, img boxsum.Image[P], guide boxsum.Image[G], w Window, epsilon float64, opt *Options) error {
	return guidedInto(&dst, &img, &guide, w, epsilon, opt)
}

func guidedInto(to, from, by any, w Window, epsilon float64, opt *Options) error {
	dst, img, g := pixels(to), pixels(from), pixels(by)
	var t task
	if err := t.check(&img, w, opt); err != nil {
		return err
	}
	if !(epsilon >= 0) || epsilon > math.MaxFloat64 {
		return grid.Invalid("an epsilon of %v: use 0 or more", epsilon)
	}
	if err := t.to(0, &dst); err != nil {
		return err
	}
	if err := g.Check(); err != nil {
		return err
	}
	if g.Width != t.src.Width || g.Height != t.src.Height || g.Channels != 1 && g.Channels != 3 {
		return grid.Invalid("a guide of %v for an image of %v: it takes the same size, and one channel or three", g.Extent, t.src.Extent)
	}
	over, err := overlap(&t.dst[0], &g)
	if err != nil {
		return err
	}
	if t.src.Width == 0 || t.src.Height == 0 {
		t.set.Report(1)
		return nil
	}
	if float64(w.Width)*float64(w.Height) >= 1<<40 {
		return grid.Invalid("a window of %d×%d is too large for this", w.Width, w.Height)
	}
	if err := window.CheckWrap(&t.shape, t.src.Height); err != nil {
		return err
	}
	if done, err := runGuidedBytes(&t, &g, epsilon, over); done {
		return err
	}
	run := engine.Take[engine.Run[guided]]()
	l := &run.Layer
	l.task, l.guide, l.over, l.epsilon = t, g, over, epsilon
	l.single = nil
	if t.src.Channels == 1 && g.Channels == 1 {
		l.single = guides[int(t.src.Of)*(int(pairs.F64)+1)+int(g.Of)].(func(kernel.Level, []float64, []byte, []byte, []float64, []float64, float64))
	}
	return run.Fill(t.set, l.plan(), l)
}

// guided is the layer of guided filters. Products of pixels become channels of an image of their own, row by row; a and b
// of its windows that of another.
type guided struct {
	task    task
	guide   window.Pixels
	over    bool // the guide is written over
	epsilon float64
	single  guideRow // where image and guide have one channel

	values  []float64
	frame   window.Frame // of the products
	fit     window.Frame // of a and b
	workers []guidedWorker

	copied      []byte
	copiedGuide []byte
}

// A guideRow makes products of a row of pixels, or where there is no room for any a row of results from the sums of a and b
// in windows of n pixels.
type guideRow func(level kernel.Level, products []float64, pix, guide []byte, hi, lo []float64, n float64)

func guideRowOf[P, G Pixel](level kernel.Level, products []float64, pix, guide []byte, hi, lo []float64, n float64) {
	img, by := kernel.Of[P](pix), kernel.Of[G](guide)
	if products != nil {
		kernel.GuidedProducts(level, products, img, by)
	} else {
		kernel.GuidedPixels(level, img, by, hi, lo, n, largest(pairs.TypeOf[P]()))
	}
}

type guidedWorker struct {
	layer  *guided
	rows   [2][]float64 // of products, the latest two
	latest int
	beyond []float64
	floats [3][]float64 // a row of the image, of the guide and of results
	means  []float64    // of the products of a window
	first  window.Stage[float64, float64]
	last   window.Sums[float64, float64]
	_      [kernel.LineBytes]byte
}

func (l *guided) plan() engine.Plan {
	shape, set, e := &l.task.shape, &l.task.set, &l.task.src.Extent
	p, g := e.Channels, l.guide.Channels
	l.frame = window.Frame{
		Width: e.Width, Height: e.Height, Channels: g + p + g*(g+1)/2 + g*p,
		Pixel: pairs.F64, Shape: *shape, Level: set.Level,
	}
	l.fit = l.frame
	l.fit.Channels = p * (g + 1)
	if l.fit.Border == window.Wrap {
		l.fit.Height = 0
	}
	if l.fit.Border == window.Constant { // which a and b have none of
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
	return window.ChainPlan(set, &l.frame, l.task.src.Size*8, 2*shape.Height(), window.Block[float64](shape.Height()))
}

// Prepare implements [engine.Layer].
func (l *guided) Prepare(p *engine.Plan) error {
	if l.task.same {
		l.copied = l.task.src.Copy(l.copied)
	}
	if l.over {
		l.copiedGuide = l.guide.Copy(l.copiedGuide)
	}
	l.workers = engine.Workers(l.workers, p.Workers)
	width, n := l.frame.Width, l.frame.Width*l.frame.Channels
	for i := range l.workers[:p.Workers] {
		w := &l.workers[i]
		w.layer = l
		w.rows[0], w.rows[1] = engine.AtLeast(w.rows[0], n), engine.AtLeast(w.rows[1], n)
		w.beyond = engine.AtLeast(w.beyond, n)
		for k, channels := range [...]int{l.task.src.Channels, l.guide.Channels, l.task.src.Channels} {
			w.floats[k] = engine.AtLeast(w.floats[k], width*channels)
		}
		w.means = engine.AtLeast(w.means, l.frame.Channels)
		w.outside()
	}
	return nil
}

// outside makes the row of products beyond the image.
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
		return kernel.Bytes(w.beyond)
	}
	w.latest ^= 1
	row := w.rows[w.latest]
	w.products(row, y)
	return kernel.Bytes(row)
}

// products makes those of the pixels of a row.
func (w *guidedWorker) products(row []float64, y int) {
	l := w.layer
	src, guide := &l.task.src, &l.guide
	p, g := src.Channels, guide.Channels
	pix, by := src.Row(0, y, src.Width), guide.Row(0, y, src.Width)
	if l.single != nil {
		l.single(l.frame.Level, row, pix, by, nil, nil, 0)
		return
	}
	window.Floats(w.floats[0], pix, src.Of)
	window.Floats(w.floats[1], by, guide.Of)
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

// Make implements [window.Maker]: a for each channel of the guide and b, for each of the
// image.
func (w *guidedWorker) Make(to []byte, _ int, s *window.Sums[float64, float64]) {
	l, r, dst := w.layer, s.Windows(), kernel.Of[float64](to)
	p, g, c := l.task.src.Channels, l.guide.Channels, l.frame.Channels
	out := p * (g + 1)
	if p == 1 && g == 1 {
		for from, to, n := 0, 0, len(r.Hi)/4; from < n; from = to {
			to = r.Same(from)
			kernel.GuidedFit(l.frame.Level, dst[2*from:2*to], r.Hi[4*from:4*to], r.Lo[4*from:4*to], float64(r.Count(from)), l.epsilon)
		}
		return
	}
	m := w.means
	for x := range len(r.Hi) / c {
		n := 1 / float64(r.Count(x))
		for k := range c {
			m[k] = (r.Hi[x*c+k] - r.Lo[x*c+k]) * n
		}
		l.solve(dst[x*out:][:out], m[:g], m[g:g+p], m[g+p:g+p+g*(g+1)/2], m[g+p+g*(g+1)/2:c])
	}
}

// quotient is a/b, and 0 where the guide is flat and nothing keeps it smooth.
func quotient(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// solve finds a and b from means: of the guide, the image, the products of the guide's
// channels and those with the image's.
func (l *guided) solve(to, i, v, ii, iv []float64) {
	g := len(i)
	if g == 1 {
		variance := max(0, ii[0]-float64(i[0]*i[0])) + l.epsilon
		for c, m := range v {
			a := quotient(iv[c]-float64(i[0]*m), variance)
			to[2*c], to[2*c+1] = a, m-float64(a*i[0])
		}
		return
	}
	// The covariances of the guide C are a symmetric 3×3 matrix. C + epsilon is split into L·D·Lᵀ, which stays
	// right where windows have few colours and C has no inverse, as cofactors do not.
	rr, rg, rb := ii[0]-float64(i[0]*i[0]), ii[1]-float64(i[0]*i[1]), ii[2]-float64(i[0]*i[2])
	gg, gb, bb := ii[3]-float64(i[1]*i[1]), ii[4]-float64(i[1]*i[2]), ii[5]-float64(i[2]*i[2])
	d0 := l.inverse(rr+l.epsilon, ii[0])
	l10, l20 := float64(rg*d0), float64(rb*d0)
	d1 := l.inverse(gg+l.epsilon-float64(l10*rg), ii[3])
	rest := gb - float64(l10*rb)
	l21 := float64(rest * d1)
	d2 := l.inverse(bb+l.epsilon-float64(l20*rb)-float64(l21*rest), ii[5])
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

// inverse is 1/d, of a variance that is at least epsilon and was made from this mean of squares. It is 0 where
// nothing but rounding is left of it.
func (l *guided) inverse(d, squares float64) float64 {
	if d < l.epsilon {
		d = l.epsilon // a NaN stays
	}
	if l.epsilon == 0 && d <= squares*0x1p-48 {
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

// results makes a row of n pixels from the sums of a and b.
func (w *guidedWorker) results(y, n int, r *window.Row[float64, float64]) {
	l := w.layer
	src, guide := &l.task.src, &l.guide
	p, g := src.Channels, guide.Channels
	dst, by := l.task.dst[0].Row(0, y, n), guide.Row(0, y, n)
	if l.single != nil {
		size, guideSize := src.Size, guide.Size
		for from, to := 0, 0; from < n; from = to {
			to = r.Same(from)
			l.single(l.frame.Level, nil, dst[from*size:to*size], by[from*guideSize:to*guideSize], r.Hi[2*from:2*to], r.Lo[2*from:2*to], float64(r.Count(from)))
		}
		return
	}
	window.Floats(w.floats[1], by, guide.Of)
	out := w.floats[2]
	for x := range n {
		inv := 1 / float64(r.Count(x))
		i := w.floats[1][x*g:][:g]
		for c := range p {
			at := (x*p + c) * (g + 1)
			q := float64((r.Hi[at+g] - r.Lo[at+g]) * inv)
			for k, v := range i {
				q += float64(float64((r.Hi[at+k]-r.Lo[at+k])*inv) * v)
			}
			out[x*p+c] = q
		}
	}
	toPixels(src.Of, dst, out)
}

// toPixels makes pixels of numbers: rounded and clamped where those are integers. NaN, which
// they have not, is 0.
func toPixels(of pairs.Type, dst []byte, values []float64) {
	switch of {
	case pairs.U8:
		toWhole(dst, values, largest(of))
	case pairs.U16:
		toWhole(kernel.Of[uint16](dst), values, largest(of))
	case pairs.F32:
		for i, to := 0, kernel.Of[float32](dst); i < len(to); i++ {
			to[i] = float32(values[i])
		}
	default:
		copy(kernel.Of[float64](dst), values)
	}
}

func toWhole[P uint8 | uint16](dst []P, values []float64, most float64) {
	for i := range dst {
		if v := values[i]; v > 0 {
			dst[i] = P(min(v+0.5, most))
		} else {
			dst[i] = 0
		}
	}
}

func (l *guided) Finish() {}

func (l *guided) Release() int {
	l.task, l.guide = task{}, window.Pixels{}
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
