package haar

import (
	"image"

	"github.com/boxsum/boxsum/rotated"
)

// axes is how the cells of a lattice become those of a plane. The lattices of
// package rotated look at the image in another way, (x, y) becoming (u, v), so
// that their ratio a/b is between 0 and 1. Some of these ways are reflections:
// there, x is the lattice's c counted backwards, so that a feature is turned by
// the rotation and never mirrored.
type axes struct {
	a, b             int
	mirror, exchange bool
	reverse          bool
}

// axesOf takes a reduced rotation.
func axesOf(rot rotated.Rotation) axes {
	x := axes{a: rot.A, b: rot.B}
	if x.mirror = x.a < 0; x.mirror {
		x.a = -x.a
	}
	if x.exchange = x.a > x.b; x.exchange {
		x.a, x.b = x.b, x.a
	}
	x.reverse = x.mirror != x.exchange
	return x
}

// offset is a distance between pixels in the view.
func (x *axes) offset(dx, dy int) image.Point {
	if x.mirror {
		dx = -dx
	}
	if x.exchange {
		return image.Pt(dy, dx)
	}
	return image.Pt(dx, dy)
}

// cells is the cells, as least and greatest c and r, that a pixel u and v away
// from another in the view may have, counted from the other's: depending on
// where that lies, ⌊a·(n+u)/b⌋ − ⌊a·n/b⌋ is a·u/b rounded down or up.
func (x *axes) cells(u, v int) (low, high image.Point) {
	uDown, uUp := x.slope(u)
	vDown, vUp := x.slope(v)
	return image.Pt(u-vUp, v+uDown), image.Pt(u-vDown, v+uUp)
}

// slope is a·n/b, rounded down and up.
func (x *axes) slope(n int) (down, up int) {
	p, b := int64(x.a)*int64(n), int64(x.b)
	down = int(p / b)
	if p%b < 0 {
		down--
	}
	if up = down; p%b != 0 {
		up++
	}
	return down, up
}
