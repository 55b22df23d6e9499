package filter

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
)

// Downsample returns the mean of every block of factorX×factorY pixels (area averaging),
// which uses all pixels and avoids aliasing patterns. Blocks that extend beyond the image
// are the mean of their part in the image, so the result has
// ⌈Width/factorX⌉×⌈Height/factorY⌉ pixels. Integers are exact and rounded to nearest, ties
// up.
func Downsample[P Pixel](img boxsum.Image[P], factorX, factorY int, opt *Options) (boxsum.Image[P], error) {
	j := job{kind: downsampled, src: arrayOf(&img)}
	if err := j.checkFactors(factorX, factorY, opt); err != nil {
		return boxsum.Image[P]{}, err
	}
	dst, err := boxsum.NewImage[P](divUp(img.Width, factorX), divUp(img.Height, factorY), img.Channels)
	if err == nil {
		err = j.fill(arrayOf(&dst))
	}
	if err != nil {
		return boxsum.Image[P]{}, err
	}
	return dst, nil
}

// DownsampleInto is like [Downsample] but writes to dst, which must have that size. It
// allocates nothing after the first image of a type and size.
func DownsampleInto[P Pixel](dst, img boxsum.Image[P], factorX, factorY int, opt *Options) error {
	j := job{kind: downsampled, src: arrayOf(&img)}
	if err := j.checkFactors(factorX, factorY, opt); err != nil {
		return err
	}
	return j.fill(arrayOf(&dst))
}

// checkFactors checks the arguments of Downsample.
func (j *job) checkFactors(x, y int, opt *Options) error {
	if err := j.check(Square(1), opt); err != nil {
		return err
	}
	j.factorX, j.factorY = x, y
	return checkFactors(x, y)
}

// acceptSmaller validates an image for the result.
func (j *job) acceptSmaller(dst raster.Array) error {
	x, y := j.factorX, j.factorY
	if err := dst.Check(); err != nil {
		return err
	}
	if dst.Width != divUp(j.src.Width, x) || dst.Height != divUp(j.src.Height, y) || dst.Channels != j.src.Channels {
		return raster.Invalid("destination is %v; an image of %v reduced %d×%d times is %d×%d", dst.Extent, j.src.Extent, x, y, divUp(j.src.Width, x), divUp(j.src.Height, y))
	}
	if shareMemory(dst.Data, j.src.Data) {
		return errOverlap()
	}
	j.dst[0] = dst
	return nil
}

// blockRuns keeps the engines and scratch memory of the layer for later calls.
var blockRuns engine.Runs[blocks]

// runBlocks computes block means.
func runBlocks(j *job) error {
	fx, fy := min(j.factorX, j.src.Width), min(j.factorY, j.src.Height)
	sum := raster.U64
	switch {
	case j.src.Type.Float():
		sum = raster.F64
	case float64(fx)*float64(fy)*largest(j.src.Type) < 1<<32:
		sum = raster.U32
	}
	run := blockRuns.Take()
	l := &run.Layer
	l.job, l.fx, l.fy, l.sum = *j, fx, fy, sum
	l.columns = windows.NewColumns(j.set.Level, j.src.Type, sum, 0)
	p := engine.Plan{Grid: engine.Grid{Rows: divUp(j.src.Height, fy), N: j.src.Width, TileWidth: j.src.Width, BandRows: max(1, 64/fy)}, Workers: 1, Shares: true}
	if most := j.src.Width * j.src.Height * j.src.Channels * j.src.Type.Bytes() >> 19; most > 1 {
		p.Workers = min(j.set.Workers(), most, divUp(p.Rows, p.BandRows))
	}
	return run.Fill(j.set, p, l)
}

func divUp(n, by int) int { return n/by + min(1, n%by) }

func checkFactors(x, y int) error {
	if x < 1 || y < 1 {
		return raster.Invalid("reduction is %d×%d, want 1 or more", x, y)
	}
	return nil
}

// blocks is the layer for block means.
type blocks struct {
	job     job
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
	src := &l.job.src
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
	src, cols := &l.job.src, l.workers[worker].cols
	halves := src.Type == raster.U8 && src.Channels == 1 && l.fx == 2 && l.fy == 2 && src.Width%2 == 0
	for end := y + rows; y < end; y++ {
		dst := l.job.dst[0].Span(0, y, divUp(src.Width, l.fx))
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

func (l *blocks) Finish() {}

func (l *blocks) Release() int {
	l.job = job{}
	bytes := engine.Bytes(l.nothing)
	for i := range l.workers {
		bytes += engine.Bytes(l.workers[i].cols)
	}
	return bytes
}
