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

// A task is what a call was asked for, checked.
type task struct {
	set   engine.Settings
	shape window.Shape
	src   window.Pixels
	kind  kind
	dst   [2]window.Pixels
	floor float64 // the least deviation to divide by
	most  uint64  // the greatest pixel of integers
	same  bool    // dst is src
}

// check is all that can be wrong with options, window and image.
func (t *task) check(src *window.Pixels, w Window, opt *Options) (err error) {
	if t.set, err = engineOptions(opt).Check(); err != nil {
		return err
	}
	if t.shape, err = shapeOf(src.Of, w, opt); err != nil {
		return err
	}
	if t.src = *src; !src.Of.Float() {
		t.most = uint64(largest(src.Of))
	}
	return t.src.Check()
}

// to is where result i goes: an image of the source's size, which may be the source itself.
func (t *task) to(i int, dst *window.Pixels) error {
	d, src := &t.dst[i], &t.src
	*d = *dst
	if err := d.Check(); err != nil {
		return err
	}
	if d.Width != src.Width || d.Height != src.Height || d.Channels != src.Channels {
		return grid.Invalid("an image of %v cannot take what is made from one of %v", d.Extent, src.Extent)
	}
	same, err := overlap(d, src)
	t.same = t.same || same
	if err == nil && i == 1 {
		err = grid.Overlap(t.dst[0].Mem, d.Mem)
	}
	return err
}

// overlap reports whether an image is the source itself. To share only some memory with it
// is an error.
func overlap(dst, src *window.Pixels) (same bool, err error) {
	switch {
	case !shares(dst.Mem, src.Mem):
		return false, nil
	case dst.Of == src.Of && &dst.Mem[0] == &src.Mem[0] && dst.Stride == src.Stride:
		return true, nil
	}
	return false, errOverlap()
}

// shares reports whether two buffers share memory.
func shares(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	a0, b0 := uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&b[0]))
	return a0 < b0+uintptr(len(b)) && b0 < a0+uintptr(len(a))
}

// single reports whether windows of one pixel, which are to be copied, are asked for.
func (t *task) single() bool {
	return t.kind <= mean && t.dst[0].Of == t.src.Of && t.shape.Width() == 1 && t.shape.Height() == 1
}

// copied is what a window of one pixel makes.
func copied(t *task) error {
	for y := 0; y < t.src.Height && !t.same; y++ {
		if err := t.set.Stopped(); err != nil {
			return err
		}
		copy(t.dst[0].Row(0, y, t.src.Width), t.src.Row(0, y, t.src.Width))
	}
	t.set.Report(1)
	return nil
}

// run makes the result with sums that fit the window.
func (t *task) run() error {
	if t.src.Width == 0 || t.src.Height == 0 {
		t.set.Report(1)
		return nil
	}
	if t.single() {
		return copied(t)
	}
	if done, err := runSmallBox(t); done {
		return err
	}
	switch t.sums() {
	case noSums:
		return grid.Invalid("windows of %d×%d are too large for their sums: use smaller ones, or the border clip", t.shape.Width(), t.shape.Height())
	case floatSums:
		return runLocal(t, makeRow[float64, float64])
	case longSums:
		return runLocal(t, makeRow[uint64, uint64])
	case mixedSums:
		return runLocal(t, makeRow[uint32, uint64])
	}
	if t.box().Kind.Narrow() {
		return runLocal[uint16, uint16](t, nil)
	}
	return runLocal(t, makeRow[uint32, uint32])
}

// sumsKind is the types of the sums of windows and of their squares.
type sumsKind uint8

const (
	noSums    sumsKind = iota // integers that are too large for any
	shortSums                 // both have 32 bits
	mixedSums                 // squares have 64
	longSums                  // both have 64
	floatSums
)

// sums is what fits the window.
func (t *task) sums() sumsKind {
	if t.src.Of.Float() {
		return floatSums
	}
	most := largest(t.src.Of)
	sum := t.area() * most
	limit := sum
	if t.kind.squares() {
		limit *= most
	}
	switch {
	case limit >= 1<<63:
		return noSums
	case limit < 1<<32:
		return shortSums
	case sum < 1<<32:
		return mixedSums
	}
	return longSums
}

// box is the kernel for means of bytes, of kind BoxNone where there is none.
func (t *task) box() (b kernel.Box) {
	f := window.Frame{Width: t.src.Width, Height: t.src.Height, Channels: t.src.Channels, Shape: t.shape}
	if t.src.Of == pairs.U8 && t.dst[0].Of == pairs.U8 && t.kind == mean && t.shape.Border != window.Clip && f.Plain() {
		b = kernel.NewBox(t.set.Level, t.shape.Width(), t.shape.Height(), t.src.Channels)
	}
	return b
}

// area is how many pixels a window has at most.
func (t *task) area() float64 { return area(&t.shape, &t.src.Extent) }

// frame is the image as windows see it.
func (t *task) frame() window.Frame { return frameOf(&t.src, &t.shape, t.kind.squares(), t.set.Level) }

func frameOf(src *window.Pixels, shape *window.Shape, squares bool, level kernel.Level) window.Frame {
	f := window.Frame{Width: src.Width, Height: src.Height, Channels: src.Channels, Pixel: src.Of, Shape: *shape, Squares: squares, Level: level}
	if src.Of.Float() {
		f.Offset = window.OffsetOf(src, shape)
	}
	return f
}

// local is the layer of all that is made from the sums of windows.
type local[A, Q kernel.Number] struct {
	window.Layer[A, Q]
	results
	row rowMaker[A, Q]
}

// A rowMaker makes pixels [x, x+n) of a row of results, the first ones in memory that is given.
type rowMaker[A, Q kernel.Number] func(t *task, first []byte, x, y, n int, pix []byte, r *window.Row[A, Q])

// results is what a local layer has whatever the type of sums.
type results struct {
	task    task
	box     kernel.Box          // of bytes
	scratch []kernel.BoxScratch // of workers

	past bool     // results go past the caches, which bytes do not gain by
	rows [][]byte // of workers, where they are made then

	stats     kernel.StatsBox // of means and deviations of bytes
	statsFast bool            // it makes all rows
}

// aim is for a task with sums of so many bytes.
func (l *results) aim(t *task, f *window.Frame, size, squaresSize int) {
	l.task = *t
	if l.box = t.box(); l.box.Kind == kernel.BoxWords && size != 4 {
		l.box.Kind = kernel.BoxNone
	}
	l.statsFast = false
	if t.src.Of == pairs.U8 && t.dst[0].Of == pairs.F32 && t.kind == meanDeviation && t.shape.Border != window.Clip && f.Plain() && size+squaresSize == 8 {
		l.stats, l.statsFast = kernel.NewStatsBox(t.set.Level, t.shape.Width(), t.shape.Height(), t.src.Channels, 8*t.src.Width*t.src.Height*t.src.Channels)
	}
	of := t.dst[0].Size
	l.past = !t.same && t.kind != meanDeviation && of >= 4 && kernel.Past(of*t.src.Width*t.src.Height*t.src.Channels)
}

func runLocal[A, Q kernel.Number](t *task, row rowMaker[A, Q]) error {
	run := engine.Take[engine.Run[local[A, Q]]]()
	l := &run.Layer
	l.Src, l.InPlace, l.Sink, l.Frame, l.row = t.src, t.same, l, t.frame(), row
	l.aim(t, &l.Frame, grid.SizeOf[A](), grid.SizeOf[Q]())
	p := l.Plan(&t.set, t.dst[0].Size)
	l.scratch = engine.Workers(l.scratch, p.Workers)
	l.rows = engine.Workers(l.rows, p.Workers)
	return run.Fill(t.set, p, l)
}

// Release implements [engine.Layer].
func (l *local[A, Q]) Release() int {
	l.task = task{}
	bytes := l.Layer.Release()
	for _, r := range l.rows {
		bytes += engine.Bytes(r)
	}
	return bytes
}

// Tile implements [engine.Layer].
func (l *local[A, Q]) Tile(worker, x, y, n, rows int) {
	l.Layer.Tile(worker, x, y, n, rows)
	if l.past {
		kernel.StoreFence()
	}
}

// Row implements [window.Sink].
func (l *local[A, Q]) Row(worker, x, y, n int, pix []byte, s *window.Sums[A, Q]) {
	c, dst := l.Frame.Channels, l.task.dst[0].Row(x, y, n)
	switch {
	case l.box.Kind.Narrow():
		cols, _ := s.Columns(c)
		l.box.Narrow(dst, as[uint16](cols), &l.scratch[worker])
	case l.box.Kind != kernel.BoxNone:
		cols, _ := s.Columns(c)
		l.box.Row(dst, as[uint32](cols), &l.scratch[worker])
	case l.statsFast:
		cols, _ := s.Columns(c)
		l.stats.Row(kernel.Of[float32](dst), kernel.Of[float32](l.task.dst[1].Row(x, y, n)),
			as[uint32](cols), as[uint32](s.SquareColumns(c)), &l.scratch[worker])
	case l.past:
		row := engine.AtLeast(l.rows[worker], len(dst))
		l.rows[worker] = row
		l.row(&l.task, row, x, y, n, pix, s.Windows())
		kernel.StreamCopy(dst, row)
	default:
		l.row(&l.task, dst, x, y, n, pix, s.Windows())
	}
}

// as is a slice whose elements are known to be of type T.
func as[T, F any](s []F) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

// makeRow is the [rowMaker] of sums of these types.
func makeRow[A, Q kernel.Number](t *task, first []byte, x, y, n int, pix []byte, r *window.Row[A, Q]) {
	second := []byte(nil)
	if t.kind == meanDeviation {
		second = t.dst[1].Row(x, y, n)
	}
	for i, j := 0, 0; i < n; i = j {
		j = r.Same(i)
		some(t, r, first, second, pix, i, j, r.Count(i))
	}
}

// some makes pixels [i, j) of a row, whose windows have this many pixels.
func some[A, Q kernel.Number](t *task, r *window.Row[A, Q], first, second, pix []byte, i, j int, count int64) {
	i, j = i*r.Channels, j*r.Channels
	d := &t.dst[0]
	hi, lo, first := r.Hi[i:j], r.Lo[i:j], first[i*d.Size:j*d.Size]
	switch most := t.most * uint64(count); {
	case t.kind == sum:
		sums(d.Of, first, hi, lo, r.Offset*float64(count))
		return
	case t.kind == mean && !d.Of.Float():
		rounded(t.set.Level, d.Of, first, hi, lo, uint64(count), 0, most)
		return
	case t.kind == mean:
		means(t.set.Level, d.Of, first, hi, lo, float64(count), r.Offset, most)
		return
	case t.kind == meanDeviation:
		means(t.set.Level, d.Of, first, hi, lo, float64(count), r.Offset, most)
		first = second[i*d.Size : j*d.Size]
	}
	hi2, lo2 := r.HiSquares[i:j], r.LoSquares[i:j]
	if t.kind == normalized {
		contrasts(t, r, i, first, pix[i*t.src.Size:j*t.src.Size], hi, lo, hi2, lo2, count)
	} else {
		spread(t, r, i, first, hi, lo, hi2, lo2, count)
	}
}

// contrasts is how many deviations pixels are above the mean, from element i on.
func contrasts[A, Q kernel.Number](t *task, r *window.Row[A, Q], i int, dst, pix []byte, hi, lo []A, hi2, lo2 []Q, count int64) {
	of, size := t.dst[0].Of, t.dst[0].Size
	var kept [128]float64 // the pixels, over which deviations may be written
	inv := 1 / float64(count)
	for k := 0; k < len(hi); k += len(kept) {
		n := min(len(kept), len(hi)-k)
		from, some := kept[:n], dst[k*size:][:n*size]
		window.Floats(from, pix[k*t.src.Size:][:n*t.src.Size], t.src.Of)
		spread(t, r, i+k, some, hi[k:], lo[k:], hi2[k:], lo2[k:], count)
		if of == pairs.F32 {
			normalize(kernel.Of[float32](some), from, hi[k:], lo[k:], inv, r.Offset, t.floor)
		} else {
			normalize(kernel.Of[float64](some), from, hi[k:], lo[k:], inv, r.Offset, t.floor)
		}
	}
}

// sums of windows lack the offset.
func sums[A kernel.Number](of pairs.Type, dst []byte, hi, lo []A, offset float64) {
	switch of {
	case pairs.U8:
		sumsOf(dst, hi, lo, offset)
	case pairs.U16:
		sumsOf(kernel.Of[uint16](dst), hi, lo, offset)
	case pairs.U32:
		sumsOf(kernel.Of[uint32](dst), hi, lo, offset)
	case pairs.I16:
		sumsOf(kernel.Of[int16](dst), hi, lo, offset)
	case pairs.I32:
		sumsOf(kernel.Of[int32](dst), hi, lo, offset)
	case pairs.F32:
		sumsOf(kernel.Of[float32](dst), hi, lo, offset)
	default:
		sumsOf(kernel.Of[float64](dst), hi, lo, offset)
	}
}

func sumsOf[A kernel.Number, D boxsum.Pixel](dst []D, hi, lo []A, offset float64) {
	for k := range dst {
		dst[k] = D(float64(hi[k]-lo[k]) + offset)
	}
}

// normalize makes contrasts of deviations: how many of them pixels are above the means.
func normalize[A kernel.Number, D Float](dst []D, pix []float64, hi, lo []A, inv, offset, floor float64) {
	pix, hi, lo = pix[:len(dst)], hi[:len(dst)], lo[:len(dst)]
	for k, dev := range dst {
		m := float64(float64(hi[k]-lo[k])*inv) + offset
		d := pix[k] - m
		s := float64(dev)
		if !(s >= floor) {
			s = max(s, floor) // a NaN stays
		}
		if s != 0 {
			d /= s
		} else {
			d = 0
		}
		dst[k] = D(d)
	}
}

// rounded is the means of integers, see [kernel.RoundedMeans].
func rounded[A kernel.Number](level kernel.Level, of pairs.Type, dst []byte, hi, lo []A, n uint64, scale uint, most uint64) {
	switch {
	case !isWhole[A]():
	case of == pairs.U8:
		kernel.RoundedMeans(level, dst, hi, lo, n, scale, most)
	default:
		kernel.RoundedMeans(level, kernel.Of[uint16](dst), hi, lo, n, scale, most)
	}
}

// means of floats of 32 bits are products with 1/n, which is off by one part in 2^52 at
// most; those of 64 bits are quotients. Sums of integers are most at most.
func means[A kernel.Number](level kernel.Level, of pairs.Type, dst []byte, hi, lo []A, n, offset float64, most uint64) {
	if of == pairs.F32 {
		kernel.FloatMeans(level, kernel.Of[float32](dst), hi, lo, n, offset, most)
		return
	}
	for k, to := 0, kernel.Of[float64](dst); k < len(to); k++ {
		to[k] = float64(hi[k]-lo[k])/n + offset
	}
}

// spread is the variances of windows from element i on, or their roots.
func spread[A, Q kernel.Number](t *task, r *window.Row[A, Q], i int, dst []byte, hi, lo []A, hi2, lo2 []Q, count int64) {
	root := t.kind != variance
	if t.dst[0].Of == pairs.F64 {
		doubles := kernel.Of[float64](dst)
		if variances(doubles, r, i, hi, lo, hi2, lo2, count); root {
			roots(doubles)
		}
		return
	}
	singles := kernel.Of[float32](dst)
	v, ok := kernel.NewVariances(uint64(count))
	switch {
	case !ok || t.src.Of != pairs.U8:
		if variances(singles, r, i, hi, lo, hi2, lo2, count); root {
			roots(singles)
		}
	case grid.SizeOf[Q]() == 4: // then A is of 32 bits too
		v.Row(t.set.Level, singles, as[uint32](hi), as[uint32](lo), as[uint32](hi2), as[uint32](lo2), root)
	default:
		for k := range singles {
			d := v.Of(uint32(hi[k]-lo[k]), uint32(hi2[k]-lo2[k]))
			if root {
				d = float32(math.Sqrt(float64(d)))
			}
			singles[k] = d
		}
	}
}

// unsure is the part of a prefix of squares that rounding may take a ten-thousandth of.
const unsure = 0x1p-36

// squareRounding is what rounding may leave of a prefix of squares where the pixels of a window are equal.
const squareRounding = 0x1p-49

// variances of integers are exact but for the last two roundings.
func variances[A, Q kernel.Number, D Float](dst []D, r *window.Row[A, Q], i int, hi, lo []A, hi2, lo2 []Q, count int64) {
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
func roots[D Float](dst []D) {
	for k, v := range dst {
		dst[k] = D(math.Sqrt(float64(v)))
	}
}
