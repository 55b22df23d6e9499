package filters

import (
	"image"

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

// setShape sets the shape to the window of a job, with the border of its options.
func (j *Job) setShape() (err error) {
	w, opt := &j.Window, &j.Options
	j.shape, err = window.ShapeOf(w.Width, w.Height, w.Shift, opt.Border, opt.Value, j.Src.Type)
	return err
}
