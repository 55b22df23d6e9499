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

// Distance is what a map of radii holds.
type Distance interface{ uint8 | uint16 | uint32 }

// BoxRadii is the mean of a window of its own round every pixel, as pixels of the same type:
// of 2·r+1 pixels a side, with r from a map of the image's size, or of 2·r+1 across and 2·s+1
// down where the map has two channels. A blur that grows with the distance from what is in
// focus is one. Integers are exact and rounded to nearest, ties up; floats are off by the
// rounding of a table, about 2^-52 of the sum of all pixels. It makes that table, of the image
// and of as much of the border as the largest radius reaches: 4 or 8 bytes a value.
func BoxRadii[P Pixel, R Distance](img boxsum.Image[P], radii boxsum.Image[R], opt *Options) (boxsum.Image[P], error) {
	dst, err := newFor[P](&img, Square(1), opt)
	if err != nil {
		return dst, err
	}
	return orNone(dst, BoxRadiiInto(dst, img, radii, opt))
}

// BoxRadiiInto is [BoxRadii] into an image of the same size, which may be img itself.
func BoxRadiiInto[P Pixel, R Distance](dst, img boxsum.Image[P], radii boxsum.Image[R], opt *Options) error {
	src, to := pixels(&img), pixels(&dst)
	t := task{kind: mean}
	if err := t.check(&src, Square(1), opt); err != nil {
		return err
	}
	if err := t.to(0, &to); err != nil {
		return err
	}
	var r engine.Source[R]
	r.Image(radii.Pix, radii.Width, radii.Height, radii.Channels, radii.Stride)
	if err := r.Pixels(len(radii.Pix)); err != nil {
		return err
	}
	if r.Width != t.src.Width || r.Height != t.src.Height || r.Channels > 2 {
		return grid.Invalid("radii of %v for an image of %v: they take the same size, and one channel or two", r.Extent, t.src.Extent)
	}
	if shares(to.Mem, kernel.Bytes(radii.Pix)) {
		return errOverlap()
	}
	if t.src.Width == 0 || t.src.Height == 0 {
		t.set.Report(1)
		return nil
	}
	var o Options
	if opt != nil {
		o = *opt
	}
	return radiiTasks[pairs.NumberTwo[P, R]()].(func(task, engine.Source[R], Options) error)(t, r, o)
}

func radiiTask[P Pixel, R Distance](t task, r engine.Source[R], opt Options) error {
	across, down := largestRadii(&r)
	w, h := 2*float64(across)+1, 2*float64(down)+1
	if w*h >= 1<<62 {
		return grid.Invalid("radii of up to %d×%d are too large", across, down)
	}
	if kernel.IsFloat[P]() {
		return runRadii[P, R, float64](&t, &r, across, down, &opt)
	}
	switch sum := w * h * largest(t.src.Of); {
	case sum >= 1<<62:
		return grid.Invalid("radii of up to %d×%d are too large for their sums", across, down)
	case sum < 1<<32:
		return runRadii[P, R, uint32](&t, &r, across, down, &opt)
	}
	return runRadii[P, R, uint64](&t, &r, across, down, &opt)
}

// largestRadii is how far windows reach across and down.
func largestRadii[R Distance](r *engine.Source[R]) (across, down int) {
	for y := range r.Height {
		for i, v := range r.Pix[y*r.Stride:][:r.Width*r.Channels] {
			if i%r.Channels == 0 {
				across = max(across, int(v))
			}
			if i%r.Channels == r.Channels-1 {
				down = max(down, int(v))
			}
		}
	}
	return across, down
}

// radiiLayer is the layer of means of windows of all sizes, from a table.
type radiiLayer[P Pixel, R Distance, S boxsum.Sum] struct {
	task         task
	radii        *engine.Source[R]
	table        *boxsum.Table[S]
	plus, minus  *boxsum.Table[uint32] // how many pixels are +Inf or NaN, and -Inf or NaN; nil for none
	across, down int                   // of the border that the table has
	outer        S                     // what the border constant adds for a pixel
}

func runRadii[P Pixel, R Distance, S boxsum.Sum](t *task, radii *engine.Source[R], across, down int, opt *Options) error {
	l := &radiiLayer[P, R, S]{task: *t, radii: radii}
	if b := t.shape.Border; b != window.Clip && b != window.Constant {
		l.across, l.down = across, down
	}
	if err := l.tables(opt); err != nil {
		return err
	}
	l.outer = S(t.shape.Value)
	run := engine.Take[engine.Run[radiiLayer[P, R, S]]]()
	run.Layer = *l
	p := engine.Plan{Grid: engine.Grid{Rows: t.src.Height, N: t.src.Width, TileWidth: t.src.Width, BandRows: 16}, Workers: 1, Shares: true}
	if t.src.Width*t.src.Height > 1<<14 {
		p.Workers = min(t.set.Workers(), engine.DivUp(t.src.Height, p.BandRows))
	}
	return run.Fill(t.set, p, &run.Layer)
}

// tables integrates the image and its border. Sums of integers are modulo 2^32 or 2^64, of
// which those of windows are exact.
func (l *radiiLayer[P, R, S]) tables(asked *Options) error {
	src, border := &l.task.src, l.task.shape.Border
	c := src.Channels
	w, h := src.Width+2*l.across, src.Height+2*l.down
	if w < src.Width || h < src.Height {
		return grid.Invalid("radii of up to %d×%d are too large", l.across, l.down)
	}
	img, err := boxsum.NewImage[P](w, h, c)
	if err != nil {
		return err
	}
	var bad [2]boxsum.Image[uint8]
	for y := range h {
		from, to := kernel.Of[P](src.Row(0, border.Index(y-l.down, src.Height), src.Width)), img.Row(y)
		copy(to[l.across*c:], from)
		for x := 0; x < w; x++ {
			if x == l.across {
				x += src.Width - 1
				continue
			}
			copy(to[x*c:][:c], from[border.Index(x-l.across, src.Width)*c:])
		}
		for i, v := range to {
			if !kernel.IsFloat[P]() || v-v == 0 {
				continue
			}
			if bad[0].Pix == nil {
				for k := range bad {
					if bad[k], err = boxsum.NewImage[uint8](w, h, c); err != nil {
						return err
					}
				}
			}
			if !(v < 0) {
				bad[0].Row(y)[i] = 1
			}
			if !(v > 0) {
				bad[1].Row(y)[i] = 1
			}
			to[i] = 0
		}
	}
	opt := &boxsum.Options{Plain: true, Workers: l.task.set.Workers()}
	if asked != nil {
		opt.Context, opt.Level = asked.Context, asked.Level
	}
	if l.table, err = boxsum.Integrate[S](img, opt); err != nil || bad[0].Pix == nil {
		return err
	}
	if l.plus, err = boxsum.Integrate[uint32](bad[0], opt); err == nil {
		l.minus, err = boxsum.Integrate[uint32](bad[1], opt)
	}
	return err
}

func (l *radiiLayer[P, R, S]) Prepare(*engine.Plan) error { return nil }

// Tile implements [engine.Layer]: whole rows.
func (l *radiiLayer[P, R, S]) Tile(_, _, y, n, rows int) {
	t := l.table
	c, border := l.task.src.Channels, l.task.shape.Border
	for end := y + rows; y < end; y++ {
		radii := l.radii.Pix[y*l.radii.Stride:][:n*l.radii.Channels]
		dst := kernel.Of[P](l.task.dst[0].Row(0, y, n))
		for x := range n {
			across := int(radii[x*l.radii.Channels])
			down := int(radii[x*l.radii.Channels+l.radii.Channels-1])
			x0, x1 := max(0, x+l.across-across), min(t.Width, x+l.across+across+1)
			y0, y1 := max(0, y+l.down-down), min(t.Height, y+l.down+down+1)
			count := (x1 - x0) * (y1 - y0)
			beside := 0
			if border == window.Constant {
				all := (2*across + 1) * (2*down + 1)
				count, beside = all, all-count
			}
			top, bottom := t.Sums[y0*t.Stride:], t.Sums[y1*t.Stride:]
			for ch := range c {
				sum := bottom[x1*c+ch] - bottom[x0*c+ch] - (top[x1*c+ch] - top[x0*c+ch])
				if beside > 0 {
					sum += S(beside) * l.outer
				}
				dst[x*c+ch] = l.pixel(sum, count)
				if l.plus != nil {
					l.mark(&dst[x*c+ch], x0*c+ch, x1*c+ch, y0, y1)
				}
			}
		}
	}
}

// pixel is the mean of a window.
func (l *radiiLayer[P, R, S]) pixel(sum S, count int) P {
	if kernel.IsFloat[P]() {
		return P(float64(sum) / float64(count))
	}
	return P((uint64(sum) + uint64(count)/2) / uint64(count))
}

// mark makes the mean of a window with pixels that are not finite what it is.
func (l *radiiLayer[P, R, S]) mark(dst *P, x0, x1, y0, y1 int) {
	has := func(t *boxsum.Table[uint32]) bool {
		top, bottom := t.Sums[y0*t.Stride:], t.Sums[y1*t.Stride:]
		return bottom[x1]-bottom[x0] != top[x1]-top[x0]
	}
	switch plus, minus := has(l.plus), has(l.minus); {
	case plus && minus:
		*dst = P(math.NaN())
	case plus:
		*dst = P(math.Inf(1))
	case minus:
		*dst = P(math.Inf(-1))
	}
}

func (l *radiiLayer[P, R, S]) Finish() {}

func (l *radiiLayer[P, R, S]) Release() int {
	*l = radiiLayer[P, R, S]{}
	return 0
}
