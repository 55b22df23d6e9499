package rank

import (
	"sync"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// sliding computes any filter of any footprint: it counts the pixels of a window, and, from one pixel of a row to
// the next, those that enter it and those that leave it.
type sliding struct {
	job     *Job
	copied  []byte // the image, if it is overwritten
	runs    []run
	logs    []float64
	workers []slidingWorker
}

// A run is a part of a row of the footprint: columns [from, to) of row y, relative to the pixel in the middle.
type run struct{ y, from, to int }

type slidingWorker struct {
	counter counter
	rows    []runRow
	floats  []float64
	_       [raster.LineBytes]byte
}

// A runRow is a run in the image.
type runRow struct {
	pixels, mask int // elements at which their rows start
	from, to     int // as in run
}

// maxLogs is the greatest count whose logarithm is looked up.
const maxLogs = 1 << 12

// slidings keeps the memory of jobs for later ones.
var slidings = sync.Pool{New: func() any { return new(sliding) }}

func runSliding(j *Job) error {
	l := slidings.Get().(*sliding)
	defer slidings.Put(l)
	defer func() { l.job = nil }()
	l.job = j
	if j.same {
		l.copied = window.CopyTo(l.copied, &j.Src)
	}
	l.findRuns()
	if j.Kind == Entropy && l.logs == nil {
		l.logs = logTable(maxLogs)
	}
	workers := min(j.set.Workers(), 1+j.Src.Width*j.Src.Height/workerPixels)
	l.workers = engine.Workers(l.workers, workers)
	for i := range l.workers {
		w := &l.workers[i]
		w.counter.aim(j.Levels)
		w.floats = engine.AtLeast(w.floats, j.Dst.Width*j.Dst.Channels)
	}
	return j.set.Each(j.Src.Height, workers, func(worker, y int) {
		w := &l.workers[worker]
		for channel := range j.Src.Channels {
			l.findRows(w, y, channel)
			if j.Src.Type == raster.U8 {
				slideRow[uint8](l, w, y, channel)
			} else {
				slideRow[uint16](l, w, y, channel)
			}
		}
		if j.Kind.floats() {
			j.store(y, w.floats)
		}
	})
}

// findRuns cuts the footprint into runs. Those of a rectangle are as many as rows of the image can be in it.
func (l *sliding) findRuns() {
	j, s := l.job, &l.job.shape
	l.runs = l.runs[:0]
	if j.Footprint == nil {
		for y := max(-s.Up, 1-j.Src.Height); y <= min(s.Down, j.Src.Height-1); y++ {
			l.runs = append(l.runs, run{y, -s.Left, s.Right + 1})
		}
		return
	}
	for y := range j.Height {
		row := j.Footprint[y*j.Width:][:j.Width]
		for x := 0; x < len(row); x++ {
			from := x
			for x < len(row) && row[x] != 0 {
				x++
			}
			if x > from {
				l.runs = append(l.runs, run{y - s.Up, from - s.Left, x - s.Left})
			}
		}
	}
}

// findRows finds the runs of the windows of row y that lie in the image.
func (l *sliding) findRows(w *slidingWorker, y, channel int) {
	src, mask := &l.job.Src, &l.job.Mask
	w.rows = w.rows[:0]
	for _, r := range l.runs {
		if at := y + r.y; uint(at) < uint(src.Height) {
			w.rows = append(w.rows, runRow{at*src.Stride + channel, at*mask.Stride + min(channel, max(mask.Channels, 1)-1), r.from, r.to})
		}
	}
}

// slideRow computes a channel of row y. It finds and leaves the counter empty.
func slideRow[P uint8 | uint16](l *sliding, w *slidingWorker, y, channel int) {
	j, c := l.job, &w.counter
	width, channels := j.Src.Width, j.Src.Channels
	pixels, mask := raster.Elems[P](j.Src.Data), j.Mask.Data
	counts := func(r *runRow, x int) bool {
		return uint(x) < uint(width) && (mask == nil || mask[r.mask+x*j.Mask.Channels] != 0)
	}
	for i := range w.rows {
		r := &w.rows[i]
		for x := max(r.from, 0); x < min(r.to, width); x++ {
			if counts(r, x) {
				c.add(int(pixels[r.pixels+x*channels]))
			}
		}
	}
	row := raster.Elems[P](j.Src.Span(0, y, width))
	for x := range width {
		switch j.Kind {
		case Entropy:
			w.floats[x*channels+channel] = c.entropy(l.logs)
		case Histogram:
			c.shares(w.floats[(x*channels+channel)*j.Bins:][:j.Bins])
		default:
			raster.Elems[P](j.Dst.Span(x, y, 1))[channel] = P(c.result(j, int(row[x*channels+channel])))
		}
		for i := range w.rows {
			r := &w.rows[i]
			if out := x + r.from; counts(r, out) {
				c.remove(int(pixels[r.pixels+out*channels]))
			}
			if in := x + r.to; counts(r, in) {
				c.add(int(pixels[r.pixels+in*channels]))
			}
		}
	}
	for i := range w.rows { // empty it again
		r := &w.rows[i]
		for x := max(width+r.from, 0); x < min(width, width+r.to); x++ {
			if counts(r, x) {
				c.remove(int(pixels[r.pixels+x*channels]))
			}
		}
	}
}
