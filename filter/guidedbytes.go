package filter

import (
	"unsafe"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/pairs"
	"github.com/boxsum/boxsum/internal/window"
)

// guidedBytes is the layer of guided filters of one channel of bytes with a guide of one
// channel: sums are whole numbers, and so are the lines that are fitted, see
// [kernel.GuidedBox]. Rows of lines are made when windows over them need them.
type guidedBytes struct {
	task  task
	guide window.Image
	image window.Image
	own   bool // the image is its own guide
	over  bool // the guide is written over
	box   kernel.GuidedBox

	frame, squared      window.Frame // of the image and the guide, and of lines
	copied, copiedGuide []uint8
	workers             []guidedBytesWorker
}

type guidedBytesWorker struct {
	layer    *guidedBytes
	guide    window.Sums[uint32, uint32]
	image    window.Sums[uint32, uint32]
	products window.Sums[uint32, uint32]
	rows     productRows
	lines    lineRows
	sums     [2]window.Sums[uint32, uint32] // of slopes and heights
	scratch  kernel.GuidedScratch
	_        [kernel.LineBytes]byte
}

// guidedTile is about how many columns a strip has: what windows need of its lines stays in
// the second cache.
const guidedTile = 2048

// runGuidedBytes filters bytes where whole numbers do. It reports whether they do.
func runGuidedBytes(t *task, guide *window.Pixels, epsilon float64, over bool) (done bool, err error) {
	if t.src.Of != pairs.U8 || guide.Of != pairs.U8 || t.src.Channels != 1 || guide.Channels != 1 {
		return false, nil
	}
	switch t.shape.Border {
	case window.Reflect101, window.Reflect, window.Replicate:
	default:
		return false, nil
	}
	f := t.frame()
	own := unsafe.SliceData(t.src.Mem) == unsafe.SliceData(guide.Mem) && t.src.Stride == guide.Stride
	box, ok := kernel.NewGuidedBox(t.set.Level, t.shape.Width(), t.shape.Height(), epsilon, own)
	if !ok || !f.Plain() {
		return false, nil
	}
	run := engine.Take[engine.Run[guidedBytes]]()
	l := &run.Layer
	l.task = *t
	l.image = window.Image{Src: t.src, Border: t.shape.Border}
	l.guide = window.Image{Src: *guide, Border: t.shape.Border}
	l.own, l.over, l.box, l.frame, l.squared = own, over, box, f, f
	l.squared.Squares = true
	return true, run.Fill(t.set, l.plan(), l)
}

func (l *guidedBytes) plan() engine.Plan {
	f := &l.frame
	p := window.ChainPlan(&l.task.set, f, 16, 2*f.Shape.Height(), 1)
	if strips := f.Width / guidedTile; strips > 1 && f.Strips(guidedTile/4) {
		p.TileWidth = engine.DivUp(f.Width, strips)
		p.Lead = -engine.DivUp(p.N, p.TileWidth)
	}
	return p
}

func (l *guidedBytes) Prepare(p *engine.Plan) error {
	l.workers = engine.Workers(l.workers, p.Workers)
	if l.task.same {
		l.copied = l.image.Src.Copy(l.copied)
	}
	switch {
	case l.own:
		l.guide = l.image
	case l.over:
		l.copiedGuide = l.guide.Src.Copy(l.copiedGuide)
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
	lines.Pixel, products.Pixel = pairs.U32, pairs.U16
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
		w.sums[0].Down(w.lines.of(0), y)
		w.sums[1].Down(w.lines.of(1), y)
		slopes, _ := w.sums[0].Columns(1)
		heights, _ := w.sums[1].Columns(1)
		guide := l.guide.Src.Row(x, y, n)
		l.box.Bytes(l.task.dst[0].Row(x, y, n), guide, &w.scratch, slopes, heights)
	}
}

// makeLines makes row y of lines.
func (w *guidedBytesWorker) makeLines(slopes, heights []uint32, y int) {
	l := w.layer
	w.guide.Down(&l.guide, y)
	guide, _ := w.guide.Columns(1)
	squares := w.guide.SquareColumns(1)
	var image, products []uint32
	if !l.own {
		w.image.Down(&l.image, y)
		image, _ = w.image.Columns(1)
		w.products.Down(&w.rows, y)
		products, _ = w.products.Columns(1)
	}
	l.box.Lines(slopes, heights, &w.scratch, guide, image, squares, products)
}

func (l *guidedBytes) Finish() {}

func (l *guidedBytes) Release() int {
	l.task, l.guide, l.image = task{}, window.Image{}, window.Image{}
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

// productRows is the products of two images, row by row: the latest two that were asked for.
type productRows struct {
	guide, image *window.Image
	level        kernel.Level
	made         [2][]uint16
	latest       int
}

func (r *productRows) aim(guide, image *window.Image, level kernel.Level) {
	r.guide, r.image, r.level = guide, image, level
	for i := range r.made {
		r.made[i] = engine.AtLeast(r.made[i], image.Src.Width)
	}
}

// Row implements [window.Rows].
func (r *productRows) Row(place int) []byte {
	r.latest ^= 1
	to := r.made[r.latest]
	kernel.Products(r.level, to, r.guide.Row(place), r.image.Row(place))
	return kernel.Bytes(to)
}

// lineRows is the slopes and the heights of lines, row by row: it keeps as many as a window
// has, and those that mirrors need.
type lineRows struct {
	worker   *guidedBytesWorker
	views    [2]lineView
	ring     [2][]uint32
	from, to int // columns
	width    int
	size     int // rows of the ring
	next     int // the row to make next
}

// lineView is the slopes or the heights.
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

func (r *lineRows) of(which int) *lineView { return &r.views[which] }

func (r *lineRows) bytes() int { return 2 * len(r.ring[0]) * grid.SizeOf[uint32]() }

// Row implements [window.Rows].
func (v *lineView) Row(place int) []byte {
	r := v.rows
	f := &r.worker.layer.frame
	place = f.Border.Index(place, f.Height)
	for ; r.next <= place; r.next++ {
		r.worker.makeLines(r.at(0, r.next)[r.from:r.to], r.at(1, r.next)[r.from:r.to], r.next)
	}
	return kernel.Bytes(r.at(v.which, place))
}

func (r *lineRows) at(which, y int) []uint32 { return r.ring[which][y%r.size*r.width:][:r.width] }
