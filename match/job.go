package match

import (
	"math"

	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
)

// maxChannels is the largest number of channels.
const maxChannels = 4

// A job is a template to search for in an image. The caller sets the method and both
// images, calls check before it allocates the scores, and then fill. After that:
//
//   - image and template have the same type and number of channels, 1 to 4, and lie within their memory;
//   - the template fits into the image, is finite where the mask includes it, and has scores;
//   - the mask has the template's size and one channel, and leaves some pixels; it is used only if masked is true;
//   - the scores have one channel and the size computed by check, and do not overlap the inputs.
type job struct {
	method        Method
	src, template raster.Array
	mask          raster.Array
	masked        bool
	width, height int // size of the scores
	dst           []float32
	stride        int // of the scores

	set engine.Settings
}

// check validates the options, the method and the images, in this order, and fills in
// defaults.
func (j *job) check(opt *Options) (err error) {
	if j.set, err = engineOptions(opt).Check(); err != nil {
		return err
	}
	if err = j.method.check(); err != nil {
		return err
	}
	if err = j.src.Check(); err != nil {
		return err
	}
	if err = j.template.Check(); err != nil {
		return err
	}
	w, h := j.template.Width, j.template.Height
	switch {
	case w == 0 || h == 0:
		return raster.Invalid("template is %d×%d pixels, want at least 1×1", w, h)
	case j.src.Channels > maxChannels:
		return raster.Invalid("image has %d channels, want 1 to %d", j.src.Channels, maxChannels)
	case j.template.Channels != j.src.Channels:
		return raster.Invalid("template has %d channels, want %d like the image", j.template.Channels, j.src.Channels)
	case w > j.src.Width || h > j.src.Height:
		return raster.Invalid("template is %d×%d pixels and does not fit in the image of %d×%d", w, h, j.src.Width, j.src.Height)
	case j.src.Width > maxSide || j.src.Height > maxSide:
		return raster.Invalid("image is %d×%d, want sides of at most %d", j.src.Width, j.src.Height, maxSide)
	}
	j.width, j.height = j.src.Width-w+1, j.src.Height-h+1
	if err = j.checkMask(opt); err != nil {
		return err
	}
	if j.masked && j.set.On() != nil {
		return raster.Invalid("Options.Mask with Options.On: devices compare all pixels, leave On nil")
	}
	return j.checkTemplate()
}

// maxSide makes coordinates fit in 32 bits.
const maxSide = 1<<30 - 1

func (j *job) checkMask(opt *Options) error {
	if opt == nil {
		return nil
	}
	m := &opt.Mask
	if m.Width == 0 && m.Height == 0 && m.Pix == nil {
		return nil
	}
	j.masked = true
	j.mask = arrayOf(m)
	if err := j.mask.Check(); err != nil {
		return err
	}
	if j.mask.Channels != 1 || m.Width != j.template.Width || m.Height != j.template.Height {
		return raster.Invalid("mask is %v, want %d×%d (the size of the template) with 1 channel", j.mask.Extent, j.template.Width, j.template.Height)
	}
	all, some := true, false
	for y := range m.Height {
		for _, v := range j.mask.Span(0, y, m.Width) {
			all, some = all && v != 0, some || v != 0
		}
	}
	if !some {
		return raster.Invalid("the mask is zero everywhere")
	}
	j.masked = !all
	return nil
}

// counts reports whether the mask includes a pixel of the template.
func (j *job) counts(x, y int) bool {
	return !j.masked || j.mask.Data[y*j.mask.Stride+x] != 0
}

// checkTemplate returns an error if the method is undefined for the template.
func (j *job) checkTemplate() error {
	c := j.template.Channels
	var first [maxChannels]float64
	started, flat, zero := false, true, true
	for y := range j.template.Height {
		for x := range j.template.Width {
			if !j.counts(x, y) {
				continue
			}
			for i := range c {
				v := windows.At(j.template.Type, j.template.Data, y*j.template.Stride+x*c+i)
				if !started {
					first[i] = v
				}
				if !finite(v) {
					return raster.Invalid("the template is %v at (%d, %d), want finite numbers (or a mask that excludes it)", v, x, y)
				}
				flat, zero = flat && v == first[i], zero && v == 0
			}
			started = true
		}
	}
	switch {
	case j.method == ZNCC && flat:
		return raster.Invalid("the template is flat, which has no zncc: use one with contrast, or method ssd")
	case j.method == NCC && zero:
		return raster.Invalid("the template is zero everywhere, which has no ncc: use another, or method ssd")
	}
	return nil
}

// fill computes the scores of a checked job into dst.
func (j *job) fill(dst raster.Array) error {
	if err := dst.Check(); err != nil {
		return err
	}
	if dst.Width != j.width || dst.Height != j.height || dst.Channels != 1 {
		return raster.Invalid("destination is %v, want %d×%d scores", dst.Extent, j.width, j.height)
	}
	j.dst, j.stride = raster.Elems[float32](dst.Data), dst.Stride
	err := raster.Overlap(dst.Data, j.src.Data)
	if err == nil {
		err = raster.Overlap(dst.Data, j.template.Data)
	}
	if err == nil && j.masked {
		err = raster.Overlap(dst.Data, j.mask.Data)
	}
	if err != nil {
		return err
	}
	if on := j.set.On(); on != nil { // package gpu checks the types and the size of the template
		return on.Match(&device.Match{Src: j.src, Template: j.template, Scores: dst, Method: uint8(j.method), Options: j.set.OnDevice()})
	}
	return j.run()
}

// run computes the scores once their memory has been checked.
func (j *job) run() error {
	if j.goesDirectly() {
		return factors(j)
	}
	if j.masked || j.method == SSD {
		return correlate(j, generalScores)
	}
	if err := factors(j); err != nil {
		return err
	}
	return correlate(j, fastScores)
}

// whole reports whether pixels are integers.
func (j *job) whole() bool { return !j.src.Type.Float() }

// largest returns the greatest value of an integer type, and +Inf for others.
func largest(t raster.Type) float64 {
	switch t {
	case raster.U8:
		return 1<<8 - 1
	case raster.U16:
		return 1<<16 - 1
	}
	return math.Inf(1)
}

// finite reports whether v is neither infinite nor NaN.
func finite(v float64) bool { return v-v == 0 }

// clamped returns v limited to [-1, 1].
func clamped(v float64) float32 {
	return float32(math.Max(-1, math.Min(1, v)))
}
