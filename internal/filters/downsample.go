package filters

import (
	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// CheckFactors returns an error if images cannot be reduced by these factors.
func CheckFactors(x, y int) error {
	if x < 1 || y < 1 {
		return raster.Invalid("reduction is %d×%d, want 1 or more", x, y)
	}
	return nil
}

// checkSmaller validates an image for the result.
func (j *Job) checkSmaller() error {
	dst := &j.Dst
	if err := dst.Check(); err != nil {
		return err
	}
	if dst.Type != j.Src.Type {
		return raster.Unsupported("destination has type %v, want %v like the image", dst.Type, j.Src.Type)
	}
	w, h := j.Size()
	if dst.Width != w || dst.Height != h || dst.Channels != j.Src.Channels {
		return raster.Invalid("destination is %v, want %[5]d×%[6]d (an image of %[2]v reduced by %[3]d×%[4]d)", dst.Extent, j.Src.Extent, j.FactorX, j.FactorY, w, h)
	}
	if shareMemory(dst.Data, j.Src.Data) {
		return errOverlap()
	}
	return nil
}

// blockRuns keeps the engines and scratch memory of the layer for later calls.
var blockRuns engine.Runs[blocks]

// runBlocks computes block means.
func runBlocks(j *Job) error {
	fx, fy := min(j.FactorX, j.Src.Width), min(j.FactorY, j.Src.Height)
	sum := raster.U64
	switch {
	case j.Src.Type.Float():
		sum = raster.F64
	case float64(fx)*float64(fy)*j.Src.Type.Max() < 1<<32:
		sum = raster.U32
	}
	run := blockRuns.Take()
	l := &run.Layer
	l.job, l.fx, l.fy, l.sum = *j, fx, fy, sum
	l.columns = windows.NewColumns(j.set.Level, j.Src.Type, sum, 0)
	p := engine.Plan{Grid: engine.Grid{Rows: divUp(j.Src.Height, fy), N: j.Src.Width, TileWidth: j.Src.Width, BandRows: max(1, 64/fy)}, Workers: 1, Shares: true}
	if most := j.Src.Width * j.Src.Height * j.Src.Channels * j.Src.Type.Bytes() >> 19; most > 1 {
		p.Workers = min(j.set.Workers(), most, divUp(p.Rows, p.BandRows))
	}
	return run.Fill(&j.set, &p, l)
}

// runBlocksOn computes block means on a device: the first pixel of every block has the mean of the
// block as its window, of which the border clips what lies beyond the image.
func runBlocksOn(d device.Runner, j *Job, f *device.Filter) (err error) {
	src := &j.Src
	if src.Width == 0 || src.Height == 0 {
		j.set.Report(1)
		return nil
	}
	f.Window = device.Window{Right: min(j.FactorX, src.Width) - 1, Down: min(j.FactorY, src.Height) - 1, Border: uint8(window.Clip)}
	if f.Mean, err = raster.NewPixelArray(src.Type, raster.PlaneExtent(src.Width, src.Height, src.Channels, 0)); err != nil {
		return err
	}
	if err := d.Filter(f); err != nil {
		return err
	}
	for y := range j.Dst.Height {
		for x := range j.Dst.Width {
			copy(j.Dst.Span(x, y, 1), f.Mean.Span(x*j.FactorX, y*j.FactorY, 1))
		}
	}
	return nil
}

func divUp(n, by int) int { return n/by + min(1, n%by) }

// blocks is the layer for block means.
type blocks struct {
	engine.Base
	job     Job
	fx, fy  int
	sum     raster.Type
	nothing []byte // a row of zeros
	columns windows.Columns
	workers []blocksWorker
}

type blocksWorker struct {
	cols []byte
	_    [raster.LineBytes]byte
}

func (l *blocks) Prepare(p *engine.Plan) error {
	src := &l.job.Src
	l.workers = engine.Workers(l.workers, p.Workers)
	l.nothing = engine.Zeros(l.nothing, src.Width*src.Channels*src.Type.Bytes())
	for i := range l.workers[:p.Workers] {
		w := &l.workers[i]
		w.cols = engine.AtLeast(w.cols, src.Width*src.Channels*l.sum.Bytes())
	}
	return nil
}

// Tile implements [engine.Layer]: whole rows of blocks.
func (l *blocks) Tile(worker, _, y, _, rows int) {
	src, cols := &l.job.Src, l.workers[worker].cols
	halves := src.Type == raster.U8 && src.Channels == 1 && l.fx == 2 && l.fy == 2 && src.Width%2 == 0
	for end := y + rows; y < end; y++ {
		dst := l.job.Dst.Span(0, y, divUp(src.Width, l.fx))
		from, to := y*l.fy, min(src.Height, (y+1)*l.fy)
		if halves && to-from == 2 {
			windows.Halve(l.job.set.Level, dst, src.Span(0, from, src.Width), src.Span(0, from+1, src.Width))
			continue
		}
		clear(cols)
		for r := from; r < to; r++ {
			l.columns.Slide(cols, nil, src.Span(0, r, src.Width), l.nothing, 0)
		}
		windows.BlockMeans(l.sum, src.Type, dst, cols, src.Channels, l.fx, to-from)
	}
}

func (l *blocks) Release() int {
	l.job = Job{}
	bytes := engine.Bytes(l.nothing)
	for i := range l.workers {
		bytes += engine.Bytes(l.workers[i].cols)
	}
	return bytes
}
