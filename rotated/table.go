package rotated

import (
	"fmt"
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/kernel"
)

// A Table is the summed-area table of an image along the lines of its
// [Lattice]. It is safe for use by several goroutines as long as none
// integrates into it.
type Table[S boxsum.Sum] struct {
	*Lattice
	channels int
	frame    frame

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

	scratch any // what integrating again needs
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
	if channels == 0 {
		channels = 1
	}
	if channels < 0 {
		return nil, fmt.Errorf("rotated: %w: %d channels", boxsum.ErrInvalid, channels)
	}
	l, err := NewLattice(width, height, rot)
	if err != nil {
		return nil, err
	}
	t := &Table[S]{Lattice: l, channels: channels}
	if t.frame, err = newFrame(l); err != nil {
		return nil, err
	}
	f := &t.frame
	if width == 0 || height == 0 {
		return t, nil
	}
	if t.corners, err = newPlane[S](height, width, channels); err != nil {
		return nil, err
	}
	if steps := int(f.overs[height-1]); steps > 0 && 4*int64(l.view.a) > 3*int64(l.view.b) {
		if t.empty, err = newPlane[S](steps, f.runs, channels); err != nil {
			return nil, err
		}
	}
	if t.rows, err = allocate[S](f.rows * channels); err != nil {
		return nil, err
	}
	if t.columns, err = allocate[S]((width - f.first()) * channels); err != nil {
		return nil, err
	}
	return t, nil
}

// newPlane is lines of n pixels each.
func newPlane[S boxsum.Sum](lines, n, channels int) (plane[S], error) {
	if n > (math.MaxInt/64/(lines+2)-64)/channels {
		return plane[S]{}, fmt.Errorf("rotated: %w: a table of %d×%d with %d channels is more than memory can hold",
			boxsum.ErrInvalid, n, lines, channels)
	}
	block := kernel.RotatedSlack(channels)
	p := plane[S]{lead: 2 * block, stride: roundUp(n*channels, block) + block}
	var err error
	p.sums, err = allocate[S](lines*p.stride + 4*block)
	return p, err
}

// allocate is n zeros that start a cache line. They are the first row of a
// table of package boxsum, which asks for memory as large ones want it.
func allocate[S boxsum.Sum](n int) ([]S, error) {
	t, err := boxsum.NewTable[S](n, 0, 1)
	if err != nil {
		return nil, fmt.Errorf("rotated: no memory for the table: %w", err)
	}
	return t.Sums[1:][:n:n], nil
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }

// Channels is the number of channels of the image.
func (t *Table[S]) Channels() int { return t.channels }

// Sum is the sum of the first channel over a box. Cells without a pixel of the
// image, inside and outside of it, count as 0.
func (t *Table[S]) Sum(box Box) S { return t.SumChannel(box, 0) }

// SumChannel is the sum of one channel over a box. The sum of a channel that
// the image does not have is 0.
func (t *Table[S]) SumChannel(box Box, channel int) S {
	box = box.Intersect(t.bounds)
	if box.Empty() || uint(channel) >= uint(t.channels) {
		return 0
	}
	box = t.frame.place(t.Lattice, box)
	return t.at(box.C0, box.R1-1, channel) - t.at(box.C1, box.R1-1, channel) -
		t.at(box.C0, box.R0-1, channel) + t.at(box.C1, box.R0-1, channel)
}

// SumChannels appends the sum of every channel over a box to dst.
func (t *Table[S]) SumChannels(dst []S, box Box) []S {
	for channel := range t.channels {
		dst = append(dst, t.SumChannel(box, channel))
	}
	return dst
}

// Mean is the mean of one channel over the pixels of a box, and 0 if it holds
// none.
func (t *Table[S]) Mean(box Box, channel int) float64 {
	area := t.Area(box)
	if area == 0 {
		return 0
	}
	return float64(t.SumChannel(box, channel)) / float64(area)
}

// at is the sum of all pixels up to a row of the frame and from a column on,
// which is where two digital lines cross. Left of the image the column is before
// all that the row has, and right of it the row after all that the column has.
// Below it what is missing of the rows are the columns before, which are
// complete.
func (t *Table[S]) at(column, row, channel int) S {
	f, n := &t.frame, t.channels
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

// corner is the sum at a pixel.
func (t *Table[S]) corner(x, y, channel int) S {
	return t.corners.sums[t.corners.lead+y*t.corners.stride+t.frame.memory(x)*t.channels+channel]
}

// emptyCorner is the sum at the empty cell above a pixel. Its neighbours are the
// cells of (x−1, y−1), above it, and of (x, y−1), after it. Both together count
// what is above the latter twice: that is (x, y−2), or another empty cell if line
// y−1 steps too.
func (t *Table[S]) emptyCorner(x, y, channel int) S {
	f := &t.frame
	if t.empty.sums != nil {
		run := int(f.run[f.memory(x)])
		return t.empty.sums[t.empty.lead+(int(f.overs[y])-1)*t.empty.stride+run*t.channels+channel]
	}
	above, after := t.corner(x-1, y-1, channel), t.corner(x, y-1, channel)
	if f.steps(y - 1) {
		return above + (after - t.emptyCorner(x, y-1, channel))
	}
	return above + (after - t.corner(x, y-2, channel))
}
