package filters

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// smallMedians is the layer for medians of 3×3 and 5×5 pixels, which compares vectors.
type smallMedians struct {
	job     Job
	image   window.Image
	copied  []byte
	columns []int32 // image columns used beside the image, or -1
	value   []byte  // the key of the border's constant
	plane   int     // in elements
	workers []medianWorker
}

type medianWorker struct {
	rows   [][]byte // of pixels or their keys
	keys   []byte   // the memory of these rows
	planes []byte
	_      [raster.LineBytes]byte
}

// medianKeys is the least number of pixels whose keys are made at once.
const medianKeys = raster.LineBytes

// hasSmallMedians reports whether [smallMedians] can do a job.
func (j *Job) hasSmallMedians() bool {
	size := j.shape.Width()
	return j.shape.Height() == size && j.shape.Border != window.Clip && windows.HasMedians(j.set.Level, j.Src.Type, size, j.Src.Width*j.Src.Channels)
}

// medianRuns keeps the engines and scratch memory of the layer for later calls.
var medianRuns engine.Runs[smallMedians]

func runSmallMedians(j *Job) error {
	run := medianRuns.Take()
	l := &run.Layer
	l.job = *j
	l.image.Src, l.image.Border = j.Src, j.shape.Border
	p := engine.Plan{Grid: engine.Grid{Rows: j.Src.Height, N: j.Src.Width, TileWidth: j.Src.Width, BandRows: 32}, Workers: 1, Shares: true}
	if j.Src.Width*j.Src.Height*j.Src.Channels > 1<<16 {
		p.Workers = min(j.set.Workers(), engine.DivUp(j.Src.Height, p.BandRows))
	}
	return run.Fill(j.set, p, l)
}

func (l *smallMedians) Prepare(p *engine.Plan) error {
	j, s := &l.job, &l.job.shape
	if j.same {
		l.copied = window.CopyTo(l.copied, &l.image.Src)
	}
	f := j.frame(raster.U32, 0)
	l.image.Outside = window.OutsideRow(l.image.Outside, &f)
	l.columns = engine.AtLeast(l.columns, s.Left+s.Right)
	for i := range l.columns {
		x := i - s.Left
		if i >= s.Left {
			x = j.Src.Width + i - s.Left
		}
		l.columns[i] = int32(s.Border.Index(x, j.Src.Width))
	}
	l.plane = raster.RoundUp((j.Src.Width+s.Width()-1)*j.Src.Channels, raster.LineBytes) + raster.LineBytes
	size := j.Src.Type.Bytes()
	row := j.Src.Width * j.Src.Channels * size
	l.value = engine.AtLeast(l.value, medianKeys*size)
	windows.Fill(j.Src.Type, l.value, s.Value)
	keys := windows.HasMedianKeys(j.Src.Type)
	if keys {
		windows.MedianKeys(j.set.Level, j.Src.Type, l.value, l.value)
	}
	l.workers = engine.Workers(l.workers, p.Workers)
	for i := range l.workers[:p.Workers] {
		w := &l.workers[i]
		w.rows = engine.AtLeast(w.rows, s.Height())
		w.planes = engine.AtLeastFrom(w.planes, l.plane*s.Height()*size, s.Left*j.Src.Channels*size) // sorted columns are stored in whole lines
		if keys {
			w.keys = engine.AtLeast(w.keys, row*s.Height())
			for k := range w.rows {
				w.rows[k] = w.keys[k*row:][:row]
			}
		}
	}
	return nil
}

// Tile implements [engine.Layer]: whole rows.
func (l *smallMedians) Tile(worker, _, y, n, rows int) {
	j, s, w := &l.job, &l.job.shape, &l.workers[worker]
	c, t := j.Src.Channels, j.Src.Type
	size := t.Bytes()
	lead := s.Left * c * size
	for place := y - s.Up; place < y+s.Down; place++ {
		l.nextRow(w, place)
	}
	for end := y + rows; y < end; y++ {
		l.nextRow(w, y+s.Down)
		windows.SortColumns(j.set.Level, t, w.planes[lead:], l.plane, w.rows)
		for k := range w.rows {
			l.pad(w.planes[k*l.plane*size:][:(n+s.Width()-1)*c*size], lead, c*size)
		}
		windows.Medians(j.set.Level, t, j.Dst.Span(0, y, n), w.planes, l.plane, c, s.Width())
	}
}

// nextRow drops the first row of a worker and appends another.
func (l *smallMedians) nextRow(w *medianWorker, place int) {
	row := l.image.Row(place)
	if j := &l.job; windows.HasMedianKeys(j.Src.Type) {
		keys := w.rows[0]
		windows.MedianKeys(j.set.Level, j.Src.Type, keys, row)
		row = keys
	}
	copy(w.rows, w.rows[1:])
	w.rows[len(w.rows)-1] = row
}

// pad fills the columns beside the image.
func (l *smallMedians) pad(plane []byte, lead, bytes int) {
	image := plane[lead:][:l.job.Src.Width*bytes]
	for i, x := range l.columns {
		to := plane[i*bytes:][:bytes]
		if i*bytes >= lead {
			to = plane[i*bytes+len(image):][:bytes]
		}
		if x >= 0 {
			copy(to, image[int(x)*bytes:])
		} else {
			windows.Repeat(to, l.value[:l.job.Src.Type.Bytes()])
		}
	}
}

func (l *smallMedians) Finish() {}

func (l *smallMedians) Release() int {
	l.job, l.image.Src = Job{}, raster.Array{}
	bytes := engine.Bytes(l.copied) + engine.Bytes(l.columns) + engine.Bytes(l.image.Outside)
	for i := range l.workers {
		clear(l.workers[i].rows)
		bytes += engine.Bytes(l.workers[i].planes) + engine.Bytes(l.workers[i].keys)
	}
	return bytes + engine.Bytes(l.value)
}
