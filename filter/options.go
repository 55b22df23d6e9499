package filter

import (
	"context"
	"image"
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/pairs"
	"github.com/boxsum/boxsum/internal/window"
)

//go:generate go run github.com/boxsum/boxsum/internal/pairs/expand -out made.go -template ../internal/kinds/made.tmpl -with filter

// Pixel is what images to filter hold.
type Pixel interface {
	uint8 | uint16 | float32 | float64
}

// Float is what statistics are given in.
type Float interface{ float32 | float64 }

// A Border says what windows find outside of the image.
type Border uint8

const (
	// Reflect101 mirrors the image at the middle of its outermost pixels, which come
	// once: dcb|abcd|cba. It is the default, as it is OpenCV's.
	Reflect101 = Border(window.Reflect101)
	// Reflect mirrors it at its edge: cba|abcd|dcb.
	Reflect = Border(window.Reflect)
	// Replicate goes on with the outermost pixels: aaa|abcd|ddd.
	Replicate = Border(window.Replicate)
	// Constant is [Options.Value] everywhere.
	Constant = Border(window.Constant)
	// Wrap is the image again: bcd|abcd|abc.
	Wrap = Border(window.Wrap)
	// Clip is nothing: windows end at the edge of the image, and a mean is that of the
	// pixels that are there.
	Clip = Border(window.Clip)
)

// String is the border's name in lower case.
func (b Border) String() string { return window.Border(b).String() }

// ParseBorder is the border of that name: reflect101, reflect, replicate, constant, wrap or
// clip.
func ParseBorder(name string) (Border, error) {
	b, err := window.ParseBorder(name)
	return Border(b), err
}

// A Window is the pixels that a result is made from: Width×Height of them, as large as
// you like, with the pixel itself in the middle. Of an even number one more lies on the
// left and above, as in OpenCV and SciPy: a width of 4 is x-2 to x+1.
type Window struct {
	Width, Height int

	// Shift moves the window to the right and down. It must still have its pixel: a width
	// of 4 with a shift of 1 is x-1 to x+2.
	Shift image.Point
}

// Square is a window of size×size pixels.
func Square(size int) Window { return Window{Width: size, Height: size} }

// Radius is a window of 2·r+1 pixels a side.
func Radius(r int) Window { return Square(2*r + 1) }

// Options says how to filter; nil and the zero value mean mirrored borders and the best
// for the machine.
type Options struct {
	Border Border
	Value  float64 // what is outside of the image, for Constant

	Workers  int                // goroutines at once, at most; 0 stands for GOMAXPROCS
	Level    boxsum.Level       // the instruction set; the zero Level is the best
	Context  context.Context    // stops the work, see [boxsum.Options]; nil never does
	Progress func(done float64) // is told how much is done, see [boxsum.Options]
}

func engineOptions(o *Options) *engine.Options {
	if o == nil {
		return nil
	}
	return &engine.Options{Workers: o.Workers, Level: o.Level.String(), Context: o.Context, Progress: o.Progress}
}

// maxSide is how large a window may be: the sum of two sides fits 32 bits.
const maxSide = 1<<30 - 1

// shapeOf is a window with the border of the options, for pixels of a type.
func shapeOf(of pairs.Type, w Window, o *Options) (s window.Shape, err error) {
	if w.Width <= 0 || w.Height <= 0 || w.Width > maxSide || w.Height > maxSide {
		return s, grid.Invalid("a window of %d×%d: use 1 to %d pixels a side", w.Width, w.Height, maxSide)
	}
	s.Left, s.Up = w.Width/2-w.Shift.X, w.Height/2-w.Shift.Y
	s.Right, s.Down = w.Width-1-s.Left, w.Height-1-s.Up
	if s.Left < 0 || s.Right < 0 || s.Up < 0 || s.Down < 0 {
		return s, grid.Invalid("a window of %d×%d that is shifted by %v lacks its own pixel: shift it by less", w.Width, w.Height, w.Shift)
	}
	if o == nil {
		return s, nil
	}
	s.Border, s.Value = window.Border(o.Border), o.Value
	if err = s.Border.Check(); err != nil || s.Border != window.Constant {
		s.Value = 0
		return s, err
	}
	if v := s.Value; v-v != 0 || v > largest(of) || !of.Float() && (v < 0 || v != math.Trunc(v)) {
		return s, grid.Invalid("a border of %v: it must be a value that pixels of %v can have", v, of)
	}
	if of == pairs.F32 {
		s.Value = float64(float32(s.Value))
	}
	return s, nil
}

// largest is the greatest number that pixels of a type have.
func largest(of pairs.Type) float64 {
	switch of {
	case pairs.U8:
		return 1<<8 - 1
	case pairs.U16:
		return 1<<16 - 1
	case pairs.F32:
		return math.MaxFloat32
	}
	return math.MaxFloat64
}
