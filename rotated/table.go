package rotated

import (
	"fmt"

	"github.com/boxsum/boxsum"
)

// A Table is the summed-area table of an image along the lines of its
// [Lattice]. It is safe for use by several goroutines as long as none
// integrates into it.
type Table[S boxsum.Sum] struct {
	*Lattice
	channels int
	frame    frame
	bands    bands

	// sums holds, band by band, the sum of all cells up to a row and column of
	// the frame, both included.
	sums []S
	// columns and rows hold the sums of all cells up to a column, and up to a
	// row.
	columns, rows []S

	scratch any // what integrating again needs
}

// New allocates a table for an image of this size. Zero channels stand for one.
func New[S boxsum.Sum](width, height, channels int, rot Rotation) (*Table[S], error) {
	if channels == 0 {
		channels = 1
	}
	if channels < 0 {
		return nil, fmt.Errorf("rotated: %w: %d channels", boxsum.ErrSize, channels)
	}
	l, err := NewLattice(width, height, rot)
	if err != nil {
		return nil, err
	}
	t := &Table[S]{Lattice: l, channels: channels}
	if t.frame, err = newFrame(l); err != nil {
		return nil, err
	}
	if t.bands, err = newBands(&t.frame, channels); err != nil {
		return nil, err
	}
	for _, part := range []struct {
		sums *[]S
		n    int
	}{{&t.sums, t.bands.total}, {&t.columns, t.bands.columns * channels}, {&t.rows, t.frame.rows * channels}} {
		if *part.sums, err = allocate[S](part.n); err != nil {
			return nil, err
		}
	}
	return t, nil
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
	return t.at(box.C1-1, box.R1-1, channel) - t.at(box.C0-1, box.R1-1, channel) -
		t.at(box.C1-1, box.R0-1, channel) + t.at(box.C0-1, box.R0-1, channel)
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

// at is the sum of all cells up to a row and column of the frame; either may be
// −1. Outside of the bands it follows from whole rows and columns: above and
// left there is no pixel yet; below and left the columns are complete; above and
// right the rows are; below and right all that is missing are the columns on the
// right, which are complete.
func (t *Table[S]) at(column, row, channel int) S {
	if column < 0 || row < 0 {
		return 0
	}
	b := &t.bands.list[row/bandRows]
	n := t.channels
	switch {
	case column < b.lo && row <= t.frame.leftTurn():
		return 0
	case column < b.lo:
		return t.columns[column*n+channel]
	case column < b.hi:
		return t.sums[b.start+(row%bandRows*(b.hi-b.lo)+column-b.lo)*n+channel]
	case row <= t.frame.rightTurn():
		return t.rows[row*n+channel]
	}
	last := len(t.columns) - n + channel
	return t.rows[row*n+channel] - (t.columns[last] - t.columns[column*n+channel])
}
