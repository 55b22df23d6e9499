package histogram

import (
	"runtime"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel"
)

const (
	// tileBytes is the width of a tile's counts: its part of the carry row
	// stays in the first-level cache while the rows of the band go by.
	tileBytes = 16 << 10
	// maxBand is how many rows share one trip of the carry row between two
	// cores. It is larger than in plain tables, whose carry row is smaller.
	maxBand = 128
	// minTile keeps the histograms that rows hand from tile to tile small
	// beside the tile.
	minTile = 16
)

// layer makes a table tile by tile on the engine of plain tables. The lowest
// row done so far lies in above: a row of pixels is added to it there, and then
// copied to its place in the table, past the caches if that is large.
type layer[P boxsum.Pixel, S boxsum.Sum] struct {
	table  *Table[S]
	engine engine.Engine

	level  kernel.Level
	kernel func(*kernel.BinRow[S]) // of the level
	img    boxsum.Image[P]
	weigh  func(dst []S, x, y int) // nil to count
	number *numberer
	lookup []uint32 // the bin of every value, see numbers
	beyond bool     // writes go past the caches
	above  []S

	workers []worker[S]
}

// worker is what one worker has to itself.
type worker[S boxsum.Sum] struct {
	row     kernel.BinRow[S]
	index   []uint32
	weights []S
	runs    []S // the histograms so far of the band's rows
	_       [kernel.LineBytes]byte
}

// prepare gets scratch memory, clears what a run starts from, and says how to
// cut the image.
func (l *layer[P, S]) prepare(img boxsum.Image[P], weigh func([]S, int, int), level kernel.Level, opt *boxsum.Options) (engine.Grid, int) {
	t := l.table
	entry := t.Channels * t.Bins.N
	workers := runtime.GOMAXPROCS(0)
	if opt != nil && opt.Workers > 0 {
		workers = opt.Workers
	}
	plan := engine.Work{
		Rows: t.Height, N: t.Width * t.Channels, Channels: t.Channels,
		PixelBytes: sizeOf[P](), SumBytes: t.Bins.N * sizeOf[S](), Workers: workers,
	}.Plan()
	grid := plan.Grid
	grid.N = t.Width
	grid.TileWidth = max(minTile, tileBytes/(entry*sizeOf[S]()))
	if plan.Workers > 1 {
		grid.TileWidth = max(1, min(grid.TileWidth, t.Width/(2*plan.Workers)))
		grid.BandRows = max(grid.BandRows, min(maxBand, t.Height/(4*plan.Workers)))
		// As many bands for everyone, of about as many rows.
		rounds := (t.Height + plan.Workers*grid.BandRows - 1) / (plan.Workers * grid.BandRows)
		grid.BandRows = (t.Height + plan.Workers*rounds - 1) / (plan.Workers * rounds)
	}
	l.img, l.weigh, l.beyond = img, weigh, plan.Writes != kernel.Ahead
	if l.kernel == nil || l.level != level {
		l.level, l.kernel = level, kernel.Bins[S](level)
	}
	if l.number == nil || l.number.bins != t.Bins {
		l.number = newNumberer(t.Bins)
		l.lookup = numbers[P](l.number)
	}
	l.above = zeros(l.above, t.Width*entry)
	for len(l.workers) < plan.Workers {
		l.workers = append(l.workers, worker[S]{})
	}
	for i := range l.workers[:plan.Workers] {
		w := &l.workers[i]
		w.index = zeros(w.index, grid.TileWidth*t.Channels)
		w.weights = zeros(w.weights, grid.TileWidth)
		w.weights[0] = 1
		w.runs = zeros(w.runs, grid.BandRows*entry)
	}
	clear(t.Counts[:(t.Width+1)*entry])
	if t.Width == 0 { // there will be no tiles
		clear(t.Counts)
	}
	return grid, plan.Workers
}

// zeros is n zeros, in the memory of have where it is enough.
func zeros[T any](have []T, n int) []T {
	if cap(have) < n {
		return make([]T, n)
	}
	have = have[:n]
	clear(have)
	return have
}

// release lets go of the caller's memory and keeps the scratch.
func (l *layer[P, S]) release() {
	l.img, l.weigh = boxsum.Image[P]{}, nil
}

// Tile implements [engine.Layer], in pixels.
func (l *layer[P, S]) Tile(worker, x, y, n, rows int) {
	t := l.table
	w := &l.workers[worker]
	entry := t.Channels * t.Bins.N
	if x == 0 {
		clear(w.runs)
	}
	above := l.above[x*entry:][:n*entry]
	w.row = kernel.BinRow[S]{Pitch: entry, Step: t.Channels, Weights: w.weights, N: n}
	if l.weigh != nil {
		w.row.WeightStep = 1
	}
	for r := range rows {
		index := w.index[:n*t.Channels]
		l.numberRow(index, l.img.Pix[(y+r)*l.img.Stride+x*t.Channels:][:n*t.Channels])
		if l.weigh != nil {
			l.weigh(w.weights[:n], x, y+r)
		}
		dst := t.Counts[(y+r+1)*(t.Width+1)*entry:]
		if x == 0 {
			clear(dst[:entry])
		}
		dst = dst[(x+1)*entry:][:n*entry]
		l.row(w, above, dst, index, r)
	}
	kernel.StoreFence()
	w.row = kernel.BinRow[S]{}
}

// row adds row r of a band, whose bins are in index, to the row above, and writes
// it to dst.
func (l *layer[P, S]) row(w *worker[S], above, dst []S, index []uint32, r int) {
	bins := l.table.Bins.N
	w.row.Written = false
	for c := range l.table.Channels {
		w.row.Above, w.row.Index = above[c*bins:], index[c:]
		w.row.Run = w.runs[(r*l.table.Channels+c)*bins:][:bins:bins]
		if l.beyond {
			w.row.Dst = dst[c*bins:]
		}
		l.kernel(&w.row)
	}
	switch {
	case w.row.Written:
	case l.beyond:
		kernel.StreamCopy(dst, above)
	default:
		copy(dst, above)
	}
}

// numberRow writes the bin of every value.
func (l *layer[P, S]) numberRow(dst []uint32, src []P) {
	dst = dst[:len(src)]
	switch small := any(src).(type) {
	case []uint8:
		lookup := (*[1 << 8]uint32)(l.lookup)
		for i, p := range small {
			dst[i] = lookup[p]
		}
	case []uint16:
		lookup := (*[1 << 16]uint32)(l.lookup)
		for i, p := range small {
			dst[i] = lookup[p]
		}
	case []int16:
		lookup := (*[1 << 16]uint32)(l.lookup)
		for i, p := range small {
			dst[i] = lookup[uint16(p)]
		}
	default:
		for i, p := range src {
			dst[i] = l.number.number(float64(p))
		}
	}
}
