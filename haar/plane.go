package haar

import (
	"fmt"
	"image"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/rotated"
)

// Number is what a value is: int64 from tables of integers, float64 from any.
type Number interface{ int64 | float64 }

// A Plane is where features are evaluated: one channel of an image, by way of
// its table, along a pair of axes. V is the type of the values and S that of
// the sums.
//
// A plane shares the memory of its table. It stays good when the next image is
// integrated into the same table, and is safe for use by several goroutines as
// long as none does that.
type Plane[V Number, S boxsum.Sum] struct {
	view
	table *boxsum.Table[S]
	grid  mesh[S] // of table, at its origin

	// A plane that is not upright has these instead of a table.
	turned  *rotated.Table[S]
	channel int
}

// A view is what does not depend on types.
type view struct {
	size    image.Point      // of the image
	upright bool             // or it has a lattice
	lattice *rotated.Lattice // of a plane that is not upright
	reverse bool             // see axes
}

// seen is the plane's, nil of none.
func (p *Plane[V, S]) seen() *view {
	if p == nil {
		return nil
	}
	return &p.view
}

// Upright is the plane of a channel along the rows and columns of its image:
//
//	plane, err := haar.Upright[int64](table, 0)
//
// Values of type int64 from a table of floats are a [boxsum.ErrTypes].
func Upright[V Number, S boxsum.Sum](table *boxsum.Table[S], channel int) (*Plane[V, S], error) {
	if table == nil {
		return nil, errNoTable
	}
	if err := check[V, S](channel, table.Channels); err != nil {
		return nil, err
	}
	// No boxes at all: this only checks the table against its memory.
	if err := table.SumBoxes(nil, nil); err != nil {
		return nil, err
	}
	return &Plane[V, S]{
		view:  view{size: image.Pt(table.Width, table.Height), upright: true},
		table: table,
		grid:  mesh[S]{sums: table.Sums[channel:], stride: table.Stride, step: table.Channels},
	}, nil
}

// Rotated is the plane of a channel along the digital lines of a rotation: its
// x axis climbs to the right by the rotation's angle, falling where that is
// negative, and its y axis goes down across it.
//
//	table, err := rotated.Integrate[uint32](img, rotated.Rotation{A: 1, B: 2}, nil)
//	plane, err := haar.Rotated[int64](table, 0)
func Rotated[V Number, S boxsum.Sum](table *rotated.Table[S], channel int) (*Plane[V, S], error) {
	if table == nil || table.Lattice == nil {
		return nil, errNoTable
	}
	if err := check[V, S](channel, table.Channels); err != nil {
		return nil, err
	}
	return &Plane[V, S]{view: viewOf(table.Lattice), turned: table, channel: channel}, nil
}

func viewOf(l *rotated.Lattice) (v view) {
	v.lattice, v.reverse = l, axesOf(l.Rotation()).reverse
	v.size.X, v.size.Y = l.Size()
	return v
}

// check refuses values that sums cannot give, and a channel that a table lacks.
func check[V Number, S boxsum.Sum](channel, channels int) error {
	if S(1)/2 != 0 && V(1)/2 == 0 {
		return grid.Types("values of %T from sums of %T; ask for float64", V(0), S(0))
	}
	if channel < 0 || channel >= channels {
		return grid.Invalid("channel %d of %d", channel, channels)
	}
	return nil
}

var (
	errNoTable = grid.Invalid("no table")
	errNoPlane = grid.Invalid("no plane; Upright and Rotated make one")
)

// check reports whether a window can start at these pixels.
func (p *view) check(w *window, at ...image.Point) error {
	if p == nil || !p.upright && p.lattice == nil {
		return errNoPlane
	}
	if rot := p.rotation(); w.turned() && rot != w.rot {
		return grid.Invalid("features along %v on a plane along %v", w.rot, rot)
	}
	for _, a := range at {
		if w.turned() {
			if !p.holds(a, int(w.width), int(w.height)) {
				return p.outside(w, a)
			}
		} else if !p.inside(a, w.bounds()) {
			return p.outside(w, a)
		}
	}
	return nil
}

func (p *view) outside(what any, at image.Point) error {
	along := ""
	if rot := p.rotation(); rot.A != 0 {
		along = fmt.Sprintf(" along %v", rot)
	}
	if w, ok := what.(*window); ok {
		what = fmt.Sprint("a window of ", w)
		if w.turned() {
			along = ""
		}
	}
	return grid.Invalid("%v at %v%s is not inside of the image of %d×%d", what, at, along, p.size.X, p.size.Y)
}

// rotation is the plane's, 0/1 of an upright one.
func (p *view) rotation() rotated.Rotation {
	if p.lattice == nil {
		return upright
	}
	return p.lattice.Rotation()
}

// holds reports whether the image has all pixels of an upright rectangle.
func (p *view) holds(at image.Point, width, height int) bool {
	return at.X >= 0 && at.Y >= 0 && at.X <= p.size.X-width && at.Y <= p.size.Y-height
}

// inside reports whether a box of lines about a pixel of the image holds none but
// pixels of it.
func (p *view) inside(at image.Point, box image.Rectangle) bool {
	if p.lattice == nil {
		// at may be as far out as can be: it is compared and not added to.
		return at.X >= -box.Min.X && at.Y >= -box.Min.Y && at.X <= p.size.X-box.Max.X && at.Y <= p.size.Y-box.Max.Y
	}
	// No two pixels of the image are as many lines apart as this.
	far := p.size.X + p.size.Y
	if !box.In(image.Rect(-far, -far, far, far)) || !p.holds(at, 1, 1) {
		return false
	}
	// A line is less than a pixel away from the next: most boxes are far enough
	// from the image's edges for that to tell.
	reach := max(-box.Min.X, box.Max.X) + max(-box.Min.Y, box.Max.Y) + 4
	if at.X >= reach && at.Y >= reach && at.X < p.size.X-reach && at.Y < p.size.Y-reach {
		return true
	}
	return p.latticeInside(Cells(p.lattice, box, at))
}

// at is the entries of the table about a window that starts at a pixel.
func (p *Plane[V, S]) at(a image.Point) mesh[S] {
	g := p.grid
	g.origin = a.Y*g.stride + a.X*g.step
	return g
}
