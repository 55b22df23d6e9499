package volume

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/stats"
)

// A Table is the summed-volume table of a Width×Height×Depth volume: entry (x, y, z) is
// the sum of the voxels in [0,x)×[0,y)×[0,z), so all entries where x, y or z is zero
// are zero. Channel c of entry (x, y, z) is
//
//	Sums[z*SliceStride+y*Stride+x*Channels+c]
//
// A table is safe for concurrent use as long as no goroutine integrates into it.
// Methods do not check the fields. [IntegrateInto] does, for tables whose memory the
// caller allocated.
type Table[S boxsum.Sum] struct {
	Sums                 []S
	Stride               int // elements from one row to the next
	SliceStride          int // elements from one slice to the next
	Width, Height, Depth int // size of the volume in voxels
	Channels             int

	// Offset was subtracted from every voxel before summing; see [boxsum.Options.Offset].
	// The entries do not include it; box queries add it back.
	Offset float32

	// Bound is the largest possible magnitude of the summed voxels, or of their squares in
	// a table of squares: 255 and 255·255 for bytes. Integrate sets it from the type of
	// the voxels, or from their values if a sum of a few voxels of that type may overflow.
	// Means and variances of boxes whose sum may exceed the sum type are then computed in
	// parts.
	//
	// Set Bound in a table of your own memory. If it is 0, the voxels are assumed to be
	// uint8 for uint32 sums, uint32 for uint64 sums, and int32 for int64 sums. Float sums
	// ignore it.
	Bound uint64

	// Signed marks a uint32 table whose entries are int32 sums, as in tables of some other
	// libraries. Means are then computed from the signed sums.
	Signed bool

	own   *own[S]
	first sums // in a table of squares with an offset: the table of the sums
}

// own is the layout that a table was allocated with: the gaps between its rows belong
// to it.
type own[S boxsum.Sum] struct {
	first               *S
	stride, sliceStride int
}

// ownsGaps reports whether the gaps between rows belong to the table.
func (t *Table[S]) ownsGaps() bool {
	return t.own != nil && *t.own == own[S]{unsafe.SliceData(t.Sums), t.Stride, t.SliceStride} && t.SliceStride == (t.Height+1)*t.Stride
}

// known returns what is known about the voxels of the table.
func (t *Table[S]) known() stats.Pixels { return stats.Pixels{Bound: t.Bound, Signed: t.Signed} }

// NewTable allocates a table for a volume of the given size; zero channels means one.
// Its rows are laid out like those of [boxsum.NewTable], which lets the engine bypass
// the caches when it writes. NewTable returns an error that wraps [boxsum.ErrInvalid]
// if an argument is negative, and one that wraps [boxsum.ErrMemory] if there is not
// enough memory.
func NewTable[S boxsum.Sum](width, height, depth, channels int) (*Table[S], error) {
	sums, e, err := raster.NewSums[S](raster.VolumeExtent(width, height, depth, channels, 0, 0))
	if err != nil {
		return nil, advised(err)
	}
	return &Table[S]{
		Sums: sums, Stride: e.Stride, SliceStride: e.SliceStride,
		Width: width, Height: height, Depth: depth, Channels: e.Channels,
		own: &own[S]{unsafe.SliceData(sums), e.Stride, e.SliceStride},
	}, nil
}

// advised adds advice to an error about memory.
func advised(err error) error {
	if errors.Is(err, raster.ErrMemory) {
		return fmt.Errorf("%w (add its slices to a Stream)", err)
	}
	return err
}

// set makes a job write to the memory of the table, which has not been checked.
func (t *Table[S]) set(to *engine.Table) {
	raster.SetVolume(&to.Array, t.Sums, t.Width, t.Height, t.Depth, t.Channels, t.Stride, t.SliceStride)
	to.Whole = t.ownsGaps()
}

func (t *Table[S]) extent() raster.Extent {
	return raster.VolumeExtent(t.Width, t.Height, t.Depth, t.Channels, t.Stride, t.SliceStride)
}

// Bounds returns the box of all voxels.
func (t *Table[S]) Bounds() Box {
	if t == nil {
		return Box{}
	}
	return NewBox(0, 0, 0, t.Width, t.Height, t.Depth)
}

// At returns entry (x, y, z) of a channel: the sum of that channel over
// [0,x)×[0,y)×[0,z). It returns 0 if the arguments are out of range.
func (t *Table[S]) At(x, y, z, channel int) S {
	if t == nil || uint(x) > uint(t.Width) || uint(y) > uint(t.Height) || uint(z) > uint(t.Depth) || uint(channel) >= uint(t.Channels) {
		return 0
	}
	return t.Sums[z*t.SliceStride+y*t.Stride+x*t.Channels+channel]
}

// sum returns the sum of a box inside the volume, without the offset: the rectangle at
// the back minus the one at the front, the order that loses the least in floats.
func (t *Table[S]) sum(b Box, channel int) S {
	x0, x1 := b.X0*t.Channels+channel, b.X1*t.Channels+channel
	front, back := t.Sums[b.Z0*t.SliceStride:], t.Sums[b.Z1*t.SliceStride:]
	y0, y1 := b.Y0*t.Stride, b.Y1*t.Stride
	return (back[y1+x1] - back[y1+x0] - back[y0+x1] + back[y0+x0]) -
		(front[y1+x1] - front[y1+x0] - front[y0+x1] + front[y0+x0])
}

// SumBoxes writes the sums of all channels over every box, clipped to the volume, to
// dst: the sum of channel c over boxes[i] is dst[i*Channels+c]. SumBoxes returns an
// error if dst has fewer than len(boxes)*Channels elements.
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

// Slice returns slice z of the table, (Width+1)×(Height+1) entries that share the
// memory of the table, or an empty view if z is out of range. Apart from the rounding
// of floats, it equals the table of an image that is the sum of all slices of the
// volume before z.
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

// Inclusive returns slice z of the table without its zeros: entry (x, y) of the view is
// the sum over [0,x]×[0,y]×[0,z]. It shares the memory of the table. If the volume has
// no slice z, Inclusive returns an empty view.
func (t *Table[S]) Inclusive(z int) boxsum.View[S] {
	if t == nil || z < 0 || z >= t.Depth || t.Width == 0 || t.Height == 0 {
		return boxsum.View[S]{}
	}
	v := t.Slice(z + 1)
	v.Sums = v.Sums[t.Stride+t.Channels:]
	v.Width, v.Height = t.Width, t.Height
	return v
}
