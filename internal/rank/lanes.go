package rank

import (
	"sync"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// lanes computes filters of bytes in rectangles for some pixels of a row at once, whose histograms [windows.Lanes] holds. The time does
// not depend on the height of windows.
type lanes struct {
	job     *Job
	copied  []byte // the image, if it is overwritten
	ignored []uint16
	workers []lanesWorker
}

type lanesWorker struct {
	windows windows.Lanes
	levels  []uint16 // of a channel, for the rows that a band needs
	_       [raster.LineBytes]byte
}

const (
	// lanesBand is the least number of rows in a band, whose levels stay in the second cache. A band is also four times as high as a
	// window, because it starts with as many rows as a window has.
	lanesBand = 256
	// maxLanesWidth is the greatest width of windows: each of their columns is added to the histograms by itself.
	maxLanesWidth = 512
)

// byLanes reports whether [lanes] does a job.
func (j *Job) byLanes() bool {
	if !windows.HasLanes(j.set.Level) || j.Src.Type != raster.U8 || j.Footprint != nil || j.Width > maxLanesWidth || j.Height > maxLevels/j.Width {
		return false
	}
	return j.Kind == Percentile || j.Kind == Majority || j.Kind == Equalize || j.Kind == Otsu && j.Width*j.Height <= windows.OtsuPixels
}

// allLanes keeps the memory of jobs for later ones.
var allLanes = sync.Pool{New: func() any { return new(lanes) }}

func runLanes(j *Job) error {
	l := allLanes.Get().(*lanes)
	defer allLanes.Put(l)
	defer func() { l.job = nil }()
	l.job = j
	if j.same {
		l.copied = window.CopyTo(l.copied, &j.Src)
	}
	width, height := j.Src.Width, j.Src.Height
	l.ignored = engine.AtLeast(l.ignored, width)
	for i := range l.ignored {
		l.ignored[i] = windows.Ignored
	}
	workers := min(j.set.Workers(), 1+width*height/workerPixels)
	rows := min(height, max(lanesBand, columnsBand*min(j.Height, height)))
	bands := engine.DivUp(height, rows)
	l.workers = engine.Workers(l.workers, workers)
	return j.set.Each(bands*j.Src.Channels, workers, func(worker, i int) {
		y := i % bands * rows
		l.band(&l.workers[worker], i/bands, y, min(rows, height-y))
	})
}

// band filters a channel of rows from y on.
func (l *lanes) band(w *lanesWorker, channel, y, rows int) {
	j, s := l.job, &l.job.shape
	width := j.Src.Width
	first, end := max(0, y-s.Up), min(j.Src.Height, y+rows+s.Down)
	w.levels = engine.AtLeast(w.levels, width*(end-first))
	for at := first; at < end; at++ {
		l.levels(w.levels[(at-first)*width:][:width], channel, at)
	}
	row := func(at int) []uint16 {
		if at < first || at >= end {
			return l.ignored
		}
		return w.levels[(at-first)*width:][:width]
	}
	for x := 0; x < width; x += windows.LanePixels {
		w.windows.Aim(j.set.Level, j.Width)
		left := x - s.Left
		from, to := max(0, left), min(width, left+w.windows.Columns())
		for at := first; at < min(end, y+s.Down); at++ {
			w.windows.Slide(row(at)[from:to], l.ignored[from:to], from-left)
		}
		for at := y; at < y+rows; at++ {
			w.windows.Slide(row(at + s.Down)[from:to], row(at - s.Up - 1)[from:to], from-left)
			l.write(w, channel, x, at)
		}
	}
}

// levels writes the levels of a channel of row y.
func (l *lanes) levels(to []uint16, channel, y int) {
	src, mask := &l.job.Src, &l.job.Mask
	pixels := src.Span(0, y, len(to))
	for i := range to {
		to[i] = uint16(pixels[i*src.Channels+channel])
	}
	if mask.Type == 0 {
		return
	}
	valid := mask.Span(0, y, len(to))[min(channel, mask.Channels-1):]
	for i := range to {
		if valid[i*mask.Channels] == 0 {
			to[i] = windows.Ignored
		}
	}
}

// write computes the results of the windows around pixels of row y from column x on.
func (l *lanes) write(w *lanesWorker, channel, x, y int) {
	j := l.job
	var results [windows.LanePixels]uint8
	n, c := min(len(results), j.Src.Width-x), j.Src.Channels
	switch j.Kind {
	case Majority:
		w.windows.Majority(&results)
	case Otsu:
		w.windows.Otsu(&results)
	case Percentile:
		w.percentile(&results, j.Fraction)
	case Equalize:
		var levels [windows.LanePixels]uint16
		src := j.Src.Span(x, y, n)
		for i := range n {
			levels[i] = uint16(src[i*c+channel])
		}
		w.equalize(&results, &levels)
	}
	dst := j.Dst.Span(x, y, n)
	if c == 1 {
		copy(dst, results[:n])
		return
	}
	for i, v := range results[:n] {
		dst[i*c+channel] = v
	}
}

func (w *lanesWorker) percentile(results *[windows.LanePixels]uint8, fraction float64) {
	numbers := w.windows.Numbers()
	limits := numbers
	for i, n := range numbers {
		if n > 0 {
			limits[i] = min(uint16(fraction*float64(n)), n-1)
		}
	}
	w.windows.Percentile(results, &limits)
	for i, n := range numbers {
		if n == 0 {
			results[i] = 0
		}
	}
}

func (w *lanesWorker) equalize(results *[windows.LanePixels]uint8, levels *[windows.LanePixels]uint16) {
	var upTo [windows.LanePixels]uint16
	w.windows.UpTo(&upTo, levels)
	for i, n := range w.windows.Numbers() {
		if n > 0 {
			results[i] = uint8(255 * uint32(upTo[i]) / uint32(n))
		}
	}
}
