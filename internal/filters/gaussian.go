package filters

import (
	"math"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// MaxPasses is the maximum number of boxes.
const MaxPasses = 6

// usualPasses is the number of boxes if Passes is 0.
const usualPasses = 3

// MaxSigma keeps the boxes smaller than the largest window.
const MaxSigma = 1e8

// Boxes is like the function of package filter, without the checks.
func Boxes(sigma float64, passes int) (all [MaxPasses]int) {
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

// checkGaussian checks the standard deviations of a Gaussian.
func (j *Job) checkGaussian() error {
	sigma := &j.Sigma
	if !(sigma.X >= 0 && sigma.Y >= 0 && sigma.X <= MaxSigma && sigma.Y <= MaxSigma) {
		return raster.Invalid("sigma is %v×%v, want 0 to %g", sigma.X, sigma.Y, float64(MaxSigma))
	}
	if sigma.Passes < 0 || sigma.Passes > MaxPasses {
		return raster.Invalid("passes is %d, want 1 to %d box filters, or 0 for 3", sigma.Passes, MaxPasses)
	}
	j.boxes = sigma.Passes
	if sigma.Passes == 0 {
		sigma.Passes = usualPasses
	}
	return nil
}

// Boxes returns the number of boxes that approximate the Gaussian of pixels of a type,
// along either axis or both. It is 0 if the Gaussian is computed with its own weights.
func (s Sigma) Boxes(pixel raster.Type) int {
	switch {
	case s.Passes > 0:
		return s.Passes
	case max(s.X, s.Y) >= boxSigmaOf(pixel):
		return usualPasses
	}
	return 0
}

// runGaussian computes a Gaussian with weights, boxes, or one of each along either axis.
func runGaussian(j *Job) error {
	x, y := j.Sigma.X, j.Sigma.Y
	switch narrowX, narrowY := j.isNarrow(x), j.isNarrow(y); {
	case x == 0 && y == 0:
		return copyPixels(j)
	case (narrowX || x == 0) && (narrowY || y == 0):
		return runWeighted(j, x, y)
	case narrowX || narrowY:
		first, boxes := *j, *j
		first.set = j.set.Quiet()
		if narrowX {
			first.Sigma.Y, boxes.Sigma.X = 0, 0
		} else {
			first.Sigma.X, boxes.Sigma.Y = 0, 0
		}
		if err := runWeighted(&first, first.Sigma.X, first.Sigma.Y); err != nil {
			return err
		}
		boxes.Src, boxes.same = j.Dst, true
		return runBoxes(&boxes)
	}
	return runBoxes(j)
}

// runBoxes computes a Gaussian with boxes.
func runBoxes(j *Job) error {
	var shapes [MaxPasses]window.Shape
	passes := j.Sigma.Passes
	across, down := Boxes(j.Sigma.X, passes), Boxes(j.Sigma.Y, passes)
	area := 0.0
	for i := range passes {
		s := &shapes[i]
		*s = j.shape
		s.Left, s.Up = across[i]/2, down[i]/2
		s.Right, s.Down = s.Left, s.Up
		area = max(area, float64(across[i])*float64(down[i]))
		if err := window.CheckWrap(s, j.Src.Height); err != nil {
			return err
		}
	}
	if area == 1 {
		return copyPixels(j)
	}
	switch j.Src.Type {
	case raster.U8:
		if l, ok := newTriple(j, shapes[:passes]); ok {
			return runTriple(j, &l)
		}
		if area*(255<<8)*(1<<8) >= 1<<62 {
			return raster.Invalid("sigma is %v×%v, which is too wide for 8-bit pixels (use float pixels)", j.Sigma.X, j.Sigma.Y)
		}
		if area*(255<<8) < 1<<32 {
			return runCascade(j, raster.U32, raster.U16, &shapes)
		}
		return runCascade(j, raster.U64, raster.U16, &shapes)
	case raster.F64:
		return runCascade(j, raster.F64, raster.F64, &shapes)
	}
	return runCascade(j, raster.F64, raster.F32, &shapes)
}

// cascade is the layer for several successive boxes. Between the boxes, integer pixels are
// fixed-point numbers with eight fractional bits.
//
// If the border mirrors or repeats the image, the result of each box is extended beyond
// the image in the same way. Otherwise the image itself is extended, as far as all boxes
// together reach, and the boxes also compute what is outside the image. With the border
// Clip, each box counts the pixels in the image.
type cascade struct {
	engine.Base
	job     Job
	frame   window.Frame
	image   window.Image
	copied  []byte
	shapes  [MaxPasses]window.Shape
	passes  int
	extend  bool // the image is extended
	pad     int  // by this many pixels on each side of a row
	between raster.Type

	workers []cascadeWorker
}

type cascadeWorker struct {
	wide   window.Wide
	stages [MaxPasses - 1]window.Stage // all but the last box
	makers [MaxPasses - 1]meanMaker
	last   window.Sums
	box    windows.Box // of the last pass
	boxes  windows.BoxScratch
	_      [raster.LineBytes]byte
}

// meanMaker computes means, times a scale.
type meanMaker struct {
	sum, dst raster.Type
	level    processor.Level
	scale    uint   // in bits
	most     uint64 // greatest value of an element

	box     windows.WordBox
	fast    bool // has a kernel
	scratch windows.BoxScratch
}

// aim prepares for windows of a frame and means of a type.
func (k *meanMaker) aim(f *window.Frame, dst raster.Type, scale uint, most uint64) {
	k.level, k.sum, k.dst, k.scale, k.most = f.Level, f.Sum, dst, scale, most
	k.fast = false
	if n := uint64(f.Shape.Width()) * uint64(f.Shape.Height()); f.Border != window.Clip && f.Plain() && k.scaled(n) {
		k.box, k.fast = windows.NewWordBox(f.Level, f.Shape.Width(), f.Shape.Height(), f.Channels, k.factor(n))
	}
}

// scaled reports whether the final means, of n elements of 16 bits, are rounded in floats.
func scaled(sum raster.Type, n uint64) bool { return sum == raster.U32 && n*(255<<8) < 1<<31 }

// scaled reports whether means of n elements are rounded in floats, which requires that n
// is small enough.
func (k *meanMaker) scaled(n uint64) bool { return k.sum == raster.U32 && k.most*n < 1<<31 }

// factor returns the factor for sums of n elements.
func (k *meanMaker) factor(n uint64) float32 {
	return float32(float64(uint64(1)<<k.scale) / float64(n))
}

// Make implements [window.Maker].
func (k *meanMaker) Make(dst []byte, _ int, s *window.Sums) {
	if k.fast {
		cols, _ := s.Columns(s.Row().Channels)
		k.box.Row(raster.Elems[uint16](dst), raster.Elems[uint32](cols), &k.scratch)
		return
	}
	r := s.Windows()
	size := r.Channels * k.dst.Bytes()
	var p window.Part
	for x, n := 0, len(dst)/size; x < n; {
		r.Cut(&p, x)
		to, count := dst[p.From*size:p.To*size], uint64(p.Count)
		if k.scaled(count) {
			windows.ScaledMeans(k.level, raster.Elems[uint16](to), raster.Elems[uint32](p.Sums.Hi), raster.Elems[uint32](p.Sums.Lo), k.factor(count))
		} else {
			p.Sums.Means(k.level, k.dst, to, windows.Mean{Count: count, Offset: r.Offset, Scale: k.scale, Most: k.most * count})
		}
		x = p.To
	}
}

// cascadeRuns keeps the engines and scratch memory of the layer for later calls.
var cascadeRuns engine.Runs[cascade]

func runCascade(j *Job, sum, between raster.Type, shapes *[MaxPasses]window.Shape) error {
	pad := 0
	extend := j.Sigma.Passes > 1 && (j.shape.Border == window.Replicate || j.shape.Border == window.Constant)
	if extend {
		var err error
		if pad, err = j.reach(shapes[:j.Sigma.Passes]); err != nil {
			return err
		}
	}
	run := cascadeRuns.Take()
	l := &run.Layer
	l.job, l.shapes, l.passes, l.between = *j, *shapes, j.Sigma.Passes, between
	l.extend, l.pad = extend, pad
	l.frame = frameOf(j, &shapes[0], sum, 0)
	l.image.Src, l.image.Border = j.Src, j.shape.Border
	p := l.plan()
	return run.Fill(&j.set, &p, l)
}

// reach returns how far successive boxes reach beyond a row. It returns an error if that
// is much more than the size of the image, since they would have to compute as many pixels.
func (j *Job) reach(shapes []window.Shape) (columns int, err error) {
	rows := 0
	for _, s := range shapes {
		columns, rows = columns+s.Left, rows+s.Up
	}
	for _, axis := range [...]struct {
		of          string
		reach, size int
	}{{"columns", columns, j.Src.Width}, {"rows", rows, j.Src.Height}} {
		if most := max(1<<12, 2*axis.size); axis.reach > most {
			return 0, raster.Invalid("a Gaussian with sigma %v×%v reaches %d %s beyond the image, want at most %d for border %v",
				j.Sigma.X, j.Sigma.Y, axis.reach, axis.of, most, j.shape.Border)
		}
	}
	return columns, nil
}

func (l *cascade) plan() engine.Plan {
	f, set := &l.frame, &l.job.set
	reach, unit := 0, max(1, window.Block(f.Sum, l.shapes[l.passes-1].Height()))
	for _, s := range l.shapes[:l.passes] {
		reach += s.Height()
	}
	return window.ChainPlan(set, f, l.job.Src.Type.Bytes()*2, reach, unit)
}

func (l *cascade) Prepare(p *engine.Plan) error {
	l.workers = engine.Workers(l.workers, p.Workers)
	if l.job.same {
		l.copied = window.CopyTo(l.copied, &l.image.Src)
	}
	l.image.Outside = window.OutsideRow(l.image.Outside, &l.frame)
	return nil
}

// Tile implements [engine.Layer], in pixels: a band at a time.
func (l *cascade) Tile(worker, _, y, n, rows int) {
	w, c, sum := &l.workers[worker], l.frame.Channels, l.frame.Sum
	frames := [MaxPasses]window.Frame{}
	for i := range l.passes {
		f := &frames[i]
		*f = l.frame
		f.Shape = l.shapes[i]
		if l.extend {
			f.Width, f.Height, f.Border = f.Width+2*l.pad, 0, window.Wrap // no window of a result reaches the edge
		}
		if i > 0 {
			f.Offset, f.Pixel = 0, l.between
			if !sum.Float() {
				f.Value *= 256
			}
			if f.Border == window.Wrap {
				f.Height = 0 // rows are computed on demand, and continue beyond the image
			}
		}
	}
	bits, most := uint(0), uint64(0)
	last := &frames[l.passes-1]
	w.box.Kind = windows.BoxNone
	if !sum.Float() && l.passes > 1 {
		bits, most = 8, 255
		if n := uint64(last.Shape.Width()) * uint64(last.Shape.Height()); last.Border != window.Clip && last.Plain() && scaled(sum, n) {
			w.box = windows.NewScaledBox(last.Level, last.Shape.Width(), c, float32(1/float64(n<<bits)))
		}
	}
	w.last.Aim(last)
	w.last.Strip(l.pad, n)
	src := window.Rows(&l.image)
	if l.extend {
		w.wide.Image, w.wide.Pad, w.wide.Value = &l.image, l.pad, l.frame.Value
		src = &w.wide
	}
	// Each stage starts above the rows at which the next one starts.
	from := y
	for i := l.passes - 2; i >= 0; i-- {
		s, k := &w.stages[i], &w.makers[i]
		s.Maker = k
		if i == 0 {
			k.aim(&frames[0], l.between, bits, most)
			s.Aim(src, &frames[0], &frames[1], from)
		} else {
			k.aim(&frames[i], l.between, 0, most<<bits)
			s.Aim(&w.stages[i-1], &frames[i], &frames[i+1], from)
			from = s.Start(from, &frames[i+1])
		}
	}
	if l.passes > 1 {
		src = &w.stages[l.passes-2]
	}
	for end := y + rows; y < end; y++ {
		w.last.Down(src, y)
		dst := l.job.Dst.Span(0, y, n)
		if w.box.Kind == windows.BoxWords {
			cols, _ := w.last.Columns(c)
			w.box.Row(dst, raster.Elems[uint32](cols), &w.boxes)
			continue
		}
		l.finish(dst, w.last.Windows(), 1<<bits)
	}
}

// finish computes pixels from the last sums.
func (l *cascade) finish(dst []byte, r *window.Row, scale uint64) {
	t, level := l.job.Src.Type, l.job.set.Level
	size := r.Channels * t.Bytes()
	var p window.Part
	for x, n := 0, len(dst)/size; x < n; {
		r.Cut(&p, x)
		to, count := dst[p.From*size:p.To*size], uint64(p.Count)*scale
		if scaled(l.frame.Sum, uint64(p.Count)) && scale > 1 {
			windows.ScaledMeans(level, to, raster.Elems[uint32](p.Sums.Hi), raster.Elems[uint32](p.Sums.Lo), float32(1/float64(count)))
		} else {
			m := windows.Mean{Count: count, Offset: r.Offset}
			if !l.frame.Sum.Float() {
				m.Most = 255 * count
			}
			p.Sums.Means(level, t, to, m)
		}
		x = p.To
	}
}

func (l *cascade) Release() int {
	l.job, l.image.Src = Job{}, raster.Array{}
	bytes := engine.Bytes(l.copied) + engine.Bytes(l.image.Outside)
	for i := range l.workers {
		w := &l.workers[i]
		bytes += w.wide.Forget()
		for j := range w.stages {
			bytes += w.stages[j].Forget()
		}
		bytes += w.last.Bytes()
		w.last.Forget()
	}
	return bytes
}
