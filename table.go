package boxsum

import (
	"image"

	"github.com/boxsum/boxsum/internal/exact"
	"github.com/boxsum/boxsum/internal/grid"
)

//go:generate go run github.com/boxsum/boxsum/internal/pairs/expand -out integrate.go -template internal/kinds/integrate.tmpl -with boxsum
//go:generate go run github.com/boxsum/boxsum/internal/pairs/expand -out made.go -template internal/kinds/made.tmpl -with boxsum
//go:generate go run github.com/boxsum/boxsum/internal/pairs/expand -out options.go -template internal/kinds/options.tmpl -with boxsum
//go:generate go run github.com/boxsum/boxsum/internal/pairs/expand -out queries.go -template internal/kinds/queries.tmpl -with boxsum

// A Table is the summed-area table of a Width×Height image: entry (x, y) is
// the sum of the pixels in [0,x)×[0,y), for 0 ≤ x ≤ Width and 0 ≤ y ≤ Height,
// so row 0 and column 0 are zero. Channel c of it is
// Sums[y*Stride+x*Channels+c].
//
// A table is safe for use by several goroutines as long as none integrates
// into it. Its methods trust its fields: a table of the caller's own memory is
// checked by [IntegrateInto].
type Table[S Sum] struct {
	Sums          []S
	Stride        int // elements from one row to the next
	Width, Height int // of the image
	Channels      int

	// Offset was subtracted from every pixel before summing, see
	// [Options.Offset]. The entries lack it; box queries put it back.
	Offset float32

	pixels exact.Pixels
	first  sums           // of a table of squares with an offset: the table beside it
	valid  *Table[uint32] // how many pixels are in the sums, where that is not all: see [ValidTable]
}

// NewTable allocates a table for an image of this size; zero channels stand for
// one. Unless they are short, its rows are laid out so that entry (1, y) of each
// starts a cache line, which lets the engine write past the caches.
func NewTable[S Sum](width, height, channels int) (*Table[S], error) {
	sums, e, err := grid.NewSums[S](grid.Plane(width, height, channels, 0))
	return grid.OrNil(&Table[S]{Sums: sums, Stride: e.Stride, Width: width, Height: height, Channels: e.Channels}, err)
}

func (t *Table[S]) extent() grid.Extent { return grid.Plane(t.Width, t.Height, t.Channels, t.Stride) }

// Bounds is image.Rect(0, 0, Width, Height): boxes count from the first pixel,
// also those of a sub-image.
func (t *Table[S]) Bounds() image.Rectangle {
	if t == nil {
		return image.Rectangle{}
	}
	return image.Rect(0, 0, t.Width, t.Height)
}

// At is entry (x, y) of a channel: the sum of that channel over [0,x)×[0,y).
// It is 0 outside of the table.
func (t *Table[S]) At(x, y, channel int) S {
	if t == nil || uint(x) > uint(t.Width) || uint(y) > uint(t.Height) || uint(channel) >= uint(t.Channels) {
		return 0
	}
	return t.Sums[y*t.Stride+x*t.Channels+channel]
}

// sum is that of a box inside of the image, without the offset.
func (t *Table[S]) sum(box image.Rectangle, channel int) S {
	top, bottom := t.Sums[box.Min.Y*t.Stride+channel:], t.Sums[box.Max.Y*t.Stride+channel:]
	x0, x1 := box.Min.X*t.Channels, box.Max.X*t.Channels
	return bottom[x1] - bottom[x0] - top[x1] + top[x0]
}

// SumBoxes writes the sums of all channels over every box, clipped to the
// image: channel c of boxes[i] is dst[i*Channels+c].
func (t *Table[S]) SumBoxes(dst []S, boxes []image.Rectangle) error {
	if err := t.room(len(dst), len(boxes)); err != nil {
		return err
	}
	// Written out so that the reads of many boxes are under way at once.
	c := t.Channels
	for i, box := range boxes {
		x0, x1 := max(box.Min.X, 0), min(box.Max.X, t.Width)
		y0, y1 := max(box.Min.Y, 0), min(box.Max.Y, t.Height)
		sums := dst[i*c:][:c]
		if x0 >= x1 || y0 >= y1 {
			clear(sums)
			continue
		}
		top, bottom := t.Sums[y0*t.Stride:], t.Sums[y1*t.Stride:]
		for j := range sums {
			sums[j] = bottom[x1*c+j] - bottom[x0*c+j] - top[x1*c+j] + top[x0*c+j]
		}
		if t.Offset != 0 {
			for j := range sums {
				sums[j] = t.restore(sums[j], image.Rect(x0, y0, x1, y1), j)
			}
		}
	}
	return nil
}

// A View is a table in one of the published conventions. It shares the memory
// and the stride of the [Table] that it came from; channel c of entry (x, y)
// is Sums[y*Stride+x*Channels+c], for 0 ≤ x < Width and 0 ≤ y < Height.
type View[S Sum] struct {
	Sums          []S
	Stride        int
	Width, Height int // of the view itself
	Channels      int
}

// At is one entry of the view, and 0 outside of it.
func (v View[S]) At(x, y, channel int) S {
	if uint(x) >= uint(v.Width) || uint(y) >= uint(v.Height) || uint(channel) >= uint(v.Channels) {
		return 0
	}
	return v.Sums[y*v.Stride+x*v.Channels+channel]
}

// Row is the entries of row y, and nil for a row that the view does not have.
func (v View[S]) Row(y int) []S {
	n := v.Width * v.Channels
	if uint(y) >= uint(v.Height) || n == 0 {
		return nil
	}
	return v.Sums[y*v.Stride:][:n:n]
}

// Exclusive is the whole table, (Width+1)×(Height+1): entry (x, y) sums
// [0,x)×[0,y).
func (t *Table[S]) Exclusive() View[S] { return t.view(0, 0, 1) }

// Inclusive is the table without its zero row and column, Width×Height: entry
// (x, y) sums [0,x]×[0,y].
func (t *Table[S]) Inclusive() View[S] { return t.view(1, 1, 0) }

// SameSize is the table without its last row and column, Width×Height: entry
// (x, y) sums [0,x)×[0,y), the convention of Bilgic, Horn and Masaki.
func (t *Table[S]) SameSize() View[S] { return t.view(0, 0, 0) }

// view is from entry (x, y) on, with this many rows and columns more than the image.
func (t *Table[S]) view(x, y, more int) View[S] {
	if t == nil {
		return View[S]{}
	}
	v := View[S]{Stride: t.Stride, Width: t.Width + more, Height: t.Height + more, Channels: t.Channels}
	if v.Width > 0 && v.Height > 0 {
		start := y*t.Stride + x*t.Channels
		end := start + (v.Height-1)*t.Stride + v.Width*t.Channels
		v.Sums = t.Sums[start:end:end]
	}
	return v
}
