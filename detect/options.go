package detect

import (
	"context"
	"image"
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
)

// Options controls detection. Nil and the zero value choose the defaults.
type Options struct {
	// Scale is the ratio between successive window sizes; 0 means 1.1.
	Scale float64
	// Neighbors is OpenCV's minNeighbors: only groups of more than this many windows become
	// results. 0 means 3.
	Neighbors int
	// Ungrouped returns every window that passes as a separate result, as OpenCV does for 0
	// neighbors.
	Ungrouped bool
	// Min and Max limit the size of windows. If a side of Max is zero, it is the image's
	// size. If no window size lies between them, the size nearest to Min is used.
	Min, Max image.Point
	// Angles lists the rotations of objects, in degrees clockwise; nil means upright
	// objects only. Each angle finds objects within about 12° of it; use [AllAngles] for
	// any rotation. Multiples of 45° are searched in the original image. Other angles
	// require a rotated copy of the image, one for each different remainder modulo 45°. If
	// Angles lists several angles, 0 is searched like the others: large windows are tried
	// at every other position of an upright search, and at every position next to an
	// object.
	Angles []float64
	// Turn selects how objects between multiples of 45° are searched.
	Turn Turn
	// Mirror also finds mirrored objects, such as profiles that face the other way, using
	// the same tables. [Result.Mirrored] marks them.
	Mirror bool
	// EachAngle searches every angle independently. By default, an angle between two
	// multiples of 45° that are both in Angles is searched only where the first stages of
	// either pass.
	EachAngle bool
	// Ignore lists areas to exclude: windows whose center lies in one of them are not
	// found.
	Ignore []image.Rectangle
	// NearMisses is the number of last stages that a window may fail to pass and still be
	// returned as a near miss. Near misses follow the results, which they do not affect,
	// and are grouped in the same way.
	NearMisses int
	// Contrast is the standard deviation that the pixels of a window must exceed; 0 means
	// 10, as in OpenCV. Smaller values find objects in poor light but take longer. Local
	// binary patterns ignore it.
	Contrast float64
	// Limit is the maximum number of windows that may pass before grouping. If more pass,
	// detection fails with an error. 0 means 1<<20.
	Limit int
	// Compat searches only the windows that OpenCV searches, which may skip the last row.
	// Negative sizes are then treated as OpenCV treats them; otherwise they are an error.
	Compat bool
	// BGR declares that the image's channels are blue, green and red instead of red, green
	// and blue.
	BGR bool

	// On is the device to use, see [boxsum.Options]; nil selects the processor. Images
	// stay in host memory. Results, including scores, are the same as on the processor.
	// Angles, Mirror and NearMisses, and images with a side of more than 2^22 pixels,
	// return an error on a device. Each device needs memory for an image and its scaled
	// copies, about 100 bytes per pixel. Several devices share the images of
	// [Cascade.DetectBatch]. OpenCL devices must support float64.
	On boxsum.Device

	Workers  int                // maximum number of goroutines; 0 means GOMAXPROCS
	Level    boxsum.Level       // instruction set; the zero Level selects the best
	Context  context.Context    // cancels the work, see [boxsum.Options]; nil never cancels
	Progress func(done float64) // receives the fraction done, see [boxsum.Options]
}

// A Turn is a way to search for objects rotated by angles other than multiples of 45°.
type Turn int

const (
	// TurnImage rotates the image, once for each remainder modulo 45°.
	TurnImage Turn = iota
	// TurnTables computes rotated tables of the unrotated image: boxes of the cascade lie
	// along digital lines, as in package rotated, and are weighted by their exact areas.
	// Each angle is replaced by the nearest one whose tangent is a ratio of integers up to
	// 5. It finds nearly as much as TurnImage and takes longer. Cascades with tilted
	// features do not support it.
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
		return raster.Invalid("window sizes are %v to %v, want 0 or more", o.Min, o.Max)
	case o.NearMisses < 0:
		return raster.Invalid("near misses is %d stages, want 0 or more", o.NearMisses)
	case !(to.Contrast > 0 && to.Contrast <= 255):
		return raster.Invalid("contrast is %v, want more than 0 and at most 255, or 0 for %d", o.Contrast, usualContrast)
	case o.Turn != TurnImage && o.Turn != TurnTables:
		return raster.Invalid("unknown Turn %d, want TurnImage or TurnTables", o.Turn)
	case o.Limit < 0:
		return raster.Invalid("limit is %d windows, want 1 or more, or 0 for %d", o.Limit, usualLimit)
	}
	return o.checkAngles()
}
