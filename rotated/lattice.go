package rotated

import (
	"fmt"
	"math"

	"github.com/boxsum/boxsum/internal/raster"
)

// A Box contains the cells of a lattice with C0 ≤ c < C1 and R0 ≤ r < R1. It is
// empty if C0 ≥ C1 or R0 ≥ R1.
type Box struct{ C0, R0, C1, R1 int }

// Empty reports whether the box contains no cells.
func (b Box) Empty() bool { return b.C0 >= b.C1 || b.R0 >= b.R1 }

// Intersect returns the box of the cells that b and o share, or the zero Box if
// there are none.
func (b Box) Intersect(o Box) Box {
	b = Box{max(b.C0, o.C0), max(b.R0, o.R0), min(b.C1, o.C1), min(b.R1, o.R1)}
	if b.Empty() {
		return Box{}
	}
	return b
}

// String returns the box as C0,R0,C1,R1.
func (b Box) String() string { return fmt.Sprintf("%d,%d,%d,%d", b.C0, b.R0, b.C1, b.R1) }

// A Lattice describes the cells of a rotation over an image of a given size. It
// can tell the positions of pixels and the number of pixels in a box, but not
// their values.
type Lattice struct {
	rot    Rotation
	view   view
	bounds Box
	areas  areas
}

// maxSide keeps the cells of an image inside 32 bits.
const maxSide = 1 << 30

// NewLattice returns the lattice of a rotation over an image of the given size.
// It returns an error that wraps [boxsum.ErrInvalid] if a side is negative or
// too large, or for the reasons of [Rotation.Reduce].
func NewLattice(width, height int, rot Rotation) (*Lattice, error) {
	rot, err := rot.Reduce()
	if err != nil {
		return nil, err
	}
	if width < 0 || height < 0 || width > maxSide || height > maxSide {
		return nil, raster.Invalid("image is %d×%d, want sides of 0 to %d", width, height, maxSide)
	}
	if height > 0 && width > math.MaxInt/16/height {
		return nil, raster.Invalid("an image of %d×%d does not fit in memory", width, height)
	}
	l := &Lattice{rot: rot, view: newView(width, height, rot)}
	if w := &l.view; w.nu > 0 && w.nv > 0 {
		l.bounds = Box{C0: -w.slope(w.nv - 1), C1: w.nu, R1: w.nv + w.slope(w.nu-1)}
		if l.areas, err = newAreas(w); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// Rotation returns the rotation of the lattice, in lowest terms.
func (l *Lattice) Rotation() Rotation { return l.orNone().rot }

// Size returns the width and height of the image.
func (l *Lattice) Size() (width, height int) {
	l = l.orNone()
	return l.view.width, l.view.height
}

// Bounds returns the smallest box that contains every pixel of the image.
func (l *Lattice) Bounds() Box { return l.orNone().bounds }

// none is the lattice of an image without pixels, for uninitialized tables.
var none, _ = NewLattice(0, 0, Rotation{0, 1})

func (l *Lattice) orNone() *Lattice {
	if l == nil || l.view.b == 0 {
		return none
	}
	return l
}

// Cell returns the cell of the pixel at (x, y). The pixel may lie outside the
// image by up to 2^30 pixels.
func (l *Lattice) Cell(x, y int) (c, r int) {
	l = l.orNone()
	u, v := l.view.toView(x, y)
	return u - l.view.slope(v), v + l.view.slope(u)
}

// Point returns the pixel of a cell. If the cell is empty or its pixel is
// outside the image, ok is false and (x, y) is a pixel next to the cell.
func (l *Lattice) Point(c, r int) (x, y int, ok bool) {
	w := &l.orNone().view
	const far = math.MaxInt32 // beyond every image
	c, r = min(max(c, -far), far), min(max(r, -far), far)
	t := w.tangent()
	near := int(math.Round((float64(r) - t*float64(c)) / (1 + t*t)))
	for v := near - 2; v <= near+2; v++ {
		if u := c + w.slope(v); v+w.slope(u) == r {
			x, y = w.toPixel(u, v)
			return x, y, u >= 0 && u < w.nu && v >= 0 && v < w.nv
		}
	}
	x, y = w.toPixel(c+w.slope(near), near)
	return x, y, false
}
