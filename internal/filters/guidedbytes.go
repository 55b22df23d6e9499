package filters

import (
	"unsafe"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// guidedBytes is the layer for guided filters of one channel of bytes with a guide of one
// channel. Sums and the fitted lines are integers; see [windows.GuidedBox]. Rows of lines
// are computed when windows over them need them.
type guidedBytes struct {
	engine.Base
	job   Job
	guide window.Image
	image window.Image
	own   bool // the image is its own guide
	box   windows.GuidedBox

	frame, squared      window.Frame // of the image and the guide, and of lines
	copied, copiedGuide []uint8
	workers             []guidedBytesWorker
}

type guidedBytesWorker struct {
	layer    *guidedBytes
	guide    window.Sums
	image    window.Sums
	products window.Sums
	rows     productRows
	lines    lineRows
	sums     [2]window.Sums // of slopes and heights
	scratch  windows.GuidedScratch
	_        [raster.LineBytes]byte
}

// guidedTile is the approximate number of columns in a strip: the lines that windows need
// stay in the L2 cache.
const guidedTile = 2048

// guidedBox returns the integer kernel, and reports whether integers suffice.
func (j *Job) guidedBox() (box windows.GuidedBox, ok bool) {
	src, guide := &j.Src, &j.Guide
	if src.Type != raster.U8 || guide.Type != raster.U8 || src.Channels != 1 || guide.Channels != 1 {
		return box, false
	}
	switch j.shape.Border {
	case window.Reflect101, window.Reflect, window.Replicate:
	default:
		return box, false
	}
	f := j.frame(raster.U32, 0)
	box, ok = windows.NewGuidedBox(j.set.Level, j.shape.Width(), j.shape.Height(), j.Epsilon, j.ownGuide())
	return box, ok && f.Plain()
}

// ownGuide reports whether an image is its own guide.
func (j *Job) ownGuide() bool {
	return unsafe.SliceData(j.Src.Data) == unsafe.SliceData(j.Guide.Data) && j.Src.Stride == j.Guide.Stride
}

// guidedByteRuns keeps the engines and scratch memory of the layer for later calls.
var guidedByteRuns engine.Runs[guidedBytes]

func runGuidedBytes(j *Job, box windows.GuidedBox) error {
	run := guidedByteRuns.Take()
	l := &run.Layer
	l.job, l.box, l.own = *j, box, j.ownGuide()
	l.image = window.Image{Src: j.Src, Border: j.shape.Border}
	l.guide = window.Image{Src: j.Guide, Border: j.shape.Border}
	l.frame, l.squared = j.frame(raster.U32, 0), j.frame(raster.U32, raster.U32)
	p := l.plan()
	return run.Fill(&j.set, &p, l)
}

func (l *guidedBytes) plan() engine.Plan {
	f := &l.frame
	p := window.ChainPlan(&l.job.set, f, 16, 2*f.Shape.Height(), 1)
	if strips := f.Width / guidedTile; strips > 1 && f.Strips(guidedTile/4) {
		p.TileWidth = engine.DivUp(f.Width, strips)
		p.Lead = -engine.DivUp(p.N, p.TileWidth)
	}
	return p
}

func (l *guidedBytes) Prepare(p *engine.Plan) error {
	l.workers = engine.Workers(l.workers, p.Workers)
	if l.job.same {
		l.copied = window.CopyTo(l.copied, &l.image.Src)
	}
	switch {
	case l.own:
		l.guide = l.image
	case l.job.over:
		l.copiedGuide = window.CopyTo(l.copiedGuide, &l.guide.Src)
	}
	for i := range l.workers[:p.Workers] {
		l.workers[i].layer = l
	}
	return nil
}

// Tile implements [engine.Layer], in pixels.
func (l *guidedBytes) Tile(worker, x, y, n, rows int) {
	w := &l.workers[worker]
	lines, products := l.frame, l.frame
	lines.Pixel, products.Pixel = raster.U32, raster.U16
	for i := range w.sums {
		w.sums[i].Aim(&lines)
		w.sums[i].Strip(x, n)
	}
	from, to := w.sums[0].Reach()
	w.guide.Aim(&l.squared)
	w.guide.Strip(from, to-from)
	if !l.own {
		w.image.Aim(&l.frame)
		w.image.Strip(from, to-from)
		w.products.Aim(&products)
		w.products.Strip(from, to-from)
		w.rows.aim(&l.guide, &l.image, l.frame.Level)
	}
	w.lines.aim(w, from, to, y)
	for end := y + rows; y < end; y++ {
		w.sums[0].Down(&w.lines.views[0], y)
		w.sums[1].Down(&w.lines.views[1], y)
		slopes, _ := w.sums[0].Columns(1)
		heights, _ := w.sums[1].Columns(1)
		guide := l.guide.Src.Span(x, y, n)
		l.box.Bytes(l.job.Dst.Span(x, y, n), guide, &w.scratch, raster.Elems[uint32](slopes), raster.Elems[uint32](heights))
	}
}

// makeLines computes row y of lines.
func (w *guidedBytesWorker) makeLines(slopes, heights []uint32, y int) {
	l := w.layer
	w.guide.Down(&l.guide, y)
	guide, _ := w.guide.Columns(1)
	squares := w.guide.SquareColumns(1)
	var image, products []byte
	if !l.own {
		w.image.Down(&l.image, y)
		image, _ = w.image.Columns(1)
		w.products.Down(&w.rows, y)
		products, _ = w.products.Columns(1)
	}
	elems := raster.Elems[uint32]
	l.box.Lines(slopes, heights, &w.scratch, elems(guide), elems(image), elems(squares), elems(products))
}

func (l *guidedBytes) Release() int {
	l.job, l.guide, l.image = Job{}, window.Image{}, window.Image{}
	bytes := engine.Bytes(l.copied) + engine.Bytes(l.copiedGuide)
	for i := range l.workers {
		w := &l.workers[i]
		w.guide.Forget()
		w.image.Forget()
		w.products.Forget()
		w.rows.guide, w.rows.image = nil, nil
		bytes += w.guide.Bytes() + w.image.Bytes() + w.products.Bytes() + w.lines.bytes() + engine.Bytes(w.rows.made[0])*2
		for j := range w.sums {
			w.sums[j].Forget()
			bytes += w.sums[j].Bytes()
		}
	}
	return bytes
}

// productRows yields the products of two images, row by row. It keeps the two most recent
// rows.
type productRows struct {
	guide, image *window.Image
	level        processor.Level
	made         [2][]uint16
	latest       int
}

func (r *productRows) aim(guide, image *window.Image, level processor.Level) {
	r.guide, r.image, r.level = guide, image, level
	for i := range r.made {
		r.made[i] = engine.AtLeast(r.made[i], image.Src.Width)
	}
}

// Row implements [window.Rows].
func (r *productRows) Row(place int) []byte {
	r.latest ^= 1
	to := r.made[r.latest]
	windows.Products(r.level, to, r.guide.Row(place), r.image.Row(place))
	return raster.Bytes(to)
}

// lineRows yields the slopes and the heights of lines, row by row. It keeps as many rows as
// a window is high, and those that mirrored borders need.
type lineRows struct {
	worker   *guidedBytesWorker
	views    [2]lineView
	ring     [2][]uint32
	from, to int // range of columns
	width    int
	size     int // rows in the ring
	next     int // next row to compute
}

// A lineView provides either the slopes or the heights of a lineRows.
type lineView struct {
	rows  *lineRows
	which int
}

func (r *lineRows) aim(w *guidedBytesWorker, from, to, y int) {
	f := &w.layer.frame
	r.worker, r.from, r.to, r.width = w, from, to, f.Width
	r.size = min(f.Height, f.Shape.Height()+max(f.Up, f.Down)+2)
	r.next = max(0, y-f.Up-1)
	for i := range r.ring {
		r.ring[i] = engine.AtLeast(r.ring[i], r.size*r.width)
		r.views[i] = lineView{r, i}
	}
}

func (r *lineRows) bytes() int { return 2 * len(r.ring[0]) * raster.SizeOf[uint32]() }

// Row implements [window.Rows].
func (v *lineView) Row(place int) []byte {
	r := v.rows
	f := &r.worker.layer.frame
	place = f.Border.Index(place, f.Height)
	for ; r.next <= place; r.next++ {
		r.worker.makeLines(r.at(0, r.next)[r.from:r.to], r.at(1, r.next)[r.from:r.to], r.next)
	}
	return raster.Bytes(r.at(v.which, place))
}

func (r *lineRows) at(which, y int) []uint32 { return r.ring[which][y%r.size*r.width:][:r.width] }
