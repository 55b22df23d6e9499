// Package boxlets computes weighted sums of boxes around every pixel of images whose types are data: what package boxlets does for
// typed images, and what the command and the Python library call themselves.
package boxlets

import (
	"image"
	"sync/atomic"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// A Kind selects what a [Job] computes.
type Kind uint8

// The kinds, by the function of package boxlets.
const (
	Sums Kind = iota
	Hessian
	Targets
	Speckle
)

const (
	// maxReach is the greatest distance of the edge of a box from its pixel.
	maxReach = 1 << 14
	// maxBoxes is the greatest number of boxes of a kernel.
	maxBoxes = 1 << 12
)

// A Box is a rectangle of pixels around a pixel, which is at (0,0), and the weight of their sum.
type Box struct {
	image.Rectangle
	Weight float64
}

// A Job is an image and what to compute from the sums of boxes around its pixels: plain data. Its maker sets the kind, the
// source and what else the kind needs, calls Check before it allocates the result, and then Run.
type Job struct {
	Kind     Kind
	Src, Dst raster.Array
	Options  engine.Options

	Boxes  []Box         // Sums
	Border window.Border // Sums; with Clip, pixels outside add nothing
	Value  float64       // of the Constant border
	Margin int           // Sums: results closer to the edge than this are 0

	Sigma float64 // Hessian

	Guard, Train int     // Targets: how far guard cells and, beyond them, training cells reach
	FalseAlarms  float64 // Targets: the rate
	Amplitudes   bool    // Targets: pixels are amplitudes, not powers

	Method  Method  // Speckle
	Size    int     // Speckle: side of the window
	Looks   float64 // Speckle: number of independent looks that the image is the mean of
	Damping float64 // Speckle: of Frost's weights

	set   engine.Settings
	sum   raster.Type
	reach image.Rectangle // of all boxes
	bad   atomic.Int32    // one more than a row of results whose sums are not finite, or 0 if there is none
}

// TakesPixels reports whether boxes of pixels of a type can be summed.
func TakesPixels(t raster.Type) bool {
	return t == raster.U8 || t == raster.U16 || t == raster.F32 || t == raster.F64
}

// Check validates the options, the image and the numbers, in this order.
func (j *Job) Check() (err error) {
	if j.set, err = j.Options.Check(); err != nil {
		return err
	}
	if err = j.set.ProcessorOnly("sums of boxes"); err != nil {
		return err
	}
	if !TakesPixels(j.Src.Type) {
		return raster.Unsupported("boxes of %v pixels cannot be summed, want uint8, uint16, float32 or float64", j.Src.Type)
	}
	if err = j.Src.Check(); err != nil {
		return err
	}
	switch j.Kind {
	case Sums:
		err = j.checkBoxes()
	case Hessian:
		err = j.checkSigma()
	case Targets:
		err = j.checkCells()
	case Speckle:
		err = j.checkSpeckle()
	}
	if err == nil {
		j.chooseSum()
	}
	return err
}

// checkBoxes validates the boxes of a kernel and the border.
func (j *Job) checkBoxes() error {
	if len(j.Boxes) < 1 || len(j.Boxes) > maxBoxes {
		return raster.Invalid("number of boxes is %d, want 1 to %d", len(j.Boxes), maxBoxes)
	}
	limits := image.Rect(-maxReach, -maxReach, maxReach, maxReach)
	j.reach = j.Boxes[0].Rectangle
	for i, b := range j.Boxes {
		switch {
		case b.Empty():
			return raster.Invalid("box %d is %v, want one that is not empty", i, b.Rectangle)
		case !b.In(limits):
			return raster.Invalid("box %d is %v, want coordinates from %d to %d", i, b.Rectangle, -maxReach, maxReach)
		case b.Weight-b.Weight != 0:
			return raster.Invalid("the weight of box %d is %v, want a finite number", i, b.Weight)
		}
		j.reach = j.reach.Union(b.Rectangle)
	}
	if j.Margin < 0 {
		return raster.Invalid("margin is %d, want 0 or more", j.Margin)
	}
	if err := j.Border.Check(); err != nil {
		return err
	}
	if j.Border != window.Constant {
		return nil
	}
	return window.CheckValue(j.Value, j.Src.Type)
}

// chooseSum sets the type of the sums: 32 bits if any box fits in 31.
func (j *Job) chooseSum() {
	most := j.Src.Type.Max()
	switch {
	case j.Src.Type.Float():
		j.sum = raster.F64
	case float64(j.reach.Dx())*float64(j.reach.Dy())*most < 1<<31:
		j.sum = raster.U32
	default:
		j.sum = raster.U64
	}
}

// Run computes the result of a checked job, after checking its memory.
func (j *Job) Run() error {
	d, src := &j.Dst, &j.Src
	if j.Kind == Targets && d.Type != raster.U8 || j.Kind != Targets && !d.Type.Float() {
		return raster.Unsupported("destination has type %v, want uint8 for targets, and float32 or float64 for other results", d.Type)
	}
	if err := d.Check(); err != nil {
		return err
	}
	if d.Width != src.Width || d.Height != src.Height || d.Channels != src.Channels {
		return raster.Invalid("destination is %v, want %v", d.Extent, src.Extent)
	}
	if err := raster.Overlap(d.Data, src.Data); err != nil {
		return err
	}
	if src.Width == 0 || src.Height == 0 {
		j.set.Report(1)
		return nil
	}
	j.bad.Store(0)
	run := runs.Take()
	l := &run.Layer
	l.job = j
	p := l.plan()
	if err := run.Fill(&j.set, &p, l); err != nil {
		return err
	}
	if y := j.bad.Load(); y > 0 {
		if j.Kind == Speckle {
			return raster.Invalid("row %d has pixels that are negative, NaN or infinite, want finite intensities of 0 or more", y-1)
		}
		return raster.Invalid("boxes around row %d have pixels that are NaN or infinite, or too large to sum in float64, want finite pixels", y-1)
	}
	return nil
}
