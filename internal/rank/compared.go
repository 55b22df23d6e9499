package rank

import (
	"sync"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
)

// compared equalizes bytes in small windows: it compares all pixels of a window with the one in the middle, in vectors.
type compared struct {
	workers []comparedWorker
}

type comparedWorker struct {
	rows   []byte // a ring of rows, extended by white pixels
	places []int  // which rows they are
	counts []byte
	levels []uint8 // results by the number of pixels that are not above that in the middle
	pixels int     // of the window for which levels were computed
	_      [raster.LineBytes]byte
}

// maxCompared is the greatest number of pixels in a window that are compared: counts have 8 bits.
const maxCompared = 255

// isCompared reports whether [compared] does a job.
func (j *Job) isCompared() bool {
	return windows.HasLevels(j.set.Level) && j.Kind == Equalize && j.Src.Type == raster.U8 && j.Mask.Type == 0 && j.Footprint == nil && !j.same &&
		float64(j.Width)*float64(j.Height) <= maxCompared
}

// allCompared keeps the memory of jobs for later ones.
var allCompared = sync.Pool{New: func() any { return new(compared) }}

func runCompared(j *Job) error {
	l := allCompared.Get().(*compared)
	defer allCompared.Put(l)
	const bandRows = 64
	width := raster.RoundUp(j.Src.Width, windows.NotAboveUnit)
	workers := min(j.set.Workers(), 1+j.Src.Width*j.Src.Height/workerPixels)
	l.workers = engine.Workers(l.workers, workers)
	for i := range l.workers {
		w := &l.workers[i]
		w.rows, w.places = engine.AtLeast(w.rows, j.Height*(width+j.Width)), engine.AtLeast(w.places, j.Height)
		for k := range w.places {
			w.places[k] = -1
		}
		w.counts, w.levels, w.pixels = engine.AtLeast(w.counts, width), engine.AtLeast(w.levels, maxCompared+1), 0
	}
	bands := engine.DivUp(j.Src.Height, bandRows)
	return j.set.Each(bands*j.Src.Channels, workers, func(worker, i int) {
		w, channel := &l.workers[worker], i/bands
		if i%bands == 0 || workers > 1 {
			for k := range w.places {
				w.places[k] = -1
			}
		}
		from := i % bands * bandRows
		for y := from; y < min(from+bandRows, j.Src.Height); y++ {
			w.equalize(j, channel, y)
		}
	})
}

// row returns row y with the columns beside it, in white.
func (w *comparedWorker) row(j *Job, channel, y int) []byte {
	n := len(w.counts) + j.Width
	slot := y % len(w.places)
	row := w.rows[slot*n:][:n]
	if w.places[slot] != y {
		w.places[slot] = y
		for i := range row {
			row[i] = 255
		}
		to, c := row[j.shape.Left:][:j.Src.Width], j.Src.Channels
		if src := j.Src.Span(0, y, j.Src.Width); c == 1 {
			copy(to, src)
		} else {
			for i := range to {
				to[i] = src[i*c+channel]
			}
		}
	}
	return row
}

// equalize computes a channel of row y.
func (w *comparedWorker) equalize(j *Job, channel, y int) {
	s, n := &j.shape, j.Src.Width
	clear(w.counts)
	middle := w.row(j, channel, y)[s.Left:]
	top, bottom := max(0, y-s.Up), min(j.Src.Height, y+s.Down+1)
	for at := top; at < bottom; at++ {
		windows.CountNotAbove(j.set.Level, w.counts, middle, w.row(j, channel, at), j.Width)
	}
	dst, c := j.Dst.Span(0, y, n), j.Src.Channels
	from, to := min(s.Left, n), max(n-s.Right, 0) // windows of pixels between do not reach beyond the image
	if from < to {
		w.prepare(j.Width * (bottom - top))
	}
	for x := from; x < to; x++ {
		k := w.counts[x]
		if middle[x] == 255 { // as are the pixels beside the image
			k = uint8(w.pixels)
		}
		dst[x*c+channel] = w.levels[k]
	}
	beside := func(x int) {
		pixels := (min(n, x+s.Right+1) - max(0, x-s.Left)) * (bottom - top)
		k := int(w.counts[x])
		if middle[x] == 255 {
			k = pixels
		}
		dst[x*c+channel] = uint8(255 * k / pixels)
	}
	for x := range from {
		beside(x)
	}
	for x := max(from, to); x < n; x++ {
		beside(x)
	}
}

// prepare computes the results for windows of so many pixels, unless it has just done that.
func (w *comparedWorker) prepare(pixels int) {
	if w.pixels == pixels {
		return
	}
	w.pixels = pixels
	for k := range pixels + 1 {
		w.levels[k] = uint8(255 * k / pixels)
	}
}
