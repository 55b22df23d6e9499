package histogram

import (
	"fmt"
	"image"
	"math"
	"runtime/debug"
	"slices"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/memory"
)

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

	scratch any // what integrating again needs
}

// Bytes is how much memory a table takes, whose counts are of type S: uint32
// unless it is weighted. Zero channels stand for one.
func Bytes[S boxsum.Sum](width, height, channels, bins int) (int64, error) {
	if channels == 0 {
		channels = 1
	}
	if width < 0 || height < 0 || channels < 0 {
		return 0, fmt.Errorf("histogram: %w: %d×%d pixels of %d channels: none may be negative", boxsum.ErrInvalid, width, height, channels)
	}
	if err := checkCount(bins); err != nil {
		return 0, err
	}
	// Sides beyond this are refused before they are multiplied.
	const maxSide = 1 << 40
	counts := (float64(width) + 1) * (float64(height) + 1) * float64(channels) * float64(bins)
	if int64(width) > maxSide || int64(height) > maxSide || counts > maxCounts {
		return 0, fmt.Errorf("histogram: %w: a table of %s would take %.3g bytes, more than memory can hold", boxsum.ErrInvalid, describe(width, height, channels, bins), counts*float64(sizeOf[S]()))
	}
	return int64(width+1) * int64(height+1) * int64(channels) * int64(bins) * int64(sizeOf[S]()), nil
}

// maxCounts keeps every byte offset inside an int.
const maxCounts = math.MaxInt / 16

// NewTable allocates a table for images of this size. Zero channels stand for one.
func NewTable[S boxsum.Sum](width, height, channels int, bins Bins) (*Table[S], error) {
	if channels == 0 {
		channels = 1
	}
	if err := bins.check(); err != nil {
		return nil, err
	}
	bytes, err := Bytes[S](width, height, channels, bins.N)
	if err != nil {
		return nil, err
	}
	counts, err := allocate[S](bytes)
	if err != nil {
		return nil, fmt.Errorf("histogram: %w: a table of %s: %w: use fewer bins, or parts of the image",
			boxsum.ErrInvalid, describe(width, height, channels, bins.N), err)
	}
	return &Table[S]{Counts: counts, Width: width, Height: height, Channels: channels, Bins: bins}, nil
}

// describe is the size of a table in words.
func describe(width, height, channels, bins int) string {
	s := fmt.Sprintf("%d×%d pixels and %d bins", width, height, bins)
	if channels > 1 {
		s += fmt.Sprintf(" in %d channels", channels)
	}
	return s
}

// largeBytes is where memory is asked about before it is taken.
const largeBytes = 256 << 20

// allocate is zeros of so many bytes from a cache line on: the first row of a
// table of package boxsum, which asks for memory as large ones want it.
func allocate[S boxsum.Sum](bytes int64) ([]S, error) {
	if err := memory.Check(float64(bytes)); err != nil && bytes >= largeBytes {
		debug.FreeOSMemory() // what is only garbage may make room
		if err := memory.Check(float64(bytes)); err != nil {
			return nil, err
		}
	}
	n := int(bytes) / sizeOf[S]()
	t, err := boxsum.NewTable[S](n, 0, 1)
	if err != nil {
		return nil, err
	}
	return t.Sums[1:][:n:n], nil
}

func sizeOf[T any]() int { return int(unsafe.Sizeof(*new(T))) }

// Bounds is image.Rect(0, 0, Width, Height).
func (t *Table[S]) Bounds() image.Rectangle { return image.Rect(0, 0, t.Width, t.Height) }

// At is entry (x, y) of a channel, the histogram of [0,x)×[0,y), in the memory
// of the table. It is nil outside of the table.
func (t *Table[S]) At(x, y, channel int) []S {
	if uint(x) > uint(t.Width) || uint(y) > uint(t.Height) || uint(channel) >= uint(t.Channels) {
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
	entry := t.Channels * t.Bins.N
	if len(dst) < len(boxes)*entry {
		return fmt.Errorf("histogram: %w: %d boxes of %d channels with %d bins need %d counts, there is room for %d",
			boxsum.ErrInvalid, len(boxes), t.Channels, t.Bins.N, len(boxes)*entry, len(dst))
	}
	for _, box := range boxes {
		for c := range t.Channels {
			t.write(dst[:t.Bins.N], box, c)
			dst = dst[t.Bins.N:]
		}
	}
	return nil
}
