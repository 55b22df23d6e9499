package filter

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/pairs"
	"github.com/boxsum/boxsum/internal/window"
)

// A kind is what is made of the sums of a window.
type kind uint8

const (
	sum kind = iota
	mean
	variance
	deviation
	meanDeviation // two images
	normalized
)

func (k kind) squares() bool { return k >= variance }

// A target is an image to fill. Its extent has been checked.
type target[D boxsum.Pixel] struct {
	pix    []D
	stride int
}

func (t *target[D]) row(x, y, n, channels int) []D {
	return t.pix[y*t.stride+x*channels:][:n*channels]
}

// A task is what a call was asked for, checked.
type task[P Pixel, D boxsum.Pixel] struct {
	set   engine.Settings
	shape window.Shape
	src   engine.Source[P]
	kind  kind
	dst   [2]target[D]
	floor float64 // the least deviation to divide by
	same  bool    // dst is src
}

// check is all that can be wrong with options, window and image.
func (t *task[P, D]) check(src *boxsum.Image[P], w Window, opt *Options) (err error) {
	if t.set, err = engineOptions(opt).Check(); err != nil {
		return err
	}
	if t.shape, err = shapeOf[P](w, opt); err != nil {
		return err
	}
	t.src.Image(src.Pix, src.Width, src.Height, src.Channels, src.Stride)
	return t.src.Pixels(len(src.Pix))
}

// to is where result i goes: an image of the source's size, which may be the source itself.
func (t *task[P, D]) to(i int, dst *boxsum.Image[D]) error {
	same, err := accept(dst, &t.src, &t.dst[i])
	t.same = t.same || same
	if err == nil && i == 1 {
		err = grid.Overlap(t.dst[0].pix, t.dst[1].pix)
	}
	return err
}

// accept takes an image of the source's size as a target. It reports whether it is the
// source itself.
func accept[P Pixel, D boxsum.Pixel](dst *boxsum.Image[D], src *engine.Source[P], to *target[D]) (same bool, err error) {
	e := grid.Plane(dst.Width, dst.Height, dst.Channels, dst.Stride)
	if err := e.Pixels(len(dst.Pix)); err != nil {
		return false, err
	}
	if e.Width != src.Width || e.Height != src.Height || e.Channels != src.Channels {
		return false, grid.Invalid("an image of %v cannot take what is made from one of %v", e, src.Extent)
	}
	*to = target[D]{dst.Pix, e.Stride}
	return overlap(dst.Pix, e.Stride, src)
}

// overlap reports whether an image is the source itself. To share only some memory with it
// is an error.
func overlap[P Pixel, D boxsum.Pixel](pix []D, stride int, src *engine.Source[P]) (same bool, err error) {
	if !shares(pix, src.Pix) {
		return false, nil
	}
	_, sameType := any(*new(D)).(P)
	if sameType && unsafe.Pointer(unsafe.SliceData(pix)) == unsafe.Pointer(unsafe.SliceData(src.Pix)) && stride == src.Stride {
		return true, nil
	}
	return false, errOverlap()
}

// shares reports whether two buffers share memory.
func shares[A, B any](a []A, b []B) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	a0, b0 := uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&b[0]))
	return a0 < b0+uintptr(len(b)*grid.SizeOf[B]()) && b0 < a0+uintptr(len(a)*grid.SizeOf[A]())
}

// copied is what a window of one pixel makes.
func copied[P Pixel](t *task[P, P]) error {
	for y := 0; y < t.src.Height && !t.same; y++ {
		if err := t.set.Stopped(); err != nil {
			return err
		}
		copy(t.dst[0].row(0, y, t.src.Width, t.src.Channels), t.src.Pix[y*t.src.Stride:])
	}
	t.set.Report(1)
	return nil
}

// run makes the result with sums that fit the window.
func (t *task[P, D]) run() error {
	if t.src.Width == 0 || t.src.Height == 0 {
		t.set.Report(1)
		return nil
	}
	if same, ok := any(t).(*task[P, P]); ok && t.kind <= mean && t.shape.Width() == 1 && t.shape.Height() == 1 {
		return copied(same)
	}
	list := runs[:]
	switch {
	case isFloat[P]():
		list = floatRuns[:]
	case D(1)/2 == 0 && (grid.SizeOf[D]() != grid.SizeOf[P]() || D(0)-1 < 0):
		list = sumRuns[:] // of integers of another type, which a program that has none does not link
	}
	return list[pairs.NumberTwo[D, P]()].(func(task[P, D]) error)(*t)
}

func runFloats[D boxsum.Pixel, P Pixel](t task[P, D]) error { return runLocal[P, float64, float64](&t) }

func runTask[D boxsum.Pixel, P Pixel](t task[P, D]) error {
	if bytes, ok := any(&t).(*task[uint8, uint8]); ok {
		if done, err := runSmallBox(bytes); done {
			return err
		}
	}
	most, area := largest[P](), t.area()
	limit := area * most
	if t.kind.squares() {
		limit *= most
	}
	switch {
	case limit >= 1<<63:
		return grid.Invalid("windows of %d×%d are too large for their sums: use smaller ones, or the border clip", t.shape.Width(), t.shape.Height())
	case t.box().Narrow():
		return narrow.(func(task[P, D]) error)(t)
	case limit < 1<<32:
		return runLocal[P, uint32, uint32](&t)
	case area*most < 1<<32:
		return runLocal[P, uint32, uint64](&t)
	}
	return runLocal[P, uint64, uint64](&t)
}

// narrow is for means of bytes with the sums of small windows. No other pixels have any: it is not compiled for them.
var narrow any = func(t task[uint8, uint8]) error { return runLocal[uint8, uint16, uint16](&t) }

// box is the kind of kernel there is for means of bytes.
func (t *task[P, D]) box() kernel.BoxKind {
	b := t.newBox()
	return b.Kind
}

func (t *task[P, D]) newBox() (b kernel.Box) {
	_, bytes := any(*new(P)).(uint8)
	_, toBytes := any(*new(D)).(uint8)
	f := window.Frame{Width: t.src.Width, Height: t.src.Height, Channels: t.src.Channels, Shape: t.shape}
	if bytes && toBytes && t.kind == mean && t.shape.Border != window.Clip && f.Plain() {
		b = kernel.NewBox(t.set.Level, t.shape.Width(), t.shape.Height(), t.src.Channels)
	}
	return b
}

// area is how many pixels a window has at most.
func (t *task[P, D]) area() float64 {
	w, h := t.shape.Width(), t.shape.Height()
	if t.shape.Border == window.Clip {
		w, h = min(w, t.src.Width), min(h, t.src.Height)
	}
	return float64(w) * float64(h)
}

// local is the layer of all that is made from the sums of windows.
type local[P Pixel, A, Q kernel.Number, D boxsum.Pixel] struct {
	window.Layer[P, A, Q]
	task    task[P, D]
	box     kernel.Box          // of bytes
	scratch []kernel.BoxScratch // of workers

	past bool  // results go past the caches, which bytes do not gain by
	rows [][]D // of workers, where they are made then

	stats     kernel.StatsBox // of means and deviations of bytes
	statsFast bool            // it makes all rows
}

func runLocal[P Pixel, A, Q kernel.Number, D boxsum.Pixel](t *task[P, D]) error {
	run := engine.Take[engine.Run[local[P, A, Q, D]]]()
	l := &run.Layer
	l.task = *t
	l.Src, l.InPlace, l.Sink = t.src, t.same, l
	l.Frame = frameOf(&t.src, &t.shape, t.kind.squares(), t.set.Level)
	if l.box = t.newBox(); l.box.Kind == kernel.BoxWords && grid.SizeOf[A]() != 4 {
		l.box.Kind = kernel.BoxNone
	}
	l.statsFast = false
	_, bytes := any(*new(P)).(uint8)
	_, single := any(*new(D)).(float32)
	if bytes && single && t.kind == meanDeviation && t.shape.Border != window.Clip && l.Frame.Plain() && grid.SizeOf[A]()+grid.SizeOf[Q]() == 8 {
		l.stats, l.statsFast = kernel.NewStatsBox(t.set.Level, t.shape.Width(), t.shape.Height(), t.src.Channels, 8*t.src.Width*t.src.Height*t.src.Channels)
	}
	p := l.Plan(&t.set, grid.SizeOf[D]())
	l.scratch = engine.Workers(l.scratch, p.Workers)
	l.past = !t.same && t.kind != meanDeviation && grid.SizeOf[D]() >= 4 && kernel.Past(grid.SizeOf[D]()*t.src.Width*t.src.Height*t.src.Channels)
	l.rows = engine.Workers(l.rows, p.Workers)
	return run.Fill(t.set, p, l)
}

// frameOf is an image as windows see it.
func frameOf[P Pixel](src *engine.Source[P], shape *window.Shape, squares bool, level kernel.Level) window.Frame {
	f := window.Frame{Width: src.Width, Height: src.Height, Channels: src.Channels, Shape: *shape, Squares: squares, Level: level}
	if isFloat[P]() {
		f.Offset = window.OffsetOf(src, shape)
	}
	return f
}

func (l *local[P, A, Q, D]) Release() int {
	l.task = task[P, D]{}
	bytes := l.Layer.Release()
	for _, r := range l.rows {
		bytes += engine.Bytes(r)
	}
	return bytes
}

// Tile implements [engine.Layer].
func (l *local[P, A, Q, D]) Tile(worker, x, y, n, rows int) {
	l.Layer.Tile(worker, x, y, n, rows)
	if l.past {
		kernel.StoreFence()
	}
}

// Row implements [window.Sink].
func (l *local[P, A, Q, D]) Row(worker, x, y, n int, pix []P, s *window.Sums[P, A, Q]) {
	c := l.Frame.Channels
	if !l.past {
		l.make(worker, x, y, n, pix, s, l.task.dst[0].row(x, y, n, c))
		return
	}
	row := engine.AtLeast(l.rows[worker], n*c)
	l.rows[worker] = row
	l.make(worker, x, y, n, pix, s, row)
	kernel.StreamCopy(bytesOf(l.task.dst[0].row(x, y, n, c)), bytesOf(row))
}

// bytesOf is the memory of a slice.
func bytesOf[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*grid.SizeOf[T]())
}

// make makes a row of results in first, and of the second ones in their place.
func (l *local[P, A, Q, D]) make(worker, x, y, n int, pix []P, s *window.Sums[P, A, Q], first []D) {
	c := l.Frame.Channels
	if l.box.Kind != kernel.BoxNone {
		dst := as[uint8](first)
		cols, _ := s.Columns(c)
		if l.box.Kind.Narrow() {
			l.box.Narrow(dst, as[uint16](cols), &l.scratch[worker])
		} else {
			l.box.Row(dst, as[uint32](cols), &l.scratch[worker])
		}
		return
	}
	if l.statsFast {
		cols, _ := s.Columns(c)
		l.stats.Row(as[float32](first), as[float32](l.task.dst[1].row(x, y, n, c)),
			as[uint32](cols), as[uint32](s.SquareColumns(c)), &l.scratch[worker])
		return
	}
	makeRow(&l.task, first, x, y, n, pix, s.Windows())
}

// as is a slice whose elements are known to be of type T.
func as[T, F any](s []F) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

// makeRow makes pixels [x, x+n) of a row of results.
func makeRow[P Pixel, A, Q kernel.Number, D boxsum.Pixel](t *task[P, D], first []D, x, y, n int, pix []P, r *window.Row[A, Q]) {
	second := []D(nil)
	if t.kind == meanDeviation {
		second = t.dst[1].row(x, y, n, r.Channels)
	}
	for i, j := 0, 0; i < n; i = j {
		j = r.Same(i)
		some(t, r, first, second, pix, i, j, r.Count(i))
	}
}

// some makes pixels [i, j) of a row, whose windows have this many pixels.
func some[P Pixel, A, Q kernel.Number, D boxsum.Pixel](t *task[P, D], r *window.Row[A, Q], first, second []D, pix []P, i, j int, count int64) {
	i, j = i*r.Channels, j*r.Channels
	hi, lo, first := r.Hi[i:j], r.Lo[i:j], first[i:j]
	switch {
	case t.kind == sum:
		sums(first, hi, lo, r.Offset*float64(count))
		return
	case t.kind == mean && !isFloat[P]() && D(1)/2 == 0:
		kernel.RoundedMeans(t.set.Level, first, hi, lo, uint64(count), 0, uint64(largest[P]())*uint64(count))
		return
	case t.kind == mean:
		means(t.set.Level, first, hi, lo, float64(count), r.Offset, largestSum[P]()*uint64(count))
		return
	}
	hi2, lo2 := r.HiSquares[i:j], r.LoSquares[i:j]
	switch t.kind {
	case variance, deviation:
		spread(t, r, i, first, hi, lo, hi2, lo2, count)
	case meanDeviation:
		means(t.set.Level, first, hi, lo, float64(count), r.Offset, largestSum[P]()*uint64(count))
		spread(t, r, i, second[i:j], hi, lo, hi2, lo2, count)
	case normalized:
		if pix = pix[i:j]; !t.same {
			spread(t, r, i, first, hi, lo, hi2, lo2, count)
			normalize(first, pix, hi, lo, 1/float64(count), r.Offset, t.floor)
			return
		}
		var kept [64]P // deviations are written over the pixels
		for k := 0; k < len(first); k += len(kept) {
			some, from := first[k:min(k+len(kept), len(first))], kept[:copy(kept[:], pix[k:])]
			spread(t, r, i+k, some, hi[k:], lo[k:], hi2[k:], lo2[k:], count)
			normalize(some, from, hi[k:], lo[k:], 1/float64(count), r.Offset, t.floor)
		}
	}
}

// sums of windows lack the offset.
//
//go:noinline
func sums[A kernel.Number, D boxsum.Pixel](dst []D, hi, lo []A, offset float64) {
	for k := range dst {
		dst[k] = D(float64(hi[k]-lo[k]) + offset)
	}
}

// normalize makes contrasts of deviations: how many of them pixels are above the means.
//
//go:noinline
func normalize[P Pixel, A kernel.Number, D boxsum.Pixel](dst []D, pix []P, hi, lo []A, inv, offset, floor float64) {
	for k, dev := range dst {
		m := float64(float64(hi[k]-lo[k])*inv) + offset
		d := float64(pix[k]) - m
		if s := max(float64(dev), floor); s != 0 {
			d /= s
		} else {
			d = 0
		}
		dst[k] = D(d)
	}
}

// largestSum is the greatest pixel of integers.
func largestSum[P Pixel]() uint64 {
	if isFloat[P]() {
		return 0
	}
	return uint64(largest[P]())
}

// means of floats of 32 bits are products with 1/n, which is off by one part in 2^52 at
// most; those of 64 bits are quotients. Sums of integers are most at most.
//
//go:noinline
func means[A kernel.Number, D boxsum.Pixel](level kernel.Level, dst []D, hi, lo []A, n, offset float64, most uint64) {
	if _, single := any(*new(D)).(float32); single {
		kernel.FloatMeans(level, as[float32](dst), hi, lo, n, offset, most)
		return
	}
	for k := range dst {
		dst[k] = D(float64(hi[k]-lo[k])/n + offset)
	}
}

// spread is the variances of windows from element i on, or their roots.
func spread[P Pixel, A, Q kernel.Number, D boxsum.Pixel](t *task[P, D], r *window.Row[A, Q], i int, dst []D, hi, lo []A, hi2, lo2 []Q, count int64) {
	root := t.kind != variance
	_, single := any(*new(D)).(float32)
	_, words := any(*new(Q)).(uint32) // then A is too
	_, bytes := any(*new(P)).(uint8)
	if v, ok := kernel.NewVariances(uint64(count)); single && bytes && ok {
		if words && grid.SizeOf[A]() == 4 {
			v.Row(t.set.Level, as[float32](dst), as[uint32](hi), as[uint32](lo), as[uint32](hi2), as[uint32](lo2), root)
			return
		}
		for k := range dst {
			d := v.Of(uint32(hi[k]-lo[k]), uint32(hi2[k]-lo2[k]))
			if root {
				d = float32(math.Sqrt(float64(d)))
			}
			dst[k] = D(d)
		}
		return
	}
	variances(dst, r, i, hi, lo, hi2, lo2, count)
	if root {
		roots(dst)
	}
}

// unsure is the part of a prefix of squares that rounding may take a ten-thousandth of.
const unsure = 0x1p-36

// squareRounding is what rounding may leave of a prefix of squares where the pixels of a window are equal.
const squareRounding = 0x1p-49

// variances of integers are exact but for the last two roundings.
func variances[A, Q kernel.Number, D boxsum.Pixel](dst []D, r *window.Row[A, Q], i int, hi, lo []A, hi2, lo2 []Q, count int64) {
	n := float64(count)
	if A(1)/2 != 0 {
		for k := range dst {
			s, q := float64(hi[k]-lo[k]), float64(hi2[k]-lo2[k])
			v := q - float64(s*s)/n
			if most := float64(hi2[k]); v <= most*unsure && most != 0 { // a NaN stays
				if e := r.Exact.Spread(i + k); e == e {
					v = e
				} else if v < most*squareRounding {
					v = 0
				}
			}
			v /= n
			dst[k] = D(v)
		}
		return
	}
	inv := 1 / float64(n*n)
	_, wide := any(*new(D)).(float64)
	for k := range dst {
		s, q := uint64(hi[k]-lo[k]), uint64(hi2[k]-lo2[k])
		qHi, qLo := bits.Mul64(q, uint64(count))
		sHi, sLo := bits.Mul64(s, s)
		d, borrow := bits.Sub64(qLo, sLo, 0)
		top, _ := bits.Sub64(qHi, sHi, borrow)
		v := float64(d)
		if top != 0 {
			v += float64(top) * (1 << 32) * (1 << 32)
		}
		if wide {
			dst[k] = D(v / float64(n*n))
		} else {
			dst[k] = D(v * inv)
		}
	}
}

// roots of float32 are those of float32.
func roots[D boxsum.Pixel](dst []D) {
	for k, v := range dst {
		dst[k] = D(math.Sqrt(float64(v)))
	}
}
