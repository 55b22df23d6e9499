package filter

import (
	"context"
	"image"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/bins"
	"github.com/boxsum/boxsum/internal/filters"
	"github.com/boxsum/boxsum/internal/window"
)

// Pixel is a constraint that permits the pixel types of images to filter.
type Pixel interface {
	uint8 | uint16 | float32 | float64
}

// Float is a constraint that permits the types of means, deviations and other statistics.
type Float interface{ float32 | float64 }

// A Border selects the values that a filter uses for pixels outside the image.
type Border uint8

const (
	// Reflect101 mirrors the image about the centers of its outermost pixels, which are not
	// repeated: dcb|abcd|cba. It is the default, as in OpenCV.
	Reflect101 = Border(window.Reflect101)
	// Reflect mirrors the image about its edge: cba|abcd|dcb.
	Reflect = Border(window.Reflect)
	// Replicate repeats the outermost pixels: aaa|abcd|ddd.
	Replicate = Border(window.Replicate)
	// Constant gives all pixels outside the image the value [Options.Value].
	Constant = Border(window.Constant)
	// Wrap repeats the image: bcd|abcd|abc.
	Wrap = Border(window.Wrap)
	// Clip ends windows at the edge of the image: a mean covers only the pixels inside.
	Clip = Border(window.Clip)
)

// String returns the border's name in lower case.
func (b Border) String() string { return window.Border(b).String() }

// ParseBorder returns the border with the given name: reflect101, reflect, replicate,
// constant, wrap or clip. It returns an error that wraps [boxsum.ErrInvalid] for any other
// name.
func ParseBorder(name string) (Border, error) {
	b, err := window.ParseBorder(name)
	return Border(b), err
}

// A Window is the neighborhood of a pixel from which its result is computed: Width×Height
// pixels centered on the pixel. An even size has its extra pixel to the left and above,
// as in OpenCV and SciPy: a width of 4 covers x-2 to x+1.
type Window struct {
	Width, Height int

	// Shift moves the window to the right and down. The window must still contain its pixel:
	// a width of 4 with a shift of 1 covers x-1 to x+2.
	Shift image.Point
}

// Square returns a window of size×size pixels. Filters return an error if size is less than
// 1.
func Square(size int) Window { return Window{Width: size, Height: size} }

// Radius returns a window of 2·r+1 pixels a side, centered on its pixel. Filters return an
// error if r is negative.
func Radius(r int) Window { return Square(2*r + 1) }

// Options configures filters. Nil and the zero value select the border [Reflect101] and
// the best settings for the machine.
type Options struct {
	Border Border
	Value  float64 // pixel value outside the image, for Constant

	// Valid excludes pixels: sums, means, variances and deviations are computed from the
	// valid pixels of a window, including those of the border. A window without valid pixels
	// has a sum of 0 and a mean of NaN, or of 0 for integer results. Box, Sum, Mean,
	// Variance, StdDev, MeanStdDev and Normalize support Valid; other filters return an
	// error. All sums are then float64.
	Valid boxsum.Valid

	// On is the device to use; nil selects the processor. See [boxsum.Options.On]. Images
	// stay in host memory. Devices support Box, Mean, StdDev, MeanStdDev and Downsample of
	// uint8 and uint16 images, with bit-identical results. All other calls with a device
	// return an error, and so do calls with
	//
	//   - float64 statistics, or Valid;
	//   - windows of more than 65535 pixels a side, or of more than 16843009 pixels in total;
	//   - for statistics of uint16, windows of more than 65535 pixels in total.
	//
	// With the border Clip, only the part of a window inside the image counts toward these
	// limits. The rows of an image are divided among several devices, and into bands if a
	// device has too little memory. With the border Wrap, one device must hold the whole
	// image.
	On boxsum.Device

	Workers  int                // maximum number of goroutines; 0 means GOMAXPROCS
	Level    boxsum.Level       // instruction set; the zero Level selects the best
	Context  context.Context    // canceling it stops the work; may be nil
	Progress func(done float64) // called with the fraction of the work that is done; may be nil
}

// set sets the options of a job.
func (o *Options) set(to *filters.Options) {
	to.Workers, to.Level, to.Context, to.Progress, to.On = o.Workers, o.Level.String(), o.Context, o.Progress, o.On
	to.Border, to.Value, to.SkipNaN = window.Border(o.Border), o.Value, o.Valid.SkipNaN
	if m := &o.Valid.Mask; m.Width != 0 || m.Height != 0 || m.Pix != nil {
		setImage(&to.Mask, m)
	}
}

// rangeOf returns bins as data.
func rangeOf(b histogram.Bins) bins.Range {
	return bins.Range{N: b.N, Low: b.Low, High: b.High, Clamp: b.Clamp}
}
