package threshold

import (
	"fmt"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// A form is the format of results.
type form uint8

const (
	asBytes form = iota // 0 and 255
	asBits              // packed
	asMap               // the thresholds themselves
)

// A result describes where results go: bytes, packed bits or floats.
type result struct {
	form form
	raster.Array
}

// A job is a rule and its images. The caller sets the source, calls check before it
// allocates the result, and then fill. After that:
//
//   - the source has one channel, the result has its size, and both lie within their memory;
//   - the result does not overlap the source, unless it is the source;
//   - the shape is that of the rule for this image, with a known border and a value that pixels can have; it is zero for methods without a window;
//   - the formula is complete, for pixels of this type.
type job struct {
	method  Method
	shape   window.Shape
	formula windows.Formula
	minN    int // Su's
	src     raster.Array
	dst     result

	set  engine.Settings
	same bool // dst is src
	unit bool // check the range of floats, see inUnit
	none bool // there is no window: its mean is 0
}

// arrayOf returns the pixels of an image, unchecked.
func arrayOf[P boxsum.Pixel](img *boxsum.Image[P]) raster.Array {
	return raster.ArrayOf(img.Pix, raster.PlaneExtent(img.Width, img.Height, img.Channels, img.Stride))
}

// check validates the options, the rule and the image, in this order, and fills in
// defaults.
func (j *job) check(r *Rule, opt *Options) (err error) {
	if j.set, err = engineOptions(opt).Check(); err != nil {
		return err
	}
	if j.formula, err = formulaOf(j.src.Type, r); err != nil {
		return err
	}
	if err = j.src.Check(); err != nil {
		return err
	}
	if j.src.Channels != 1 {
		return raster.Invalid("image has %d channels, want 1: thresholds are for gray images (see boxsum.Gray)", j.src.Channels)
	}
	j.method, j.minN = r.Method, r.MinN
	j.unit = j.src.Type.Float() && takesUnit(r)
	j.shape, err = shapeOf(j.src.Type, r, j.src.Width)
	j.none = r.Method == Bradley && r.Window == (filter.Window{}) && j.src.Width < bradleyWidths
	if j.minN == 0 {
		j.minN = r.Window.Width
	}
	return err
}

// fill computes the result of a checked job in an image of the source's size, which may be
// the source itself.
func (j *job) fill(f form, dst raster.Array) error {
	if err := dst.Check(); err != nil {
		return err
	}
	src := &j.src
	if dst.Width != src.Width || dst.Height != src.Height || dst.Channels != src.Channels {
		return raster.Invalid("destination is %v, want %v", dst.Extent, src.Extent)
	}
	j.dst = result{f, dst}
	j.same = dst.Type == src.Type && len(dst.Data) > 0 && unsafe.SliceData(dst.Data) == unsafe.SliceData(src.Data) && dst.Stride == src.Stride
	if !j.same && raster.Overlap(dst.Data, src.Data) != nil {
		return fmt.Errorf("boxsum: %w: the destination shares part of the image's memory: use the image itself, or separate memory", raster.ErrOverlap)
	}
	return j.run()
}

// fillBits computes the result of a checked job in a bitmap of the source's size.
func (j *job) fillBits(dst Bitmap) (err error) {
	j.dst.form = asBits
	if j.dst.Array, err = dst.array(); err != nil {
		return err
	}
	if dst.Width != j.src.Width || dst.Height != j.src.Height {
		return raster.Invalid("destination is a bitmap of %d×%d, want %d×%d like the image", dst.Width, dst.Height, j.src.Width, j.src.Height)
	}
	if err = raster.Overlap(dst.Bits, j.src.Data); err != nil {
		return err
	}
	return j.run()
}

// run computes the result once its memory has been checked.
func (j *job) run() error {
	if on := j.set.On(); on != nil {
		return j.runOn(on)
	}
	if j.src.Width == 0 || j.src.Height == 0 {
		j.set.Report(1)
		return nil
	}
	if j.none {
		j.atZero()
		j.set.Report(1)
		return nil
	}
	switch j.method {
	case Otsu:
		return runOtsu(j)
	case Su:
		return runSu(j)
	case ISauvola:
		return runISauvola(j)
	case MeanC:
		if !j.formula.Bytes {
			break
		}
		if box := newBox(j); box.Kind != windows.BoxNone {
			return runBoxed(j, box)
		}
	}
	if j.unit {
		if err := j.inUnit(); err != nil {
			return err
		}
	}
	return runWindows(j)
}

// runOn computes the result on a device. Package gpu checks the types.
func (j *job) runOn(d device.Runner) error {
	if j.method != Sauvola {
		return raster.Invalid("%v cannot run on a device, only sauvola can (leave Options.On nil)", j.method)
	}
	if j.dst.form == asMap {
		return raster.Invalid("maps cannot be made on a device, only Binarize and BinarizeBits can (leave Options.On nil)")
	}
	src, dst := j.src, j.dst.Array
	if j.same { // other parts of the image are read later
		window.CopyTo(nil, &src)
	}
	if j.dst.form == asBits {
		bytes, e, err := raster.NewPixels[uint8](raster.PlaneExtent(src.Width, src.Height, 1, 0))
		if err != nil {
			return err
		}
		dst = raster.ArrayOf(bytes, e)
	}
	err := d.Threshold(&device.Threshold{
		Src: src, Dst: dst, Window: j.shape.OnDevice(), K: j.formula.K, InverseR: j.formula.InverseR, Options: j.set.OnDevice(),
	})
	if err != nil || j.dst.form != asBits {
		return err
	}
	for y := range src.Height {
		windows.PackBits(j.set.Level, j.dst.Span(0, y, (src.Width+7)/8), dst.Span(0, y, src.Width))
	}
	return nil
}

// inUnit returns an error for floats in a different range than the rule expects: bytes
// converted to floats would all be black or white if white is 1, and floats from 0 to 1 all
// white with MeanC's 10. Sharpening and scaling may leave values slightly above 1.
func (j *job) inUnit() error {
	const most = 2
	greatest, row := 0.0, make([]float64, j.src.Width)
	for y := range j.src.Height {
		windows.Floats(j.src.Type, row, j.src.Span(0, y, j.src.Width))
		for x, v := range row {
			if v > most && j.method != MeanC {
				return raster.Invalid("the pixel at %d,%d is %v, but %v expects floats from 0 to 1 (set R, White or both for others)", x, y, j.shown(v), j.method)
			}
			if v > greatest { // false for NaN
				greatest = v
			}
		}
	}
	if j.method == MeanC && greatest > 0 && greatest <= 1 {
		return raster.Invalid("C is %v, but no pixel is more than %v: use the scale of the pixels, such as 10/255", j.formula.C, j.shown(greatest))
	}
	return nil
}

// shown formats a value with the precision of the pixels.
func (j *job) shown(v float64) any {
	if j.src.Type == raster.F32 {
		return float32(v)
	}
	return v
}

// runWindows computes the result with sums that fit the window.
func runWindows(j *job) error {
	most := whiteOf(j.src.Type)
	all := j.area() * most
	limit := all
	if j.formula.Kind.Squares() {
		limit *= most
	}
	switch {
	case j.src.Type.Float():
		return runLocal(j, raster.F64, raster.F64)
	case j.columns(), limit < 1<<32:
		return runLocal(j, raster.U32, raster.U32)
	case limit >= 1<<63:
		return raster.Invalid("window is %d×%d, which is too large to sum (use a smaller one, or border clip)", j.shape.Width(), j.shape.Height())
	case all < 1<<32:
		return runLocal(j, raster.U32, raster.U64)
	}
	return runLocal(j, raster.U64, raster.U64)
}

// frame returns the image as a frame with sums of these types.
func (j *job) frame(sum, square raster.Type) window.Frame {
	f := window.Frame{Width: j.src.Width, Height: j.src.Height, Channels: 1, Pixel: j.src.Type, Sum: sum, Shape: j.shape, Level: j.set.Level}
	if j.formula.Kind.Squares() {
		f.Square = square
	}
	if j.src.Type.Float() {
		f.Offset = window.OffsetOf(&j.src, &j.shape)
	}
	return f
}

// columns reports whether windows of bytes are computed from column sums.
func (j *job) columns() bool {
	f := window.Frame{Width: j.src.Width, Height: j.src.Height, Channels: 1, Pixel: j.src.Type, Shape: j.shape}
	return j.src.Type == raster.U8 && f.Plain() && windows.Decides(f.Span(), j.height())
}

// height returns the maximum number of rows in a window.
func (j *job) height() int {
	if j.shape.Border == window.Clip {
		return min(j.shape.Height(), j.src.Height)
	}
	return j.shape.Height()
}

// area returns the maximum number of pixels in a window.
func (j *job) area() float64 {
	w := j.shape.Width()
	if j.shape.Border == window.Clip {
		w = min(w, j.src.Width)
	}
	return float64(w) * float64(j.height())
}

// atZero applies thresholds of 0, for images narrower than 8 pixels.
func (j *job) atZero() {
	var row [bradleyWidths]uint8
	n, size := j.src.Width, j.src.Type.Bytes()
	for y := range j.src.Height {
		pix := j.src.Span(0, y, n)
		for x := range n {
			if row[x] = 255; windows.At(j.src.Type, pix[x*size:], 0) <= 0 {
				row[x] = 0
			}
		}
		switch j.dst.form {
		case asBytes:
			copy(j.dst.Span(0, y, n), row[:n])
		case asBits:
			windows.PackBits(j.set.Level, j.dst.Span(0, y, 1), row[:n])
		default:
			clear(j.dst.Span(0, y, n))
		}
	}
}
