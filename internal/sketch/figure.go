package sketch

import (
	"image"
	"math"

	"github.com/boxsum/boxsum/haar"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/rotated"
)

// A Figure describes what to draw.
type Figure struct {
	// Image is drawn under the boxes; its upper left pixel is pixel (0, 0) of the lattice. Nil means a blank sheet on
	// which alternate groups of four rows of the lattice are shaded.
	Image image.Image

	// Lattice determines the positions of the boxes' cells. It has the size of the image.
	Lattice *rotated.Lattice

	Boxes []Box

	// Outlines are drawn as dashed lines for comparison.
	Outlines []rotated.Rectangle

	// View is the range of pixels to show; an empty one means all.
	View image.Rectangle

	// Scale is the width of an image pixel in pixels of the picture. Zero chooses a scale for a picture of about 1000
	// pixels in width or height, but at most 48.
	Scale int
}

// A Box is a box of cells of a lattice, with the weight of their pixels. Weights of overlapping boxes add up.
type Box struct {
	rotated.Box
	Weight int
}

// Feature returns the boxes of a feature in the window that starts at a pixel.
func Feature(l *rotated.Lattice, f haar.Feature, at image.Point) []Box {
	var boxes []Box
	for _, b := range f.Boxes() {
		boxes = append(boxes, Box{haar.Cells(l, b.Bounds, at), b.Weight})
	}
	return boxes
}

// Around returns the range of pixels that boxes cover, with a margin in pixels.
func Around(l *rotated.Lattice, boxes []Box, margin int) image.Rectangle {
	var all image.Rectangle
	for _, b := range boxes {
		if b.Empty() {
			continue
		}
		corners := Corners(l, b.Box)
		for _, p := range corners {
			x, y := clampInt(p.X), clampInt(p.Y)
			all = all.Union(image.Rect(x, y, x+1, y+1))
		}
	}
	width, height := l.Size()
	return all.Inset(-margin).Intersect(image.Rect(0, 0, width, height))
}

// Middle returns the pixel at which a window must start for features within bounds to be in the center of the image.
func Middle(l *rotated.Lattice, bounds image.Rectangle) image.Point {
	sin, cos := math.Sincos(l.Rotation().Degrees() * math.Pi / 180)
	distance := max(math.Abs(sin), cos) // distance between two lines, in pixels
	x, y := distance*float64(bounds.Min.X+bounds.Max.X-1)/2, distance*float64(bounds.Min.Y+bounds.Max.Y-1)/2
	width, height := l.Size()
	return image.Pt(clampInt(float64(width)/2-(x*cos+y*sin)), clampInt(float64(height)/2-(y*cos-x*sin)))
}

const (
	wanted    = 1000    // longer side of a picture, in pixels
	mostScale = 48      // default limit
	most      = 1 << 26 // maximum number of pixels in a picture
)

// check fills in defaults, and returns an error if a figure is invalid.
func (f *Figure) check() error {
	if f.Lattice == nil {
		return raster.Invalid("nil lattice")
	}
	width, height := f.Lattice.Size()
	if f.Image != nil && (f.Image.Bounds().Dx() != width || f.Image.Bounds().Dy() != height) {
		return raster.Invalid("image is %d×%d, want %d×%d like the lattice", f.Image.Bounds().Dx(), f.Image.Bounds().Dy(), width, height)
	}
	all := image.Rect(0, 0, width, height)
	if f.View.Empty() {
		f.View = all
	}
	if f.View = f.View.Intersect(all); f.View.Empty() {
		return raster.Invalid("the part to draw is outside the image of %d×%d", width, height)
	}
	w, h := f.View.Dx(), f.View.Dy()
	if f.Scale == 0 {
		f.Scale = min(max(1, wanted/max(w, h)), mostScale)
	}
	if f.Scale < 0 || w > most/f.Scale || h > most/f.Scale/(w*f.Scale) {
		return raster.Invalid("picture has %d×%d pixels, each drawn %d wide, want at most %d pixels in all (show a smaller part, or make pixels smaller)", w, h, f.Scale, most)
	}
	return nil
}

// Count returns the number of pixels with positive and with negative weight. Where boxes overlap, a pixel counts only
// once.
func Count(l *rotated.Lattice, boxes []Box) (plus, minus int) {
	view := Around(l, boxes, 1)
	for y := view.Min.Y; y < view.Max.Y; y++ {
		for x := view.Min.X; x < view.Max.X; x++ {
			c, r := l.Cell(x, y)
			if weight, _ := weigh(boxes, c, r); weight > 0 {
				plus++
			} else if weight < 0 {
				minus++
			}
		}
	}
	return plus, minus
}

// weigh adds the weights of the boxes that contain a cell.
func weigh(boxes []Box, c, r int) (weight int, covered bool) {
	for i := range boxes {
		if b := &boxes[i]; c >= b.C0 && c < b.C1 && r >= b.R0 && r < b.R1 {
			weight += b.Weight
			covered = true
		}
	}
	return weight, covered
}
