// Package matching scores the positions of templates in images whose types are data: what package match does
// for typed images, and what the command, the explorer and the Python library call themselves.
package matching

import (
	"math"

	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
)

// maxChannels is the largest number of channels.
const maxChannels = 4

// A Job is a template to search for in an image: plain data. Its maker sets the method, both images and, if
// there is one, the mask, calls Check before it allocates the scores, whose size is that of Size, and
// then Run. After that:
//
//   - image and template have the same type and number of channels, 1 to 4, and lie within their memory;
//   - the template fits into the image, is finite where the mask includes it, and has scores;
//   - the mask has the template's size and one channel, and leaves some pixels; it is used only if masked is true;
//   - the scores have one channel and the size computed by Check, and do not overlap the inputs.
type Job struct {
	Method        Method
	Src, Template raster.Array
	Mask          raster.Array // bytes; it has no type if there is no mask
	Scores        raster.Array // float32
	Options       engine.Options

	masked        bool
	width, height int // size of the scores
	dst           []float32
	stride        int // of the scores

	set engine.Settings
}

// Check validates the options, the method and the images, in this order, and fills in
// defaults.
func (j *Job) Check() (err error) {
	if j.set, err = j.Options.Check(); err != nil {
		return err
	}
	if err = j.Method.Check(); err != nil {
		return err
	}
	if t := j.Src.Type; t != raster.U8 && t != raster.U16 && !t.Float() || j.Template.Type != t {
		return raster.Unsupported("image has pixels of %v and template of %v, want the same type: uint8, uint16, float32 or float64", t, j.Template.Type)
	}
	if err = j.Src.Check(); err != nil {
		return err
	}
	if err = j.Template.Check(); err != nil {
		return err
	}
	w, h := j.Template.Width, j.Template.Height
	switch {
	case w == 0 || h == 0:
		return raster.Invalid("template is %d×%d pixels, want at least 1×1", w, h)
	case j.Src.Channels > maxChannels:
		return raster.Invalid("image has %d channels, want 1 to %d", j.Src.Channels, maxChannels)
	case j.Template.Channels != j.Src.Channels:
		return raster.Invalid("template has %d channels, want %d like the image", j.Template.Channels, j.Src.Channels)
	case w > j.Src.Width || h > j.Src.Height:
		return raster.Invalid("template is %d×%d pixels and does not fit in the image of %d×%d", w, h, j.Src.Width, j.Src.Height)
	case j.Src.Width > maxSide || j.Src.Height > maxSide:
		return raster.Invalid("image is %d×%d, want sides of at most %d", j.Src.Width, j.Src.Height, maxSide)
	}
	j.width, j.height = j.Src.Width-w+1, j.Src.Height-h+1
	if err = j.checkMask(); err != nil {
		return err
	}
	if j.masked && j.set.On() != nil {
		return raster.Invalid("masks are not supported on a device (use the CPU)")
	}
	return j.checkTemplate()
}

// maxSide makes coordinates fit in 32 bits.
const maxSide = 1<<30 - 1

// Size returns the size of the scores of a checked job.
func (j *Job) Size() (width, height int) { return j.width, j.height }

func (j *Job) checkMask() error {
	m := &j.Mask
	if m.Type == 0 {
		return nil
	}
	if m.Type != raster.U8 {
		return raster.Unsupported("mask has type %v, want uint8", m.Type)
	}
	j.masked = true
	if err := m.Check(); err != nil {
		return err
	}
	if m.Channels != 1 || m.Width != j.Template.Width || m.Height != j.Template.Height {
		return raster.Invalid("mask is %v, want %d×%d (the size of the template) with 1 channel", m.Extent, j.Template.Width, j.Template.Height)
	}
	all, some := true, false
	for y := range m.Height {
		for _, v := range m.Span(0, y, m.Width) {
			all, some = all && v != 0, some || v != 0
		}
	}
	if !some {
		return raster.Invalid("all pixels of the mask are 0, want at least one other value")
	}
	j.masked = !all
	return nil
}

// counts reports whether the mask includes a pixel of the template.
func (j *Job) counts(x, y int) bool {
	return !j.masked || j.Mask.Data[y*j.Mask.Stride+x] != 0
}

// checkTemplate returns an error if the method is undefined for the template.
func (j *Job) checkTemplate() error {
	c := j.Template.Channels
	var first [maxChannels]float64
	started, flat, zero := false, true, true
	for y := range j.Template.Height {
		for x := range j.Template.Width {
			if !j.counts(x, y) {
				continue
			}
			for i := range c {
				v := windows.At(j.Template.Type, j.Template.Data, y*j.Template.Stride+x*c+i)
				if !started {
					first[i] = v
				}
				if !finite(v) {
					return raster.Invalid("template has %v at (%d, %d), want finite numbers (or a mask that excludes this pixel)", v, x, y)
				}
				flat, zero = flat && v == first[i], zero && v == 0
			}
			started = true
		}
	}
	switch {
	case j.Method == ZNCC && flat:
		return raster.Invalid("all pixels of the template are equal, so zncc is undefined (use another template, or method ssd)")
	case j.Method == NCC && zero:
		return raster.Invalid("all pixels of the template are 0, so ncc is undefined (use another template, or method ssd)")
	}
	return nil
}

// Make checks a job and runs it, with the scores in a new image.
func (j *Job) Make() (scores raster.Array, err error) {
	if err = j.Check(); err != nil {
		return scores, err
	}
	if j.Scores, err = raster.NewPixelArray(raster.F32, raster.PlaneExtent(j.width, j.height, 1, 0)); err != nil {
		return scores, err
	}
	return j.Scores, j.Run()
}

// Run computes the scores of a checked job, after checking their memory.
func (j *Job) Run() error {
	dst := &j.Scores
	if dst.Type != raster.F32 {
		return raster.Unsupported("scores have type %v, want float32", dst.Type)
	}
	if err := dst.Check(); err != nil {
		return err
	}
	if dst.Width != j.width || dst.Height != j.height || dst.Channels != 1 {
		return raster.Invalid("destination is %v, want %d×%d scores", dst.Extent, j.width, j.height)
	}
	j.dst, j.stride = raster.Elems[float32](dst.Data), dst.Stride
	err := raster.Overlap(dst.Data, j.Src.Data)
	if err == nil {
		err = raster.Overlap(dst.Data, j.Template.Data)
	}
	if err == nil && j.masked {
		err = raster.Overlap(dst.Data, j.Mask.Data)
	}
	if err != nil {
		return err
	}
	if on := j.set.On(); on != nil { // package gpu checks the types and the size of the template
		return on.Match(&device.Match{Src: j.Src, Template: j.Template, Scores: *dst, Method: uint8(j.Method), Options: j.set.OnDevice()})
	}
	return j.run()
}

// run computes the scores once their memory has been checked.
func (j *Job) run() error {
	if j.goesDirectly() {
		return factors(j)
	}
	if j.masked || j.Method == SSD {
		return correlate(j, generalScores)
	}
	if err := factors(j); err != nil {
		return err
	}
	return correlate(j, fastScores)
}

// whole reports whether pixels are integers.
func (j *Job) whole() bool { return !j.Src.Type.Float() }

// finite reports whether v is neither infinite nor NaN.
func finite(v float64) bool { return v-v == 0 }

// clamped returns v limited to [-1, 1].
func clamped(v float64) float32 {
	return float32(math.Max(-1, math.Min(1, v)))
}
