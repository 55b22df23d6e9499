package filter

import (
	"math/bits"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/pairs"
	"github.com/boxsum/boxsum/internal/window"
)

// Downsample is the mean of every block of factorX×factorY pixels: area averaging, with
// which nothing is lost and no pattern appears. Blocks that stick out of the image are the
// mean of what they have of it, so that the result has ⌈Width/factorX⌉×⌈Height/factorY⌉
// pixels. Integers are exact and rounded to nearest, ties up.
func Downsample[P Pixel](img boxsum.Image[P], factorX, factorY int, opt *Options) (boxsum.Image[P], error) {
	src := pixels(&img)
	if err := new(task).check(&src, Square(1), opt); err != nil {
		return boxsum.Image[P]{}, err
	}
	if err := checkFactors(factorX, factorY); err != nil {
		return boxsum.Image[P]{}, err
	}
	dst, err := boxsum.NewImage[P](divUp(img.Width, factorX), divUp(img.Height, factorY), img.Channels)
	if err != nil {
		return dst, err
	}
	return orNone(dst, downsample(&dst, &img, factorX, factorY, opt))
}

// DownsampleInto is [Downsample] into an image of that size. It allocates nothing once an
// image of that type and size has been made smaller.
func DownsampleInto[P Pixel](dst, img boxsum.Image[P], factorX, factorY int, opt *Options) error {
	return downsample(&dst, &img, factorX, factorY, opt)
}

func downsample(to, from any, factorX, factorY int, opt *Options) error {
	dst, img := pixels(to), pixels(from)
	var t task
	if err := t.check(&img, Square(1), opt); err != nil {
		return err
	}
	if err := checkFactors(factorX, factorY); err != nil {
		return err
	}
	if err := dst.Check(); err != nil {
		return err
	}
	if dst.Width != divUp(img.Width, factorX) || dst.Height != divUp(img.Height, factorY) || dst.Channels != t.src.Channels {
		return grid.Invalid("an image of %v cannot take one of %v made %d×%d times smaller: it takes %d×%d", dst.Extent, t.src.Extent, factorX, factorY, divUp(img.Width, factorX), divUp(img.Height, factorY))
	}
	if shares(dst.Mem, img.Mem) {
		return errOverlap()
	}
	if dst.Width == 0 || dst.Height == 0 {
		t.set.Report(1)
		return nil
	}
	t.dst[0] = dst
	most := float64(min(factorX, t.src.Width)) * float64(min(factorY, t.src.Height)) * largest(t.src.Of)
	switch {
	case t.src.Of.Float():
		return runBlocks[float64](&t, factorX, factorY)
	case most < 1<<32:
		return runBlocks[uint32](&t, factorX, factorY)
	}
	return runBlocks[uint64](&t, factorX, factorY)
}

func divUp(n, by int) int { return n/by + min(1, n%by) }

func checkFactors(x, y int) error {
	if x < 1 || y < 1 {
		return grid.Invalid("an image made %d×%d times smaller: use 1 or more", x, y)
	}
	return nil
}

// blocks is the layer of means of blocks.
type blocks[A kernel.Number] struct {
	task    task
	fx, fy  int
	nothing []byte // a row of zeros
	add     window.Adder[A, A]
	workers []blocksWorker[A]
}

type blocksWorker[A kernel.Number] struct {
	cols []A
	_    [kernel.LineBytes]byte
}

func runBlocks[A kernel.Number](t *task, fx, fy int) error {
	run := engine.Take[engine.Run[blocks[A]]]()
	l := &run.Layer
	l.task, l.fx, l.fy, l.add = *t, min(fx, t.src.Width), min(fy, t.src.Height), window.AdderOf[A, A](t.src.Of)
	p := engine.Plan{Grid: engine.Grid{Rows: divUp(t.src.Height, l.fy), N: t.src.Width, TileWidth: t.src.Width, BandRows: max(1, 64/l.fy)}, Workers: 1, Shares: true}
	if most := t.src.Width * t.src.Height * t.src.Channels * t.src.Size >> 19; most > 1 {
		p.Workers = min(t.set.Workers(), most, divUp(p.Rows, p.BandRows))
	}
	return run.Fill(t.set, p, l)
}

func (l *blocks[A]) Prepare(p *engine.Plan) error {
	src := &l.task.src
	l.workers = engine.Workers(l.workers, p.Workers)
	l.nothing = engine.Zeros(l.nothing, src.Width*src.Channels*src.Size)
	for i := range l.workers[:p.Workers] {
		w := &l.workers[i]
		w.cols = engine.AtLeast(w.cols, src.Width*src.Channels)
	}
	return nil
}

// Tile implements [engine.Layer]: whole rows of blocks.
func (l *blocks[A]) Tile(worker, _, y, _, rows int) {
	src, cols := &l.task.src, l.workers[worker].cols
	for end := y + rows; y < end; y++ {
		if halved(&l.task, l.fx, l.fy, y) {
			continue
		}
		clear(cols)
		from, to := y*l.fy, min(src.Height, (y+1)*l.fy)
		for r := from; r < to; r++ {
			l.add(l.task.set.Level, cols, nil, src.Row(0, r, src.Width), l.nothing, 0, 1)
		}
		switch dst := l.task.dst[0].Row(0, y, divUp(src.Width, l.fx)); src.Of {
		case pairs.U8:
			blockMeans(dst, cols, src.Channels, l.fx, to-from)
		case pairs.U16:
			blockMeans(kernel.Of[uint16](dst), cols, src.Channels, l.fx, to-from)
		case pairs.F32:
			blockMeans(kernel.Of[float32](dst), cols, src.Channels, l.fx, to-from)
		default:
			blockMeans(kernel.Of[float64](dst), cols, src.Channels, l.fx, to-from)
		}
	}
}

// blockMeans makes a row of means from the sums of columns of so many rows.
func blockMeans[P Pixel, A kernel.Number](dst []P, cols []A, channels, fx, rows int) {
	if (P(1)/2 != 0) != (A(1)/2 != 0) { // which do not go together
		return
	}
	if channels == 1 {
		oneMeans(dst, cols, fx, rows)
		return
	}
	for left := len(cols) / channels; left > 0; left -= fx {
		fx = min(fx, left) // of the last block
		n, count := fx*channels, fx*rows
		for ch := range channels {
			var s A
			for i := ch; i < n; i += channels {
				s += cols[i]
			}
			if A(1)/2 != 0 {
				dst[ch] = P(float64(s) / float64(count))
			} else {
				dst[ch] = P((uint64(s) + uint64(count)/2) / uint64(count))
			}
		}
		cols, dst = cols[n:], dst[channels:]
	}
}

// oneMeans is that for one channel.
func oneMeans[P Pixel, A kernel.Number](dst []P, cols []A, n, rows int) {
	for x := range dst {
		n = min(n, len(cols)) // of the last block
		if A(1)/2 != 0 {
			var s A
			for _, v := range cols[:n] {
				s += v
			}
			dst[x], cols = P(float64(s)/float64(n*rows)), cols[n:]
			continue
		}
		count := uint64(n * rows)
		s := count / 2
		for _, v := range cols[:n] {
			s += uint64(v)
		}
		if cols = cols[n:]; count&(count-1) == 0 {
			dst[x] = P(s >> (bits.TrailingZeros64(count) & 63))
		} else {
			dst[x] = P(s / count)
		}
	}
}

// halved makes a row of blocks of 2×2 bytes, and reports whether that is what they are.
func halved(t *task, fx, fy, y int) bool {
	src := &t.src
	if src.Of != pairs.U8 || src.Channels != 1 || fx != 2 || fy != 2 || src.Width%2 != 0 || 2*y+2 > src.Height {
		return false
	}
	kernel.Halve(t.set.Level, t.dst[0].Row(0, y, src.Width/2), src.Row(0, 2*y, src.Width), src.Row(0, 2*y+1, src.Width))
	return true
}

func (l *blocks[A]) Finish() {}

func (l *blocks[A]) Release() int {
	l.task = task{}
	bytes := engine.Bytes(l.nothing)
	for i := range l.workers {
		bytes += engine.Bytes(l.workers[i].cols)
	}
	return bytes
}
