package filters

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// smallMedians is the layer for medians of 3×3 and 5×5 pixels, which compares vectors.
//
// Windows inside the image are computed from its rows. Those that reach beyond its left or right
// side are computed for all rows of a band at once, from strips: a strip is the first and the last
// pixels of a row, with the columns beside the image. If the image is narrow, a strip is a whole row.
// The strips of even rows lie one after the other, so that a vector may hold those of several rows, and
// so do the strips of odd rows: the kernel computes two rows from the rows between which they alternate.
type smallMedians struct {
	engine.Base
	job         Job
	image       window.Image
	copied      []byte
	left, right []int // elements of a row that are in its strip, or -1; between them is the whole row of a narrow image
	keyed       bool  // always compare keys

	// In bytes:
	row, strip, between int
	lead                int // pixels of a window on the left
	around              int // and on both sides
	inner               int // results computed from rows

	workers []medianWorker
}

type medianWorker struct {
	rows    [][]byte
	strips  [2][]byte // of even and odd rows
	results [2][]byte // of strips
	spare   []byte    // results that are not needed
	keys    []byte
	_       [raster.LineBytes]byte
}

const (
	// medianBand is the number of rows of a band.
	medianBand = 32
	// narrowRow is the size of a row in bytes up to which copying it takes less time than a call for it.
	narrowRow = 512
)

// hasSmallMedians reports whether [smallMedians] can do a job.
func (j *Job) hasSmallMedians() bool {
	size := j.shape.Width()
	return j.shape.Height() == size && j.shape.Border != window.Clip && windows.HasMedians(j.set.Level, j.Src.Type, size)
}

// medianRuns keeps the engines and scratch memory of the layer for later calls.
var medianRuns engine.Runs[smallMedians]

func runSmallMedians(j *Job) error {
	run := medianRuns.Take()
	l := &run.Layer
	l.job = *j
	l.image.Src, l.image.Border = j.Src, j.shape.Border
	p := engine.Plan{Grid: engine.Grid{Rows: j.Src.Height, N: j.Src.Width, TileWidth: j.Src.Width, BandRows: medianBand}, Workers: 1, Shares: true}
	if j.Src.Width*j.Src.Height*j.Src.Channels > 1<<16 {
		p.Workers = min(j.set.Workers(), engine.DivUp(j.Src.Height, p.BandRows))
	}
	return run.Fill(&j.set, &p, l)
}

func (l *smallMedians) Prepare(p *engine.Plan) error {
	j, s := &l.job, &l.job.shape
	if j.same {
		l.copied = window.CopyTo(l.copied, &l.image.Src)
	}
	f := j.frame(raster.U32, 0)
	l.image.Outside = window.OutsideRow(l.image.Outside, &f)
	l.keyed = j.Src.Type.Float() && s.Left != s.Right // windows.Medians looks at the pixels in the middle of windows
	pixel := j.Src.Channels * j.Src.Type.Bytes()
	l.row, l.lead, l.around = j.Src.Width*pixel, s.Left*pixel, (s.Left+s.Right)*pixel
	l.left, l.right = l.left[:0], l.right[:0]
	if l.inner = l.row - l.around; l.inner >= narrowRow { // shorter rows take longer one by one
		l.between = 0
		l.left = s.Border.AppendColumns(l.left, -s.Left, s.Left+s.Right, j.Src.Width, j.Src.Channels)
		l.right = s.Border.AppendColumns(l.right, j.Src.Width-s.Left-s.Right, j.Src.Width+s.Right, j.Src.Width, j.Src.Channels)
	} else {
		l.inner, l.between = 0, l.row
		l.left = s.Border.AppendColumns(l.left, -s.Left, 0, j.Src.Width, j.Src.Channels)
		l.right = s.Border.AppendColumns(l.right, j.Src.Width, j.Src.Width+s.Right, j.Src.Width, j.Src.Channels)
	}
	l.strip = l.between + (len(l.left)+len(l.right))*j.Src.Type.Bytes()
	results := l.resultsOf(min(j.Src.Height, medianBand))
	l.workers = engine.Workers(l.workers, p.Workers)
	for i := range l.workers[:p.Workers] {
		w := &l.workers[i]
		w.rows = engine.AtLeast(w.rows, s.Height()+1)
		for odd := range w.strips {
			w.strips[odd] = engine.Zeros(w.strips[odd], l.strip*(s.Height()+1)/2+results+l.around)
			w.results[odd] = engine.AtLeast(w.results[odd], results)
		}
		w.spare = engine.AtLeast(w.spare, l.inner)
	}
	return nil
}

// resultsOf returns the size of the results for the strips of the even rows among the given number of rows. It
// includes room for the first pixels, for which windows.Medians computes nothing.
func (l *smallMedians) resultsOf(rows int) int {
	return max(l.around+(rows+1)/2*l.strip, windows.MinMedianBytes)
}

// Tile implements [engine.Layer]: whole rows.
func (l *smallMedians) Tile(worker, _, y, n, rows int) {
	w := &l.workers[worker]
	if l.inner > 0 {
		l.inside(w, y, n, rows)
	}
	l.sides(w, y, n, rows) // the rows are now in a cache
}

// inside computes the medians of windows inside the image.
func (l *smallMedians) inside(w *medianWorker, y, n, rows int) {
	j := &l.job
	size := j.Src.Type.Bytes()
	keyed := l.keyed || l.special(y, rows)
	ahead := windows.Ahead{Src: 2 * l.image.Src.Stride * size, Dst: 2 * j.Dst.Stride * size}
	for end := y + rows; y < end; y += 2 {
		for k := range w.rows {
			w.rows[k] = l.image.Row(y - j.shape.Up + k)
		}
		next := w.spare
		if y+1 < end {
			next = j.Dst.Span(0, y+1, n)[l.lead:]
		}
		l.medians(w, j.Dst.Span(0, y, n)[l.lead:][:l.inner], next, keyed, ahead)
	}
}

// special reports whether a NaN or -0 is among the first or the last pixels of the rows around a
// band, where windows.Medians does not look for them.
func (l *smallMedians) special(y, rows int) bool {
	s, t := &l.job.shape, l.job.Src.Type
	if !t.Float() {
		return false
	}
	for k := y - s.Up; k < y+rows+s.Down; k++ {
		row := l.image.Row(k)
		if windows.HasSpecial(t, row[:l.lead]) || windows.HasSpecial(t, row[l.lead+l.inner:]) {
			return true
		}
	}
	return false
}

// sides computes the medians at the left and the right side of rows, or all of them if the image
// is narrow.
func (l *smallMedians) sides(w *medianWorker, y, n, rows int) {
	j, s := &l.job, &l.job.shape
	for k, count := 0, rows+s.Height()-1; k < count; {
		src, run := windows.Lines{Data: l.image.Row(y - s.Up + k)}, 1
		if first := y - s.Up + k; first >= 0 && first < j.Src.Height {
			src, run = linesOf(&l.image.Src, 0, first), min(count-k, j.Src.Height-first)
		}
		l.fillStrips(w, k, src, run)
		k += run
	}
	length := l.resultsOf(rows)
	for k := range w.rows {
		w.rows[k] = w.strips[k%2][k/2*l.strip:][:length+l.around]
	}
	l.medians(w, w.results[0][:length], w.results[1], l.keyed, windows.Ahead{})
	for i := range rows {
		dst, from := j.Dst.Span(0, y+i, n), w.results[i%2][l.around+i/2*l.strip:]
		if l.inner == 0 {
			copy(dst, from)
			continue
		}
		copy(dst[:l.lead], from)
		copy(dst[l.lead+l.inner:], from[len(l.left)*j.Src.Type.Bytes():])
	}
}

// fillStrips makes the strips of some rows, beginning with strip k.
func (l *smallMedians) fillStrips(w *medianWorker, k int, src windows.Lines, rows int) {
	t, outside := l.job.Src.Type, l.job.shape.Value
	for end := min(k+2, k+rows); k < end; k++ { // this one and every other one after it
		strips := windows.Lines{Data: w.strips[k%2][l.around+k/2*l.strip:], Stride: l.strip}
		from, count := windows.Lines{Data: src.Data, Stride: 2 * src.Stride}, (rows+1)/2
		windows.Gather(t, strips, from, l.left, outside, count)
		strips = strips.From(len(l.left) * t.Bytes())
		for i := 0; i < count && l.between > 0; i++ {
			copy(strips.Data[i*strips.Stride:][:l.between], from.Data[i*from.Stride:])
		}
		windows.Gather(t, strips.From(l.between), from, l.right, outside, count)
		src, rows = windows.Lines{Data: src.Data[min(src.Stride, len(src.Data)):], Stride: src.Stride}, rows-1
	}
}

// medians computes two rows of medians from the rows of a worker, comparing keys if keyed is set
// or if there is a NaN or -0.
func (l *smallMedians) medians(w *medianWorker, dst, next []byte, keyed bool, ahead windows.Ahead) {
	level, t, channels := l.job.set.Level, l.job.Src.Type, l.job.Src.Channels
	if !keyed && windows.Medians(level, t, dst, next, w.rows, channels, ahead) {
		return
	}
	n := len(w.rows[0])
	w.keys = engine.AtLeast(w.keys, n*len(w.rows))
	for k, row := range w.rows {
		w.rows[k] = w.keys[k*n:][:n]
		windows.MedianKeys(level, t, w.rows[k], row)
	}
	windows.KeyMedians(level, t, dst, next, w.rows, channels)
}

func (l *smallMedians) Release() int {
	l.job, l.image.Src = Job{}, raster.Array{}
	bytes := engine.Bytes(l.copied) + engine.Bytes(l.left) + engine.Bytes(l.right) + engine.Bytes(l.image.Outside)
	for i := range l.workers {
		w := &l.workers[i]
		clear(w.rows)
		bytes += engine.Bytes(w.spare) + engine.Bytes(w.keys)
		for odd := range w.strips {
			bytes += engine.Bytes(w.strips[odd]) + engine.Bytes(w.results[odd])
		}
	}
	return bytes
}
