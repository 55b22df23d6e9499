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
// pixels of a row, with the columns beside the image. Strips lie one after the other, so that a
// vector may hold those of several rows. If the image is narrow, a strip is a whole row.
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
	strips  []byte
	results []byte // of strips
	spare   []byte // results that are not needed
	keys    []byte
	_       [raster.LineBytes]byte
}

// medianBand is the number of rows of a band.
const medianBand = 32

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
	if l.inner = l.row - l.around; l.inner >= 2*windows.MinMedianBytes { // shorter rows take longer one by one
		l.between = 0
		l.left = s.Border.AppendColumns(l.left, -s.Left, s.Left+s.Right, j.Src.Width, j.Src.Channels)
		l.right = s.Border.AppendColumns(l.right, j.Src.Width-s.Left-s.Right, j.Src.Width+s.Right, j.Src.Width, j.Src.Channels)
	} else {
		l.inner, l.between = 0, l.row
		l.left = s.Border.AppendColumns(l.left, -s.Left, 0, j.Src.Width, j.Src.Channels)
		l.right = s.Border.AppendColumns(l.right, j.Src.Width, j.Src.Width+s.Right, j.Src.Width, j.Src.Channels)
	}
	l.strip = l.between + (len(l.left)+len(l.right))*j.Src.Type.Bytes()
	results := max(l.around+l.strip*min(j.Src.Height, medianBand), windows.MinMedianBytes)
	l.workers = engine.Workers(l.workers, p.Workers)
	for i := range l.workers[:p.Workers] {
		w := &l.workers[i]
		w.rows = engine.AtLeast(w.rows, s.Height()+1)
		w.strips = engine.Zeros(w.strips, l.strip*s.Height()+results+l.around)
		w.results = engine.AtLeast(w.results, results)
		w.spare = engine.AtLeast(w.spare, max(results, l.inner))
	}
	return nil
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
	ahead := windows.Ahead{Src: 2 * l.image.Src.Stride * size, Dst: 2 * j.Dst.Stride * size}
	for end := y + rows; y < end; y += 2 {
		for k := range w.rows {
			w.rows[k] = l.image.Row(y - j.shape.Up + k)
		}
		next := w.spare
		if y+1 < end {
			next = j.Dst.Span(0, y+1, n)[l.lead:]
		}
		l.medians(w, j.Dst.Span(0, y, n)[l.lead:][:l.inner], next, ahead)
	}
}

// sides computes the medians at the left and the right side of rows, or all of them if the image
// is narrow.
func (l *smallMedians) sides(w *medianWorker, y, n, rows int) {
	j, s := &l.job, &l.job.shape
	strips := w.strips[l.around:] // windows.Medians does not look at the first pixels
	for k := range rows + s.Height() - 1 {
		l.fillStrip(strips[k*l.strip:][:l.strip], l.image.Row(y-s.Up+k))
	}
	length := max(l.around+rows*l.strip, windows.MinMedianBytes)
	for k := range w.rows {
		w.rows[k] = w.strips[k*l.strip:][:length+l.around]
	}
	l.medians(w, w.results[:length], w.spare, windows.Ahead{})
	for i := range rows {
		dst, from := j.Dst.Span(0, y+i, n), w.results[l.around+i*l.strip:]
		if l.inner == 0 {
			copy(dst, from)
			continue
		}
		copy(dst[:l.lead], from)
		copy(dst[l.lead+l.inner:], from[len(l.left)*j.Src.Type.Bytes():])
	}
}

// fillStrip makes the strip of a row.
func (l *smallMedians) fillStrip(strip, row []byte) {
	t, outside := l.job.Src.Type, l.job.shape.Value
	windows.Gather(t, strip, row, l.left, outside)
	strip = strip[len(l.left)*t.Bytes():]
	copy(strip, row[:l.between])
	windows.Gather(t, strip[l.between:], row, l.right, outside)
}

// medians computes two rows of medians from the rows of a worker.
func (l *smallMedians) medians(w *medianWorker, dst, next []byte, ahead windows.Ahead) {
	level, t, channels := l.job.set.Level, l.job.Src.Type, l.job.Src.Channels
	if !l.keyed && windows.Medians(level, t, dst, next, w.rows, channels, ahead) {
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
		bytes += engine.Bytes(w.strips) + engine.Bytes(w.results) + engine.Bytes(w.spare) + engine.Bytes(w.keys)
	}
	return bytes
}
