package filter

import (
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/pairs"
	"github.com/boxsum/boxsum/internal/window"
)

// A Sigma is how wide a Gaussian is: its standard deviation along each side, in pixels.
// Zero leaves that side as it is.
type Sigma struct {
	X, Y float64

	// Passes is how many boxes stand for the Gaussian, 1 to 6; zero stands for 3. Four are
	// nearer to it, and take a third longer.
	Passes int
}

// maxPasses is how many boxes there may be.
const maxPasses = 6

// Boxes is the sizes of boxes that, one after the other, are nearest to a Gaussian of this
// standard deviation, after Kovesi: odd numbers, of which the larger ones come last.
func Boxes(sigma float64, passes int) []int {
	if passes < 1 || passes > maxPasses || !(sigma >= 0) || sigma > maxSigma {
		return nil
	}
	all := boxes(sigma, passes)
	return append([]int(nil), all[:passes]...)
}

// maxSigma keeps the boxes smaller than the largest window.
const maxSigma = 1e8

func boxes(sigma float64, passes int) (all [maxPasses]int) {
	n := float64(passes)
	small := int(math.Sqrt(12*sigma*sigma/n + 1))
	if small%2 == 0 {
		small--
	}
	w := float64(small)
	narrow := int(math.Round((12*sigma*sigma - n*w*w - 4*n*w - 3*n) / (-4*w - 4)))
	for i := range passes {
		all[i] = small
		if i >= narrow {
			all[i] += 2
		}
	}
	return all
}

// Gaussian blurs an image by several boxes that together are nearly a Gaussian: it takes
// the same time for every sigma. docs/filters.md has how near they are. The border is that
// of every box. Between boxes 8-bit pixels keep five to eight more bits, so that they are
// rounded once as far as anyone can see.
func Gaussian[P Pixel](img boxsum.Image[P], sigma Sigma, opt *Options) (boxsum.Image[P], error) {
	dst, err := newFor[P](&img, Square(1), opt)
	if err != nil {
		return dst, err
	}
	return orNone(dst, GaussianInto(dst, img, sigma, opt))
}

// GaussianInto is [Gaussian] into an image of the same size, which may be img itself. It
// allocates nothing once an image of that type and size has been filtered.
func GaussianInto[P Pixel](dst, img boxsum.Image[P], sigma Sigma, opt *Options) error {
	return gaussian(&dst, &img, sigma, opt)
}

func gaussian(to, from any, sigma Sigma, opt *Options) error {
	dst, img := pixels(to), pixels(from)
	t := task{kind: mean}
	if err := t.check(&img, Square(1), opt); err != nil {
		return err
	}
	if !(sigma.X >= 0 && sigma.Y >= 0 && sigma.X <= maxSigma && sigma.Y <= maxSigma) {
		return grid.Invalid("a Gaussian of %v×%v: use 0 to %g for each", sigma.X, sigma.Y, float64(maxSigma))
	}
	if sigma.Passes < 0 || sigma.Passes > maxPasses {
		return grid.Invalid("%d boxes for a Gaussian: use 1 to %d, or 0 for 3", sigma.Passes, maxPasses)
	}
	if sigma.Passes == 0 {
		sigma.Passes = 3
	}
	if err := t.to(0, &dst); err != nil {
		return err
	}
	if img.Width == 0 || img.Height == 0 {
		t.set.Report(1)
		return nil
	}
	var shapes [maxPasses]window.Shape
	across, down := boxes(sigma.X, sigma.Passes), boxes(sigma.Y, sigma.Passes)
	area := 0.0
	for i := range sigma.Passes {
		s := &shapes[i]
		*s = t.shape
		s.Left, s.Up = across[i]/2, down[i]/2
		s.Right, s.Down = s.Left, s.Up
		area = max(area, float64(across[i])*float64(down[i]))
		if err := window.CheckWrap(s, img.Height); err != nil {
			return err
		}
	}
	if area == 1 {
		return copied(&t)
	}
	switch t.src.Of {
	case pairs.U8:
		if l, ok := newTriple(&t, shapes[:sigma.Passes]); ok {
			return runTriple(&t, &l)
		}
		if area*(255<<8)*(1<<8) >= 1<<62 {
			return grid.Invalid("a Gaussian of %v×%v is too wide for pixels of 8 bits", sigma.X, sigma.Y)
		}
		if area*(255<<8) < 1<<32 {
			return runGaussian[uint32](&t, pairs.U16, &shapes, sigma.Passes)
		}
		return runGaussian[uint64](&t, pairs.U16, &shapes, sigma.Passes)
	case pairs.F64:
		return runGaussian[float64](&t, pairs.F64, &shapes, sigma.Passes)
	}
	return runGaussian[float64](&t, pairs.F32, &shapes, sigma.Passes)
}

// cascade is the layer of several boxes one after the other, with elements of a type
// between them, of which 2^8 are one of a pixel of integers.
type cascade[A kernel.Number] struct {
	task    task
	frame   window.Frame
	image   window.Image
	copied  []byte
	shapes  [maxPasses]window.Shape
	passes  int
	between pairs.Type

	workers []cascadeWorker[A]
}

type cascadeWorker[A kernel.Number] struct {
	stages [maxPasses - 1]window.Stage[A, A] // all but the last box
	makers [maxPasses - 1]meanMaker[A]
	last   window.Sums[A, A]
	box    kernel.Box // of the last pass
	boxes  kernel.BoxScratch
	_      [kernel.LineBytes]byte
}

// meanMaker makes means, times a scale.
type meanMaker[A kernel.Number] struct {
	of    pairs.Type
	level kernel.Level
	scale uint   // bits
	most  uint64 // of an element

	box     kernel.WordBox
	fast    bool // it has a kernel
	scratch kernel.BoxScratch
}

// aim is for windows of a frame, and means of a type.
func (k *meanMaker[A]) aim(f *window.Frame, of pairs.Type, scale uint, most uint64) {
	k.level, k.of, k.scale, k.most = f.Level, of, scale, most
	k.fast = false
	if n := uint64(f.Shape.Width()) * uint64(f.Shape.Height()); f.Border != window.Clip && f.Plain() && k.scaled(n) {
		k.box, k.fast = kernel.NewWordBox(f.Level, f.Shape.Width(), f.Shape.Height(), f.Channels, k.factor(n))
	}
}

// scaled reports whether the last means, of n elements of 16 bits, are rounded in floats.
func scaled[A kernel.Number](n uint64) bool {
	return isWhole[A]() && grid.SizeOf[A]() == 4 && n*(255<<8) < 1<<31
}

func isWhole[A kernel.Number]() bool { one, two := A(1), A(2); return one/two == 0 }

// scaled reports whether means of n elements are rounded in floats, as few enough are.
func (k *meanMaker[A]) scaled(n uint64) bool {
	return grid.SizeOf[A]() == 4 && k.most*n < 1<<31
}

// factor is what sums of n elements are multiplied by.
func (k *meanMaker[A]) factor(n uint64) float32 {
	return float32(float64(uint64(1)<<k.scale) / float64(n))
}

func (k *meanMaker[A]) Make(dst []byte, _ int, s *window.Sums[A, A]) {
	if k.fast {
		cols, _ := s.Columns(s.Row().Channels)
		k.box.Row(kernel.Of[uint16](dst), as[uint32](cols), &k.scratch)
		return
	}
	r := s.Windows()
	c := r.Channels
	size := c * k.of.Bytes()
	for i, j, n := 0, 0, len(dst)/size; i < n; i = j {
		j = r.Same(i)
		k.some(dst[i*size:j*size], r.Hi[i*c:j*c], r.Lo[i*c:j*c], r.Count(i), r.Offset)
	}
}

func (k *meanMaker[A]) some(dst []byte, hi, lo []A, count int64, offset float64) {
	if A(1)/2 != 0 {
		means(k.level, k.of, dst, hi, lo, float64(count), offset, 0)
		return
	}
	if n := uint64(count); k.scaled(n) {
		kernel.ScaledMeans(k.level, kernel.Of[uint16](dst), as[uint32](hi), as[uint32](lo), k.factor(n))
		return
	}
	rounded(k.level, k.of, dst, hi, lo, uint64(count), k.scale, k.most*uint64(count))
}

func runGaussian[A kernel.Number](t *task, between pairs.Type, shapes *[maxPasses]window.Shape, passes int) error {
	run := engine.Take[engine.Run[cascade[A]]]()
	l := &run.Layer
	l.task, l.shapes, l.passes, l.between = *t, *shapes, passes, between
	l.frame = frameOf(&t.src, &shapes[0], false, t.set.Level)
	l.image.Src, l.image.Border = t.src, t.shape.Border
	return run.Fill(t.set, l.plan(), l)
}

func (l *cascade[A]) plan() engine.Plan {
	f, set := &l.frame, &l.task.set
	reach, unit := 0, max(1, window.Block[A](l.shapes[l.passes-1].Height()))
	for _, s := range l.shapes[:l.passes] {
		reach += s.Height()
	}
	return window.ChainPlan(set, f, l.task.src.Size*2, reach, unit)
}

func (l *cascade[A]) Prepare(p *engine.Plan) error {
	l.workers = engine.Workers(l.workers, p.Workers)
	if l.task.same {
		l.copied = l.image.Src.Copy(l.copied)
	}
	l.image.Outside = window.OutsideRow(l.image.Outside, &l.frame)
	return nil
}

// Tile implements [engine.Layer], in pixels: a band at a time.
func (l *cascade[A]) Tile(worker, _, y, n, rows int) {
	w, c, t := &l.workers[worker], l.frame.Channels, &l.task
	frames := [maxPasses]window.Frame{}
	for i := range l.passes {
		f := &frames[i]
		*f = l.frame
		f.Shape = l.shapes[i]
		if i > 0 {
			f.Offset, f.Pixel = 0, l.between
			if A(1)/2 == 0 {
				f.Value *= 256
			}
			if f.Border == window.Wrap {
				f.Height = 0 // rows come as they are asked for, and go on beyond the image
			}
		}
	}
	bits, most := uint(0), uint64(0)
	last := &frames[l.passes-1]
	w.box.Kind = kernel.BoxNone
	if A(1)/2 == 0 && l.passes > 1 {
		bits, most = 8, 255
		if n := uint64(last.Shape.Width()) * uint64(last.Shape.Height()); last.Border != window.Clip && last.Plain() && scaled[A](n) {
			w.box = kernel.NewScaledBox(last.Level, last.Shape.Width(), c, float32(1/float64(n<<bits)))
		}
	}
	w.last.Aim(last)
	w.last.Strip(0, n)
	// Each stage starts above the rows that the next one starts from.
	from := y
	for i := l.passes - 2; i >= 0; i-- {
		s, k := &w.stages[i], &w.makers[i]
		s.Maker = k
		if i == 0 {
			k.aim(&frames[0], l.between, bits, most)
			s.Aim(&l.image, &frames[0], &frames[1], from)
		} else {
			k.aim(&frames[i], l.between, 0, most<<bits)
			s.Aim(&w.stages[i-1], &frames[i], &frames[i+1], from)
			from = s.Start(from, &frames[i+1])
		}
	}
	src := window.Rows(&l.image)
	if l.passes > 1 {
		src = &w.stages[l.passes-2]
	}
	for end := y + rows; y < end; y++ {
		w.last.Down(src, y)
		dst := t.dst[0].Row(0, y, n)
		if w.box.Kind == kernel.BoxWords {
			cols, _ := w.last.Columns(c)
			w.box.Row(dst, as[uint32](cols), &w.boxes)
			continue
		}
		l.finish(dst, w.last.Windows(), 1<<bits)
	}
}

// finish makes pixels of the last sums.
func (l *cascade[A]) finish(dst []byte, r *window.Row[A, A], scale uint64) {
	c, of, level := r.Channels, l.task.src.Of, l.task.set.Level
	size := c * of.Bytes()
	for i, j, n := 0, 0, len(dst)/size; i < n; i = j {
		j = r.Same(i)
		to, hi, lo := dst[i*size:j*size], r.Hi[i*c:j*c], r.Lo[i*c:j*c]
		switch {
		case scaled[A](uint64(r.Count(i))) && scale > 1:
			kernel.ScaledMeans(level, to, as[uint32](hi), as[uint32](lo), float32(1/float64(uint64(r.Count(i))*scale)))
		case A(1)/2 == 0:
			rounded(level, of, to, hi, lo, uint64(r.Count(i))*scale, 0, 255*uint64(r.Count(i))*scale)
		case of == pairs.U16:
			inv := 1 / float64(r.Count(i))
			for k, to := 0, kernel.Of[uint16](to); k < len(to); k++ {
				to[k] = uint16(float64(float64(hi[k]-lo[k])*inv) + r.Offset + 0.5)
			}
		default:
			means(level, of, to, hi, lo, float64(r.Count(i)), r.Offset, 0)
		}
	}
}

func (l *cascade[A]) Finish() {}

func (l *cascade[A]) Release() int {
	l.task, l.image.Src = task{}, window.Pixels{}
	bytes := engine.Bytes(l.copied) + engine.Bytes(l.image.Outside)
	for i := range l.workers {
		w := &l.workers[i]
		for j := range w.stages {
			bytes += w.stages[j].Forget()
		}
		bytes += w.last.Bytes()
		w.last.Forget()
	}
	return bytes
}
