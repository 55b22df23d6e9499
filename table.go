package boxsum

import (
	"image"

	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/stats"
)

// A Table is the summed-area table of a Width×Height image: entry (x, y) is the sum of
// the pixels in [0,x)×[0,y), for 0 ≤ x ≤ Width and 0 ≤ y ≤ Height, so row 0 and column
// 0 are zero. Channel c of entry (x, y) is Sums[y*Stride+x*Channels+c].
//
// A table is safe for concurrent use as long as no goroutine integrates into it.
// Methods do not check the fields. [IntegrateInto] does, for tables whose memory the
// caller allocated.
type Table[S Sum] struct {
	Sums          []S
	Stride        int // elements from one row to the next
	Width, Height int // size of the image in pixels
	Channels      int

	// Offset was subtracted from every pixel before summing; see [Options.Offset]. The
	// entries do not include it; box queries add it back.
	Offset float32

	// Bound is the largest possible magnitude of the summed pixels, or of their squares
	// in a table of squares: 255 and 255·255 for bytes. Integrate sets it from the type
	// of the pixels, or from their values if a sum of a few pixels of that type may
	// overflow. Means and variances of boxes whose sum may exceed the sum type are then
	// computed in parts.
	//
	// Set Bound in a table of your own memory. If it is 0, the pixels are assumed to be
	// uint8 for uint32 sums, uint32 for uint64 sums, and int32 for int64 sums. Float sums
	// ignore it.
	Bound uint64

	// Signed marks a uint32 table whose entries are int32 sums, as in tables of some
	// other libraries. Means are then computed from the signed sums.
	Signed bool

	first sums           // in a table of squares with an offset: the table of the sums
	valid *Table[uint32] // number of pixels in the sums, if some are not valid: see [ValidTable]
}

// known returns what is known about the pixels of the table.
func (t *Table[S]) known() stats.Pixels { return stats.Pixels{Bound: t.Bound, Signed: t.Signed} }

// NewTable allocates a table for an image of the given size; zero channels means one.
// Unless its rows are short, entry (1, y) of every row starts a cache line, which lets
// the engine bypass the caches when it writes. NewTable returns an error that wraps
// [ErrInvalid] if an argument is negative, and one that wraps [ErrMemory] if there is
// not enough memory.
func NewTable[S Sum](width, height, channels int) (*Table[S], error) {
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

// Bounds returns image.Rect(0, 0, Width, Height). Coordinates of boxes start at the
// first pixel, even in the table of a sub-image.
func (t *Table[S]) Bounds() image.Rectangle {
	if t == nil {
		return image.Rectangle{}
	}
	return image.Rect(0, 0, t.Width, t.Height)
}

// At returns entry (x, y) of a channel: the sum of that channel over [0,x)×[0,y). It
// returns 0 if the arguments are out of range.
func (t *Table[S]) At(x, y, channel int) S {
	if t == nil || uint(x) > uint(t.Width) || uint(y) > uint(t.Height) || uint(channel) >= uint(t.Channels) {
		return 0
	}
	return t.Sums[y*t.Stride+x*t.Channels+channel]
}

// sum returns the sum of a box inside the image, without the offset.
func (t *Table[S]) sum(box image.Rectangle, channel int) S {
	top, bottom := t.Sums[box.Min.Y*t.Stride+channel:], t.Sums[box.Max.Y*t.Stride+channel:]
	x0, x1 := box.Min.X*t.Channels, box.Max.X*t.Channels
	return bottom[x1] - bottom[x0] - top[x1] + top[x0]
}

// SumBoxes writes the sums of all channels over every box, clipped to the image, to
// dst: the sum of channel c over boxes[i] is dst[i*Channels+c]. SumBoxes returns an
// error if dst has fewer than len(boxes)*Channels elements.
func (t *Table[S]) SumBoxes(dst []S, boxes []image.Rectangle) error {
	if err := t.room(len(dst), len(boxes)); err != nil {
		return err
	}
	// Inlined so that the processor can overlap the reads of several boxes.
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

// A View is a table in one of the published conventions. It shares the memory and the
// stride of its [Table]; channel c of entry (x, y) is Sums[y*Stride+x*Channels+c], for
// 0 ≤ x < Width and 0 ≤ y < Height.
type View[S Sum] struct {
	Sums          []S
	Stride        int
	Width, Height int // number of columns and rows
	Channels      int
}

// At returns entry (x, y) of a channel, or 0 if the arguments are out of range.
func (v View[S]) At(x, y, channel int) S {
	if uint(x) >= uint(v.Width) || uint(y) >= uint(v.Height) || uint(channel) >= uint(v.Channels) {
		return 0
	}
	return v.Sums[y*v.Stride+x*v.Channels+channel]
}

// Row returns the entries of row y, or nil if y is out of range.
func (v View[S]) Row(y int) []S {
	n := v.Width * v.Channels
	if uint(y) >= uint(v.Height) || n == 0 {
		return nil
	}
	return v.Sums[y*v.Stride:][:n:n]
}

// Exclusive returns the whole table, (Width+1)×(Height+1): entry (x, y) is the sum over
// [0,x)×[0,y).
func (t *Table[S]) Exclusive() View[S] { return t.view(0, 0, 1) }

// Inclusive returns the table without its zero row and column, Width×Height: entry (x,
// y) is the sum over [0,x]×[0,y].
func (t *Table[S]) Inclusive() View[S] { return t.view(1, 1, 0) }

// SameSize returns the table without its last row and column, Width×Height: entry (x,
// y) is the sum over [0,x)×[0,y), as in the tables of Bilgic, Horn and Masaki.
func (t *Table[S]) SameSize() View[S] { return t.view(0, 0, 0) }

// view returns the entries from (x, y) on, with more rows and columns than the image.
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
