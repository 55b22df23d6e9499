package rank

import (
	"sync"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// counted equalizes bytes in large windows: from histograms of columns, [windows.Counts] counts how many pixels of a window are not above
// that in the middle. Pixels beside the image are white.
type counted struct {
	job     *Job
	copied  []byte // the image, if it is overwritten
	workers []countedWorker
}

type countedWorker struct {
	counts  windows.Counts
	in, out []uint8 // pixels that enter columns and leave them
	levels  []uint8 // of the pixels in the middle
	upTo    []uint16
	_       [raster.LineBytes]byte
}

// isCounted reports whether [counted] does a job.
func (j *Job) isCounted() bool {
	return j.Kind == Equalize && j.Src.Type == raster.U8 && j.Mask.Type == 0 && j.Footprint == nil && windows.HasCounts(j.set.Level, j.Width, j.Height)
}

// allCounted keeps the memory of jobs for later ones.
var allCounted = sync.Pool{New: func() any { return new(counted) }}

func runCounted(j *Job) error {
	l := allCounted.Get().(*counted)
	defer allCounted.Put(l)
	defer func() { l.job = nil }()
	l.job = j
	if j.same {
		l.copied = window.CopyTo(l.copied, &j.Src)
	}
	width, height := j.Src.Width, j.Src.Height
	across := engine.DivUp(width, max(columnsTile, 2*j.Width))
	tileWidth := engine.DivUp(width, across)
	workers := min(j.set.Workers(), 1+width*height/workerPixels)
	rows := min(height, max(engine.DivUp(height, workers), columnsBand*j.Height))
	down := engine.DivUp(height, rows)
	l.workers = engine.Workers(l.workers, workers)
	for i := range l.workers {
		w := &l.workers[i]
		n := tileWidth + j.Width - 1
		w.in, w.out = engine.AtLeast(w.in, n), engine.AtLeast(w.out, n)
		w.levels, w.upTo = engine.AtLeast(w.levels, tileWidth), engine.AtLeast(w.upTo, tileWidth)
	}
	return j.set.Each(across*down*j.Src.Channels, workers, func(worker, i int) {
		channel, tile := i%j.Src.Channels, i/j.Src.Channels
		x, y := tile%across*tileWidth, tile/across*rows
		if x < width {
			l.tile(&l.workers[worker], channel, x, y, min(tileWidth, width-x), min(rows, height-y))
		}
	})
}

// tile equalizes n columns of rows from pixel (x, y) on.
func (l *counted) tile(w *countedWorker, channel, x, y, n, rows int) {
	j, s := l.job, &l.job.shape
	in, out := w.in[:n+j.Width-1], w.out[:n+j.Width-1]
	w.counts.Aim(j.set.Level, len(in), j.Height)
	clear(out)
	for at := y - s.Up; at < y+s.Down; at++ {
		w.counts.Slide(l.row(in, channel, x, at), out)
	}
	for at := y; at < y+rows; at++ {
		if at > y {
			out = l.row(w.out[:len(in)], channel, x, at-s.Up-1)
		}
		w.counts.Slide(l.row(in, channel, x, at+s.Down), out)
		l.write(w, channel, x, at, n)
	}
}

// row writes the pixels of a row that the windows of a tile have, the first of which is around column x.
func (l *counted) row(to []uint8, channel, x, y int) []uint8 {
	src, left := &l.job.Src, x-l.job.shape.Left
	for i := range to {
		to[i] = 255
	}
	if y >= 0 && y < src.Height {
		from, end := max(0, left), min(src.Width, left+len(to))
		copyChannel(to[from-left:], src.Span(from, y, end-from), channel, src.Channels)
	}
	return to
}

// copyChannel copies a channel of pixels.
func copyChannel(to, pixels []uint8, channel, channels int) {
	if channels == 1 {
		copy(to, pixels)
		return
	}
	for i := range len(pixels) / channels {
		to[i] = pixels[i*channels+channel]
	}
}

// write computes n pixels of row y from column x on.
func (l *counted) write(w *countedWorker, channel, x, y, n int) {
	j, s := l.job, &l.job.shape
	levels, upTo := w.levels[:n], w.upTo[:n]
	copyChannel(levels, j.Src.Span(x, y, n), channel, j.Src.Channels)
	w.counts.UpTo(upTo, levels, j.Width)
	high := min(j.Src.Height, y+s.Down+1) - max(0, y-s.Up)
	dst, c := j.Dst.Span(x, y, n), j.Src.Channels
	for i := 0; i < n; {
		pixels, end := (min(j.Src.Width, x+i+s.Right+1)-max(0, x+i-s.Left))*high, i+1
		if pixels == j.Width*high { // as in the next windows
			end = min(n, j.Src.Width-s.Right-x)
		}
		reciprocal := (1<<40 + uint64(pixels) - 1) / uint64(pixels) // exact, as both factors below are small
		for ; i < end; i++ {
			k := int(upTo[i])
			if levels[i] == 255 { // as are the pixels beside the image
				k = pixels
			}
			dst[i*c+channel] = uint8(uint64(255*k) * reciprocal >> 40)
		}
	}
}
