package rotated

import (
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/exact"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
)

//go:generate go run github.com/boxsum/boxsum/internal/pairs/expand -out made.go -template ../internal/kinds/made.tmpl -with rotated
//go:generate go run github.com/boxsum/boxsum/internal/pairs/expand -out options.go -template ../internal/kinds/options.tmpl -with rotated
//go:generate go run github.com/boxsum/boxsum/internal/pairs/expand -out queries.go -template ../internal/kinds/queries.tmpl -with rotated

// A Table is the summed-area table of an image along the lines of its
// [Lattice]. It comes from [NewTable] or [Integrate], and its fields are for
// reading. It is safe for use by several goroutines as long as none integrates
// into it.
type Table[S boxsum.Sum] struct {
	*Lattice
	Width, Height int // of the image
	Channels      int

	frame frame

	// corners holds a sum for every pixel, line by line as in the image: that of
	// all pixels in its row or above, and in its column or a higher one.
	corners plane[S]
	// empty holds the same for the cells without a pixel: those above the first
	// pixel of a run, in each line that steps. There is one a run. Where no more
	// than three lines that step follow each other, it is not needed: see
	// emptyCorner.
	empty plane[S]
	// rows and columns hold the sums of all pixels up to a row, and from a column
	// on.
	rows, columns []S

	pixels exact.Pixels
}

// A plane is lines of sums, each from a cache line on, with room beyond them.
type plane[S boxsum.Sum] struct {
	sums   []S
	lead   int // elements before the first line
	stride int
}

// line is a line and what follows. It begins before elements early.
func (p *plane[S]) line(y, before int) []S { return p.sums[p.lead+y*p.stride-before:] }

// NewTable allocates a table for an image of this size. Zero channels stand for one.
func NewTable[S boxsum.Sum](width, height, channels int, rot Rotation) (*Table[S], error) {
	e := grid.Plane(width, height, channels, 0)
	if err := e.Sized(); err != nil {
		return nil, err
	}
	l, err := NewLattice(width, height, rot)
	if err != nil {
		return nil, err
	}
	t := &Table[S]{Lattice: l, Width: width, Height: height, Channels: e.Channels}
	return grid.OrNil(t, t.allocate())
}

func (t *Table[S]) allocate() (err error) {
	if t.frame, err = newFrame(t.Lattice); err != nil || t.Width == 0 || t.Height == 0 {
		return err
	}
	f := &t.frame
	if t.corners, err = newPlane[S](t.Height, t.Width, t.Channels); err != nil {
		return err
	}
	if steps := int(f.overs[t.Height-1]); steps > 0 && 4*int64(t.view.a) > 3*int64(t.view.b) {
		if t.empty, err = newPlane[S](steps, f.runs, t.Channels); err != nil {
			return err
		}
	}
	if t.rows, err = allocate[S](f.rows * t.Channels); err == nil {
		t.columns, err = allocate[S]((t.Width - f.first()) * t.Channels)
	}
	return err
}

func newPlane[S boxsum.Sum](lines, n, channels int) (plane[S], error) {
	if n > (math.MaxInt/64/(lines+2)-64)/channels {
		return plane[S]{}, grid.Invalid("a table of %d×%d with %d channels is more than memory can hold", n, lines, channels)
	}
	block := kernel.RotatedSlack(channels)
	p := plane[S]{lead: 2 * block, stride: grid.RoundUp(n*channels, block) + block}
	var err error
	p.sums, err = allocate[S](lines*p.stride + 4*block)
	return p, err
}

// allocate is a part of a table or of a lattice.
func allocate[T any](n int) ([]T, error) {
	s, err := grid.Make[T](n)
	if err != nil {
		return nil, grid.OutOfMemory("a rotated table: %w", err)
	}
	return s, nil
}

// SumChannel is the sum of one channel over a box. The sum of a channel that
// the image does not have is 0.
func (t *Table[S]) SumChannel(box Box, channel int) S {
	box = box.Intersect(t.Bounds())
	if box.Empty() || uint(channel) >= uint(t.Channels) {
		return 0
	}
	box = t.frame.place(t.Lattice, box)
	return t.at(box.C0, box.R1-1, channel) - t.at(box.C1, box.R1-1, channel) -
		t.at(box.C0, box.R0-1, channel) + t.at(box.C1, box.R0-1, channel)
}

// at is the sum of all pixels up to a row of the frame and from a column on,
// which is where two digital lines cross. Left of the image the column is before
// all that the row has, and right of it the row after all that the column has.
// Below it what is missing of the rows are the columns before, which are
// complete.
func (t *Table[S]) at(column, row, channel int) S {
	f, n := &t.frame, t.Channels
	first := -int(f.overs[f.height-1])
	switch {
	case row < 0 || column >= f.width:
		return 0
	case column <= first:
		return t.rows[row*n+channel]
	case row == f.rows-1:
		return t.columns[(column-first)*n+channel]
	}
	x, y, empty := f.find(column, row)
	switch {
	case y >= f.height:
		return t.rows[row*n+channel] - (t.columns[channel] - t.columns[(column-first)*n+channel])
	case x < 0 || x == 0 && empty:
		return t.rows[row*n+channel]
	case x >= f.width:
		return t.columns[(column-first)*n+channel]
	case !empty:
		return t.corner(x, y, channel)
	case y == 0:
		return 0
	}
	return t.emptyCorner(x, y, channel)
}

func (t *Table[S]) corner(x, y, channel int) S {
	return t.corners.sums[t.corners.lead+y*t.corners.stride+t.frame.memory(x)*t.Channels+channel]
}

// emptyCorner is the sum at the empty cell above a pixel. Its neighbours are the
// cells of (x−1, y−1), above it, and of (x, y−1), after it. Both together count
// what is above the latter twice: that is (x, y−2), or another empty cell if line
// y−1 steps too.
func (t *Table[S]) emptyCorner(x, y, channel int) S {
	f := &t.frame
	if t.empty.sums != nil {
		run := int(f.run[f.memory(x)])
		return t.empty.sums[t.empty.lead+(int(f.overs[y])-1)*t.empty.stride+run*t.Channels+channel]
	}
	above, after := t.corner(x-1, y-1, channel), t.corner(x, y-1, channel)
	if f.steps(y - 1) {
		return above + (after - t.emptyCorner(x, y-1, channel))
	}
	return above + (after - t.corner(x, y-2, channel))
}

// The methods of a lattice, also for a nil table: it has the lattice of no pixels.

// Rotation is [Lattice.Rotation].
func (t *Table[S]) Rotation() Rotation { return t.lattice().Rotation() }

// Size is [Lattice.Size].
func (t *Table[S]) Size() (width, height int) { return t.lattice().Size() }

// Bounds is [Lattice.Bounds].
func (t *Table[S]) Bounds() Box { return t.lattice().Bounds() }

// Cell is [Lattice.Cell].
func (t *Table[S]) Cell(x, y int) (c, r int) { return t.lattice().Cell(x, y) }

// Point is [Lattice.Point].
func (t *Table[S]) Point(c, r int) (x, y int, ok bool) { return t.lattice().Point(c, r) }

// FromRectangle is [Lattice.FromRectangle].
func (t *Table[S]) FromRectangle(rect Rectangle) (Box, error) { return t.lattice().FromRectangle(rect) }

// Area is [Lattice.Area].
func (t *Table[S]) Area(box Box) int64 { return t.lattice().Area(box) }

// CornerArea is [Lattice.CornerArea].
func (t *Table[S]) CornerArea(c, r int) int64 { return t.lattice().CornerArea(c, r) }

func (t *Table[S]) lattice() *Lattice {
	if t == nil {
		return nil
	}
	return t.Lattice
}
