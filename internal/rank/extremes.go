package rank

import (
	"math"
	"sync"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// extremes computes filters of rectangles that follow from the least and the greatest pixel of a window, in time that grows with the
// logarithm of its size: the extremes of two elements beside each other give those of four, and so on.
type extremes struct {
	job         *Job
	copied      []byte // the image, if it is overwritten
	left, right int    // how far windows reach in the image, at most
	up, down    int
	row         int // elements of a row of a band, with the columns beside the image
	workers     []extremesWorker
}

type extremesWorker struct {
	low, high []byte // of a band and what its windows reach; pixels that do not count are white or black
	_         [raster.LineBytes]byte
}

// extremesBand is the least number of rows in a band, which stays in the second cache.
const extremesBand = 64

// isExtremes reports whether [extremes] does a job.
func (j *Job) isExtremes() bool {
	return j.Footprint == nil && (j.Kind == Minimum || j.Kind == Maximum || j.Kind == Gradient || j.Kind == Autolevel)
}

// allExtremes keeps the memory of jobs for later ones.
var allExtremes = sync.Pool{New: func() any { return new(extremes) }}

func runExtremes(j *Job) error {
	l := allExtremes.Get().(*extremes)
	defer allExtremes.Put(l)
	defer func() { l.job = nil }()
	l.job = j
	if j.same {
		l.copied = window.CopyTo(l.copied, &j.Src)
	}
	width, height := j.Src.Width, j.Src.Height
	l.left, l.right = min(j.shape.Left, width-1), min(j.shape.Right, width-1)
	l.up, l.down = min(j.shape.Up, height-1), min(j.shape.Down, height-1)
	l.row = (l.left + width + l.right) * j.Src.Channels
	workers := min(j.set.Workers(), 1+width*height/workerPixels)
	rows := min(height, max(extremesBand, l.up+l.down))
	l.workers = engine.Workers(l.workers, workers)
	return j.set.Each(engine.DivUp(height, rows), workers, func(worker, i int) {
		w, y := &l.workers[worker], i*rows
		n := min(rows, height-y)
		masked := j.Mask.Type != 0 // a window without pixels has its greatest below its least
		w.low, w.high = w.low[:0], w.high[:0]
		if masked || j.Kind != Maximum {
			w.low = l.band(w.low, y, n, math.MaxUint16, windows.Lesser)
		}
		if masked || j.Kind != Minimum {
			w.high = l.band(w.high, y, n, 0, windows.Greater)
		}
		for k := range n {
			if j.Src.Type == raster.U8 {
				writeExtremes[uint8](l, w, k, y+k)
			} else {
				writeExtremes[uint16](l, w, k, y+k)
			}
		}
	})
}

// band returns the extremes of the windows around n rows of pixels from y on: each is that of the elements from its position on.
func (l *extremes) band(to []byte, y, n, beside int, pick func(level processor.Level, pixel raster.Type, dst, src []byte)) []byte {
	j, size := l.job, l.job.Src.Type.Bytes()
	rows := l.up + n + l.down
	to = engine.AtLeast(to, rows*l.row*size)
	for i := range rows {
		row := to[i*l.row*size:][:l.row*size]
		if size == 1 {
			fillExtremes(l, row, y-l.up+i, uint8(beside))
		} else {
			fillExtremes(l, raster.Elems[uint16](row), y-l.up+i, uint16(beside))
		}
	}
	widen := func(n, step int) {
		reach := 1
		for ; 2*reach <= n; reach *= 2 {
			at := reach * step * size
			pick(j.set.Level, j.Src.Type, to[:len(to)-at], to[at:])
		}
		if at := (n - reach) * step * size; at > 0 {
			pick(j.set.Level, j.Src.Type, to[:len(to)-at], to[at:])
		}
	}
	widen(l.left+1+l.right, j.Src.Channels) // what it computes beyond the image is not used
	widen(l.up+1+l.down, l.row)
	return to
}

// fillExtremes writes row y of the image, and another pixel for those that do not count.
func fillExtremes[P uint8 | uint16](l *extremes, row []P, y int, beside P) {
	src, mask := &l.job.Src, &l.job.Mask
	for i := range row {
		row[i] = beside
	}
	if y < 0 || y >= src.Height {
		return
	}
	c := src.Channels
	row = row[l.left*c:]
	pixels := raster.Elems[P](src.Span(0, y, src.Width))
	if mask.Type == 0 {
		copy(row, pixels)
		return
	}
	valid := mask.Span(0, y, src.Width)
	for i, v := range pixels {
		if valid[i/c*mask.Channels+min(i%c, mask.Channels-1)] != 0 {
			row[i] = v
		}
	}
}

// writeExtremes computes the results of row y, the k-th of a band.
func writeExtremes[P uint8 | uint16](l *extremes, w *extremesWorker, k, y int) {
	j := l.job
	dst := raster.Elems[P](j.Dst.Span(0, y, j.Dst.Width))
	src := raster.Elems[P](j.Src.Span(0, y, j.Src.Width))[:len(dst)]
	var low, high []P
	if len(w.low) > 0 {
		low = raster.Elems[P](w.low)[k*l.row:][:len(dst)]
	}
	if len(w.high) > 0 {
		high = raster.Elems[P](w.high)[k*l.row:][:len(dst)]
	}
	switch j.Kind {
	case Minimum:
		copy(dst, low)
	case Maximum:
		copy(dst, high)
	case Gradient:
		for i, v := range high {
			dst[i] = v - low[i]
		}
	case Autolevel:
		for i, v := range src {
			dst[i] = P(j.stretch(int(v), int(low[i]), int(high[i])))
		}
	}
	if j.Mask.Type != 0 {
		for i, v := range low {
			if high[i] < v {
				dst[i] = 0
			}
		}
	}
}
