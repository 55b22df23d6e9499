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
	dst, err := newFor[P](&img, w, opt)
	if err != nil {
		return dst, err
	}
	return orNone(dst, MedianInto(dst, img, w, opt))
}

// MedianInto is [Median] into an image of the same size, which may be img itself. Of
// integers it allocates nothing once an image of that type and size has been filtered.
func MedianInto[P Pixel](dst, img boxsum.Image[P], w Window, opt *Options) error {
	return medianInto(&dst, &img, w, opt)
}

func medianInto(to, from any, w Window, opt *Options) error {
	dst, img := pixels(to), pixels(from)
	var t task
	if err := t.check(&img, w, opt); err != nil {
		return err
	}
	if err := t.to(0, &dst); err != nil {
		return err
	}
	if err := checkCounted(&t.shape, &t.src.Extent); err != nil {
		return err
	}
	switch t.src.Of {
	case pairs.U8:
		return median[uint8](&t)
	case pairs.U16:
		return median[uint16](&t)
	}
	keys, order := ranks(&t.src, t.shape.Value, t.shape.Border == window.Constant)
	return runRank(&t, keys, counted{n: len(order) + 1, none: -1, order: order})
}

func median[P uint8 | uint16](t *task) error {
	if done, err := runSmallMedians[P](t); done {
		return err
	}
	return runRank(t, keysOf[P](&t.src), counted{n: int(largest(t.src.Of)) + 1, none: -1})
}

// keysOf is pixels that are their own keys.
func keysOf[K uint8 | uint16](src *window.Pixels) engine.Source[K] {
	return engine.Source[K]{Pix: kernel.Of[K](src.Mem), Extent: src.Extent}
}

// Entropy is Shannon's entropy of the histogram of the window round every pixel, in bits:
// 0 where all pixels fall into one bin. It finds texture. Zero bins are 256 of them over
// the range of 8- and 16-bit pixels; floats need a range. Pixels that fall into no bin do
// not count; a window without any that does has 0.
func Entropy[D Float, P Pixel](img boxsum.Image[P], w Window, bins histogram.Bins, opt *Options) (boxsum.Image[D], error) {
	return entropyNew[D](&img, w, bins, opt)
}

func entropyNew[D Float](img any, w Window, bins histogram.Bins, opt *Options) (boxsum.Image[D], error) {
	dst, err := newFor[D](img, w, opt)
	if err != nil {
		return dst, err
	}
	return orNone(dst, entropyInto(&dst, img, w, bins, opt))
}

// EntropyInto is [Entropy] into an image of the same size.
func EntropyInto[D Float, P Pixel](dst boxsum.Image[D], img boxsum.Image[P], w Window, bins histogram.Bins, opt *Options) error {
	return entropyInto(&dst, &img, w, bins, opt)
}

func entropyInto(to, from any, w Window, bins histogram.Bins, opt *Options) error {
	dst, img := pixels(to), pixels(from)
	var t task
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
	bins, err := binsOver(img.Of, bins)
	if err != nil {
		return err
	}
	logs := logs(t.area())
	if t.src.Of == pairs.U8 && bins.N == 256 && bins.Low == 0 && bins.High == 256 {
		return runRank(&t, keysOf[uint8](&t.src), counted{n: 256, none: -1, logs: logs})
	}
	keys := binned(&t.src, bins)
	t.shape.Value = float64(binOf(bins, t.shape.Value))
	return runRank(&t, keys, counted{n: bins.N + 1, none: bins.N, logs: logs})
}

// binsOver is [histogram.Over] for pixels of a type.
func binsOver(of pairs.Type, bins histogram.Bins) (histogram.Bins, error) {
	switch of {
	case pairs.U8:
		return histogram.Over[uint8](bins)
	case pairs.U16:
		return histogram.Over[uint16](bins)
	case pairs.F32:
		return histogram.Over[float32](bins)
	}
	return histogram.Over[float64](bins)
}

// binOf is the bin of a value, or one more that counts for none.
func binOf(bins histogram.Bins, v float64) uint16 {
	if i := bins.Index(v); i >= 0 {
		return uint16(i)
	}
	return uint16(bins.N)
}

// binned is the bin of every pixel.
func binned(src *window.Pixels, bins histogram.Bins) engine.Source[uint16] {
	n := src.Width * src.Channels
	keys := engine.Source[uint16]{Pix: make([]uint16, n*src.Height)}
	keys.Image(keys.Pix, src.Width, src.Height, src.Channels, n)
	known, row := map[float64]uint16{}, make([]float64, n)
	for y := range src.Height {
		window.Floats(row, src.Row(0, y, src.Width), src.Of)
		for i, p := range row {
			k, ok := known[p]
			if !ok {
				if k = binOf(bins, p); len(known) < 1<<16 {
					known[p] = k
				}
			}
			keys.Pix[y*n+i] = k
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
func ranks(src *window.Pixels, constant float64, has bool) (engine.Source[uint32], []float64) {
	n := src.Width * src.Channels
	order, row := make([]float64, 0, n*src.Height+1), make([]float64, n)
	for y := range src.Height {
		window.Floats(row, src.Row(0, y, src.Width), src.Of)
		for _, v := range row {
			if v == v {
				order = append(order, v)
			}
		}
	}
	if has {
		order = append(order, constant)
	}
	slices.Sort(order)
	order = slices.Compact(order)
	keys := engine.Source[uint32]{Pix: make([]uint32, n*src.Height)}
	keys.Image(keys.Pix, src.Width, src.Height, src.Channels, n)
	for y := range src.Height {
		window.Floats(row, src.Row(0, y, src.Width), src.Of)
		for i, v := range row {
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

// rank is the layer of medians and entropies: of keys, which are numbers below n.
type rank[K uint8 | uint16 | uint32] struct {
	counted
	keys   engine.Source[K]
	copied []K

	cols    []int32 // elements of a row, by their place in windows; -1 outside
	workers []rankWorker
}

// counted is what is made of keys, whatever their type.
type counted struct {
	shape window.Shape
	dst   window.Pixels
	same  bool // dst has the keys
	n     int
	none  int       // the key that does not count, -1 for no key
	logs  []int64   // of entropies; nil for medians
	order []float64 // what keys stand for; nil if they are the pixels
}

// rankWorker counts keys, and groups of 2^shift of them.
type rankWorker struct {
	fine, coarse []uint32
	shift        int
	all          uint32 // that count
	logs         int64  // of all counts
	rows         []int  // where the rows of windows start
	values       []float64
	_            [kernel.LineBytes]byte
}

// runRank makes what is asked for of keys, which are counted as how says.
func runRank[K uint8 | uint16 | uint32](t *task, keys engine.Source[K], how counted) error {
	how.shape, how.dst = t.shape, t.dst[0]
	how.same = t.same && how.order == nil && how.logs == nil
	width, height := keys.Width, keys.Height
	if width == 0 || height == 0 {
		t.set.Report(1)
		return nil
	}
	run := engine.Take[engine.Run[rank[K]]]()
	l := &run.Layer
	l.counted, l.keys = how, keys
	p := engine.Plan{Grid: engine.Grid{Rows: height, N: width, TileWidth: width, BandRows: 16}, Workers: 1, Shares: true}
	if width*height > 1<<12 {
		p.Workers = min(t.set.Workers(), engine.DivUp(height, p.BandRows))
	}
	return run.Fill(t.set, p, l)
}

func (l *rank[K]) Prepare(p *engine.Plan) error {
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
		r.values = engine.AtLeast(r.values, w*l.keys.Channels)
	}
	return nil
}

// Tile implements [engine.Layer]: whole rows.
func (l *rank[K]) Tile(worker, _, y, n, rows int) {
	w, c := &l.workers[worker], l.keys.Channels
	w.start()
	_, bytes := any(*new(K)).(uint8)
	bytes = bytes && l.logs == nil && l.order == nil
	for end := y + rows; y < end; y++ {
		dst := l.dst.Row(0, y, n)
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
				w.values[x*c+ch] = l.result(w)
				l.column(w, x, y, ch, ^uint32(0))
			}
			for i := range l.shape.Width() - 1 { // now it is empty again
				l.column(w, n+i, y, ch, ^uint32(0))
			}
		}
		if !bytes {
			toPixels(l.dst.Of, dst, w.values)
		}
	}
}

// medians makes those of a row of bytes: with the histogram the median too goes on from
// that of the window before, which is near.
func (l *rank[K]) medians(w *rankWorker, dst []uint8, y, n, ch int) {
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
		dst[x*k.Channels+ch] = median
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
func (l *rank[K]) column(w *rankWorker, col, y, ch int, by uint32) {
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
func (l *rank[K]) outer(w *rankWorker, place, x int, by uint32) {
	switch at := l.shape.Border.Index(place, l.keys.Height); {
	case at >= 0:
		l.count(w, uint32(l.keys.Pix[at*l.keys.Stride+x]), by)
	case l.shape.Border == window.Constant:
		l.count(w, l.constant(), by)
	}
}

// constant is the key of the border.
func (l *counted) constant() uint32 {
	if l.order != nil {
		at, _ := slices.BinarySearch(l.order, l.shape.Value)
		return uint32(at)
	}
	return uint32(l.shape.Value)
}

func (l *counted) count(w *rankWorker, key, by uint32) {
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

func (l *counted) result(w *rankWorker) float64 {
	if l.logs != nil {
		if w.all == 0 {
			return 0
		}
		n := float64(w.all)
		h := math.Log2(n) - float64(w.logs)/logScale/n
		if h < 1e-6 { // of rounding: one pixel of 2^24 alone has more
			h = 0
		}
		return h
	}
	if l.order != nil && w.fine[len(l.order)] > 0 {
		return math.NaN()
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
	return float64(i)
}

func (l *rank[K]) Finish() {}

func (l *rank[K]) Release() int {
	l.dst, l.keys, l.order, l.logs = window.Pixels{}, engine.Source[K]{}, nil, nil
	bytes := engine.Bytes(l.copied) + engine.Bytes(l.cols)
	for i := range l.workers {
		bytes += engine.Bytes(l.workers[i].fine) + engine.Bytes(l.workers[i].coarse) + engine.Bytes(l.workers[i].rows) + engine.Bytes(l.workers[i].values)
	}
	return bytes
}
