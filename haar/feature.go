package haar

import (
	"fmt"
	"image"
	"math"

	"github.com/boxsum/boxsum/internal/raster"
)

// A Feature is a few weighted boxes at a position in a window. Features can be
// compared with == and used as map keys. The zero Feature is not a valid
// feature.
type Feature struct {
	kind Kind
	x, y [4]int32 // positions of the lines that bound the boxes, relative to the corner of the window
}

// A Box is one of the weighted rectangles that make up a feature. Its sides are
// parallel to the axes of the plane on which the feature is evaluated.
type Box struct {
	Bounds image.Rectangle // relative to the top left corner of the window
	Weight int
}

// New returns the feature of a kind that covers bounds. The bounds are relative
// to the top left corner of the window, and may be negative if the axes are
// rotated. Their width and height must be multiples of the numbers of cells
// that [Kind.Cells] returns. New returns an error if they are not, if bounds is
// empty, or if a coordinate is not from -2^30 to 2^30.
func New(kind Kind, bounds image.Rectangle) (Feature, error) {
	if !kind.known() {
		return Feature{}, raster.Invalid("unknown %v, want one that Kinds lists", kind)
	}
	if !bounds.In(image.Rect(-maxLine, -maxLine, maxLine, maxLine)) {
		return Feature{}, raster.Invalid("%v has bounds %v, want coordinates from %d to %d", kind, bounds, -maxLine, maxLine)
	}
	across, down := kind.Cells()
	if bounds.Empty() || bounds.Dx()%across != 0 || bounds.Dy()%down != 0 {
		return Feature{}, raster.Invalid("%v has bounds %v, want a size that is a multiple of %d×%d pixels", kind, bounds, across, down)
	}
	return newFeature(kind, int32(bounds.Min.X), int32(bounds.Min.Y), int32(bounds.Dx()/across), int32(bounds.Dy()/down)), nil
}

// maxLine is the maximum distance of a line from the corner of the window. It
// ensures that the size of a feature fits 32 bits too.
const maxLine = 1 << 30

// newFeature returns the feature with its top left corner at (x, y) and cells
// of dx×dy.
func newFeature(kind Kind, x, y, dx, dy int32) Feature {
	f, s := Feature{kind: kind}, &shapes[kind]
	for i, cells := range s.x {
		f.x[i] = x + cells*dx
	}
	for i, cells := range s.y {
		f.y[i] = y + cells*dy
	}
	return f
}

// Kind returns the kind of the feature.
func (f Feature) Kind() Kind { return f.kind }

// Bounds returns the bounds of the feature relative to the top left corner of
// the window.
func (f Feature) Bounds() image.Rectangle {
	if !f.kind.known() {
		return image.Rectangle{}
	}
	s := &shapes[f.kind]
	return f.box(&part{x1: len(s.x) - 1, y1: len(s.y) - 1})
}

// Boxes returns the boxes of the feature and their weights. The boxes of EdgeX,
// LineX and LineX4 are ordered from left to right, those of EdgeY, LineY and
// LineY4 from top to bottom, and those of Diagonal clockwise from the top left.
// CenterSurround has two boxes: the whole, with weight −1, and the center, with
// weight 2. Together they give the center minus the surround.
func (f Feature) Boxes() []Box {
	if !f.kind.known() {
		return nil
	}
	s := &shapes[f.kind]
	boxes := make([]Box, len(s.boxes))
	for i, p := range s.boxes {
		boxes[i] = Box{f.box(&p), p.weight}
	}
	return boxes
}

func (f *Feature) box(p *part) image.Rectangle {
	return image.Rectangle{
		Min: image.Point{X: int(f.x[p.x0]), Y: int(f.y[p.y0])},
		Max: image.Point{X: int(f.x[p.x1]), Y: int(f.y[p.y1])},
	}
}

// String returns the kind and the bounds of the feature.
func (f Feature) String() string { return fmt.Sprint(f.kind, " ", f.Bounds()) }

// Scale returns the feature scaled by a factor, together with its window. Each
// line between boxes moves to the nearest whole pixel, halves up, so the boxes
// still meet but may differ in size; [Plane.Corrected] compensates for such
// differences. Scale returns an error if the factor is so small that a box
// would vanish.
func (f Feature) Scale(factor float64) (Feature, error) {
	if !f.kind.known() {
		return Feature{}, errNone
	}
	s, scaled := &shapes[f.kind], Feature{kind: f.kind}
	for _, axis := range []struct{ from, to []int32 }{
		{f.x[:len(s.x)], scaled.x[:]},
		{f.y[:len(s.y)], scaled.y[:]},
	} {
		for i, line := range axis.from {
			var err error
			if axis.to[i], err = scaleLine(line, factor); err != nil {
				return Feature{}, err
			}
			if i > 0 && axis.to[i] == axis.to[i-1] {
				return Feature{}, raster.Invalid("factor is %v, too small for %v: one of its boxes would be empty", factor, f)
			}
		}
	}
	return scaled, nil
}

func scaleLine(line int32, factor float64) (int32, error) {
	if !(factor > 0) || math.IsInf(factor, 1) {
		return 0, raster.Invalid("factor is %v, want a positive finite number", factor)
	}
	scaled := math.Floor(float64(float64(line)*factor) + 0.5) // rounded twice on every machine, never fused
	if math.Abs(scaled) > maxLine {
		return 0, raster.Invalid("factor is %v, too large for coordinate %d: want at most %d after scaling", factor, line, maxLine)
	}
	return int32(scaled), nil
}
