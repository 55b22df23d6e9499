package histogram

import (
	"fmt"
	"image"
	"math"
	"slices"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/grid"
)

//go:generate go run github.com/boxsum/boxsum/internal/pairs/expand -out options.go -template ../internal/kinds/options.tmpl -with histogram

// A Table is the integral histogram of a Width×Height image: entry (x, y) is
// the histogram of the pixels in [0,x)×[0,y). Bin i of channel c of it is
//
//	Counts[((y*(Width+1)+x)*Channels+c)*Bins.N+i]
//
// A table comes from [NewTable], [Integrate] or [IntegrateWeighted]. It is safe for
// use by several goroutines as long as none integrates into it.
type Table[S boxsum.Sum] struct {
	Counts        []S
	Width, Height int // of the image
	Channels      int
	Bins          Bins
}

// Bytes is how much memory a table takes, whose counts are of type S: uint32
// unless it is weighted. Zero channels stand for one.
func Bytes[S boxsum.Sum](width, height, channels, bins int) (int64, error) {
	if err := checkCount(bins); err != nil {
		return 0, err
	}
	e := grid.Plane(width, height, channels, 0)
	if err := e.Sized(); err != nil {
		return 0, err
	}
	counts := (float64(width) + 1) * (float64(height) + 1) * float64(e.Channels) * float64(bins)
	if counts > maxCounts {
		return 0, grid.Invalid("a table of %s would take %.3g bytes, more than memory can hold", describe(width, height, e.Channels, bins), counts*float64(grid.SizeOf[S]()))
	}
	return int64(width+1) * int64(height+1) * int64(e.Channels) * int64(bins) * int64(grid.SizeOf[S]()), nil
}

// maxCounts keeps every byte offset inside an int.
const maxCounts = math.MaxInt / 16

// NewTable allocates a table for images of this size. Zero channels stand for one.
func NewTable[S boxsum.Sum](width, height, channels int, bins Bins) (*Table[S], error) {
	if err := bins.check(); err != nil {
		return nil, err
	}
	bytes, err := Bytes[S](width, height, channels, bins.N)
	if err != nil {
		return nil, err
	}
	channels = max(1, channels)
	counts, err := grid.Make[S](int(bytes) / grid.SizeOf[S]())
	if err != nil {
		return nil, grid.OutOfMemory("a table of %s: %w: use fewer bins, or parts of the image", describe(width, height, channels, bins.N), err)
	}
	return &Table[S]{Counts: counts, Width: width, Height: height, Channels: channels, Bins: bins}, nil
}

func describe(width, height, channels, bins int) string {
	s := fmt.Sprintf("%d×%d pixels and %d bins", width, height, bins)
	if channels > 1 {
		s += fmt.Sprintf(" in %d channels", channels)
	}
	return s
}

// Bounds is image.Rect(0, 0, Width, Height).
func (t *Table[S]) Bounds() image.Rectangle {
	if t == nil {
		return image.Rectangle{}
	}
	return image.Rect(0, 0, t.Width, t.Height)
}

// At is entry (x, y) of a channel, the histogram of [0,x)×[0,y), in the memory
// of the table. It is nil outside of the table.
func (t *Table[S]) At(x, y, channel int) []S {
	if t == nil || uint(x) > uint(t.Width) || uint(y) > uint(t.Height) || uint(channel) >= uint(t.Channels) {
		return nil
	}
	n := t.Bins.N
	return t.Counts[((y*(t.Width+1)+x)*t.Channels+channel)*n:][:n:n]
}

// Histogram appends the histogram of one channel over a box, clipped to the
// image, to dst: Bins.N counts. Those of an empty box, and of a channel that the
// image does not have, are zero.
//
//	counts = table.Histogram(counts[:0], box, 0) // allocates nothing the second time
func (t *Table[S]) Histogram(dst []S, box image.Rectangle, channel int) []S {
	if t == nil {
		return dst
	}
	have := len(dst)
	dst = slices.Grow(dst, t.Bins.N)[:have+t.Bins.N]
	t.write(dst[have:], box, channel)
	return dst
}

// write is Histogram into Bins.N counts.
func (t *Table[S]) write(dst []S, box image.Rectangle, channel int) {
	box = box.Intersect(t.Bounds())
	if box.Empty() || uint(channel) >= uint(t.Channels) {
		clear(dst)
		return
	}
	n := len(dst)
	a, b := t.At(box.Min.X, box.Min.Y, channel)[:n], t.At(box.Max.X, box.Min.Y, channel)[:n]
	c, d := t.At(box.Min.X, box.Max.Y, channel)[:n], t.At(box.Max.X, box.Max.Y, channel)[:n]
	for i := range dst {
		dst[i] = d[i] - c[i] - b[i] + a[i]
	}
}

// Histograms writes the histograms of all channels over every box, clipped to
// the image: bin i of channel c of boxes[k] is dst[(k*Channels+c)*Bins.N+i].
func (t *Table[S]) Histograms(dst []S, boxes []image.Rectangle) error {
	if t == nil {
		return grid.NoTable()
	}
	if err := grid.Room(len(dst), len(boxes), t.Channels*t.Bins.N); err != nil {
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
