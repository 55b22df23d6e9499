package tilted

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/exact"
	"github.com/boxsum/boxsum/internal/grid"
)

//go:generate go run github.com/boxsum/boxsum/internal/pairs/expand -out integrate.go -template ../internal/kinds/integrate.tmpl -with tilted
//go:generate go run github.com/boxsum/boxsum/internal/pairs/expand -out made.go -template ../internal/kinds/made.tmpl -with tilted
//go:generate go run github.com/boxsum/boxsum/internal/pairs/expand -out options.go -template ../internal/kinds/options.tmpl -with tilted
//go:generate go run github.com/boxsum/boxsum/internal/pairs/expand -out queries.go -template ../internal/kinds/queries.tmpl -with tilted

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

	pixels exact.Pixels
}

// Know is for packages of this module, and for tables that they did not make by
// integrating: what is known of their pixels.
func (t *Table[S]) Know(pixels exact.Pixels) {
	if t != nil {
		t.pixels = pixels
	}
}

// NewTable allocates a table for an image of this size; zero channels stand for one.
// Its rows are laid out as those of [boxsum.NewTable], which lets the engine
// write past the caches.
func NewTable[S boxsum.Sum](width, height, channels int) (*Table[S], error) {
	sums, e, err := grid.NewSums[S](grid.Plane(width, height, channels, 0))
	return grid.OrNil(&Table[S]{Sums: sums, Stride: e.Stride, Width: width, Height: height, Channels: e.Channels}, err)
}

func (t *Table[S]) extent() grid.Extent { return grid.Plane(t.Width, t.Height, t.Channels, t.Stride) }

// At is entry (x, y) of a channel, and 0 outside of the table.
func (t *Table[S]) At(x, y, channel int) S {
	if t == nil || uint(x) > uint(t.Width) || uint(y) > uint(t.Height) || uint(channel) >= uint(t.Channels) {
		return 0
	}
	return t.Sums[y*t.Stride+x*t.Channels+channel]
}

// View is all (Width+1)×(Height+1) entries, in the table's own memory.
func (t *Table[S]) View() boxsum.View[S] {
	if t == nil {
		return boxsum.View[S]{}
	}
	end := t.Height*t.Stride + (t.Width+1)*t.Channels
	return boxsum.View[S]{Sums: t.Sums[:end:end], Stride: t.Stride, Width: t.Width + 1, Height: t.Height + 1, Channels: t.Channels}
}

// A Box is a rectangle turned by 45°, as OpenCV's features have it: its topmost
// corner is entry (X, Y) of the table, from where one side goes W steps down to
// the right and the other H steps down to the left. It holds 2·W·H pixels.
type Box struct{ X, Y, W, H int }

// Area is the number of pixels in a box that lies inside the image, and 0 where a
// side is not positive. [Table.Area] is that of any box.
func (b Box) Area() int {
	if b.W <= 0 || b.H <= 0 {
		return 0
	}
	return 2 * b.W * b.H
}

// SumChannel is the sum of one channel over a box, clipped to the image. The sum
// of a channel that the image does not have is 0.
func (t *Table[S]) SumChannel(b Box, channel int) S {
	switch {
	case t == nil || uint(channel) >= uint(t.Channels):
		return 0
	case t.Contains(b):
		return t.sum(b, channel)
	}
	return clipped(t, b, channel)
}

func (t *Table[S]) sum(b Box, channel int) S {
	top, stride, n := t.Sums[b.Y*t.Stride+channel:], t.Stride, t.Channels
	return top[b.X*n] - top[b.H*stride+(b.X-b.H)*n] - top[b.W*stride+(b.X+b.W)*n] + top[(b.W+b.H)*stride+(b.X+b.W-b.H)*n]
}
