// Package thresholds binarizes images whose types are data: what package threshold does for typed images,
// and what the command, the explorer and the Python library call themselves.
package thresholds

import (
	"math"
	"unsafe"

	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/filters"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// A Form is the format of results.
type Form uint8

// The formats of results.
const (
	AsBytes Form = iota // 0 and 255
	AsBits              // packed, in bytes of eight pixels
	AsMap               // the thresholds themselves, as floats
)

// A Job is a rule and its images: plain data. Its maker sets the source, the rule and the form, calls Check
// before it allocates the result, and then Run. After that:
//
//   - the source has one channel, the result has its size, and both lie within their memory;
//   - the result does not overlap the source, unless it is the source;
//   - the shape is that of the rule for this image, with a known border and a value that pixels can have; it is zero for methods without a window;
//   - the formula is complete, for pixels of this type.
type Job struct {
	Src     raster.Array
	Dst     raster.Array
	Form    Form
	Bits    int // AsBits: the width of Dst in pixels
	Rule    Rule
	Options engine.Options

	shape   window.Shape
	formula windows.Formula
	minN    int // Su's

	set  engine.Settings
	same bool // Dst is Src
	unit bool // check the range of floats, see inUnit
	none bool // there is no window: its mean is 0
}

// Check validates the options, the rule and the image, in this order, and fills in
// defaults.
func (j *Job) Check() (err error) {
	r := &j.Rule
	if j.set, err = j.Options.Check(); err != nil {
		return err
	}
	if !filters.TakesPixels(j.Src.Type) {
		return raster.Unsupported("pixels of %v have no threshold, want uint8, uint16, float32 or float64", j.Src.Type)
	}
	if j.formula, err = formulaOf(j.Src.Type, r); err != nil {
		return err
	}
	if err = j.Src.Check(); err != nil {
		return err
	}
	if j.Src.Channels != 1 {
		return raster.Invalid("image has %d channels, want 1 (convert it to gray)", j.Src.Channels)
	}
	j.unit = j.Src.Type.Float() && takesUnit(r)
	j.none = r.Method == Bradley && r.Window == (filters.Window{}) && j.Src.Width < bradleyWidths
	if j.minN = r.MinN; j.minN == 0 {
		j.minN = r.Window.Width
	}
	if j.shape, err = shapeOf(j.Src.Type, r, j.Src.Width); err != nil {
		return err
	}
	if j.Form == AsMap && r.Method == ISauvola {
		return raster.Invalid("method is isauvola, which has no map of thresholds (use sauvola)")
	}
	return nil
}

// Make checks a job and runs it, with the result in a new image: of bytes, or a map of thresholds of a type.
func (j *Job) Make(t raster.Type) (dst raster.Array, err error) {
	if err = j.Check(); err != nil {
		return dst, err
	}
	if j.Dst, err = raster.NewPixelArray(t, raster.PlaneExtent(j.Src.Width, j.Src.Height, 1, 0)); err != nil {
		return dst, err
	}
	return j.Dst, j.Run()
}

// Run computes the result of a checked job, after checking its memory.
func (j *Job) Run() error {
	if err := j.checkResult(); err != nil {
		return err
	}
	if d := j.set.On(); d != nil {
		t, err := j.onDevice()
		switch {
		case err != nil:
		case j.Rule.Method == MeanC:
			err = j.meansOn(d, &t)
		default:
			err = d.Threshold(&t)
		}
		if err == nil && j.Form == AsBits {
			j.pack(&t.Dst)
		}
		return err
	}
	if j.Src.Width == 0 || j.Src.Height == 0 {
		j.set.Report(1)
		return nil
	}
	if j.none {
		j.atZero()
		j.set.Report(1)
		return nil
	}
	switch j.Rule.Method {
	case Otsu:
		return runOtsu(j)
	case Su:
		return runSu(j)
	case ISauvola:
		return runISauvola(j)
	case MeanC:
		if box := newBox(j); box.Kind != windows.BoxNone {
			return runBoxed(j, box)
		}
	}
	if j.unit {
		if err := j.inUnit(); err != nil {
			return err
		}
	}
	run := localRuns.Take()
	l := &run.Layer
	p, err := l.aim(j)
	if err != nil {
		return err
	}
	return run.Fill(&j.set, &p, l)
}

// checkResult validates the memory of the result, which may be the source itself.
func (j *Job) checkResult() error {
	dst, src := &j.Dst, &j.Src
	if j.Form == AsMap && !dst.Type.Float() || j.Form != AsMap && dst.Type != raster.U8 {
		want := "uint8"
		if j.Form == AsMap {
			want = "float32 or float64 for thresholds"
		}
		return raster.Unsupported("destination has type %v, want %s", dst.Type, want)
	}
	if err := dst.Check(); err != nil {
		return err
	}
	if j.Form == AsBits {
		if j.Bits != src.Width || dst.Height != src.Height {
			return raster.Invalid("destination is a bitmap of %d×%d, want %d×%d like the image", j.Bits, dst.Height, src.Width, src.Height)
		}
		return raster.Overlap(dst.Data, src.Data)
	}
	if dst.Width != src.Width || dst.Height != src.Height || dst.Channels != src.Channels {
		return raster.Invalid("destination is %v, want %v", dst.Extent, src.Extent)
	}
	j.same = dst.Type == src.Type && len(dst.Data) > 0 && unsafe.SliceData(dst.Data) == unsafe.SliceData(src.Data) && dst.Stride == src.Stride
	if !j.same && raster.Overlap(dst.Data, src.Data) != nil {
		return raster.Overlapping("the destination shares part of the image's memory: use the image itself, or separate memory")
	}
	return nil
}

// onDevice returns the job for a device, whose result is always bytes. Package gpu checks the types.
func (j *Job) onDevice() (t device.Threshold, err error) {
	if j.Rule.Method != Sauvola && j.Rule.Method != MeanC {
		return t, raster.Invalid("method is %v, want sauvola or meanc on a device (use the CPU for others)", j.Rule.Method)
	}
	if j.Form == AsMap {
		return t, raster.Invalid("maps of thresholds are not supported on a device (use the CPU)")
	}
	t = device.Threshold{Src: j.Src, Dst: j.Dst, Window: j.shape.OnDevice(), K: j.formula.K, InverseR: j.formula.InverseR, Options: j.set.OnDevice()}
	if j.same { // other parts of the image are read later
		window.CopyTo(nil, &t.Src)
	}
	if j.Form == AsBits {
		t.Dst, err = raster.NewPixelArray(raster.U8, raster.PlaneExtent(j.Src.Width, j.Src.Height, 1, 0))
	}
	return t, err
}

// pack sets the bits of the result.
func (j *Job) pack(bytes *raster.Array) {
	for y := range j.Src.Height {
		windows.PackBits(j.set.Level, j.Dst.Span(0, y, (j.Src.Width+7)/8), bytes.Span(0, y, j.Src.Width))
	}
}

// inUnit returns an error for floats in a different range than the rule expects: bytes
// converted to floats would all be black or white if white is 1, and floats from 0 to 1 all
// white with MeanC's 10. Sharpening and scaling may leave values slightly above 1.
func (j *Job) inUnit() error {
	const most = 2
	greatest, row := 0.0, make([]float64, j.Src.Width)
	for y := range j.Src.Height {
		windows.Floats(j.Src.Type, row, j.Src.Span(0, y, j.Src.Width))
		for x, v := range row {
			if v > most && j.Rule.Method != MeanC {
				return raster.Invalid("the pixel at %d,%d is %v, but %v expects floats from 0 to 1 (set R, White or both for others)", x, y, j.shown(v), j.Rule.Method)
			}
			if v > greatest { // false for NaN
				greatest = v
			}
		}
	}
	if j.Rule.Method == MeanC && greatest > 0 && greatest <= 1 {
		return raster.Invalid("C is %v, but no pixel is more than %v: use the scale of the pixels, such as 10/255", j.formula.C, j.shown(greatest))
	}
	return nil
}

// shown formats a value with the precision of the pixels.
func (j *Job) shown(v float64) any {
	if j.Src.Type == raster.F32 {
		return float32(v)
	}
	return v
}

// sumTypes returns the types of the sums of windows and of their squares.
func (j *Job) sumTypes() (sum, square raster.Type, err error) {
	all := j.area() * whiteOf(j.Src.Type)
	limit := all
	if j.formula.Kind.Squares() {
		limit *= whiteOf(j.Src.Type)
	}
	switch {
	case j.Src.Type.Float():
		return raster.F64, raster.F64, nil
	case j.columns(), limit < 1<<32:
		return raster.U32, raster.U32, nil
	case limit >= 1<<63:
		return 0, 0, raster.Invalid("window is %d×%d, want at most %.0f pixels of %v for exact sums (use a smaller one, or border clip)",
			j.shape.Width(), j.shape.Height(), math.Floor(0x1p63/(limit/j.area())), j.Src.Type)
	case all < 1<<32:
		return raster.U32, raster.U64, nil
	}
	return raster.U64, raster.U64, nil
}

// frame returns the image as a frame with sums of these types.
func (j *Job) frame(sum, square raster.Type) window.Frame {
	f := window.Frame{Width: j.Src.Width, Height: j.Src.Height, Channels: 1, Pixel: j.Src.Type, Sum: sum, Shape: j.shape, Level: j.set.Level}
	if j.formula.Kind.Squares() {
		f.Square = square
	}
	if j.Src.Type.Float() {
		f.Offset = window.OffsetOf(&j.Src, &j.shape)
	}
	return f
}

// columns reports whether windows of bytes are computed from column sums.
func (j *Job) columns() bool {
	f := window.Frame{Width: j.Src.Width, Height: j.Src.Height, Channels: 1, Pixel: j.Src.Type, Shape: j.shape}
	return j.Src.Type == raster.U8 && f.Plain() && windows.CanDecide(f.Span(), j.height())
}

// height returns the maximum number of rows in a window.
func (j *Job) height() int {
	if j.shape.Border == window.Clip {
		return min(j.shape.Height(), j.Src.Height)
	}
	return j.shape.Height()
}

// area returns the maximum number of pixels in a window.
func (j *Job) area() float64 {
	w := j.shape.Width()
	if j.shape.Border == window.Clip {
		w = min(w, j.Src.Width)
	}
	return float64(w) * float64(j.height())
}

// atZero applies thresholds of 0, for images narrower than 8 pixels.
func (j *Job) atZero() {
	var row [bradleyWidths]uint8
	n, size := j.Src.Width, j.Src.Type.Bytes()
	for y := range j.Src.Height {
		pix := j.Src.Span(0, y, n)
		for x := range n {
			if row[x] = 255; windows.At(j.Src.Type, pix[x*size:], 0) <= 0 {
				row[x] = 0
			}
		}
		switch j.Form {
		case AsBytes:
			copy(j.Dst.Span(0, y, n), row[:n])
		case AsBits:
			windows.PackBits(j.set.Level, j.Dst.Span(0, y, 1), row[:n])
		default:
			clear(j.Dst.Span(0, y, n))
		}
	}
}
