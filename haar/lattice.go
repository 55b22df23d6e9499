package haar

import (
	"image"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/rotated"
)

// A rotated table has a different layout. Its entries are copied to a grid,
// each of them once: either the entries that a single feature needs, or those
// of a whole window if many features share them. After that, all planes are
// alike.

// Cells returns the cells of a lattice that a box of a feature covers on the
// plane of [Rotated], in a window whose top left pixel is at. The coordinates
// of box count lines along the axes of the plane, starting at that pixel. If
// package rotated mirrors the image for the rotation of the lattice, c
// decreases along the x axis of the plane, and Cells converts the coordinates
// accordingly.
func Cells(l *rotated.Lattice, box image.Rectangle, at image.Point) rotated.Box {
	c, r := l.Cell(at.X, at.Y)
	cells := rotated.Box{C0: c + box.Min.X, C1: c + box.Max.X, R0: r + box.Min.Y, R1: r + box.Max.Y}
	if axesOf(l.Rotation()).reverse {
		cells.C0, cells.C1 = c+1-box.Max.X, c+1-box.Min.X
	}
	return cells
}

// latticeInside reports whether the image contains all pixels that a box of
// cells would have in an infinite image. The outermost of these pixels lie in
// the corners of the box or, where a corner is empty, beside it, because no two
// adjacent cells are empty.
func (p *view) latticeInside(box rotated.Box) bool {
	if !p.filledInside(box, box.C0, box.R0, 1, 1) || !p.filledInside(box, box.C1-1, box.R0, -1, 1) {
		return false
	}
	return p.filledInside(box, box.C0, box.R1-1, 1, -1) && p.filledInside(box, box.C1-1, box.R1-1, -1, -1)
}

// filledInside reports whether the image contains the outermost pixels at one
// corner of the box. The cells next to the corner, inside the box, are dc and dr
// away.
func (p *view) filledInside(box rotated.Box, c, r, dc, dr int) bool {
	pixel := func(c, r int) (filled, inside bool) {
		x, y, inside := p.lattice.Point(c, r)
		if !inside {
			gotC, gotR := p.lattice.Cell(x, y)
			return gotC == c && gotR == r, false
		}
		return true, true
	}
	if filled, inside := pixel(c, r); filled {
		return inside
	}
	for _, next := range [2]image.Point{{X: c + dc, Y: r}, {X: c, Y: r + dr}} {
		if next.X < box.C0 || next.X >= box.C1 || next.Y < box.R0 || next.Y >= box.R1 {
			continue
		}
		if filled, inside := pixel(next.X, next.Y); filled && !inside {
			return false
		}
	}
	return true
}

// A place is the cell of a lattice at which a window starts.
type place struct {
	c, r    int
	reverse bool
}

func (p *view) place(at image.Point) place {
	c, r := p.lattice.Cell(at.X, at.Y)
	return place{c, r, p.reverse}
}

// corner returns the position on the lattice of a corner of boxes. If x counts
// c backwards, entries read there have the opposite sign.
func (p *place) corner(x, y int32) (c, r int) {
	if p.reverse {
		return p.c + 1 - int(x), p.r + int(y)
	}
	return p.c + int(x), p.r + int(y)
}

// cornersLen returns the number of corners in bounds.
func cornersLen(bounds image.Rectangle) int { return (bounds.Dx() + 1) * (bounds.Dy() + 1) }

// gather writes the entries at all corners of bounds to dst, row by row, and
// returns a grid of them.
func gather[T boxsum.Sum](dst []T, at place, bounds image.Rectangle, entry func(c, r int) T) mesh[T] {
	i, width := 0, bounds.Dx()+1
	for y := bounds.Min.Y; y <= bounds.Max.Y; y++ {
		for x := bounds.Min.X; x <= bounds.Max.X; x++ {
			dst[i] = entry(at.corner(int32(x), int32(y)))
			i++
		}
	}
	return mesh[T]{sums: dst, stride: width, step: 1, origin: -bounds.Min.Y*width - bounds.Min.X}
}

// entry returns the table's entry at a corner, and areaEntry returns that of
// the lattice.
func (p *Plane[V, S]) entry(c, r int) S {
	return signed(p.turned.Corner(c, r, p.channel), p.view.reverse)
}

func (p *view) areaEntry(c, r int) int64 {
	return signed(p.lattice.CornerArea(c, r), p.reverse)
}

func signed[T boxsum.Sum](v T, negative bool) T {
	if negative {
		return -v
	}
	return v
}

// readOwn copies the entries at a feature's own corners, numbered as if it had
// four lines in each direction, and evaluates the feature from them.
func readOwn[W Number, T boxsum.Sum](f *Feature, at place, entry func(c, r int) T) (plus, minus W) {
	const lines = 4
	var own [lines * lines]T
	s := &shapes[f.kind]
	for j := range s.y {
		for i := range s.x {
			if s.reads(i, j) {
				own[lines*j+i] = entry(at.corner(f.x[i], f.y[j]))
			}
		}
	}
	numbers := [lines]int32{0, 1, 2, 3}
	return read[W](&mesh[T]{sums: own[:], stride: lines, step: 1}, &Feature{kind: f.kind, x: numbers, y: numbers})
}

// axes maps the cells of a lattice to those of a plane. Package rotated maps
// (x, y) to (u, v) such that the ratio a/b is between 0 and 1. Some of these
// maps are reflections. In that case x counts the lattice's c backwards, so
// that the rotation turns a feature but never mirrors it.
type axes struct {
	a, b             int
	mirror, exchange bool
	reverse          bool
}

// axesOf returns the axes of a reduced rotation.
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

// offset returns the distance between two pixels in the view.
func (x *axes) offset(dx, dy int) image.Point {
	if x.mirror {
		dx = -dx
	}
	if x.exchange {
		return image.Pt(dy, dx)
	}
	return image.Pt(dx, dy)
}

// cells returns the least and the greatest c and r of a pixel relative to
// another one, from which it is u and v away in the view. They depend on the
// position of the latter: ⌊a·(n+u)/b⌋ − ⌊a·n/b⌋ is a·u/b rounded down or up.
func (x *axes) cells(u, v int) (low, high image.Point) {
	uDown, uUp := x.slope(u)
	vDown, vUp := x.slope(v)
	return image.Pt(u-vUp, v+uDown), image.Pt(u-vDown, v+uUp)
}

// slope returns a·n/b, rounded down and up.
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
