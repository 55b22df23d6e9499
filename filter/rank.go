package filter

import (
	"math"
	"slices"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/pairs"
	"github.com/boxsum/boxsum/internal/window"
)

// Median is the median of the window round every pixel, the lower one of two: what takes
// salt and pepper out of an image and keeps its edges. It is exact for all types. Windows of
// 3×3 and 5×5 integers are sorted in vectors. Others have a histogram that goes on from that
// of the window before, which takes twice as many steps a pixel as a window is high. Floats are numbered in their order first, which takes
// 12 bytes a pixel. A window that has a NaN has NaN for its median.
func Median[P Pixel](img boxsum.Image[P], w Window, opt *Options) (boxsum.Image[P], error) {
	var t task[P, P]
	if err := t.check(&img, w, opt); err != nil {
		return boxsum.Image[P]{}, err
	}
	dst, err := boxsum.NewImage[P](img.Width, img.Height, img.Channels)
	if err != nil {
		return dst, err
	}
	return orNone(dst, MedianInto(dst, img, w, opt))
}

// MedianInto is [Median] into an image of the same size, which may be img itself. Of
// integers it allocates nothing once an image of that type and size has been filtered.
func MedianInto[P Pixel](dst, img boxsum.Image[P], w Window, opt *Options) error {
	var t task[P, P]
	if err := t.check(&img, w, opt); err != nil {
		return err
	}
	if err := t.to(0, &dst); err != nil {
		return err
	}
	if err := checkCounted(&t.shape, &t.src.Extent); err != nil {
		return err
	}
	of := pairs.TypeOf[P]()
	if of.Float() {
		return floatMedianTasks[of].(func(task[P, P]) error)(t)
	}
	return medianTasks[of].(func(task[P, P]) error)(t)
}

func medianTask[P uint8 | uint16](t task[P, P]) error {
	if done, err := runSmallMedians(&t); done {
		return err
	}
	return runRank(&t, t.src, rank[P, P]{n: int(largest[P]()) + 1, none: -1})
}

func floatMedianTask[P Float](t task[P, P]) error {
	keys, order := ranks(&t.src, t.shape.Value, t.shape.Border == window.Constant)
	return runRank(&t, keys, rank[uint32, P]{n: len(order) + 1, none: -1, order: order})
}

// Entropy is Shannon's entropy of the histogram of the window round every pixel, in bits:
// 0 where all pixels fall into one bin. It finds texture. Zero bins are 256 of them over
// the range of 8- and 16-bit pixels; floats need a range. Pixels that fall into no bin do
// not count; a window without any that does has 0.
func Entropy[D Float, P Pixel](img boxsum.Image[P], w Window, bins histogram.Bins, opt *Options) (boxsum.Image[D], error) {
	var t task[P, D]
	if err := t.check(&img, w, opt); err != nil {
		return boxsum.Image[D]{}, err
	}
	dst, err := boxsum.NewImage[D](img.Width, img.Height, img.Channels)
	if err != nil {
		return dst, err
	}
	return orNone(dst, EntropyInto(dst, img, w, bins, opt))
}

// EntropyInto is [Entropy] into an image of the same size.
func EntropyInto[D Float, P Pixel](dst boxsum.Image[D], img boxsum.Image[P], w Window, bins histogram.Bins, opt *Options) error {
	var t task[P, D]
	if err := t.check(&img, w, opt); err != nil {
		return err
	}
	if err := t.to(0, &dst); err != nil {
		return err
	}
	if err := checkCounted(&t.shape, &t.src.Extent); err != nil {
		return err
	}
	if bins.N == 0 {
		bins.N = 256
	}
	bins, err := histogram.Over[P](bins)
	if err != nil {
		return err
	}
	return entropyTasks[pairs.NumberTwo[D, P]()].(func(task[P, D], histogram.Bins) error)(t, bins)
}

func entropyTask[D Float, P Pixel](t task[P, D], bins histogram.Bins) error {
	logs := logs(area(&t.shape, &t.src.Extent))
	if _, bytes := any(*new(P)).(uint8); bytes && bins.N == 256 && bins.Low == 0 && bins.High == 256 {
		keys := engine.Source[uint8]{Extent: t.src.Extent, Pix: as[uint8](t.src.Pix)}
		return runRank(&t, keys, rank[uint8, D]{n: 256, none: -1, logs: logs})
	}
	keys := binned(&t.src, bins)
	t.shape.Value = float64(binOf(bins, t.shape.Value))
	return runRank(&t, keys, rank[uint16, D]{n: bins.N + 1, none: bins.N, logs: logs})
}

// binOf is the bin of a value, or one more that counts for none.
func binOf(bins histogram.Bins, v float64) uint16 {
	if i := bins.Index(v); i >= 0 {
		return uint16(i)
	}
	return uint16(bins.N)
}

// binned is the bin of every pixel.
func binned[P Pixel](src *engine.Source[P], bins histogram.Bins) engine.Source[uint16] {
	keys := engine.Source[uint16]{Pix: make([]uint16, src.Width*src.Height*src.Channels)}
	keys.Image(keys.Pix, src.Width, src.Height, src.Channels, src.Width*src.Channels)
	known := map[P]uint16{}
	for y := range src.Height {
		row := src.Pix[y*src.Stride:][:keys.Stride]
		for i, p := range row {
			k, ok := known[p]
			if !ok {
				if k = binOf(bins, float64(p)); len(known) < 1<<16 {
					known[p] = k
				}
			}
			keys.Pix[y*keys.Stride+i] = k
		}
	}
	return keys
}

// maxCounted is how many pixels a window may have whose pixels are counted one by one.
const maxCounted = 1 << 26

func area(s *window.Shape, e *grid.Extent) float64 {
	w, h := s.Width(), s.Height()
	if s.Border == window.Clip {
		w, h = min(w, e.Width), min(h, e.Height)
	}
	return float64(w) * float64(h)
}

func checkCounted(s *window.Shape, e *grid.Extent) error {
	if area(s, e) > maxCounted || s.Width() > 1<<24 || s.Height() > 1<<24 {
		return grid.Invalid("a window of %d×%d has too many pixels to count: use a smaller one", s.Width(), s.Height())
	}
	return nil
}

// ranks numbers the values of an image in their order, from 0, and says which they are.
// NaN comes after all.
func ranks[P Pixel](src *engine.Source[P], constant float64, has bool) (engine.Source[uint32], []P) {
	n := src.Width * src.Channels
	order := make([]P, 0, n*src.Height+1)
	for y := range src.Height {
		for _, v := range src.Pix[y*src.Stride:][:n] {
			if v == v {
				order = append(order, v)
			}
		}
	}
	if has {
		order = append(order, P(constant))
	}
	slices.Sort(order)
	order = slices.Compact(order)
	keys := engine.Source[uint32]{Pix: make([]uint32, n*src.Height)}
	keys.Image(keys.Pix, src.Width, src.Height, src.Channels, n)
	for y := range src.Height {
		for i, v := range src.Pix[y*src.Stride:][:n] {
			k := len(order)
			if v == v {
				k, _ = slices.BinarySearch(order, v)
			}
			keys.Pix[y*n+i] = uint32(k)
		}
	}
	return keys, order
}

// logs is c·log2(c) for counts of up to this many, as whole numbers: so sums of them do
// not depend on their order.
func logs(most float64) []int64 {
	table := make([]int64, int(min(most, maxLogs))+2)
	for c := range table {
		table[c] = logOf(int64(c))
	}
	return table
}

const (
	maxLogs  = 1 << 16 // larger counts are worked out
	logScale = 1 << 24
)

func logOf(c int64) int64 {
	if c < 2 {
		return 0
	}
	return int64(math.Round(float64(c) * math.Log2(float64(c)) * logScale))
}

// rank is the layer of medians and entropies: of keys, which are numbers below n. Pixels are
// known to it only by their keys and, of medians, by their type, which is that of the results.
type rank[K uint8 | uint16 | uint32, D boxsum.Pixel] struct {
	shape  window.Shape
	dst    target[D]
	same   bool // dst has the keys
	keys   engine.Source[K]
	n      int
	none   int     // the key that does not count, -1 for no key
	logs   []int64 // of entropies; nil for medians
	order  []D     // what keys stand for; nil if they are the pixels
	copied []K
	cols   []int32 // elements of a row, by their place in windows; -1 outside

	workers []rankWorker
}

// rankWorker counts keys, and groups of 2^shift of them.
type rankWorker struct {
	fine, coarse []uint32
	shift        int
	all          uint32 // that count
	logs         int64  // of all counts
	rows         []int  // where the rows of windows start
	_            [kernel.LineBytes]byte
}

// runRank makes what is asked for of keys, which are counted as how says.
func runRank[K uint8 | uint16 | uint32, P Pixel, D boxsum.Pixel](t *task[P, D], keys engine.Source[K], how rank[K, D]) error {
	how.shape, how.dst, how.keys = t.shape, t.dst[0], keys
	how.same = t.same && how.order == nil && how.logs == nil
	return how.run(&t.set)
}

func (how *rank[K, D]) run(set *engine.Settings) error {
	width, height := how.keys.Width, how.keys.Height
	if width == 0 || height == 0 {
		set.Report(1)
		return nil
	}
	run := engine.Take[engine.Run[rank[K, D]]]()
	l := &run.Layer
	how.copied, how.cols, how.workers = l.copied, l.cols, l.workers
	*l = *how
	p := engine.Plan{Grid: engine.Grid{Rows: height, N: width, TileWidth: width, BandRows: 16}, Workers: 1, Shares: true}
	if width*height > 1<<12 {
		p.Workers = min(set.Workers(), engine.DivUp(height, p.BandRows))
	}
	return run.Fill(*set, p, l)
}

func (l *rank[K, D]) Prepare(p *engine.Plan) error {
	s, w := &l.shape, l.keys.Width
	if l.same { // keys are pixels that are written over
		n := w * l.keys.Channels
		l.copied = engine.AtLeast(l.copied, n*l.keys.Height)
		for y := range l.keys.Height {
			copy(l.copied[y*n:][:n], l.keys.Pix[y*l.keys.Stride:])
		}
		l.keys.Pix, l.keys.Stride = l.copied, n
	}
	l.cols = engine.AtLeast(l.cols, w+s.Width()-1)
	for i := range l.cols {
		l.cols[i] = int32(s.Border.Index(i-s.Left, w))
	}
	l.workers = engine.Workers(l.workers, p.Workers)
	for i := range l.workers[:p.Workers] {
		r := &l.workers[i]
		for r.shift = 0; 1<<(2*r.shift) < l.n; r.shift++ {
		}
		r.fine = engine.AtLeast(r.fine, l.n+1<<r.shift)
		r.coarse = engine.AtLeast(r.coarse, l.n>>r.shift+2)
	}
	return nil
}

// Tile implements [engine.Layer]: whole rows.
func (l *rank[K, D]) Tile(worker, _, y, n, rows int) {
	w, c := &l.workers[worker], l.keys.Channels
	w.start()
	_, bytes := any(*new(K)).(uint8)
	bytes = bytes && l.logs == nil && l.order == nil
	for end := y + rows; y < end; y++ {
		dst := l.dst.row(0, y, n, c)
		for ch := range c {
			if bytes {
				l.medians(w, dst, y, n, ch)
				continue
			}
			for i := range l.shape.Width() - 1 {
				l.column(w, i, y, ch, 1)
			}
			for x := range n {
				l.column(w, x+l.shape.Width()-1, y, ch, 1)
				dst[x*c+ch] = l.result(w)
				l.column(w, x, y, ch, ^uint32(0))
			}
			for i := range l.shape.Width() - 1 { // now it is empty again
				l.column(w, n+i, y, ch, ^uint32(0))
			}
		}
	}
}

// medians makes those of a row of bytes: with the histogram the median too goes on from
// that of the window before, which is near.
func (l *rank[K, D]) medians(w *rankWorker, dst []D, y, n, ch int) {
	s, k := &l.shape, &l.keys
	w.rows = w.rows[:0]
	constants := 0 // pixels of a column that the image does not have
	for i := y - s.Up; i <= y+s.Down; i++ {
		if at := s.Border.Index(i, k.Height); at >= 0 {
			w.rows = append(w.rows, at*k.Stride+ch)
		} else if s.Border == window.Constant {
			constants++
		}
	}
	h := (*[256]uint32)(w.fine)
	value := uint8(s.Value)
	median, below, all := uint8(0), uint32(0), uint32(0)
	pix := as[uint8](k.Pix)
	count := func(col int, by uint32) {
		x := int(l.cols[col])
		outer := uint32(constants)
		if x < 0 && s.Border == window.Constant {
			outer = uint32(s.Height())
		}
		if outer > 0 {
			h[value] += by * outer
			all += by * outer
			if value < median {
				below += by * outer
			}
		}
		if x < 0 {
			return
		}
		x *= k.Channels
		for _, row := range w.rows {
			v := pix[row+x]
			h[v] += by
			if v < median {
				below += by
			}
		}
		all += by * uint32(len(w.rows))
	}
	for i := range s.Width() - 1 {
		count(i, 1)
	}
	for x := range n {
		count(x+s.Width()-1, 1)
		half := (all - 1) / 2
		for below > half {
			median--
			below -= h[median]
		}
		for below+h[median] <= half {
			below += h[median]
			median++
		}
		dst[x*k.Channels+ch] = D(median)
		count(x, ^uint32(0))
	}
	clear(h[:])
}

func (w *rankWorker) start() {
	clear(w.fine)
	clear(w.coarse)
	w.all, w.logs = 0, 0
}

// column counts the keys in a column of windows, or takes them away.
func (l *rank[K, D]) column(w *rankWorker, col, y, ch int, by uint32) {
	s, k := &l.shape, &l.keys
	x := int(l.cols[col])
	if x < 0 {
		if s.Border == window.Constant {
			key := l.constant()
			for range s.Height() {
				l.count(w, key, by)
			}
		}
		return
	}
	x = x*k.Channels + ch
	from, to := y-s.Up, y+s.Down+1
	for i := from; i < min(to, 0); i++ {
		l.outer(w, i, x, by)
	}
	for i := max(from, 0); i < min(to, k.Height); i++ {
		l.count(w, uint32(k.Pix[i*k.Stride+x]), by)
	}
	for i := max(from, k.Height); i < to; i++ {
		l.outer(w, i, x, by)
	}
}

// outer counts the key at a place above the image or below it.
func (l *rank[K, D]) outer(w *rankWorker, place, x int, by uint32) {
	switch at := l.shape.Border.Index(place, l.keys.Height); {
	case at >= 0:
		l.count(w, uint32(l.keys.Pix[at*l.keys.Stride+x]), by)
	case l.shape.Border == window.Constant:
		l.count(w, l.constant(), by)
	}
}

// constant is the key of the border.
func (l *rank[K, D]) constant() uint32 {
	if l.order != nil {
		at, _ := slices.BinarySearch(l.order, D(l.shape.Value))
		return uint32(at)
	}
	return uint32(l.shape.Value)
}

func (l *rank[K, D]) count(w *rankWorker, key, by uint32) {
	c := &w.fine[key]
	if l.logs == nil {
		*c += by
		w.coarse[key>>w.shift] += by
		w.all += by
		return
	}
	if int(key) == l.none {
		return
	}
	before := *c
	*c += by
	w.all += by
	if after := *c; int(max(before, after)) < len(l.logs) {
		w.logs += l.logs[after] - l.logs[before]
	} else {
		w.logs += logOf(int64(after)) - logOf(int64(before))
	}
}

func (l *rank[K, D]) result(w *rankWorker) D {
	if l.logs != nil {
		if w.all == 0 {
			return 0
		}
		n := float64(w.all)
		h := math.Log2(n) - float64(w.logs)/logScale/n
		if h < 1e-6 { // of rounding: one pixel of 2^24 alone has more
			h = 0
		}
		return D(h)
	}
	if l.order != nil && w.fine[len(l.order)] > 0 {
		return D(math.NaN())
	}
	left := (w.all - 1) / 2
	i := 0
	for w.coarse[i] <= left {
		left -= w.coarse[i]
		i++
	}
	for i <<= w.shift; w.fine[i] <= left; i++ {
		left -= w.fine[i]
	}
	if l.order != nil {
		return l.order[i]
	}
	return D(i)
}

func (l *rank[K, D]) Finish() {}

func (l *rank[K, D]) Release() int {
	l.dst, l.keys, l.order, l.logs = target[D]{}, engine.Source[K]{}, nil, nil
	bytes := engine.Bytes(l.copied) + engine.Bytes(l.cols)
	for i := range l.workers {
		bytes += engine.Bytes(l.workers[i].fine) + engine.Bytes(l.workers[i].coarse) + engine.Bytes(l.workers[i].rows)
	}
	return bytes
}
