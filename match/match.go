package match

import (
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/pairs"
	"github.com/boxsum/boxsum/internal/window"
)

// Match scores every place of a template in an image: the result has
// img.Width-template.Width+1 by img.Height-template.Height+1 scores. Both have as many
// channels, one to four, whose sums are added.
func Match[P Pixel](img, template boxsum.Image[P], m Method, opt *Options) (scores boxsum.Image[float32], err error) {
	var t task
	if err = t.check(pixels(&img), pixels(&template), m, opt); err != nil {
		return scores, err
	}
	if scores, err = boxsum.NewImage[float32](t.width, t.height, 1); err != nil {
		return scores, err
	}
	if err = t.to(&scores); err == nil {
		err = t.run()
	}
	if err != nil {
		return boxsum.Image[float32]{}, err
	}
	return scores, nil
}

// MatchInto is [Match] into an image of the right size. It allocates nothing once the like has
// been matched, while what the transforms need is less than 32 MiB.
func MatchInto[P Pixel](scores boxsum.Image[float32], img, template boxsum.Image[P], m Method, opt *Options) error {
	var t task
	if err := t.check(pixels(&img), pixels(&template), m, opt); err != nil {
		return err
	}
	if err := t.to(&scores); err != nil {
		return err
	}
	return t.run()
}

// pixels are those of an image, of which nothing has been checked.
func pixels[P Pixel](img *boxsum.Image[P]) window.Pixels {
	return window.PixelsOf(img.Pix, img.Width, img.Height, img.Channels, img.Stride)
}

// maxChannels is how many an image may have.
const maxChannels = 4

// A task is what a call was asked for, checked.
type task struct {
	set           engine.Settings
	method        Method
	src, template window.Pixels
	mask          engine.Source[uint8]
	masked        bool
	width, height int // of the scores
	dst           []float32
	stride        int
}

// check is all that can be wrong with options, method and images.
func (t *task) check(src, template window.Pixels, m Method, opt *Options) (err error) {
	if t.set, err = engineOptions(opt).Check(); err != nil {
		return err
	}
	if err = m.check(); err != nil {
		return err
	}
	t.method, t.src, t.template = m, src, template
	if err = t.src.Check(); err != nil {
		return err
	}
	if err = t.template.Check(); err != nil {
		return err
	}
	w, h := t.template.Width, t.template.Height
	switch {
	case w == 0 || h == 0:
		return grid.Invalid("a template of %d×%d pixels: use one that has some", w, h)
	case t.src.Channels > maxChannels:
		return grid.Invalid("an image with %d channels: use 1 to %d", t.src.Channels, maxChannels)
	case t.template.Channels != t.src.Channels:
		return grid.Invalid("a template with %d channels for an image with %d: they must have as many", t.template.Channels, t.src.Channels)
	case w > t.src.Width || h > t.src.Height:
		return grid.Invalid("a template of %d×%d pixels does not fit into an image of %d×%d: use a smaller one", w, h, t.src.Width, t.src.Height)
	case t.src.Width > maxSide || t.src.Height > maxSide:
		return grid.Invalid("an image of %d×%d: use up to %d pixels a side", t.src.Width, t.src.Height, maxSide)
	}
	t.width, t.height = t.src.Width-w+1, t.src.Height-h+1
	if err = t.checkMask(opt); err != nil {
		return err
	}
	return t.checkTemplate()
}

// maxSide keeps the places of an image in 32 bits.
const maxSide = 1<<30 - 1

func (t *task) checkMask(opt *Options) error {
	if opt == nil {
		return nil
	}
	m := &opt.Mask
	if m.Width == 0 && m.Height == 0 && m.Pix == nil {
		return nil
	}
	t.masked = true
	t.mask.Image(m.Pix, m.Width, m.Height, m.Channels, m.Stride)
	if err := t.mask.Pixels(len(m.Pix)); err != nil {
		return err
	}
	if t.mask.Channels != 1 || m.Width != t.template.Width || m.Height != t.template.Height {
		return grid.Invalid("a mask of %v for a template of %v: it must have the same size, and one channel", t.mask.Extent, t.template.Extent)
	}
	all, some := true, false
	for y := range m.Height {
		for _, v := range t.mask.Pix[y*t.mask.Stride:][:m.Width] {
			all, some = all && v != 0, some || v != 0
		}
	}
	if !some {
		return grid.Invalid("the mask is zero everywhere: leave some of the template")
	}
	t.masked = !all
	return nil
}

// counts reports whether a pixel of the template counts.
func (t *task) counts(x, y int) bool {
	return !t.masked || t.mask.Pix[y*t.mask.Stride+x] != 0
}

// checkTemplate is an error where the method has no scores for a template.
func (t *task) checkTemplate() error {
	c := t.template.Channels
	var first [maxChannels]float64
	started, flat, zero := false, true, true
	for y := range t.template.Height {
		for x := range t.template.Width {
			if !t.counts(x, y) {
				continue
			}
			for i := range c {
				v := t.template.At(y*t.template.Stride + x*c + i)
				if !started {
					first[i] = v
				}
				if !finite(v) {
					return grid.Invalid("the template is %v at (%d, %d): use finite numbers, or a mask that leaves it out", v, x, y)
				}
				flat, zero = flat && v == first[i], zero && v == 0
			}
			started = true
		}
	}
	switch {
	case t.method == ZNCC && flat:
		return grid.Invalid("a flat template has no zncc: use one with contrast, or the method ssd")
	case t.method == NCC && zero:
		return grid.Invalid("a template of zeros has no ncc: use another, or the method ssd")
	}
	return nil
}

// to is where the scores go.
func (t *task) to(dst *boxsum.Image[float32]) error {
	e := grid.Plane(dst.Width, dst.Height, dst.Channels, dst.Stride)
	if err := e.Pixels(len(dst.Pix)); err != nil {
		return err
	}
	if e.Width != t.width || e.Height != t.height || e.Channels != 1 {
		return grid.Invalid("an image of %v cannot take %d×%d scores", e, t.width, t.height)
	}
	t.dst, t.stride = dst.Pix, e.Stride
	err := grid.Overlap(dst.Pix, t.src.Mem)
	if err == nil {
		err = grid.Overlap(dst.Pix, t.template.Mem)
	}
	if err == nil && t.masked {
		err = grid.Overlap(dst.Pix, t.mask.Pix)
	}
	return err
}

// run makes the scores.
func (t *task) run() error {
	if t.goesDirectly() {
		return factors(t)
	}
	if t.masked || t.method == SSD {
		return correlate(t, generalScores)
	}
	if err := factors(t); err != nil {
		return err
	}
	return correlate(t, fastScores)
}

// whole reports whether pixels are whole numbers.
func (t *task) whole() bool { return !t.src.Of.Float() }

// largest is the greatest of whole numbers of a type.
func largest(of pairs.Type) float64 {
	switch of {
	case pairs.U8:
		return 1<<8 - 1
	case pairs.U16:
		return 1<<16 - 1
	}
	return math.Inf(1)
}

// finite reports whether a number is one.
func finite(v float64) bool { return v-v == 0 }

// clamped is a score.
func clamped(v float64) float32 {
	return float32(math.Max(-1, math.Min(1, v)))
}
