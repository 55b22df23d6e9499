package threshold

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/window"
)

// boxed is the layer of MeanC for bytes: the means that a blur has, and a comparison.
type boxed[A kernel.Number] struct {
	window.Layer[A, A]
	task    task
	box     kernel.Box
	workers []boxedWorker
}

type boxedWorker struct {
	scratch kernel.BoxScratch
	means   []uint8
}

// newBox is the kernel of means, of kind BoxNone where there is none.
func newBox(t *task) (b kernel.Box) {
	f := window.Frame{Width: t.src.Width, Height: t.src.Height, Channels: 1, Pixel: t.src.Of, Shape: t.shape}
	if t.method == MeanC && (t.dst.form == asBytes || t.dst.form == asBits) && t.shape.Border != window.Clip && f.Plain() {
		b = kernel.NewBox(t.set.Level, t.shape.Width(), t.shape.Height(), 1)
	}
	return b
}

func runBoxed[A kernel.Number](t *task, box kernel.Box) error {
	run := engine.Take[engine.Run[boxed[A]]]()
	l := &run.Layer
	l.task, l.box = *t, box
	l.Src, l.InPlace, l.Sink = t.src, t.same, l
	l.Frame = window.Frame{Width: t.src.Width, Height: t.src.Height, Channels: 1, Pixel: t.src.Of, Shape: t.shape, Level: t.set.Level}
	return run.Fill(t.set, planOf(l.Plan(&t.set, t.dst.Size), t), l)
}

// Prepare implements [engine.Layer].
func (l *boxed[A]) Prepare(p *engine.Plan) error {
	l.workers = engine.Workers(l.workers, p.Workers)
	for i := range l.workers {
		l.workers[i].means = engine.AtLeast(l.workers[i].means, p.TileWidth)
	}
	return l.Layer.Prepare(p)
}

// Release implements [engine.Layer].
func (l *boxed[A]) Release() int {
	l.task = task{}
	bytes := l.Layer.Release()
	for i := range l.workers {
		bytes += engine.Bytes(l.workers[i].means)
	}
	return bytes
}

// Row implements [window.Sink].
func (l *boxed[A]) Row(worker, x, y, n int, pix []uint8, s *window.Sums[A, A]) {
	w, t := &l.workers[worker], &l.task
	means := w.means[:n]
	cols, _ := s.Columns(1)
	if l.box.Kind.Narrow() {
		l.box.Narrow(means, slice[uint16](cols), &w.scratch)
	} else {
		l.box.Row(means, slice[uint32](cols), &w.scratch)
	}
	dst := means
	if t.dst.form == asBytes {
		dst = t.dst.Row(x, y, n)
	}
	// A pixel is white if pix + C > mean: if pix + (C-1) >= mean, or not mean - C >= pix.
	if c := t.formula.C; c >= 1 {
		kernel.AtLeast(t.set.Level, dst, pix, means, uint8(min(c-1, 255)), false)
	} else {
		kernel.AtLeast(t.set.Level, dst, means, pix, uint8(min(-c, 255)), true)
	}
	if t.dst.form == asBits {
		kernel.PackBits(t.set.Level, t.dst.Row(x/8, y, engine.DivUp(n, 8)), means)
	}
}
