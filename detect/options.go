package detect

import (
	"context"
	"image"
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
)

// Options configures detection. Nil and the zero value select the defaults.
type Options struct {
	// Scale is the ratio between successive window sizes; 0 means 1.1.
	Scale float64
	// Neighbors is OpenCV's minNeighbors: a group of windows becomes a result only if it
	// has more than this many windows. 0 means 3.
	Neighbors int
	// Ungrouped returns every window that passes as a separate result, as OpenCV does for 0
	// neighbors.
	Ungrouped bool
	// Min and Max limit the size of windows. If a side of Max is zero, it is the image's
	// size. If no window size lies between Min and Max, the size nearest to Min is used.
	Min, Max image.Point
	// Angles lists the rotations of objects, in degrees clockwise; nil means upright
	// objects only. Each angle finds objects within about 12° of it; use [AllAngles] for
	// any rotation. Multiples of 45° are searched in the original image. Other angles
	// require a rotated copy of the image for each different remainder modulo 45°.
	//
	// If Angles lists several angles, an angle of 0 is searched less densely than by
	// default: large windows are first tried at every other position, and then at all
	// positions around an object.
	Angles []float64
	// Turn selects how objects at angles between multiples of 45° are searched.
	Turn Turn
	// Mirror also finds mirrored objects, such as profiles that face the other way. It
	// needs no additional tables. [Result.Mirrored] marks these objects.
	Mirror bool
	// EachAngle searches every angle independently. By default, an angle that lies between
	// two multiples of 45° in Angles is searched only where the first stages pass at one
	// of those two.
	EachAngle bool
	// Ignore lists areas to exclude: windows whose center lies in one of them are not
	// found.
	Ignore []image.Rectangle
	// NearMisses is the number of stages at the end of the cascade that a window may fail
	// and still be returned as a near miss. Near misses follow the results, which they do
	// not affect, and are grouped in the same way.
	NearMisses int
	// Contrast is the standard deviation that the pixels of a window must exceed; 0 means
	// 10, as in OpenCV. Smaller values find objects in poor light but take longer. Local
	// binary patterns ignore it.
	Contrast float64
	// Limit is the maximum number of windows that may pass before grouping. If more pass,
	// detection fails with an error. 0 means 1<<20.
	Limit int
	// Compat searches only the windows that OpenCV searches, which may not include the
	// last row. It also treats negative sizes as OpenCV does; otherwise they are an error.
	Compat bool
	// BGR declares that the image's channels are blue, green and red instead of red, green
	// and blue.
	BGR bool

	// On is the device to use; nil selects the processor. See [boxsum.Options.On]. Images
	// stay in host memory. Results, including scores, are the same as on the processor.
	// Devices do not support Angles, Mirror, NearMisses, or images with a side of more
	// than 2^22 pixels, and return an error for them. Each device needs memory for an
	// image and its scaled copies, about 100 bytes per pixel. Several devices share the
	// images of [Cascade.DetectBatch]. OpenCL devices must support float64.
	On boxsum.Device

	Workers  int                // maximum number of goroutines; 0 means GOMAXPROCS
	Level    boxsum.Level       // instruction set; the zero Level selects the best
	Context  context.Context    // canceling it stops the work; may be nil
	Progress func(done float64) // called with the fraction of the work that is done; may be nil
}

// A Turn is a method of searching for objects at angles between the multiples of 45°.
type Turn int

const (
	// TurnImage rotates the image, once for each remainder modulo 45°.
	TurnImage Turn = iota
	// TurnTables computes rotated tables of the unrotated image. The boxes of the cascade
	// follow digital lines, as in package rotated, and are weighted by their exact areas.
	// Each angle is replaced by the nearest one whose tangent is a ratio of integers up to
	// 5. TurnTables finds nearly as many objects as TurnImage and takes longer. It does
	// not support cascades with tilted features.
	TurnTables
)

// The defaults of options that are zero.
const (
	usualScale     = 1.1
	usualNeighbors = 3
	usualContrast  = 10
	usualLimit     = 1 << 20
	maxScales      = 1 << 12
)

// check validates the options and stores them in to, with defaults filled in.
func (o *Options) check(to *Options, set *engine.Settings) (err error) {
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
	if o.Contrast == 0 {
		to.Contrast = usualContrast
	}
	if o.Limit == 0 {
		to.Limit = usualLimit
	}
	switch {
	case !(to.Scale > 1 && to.Scale <= math.MaxFloat32):
		return raster.Invalid("scale is %v, want a finite number greater than 1, such as 1.1", o.Scale)
	case o.Neighbors < 0:
		return raster.Invalid("neighbors is %d, want 1 or more, or 0 for the default (set Ungrouped to get every window)", o.Neighbors)
	case !o.Compat && (o.Min.X < 0 || o.Min.Y < 0 || o.Max.X < 0 || o.Max.Y < 0):
		return raster.Invalid("minimum size is %v and maximum size %v, want sides of 0 or more", o.Min, o.Max)
	case o.NearMisses < 0:
		return raster.Invalid("near misses is %d stages, want 0 or more", o.NearMisses)
	case !(to.Contrast > 0 && to.Contrast <= 255):
		return raster.Invalid("contrast is %v, want more than 0 and at most 255, or 0 for the default of %d", o.Contrast, usualContrast)
	case o.Turn != TurnImage && o.Turn != TurnTables:
		return raster.Invalid("unknown Turn %d, want TurnImage or TurnTables", o.Turn)
	case o.Limit < 0:
		return raster.Invalid("limit is %d windows, want 1 or more, or 0 for the default of %d", o.Limit, usualLimit)
	}
	return o.checkAngles()
}
