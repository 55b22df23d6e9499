package volume

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/exact"
	"github.com/boxsum/boxsum/internal/grid"
)

//go:generate go run github.com/boxsum/boxsum/internal/pairs/expand -out integrate.go -template ../internal/kinds/integrate.tmpl -with volume
//go:generate go run github.com/boxsum/boxsum/internal/pairs/expand -out made.go -template ../internal/kinds/made.tmpl -with volume
//go:generate go run github.com/boxsum/boxsum/internal/pairs/expand -out options.go -template ../internal/kinds/options.tmpl -with volume
//go:generate go run github.com/boxsum/boxsum/internal/pairs/expand -out queries.go -template ../internal/kinds/queries.tmpl -with volume

// A Table is the summed-volume table of a Width×Height×Depth volume: entry
// (x, y, z) is the sum of the voxels in [0,x)×[0,y)×[0,z), so that all entries
// with a zero among x, y and z are zero. Channel c of it is
//
//	Sums[z*SliceStride+y*Stride+x*Channels+c]
//
// A table is safe for use by several goroutines as long as none integrates
// into it. Its methods trust its fields: a table of the caller's own memory is
// checked by [IntegrateInto].
type Table[S boxsum.Sum] struct {
	Sums                 []S
	Stride               int // elements from one row to the next
	SliceStride          int // elements from one slice to the next
	Width, Height, Depth int // of the volume
	Channels             int

	// Offset was subtracted from every voxel before summing, see
	// [Options]. The entries lack it; box queries put it back.
	Offset float32

	own    *own[S]
	pixels exact.Pixels
	first  sums // of a table of squares with an offset: the table beside it
}

// own is the layout that a table was allocated with: what lies between its rows
// then belongs to it.
type own[S boxsum.Sum] struct {
	first               *S
	stride, sliceStride int
}

// ownsGaps reports whether what lies between the rows belongs to the table.
func (t *Table[S]) ownsGaps() bool {
	return t.own != nil && *t.own == own[S]{unsafe.SliceData(t.Sums), t.Stride, t.SliceStride} && t.SliceStride == (t.Height+1)*t.Stride
}

// NewTable allocates a table for a volume of this size; zero channels stand for
// one. Its rows are laid out as those of [boxsum.NewTable], which lets the
// engine write past the caches.
func NewTable[S boxsum.Sum](width, height, depth, channels int) (*Table[S], error) {
	sums, e, err := grid.NewSums[S](grid.Volume(width, height, depth, channels, 0, 0))
	if err != nil {
		return nil, advised(err)
	}
	return &Table[S]{
		Sums: sums, Stride: e.Stride, SliceStride: e.SliceStride,
		Width: width, Height: height, Depth: depth, Channels: e.Channels,
		own: &own[S]{unsafe.SliceData(sums), e.Stride, e.SliceStride},
	}, nil
}

// advised says what to do about an error, if it is about memory.
func advised(err error) error {
	if errors.Is(err, grid.ErrMemory) {
		return fmt.Errorf("%w: feed its slices to a Stream", err)
	}
	return err
}

func (t *Table[S]) extent() grid.Extent {
	return grid.Volume(t.Width, t.Height, t.Depth, t.Channels, t.Stride, t.SliceStride)
}

// Bounds is the box of all voxels.
func (t *Table[S]) Bounds() Box {
	if t == nil {
		return Box{}
	}
	return NewBox(0, 0, 0, t.Width, t.Height, t.Depth)
}

// At is entry (x, y, z) of a channel: the sum of that channel over
// [0,x)×[0,y)×[0,z). It is 0 outside of the table.
func (t *Table[S]) At(x, y, z, channel int) S {
	if t == nil || uint(x) > uint(t.Width) || uint(y) > uint(t.Height) || uint(z) > uint(t.Depth) || uint(channel) >= uint(t.Channels) {
		return 0
	}
	return t.Sums[z*t.SliceStride+y*t.Stride+x*t.Channels+channel]
}

// sum is that of a box inside of the volume, without the offset: the rectangle at
// its back less the one at its front, which in float loses less than any other
// order.
func (t *Table[S]) sum(b Box, channel int) S {
	x0, x1 := b.X0*t.Channels+channel, b.X1*t.Channels+channel
	front, back := t.Sums[b.Z0*t.SliceStride:], t.Sums[b.Z1*t.SliceStride:]
	y0, y1 := b.Y0*t.Stride, b.Y1*t.Stride
	return (back[y1+x1] - back[y1+x0] - back[y0+x1] + back[y0+x0]) -
		(front[y1+x1] - front[y1+x0] - front[y0+x1] + front[y0+x0])
}

// SumBoxes writes the sums of all channels over every box, clipped to the
// volume: channel c of boxes[i] is dst[i*Channels+c].
func (t *Table[S]) SumBoxes(dst []S, boxes []Box) error {
	if err := t.room(len(dst), len(boxes)); err != nil {
		return err
	}
	all := t.Bounds()
	for i, box := range boxes {
		sums := dst[i*t.Channels:][:t.Channels]
		if box = box.Intersect(all); box.Empty() {
			clear(sums)
			continue
		}
		for c := range sums {
			if sums[c] = t.sum(box, c); t.Offset != 0 {
				sums[c] = t.restore(sums[c], box, c)
			}
		}
	}
	return nil
}

// Slice is slice z of the table, (Width+1)×(Height+1) entries in the table's own
// memory, and a view of nothing for a slice that it does not have. It is what
// [boxsum.Integrate] would make of the slices before z added up, but for the
// rounding of floats.
func (t *Table[S]) Slice(z int) boxsum.View[S] {
	if t == nil || z < 0 || z > t.Depth {
		return boxsum.View[S]{}
	}
	v := boxsum.View[S]{Stride: t.Stride, Width: t.Width + 1, Height: t.Height + 1, Channels: t.Channels}
	start := z * t.SliceStride
	end := start + t.Height*t.Stride + v.Width*v.Channels
	v.Sums = t.Sums[start:end:end]
	return v
}

// Inclusive is slice z of the table as the convention without zeros has it:
// entry (x, y) of the view sums [0,x]×[0,y]×[0,z]. It shares the table's memory,
// and is a view of nothing for a slice that the volume does not have.
func (t *Table[S]) Inclusive(z int) boxsum.View[S] {
	if t == nil || z < 0 || z >= t.Depth || t.Width == 0 || t.Height == 0 {
		return boxsum.View[S]{}
	}
	v := t.Slice(z + 1)
	v.Sums = v.Sums[t.Stride+t.Channels:]
	v.Width, v.Height = t.Width, t.Height
	return v
}
