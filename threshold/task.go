package threshold

import (
	"fmt"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/pairs"
	"github.com/boxsum/boxsum/internal/window"
)

// A form is what results are.
type form uint8

const (
	asBytes form = iota // 0 and 255
	asBits              // packed
	asSingles
	asDoubles
)

// A result is where results go. Its extent has been checked.
type result struct {
	form          form
	window.Pixels // also packed bits
}

// A task is what a call was asked for, checked.
type task struct {
	set     engine.Settings
	method  Method
	shape   window.Shape
	formula kernel.Formula
	minN    int
	src     window.Pixels
	dst     result
	same    bool // dst is src
	unit    bool // the scale of floats is to be looked at, see inUnit
	none    bool // there is no window: its mean is 0
}

// pixels are those of an image, of which nothing has been checked.
func pixels[P boxsum.Pixel](img *boxsum.Image[P]) window.Pixels {
	return window.PixelsOf(img.Pix, img.Width, img.Height, img.Channels, img.Stride)
}

// check is all that can be wrong with options, rule and image.
func (t *task) check(src window.Pixels, r *Rule, opt *Options) (err error) {
	if t.set, err = engineOptions(opt).Check(); err != nil {
		return err
	}
	if t.formula, err = formulaOf(src.Of, r); err != nil {
		return err
	}
	t.src = src
	if err = t.src.Check(); err != nil {
		return err
	}
	if t.src.Channels != 1 {
		return grid.Invalid("an image with %d channels: thresholds are for gray images, see boxsum.Gray", t.src.Channels)
	}
	t.method, t.minN = r.Method, r.MinN
	t.unit = src.Of.Float() && takesUnit(r)
	t.shape, err = shapeOf(src.Of, r, t.src.Width)
	t.none = r.Method == Bradley && r.Window == (filter.Window{}) && t.src.Width < bradleyWidths
	if t.minN == 0 {
		t.minN = r.Window.Width
	}
	return err
}

// to is where results go: an image of the source's size, which may be the source itself.
func (t *task) to(f form, dst window.Pixels) (err error) {
	if err := dst.Check(); err != nil {
		return err
	}
	src := &t.src
	if dst.Width != src.Width || dst.Height != src.Height || dst.Channels != src.Channels {
		return grid.Invalid("an image of %v cannot take what is made from one of %v", dst.Extent, src.Extent)
	}
	t.dst = result{f, dst}
	if dst.Of == src.Of && len(dst.Mem) > 0 && unsafe.SliceData(dst.Mem) == unsafe.SliceData(src.Mem) && dst.Stride == src.Stride {
		t.same = true
		return nil
	}
	if grid.Overlap(dst.Mem, src.Mem) == nil {
		return nil
	}
	return fmt.Errorf("boxsum: %w: the result lies in part of the image's memory: give it the image itself, or memory of its own", grid.ErrOverlap)
}

// run makes the result.
func (t *task) run() error {
	if t.src.Width == 0 || t.src.Height == 0 {
		t.set.Report(1)
		return nil
	}
	if t.none {
		t.atZero()
		t.set.Report(1)
		return nil
	}
	switch t.method {
	case Otsu:
		return runOtsu(t)
	case Su:
		return runSu(t)
	case ISauvola:
		return runISauvola(t)
	case MeanC:
		if !t.formula.Bytes {
			break
		}
		switch box := newBox(t); {
		case box.Kind.Narrow():
			return runBoxed[uint16](t, box)
		case box.Kind == kernel.BoxWords:
			return runBoxed[uint32](t, box)
		}
	}
	if t.unit {
		if err := t.inUnit(); err != nil {
			return err
		}
	}
	return windows(t)
}

// inUnit refuses floats on another scale than the rule: bytes that became floats would all be black or white where
// white is 1, and floats from 0 to 1 all white with MeanC's 10. A little more than 1 is what sharpening and scaling leave.
func (t *task) inUnit() error {
	const most = 2
	greatest, row := 0.0, make([]float64, t.src.Width)
	for y := range t.src.Height {
		window.Floats(row, t.src.Row(0, y, t.src.Width), t.src.Of)
		for x, v := range row {
			if v > most && t.method != MeanC {
				return grid.Invalid("the pixel at %d,%d is %v: %v takes floats to be from 0 to 1; set R, White or both for others", x, y, t.shown(v), t.method)
			}
			if v > greatest { // which NaN is not
				greatest = v
			}
		}
	}
	if t.method == MeanC && greatest > 0 && greatest <= 1 {
		return grid.Invalid("C is %v, and no pixel is more than %v: set C on their scale, such as 10/255", t.formula.C, t.shown(greatest))
	}
	return nil
}

// shown is a value with the digits that pixels have.
func (t *task) shown(v float64) any {
	if t.src.Of == pairs.F32 {
		return float32(v)
	}
	return v
}

// windows makes the result with sums that fit the window.
func windows(t *task) error {
	if t.src.Of.Float() {
		return runLocal[float64, float64](t)
	}
	if t.columns() {
		return runLocal[uint32, uint32](t)
	}
	most, area := whiteOf(t.src.Of), t.area()
	limit := area * most
	if t.formula.Kind.Squares() {
		limit *= most
	}
	switch {
	case limit >= 1<<63:
		return grid.Invalid("windows of %d×%d are too large for their sums: use smaller ones, or the border clip", t.shape.Width(), t.shape.Height())
	case limit < 1<<32:
		return runLocal[uint32, uint32](t)
	case area*most < 1<<32:
		return runLocal[uint32, uint64](t)
	}
	return runLocal[uint64, uint64](t)
}

// frame is the image as windows see it.
func (t *task) frame() window.Frame {
	f := window.Frame{Width: t.src.Width, Height: t.src.Height, Channels: 1, Pixel: t.src.Of, Shape: t.shape, Squares: t.formula.Kind.Squares(), Level: t.set.Level}
	if t.src.Of.Float() {
		f.Offset = window.OffsetOf(&t.src, &t.shape)
	}
	return f
}

// columns reports whether the image is one of bytes whose windows are made of columns.
func (t *task) columns() bool {
	f := window.Frame{Width: t.src.Width, Height: t.src.Height, Channels: 1, Pixel: t.src.Of, Shape: t.shape}
	return t.src.Of == pairs.U8 && f.Plain() && kernel.Decides(f.Span(), t.height())
}

// height is how many rows a window has at most.
func (t *task) height() int {
	if t.shape.Border == window.Clip {
		return min(t.shape.Height(), t.src.Height)
	}
	return t.shape.Height()
}

// area is how many pixels a window has at most.
func (t *task) area() float64 {
	w := t.shape.Width()
	if t.shape.Border == window.Clip {
		w = min(w, t.src.Width)
	}
	return float64(w) * float64(t.height())
}

// atZero decides by thresholds of 0, of images narrower than 8 pixels.
func (t *task) atZero() {
	var floats [bradleyWidths]float64
	var row [bradleyWidths]uint8
	n := t.src.Width
	for y := range t.src.Height {
		window.Floats(floats[:n], t.src.Row(0, y, n), t.src.Of)
		for x, p := range floats[:n] {
			if row[x] = 255; p <= 0 {
				row[x] = 0
			}
		}
		switch t.dst.form {
		case asBytes:
			copy(t.dst.Row(0, y, n), row[:n])
		case asBits:
			kernel.PackBits(t.set.Level, t.dst.Row(0, y, 1), row[:n])
		default:
			clear(t.dst.Row(0, y, n))
		}
	}
}
