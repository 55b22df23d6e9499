package filter

import (
	"math/bits"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/pairs"
)

// Downsample is the mean of every block of factorX×factorY pixels: area averaging, with
// which nothing is lost and no pattern appears. Blocks that stick out of the image are the
// mean of what they have of it, so that the result has ⌈Width/factorX⌉×⌈Height/factorY⌉
// pixels. Integers are exact and rounded to nearest, ties up.
func Downsample[P Pixel](img boxsum.Image[P], factorX, factorY int, opt *Options) (boxsum.Image[P], error) {
	var t task[P, P]
	if err := t.check(&img, Square(1), opt); err != nil {
		return boxsum.Image[P]{}, err
	}
	if err := checkFactors(factorX, factorY); err != nil {
		return boxsum.Image[P]{}, err
	}
	dst, err := boxsum.NewImage[P](divUp(img.Width, factorX), divUp(img.Height, factorY), img.Channels)
	if err != nil {
		return dst, err
	}
	return orNone(dst, DownsampleInto(dst, img, factorX, factorY, opt))
}

// DownsampleInto is [Downsample] into an image of that size. It allocates nothing once an
// image of that type and size has been made smaller.
func DownsampleInto[P Pixel](dst, img boxsum.Image[P], factorX, factorY int, opt *Options) error {
	var t task[P, P]
	if err := t.check(&img, Square(1), opt); err != nil {
		return err
	}
	if err := checkFactors(factorX, factorY); err != nil {
		return err
	}
	e := grid.Plane(dst.Width, dst.Height, dst.Channels, dst.Stride)
	if err := e.Pixels(len(dst.Pix)); err != nil {
		return err
	}
	if e.Width != divUp(img.Width, factorX) || e.Height != divUp(img.Height, factorY) || e.Channels != t.src.Channels {
		return grid.Invalid("an image of %v cannot take one of %v made %d×%d times smaller: it takes %d×%d", e, t.src.Extent, factorX, factorY, divUp(img.Width, factorX), divUp(img.Height, factorY))
	}
	if shares(dst.Pix, img.Pix) {
		return errOverlap()
	}
	if e.Width == 0 || e.Height == 0 {
		t.set.Report(1)
		return nil
	}
	t.dst[0] = target[P]{dst.Pix, e.Stride}
	return blockTasks[pairs.TypeOf[P]()].(func(task[P, P], int, int) error)(t, factorX, factorY)
}

func blockTask[P Pixel](t task[P, P], factorX, factorY int) error {
	switch {
	case isFloat[P]():
		return runBlocks[P, float64](&t, factorX, factorY)
	case float64(min(factorX, t.src.Width))*float64(min(factorY, t.src.Height))*largest[P]() < 1<<32:
		return runBlocks[P, uint32](&t, factorX, factorY)
	}
	return runBlocks[P, uint64](&t, factorX, factorY)
}

func divUp(n, by int) int { return n/by + min(1, n%by) }

func checkFactors(x, y int) error {
	if x < 1 || y < 1 {
		return grid.Invalid("an image made %d×%d times smaller: use 1 or more", x, y)
	}
	return nil
}

// blocks is the layer of means of blocks.
type blocks[P Pixel, A kernel.Number] struct {
	task    task[P, P]
	fx, fy  int
	nothing []P // a row of zeros
	workers []blocksWorker[A]
}

type blocksWorker[A kernel.Number] struct {
	cols []A
	_    [kernel.LineBytes]byte
}

func runBlocks[P Pixel, A kernel.Number](t *task[P, P], fx, fy int) error {
	run := engine.Take[engine.Run[blocks[P, A]]]()
	l := &run.Layer
	l.task, l.fx, l.fy = *t, min(fx, t.src.Width), min(fy, t.src.Height)
	p := engine.Plan{Grid: engine.Grid{Rows: divUp(t.src.Height, l.fy), N: t.src.Width, TileWidth: t.src.Width, BandRows: max(1, 64/l.fy)}, Workers: 1, Shares: true}
	if most := t.src.Width * t.src.Height * t.src.Channels * grid.SizeOf[P]() >> 19; most > 1 {
		p.Workers = min(t.set.Workers(), most, divUp(p.Rows, p.BandRows))
	}
	return run.Fill(t.set, p, l)
}

func (l *blocks[P, A]) Prepare(p *engine.Plan) error {
	l.workers = engine.Workers(l.workers, p.Workers)
	l.nothing = engine.Zeros(l.nothing, l.task.src.Width*l.task.src.Channels)
	for i := range l.workers[:p.Workers] {
		w := &l.workers[i]
		w.cols = engine.AtLeast(w.cols, l.task.src.Width*l.task.src.Channels)
	}
	return nil
}

// Tile implements [engine.Layer]: whole rows of blocks.
func (l *blocks[P, A]) Tile(worker, _, y, _, rows int) {
	src, cols := &l.task.src, l.workers[worker].cols
	c, n := src.Channels, src.Width*src.Channels
	for end := y + rows; y < end; y++ {
		if l.halved(y) {
			continue
		}
		clear(cols)
		from, to := y*l.fy, min(src.Height, (y+1)*l.fy)
		for r := from; r < to; r++ {
			kernel.SlideColumns(l.task.set.Level, cols, src.Pix[r*src.Stride:][:n], l.nothing)
		}
		out := divUp(src.Width, l.fx)
		dst := l.task.dst[0].row(0, y, out, c)
		for x := range out {
			left, right := x*l.fx, min(src.Width, (x+1)*l.fx)
			count := (right - left) * (to - from)
			if c == 1 && A(1)/2 == 0 {
				var s uint64
				for _, v := range cols[left:right] {
					s += uint64(v)
				}
				if s += uint64(count) / 2; count&(count-1) == 0 {
					dst[x] = P(s >> bits.TrailingZeros(uint(count)))
				} else {
					dst[x] = P(s / uint64(count))
				}
				continue
			}
			for ch := range c {
				var s A
				for i := left*c + ch; i < right*c; i += c {
					s += cols[i]
				}
				if A(1)/2 != 0 {
					dst[x*c+ch] = P(float64(s) / float64(count))
				} else {
					dst[x*c+ch] = P((uint64(s) + uint64(count)/2) / uint64(count))
				}
			}
		}
	}
}

// halved makes a row of blocks of 2×2 bytes, and reports whether that is what they are.
func (l *blocks[P, A]) halved(y int) bool {
	src := &l.task.src
	_, bytes := any(*new(P)).(uint8)
	if !bytes || src.Channels != 1 || l.fx != 2 || l.fy != 2 || src.Width%2 != 0 || 2*y+2 > src.Height {
		return false
	}
	above, below := src.Pix[2*y*src.Stride:][:src.Width], src.Pix[(2*y+1)*src.Stride:][:src.Width]
	kernel.Halve(l.task.set.Level, as[uint8](l.task.dst[0].row(0, y, src.Width/2, 1)), as[uint8](above), as[uint8](below))
	return true
}

func (l *blocks[P, A]) Finish() {}

func (l *blocks[P, A]) Release() int {
	l.task = task[P, P]{}
	bytes := engine.Bytes(l.nothing)
	for i := range l.workers {
		bytes += engine.Bytes(l.workers[i].cols)
	}
	return bytes
}
