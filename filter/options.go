package filter

import (
	"context"
	"image"
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// Pixel is the constraint for the pixels of images to filter.
type Pixel interface {
	uint8 | uint16 | float32 | float64
}

// Float is the constraint for the results of statistics.
type Float interface{ float32 | float64 }

// A Border defines the pixels outside the image.
type Border uint8

const (
	// Reflect101 mirrors the image about the centers of its outermost pixels, which are not
	// repeated: dcb|abcd|cba. It is the default, as in OpenCV.
	Reflect101 = Border(window.Reflect101)
	// Reflect mirrors the image about its edge: cba|abcd|dcb.
	Reflect = Border(window.Reflect)
	// Replicate repeats the outermost pixels: aaa|abcd|ddd.
	Replicate = Border(window.Replicate)
	// Constant uses [Options.Value].
	Constant = Border(window.Constant)
	// Wrap repeats the image: bcd|abcd|abc.
	Wrap = Border(window.Wrap)
	// Clip ends windows at the edge of the image: a mean is that of the pixels inside.
	Clip = Border(window.Clip)
)

// String returns the border's name in lower case.
func (b Border) String() string { return window.Border(b).String() }

// ParseBorder returns the border with the given name: reflect101, reflect, replicate,
// constant, wrap or clip.
func ParseBorder(name string) (Border, error) {
	b, err := window.ParseBorder(name)
	return Border(b), err
}

// A Window is the neighborhood of a pixel from which its result is computed: Width×Height
// pixels, of any size, centered on the pixel. An even size has its extra pixel to the left
// and above, as in OpenCV and SciPy: a width of 4 is x-2 to x+1.
type Window struct {
	Width, Height int

	// Shift moves the window to the right and down. The window must still contain its
	// pixel: a width of 4 with a shift of 1 is x-1 to x+2.
	Shift image.Point
}

// Square returns a window of size×size pixels.
func Square(size int) Window { return Window{Width: size, Height: size} }

// Radius returns a window of 2·r+1 pixels a side.
func Radius(r int) Window { return Square(2*r + 1) }

// Options controls filtering. Nil and the zero value mean mirrored borders and the best for
// the machine.
type Options struct {
	Border Border
	Value  float64 // pixel value outside the image, for Constant

	// Valid excludes pixels: sums, means, variances and deviations are computed from the
	// valid pixels of a window, including those of the border. A window without valid
	// pixels has a sum of 0, and a mean of NaN, or 0 for integer results. Box, Sum, Mean,
	// Variance, StdDev, MeanStdDev and Normalize support it; for others it is an error. All
	// sums are then float64.
	Valid boxsum.Valid

	// On is the device to use, see [boxsum.Options]; nil selects the processor. Images stay
	// in host memory. Devices support Box, Mean, StdDev and MeanStdDev of uint8 and uint16,
	// with bit-identical results; anything else is an error, and so are
	//
	//   - float64 statistics, and Valid;
	//   - windows of more than 65535 pixels a side or 16843009 (2^24 and some) in total, or,
	//     for statistics of uint16, 65535 in total.
	//
	// Where windows are clipped, only the part in the image counts. The rows of the image
	// are divided among several devices, and where a device has too little memory. Only with
	// the border Wrap, one device needs room for the whole image.
	On boxsum.Device

	Workers  int                // maximum number of goroutines; 0 means GOMAXPROCS
	Level    boxsum.Level       // instruction set; the zero Level is the best available
	Context  context.Context    // cancels the work, see [boxsum.Options]; nil never does
	Progress func(done float64) // called with the fraction done, see [boxsum.Options]
}

func engineOptions(o *Options) *engine.Options {
	if o == nil {
		return nil
	}
	return &engine.Options{On: o.On, Workers: o.Workers, Level: o.Level.String(), Context: o.Context, Progress: o.Progress}
}

// maxSide is the largest side of a window: the sum of two sides fits in 32 bits.
const maxSide = 1<<30 - 1

// shapeOf returns a window with the border of the options, for pixels of a type.
func shapeOf(t raster.Type, w Window, o *Options) (s window.Shape, err error) {
	if w.Width <= 0 || w.Height <= 0 || w.Width > maxSide || w.Height > maxSide {
		return s, raster.Invalid("window is %d×%d, want sides of 1 to %d", w.Width, w.Height, maxSide)
	}
	s.Left, s.Up = w.Width/2-w.Shift.X, w.Height/2-w.Shift.Y
	s.Right, s.Down = w.Width-1-s.Left, w.Height-1-s.Up
	if s.Left < 0 || s.Right < 0 || s.Up < 0 || s.Down < 0 {
		return s, raster.Invalid("a window of %d×%d shifted by %v no longer contains its own pixel", w.Width, w.Height, w.Shift)
	}
	if o == nil {
		return s, nil
	}
	s.Border, s.Value = window.Border(o.Border), o.Value
	if err = s.Border.Check(); err != nil || s.Border != window.Constant {
		s.Value = 0
		return s, err
	}
	if v := s.Value; v-v != 0 || v > largest(t) || !t.Float() && (v < 0 || v != math.Trunc(v)) {
		return s, raster.Invalid("border value %v does not fit in %v", v, t)
	}
	if t == raster.F32 {
		s.Value = float64(float32(s.Value))
	}
	return s, nil
}

// largest returns the greatest value of a pixel type.
func largest(t raster.Type) float64 {
	switch t {
	case raster.U8:
		return 1<<8 - 1
	case raster.U16:
		return 1<<16 - 1
	case raster.F32:
		return math.MaxFloat32
	}
	return math.MaxFloat64
}
