// Package rank computes filters from the histogram of the window around every pixel, of images whose types are data: what
// package rank does for typed images, and what the command and the Python library call themselves.
package rank

import (
	"math"
	"strings"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// A Kind selects what a [Job] computes from the pixels of a window.
type Kind uint8

// The kinds of filters, by the statistics of package rank. Results have the type of the pixels, except for the floats of
// Entropy and Histogram.
const (
	Minimum Kind = iota
	Maximum
	Gradient
	Mean
	Sum
	SubtractMean
	Threshold
	Percentile
	Majority
	Autolevel
	Equalize
	Otsu
	BilateralMean
	Entropy
	Histogram
	kinds
)

var kindNames = [kinds]string{
	"minimum", "maximum", "gradient", "mean", "sum", "subtract-mean", "threshold", "percentile", "majority", "autolevel", "equalize", "otsu",
	"bilateral-mean", "entropy", "histogram",
}

// String returns the name of the kind in lower case.
func (k Kind) String() string {
	if k < kinds {
		return kindNames[k]
	}
	return "unknown statistic"
}

// ParseKind returns the kind with the given name.
func ParseKind(name string) (Kind, error) {
	return raster.ParseName[Kind]("statistic", name, kindNames[:])
}

// floats reports whether results are floats.
func (k Kind) floats() bool { return k == Entropy || k == Histogram }

// fromSums reports whether the sum of a window is enough.
func (k Kind) fromSums() bool { return k >= Mean && k <= Threshold }

const (
	// maxSide is the largest side of a window: the sum of two sides fits in 32 bits.
	maxSide = 1<<30 - 1
	// maxArea is the greatest number of pixels in the part of a window that lies in the image: counts have 32 bits.
	maxArea = 1<<31 - 1
	// maxBins is the greatest number of bins of a histogram: the levels of 16 bits.
	maxBins = 1 << 16
	// workerPixels is the number of pixels that justifies waking a worker.
	workerPixels = 1 << 12
)

// A Job is a filter and its images: plain data. Its maker sets the kind, the source and what else the kind needs, calls
// Check before it allocates the result, and then Run. Windows end at the edges of the image.
type Job struct {
	Kind     Kind
	Src, Dst raster.Array // of uint8 or uint16; Dst may be Src. Results of Histogram have Bins channels for each of the source

	Width, Height  int // of the window, whose extra pixel, if a side is even, is to the left or above
	ShiftX, ShiftY int // of the window, to the right and down
	Footprint      []byte
	Mask           raster.Array // bytes, 0 for pixels that do not count; it has no type if there is no mask

	Levels       int     // of 16-bit pixels; 0 for one more than the greatest pixel, at least 4
	Fraction     float64 // Percentile
	Below, Above int     // BilateralMean
	Bins         int     // Histogram
	Wraps        bool    // Autolevel: pixels beyond the range of their window wrap, as in scikit-image
	Options      engine.Options

	set   engine.Settings
	shape window.Shape
	same  bool // the result is the source itself
}

// Check validates the options, the image, the window and the numbers, in this order, and fills in defaults.
func (j *Job) Check() (err error) {
	if j.set, err = j.Options.Check(); err != nil {
		return err
	}
	if j.Kind >= kinds {
		return raster.Invalid("unknown statistic %d, want one of %s", j.Kind, strings.Join(kindNames[:], ", "))
	}
	if j.Src.Type != raster.U8 && j.Src.Type != raster.U16 {
		return raster.Unsupported("pixels of %v cannot be ranked, want uint8 or uint16", j.Src.Type)
	}
	if err = j.Src.Check(); err != nil {
		return err
	}
	if err = j.setShape(); err != nil {
		return err
	}
	if err = j.checkMask(); err != nil {
		return err
	}
	if err = j.checkNumbers(); err != nil || j.set.On() == nil {
		return err
	}
	return j.checkDevice()
}

// setShape validates the window.
func (j *Job) setShape() error {
	s := &j.shape
	if j.Width < 1 || j.Height < 1 || j.Width > maxSide || j.Height > maxSide {
		return raster.Invalid("window is %d×%d, want sides of 1 to %d", j.Width, j.Height, maxSide)
	}
	s.Left, s.Up = j.Width/2-j.ShiftX, j.Height/2-j.ShiftY
	s.Right, s.Down = j.Width-1-s.Left, j.Height-1-s.Up
	s.Border = window.Clip
	if s.Left < 0 || s.Right < 0 || s.Up < 0 || s.Down < 0 {
		return raster.Invalid("window is %d×%d shifted by (%d,%d), want a shift that keeps the pixel inside the window", j.Width, j.Height, j.ShiftX, j.ShiftY)
	}
	if j.Footprint != nil && len(j.Footprint) != j.Width*j.Height {
		return raster.Invalid("footprint has %d values, want %d×%d", len(j.Footprint), j.Width, j.Height)
	}
	if w, h := min(j.Width, j.Src.Width), min(j.Height, j.Src.Height); float64(w)*float64(h) > maxArea {
		return raster.Invalid("windows hold up to %d×%d pixels of the image, want at most %d in total", w, h, maxArea)
	}
	return nil
}

// checkMask validates the mask.
func (j *Job) checkMask() error {
	m := &j.Mask
	if m.Type == 0 {
		return nil
	}
	if m.Type != raster.U8 {
		return raster.Unsupported("the mask has type %v, want uint8", m.Type)
	}
	if err := m.Check(); err != nil {
		return err
	}
	if m.Width != j.Src.Width || m.Height != j.Src.Height || m.Channels != 1 && m.Channels != j.Src.Channels {
		return raster.Invalid("the mask is %v, want %d×%d with 1 channel or %d (those of the image)", m.Extent, j.Src.Width, j.Src.Height, j.Src.Channels)
	}
	return nil
}

// checkNumbers validates what some kinds need, and finds the number of levels.
func (j *Job) checkNumbers() error {
	switch {
	case j.Kind == Percentile && !(j.Fraction >= 0 && j.Fraction <= 1):
		return raster.Invalid("fraction is %v, want 0 to 1", j.Fraction)
	case j.Kind == BilateralMean && (j.Below < 0 || j.Above < 0 || j.Below > maxBins || j.Above > maxBins):
		return raster.Invalid("range is %d below and %d above, want 0 to %d", j.Below, j.Above, maxBins)
	case j.Kind == Histogram && (j.Bins < 1 || j.Bins > maxBins):
		return raster.Invalid("number of bins is %d, want 1 to %d", j.Bins, maxBins)
	case j.Src.Type == raster.U8:
		j.Levels = 1 << 8
		return nil
	case j.Levels < 0 || j.Levels > maxBins:
		return raster.Invalid("number of levels is %d, want 1 to %d, or 0 for those of the image", j.Levels, maxBins)
	}
	most := 0
	for y := range j.Src.Height {
		for _, v := range raster.Elems[uint16](j.Src.Span(0, y, j.Src.Width)) {
			most = max(most, int(v))
		}
	}
	if j.Levels == 0 {
		j.Levels = max(3, most) + 1
	}
	if most >= j.Levels {
		return raster.Invalid("the image has a pixel of %d, want less than %d (the number of levels)", most, j.Levels)
	}
	return nil
}

// Channels returns the number of channels of the result of a checked job.
func (j *Job) Channels() int {
	if j.Kind == Histogram {
		return j.Src.Channels * j.Bins
	}
	return j.Src.Channels
}

// Run computes the result of a checked job, after checking its memory.
func (j *Job) Run() error {
	if err := j.checkResult(); err != nil {
		return err
	}
	if j.Src.Width == 0 || j.Src.Height == 0 {
		j.set.Report(1)
		return nil
	}
	if on := j.set.On(); on != nil {
		d := j.onDevice()
		return on.Rank(&d)
	}
	if j.Kind.fromSums() && j.Mask.Type == 0 && j.Footprint == nil {
		return runSums(j)
	}
	if j.isCompared() {
		return runCompared(j)
	}
	if j.isCounted() {
		return runCounted(j)
	}
	if j.isExtremes() {
		return runExtremes(j)
	}
	if j.byLanes() {
		return runLanes(j)
	}
	if j.byColumns() {
		return runColumns(j)
	}
	return runSliding(j)
}

// checkResult validates the image for the result, which may be the source itself.
func (j *Job) checkResult() error {
	d, src := &j.Dst, &j.Src
	if d.Type != src.Type && !j.Kind.floats() || !d.Type.Float() && j.Kind.floats() {
		want := src.Type.String() + " like the image"
		if j.Kind.floats() {
			want = "float32 or float64"
		}
		return raster.Unsupported("destination has type %v, want %s for statistic %v", d.Type, want, j.Kind)
	}
	if err := d.Check(); err != nil {
		return err
	}
	if d.Width != src.Width || d.Height != src.Height || d.Channels != j.Channels() {
		return raster.Invalid("destination is %v, want %v", d.Extent, raster.PlaneExtent(src.Width, src.Height, j.Channels(), 0))
	}
	j.same = len(d.Data) > 0 && len(src.Data) > 0 && &d.Data[0] == &src.Data[0] && d.Type == src.Type && d.Stride == src.Stride
	if !j.same && raster.Overlap(d.Data, src.Data) != nil {
		return raster.Overlapping("the destination shares part of the image's memory: use the image itself, or separate memory")
	}
	return raster.Overlap(d.Data, j.Mask.Data)
}

// logTable returns log2(n) of counts of up to most.
func logTable(most int) []float64 {
	logs := make([]float64, most+1)
	for n := 1; n <= most; n++ {
		logs[n] = math.Log2(float64(n))
	}
	return logs
}

// store writes a row of floats.
func (j *Job) store(y int, row []float64) {
	windows.Store(j.Dst.Type, j.Dst.Span(0, y, j.Dst.Width), row)
}
