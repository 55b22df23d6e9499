package histogram

import (
	"image"
	"slices"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/bins"
	"github.com/boxsum/boxsum/internal/raster"
)

// A Table is the integral histogram of a Width×Height image: entry (x, y) is the
// histogram of the pixels in [0,x)×[0,y). Bin i of channel c of entry (x, y) is
//
//	Counts[((y*(Width+1)+x)*Channels+c)*Bins.N+i]
//
// Use [NewTable], [Integrate] or [IntegrateWeighted] to make a table. It is safe for
// concurrent use as long as no goroutine integrates into it.
type Table[S boxsum.Sum] struct {
	Counts        []S
	Width, Height int // size of the image in pixels
	Channels      int
	Bins          Bins
}

// Bytes returns the number of bytes in a table with n bins and counts of type S,
// which is uint32 unless the table is weighted. Zero channels means one.
func Bytes[S boxsum.Sum](width, height, channels, n int) (int64, error) {
	return bins.Bytes(raster.TypeOf[S](), width, height, channels, n)
}

// NewTable allocates a table for images of the given size. Zero channels means one.
// It returns an error that wraps [boxsum.ErrInvalid] if b has fewer than 2 or more
// than 256 bins or an invalid range. If b has no range, [IntegrateInto] sets that of
// the pixel type.
func NewTable[S boxsum.Sum](width, height, channels int, b Bins) (*Table[S], error) {
	t, err := bins.New(raster.TypeOf[S](), width, height, channels, b.core())
	if err != nil {
		return nil, err
	}
	return tableOf[S](t), nil
}

func tableOf[S boxsum.Sum](t bins.Table) *Table[S] {
	e := &t.Counts.Extent
	return &Table[S]{Counts: raster.Elems[S](t.Counts.Data), Width: e.Width, Height: e.Height, Channels: e.Channels, Bins: binsOf(t.Range)}
}

// Bounds returns image.Rect(0, 0, Width, Height).
func (t *Table[S]) Bounds() image.Rectangle {
	if t == nil {
		return image.Rectangle{}
	}
	return image.Rect(0, 0, t.Width, t.Height)
}

// At returns entry (x, y) of a channel, the histogram of [0,x)×[0,y). The result shares
// the memory of the table. At returns nil if the arguments are out of range.
func (t *Table[S]) At(x, y, channel int) []S {
	if t == nil || uint(x) > uint(t.Width) || uint(y) > uint(t.Height) || uint(channel) >= uint(t.Channels) {
		return nil
	}
	n := t.Bins.N
	return t.Counts[((y*(t.Width+1)+x)*t.Channels+channel)*n:][:n:n]
}

// Histogram appends the histogram of one channel over a box, clipped to the image, to
// dst and returns the extended slice. The Bins.N counts are zero if the box is empty
// or the image has no such channel.
//
//	counts = table.Histogram(counts[:0], box, 0) // does not allocate the second time
func (t *Table[S]) Histogram(dst []S, box image.Rectangle, channel int) []S {
	if t == nil {
		return dst
	}
	have := len(dst)
	dst = slices.Grow(dst, t.Bins.N)[:have+t.Bins.N]
	t.write(dst[have:], box, channel)
	return dst
}

// write writes the Bins.N counts of a histogram to dst, see Histogram.
func (t *Table[S]) write(dst []S, box image.Rectangle, channel int) {
	box = box.Intersect(t.Bounds())
	if box.Empty() || uint(channel) >= uint(t.Channels) {
		clear(dst)
		return
	}
	bins.Difference(dst, t.At(box.Min.X, box.Min.Y, channel), t.At(box.Max.X, box.Min.Y, channel),
		t.At(box.Min.X, box.Max.Y, channel), t.At(box.Max.X, box.Max.Y, channel))
}

// Histograms writes the histograms of all channels over every box, clipped to the
// image, to dst: bin i of channel c of boxes[k] is dst[(k*Channels+c)*Bins.N+i].
// Histograms returns an error if dst has fewer than len(boxes)*Channels*Bins.N
// elements.
func (t *Table[S]) Histograms(dst []S, boxes []image.Rectangle) error {
	if t == nil {
		return raster.NoTable()
	}
	if err := raster.CheckRoom(len(dst), len(boxes), t.Channels*t.Bins.N); err != nil {
		return err
	}
	for _, box := range boxes {
		for c := range t.Channels {
			t.write(dst[:t.Bins.N], box, c)
			dst = dst[t.Bins.N:]
		}
	}
	return nil
}
