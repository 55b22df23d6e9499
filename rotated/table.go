package rotated

import (
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/stats"
)

// A Table is the summed-area table of an image along the lines of its [Lattice].
// Use [NewTable] or [Integrate] to make one. Its fields are read-only, except
// Bound. It is safe for concurrent use as long as no goroutine integrates into it.
type Table[S boxsum.Sum] struct {
	*Lattice
	Width, Height int // size of the image in pixels
	Channels      int

	// Bound is the largest possible magnitude of the summed pixels, or of their
	// squares in a table of squares: 255 and 255·255 for bytes. Integrate sets it
	// from the type of the pixels. Means and variances of boxes whose sum may exceed
	// the sum type are then computed in parts.
	//
	// If Bound is 0, the pixels are assumed to be uint8 for uint32 sums, uint32 for
	// uint64 sums, and int32 for int64 sums.
	// Float sums ignore it.
	Bound uint64

	arrayTarget // for callers that learn the type of the pixels at run time
	frame       frame

	// corners holds a sum for every pixel, line by line as in the image: that of
	// all pixels in its row or above, and in its column or a higher one.
	corners plane[S]
	// empty holds the same for the cells without a pixel above the first pixel of a
	// run, one per run, in each line that steps. It is not needed if at most three
	// consecutive lines step: see emptyCorner.
	empty plane[S]
	// rows and columns hold the sums of all pixels up to a row, and from a column
	// on.
	rows, columns []S
}

type arrayTarget = engine.Target

// A plane holds lines of sums, each aligned to a cache line, with room around them.
type plane[S boxsum.Sum] struct {
	sums   []S
	lead   int // elements before the first line
	stride int
}

// line returns line y and all that follows, starting before elements earlier.
func (p *plane[S]) line(y, before int) []S { return p.sums[p.lead+y*p.stride-before:] }

// memory returns the memory of the plane without its type.
func (p *plane[S]) memory() lines {
	size := raster.SizeOf[S]()
	return lines{data: raster.Bytes(p.sums), lead: p.lead * size, stride: p.stride * size, size: size}
}

// array returns the lines as an image of so many entries in a line.
func (p *plane[S]) array(width, height, channels int) raster.Array {
	return raster.ArrayOf(p.line(0, 0), raster.PlaneExtent(width, height, channels, p.stride))
}

// known returns what is known about the pixels of the table.
func (t *Table[S]) known() stats.Pixels { return stats.Pixels{Bound: t.Bound} }

// NewTable allocates a table for an image of the given size along the lines of a
// rotation. Zero channels means one.
func NewTable[S boxsum.Sum](width, height, channels int, rot Rotation) (*Table[S], error) {
	e := raster.PlaneExtent(width, height, channels, 0)
	if err := e.CheckSize(); err != nil {
		return nil, err
	}
	l, err := NewLattice(width, height, rot)
	if err != nil {
		return nil, err
	}
	t := &Table[S]{Lattice: l, Width: width, Height: height, Channels: e.Channels}
	t.arrayTarget = engine.NewTarget(receiver[S]{t})
	return raster.OrNil(t, t.allocate())
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
		return plane[S]{}, raster.Invalid("a table of %d×%d with %d channels does not fit in memory", n, lines, channels)
	}
	block := kernel.RotatedSlack(channels)
	p := plane[S]{lead: 2 * block, stride: raster.RoundUp(n*channels, block) + block}
	var err error
	p.sums, err = allocate[S](lines*p.stride + 4*block)
	return p, err
}

// allocate allocates memory for a table or a lattice.
func allocate[T any](n int) ([]T, error) {
	s, err := raster.Make[T](n)
	if err != nil {
		return nil, raster.OutOfMemory("a rotated table: %w", err)
	}
	return s, nil
}

// SumChannel returns the sum of one channel over a box. It returns 0 if the image
// has no such channel.
func (t *Table[S]) SumChannel(box Box, channel int) S {
	box = box.Intersect(t.Bounds())
	if box.Empty() || uint(channel) >= uint(t.Channels) {
		return 0
	}
	box = t.frame.place(t.Lattice, box)
	return t.at(box.C0, box.R1-1, channel) - t.at(box.C1, box.R1-1, channel) -
		t.at(box.C0, box.R0-1, channel) + t.at(box.C1, box.R0-1, channel)
}

// at returns the sum of all pixels up to a row of the frame and from a column on,
// where two digital lines cross. Left of the image, the column lies before all
// pixels of the row; right of it, the row lies after all pixels of the column.
// Below the image, it is the sum of the rows minus that of the columns before,
// which are complete.
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

// emptyCorner returns the sum at the empty cell above a pixel. Its neighbors are
// the cells of (x−1, y−1), above it, and of (x, y−1), after it. The sums of both
// count twice what is above the latter: that is (x, y−2), or another empty cell if
// line y−1 steps too.
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

// These methods also work on a nil table, as on the lattice of an image without
// pixels.

// Rotation returns the rotation of the table, like [Lattice.Rotation].
func (t *Table[S]) Rotation() Rotation { return t.lattice().Rotation() }

// Size returns the width and height of the image, like [Lattice.Size].
func (t *Table[S]) Size() (width, height int) { return t.lattice().Size() }

// Bounds returns the smallest box that contains every pixel, like
// [Lattice.Bounds].
func (t *Table[S]) Bounds() Box { return t.lattice().Bounds() }

// Cell returns the cell of the pixel at (x, y), like [Lattice.Cell].
func (t *Table[S]) Cell(x, y int) (c, r int) { return t.lattice().Cell(x, y) }

// Point returns the pixel of a cell, like [Lattice.Point].
func (t *Table[S]) Point(c, r int) (x, y int, ok bool) { return t.lattice().Point(c, r) }

// FromRectangle returns the box nearest to a rectangle, like
// [Lattice.FromRectangle].
func (t *Table[S]) FromRectangle(rect Rectangle) (Box, error) { return t.lattice().FromRectangle(rect) }

// Area returns the number of pixels in a box, like [Lattice.Area].
func (t *Table[S]) Area(box Box) int64 { return t.lattice().Area(box) }

// CornerArea returns the entry for a corner in a table of areas, like
// [Lattice.CornerArea].
func (t *Table[S]) CornerArea(c, r int) int64 { return t.lattice().CornerArea(c, r) }

func (t *Table[S]) lattice() *Lattice {
	if t == nil {
		return nil
	}
	return t.Lattice
}
