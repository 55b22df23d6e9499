package filter

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/window"
)

// smallMedians is the layer of medians of 3×3 and 5×5 integers, by comparing vectors of them.
type smallMedians[P Pixel] struct {
	task    task
	image   window.Image
	copied  []byte
	columns []int32 // those of the image that stand beside it, or -1
	plane   int     // elements
	workers []medianWorker[P]
}

type medianWorker[P Pixel] struct {
	rows   [][]P
	planes []P
	_      [kernel.LineBytes]byte
}

// runSmallMedians makes medians where there are such. It reports whether there are.
func runSmallMedians[P Pixel](t *task) (done bool, err error) {
	size := t.shape.Width()
	if t.shape.Height() != size || t.shape.Border == window.Clip || !kernel.HasMedians[P](t.set.Level, size, t.src.Width*t.src.Channels) || t.src.Height == 0 {
		return false, nil
	}
	run := engine.Take[engine.Run[smallMedians[P]]]()
	l := &run.Layer
	l.task = *t
	l.image.Src, l.image.Border = t.src, t.shape.Border
	p := engine.Plan{Grid: engine.Grid{Rows: t.src.Height, N: t.src.Width, TileWidth: t.src.Width, BandRows: 32}, Workers: 1, Shares: true}
	if t.src.Width*t.src.Height*t.src.Channels > 1<<16 {
		p.Workers = min(t.set.Workers(), engine.DivUp(t.src.Height, p.BandRows))
	}
	return true, run.Fill(t.set, p, l)
}

func (l *smallMedians[P]) Prepare(p *engine.Plan) error {
	t, s := &l.task, &l.task.shape
	if t.same {
		l.copied = l.image.Src.Copy(l.copied)
	}
	f := t.frame()
	l.image.Outside = window.OutsideRow(l.image.Outside, &f)
	l.columns = engine.AtLeast(l.columns, s.Left+s.Right)
	for i := range l.columns {
		x := i - s.Left
		if i >= s.Left {
			x = t.src.Width + i - s.Left
		}
		l.columns[i] = int32(s.Border.Index(x, t.src.Width))
	}
	l.plane = (t.src.Width+s.Width()-1)*t.src.Channels + kernel.LineBytes
	l.workers = engine.Workers(l.workers, p.Workers)
	for i := range l.workers[:p.Workers] {
		w := &l.workers[i]
		w.rows = engine.AtLeast(w.rows, s.Height())
		w.planes = engine.AtLeast(w.planes, l.plane*s.Height())
	}
	return nil
}

// Tile implements [engine.Layer]: whole rows.
func (l *smallMedians[P]) Tile(worker, _, y, n, rows int) {
	t, s, w := &l.task, &l.task.shape, &l.workers[worker]
	c, lead := t.src.Channels, s.Left*t.src.Channels
	for end := y + rows; y < end; y++ {
		for k := range w.rows {
			w.rows[k] = kernel.Of[P](l.image.Row(y - s.Up + k))
		}
		kernel.SortColumns(t.set.Level, w.planes[lead:], l.plane, w.rows)
		for k := range w.rows {
			l.pad(w.planes[k*l.plane:][:(n+s.Width()-1)*c], lead, c)
		}
		kernel.Medians(t.set.Level, kernel.Of[P](t.dst[0].Row(0, y, n)), w.planes, l.plane, c, s.Width())
	}
}

// pad makes the columns beside the image.
func (l *smallMedians[P]) pad(plane []P, lead, c int) {
	image := plane[lead:][:l.task.src.Width*c]
	for i, x := range l.columns {
		to := plane[i*c:][:c]
		if i*c >= lead {
			to = plane[i*c+len(image):][:c]
		}
		if x >= 0 {
			copy(to, image[int(x)*c:])
			continue
		}
		for k := range to {
			to[k] = P(l.task.shape.Value)
		}
	}
}

func (l *smallMedians[P]) Finish() {}

func (l *smallMedians[P]) Release() int {
	l.task, l.image.Src = task{}, window.Pixels{}
	bytes := engine.Bytes(l.copied) + engine.Bytes(l.columns) + engine.Bytes(l.image.Outside)
	for i := range l.workers {
		clear(l.workers[i].rows)
		bytes += engine.Bytes(l.workers[i].planes)
	}
	return bytes
}
