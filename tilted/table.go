package tilted

import (
	"fmt"

	"github.com/boxsum/boxsum"
)

// A Table is the 45° table of a Width×Height image: entry (x, y) is the sum of
// the pixels in the triangle above it, for 0 ≤ x ≤ Width and 0 ≤ y ≤ Height.
// Channel c of it is Sums[y*Stride+x*Channels+c].
//
// A table is safe for use by several goroutines as long as none integrates
// into it. Its methods trust its fields: a table of the caller's own memory is
// checked by [IntegrateInto].
type Table[S boxsum.Sum] struct {
	Sums          []S
	Stride        int // elements from one row to the next
	Width, Height int // of the image
	Channels      int

	scratch any // what integrating again needs
}

// NewTable allocates a table for an image of this size; zero channels stand for one.
// Its rows are laid out as those of [boxsum.NewTable], which lets the engine
// write past the caches.
func NewTable[S boxsum.Sum](width, height, channels int) (*Table[S], error) {
	t, err := boxsum.NewTable[S](width, height, channels)
	if err != nil {
		return nil, fmt.Errorf("tilted: %w", err)
	}
	return &Table[S]{Sums: t.Sums, Stride: t.Stride, Width: t.Width, Height: t.Height, Channels: t.Channels}, nil
}

// At is entry (x, y) of a channel, and 0 outside of the table.
func (t *Table[S]) At(x, y, channel int) S {
	if uint(x) > uint(t.Width) || uint(y) > uint(t.Height) || uint(channel) >= uint(t.Channels) {
		return 0
	}
	return t.Sums[y*t.Stride+x*t.Channels+channel]
}

// View is all (Width+1)×(Height+1) entries, in the table's own memory.
func (t *Table[S]) View() boxsum.View[S] {
	end := t.Height*t.Stride + (t.Width+1)*t.Channels
	return boxsum.View[S]{Sums: t.Sums[:end:end], Stride: t.Stride, Width: t.Width + 1, Height: t.Height + 1, Channels: t.Channels}
}

// A Box is a rectangle turned by 45°, as OpenCV's features have it: its topmost
// corner is entry (X, Y) of the table, from where one side goes W steps down to
// the right and the other H steps down to the left. It holds 2·W·H pixels.
type Box struct{ X, Y, W, H int }

// Area is the number of pixels in a box, and 0 where a side is not positive.
func (b Box) Area() int {
	if b.W <= 0 || b.H <= 0 {
		return 0
	}
	return 2 * b.W * b.H
}

// Contains says whether the four corners of a box are entries of the table,
// as they have to be to sum it. All its pixels are then in the image.
func (t *Table[S]) Contains(b Box) bool {
	// Compared one by one, for their sums may be more than an int.
	return b.W >= 0 && b.H >= 0 && b.Y >= 0 && b.H <= b.X && b.X <= t.Width && b.W <= t.Width-b.X &&
		b.Y <= t.Height && b.W <= t.Height-b.Y && b.H <= t.Height-b.Y-b.W
}

// Sum is the sum of the first channel over a box, in four reads. It is 0 for a
// box that the table does not contain: see [Table.Contains].
func (t *Table[S]) Sum(b Box) S { return t.SumChannel(b, 0) }

// SumChannel is the sum of one channel over a box. It is 0 for a box that the
// table does not contain, and for a channel that the image does not have.
func (t *Table[S]) SumChannel(b Box, channel int) S {
	if !t.Contains(b) || uint(channel) >= uint(t.Channels) {
		return 0
	}
	return t.sum(b, channel)
}

// sum is that of a box which the table contains.
func (t *Table[S]) sum(b Box, channel int) S {
	top, stride, n := t.Sums[b.Y*t.Stride+channel:], t.Stride, t.Channels
	return top[b.X*n] - top[b.H*stride+(b.X-b.H)*n] - top[b.W*stride+(b.X+b.W)*n] + top[(b.W+b.H)*stride+(b.X+b.W-b.H)*n]
}

// SumChannels appends the sum of every channel over a box to dst.
func (t *Table[S]) SumChannels(dst []S, b Box) []S {
	for channel := range t.Channels {
		dst = append(dst, t.SumChannel(b, channel))
	}
	return dst
}

// SumBoxes writes the sums of all channels over every box: channel c of
// boxes[i] is dst[i*Channels+c]. A box that the table does not contain is an
// error, and nothing is written.
func (t *Table[S]) SumBoxes(dst []S, boxes []Box) error {
	if err := t.check(); err != nil {
		return err
	}
	if len(boxes) > len(dst)/t.Channels {
		return fmt.Errorf("tilted: %w: %d boxes of %d channels do not fit in %d sums", boxsum.ErrInvalid, len(boxes), t.Channels, len(dst))
	}
	for i, b := range boxes {
		if !t.Contains(b) {
			return fmt.Errorf("tilted: %w: box %d, %+v, has a corner outside of a table of %d×%d", boxsum.ErrInvalid, i, b, t.Width, t.Height)
		}
	}
	for i, b := range boxes {
		for channel := range t.Channels {
			dst[i*t.Channels+channel] = t.sum(b, channel)
		}
	}
	return nil
}

// Mean is the mean of one channel over a box, and 0 for one that is empty or
// that the table does not contain.
func (t *Table[S]) Mean(b Box, channel int) float64 {
	if !t.Contains(b) || b.Area() == 0 {
		return 0
	}
	return float64(t.SumChannel(b, channel)) / float64(b.Area())
}
