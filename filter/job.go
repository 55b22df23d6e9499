package filter

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/boxsum/boxsum/internal/bins"
	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// A kind selects what is computed from window sums.
type kind uint8

const (
	sum kind = iota
	mean
	variance
	deviation
	meanDeviation // two images
	normalized
	gaussian
	median
	entropy
	guidedKind
	downsampled
	boxRadii
)

func (k kind) squares() bool { return k >= variance && k <= normalized }

// A job is a filter and its images. The caller sets the kind, the source and what else the
// kind needs, calls check before it allocates results, and then fill. After that:
//
//   - the source and the results have complete extents and lie within their memory;
//   - all have the same size and number of channels, except for smaller results of downsampled;
//   - results overlap neither each other nor the source, unless one is the source itself;
//   - the shape has a known border, whose value is one that pixels can have.
type job struct {
	kind             kind
	src              raster.Array
	dst              [2]raster.Array // the second for meanDeviation
	shape            window.Shape
	floor            float64      // normalized: smallest deviation to divide by
	sigma            Sigma        // gaussian: Passes is set
	boxes            int          // gaussian: the requested number, or 0
	bins             bins.Range   // entropy
	factorX, factorY int          // downsampled
	guide            raster.Array // guidedKind: size of the source, one or three channels
	epsilon          float64      // guidedKind
	radii            raster.Array // boxRadii: size of the source, one or two channels

	set          engine.Settings
	tableOptions engine.Options // for tables that the job needs
	same         bool           // a result is the source itself
	over         bool           // a result is the guide itself
	mask         raster.Array   // of the pixels that count, if masked is set
	masked       bool
	skipNaN      bool // NaN does not count
}

// check validates the options, the window and the image, in this order, and fills in
// defaults.
func (j *job) check(w Window, opt *Options) (err error) {
	options := engineOptions(opt)
	if j.set, err = options.Check(); err != nil {
		return err
	}
	if options != nil {
		j.tableOptions = *options
		j.tableOptions.Progress = nil
	}
	if j.shape, err = shapeOf(j.src.Type, w, opt); err != nil {
		return err
	}
	if err = j.src.Check(); err != nil {
		return err
	}
	if !(j.epsilon >= 0) || j.epsilon > math.MaxFloat64 {
		return raster.Invalid("epsilon is %v, want 0 or more", j.epsilon)
	}
	if !(j.floor >= 0) || j.floor > math.MaxFloat64 {
		return raster.Invalid("minimum deviation is %v, want 0 or more", j.floor)
	}
	if err = j.checkValid(opt); err != nil {
		return err
	}
	return j.checkOn()
}

// accept validates an image of the source's size for result i. It may be the source itself.
func (j *job) accept(i int, dst raster.Array) error {
	d, src := &j.dst[i], &j.src
	*d = dst
	if err := d.Check(); err != nil {
		return err
	}
	if d.Width != src.Width || d.Height != src.Height || d.Channels != src.Channels {
		return raster.Invalid("destination is %v, want %v", d.Extent, src.Extent)
	}
	same, err := overlap(d, src)
	j.same = j.same || same
	if err == nil && i == 1 {
		err = raster.Overlap(j.dst[0].Data, d.Data)
	}
	if err == nil && j.masked && shareMemory(d.Data, j.mask.Data) {
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
	return fmt.Errorf("boxsum: %w: the destination shares part of the image's memory: use the image itself, or separate memory", raster.ErrOverlap)
}

// shareMemory reports whether two buffers share memory.
func shareMemory(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	a0, b0 := uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&b[0]))
	return a0 < b0+uintptr(len(b)) && b0 < a0+uintptr(len(a))
}

// fill computes the result of a checked job.
func (j *job) fill(dst raster.Array) error {
	if j.kind == downsampled {
		if err := j.acceptSmaller(dst); err != nil {
			return err
		}
		return j.run()
	}
	if err := j.accept(0, dst); err != nil {
		return err
	}
	switch j.kind {
	case sum:
		if err := j.checkSum(); err != nil {
			return err
		}
	case guidedKind:
		if err := j.checkGuide(); err != nil {
			return err
		}
	case boxRadii:
		if err := j.checkRadii(); err != nil {
			return err
		}
	}
	return j.run()
}

// fillBoth computes both results of a checked job.
func (j *job) fillBoth(first, second raster.Array) error {
	if err := j.accept(0, first); err != nil {
		return err
	}
	if err := j.accept(1, second); err != nil {
		return err
	}
	return j.run()
}

// checkSum returns an error if the result may not hold the sums of windows.
func (j *job) checkSum() error {
	src, dst := j.src.Type, j.dst[0].Type
	if !src.Float() && j.area()*largest(src) > maxInteger(dst) {
		return raster.Unsupported("the sum of a window of %d×%d pixels of %v may not fit in %v", j.shape.Width(), j.shape.Height(), src, dst)
	}
	if src.Float() && !dst.Float() {
		return raster.Unsupported("sums of %v are floats, not %v", src, dst)
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

// run computes the results of a job whose memory has been checked.
func (j *job) run() error {
	if on := j.set.On(); on != nil {
		return j.runOn(on)
	}
	if j.src.Width == 0 || j.src.Height == 0 {
		j.set.Report(1)
		return nil
	}
	switch j.kind {
	case gaussian:
		return runGaussian(j)
	case median:
		return runMedian(j)
	case entropy:
		return runEntropy(j)
	case guidedKind:
		return runGuided(j)
	case downsampled:
		return runBlocks(j)
	case boxRadii:
		return runRadii(j)
	}
	if j.counts() {
		return runValid(j)
	}
	if j.single() {
		return copyPixels(j)
	}
	if j.isSmallBox() {
		return runSmallBox(j)
	}
	sum, square, err := j.sumTypes()
	if err != nil {
		return err
	}
	return runLocal(j, sum, square)
}

// checkOn returns an error if no device does the job of a checked image. Package gpu checks
// the types.
func (j *job) checkOn() error {
	switch {
	case j.set.On() == nil:
		return nil
	case j.kind != mean && j.kind != deviation && j.kind != meanDeviation:
		return raster.Invalid("this filter cannot run on a device, only Box, Mean, StdDev and MeanStdDev can (leave Options.On nil)")
	case j.counts():
		return raster.Invalid("Options.Valid is not supported on a device (leave Options.On nil)")
	}
	return nil
}

// runOn computes the results of a job on a device.
func (j *job) runOn(d device.Runner) error {
	f := device.Filter{Src: j.src, Window: j.shape.OnDevice(), Options: j.set.OnDevice()}
	if j.same { // other parts of the image are read later
		window.CopyTo(nil, &f.Src)
	}
	switch j.kind {
	case mean:
		f.Mean = j.dst[0]
	case deviation:
		f.Dev = j.dst[0]
	case meanDeviation:
		f.Mean, f.Dev = j.dst[0], j.dst[1]
	}
	return d.Filter(&f)
}

// single reports whether the window is a single pixel, so that pixels are copied.
func (j *job) single() bool {
	return j.kind <= mean && j.dst[0].Type == j.src.Type && j.shape.Width() == 1 && j.shape.Height() == 1
}

// copyPixels computes the result of a window of one pixel.
func copyPixels(j *job) error {
	for y := 0; y < j.src.Height && !j.same; y++ {
		if err := j.set.Stopped(); err != nil {
			return err
		}
		copy(j.dst[0].Span(0, y, j.src.Width), j.src.Span(0, y, j.src.Width))
	}
	j.set.Report(1)
	return nil
}

// sumTypes returns the types of window sums and of sums of squares, or 0 if there are none.
func (j *job) sumTypes() (sum, square raster.Type, err error) {
	most := largest(j.src.Type)
	all := j.area() * most
	limit := all
	if j.kind.squares() {
		limit *= most
	}
	switch {
	case j.src.Type.Float():
		sum, square = raster.F64, raster.F64
	case limit >= 1<<63:
		return 0, 0, raster.Invalid("window is %d×%d, which is too large to sum (use a smaller one, or border clip)", j.shape.Width(), j.shape.Height())
	case limit < 1<<32:
		sum, square = raster.U32, raster.U32
	case all < 1<<32:
		sum, square = raster.U32, raster.U64
	default:
		sum, square = raster.U64, raster.U64
	}
	if !j.kind.squares() {
		square = 0
	}
	return sum, square, nil
}

// most returns the greatest sum of a window of integer pixels, or 0 for floats.
func (j *job) most(count int64) uint64 {
	if j.src.Type.Float() {
		return 0
	}
	return uint64(largest(j.src.Type)) * uint64(count)
}

// box returns the kernel for means of bytes. Its kind is BoxNone if there is none.
func (j *job) box() (b windows.Box) {
	f := window.Frame{Width: j.src.Width, Height: j.src.Height, Channels: j.src.Channels, Shape: j.shape}
	if j.src.Type == raster.U8 && j.dst[0].Type == raster.U8 && j.kind == mean && j.shape.Border != window.Clip && f.Plain() {
		b = windows.NewBox(j.set.Level, j.shape.Width(), j.shape.Height(), j.src.Channels)
	}
	return b
}

// area returns the maximum number of pixels in a window.
func (j *job) area() float64 {
	w, h := j.shape.Width(), j.shape.Height()
	if j.shape.Border == window.Clip {
		w, h = min(w, j.src.Width), min(h, j.src.Height)
	}
	return float64(w) * float64(h)
}

// frame returns the image as a frame with sums of these types.
func (j *job) frame(sum, square raster.Type) window.Frame {
	return frameOf(j, &j.shape, sum, square)
}

func frameOf(j *job, shape *window.Shape, sum, square raster.Type) window.Frame {
	src := &j.src
	f := window.Frame{Width: src.Width, Height: src.Height, Channels: src.Channels, Pixel: src.Type, Sum: sum, Square: square, Shape: *shape, Level: j.set.Level}
	if src.Type.Float() {
		f.Offset = window.OffsetOf(src, shape)
	}
	return f
}
