package filters

import (
	"math"
	"slices"

	"github.com/boxsum/boxsum/internal/bins"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// runMedian computes medians.
func runMedian(j *Job) error {
	switch {
	case j.hasSmallMedians():
		return runSmallMedians(j)
	case j.isCounted():
		return runCountedMedians(j)
	case j.isRanked():
		return runRankedMedians(j)
	case !j.Src.Type.Float(): // pixels are their own keys
		return runRank(j, j.Src, ranking{n: int(j.Src.Type.Max()) + 1, none: -1})
	}
	keys, order := rankPixels(&j.Src, j.shape.Value, j.shape.Border == window.Constant)
	return runRank(j, keys, ranking{n: len(order) + 1, none: -1, order: order})
}

// checkEntropy checks the window and the bins of an entropy.
func (j *Job) checkEntropy() (err error) {
	if err = j.checkCounted(); err != nil {
		return err
	}
	if j.Bins.N == 0 {
		j.Bins.N = 256
	}
	j.Bins, err = j.Bins.Over(j.Src.Type)
	return err
}

// runEntropy computes entropies.
func runEntropy(j *Job) error {
	b, logs := j.Bins, logTable(j.area())
	if j.Src.Type == raster.U8 && b.N == 256 && b.Low == 0 && b.High == 256 { // pixels are their own keys
		return runRank(j, j.Src, ranking{n: 256, none: -1, logs: logs})
	}
	keys := binPixels(&j.Src, b)
	j.shape.Value = float64(binOf(b, j.shape.Value))
	return runRank(j, keys, ranking{n: b.N + 1, none: b.N, logs: logs})
}

// binOf returns the bin of a value, or an additional bin for values that do not count.
func binOf(bins bins.Range, v float64) uint16 {
	if i := bins.Index(v); i >= 0 {
		return uint16(i)
	}
	return uint16(bins.N)
}

// newKeys returns memory for a key of a type for every pixel.
func newKeys(t raster.Type, src *raster.Array) raster.Array {
	e := raster.PlaneExtent(src.Width, src.Height, src.Channels, src.Width*src.Channels)
	return raster.Array{Data: engine.AtLeast[byte](nil, e.Stride*e.Height*t.Bytes()), Type: t, Extent: e}
}

// binPixels returns the bin of every pixel.
func binPixels(src *raster.Array, bins bins.Range) raster.Array {
	keys := newKeys(raster.U16, src)
	known, row := map[float64]uint16{}, make([]float64, keys.Stride)
	for y := range src.Height {
		windows.Floats(src.Type, row, src.Span(0, y, src.Width))
		to := raster.Elems[uint16](keys.Span(0, y, src.Width))
		for i, p := range row {
			k, ok := known[p]
			if !ok {
				if k = binOf(bins, p); len(known) < 1<<16 {
					known[p] = k
				}
			}
			to[i] = k
		}
	}
	return keys
}

// maxCounted is the maximum number of pixels in a window whose pixels are counted one by
// one.
const maxCounted = 1 << 26

// checkCounted checks a window whose pixels are counted one by one.
func (j *Job) checkCounted() error {
	if s := &j.shape; j.area() > maxCounted || s.Width() > 1<<24 || s.Height() > 1<<24 {
		return raster.Invalid("window is %d×%d, want at most %d pixels and sides of at most %d for a median or entropy", s.Width(), s.Height(), maxCounted, 1<<24)
	}
	return nil
}

// rankPixels ranks the values of an image, starting at 0, and returns the values in order.
// -0 comes before 0, and NaN comes last.
func rankPixels(src *raster.Array, constant float64, hasConstant bool) (raster.Array, []float64) {
	keys := newKeys(raster.U32, src)
	order, row := make([]float64, 0, keys.Stride*src.Height+1), make([]float64, keys.Stride)
	for y := range src.Height {
		windows.Floats(src.Type, row, src.Span(0, y, src.Width))
		for _, v := range row {
			if v == v {
				order = append(order, v)
			}
		}
	}
	if hasConstant {
		order = append(order, constant)
	}
	slices.Sort(order)
	order = slices.Compact(order)
	if i, has := slices.BinarySearch(order, 0); has { // -0 and 0 are equal
		order = slices.Replace(order, i, i+1, math.Copysign(0, -1), 0)
	}
	for y := range src.Height {
		windows.Floats(src.Type, row, src.Span(0, y, src.Width))
		to := raster.Elems[uint32](keys.Span(0, y, src.Width))
		for i, v := range row {
			to[i] = rankOf(order, v)
		}
	}
	return keys, order
}

// rankOf returns the position of a value in the order of rankPixels, or the length of the
// order for NaN.
func rankOf(order []float64, v float64) uint32 {
	if v != v {
		return uint32(len(order))
	}
	i, _ := slices.BinarySearch(order, v)
	if v == 0 && !math.Signbit(v) {
		i++
	}
	return uint32(i)
}

// logTable returns c·log2(c) for counts of up to most, as integers, so that sums of them do
// not depend on their order.
func logTable(most float64) []int64 {
	table := make([]int64, int(min(most, maxLogs))+2)
	for c := range table {
		table[c] = logOf(int64(c))
	}
	return table
}

const (
	maxLogs  = 1 << 16 // larger counts are computed
	logScale = 1 << 24
)

func logOf(c int64) int64 {
	if c < 2 {
		return 0
	}
	return int64(math.Round(float64(c) * math.Log2(float64(c)) * logScale))
}

// rank is the layer for medians and entropies of keys, which are integers below n.
type rank struct {
	engine.Base
	ranking
	shape  window.Shape
	keys   raster.Array
	dst    raster.Array
	same   bool // dst holds the keys
	bytes  bool // medians of pixels that are their own keys
	copied []byte

	cols    []int // elements of a row, by their position in windows; -1 outside
	workers []rankWorker
}

// A ranking describes what to compute from keys.
type ranking struct {
	n     int
	none  int       // the key that does not count; -1 for no key
	logs  []int64   // for entropies; nil for medians
	order []float64 // values of the keys; nil if they are the pixels
}

// rankWorker counts keys.
type rankWorker struct {
	counter windows.Counter
	rows    []int  // where the rows of windows start
	outside uint32 // pixels of a column that lie outside the image
	values  []float64
	_       [raster.LineBytes]byte
}

// rankRuns keeps the engines and scratch memory of the layer for later calls.
var rankRuns engine.Runs[rank]

// runRank computes medians or entropies from keys.
func runRank(j *Job, keys raster.Array, of ranking) error {
	run := rankRuns.Take()
	l := &run.Layer
	l.ranking, l.keys, l.shape, l.dst = of, keys, j.shape, j.Dst
	l.same = j.same && of.order == nil && of.logs == nil
	l.bytes = keys.Type == raster.U8 && of.order == nil && of.logs == nil
	p := engine.Plan{Grid: engine.Grid{Rows: keys.Height, N: keys.Width, TileWidth: keys.Width, BandRows: 16}, Workers: 1, Shares: true}
	if keys.Width*keys.Height > 1<<12 {
		p.Workers = min(j.set.Workers(), engine.DivUp(keys.Height, p.BandRows))
	}
	return run.Fill(&j.set, &p, l)
}

func (l *rank) Prepare(p *engine.Plan) error {
	s, w := &l.shape, l.keys.Width
	if l.same { // keys are pixels that are overwritten
		l.copied = window.CopyTo(l.copied, &l.keys)
	}
	l.cols = s.Columns(l.cols, w, l.keys.Channels)
	l.workers = engine.Workers(l.workers, p.Workers)
	for i := range l.workers[:p.Workers] {
		r := &l.workers[i]
		c := &r.counter
		for c.Shift = 0; 1<<(2*c.Shift) < l.n; c.Shift++ {
		}
		c.Fine = engine.AtLeast(c.Fine, l.n+1<<c.Shift)
		c.Coarse = engine.AtLeast(c.Coarse, l.n>>c.Shift+2)
		c.None, c.Logs, c.Log = l.none, l.logs, logOf
		r.values = engine.AtLeast(r.values, w*l.keys.Channels)
	}
	return nil
}

// Tile implements [engine.Layer]: whole rows.
func (l *rank) Tile(worker, _, y, n, rows int) {
	w, c := &l.workers[worker], l.keys.Channels
	w.counter.Clear()
	across := l.shape.Width() - 1
	for end := y + rows; y < end; y++ {
		dst := l.dst.Span(0, y, n)
		for ch := range c {
			l.findRows(w, y, ch)
			if l.bytes {
				l.medians(w, dst[ch:], n)
				continue
			}
			for i := range across {
				l.column(w, i, 1)
			}
			for x := range n {
				l.column(w, x+across, 1)
				w.values[x*c+ch] = l.result(&w.counter)
				l.column(w, x, ^uint32(0))
			}
			for i := range across { // empty it again
				l.column(w, n+i, ^uint32(0))
			}
		}
		if !l.bytes {
			windows.Store(l.dst.Type, dst, w.values)
		}
	}
}

// findRows finds where a channel of the rows starts, for the windows of row y.
func (l *rank) findRows(w *rankWorker, y, ch int) {
	w.rows, w.outside = w.rows[:0], 0
	for i := y - l.shape.Up; i <= y+l.shape.Down; i++ {
		if at := l.shape.Border.Index(i, l.keys.Height); at >= 0 {
			w.rows = append(w.rows, at*l.keys.Stride+ch)
		} else if l.shape.Border == window.Constant {
			w.outside++
		}
	}
}

// constantPixels returns the number of pixels of a column of windows that are the border's constant.
func (l *rank) constantPixels(w *rankWorker, x int) uint32 {
	if x < 0 && l.shape.Border == window.Constant {
		return uint32(l.shape.Height())
	}
	return w.outside
}

// medians computes the medians of a row of bytes. Each search starts from the previous
// window's histogram and its median, which is near.
func (l *rank) medians(w *rankWorker, dst []uint8, n int) {
	h := (*[256]uint32)(w.counter.Fine)
	value := uint8(l.shape.Value)
	median, below, all := uint8(0), uint32(0), uint32(0)
	pix, across := l.keys.Data, l.shape.Width()-1
	count := func(col int, by uint32) {
		x := l.cols[col]
		if beside := l.constantPixels(w, x); beside > 0 {
			h[value] += by * beside
			all += by * beside
			if value < median {
				below += by * beside
			}
		}
		if x < 0 {
			return
		}
		for _, row := range w.rows {
			v := pix[row+x]
			h[v] += by
			if v < median {
				below += by
			}
		}
		all += by * uint32(len(w.rows))
	}
	for i := range across {
		count(i, 1)
	}
	for x := range n {
		count(x+across, 1)
		half := (all - 1) / 2
		for below > half {
			median--
			below -= h[median]
		}
		for below+h[median] <= half {
			below += h[median]
			median++
		}
		dst[x*l.keys.Channels] = median
		count(x, ^uint32(0))
	}
	clear(h[:])
}

// column counts the keys in a column of windows, or subtracts them.
func (l *rank) column(w *rankWorker, col int, by uint32) {
	x := l.cols[col]
	if beside := l.constantPixels(w, x); beside > 0 {
		key := l.constant()
		for range beside {
			w.counter.Add(key, by)
		}
	}
	if x >= 0 {
		w.counter.Column(l.keys.Type, l.keys.Data, w.rows, x, by)
	}
}

// constant returns the key of the border.
func (l *rank) constant() uint32 {
	if l.order != nil {
		return rankOf(l.order, l.shape.Value)
	}
	return uint32(l.shape.Value)
}

// result returns the median or the entropy of what was counted.
func (l *rank) result(c *windows.Counter) float64 {
	if l.logs != nil {
		if c.All == 0 {
			return 0
		}
		n := float64(c.All)
		h := math.Log2(n) - float64(c.LogSum)/logScale/n
		if h < 1e-6 { // rounding error: even one pixel of 2^24 has more
			h = 0
		}
		return h
	}
	if l.order != nil && c.Fine[len(l.order)] > 0 {
		return math.NaN()
	}
	i := c.Median()
	if l.order != nil {
		return l.order[i]
	}
	return float64(i)
}

func (l *rank) Release() int {
	l.dst, l.keys, l.order, l.logs = raster.Array{}, raster.Array{}, nil, nil
	bytes := engine.Bytes(l.copied) + engine.Bytes(l.cols)
	for i := range l.workers {
		c := &l.workers[i].counter
		c.Logs = nil
		bytes += engine.Bytes(c.Fine) + engine.Bytes(c.Coarse) + engine.Bytes(l.workers[i].rows) + engine.Bytes(l.workers[i].values)
	}
	return bytes
}
