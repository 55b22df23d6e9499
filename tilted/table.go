package tilted

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/stats"
)

// A Table is the 45° table of a Width×Height image: entry (x, y) is the sum of the
// pixels in the triangle above it, for 0 ≤ x ≤ Width and 0 ≤ y ≤ Height. Channel c of
// entry (x, y) is Sums[y*Stride+x*Channels+c].
//
// A table is safe for concurrent use as long as no goroutine integrates into it.
// Methods do not check the fields. [IntegrateInto] does, for tables whose memory the
// caller allocated.
type Table[S boxsum.Sum] struct {
	Sums          []S
	Stride        int // elements from one row to the next
	Width, Height int // size of the image in pixels
	Channels      int

	// Bound is the largest possible magnitude of the summed pixels, or of their squares
	// in a table of squares: 255 and 255·255 for bytes. Integrate sets it from the type
	// of the pixels, or from their values if a sum of a few pixels of that type may
	// overflow. Means and variances of boxes whose sum may exceed the sum type are then
	// computed in parts.
	//
	// Set Bound in a table of your own memory. If it is 0, the pixels are assumed to be
	// uint8 for uint32 sums, uint32 for uint64 sums, and int32 for int64 sums. Float
	// sums ignore it.
	Bound uint64

	// Signed marks a uint32 table whose entries are int32 sums, as in tables of some
	// other libraries. Means are then computed from the signed sums.
	Signed bool
}

// known returns what is known about the pixels of the table.
func (t *Table[S]) known() stats.Pixels { return stats.Pixels{Bound: t.Bound, Signed: t.Signed} }

// NewTable allocates a table for an image of the given size; zero channels means one.
// Its rows are laid out like those of [boxsum.NewTable], which lets the engine bypass
// the caches when it writes. NewTable returns an error that wraps [boxsum.ErrInvalid]
// if an argument is negative, and one that wraps [boxsum.ErrMemory] if there is not
// enough memory.
func NewTable[S boxsum.Sum](width, height, channels int) (*Table[S], error) {
	sums, e, err := raster.NewSums[S](raster.PlaneExtent(width, height, channels, 0))
	return raster.OrNil(&Table[S]{Sums: sums, Stride: e.Stride, Width: width, Height: height, Channels: e.Channels}, err)
}

// set sets a to the unchecked memory of the table.
func (t *Table[S]) set(a *raster.Array) {
	raster.SetPlane(a, t.Sums, t.Width, t.Height, t.Channels, t.Stride)
}

func (t *Table[S]) extent() raster.Extent {
	return raster.PlaneExtent(t.Width, t.Height, t.Channels, t.Stride)
}

// At returns entry (x, y) of a channel, or 0 if the arguments are out of range.
func (t *Table[S]) At(x, y, channel int) S {
	if t == nil || uint(x) > uint(t.Width) || uint(y) > uint(t.Height) || uint(channel) >= uint(t.Channels) {
		return 0
	}
	return t.Sums[y*t.Stride+x*t.Channels+channel]
}

// View returns all (Width+1)×(Height+1) entries. It shares the memory of the table.
func (t *Table[S]) View() boxsum.View[S] {
	if t == nil {
		return boxsum.View[S]{}
	}
	end := t.Height*t.Stride + (t.Width+1)*t.Channels
	return boxsum.View[S]{Sums: t.Sums[:end:end], Stride: t.Stride, Width: t.Width + 1, Height: t.Height + 1, Channels: t.Channels}
}

// A Box is a rectangle rotated by 45°, as in OpenCV's features. Its topmost corner is
// entry (X, Y) of the table. From there, one side goes W steps down to the right and
// the other H steps down to the left. It contains 2·W·H pixels.
type Box struct{ X, Y, W, H int }

// Area returns the number of pixels in a box that lies inside the image, or 0 if W or
// H is not positive. For other boxes, use [Table.Area].
func (b Box) Area() int {
	if b.W <= 0 || b.H <= 0 {
		return 0
	}
	return 2 * b.W * b.H
}

// SumChannel returns the sum of one channel over a box, clipped to the image. It
// returns 0 if the image has no such channel.
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
