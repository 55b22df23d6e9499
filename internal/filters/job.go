// Package filters computes filters of images whose types are data: what package filter does for typed
// images, and what the command, the explorer and the Python library call themselves.
package filters

import (
	"math"
	"unsafe"

	"github.com/boxsum/boxsum/internal/bins"
	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// A Kind selects what a [Job] computes.
type Kind uint8

// The kinds of filters, by the function of package filter.
const (
	Sum  Kind = iota
	Mean      // also Box, whose results have the type of the pixels
	Variance
	Deviation     // StdDev
	MeanDeviation // MeanStdDev
	Normalized
	Gaussian
	Median
	Entropy
	Guided
	Downsampled
	BoxRadii
)

func (k Kind) squares() bool { return k >= Variance && k <= Normalized }

// KeepsType reports whether results always have the type of the pixels. Those of Mean may.
func (k Kind) KeepsType() bool {
	return k == Gaussian || k == Median || k == Guided || k == Downsampled || k == BoxRadii
}

// keeps reports whether results may have the type of the pixels.
func (k Kind) keeps() bool { return k == Mean || k.KeepsType() }

// A Job is a filter and its images: plain data. The caller sets the kind, the source and the other fields
// that the kind needs. It calls Check before it allocates the results, whose size Size returns, and then Run.
// After Check and the checks of Run:
//
//   - the source and the results have complete extents and lie within their memory;
//   - all have the same size and number of channels, except for smaller results of Downsampled;
//   - results overlap neither each other nor the source, unless one is the source itself;
//   - the shape has a known border, whose value is one that pixels can have.
type Job struct {
	Kind    Kind
	Src     raster.Array
	Dst     raster.Array
	Second  raster.Array // MeanDeviation: the deviations
	Window  Window       // not for Gaussian, Downsampled and BoxRadii
	Options Options

	Floor            float64      // Normalized: smallest deviation to divide by
	Sigma            Sigma        // Gaussian
	Bins             bins.Range   // Entropy; no bins means 256
	FactorX, FactorY int          // Downsampled
	Guide            raster.Array // Guided: size of the source, one or three channels
	Epsilon          float64      // Guided
	Radii            raster.Array // BoxRadii: size of the source, one or two channels

	shape   window.Shape
	boxes   int // Gaussian: the requested number, or 0
	set     engine.Settings
	same    bool // a result is the source itself
	over    bool // a result is the guide itself
	masked  bool // Options.Mask says which pixels count
	skipNaN bool // NaN does not count
}

// Check validates the options, the window and the image, in this order, and fills in
// defaults.
func (j *Job) Check() (err error) {
	if j.set, err = j.Options.Check(); err != nil {
		return err
	}
	if j.Kind == Gaussian || j.Kind == Downsampled || j.Kind == BoxRadii {
		j.Window = pixelWindow
	}
	if !TakesPixels(j.Src.Type) {
		return raster.Unsupported("pixels of %v cannot be filtered, want uint8, uint16, float32 or float64", j.Src.Type)
	}
	if err := j.setShape(); err != nil {
		return err
	}
	if err := j.Src.Check(); err != nil {
		return err
	}
	if !(j.Epsilon >= 0) || j.Epsilon > math.MaxFloat64 {
		return raster.Invalid("epsilon is %v, want 0 or more", j.Epsilon)
	}
	if !(j.Floor >= 0) || j.Floor > math.MaxFloat64 {
		return raster.Invalid("minimum deviation is %v, want 0 or more", j.Floor)
	}
	if err := j.checkValid(); err != nil {
		return err
	}
	if err := j.checkOn(); err != nil {
		return err
	}
	switch j.Kind {
	case Gaussian:
		return j.checkGaussian()
	case Downsampled:
		return CheckFactors(j.FactorX, j.FactorY)
	case Median:
		return j.checkCounted()
	case Entropy:
		return j.checkEntropy()
	}
	return nil
}

// TakesPixels reports whether images with pixels of a type can be filtered.
func TakesPixels(t raster.Type) bool {
	return t == raster.U8 || t == raster.U16 || t == raster.F32 || t == raster.F64
}

// Size returns the size of the results of a checked job.
func (j *Job) Size() (width, height int) {
	if j.Kind == Downsampled {
		return divUp(j.Src.Width, j.FactorX), divUp(j.Src.Height, j.FactorY)
	}
	return j.Src.Width, j.Src.Height
}

// Make checks a job and runs it, with the result in a new image with elements of a type.
func (j *Job) Make(t raster.Type) (dst raster.Array, err error) {
	if err = j.Check(); err != nil {
		return dst, err
	}
	width, height := j.Size()
	if j.Dst, err = raster.NewPixelArray(t, raster.PlaneExtent(width, height, j.Src.Channels, 0)); err != nil {
		return dst, err
	}
	return j.Dst, j.Run()
}

// Run computes the results of a checked job, after checking their memory.
func (j *Job) Run() error {
	if err := j.checkResults(); err != nil {
		return err
	}
	if d := j.set.On(); d != nil {
		f := j.onDevice()
		if j.Kind == Downsampled {
			return runBlocksOn(d, j, &f)
		}
		return d.Filter(&f)
	}
	if j.Src.Width == 0 || j.Src.Height == 0 {
		j.set.Report(1)
		return nil
	}
	switch j.Kind {
	case Gaussian:
		return runGaussian(j)
	case Median:
		return runMedian(j)
	case Entropy:
		return runEntropy(j)
	case Guided:
		return runGuided(j)
	case Downsampled:
		return runBlocks(j)
	case BoxRadii:
		return runRadii(j)
	}
	switch {
	case j.counts():
		return runValid(j)
	case j.single():
		return copyPixels(j)
	case j.isCompact():
		return runCompact(j)
	case j.isSmallBox():
		return runSmallBox(j)
	}
	run := localRuns.Take()
	l := &run.Layer
	p, err := l.aim(j)
	if err != nil {
		return err
	}
	return run.Fill(&j.set, &p, l)
}

// checkResults validates the images for the results, and what depends on them.
func (j *Job) checkResults() error {
	if j.Kind == Downsampled {
		return j.checkSmaller()
	}
	if err := j.checkResult(&j.Dst); err != nil {
		return err
	}
	switch j.Kind {
	case MeanDeviation:
		if err := j.checkResult(&j.Second); err != nil {
			return err
		}
		return raster.Overlap(j.Dst.Data, j.Second.Data)
	case Sum:
		return j.checkSum()
	case Guided:
		return j.checkGuide()
	case BoxRadii:
		return j.checkRadii()
	}
	return nil
}

// checkResult validates an image of the source's size for a result. It may be the source itself.
func (j *Job) checkResult(d *raster.Array) error {
	if err := d.Check(); err != nil {
		return err
	}
	src := &j.Src
	if !(d.Type == src.Type && j.Kind.keeps() || d.Type.Float() && !j.Kind.KeepsType() || j.Kind == Sum) {
		want := "float32 or float64"
		switch {
		case j.Kind.KeepsType():
			want = src.Type.String() + " like the image"
		case j.Kind.keeps():
			want = src.Type.String() + " like the image, float32 or float64"
		}
		return raster.Unsupported("destination has type %v, want %s", d.Type, want)
	}
	if d.Width != src.Width || d.Height != src.Height || d.Channels != src.Channels {
		return raster.Invalid("destination is %v, want %v", d.Extent, src.Extent)
	}
	same, err := overlap(d, src)
	j.same = j.same || same
	if err == nil && j.masked && shareMemory(d.Data, j.Options.Mask.Data) {
		err = errOverlap()
	}
	return err
}

// overlap reports whether an image is the source itself. If they only share some memory, it
// returns an error.
func overlap(dst, src *raster.Array) (same bool, err error) {
	switch {
	case !shareMemory(dst.Data, src.Data):
		return false, nil
	case dst.Type == src.Type && &dst.Data[0] == &src.Data[0] && dst.Stride == src.Stride:
		return true, nil
	}
	return false, errOverlap()
}

func errOverlap() error {
	return raster.Overlapping("the destination shares part of the image's memory: use the image itself, or separate memory")
}

// shareMemory reports whether two buffers share memory.
func shareMemory(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	a0, b0 := uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&b[0]))
	return a0 < b0+uintptr(len(b)) && b0 < a0+uintptr(len(a))
}

// checkSum returns an error if the result may not hold the sums of windows.
func (j *Job) checkSum() error {
	src, dst := j.Src.Type, j.Dst.Type
	if !src.Float() && j.area()*src.Max() > maxInteger(dst) {
		return raster.Unsupported("sums have type %v, too small for windows of %d×%d pixels of %v (use a larger type)", dst, j.shape.Width(), j.shape.Height(), src)
	}
	if src.Float() && !dst.Float() {
		return raster.Unsupported("sums have type %v, want float32 or float64 for pixels of %v", dst, src)
	}
	return nil
}

// maxInteger returns the greatest integer that a type holds. Floats round large integers.
func maxInteger(t raster.Type) float64 {
	switch {
	case t.Float():
		return 0x1p127
	case t.Signed():
		return float64(uint64(1)<<(8*t.Bytes()-1) - 1)
	}
	return float64(uint64(1)<<(8*t.Bytes()) - 1)
}

// checkOn returns an error if no device does the job of a checked image. Package gpu checks
// the types.
func (j *Job) checkOn() error {
	switch {
	case j.set.On() == nil:
		return nil
	case j.Kind != Mean && j.Kind != Deviation && j.Kind != MeanDeviation && j.Kind != Downsampled:
		return raster.Invalid("this filter is not supported on a device, only box, mean, standard deviation and downsampling (use the CPU)")
	case j.counts():
		return raster.Invalid("masks and skipped NaN are not supported on a device (use the CPU)")
	}
	return nil
}

// onDevice returns the job for a device.
func (j *Job) onDevice() device.Filter {
	f := device.Filter{Src: j.Src, Window: j.shape.OnDevice(), Options: j.set.OnDevice()}
	if j.same { // other parts of the image are read later
		window.CopyTo(nil, &f.Src)
	}
	switch j.Kind {
	case Mean:
		f.Mean = j.Dst
	case Deviation:
		f.Dev = j.Dst
	case MeanDeviation:
		f.Mean, f.Dev = j.Dst, j.Second
	}
	return f
}

// single reports whether the window is a single pixel, so that pixels are copied.
func (j *Job) single() bool {
	return j.Kind <= Mean && j.Dst.Type == j.Src.Type && j.shape.Width() == 1 && j.shape.Height() == 1
}

// copyPixels computes the result of a window of one pixel.
func copyPixels(j *Job) error {
	for y := 0; y < j.Src.Height && !j.same; y++ {
		if err := j.set.Stopped(); err != nil {
			return err
		}
		copy(j.Dst.Span(0, y, j.Src.Width), j.Src.Span(0, y, j.Src.Width))
	}
	j.set.Report(1)
	return nil
}

// sumTypes returns the types of window sums and of sums of squares, or 0 if there are none.
func (j *Job) sumTypes() (sum, square raster.Type, err error) {
	most := j.Src.Type.Max()
	all := j.area() * most
	limit := all
	if j.Kind.squares() {
		limit *= most
	}
	switch {
	case j.Src.Type.Float():
		sum, square = raster.F64, raster.F64
	case limit >= 1<<63:
		return 0, 0, raster.Invalid("window is %d×%d, want at most %.0f pixels of %v for exact sums (use a smaller one, or border clip)",
			j.shape.Width(), j.shape.Height(), math.Floor(0x1p63/(limit/j.area())), j.Src.Type)
	case limit < 1<<32:
		sum, square = raster.U32, raster.U32
	case all < 1<<32:
		sum, square = raster.U32, raster.U64
	default:
		sum, square = raster.U64, raster.U64
	}
	if !j.Kind.squares() {
		square = 0
	}
	return sum, square, nil
}

// most returns the greatest sum of a window of integer pixels, or 0 for floats.
func (j *Job) most(count int64) uint64 {
	if j.Src.Type.Float() {
		return 0
	}
	return uint64(j.Src.Type.Max()) * uint64(count)
}

// box returns the kernel for means of bytes from the column sums of the image. Its kind is BoxNone if there is
// none.
func (j *Job) box() (b windows.Box) {
	f := window.Frame{Width: j.Src.Width, Height: j.Src.Height, Channels: j.Src.Channels, Shape: j.shape}
	if f.Plain() {
		b = j.extendedBox()
	}
	return b
}

// extendedBox is like box for column sums of the extended image, where windows may be wider than a period.
func (j *Job) extendedBox() (b windows.Box) {
	if j.Src.Type == raster.U8 && j.Dst.Type == raster.U8 && j.Kind == Mean && j.shape.Border != window.Clip {
		b = windows.NewBox(j.set.Level, j.shape.Width(), j.shape.Height(), j.Src.Channels)
	}
	return b
}

// area returns the maximum number of pixels in a window.
func (j *Job) area() float64 {
	w, h := j.shape.Width(), j.shape.Height()
	if j.shape.Border == window.Clip {
		w, h = min(w, j.Src.Width), min(h, j.Src.Height)
	}
	return float64(w) * float64(h)
}

// frame returns the image as a frame with sums of these types.
func (j *Job) frame(sum, square raster.Type) window.Frame {
	return frameOf(j, &j.shape, sum, square)
}

func frameOf(j *Job, shape *window.Shape, sum, square raster.Type) window.Frame {
	src := &j.Src
	f := window.Frame{Width: src.Width, Height: src.Height, Channels: src.Channels, Pixel: src.Type, Sum: sum, Square: square, Shape: *shape, Level: j.set.Level}
	if src.Type.Float() {
		f.Offset = window.OffsetOf(src, shape)
	}
	return f
}
