package detect

import (
	"context"
	"image"
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
)

// Options says what to find and how; nil and the zero value mean the usual.
type Options struct {
	// Scale is the ratio of one size of windows to the next; 0 stands for 1.1.
	Scale float64
	// Neighbors is how many windows a result stands for, less one; 0 stands for 3. It is
	// OpenCV's minNeighbors.
	Neighbors int
	// Ungrouped gives every window that passes as a result of its own, as OpenCV does for
	// 0 neighbors.
	Ungrouped bool
	// Min and Max are the least and the greatest size of windows. A Max with a zero is the
	// image's size. Where no size of windows lies between them, the nearest to Min is taken.
	Min, Max image.Point
	// Angles is how far objects may be turned, in degrees clockwise; nil stands for upright
	// ones only. An object is found at the angles that are within some 12° of its own: for
	// any, use [AllAngles]. Multiples of 45° are searched in the image as it is; for each
	// other remainder it is turned once. With others, 0 is searched as they are: in large
	// sizes at every other place of the upright search, and at all that are beside a find.
	Angles []float64
	// Turn is how objects between multiples of 45° are searched.
	Turn Turn
	// Mirror finds objects too that are as in a mirror, such as profiles that look the other
	// way, on the same tables. [Result.Mirrored] tells.
	Mirror bool
	// EachAngle searches every angle by itself. Otherwise one that lies between two multiples
	// of 45°, if Angles has both, is searched where the first stages of either pass.
	EachAngle bool
	// Ignore is what to leave out: windows whose middle is in one of these are not found.
	Ignore []image.Rectangle
	// NearMisses gives windows too that fail in one of so many last stages. They come after
	// the results, which they do not change, and are grouped like them.
	NearMisses int
	// Contrast is the standard deviation that the pixels of a window exceed; 0 stands for
	// 10, which is OpenCV's. Smaller ones find objects in poor light, and take longer.
	// Local binary patterns have none.
	Contrast float64
	// Limit is how many windows may pass, before grouping: more are an error. 0 stands for
	// 1<<20.
	Limit int
	// Compat searches no window that OpenCV does not: it may lose the last row. Negative
	// sizes, which are an error otherwise, mean what they do there.
	Compat bool
	// BGR says that the channels of an image are blue, green and red, not red, green and
	// blue.
	BGR bool

	Workers  int                // goroutines at once, at most; 0 stands for GOMAXPROCS
	Level    boxsum.Level       // the instruction set; the zero Level is the best
	Context  context.Context    // stops the work, see [boxsum.Options]; nil never does
	Progress func(done float64) // is told how much is done, see [boxsum.Options]
}

// A Turn is a way to search for objects that are turned by other angles than multiples of 45°.
type Turn int

const (
	// TurnImage turns the image, once for each remainder of 45°.
	TurnImage Turn = iota
	// TurnTables makes rotated tables of the image as it is: boxes of the cascade lie along
	// digital lines as in package rotated, and count by their exact areas. An angle stands for
	// the nearest whose tangent is a ratio of numbers up to 5. It finds nearly as much and takes
	// longer. Cascades with tilted features have no such tables.
	TurnTables
)

// usual is what zero values stand for.
const (
	usualScale     = 1.1
	usualNeighbors = 3
	usualContrast  = 10
	usualLimit     = 1 << 20
	maxScales      = 1 << 12
)

// check fills in what zero values stand for, and reports what is wrong.
func (o *Options) check(to *Options, set *engine.Settings) (err error) {
	if o == nil {
		o = new(Options)
	}
	*to = *o
	opt := engine.Options{Workers: o.Workers, Level: o.Level.String(), Context: o.Context, Progress: o.Progress}
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
		return grid.Invalid("a scale of %v: use more than 1, such as 1.1", o.Scale)
	case o.Neighbors < 0:
		return grid.Invalid("%d neighbors: use 1 or more, or Ungrouped for windows as they are found", o.Neighbors)
	case !o.Compat && (o.Min.X < 0 || o.Min.Y < 0 || o.Max.X < 0 || o.Max.Y < 0):
		return grid.Invalid("windows from %v to %v: sizes are not negative", o.Min, o.Max)
	case o.NearMisses < 0:
		return grid.Invalid("near misses in the last %d stages: use 0 or more", o.NearMisses)
	case !(to.Contrast > 0 && to.Contrast <= 255):
		return grid.Invalid("a contrast of %v: use more than 0, and 255 at most", o.Contrast)
	case o.Turn != TurnImage && o.Turn != TurnTables:
		return grid.Invalid("%d is no way to turn: use TurnImage or TurnTables", o.Turn)
	case o.Limit < 0:
		return grid.Invalid("a limit of %d windows: use 1 or more", o.Limit)
	}
	return o.checkAngles()
}
