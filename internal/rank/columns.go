package rank

import (
	"sync"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// columns computes filters of bytes and rectangles in time that does not depend on the size of windows, except for
// the number of levels in them: it keeps the histogram of every column as high as a window (Perreault and Hébert 2007).
type columns struct {
	job     *Job
	copied  []byte // the image, if it is overwritten
	workers []columnsWorker
}

type columnsWorker struct {
	counts  []uint16 // histograms of columns
	numbers []int32  // of pixels in them
	sums    []int32  // of their levels
	levels  levels
	_       [raster.LineBytes]byte
}

const (
	// columnsTile is the width of a tile, at least: its histograms, of 512 bytes a column, stay in the second cache.
	columnsTile = 256
	// columnsBand is how many times as high as a window a band is, at least: each starts with as many rows as a
	// window has.
	columnsBand = 4
	// minColumns is the height from which windows are faster by columns than pixel by pixel.
	minColumns = 4
)

// noColumn is the histogram of columns beside the image.
var noColumn [256]uint16

// byColumns reports whether [columns] does a job.
func (j *Job) byColumns() bool {
	w, h := min(j.Width, j.Src.Width), min(j.Height, j.Src.Height)
	return windows.HasLevels(j.set.Level) && j.Src.Type == raster.U8 && j.Footprint == nil && !j.Kind.floats() && !j.Kind.fromSums() &&
		h >= minColumns && w <= maxLevels/h
}

// allColumns keeps the memory of jobs for later ones.
var allColumns = sync.Pool{New: func() any { return new(columns) }}

func runColumns(j *Job) error {
	l := allColumns.Get().(*columns)
	defer allColumns.Put(l)
	defer func() { l.job = nil }()
	l.job = j
	if j.same {
		l.copied = window.CopyTo(l.copied, &j.Src)
	}
	width, height := j.Src.Width, j.Src.Height
	across := engine.DivUp(width, max(columnsTile, 2*min(j.Width, width)))
	tileWidth := engine.DivUp(width, across)
	workers := min(j.set.Workers(), 1+width*height/workerPixels)
	rows := min(height, max(engine.DivUp(height, workers), columnsBand*min(j.Height, height)))
	down := engine.DivUp(height, rows)
	l.workers = engine.Workers(l.workers, workers)
	for i := range l.workers {
		w := &l.workers[i]
		n := min(width, tileWidth+j.Width)
		w.counts, w.numbers, w.sums = engine.AtLeast(w.counts, 256*n), engine.AtLeast(w.numbers, n), engine.AtLeast(w.sums, n)
	}
	return j.set.Each(across*down*j.Src.Channels, workers, func(worker, i int) {
		channel, tile := i%j.Src.Channels, i/j.Src.Channels
		x, y := tile%across*tileWidth, tile/across*rows
		if x < width {
			l.tile(&l.workers[worker], channel, x, y, min(tileWidth, width-x), min(rows, height-y))
		}
	})
}

// tile filters n columns of rows from pixel (x, y) on.
func (l *columns) tile(w *columnsWorker, channel, x, y, n, rows int) {
	j, s := l.job, &l.job.shape
	from, to := max(0, x-s.Left), min(j.Src.Width, x+n+s.Right)
	w.counts, w.numbers, w.sums = w.counts[:256*(to-from)], w.numbers[:to-from], w.sums[:to-from]
	clear(w.counts)
	clear(w.numbers)
	clear(w.sums)
	for row := max(0, y-s.Up); row < min(j.Src.Height, y+s.Down); row++ {
		l.count(w, channel, row, from, 1)
	}
	for end := y + rows; y < end; y++ {
		if in := y + s.Down; in < j.Src.Height {
			l.count(w, channel, in, from, 1)
		}
		l.row(w, channel, x, y, n, from)
		if out := y - s.Up; out >= 0 {
			l.count(w, channel, out, from, -1)
		}
	}
}

// count adds a row to the histograms of columns, the first of which is from, or removes it.
func (l *columns) count(w *columnsWorker, channel, row, from, by int) {
	src, mask := &l.job.Src, &l.job.Mask
	pixels := src.Span(from, row, len(w.numbers))[channel:]
	numbers, sums := w.numbers, w.sums[:len(w.numbers)]
	if mask.Type == 0 {
		for i := range numbers {
			v := int(pixels[i*src.Channels])
			w.counts[256*i+v] += uint16(by)
			numbers[i] += int32(by)
			sums[i] += int32(by * v)
		}
		return
	}
	valid := mask.Span(from, row, len(w.numbers))[min(channel, mask.Channels-1):]
	for i := range numbers {
		if valid[i*mask.Channels] == 0 {
			continue
		}
		v := int(pixels[i*src.Channels])
		w.counts[256*i+v] += uint16(by)
		numbers[i] += int32(by)
		sums[i] += int32(by * v)
	}
}

// row computes n pixels of row y.
func (l *columns) row(w *columnsWorker, channel, x, y, n, from int) {
	j, s := l.job, &l.job.shape
	c, h := j.Src.Channels, &w.levels
	h.Counts, h.n, h.sum = [256]uint16{}, 0, 0
	enter := func(at int) []uint16 {
		if i := at - from; uint(i) < uint(len(w.numbers)) {
			h.n += int(w.numbers[i])
			h.sum += int(w.sums[i])
			return w.counts[256*i:][:256]
		}
		return noColumn[:]
	}
	leave := func(at int) []uint16 {
		if i := at - from; uint(i) < uint(len(w.numbers)) {
			h.n -= int(w.numbers[i])
			h.sum -= int(w.sums[i])
			return w.counts[256*i:][:256]
		}
		return noColumn[:]
	}
	for at := max(from, x-s.Left); at < min(x+s.Right, from+len(w.numbers)); at++ {
		h.Slide(j.set.Level, enter(at), noColumn[:])
	}
	dst, src := j.Dst.Span(x, y, n), j.Src.Span(x, y, n)
	out := noColumn[:]
	for i := range n {
		h.Slide(j.set.Level, enter(x+i+s.Right), out)
		dst[i*c+channel] = uint8(h.result(j, int(src[i*c+channel])))
		out = leave(x + i - s.Left)
	}
}
