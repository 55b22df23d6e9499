package filters

import (
	"image"
	"math"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// Options are the options of all filters.
type Options struct {
	engine.Options
	Border  window.Border
	Value   float64      // of the Constant border
	Mask    raster.Array // bytes, 0 for pixels that do not count; it has no type if there is no mask
	SkipNaN bool         // NaN does not count
}

// A Window is the neighborhood of a pixel; see package filter.
type Window struct {
	Width, Height int
	Shift         image.Point
}

// pixelWindow is the window that contains nothing but its pixel.
var pixelWindow = Window{Width: 1, Height: 1}

// A Sigma is the standard deviation of a Gaussian along each axis; see package filter.
type Sigma struct {
	X, Y   float64
	Passes int
}

// maxSide is the largest side of a window: the sum of two sides fits in 32 bits.
const maxSide = 1<<30 - 1

// setShape sets the shape to the window of a job, with the border of its options.
func (j *Job) setShape() error {
	s, w, t := &j.shape, &j.Window, j.Src.Type
	if w.Width <= 0 || w.Height <= 0 || w.Width > maxSide || w.Height > maxSide {
		return raster.Invalid("window is %d×%d, want sides of 1 to %d", w.Width, w.Height, maxSide)
	}
	s.Left, s.Up = w.Width/2-w.Shift.X, w.Height/2-w.Shift.Y
	s.Right, s.Down = w.Width-1-s.Left, w.Height-1-s.Up
	if s.Left < 0 || s.Right < 0 || s.Up < 0 || s.Down < 0 {
		return raster.Invalid("window is %d×%d shifted by %v, want a shift that keeps the pixel inside the window", w.Width, w.Height, w.Shift)
	}
	s.Border, s.Value = j.Options.Border, 0
	if s.Border != window.Constant {
		return s.Border.Check()
	}
	s.Value = j.Options.Value
	if v := s.Value; v-v != 0 || v > largest(t) || !t.Float() && (v < 0 || v != math.Trunc(v)) {
		return raster.Invalid("border value is %v, want one that fits in %v", v, t)
	}
	if t == raster.F32 {
		s.Value = float64(float32(s.Value))
	}
	return nil
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
