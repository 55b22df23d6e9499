package boxlets

import (
	"math"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// layer computes the rows of a job, each worker from a table of its own.
type layer struct {
	engine.Base
	job     *Job
	image   window.Image
	frame   window.Frame
	block   int  // rows after which sums of floats start from scratch; 0 for integers
	past    bool // write results past the caches
	workers []worker
}

type worker struct {
	table   table
	sums    windows.BoxSums
	row     []byte // results to be written past the caches
	hessian hessian
	targets targets
	speckle speckle
	_       [raster.LineBytes]byte
}

// runs keeps the engines and scratch memory of the layer for later calls.
var runs engine.Runs[layer]

// plan decides how to divide the image into bands of rows.
func (l *layer) plan() engine.Plan {
	j := l.job
	l.image.Src, l.image.Border = j.Src, j.Border
	l.frame = window.Frame{Width: j.Src.Width, Height: j.Src.Height, Channels: j.Src.Channels, Pixel: j.Src.Type, Sum: j.sum, Level: j.set.Level}
	l.frame.Border, l.frame.Value = j.Border, j.Value
	reach := j.reach.Dy()
	l.block = 0
	if j.sum.Float() { // the same bits with any number of workers
		l.block = max(64, 4*reach)
		if j.Kind == Speckle {
			l.block = window.Block(j.sum, reach)
		}
	}
	bytes := j.Dst.Type.Bytes()
	l.past = j.Kind == Sums && windows.BypassCaches(bytes*j.Src.Width*j.Src.Height*j.Src.Channels)
	return window.ChainPlan(&j.set, &l.frame, bytes, reach, max(1, l.block))
}

// Prepare implements [engine.Layer].
func (l *layer) Prepare(p *engine.Plan) error {
	j := l.job
	l.image.Outside = window.OutsideRow(l.image.Outside, &l.frame)
	l.workers = engine.Workers(l.workers, p.Workers)
	for i := range l.workers[:p.Workers] {
		w := &l.workers[i]
		w.table.aim(&l.image, j, max(0, -j.reach.Min.X), max(0, j.reach.Max.X), j.reach.Dy())
		w.sums.Level, w.sums.Sum, w.sums.Result = j.set.Level, j.sum, j.Dst.Type
		w.sums.Weights, w.sums.Corners = w.sums.Weights[:0], w.sums.Corners[:0]
		switch j.Kind {
		case Sums:
			for _, b := range j.Boxes {
				w.sums.Weights = append(w.sums.Weights, b.Weight)
			}
		case Hessian:
			w.hessian.aim(j)
		case Targets:
			w.targets.aim(j)
		case Speckle:
			w.speckle.aim(l)
		}
	}
	return nil
}

// Tile implements [engine.Layer], in pixels: a band at a time.
func (l *layer) Tile(worker, _, y, _, rows int) {
	w, j := &l.workers[worker], l.job
	for top, end := y, y+rows; y < end; y++ {
		if y == top || l.block > 0 && y%l.block == 0 {
			w.table.start(y + j.reach.Min.Y)
		}
		dst := j.Dst.Span(0, y, j.Dst.Width)
		switch j.Kind {
		case Sums:
			w.sumRow(l, dst, y)
		case Hessian:
			w.hessianRow(j, dst, y)
		case Targets:
			w.targetRow(j, dst, y)
		case Speckle:
			w.speckleRow(l, dst, y)
		}
		if w.table.infinite {
			j.bad.CompareAndSwap(0, int32(min(y, math.MaxInt32-1))+1)
			return
		}
	}
	if l.past {
		processor.StoreFence()
	}
}

// sumRow computes the weighted sums of row y.
func (w *worker) sumRow(l *layer, dst []byte, y int) {
	j := l.job
	size := j.Dst.Type.Bytes() * j.Dst.Channels
	if y < j.Margin || y >= j.Src.Height-j.Margin || 2*j.Margin >= j.Src.Width {
		clear(dst)
		return
	}
	w.sums.Corners = w.sums.Corners[:0]
	for _, b := range j.Boxes {
		w.sums.Corners = append(w.sums.Corners, w.corner(b.Max.X, y+b.Max.Y), w.corner(b.Min.X, y+b.Max.Y), w.corner(b.Max.X, y+b.Min.Y), w.corner(b.Min.X, y+b.Min.Y))
	}
	if l.past {
		w.row = engine.AtLeast(w.row, len(dst))
		w.sums.Row(w.row)
		processor.StreamCopy(dst, w.row)
	} else {
		w.sums.Row(dst)
	}
	clear(dst[:j.Margin*size])
	clear(dst[len(dst)-j.Margin*size:])
}

// corner returns the entries of a row of the table from that in column x on.
func (w *worker) corner(x, y int) []byte {
	t := &w.table
	return t.row(y)[(t.left+x)*t.image.Src.Channels*t.sum.Bytes():]
}

// Release implements [engine.Layer].
func (l *layer) Release() int {
	l.job, l.image.Src = nil, raster.Array{}
	bytes := cap(l.image.Outside)
	for i := range l.workers {
		w := &l.workers[i]
		clear(w.sums.Corners)
		bytes += w.table.forget() + cap(w.row) + w.hessian.bytes() + w.targets.bytes() + w.speckle.bytes()
	}
	return bytes
}
