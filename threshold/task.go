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

// A target is where results go. Its extent has been checked.
type target[D any] struct {
	pix    []D
	stride int
}

func (t *target[D]) row(x, y, n int) []D { return t.pix[y*t.stride+x:][:n] }

// A form is what results are.
type form uint8

const (
	asBytes form = iota // 0 and 255
	asBits              // packed
	asSingles
	asDoubles
)

// A result is one of the targets, by its form.
type result struct {
	form    form
	bytes   target[uint8] // also packed bits
	singles target[float32]
	doubles target[float64]
}

// size is how many bytes of it a pixel takes, at least one.
func (r *result) size() int {
	switch r.form {
	case asSingles:
		return 4
	case asDoubles:
		return 8
	}
	return 1
}

// A task is what a call was asked for, checked.
type task[P filter.Pixel] struct {
	set     engine.Settings
	method  Method
	shape   window.Shape
	formula kernel.Formula
	minN    int
	src     engine.Source[P]
	dst     result
	same    bool // dst is src
	unit    bool // the scale of floats is to be looked at, see inUnit
	none    bool // there is no window: its mean is 0
}

// check is all that can be wrong with options, rule and image.
func (t *task[P]) check(src *boxsum.Image[P], r *Rule, opt *Options) (err error) {
	if t.set, err = engineOptions(opt).Check(); err != nil {
		return err
	}
	if t.formula, err = formulaOf[P](r); err != nil {
		return err
	}
	t.src.Image(src.Pix, src.Width, src.Height, src.Channels, src.Stride)
	if err = t.src.Pixels(len(src.Pix)); err != nil {
		return err
	}
	if t.src.Channels != 1 {
		return grid.Invalid("an image with %d channels: thresholds are for gray images, see boxsum.Gray", t.src.Channels)
	}
	t.method, t.minN = r.Method, r.MinN
	t.unit = kernel.IsFloat[P]() && takesUnit(r)
	t.shape, err = shapeOf[P](r, t.src.Width)
	t.none = r.Method == Bradley && r.Window == (filter.Window{}) && t.src.Width < bradleyWidths
	if t.minN == 0 {
		t.minN = r.Window.Width
	}
	return err
}

// toBytes is where 0 and 255 go: an image of the source's size, which may be the source
// itself.
func (t *task[P]) toBytes(dst *boxsum.Image[uint8]) (err error) {
	t.dst.form = asBytes
	t.same, err = accept(dst, &t.src, &t.dst.bytes)
	return err
}

// accept takes an image of the source's size as a target. It reports whether it is the
// source itself.
func accept[P filter.Pixel, D boxsum.Pixel](dst *boxsum.Image[D], src *engine.Source[P], to *target[D]) (same bool, err error) {
	e := grid.Plane(dst.Width, dst.Height, dst.Channels, dst.Stride)
	if err := e.Pixels(len(dst.Pix)); err != nil {
		return false, err
	}
	if e.Width != src.Width || e.Height != src.Height || e.Channels != src.Channels {
		return false, grid.Invalid("an image of %v cannot take what is made from one of %v", e, src.Extent)
	}
	*to = target[D]{dst.Pix, e.Stride}
	return overlap(dst.Pix, e.Stride, src)
}

// overlap reports whether memory is that of the source itself. To share only some of it is
// an error.
func overlap[P filter.Pixel, D any](pix []D, stride int, src *engine.Source[P]) (same bool, err error) {
	_, sameType := any(*new(D)).(P)
	if sameType && len(pix) > 0 && unsafe.Pointer(unsafe.SliceData(pix)) == unsafe.Pointer(unsafe.SliceData(src.Pix)) && stride == src.Stride {
		return true, nil
	}
	if grid.Overlap(pix, src.Pix) == nil {
		return false, nil
	}
	return false, fmt.Errorf("boxsum: %w: the result lies in part of the image's memory: give it the image itself, or memory of its own", grid.ErrOverlap)
}

// run makes the result.
func (t *task[P]) run() error {
	return runs[pairs.TypeOf[P]()].(func(task[P]) error)(*t)
}

func runTask[P filter.Pixel](t task[P]) error {
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
		return runOtsu(as[task[uint8]](&t))
	case Su:
		return runSu(as[task[uint8]](&t))
	case ISauvola:
		return runISauvola(as[task[uint8]](&t))
	case MeanC:
		if !t.formula.Bytes {
			break
		}
		bytes := as[task[uint8]](&t)
		switch box := newBox(bytes); {
		case box.Kind.Narrow():
			return runBoxed[uint16](bytes, box)
		case box.Kind == kernel.BoxWords:
			return runBoxed[uint32](bytes, box)
		}
	}
	if t.unit {
		if err := t.inUnit(); err != nil {
			return err
		}
	}
	return windows(&t)
}

// inUnit refuses floats on another scale than the rule: bytes that became floats would all be black or white where
// white is 1, and floats from 0 to 1 all white with MeanC's 10. A little more than 1 is what sharpening and scaling leave.
func (t *task[P]) inUnit() error {
	const most = 2
	var greatest P
	for y := range t.src.Height {
		for x, v := range t.src.Pix[y*t.src.Stride:][:t.src.Width] {
			if v > most && t.method != MeanC {
				return grid.Invalid("the pixel at %d,%d is %v: %v takes floats to be from 0 to 1; set R, White or both for others", x, y, v, t.method)
			}
			if v > greatest { // which NaN is not
				greatest = v
			}
		}
	}
	if t.method == MeanC && greatest > 0 && greatest <= 1 {
		return grid.Invalid("C is %v, and no pixel is more than %v: set C on their scale, such as 10/255", t.formula.C, greatest)
	}
	return nil
}

// as is the same thing, whose type is known to be T.
func as[T, F any](f *F) *T { return (*T)(unsafe.Pointer(f)) }

// windows makes the result with sums that fit the pixels. It names them, so that no others are compiled.
func windows[P filter.Pixel](t *task[P]) error {
	switch t := any(t).(type) {
	case *task[uint8]:
		return whole(t)
	case *task[uint16]:
		return whole(t)
	case *task[float32]:
		return runLocal[float32, float64, float64](t)
	case *task[float64]:
		return runLocal[float64, float64, float64](t)
	}
	panic("no such pixels")
}

// whole makes the result with whole sums that fit the window.
func whole[P filter.Pixel](t *task[P]) error {
	if t.columns() {
		return runLocal[P, uint32, uint32](t)
	}
	most, area := whiteOf[P](), t.area()
	limit := area * most
	if t.formula.Kind.Squares() {
		limit *= most
	}
	switch {
	case limit >= 1<<63:
		return grid.Invalid("windows of %d×%d are too large for their sums: use smaller ones, or the border clip", t.shape.Width(), t.shape.Height())
	case limit < 1<<32:
		return runLocal[P, uint32, uint32](t)
	case area*most < 1<<32:
		return runLocal[P, uint32, uint64](t)
	}
	return runLocal[P, uint64, uint64](t)
}

// columns reports whether the image is one of bytes whose windows are made of columns.
func (t *task[P]) columns() bool {
	_, bytes := any(*new(P)).(uint8)
	f := window.Frame{Width: t.src.Width, Height: t.src.Height, Channels: 1, Shape: t.shape}
	return bytes && f.Plain() && kernel.Decides(f.Span(), t.height())
}

// height is how many rows a window has at most.
func (t *task[P]) height() int {
	if t.shape.Border == window.Clip {
		return min(t.shape.Height(), t.src.Height)
	}
	return t.shape.Height()
}

// area is how many pixels a window has at most.
func (t *task[P]) area() float64 {
	w := t.shape.Width()
	if t.shape.Border == window.Clip {
		w = min(w, t.src.Width)
	}
	return float64(w) * float64(t.height())
}

// atZero decides by thresholds of 0, of images narrower than 8 pixels.
func (t *task[P]) atZero() {
	var row [bradleyWidths]uint8
	for y := range t.src.Height {
		n := t.src.Width
		for x, p := range t.src.Pix[y*t.src.Stride:][:n] {
			if row[x] = 255; p <= 0 {
				row[x] = 0
			}
		}
		switch t.dst.form {
		case asBytes:
			copy(t.dst.bytes.row(0, y, n), row[:n])
		case asBits:
			kernel.PackBits(t.set.Level, t.dst.bytes.row(0, y, 1), row[:n])
		case asSingles:
			clear(t.dst.singles.row(0, y, n))
		default:
			clear(t.dst.doubles.row(0, y, n))
		}
	}
}
