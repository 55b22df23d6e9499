package hog

import (
	"context"
	"image"
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/detect"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
)

// A Result is an object that was found. Its Score is the highest score among its windows or, with
// [Options.MeanShift], the density of windows there. Angle, Stage and Mirrored are always zero.
type Result = detect.Result

// Options configures detection. Nil and the zero value select the defaults.
type Options struct {
	// Threshold is the lowest score at which a window is found.
	Threshold float64
	// Scale is the ratio between successive window sizes; 0 means 1.05, and 1 searches
	// windows of the descriptor's size only.
	Scale float64
	// Step is the distance between windows, in pixels of the image at one scale; zero means
	// Config.Stride. A multiple of Config.Stride is fastest, because windows then share blocks.
	Step image.Point
	// Padding extends the image at each scale by this many mirrored pixels on every side, to find
	// objects at its edges. It is rounded up to a multiple of the greatest common divisor of Step
	// and Config.Stride if that is a power of two.
	Padding image.Point
	// Neighbors is OpenCV's groupThreshold: a group of windows becomes a result only if it has
	// more than this many windows. 0 means 2.
	Neighbors int
	// Ungrouped returns every window found as a separate result.
	Ungrouped bool
	// MeanShift groups windows by mean shift: results are the maxima of the density of windows in
	// position and size, weighted by their scores. Neighbors is then ignored.
	MeanShift bool
	// Density is the value that the density of a result must exceed if MeanShift is set; 0 means
	// 2.
	Density float64
	// Min and Max limit the size of windows, in pixels of the image. If a side of Max is zero,
	// it is the image's size.
	Min, Max image.Point
	// Ignore lists areas to exclude: windows whose center lies in one of them are not found.
	Ignore []image.Rectangle
	// Limit is the maximum number of windows found before grouping. If there are more, detection
	// fails with an error. 0 means 1<<20, or 1<<12 if MeanShift is set, because its running time
	// grows with the square of the number of windows.
	Limit int
	// BGR declares that the image's channels are blue, green and red instead of red, green and
	// blue. The order matters only if the gradients of two channels are equally strong.
	BGR bool

	// On is the device to use; nil selects the processor. See [boxsum.Options.On]. Images stay in
	// host memory. Results, including scores, are the same as on the processor. Devices do not
	// support images with a side of more than 2^22 pixels. Several devices share the images of
	// [Descriptor.DetectBatch]. OpenCL devices must support float64.
	On boxsum.Device

	Workers  int                // maximum number of goroutines; 0 means GOMAXPROCS
	Level    boxsum.Level       // instruction set; the zero Level selects the best
	Context  context.Context    // canceling it stops the work; may be nil
	Progress func(done float64) // called with the fraction of the work that is done; may be nil
}

// WindowOptions selects the windows of [Descriptor.Compute] and [Descriptor.Scores]. Nil and
// the zero value select the defaults.
type WindowOptions struct {
	Step    image.Point // distance between windows; see [Options.Step]
	Padding image.Point // mirrored pixels around the image; see [Options.Padding]
	// At lists the top left pixels of the windows to describe. Nil means all windows that are
	// Step apart. A window outside the padded image has a descriptor of zeros and the score -Inf.
	At  []image.Point
	BGR bool // see [Options.BGR]

	Workers  int
	Level    boxsum.Level
	Context  context.Context
	Progress func(done float64)
}

// GradientOptions configures [Descriptor.Gradients]. Nil and the zero value select the
// defaults.
type GradientOptions struct {
	Before, After image.Point // mirrored pixels to add on the left and at the top, and on the right and at the bottom
	BGR           bool        // see [Options.BGR]

	Workers  int
	Level    boxsum.Level
	Context  context.Context
	Progress func(done float64)
}

const (
	usualScale     = 1.05
	usualNeighbors = 2
	usualDensity   = 2
	usualLimit     = 1 << 20
	usualModes     = 1 << 12
	maxStep        = 1 << 16
	maxPadding     = 1 << 14
)

// check validates the options and stores them in to, with defaults filled in.
func (o *Options) check(d *Descriptor, to *Options, set *engine.Settings) (err error) {
	if o == nil {
		o = new(Options)
	}
	*to = *o
	opt := engine.Options{On: o.On, Workers: o.Workers, Level: o.Level.String(), Context: o.Context, Progress: o.Progress}
	if *set, err = opt.Check(); err != nil {
		return err
	}
	if o.Scale == 0 {
		to.Scale = usualScale
	}
	if o.Neighbors == 0 {
		to.Neighbors = usualNeighbors
	}
	if o.Density == 0 {
		to.Density = usualDensity
	}
	if o.Limit == 0 {
		if to.Limit = usualLimit; o.MeanShift && !o.Ungrouped {
			to.Limit = usualModes
		}
	}
	switch {
	case o.Threshold != o.Threshold:
		return raster.Invalid("threshold is %v, want a number", o.Threshold)
	case !(to.Scale >= 1 && to.Scale <= math.MaxFloat32):
		return raster.Invalid("scale is %v, want more than 1, such as 1.05, or 1 for a single size", o.Scale)
	case o.Neighbors < 0:
		return raster.Invalid("neighbors is %d, want 1 or more, or 0 for the default (set Ungrouped to get every window)", o.Neighbors)
	case !(to.Density-to.Density == 0):
		return raster.Invalid("density is %v, want a finite number", o.Density)
	case o.Min.X < 0 || o.Min.Y < 0 || o.Max.X < 0 || o.Max.Y < 0:
		return raster.Invalid("minimum size is %v and maximum size %v, want sides of 0 or more", o.Min, o.Max)
	case o.Limit < 0:
		return raster.Invalid("limit is %d windows, want 1 or more", o.Limit)
	}
	return d.checkWindows(&to.Step, &to.Padding)
}

// check validates the options and stores them in to, with defaults filled in.
func (o *WindowOptions) check(d *Descriptor, to *WindowOptions, set *engine.Settings) (err error) {
	if o == nil {
		o = new(WindowOptions)
	}
	*to = *o
	opt := engine.Options{Workers: o.Workers, Level: o.Level.String(), Context: o.Context, Progress: o.Progress}
	if *set, err = opt.Check(); err != nil {
		return err
	}
	return d.checkWindows(&to.Step, &to.Padding)
}

// checkWindows checks the distance between windows and the padding, fills in their defaults
// and rounds the padding.
func (d *Descriptor) checkWindows(step, padding *image.Point) error {
	if *step == (image.Point{}) {
		*step = d.config.Stride
	}
	if step.X < 1 || step.Y < 1 || step.X > maxStep || step.Y > maxStep {
		return raster.Invalid("step is %d×%d, want 1 to %d pixels", step.X, step.Y, maxStep)
	}
	if padding.X < 0 || padding.Y < 0 || padding.X > maxPadding || padding.Y > maxPadding {
		return raster.Invalid("padding is %d×%d, want 0 to %d pixels", padding.X, padding.Y, maxPadding)
	}
	// OpenCV masks the low bits of any divisor as if it were a power of two.
	round := func(n, c int) int { return (n + c - 1) & -c }
	padding.X = round(padding.X, gcd(step.X, d.config.Stride.X))
	padding.Y = round(padding.Y, gcd(step.Y, d.config.Stride.Y))
	return nil
}

func gcd(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}
