package rotated

import (
	"fmt"
	"math"

	"github.com/boxsum/boxsum/internal/raster"
)

// A Rectangle is a rectangle in the plane of the image, in pixels. Pixel (x, y)
// covers [x, x+1)×[y, y+1), so its center is at (x+½, y+½).
type Rectangle struct {
	X, Y          float64 // the center
	Width, Height float64
	Degrees       float64 // angle by which the width climbs to the right
}

// String returns a description of the rectangle.
func (r Rectangle) String() string {
	return fmt.Sprintf("rectangle of %g×%g around (%g, %g) at %g°", r.Width, r.Height, r.X, r.Y, r.Degrees)
}

// FromCorner returns the rectangle that is rotated about its upper left corner
// at (x, y), like the feature in figure 5 of Messom and Barczak.
func FromCorner(x, y, width, height, degrees float64) Rectangle {
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	return Rectangle{
		X:     x + (width*cos+height*sin)/2,
		Y:     y + (height*cos-width*sin)/2,
		Width: width, Height: height, Degrees: degrees,
	}
}

// FromRectangle returns the box of the lattice nearest to a rectangle. It
// applies equation 3 of Messom and Barczak to any ratio.
//
// The rectangle is first rotated about its center to the nearest axes of the
// lattice, by at most 45°; if those are nearest to a quarter turn, its sides
// are exchanged. Each of its four edges is then moved to the nearest digital
// line; an edge halfway between two lines moves to the one with the higher r or
// c. The sides of the box are therefore accurate to one line and depend on the
// position of the rectangle, as in the paper. A rectangle thinner than the
// distance between lines keeps the line that contains its center. The box may
// lie outside the image.
func (l *Lattice) FromRectangle(rect Rectangle) (Box, error) {
	l = l.orNone()
	for _, v := range []float64{rect.X, rect.Y, rect.Width, rect.Height, rect.Degrees} {
		if !(math.Abs(v) <= maxSide) {
			return Box{}, raster.Invalid("%v has numbers out of range, want at most %d in magnitude", rect, maxSide)
		}
	}
	if rect.Width <= 0 || rect.Height <= 0 {
		return Box{}, raster.Invalid("%v has no area, want a positive width and height", rect)
	}
	along, across := rect.Width, rect.Height
	if quarters := math.Round((rect.Degrees - l.rot.Degrees()) / 90); math.Mod(quarters, 2) != 0 {
		along, across = across, along
	}
	// From here on, pixels are points: (u, v) has integer coordinates.
	w := &l.view
	u, v := rect.X-0.5, rect.Y-0.5
	if w.mirror {
		u = float64(w.width-1) - u
	}
	if w.exchange {
		u, v = v, u
	}
	// The pixels of r0 ≤ r are those with r0 ≤ v + t·u, and the nearest other
	// pixel is 1/b away: the line between them is r0 − 1/2b. The pixels of c0 ≤
	// c are those with c0−1 < u − t·v.
	t := w.tangent()
	half := 0.5 / float64(w.b)
	scale := math.Sqrt(1 + t*t) // lines per pixel length
	var box Box
	box.R0, box.R1 = nearestLines(v+t*u+half, across*scale)
	box.C0, box.C1 = nearestLines(u-t*v+1-half, along*scale)
	return box, nil
}

// nearestLines returns the lines nearest to the ends of a length about a
// center, where line i is at i.
func nearestLines(center, length float64) (from, to int) {
	from = int(math.Floor(center - length/2 + 0.5))
	to = int(math.Floor(center + length/2 + 0.5))
	if from == to {
		from = int(math.Floor(center))
		to = from + 1
	}
	return from, to
}
