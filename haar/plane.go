package haar

import (
	"fmt"
	"image"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/rotated"
)

// Number is the type of values: int64 for tables of integers, float64 for any
// table.
type Number interface{ int64 | float64 }

// A Plane evaluates features on one channel of a table, along a pair of axes. V
// is the type of the values and S that of the sums.
//
// A plane shares the memory of its table. It remains valid when another image
// is integrated into the same table, and is safe for concurrent use as long as
// no goroutine does that.
type Plane[V Number, S boxsum.Sum] struct {
	view  view
	table *boxsum.Table[S]
	grid  mesh[S] // the entries of table, relative to its origin

	// A plane that is not upright has turned instead of a table.
	turned  *rotated.Table[S]
	channel int
}

// A view is the part of a plane that does not depend on types.
type view struct {
	size    image.Point      // of the image
	upright bool             // if not set, the plane has a lattice
	lattice *rotated.Lattice // of a plane that is not upright
	reverse bool             // x counts backwards, see axes
}

// viewOrNil returns the view of the plane, or nil for a nil plane.
func (p *Plane[V, S]) viewOrNil() *view {
	if p == nil {
		return nil
	}
	return &p.view
}

// Upright returns the plane of a channel along the rows and columns of its
// image:
//
//	plane, err := haar.Upright[int64](table, 0)
//
// Upright returns an error if the image has no such channel. If V is int64 and
// the table holds floats, it returns an error that wraps [boxsum.ErrTypes].
func Upright[V Number, S boxsum.Sum](table *boxsum.Table[S], channel int) (*Plane[V, S], error) {
	if table == nil {
		return nil, errNoTable
	}
	if err := check[V, S](channel, table.Channels); err != nil {
		return nil, err
	}
	// Without boxes, this call only checks the table.
	if err := table.SumBoxes(nil, nil); err != nil {
		return nil, err
	}
	return &Plane[V, S]{
		view:  view{size: image.Pt(table.Width, table.Height), upright: true},
		table: table,
		grid:  mesh[S]{sums: table.Sums[channel:], stride: table.Stride, step: table.Channels},
	}, nil
}

// Rotated returns the plane of a channel along the digital lines of a rotation.
// Its x axis climbs to the right by the angle of the rotation, or falls if the
// angle is negative, and its y axis goes down across it. Rotated returns an error
// if the image has no such channel, and one that wraps [boxsum.ErrTypes] if V is
// int64 and the table holds floats.
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

// check returns an error if sums cannot give values of type V or the table does
// not have the channel.
func check[V Number, S boxsum.Sum](channel, channels int) error {
	if S(1)/2 != 0 && V(1)/2 == 0 {
		return raster.Unsupported("values have type %T, want float64 for sums of %T", V(0), S(0))
	}
	if channel < 0 || channel >= channels {
		return raster.Invalid("channel is %d, want 0 to %d", channel, channels-1)
	}
	return nil
}

var (
	errNoTable = raster.Invalid("nil table")
	errNoPlane = raster.Invalid("zero Plane (use Upright or Rotated)")
)

// check returns an error if a window cannot start at one of these pixels.
func (p *view) check(w *window, at ...image.Point) error {
	if p == nil || !p.upright && p.lattice == nil {
		return errNoPlane
	}
	if rot := p.rotation(); w.turned() && rot != w.rot {
		return raster.Invalid("features are along %v, want %v like the plane", w.rot, rot)
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
	return raster.Invalid("%v at %v%s is outside the image of %d×%d", what, at, along, p.size.X, p.size.Y)
}

// rotation returns the rotation of the plane, which is 0/1 for an upright one.
func (p *view) rotation() rotated.Rotation {
	if p.lattice == nil {
		return upright
	}
	return p.lattice.Rotation()
}

// holds reports whether the image contains all pixels of an upright rectangle.
func (p *view) holds(at image.Point, width, height int) bool {
	return at.X >= 0 && at.Y >= 0 && at.X <= p.size.X-width && at.Y <= p.size.Y-height
}

// inside reports whether a box of lines relative to a pixel of the image
// contains only pixels of the image.
func (p *view) inside(at image.Point, box image.Rectangle) bool {
	if p.lattice == nil {
		// at may be any Point, and unlike an addition, a comparison cannot
		// overflow.
		return at.X >= -box.Min.X && at.Y >= -box.Min.Y && at.X <= p.size.X-box.Max.X && at.Y <= p.size.Y-box.Max.Y
	}
	// No two pixels of the image are this many lines apart.
	far := p.size.X + p.size.Y
	if !box.In(image.Rect(-far, -far, far, far)) || !p.holds(at, 1, 1) {
		return false
	}
	// Lines are less than a pixel apart, so this test suffices for most boxes:
	// those far from the edges of the image.
	reach := max(-box.Min.X, box.Max.X) + max(-box.Min.Y, box.Max.Y) + 4
	if at.X >= reach && at.Y >= reach && at.X < p.size.X-reach && at.Y < p.size.Y-reach {
		return true
	}
	return p.latticeInside(Cells(p.lattice, box, at))
}

// at returns the entries of the table relative to a window that starts at a
// pixel.
func (p *Plane[V, S]) at(a image.Point) mesh[S] {
	g := p.grid
	g.origin = a.Y*g.stride + a.X*g.step
	return g
}
