package thresholds

import (
	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// boxed is the layer for MeanC on bytes: it compares each pixel with a box-blurred mean.
type boxed struct {
	window.Layer
	job     Job
	box     windows.Box
	workers []boxedWorker
}

type boxedWorker struct {
	scratch windows.BoxScratch
	means   []uint8
}

// newBox returns the kernel for the means. Its kind is BoxNone if there is none.
func newBox(t *Job) (b windows.Box) {
	f := window.Frame{Width: t.Src.Width, Height: t.Src.Height, Channels: 1, Pixel: t.Src.Type, Shape: t.shape}
	if t.formula.Bytes && t.Form != AsMap && t.shape.Border != window.Clip && f.Plain() {
		b = windows.NewBox(t.set.Level, t.shape.Width(), t.shape.Height(), 1)
	}
	return b
}

// boxedRuns keeps the engines and scratch memory of the layer for later calls.
var boxedRuns engine.Runs[boxed]

func runBoxed(t *Job, box windows.Box) error {
	sum := raster.U32
	if box.Kind.Narrow() {
		sum = raster.U16
	}
	run := boxedRuns.Take()
	l := &run.Layer
	l.job, l.box = *t, box
	l.Src, l.InPlace = t.Src, t.same
	l.Frame = t.frame(sum, 0)
	p := t.plan(l.Plan(&t.set, t.Dst.Type.Bytes()))
	return run.Fill(&t.set, &p, l)
}

// compare binarizes bytes by the rounded means of their windows. dst may be means.
func (j *Job) compare(dst, pix, means []uint8) {
	// A pixel is white if pix + C > mean, which is pix + (C-1) >= mean or !(mean - C >= pix).
	if c := j.formula.C; c >= 1 {
		windows.AtLeast(j.set.Level, dst, pix, means, uint8(min(c-1, 255)), false)
	} else {
		windows.AtLeast(j.set.Level, dst, means, pix, uint8(min(-c, 255)), true)
	}
}

// meansOn is MeanC on a device, which computes the means.
func (j *Job) meansOn(d device.Runner, t *device.Threshold) error {
	if t.Src.Type != raster.U8 {
		return raster.Unsupported("pixels are %v, want uint8 for meanc on a device", t.Src.Type)
	}
	if err := d.Filter(&device.Filter{Src: t.Src, Mean: t.Dst, Window: t.Window, Options: t.Options}); err != nil {
		return err
	}
	for y := range t.Src.Height {
		row := t.Dst.Span(0, y, t.Src.Width)
		j.compare(row, t.Src.Span(0, y, t.Src.Width), row)
	}
	return nil
}

// Prepare implements [engine.Layer].
func (l *boxed) Prepare(p *engine.Plan) error {
	l.workers = engine.Workers(l.workers, p.Workers)
	for i := range l.workers {
		l.workers[i].means = engine.AtLeast(l.workers[i].means, p.TileWidth)
	}
	return l.Layer.Prepare(p)
}

// Release implements [engine.Layer].
func (l *boxed) Release() int {
	l.job = Job{}
	bytes := l.Layer.Release()
	for i := range l.workers {
		bytes += engine.Bytes(l.workers[i].means)
	}
	return bytes
}

// Tile implements [engine.Layer].
func (l *boxed) Tile(worker, x, y, n, rows int) {
	w, t := &l.workers[worker], &l.job
	means := w.means[:n]
	s, src := l.Start(worker, x, y, n)
	for end := y + rows; y < end; y++ {
		s.Down(src, y)
		cols, _ := s.Columns(1)
		if l.box.Kind.Narrow() {
			l.box.Narrow(means, raster.Elems[uint16](cols), &w.scratch)
		} else {
			l.box.Row(means, raster.Elems[uint32](cols), &w.scratch)
		}
		pix, dst := t.Src.Span(x, y, n), means
		if t.Form == AsBytes {
			dst = t.Dst.Span(x, y, n)
		}
		t.compare(dst, pix, means)
		if t.Form == AsBits {
			windows.PackBits(t.set.Level, t.Dst.Span(x/8, y, engine.DivUp(n, 8)), means)
		}
	}
}
