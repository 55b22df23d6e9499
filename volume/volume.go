package volume

import (
	"fmt"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/raster"
)

// A Volume holds Width×Height×Depth voxels of Channels interleaved values each:
// channel c of the voxel at (x, y, z) is
//
//	Pix[z*SliceStride+y*Stride+x*Channels+c]
//
// If Channels is zero, the volume has one channel. If a stride is zero, there are no
// gaps between rows or slices. So Volume[uint8]{Pix: p, Width: w, Height: h, Depth: d}
// is a complete array of shape (d, h, w).
type Volume[P boxsum.Pixel] struct {
	Pix                  []P
	Stride               int // elements from one row to the next
	SliceStride          int // elements from one slice to the next
	Width, Height, Depth int
	Channels             int
}

// New allocates a volume of zeros. Zero channels means one. It returns an error that
// wraps [boxsum.ErrInvalid] if an argument is negative, and one that wraps
// [boxsum.ErrMemory] if there is not enough memory.
func New[P boxsum.Pixel](width, height, depth, channels int) (Volume[P], error) {
	pix, e, err := raster.NewPixels[P](raster.VolumeExtent(width, height, depth, channels, 0, 0))
	if err != nil {
		return Volume[P]{}, err
	}
	return Volume[P]{
		Pix: pix, Stride: e.Stride, SliceStride: e.SliceStride,
		Width: width, Height: height, Depth: depth, Channels: e.Channels,
	}, nil
}

func (v *Volume[P]) extent() raster.Extent {
	return raster.VolumeExtent(v.Width, v.Height, v.Depth, v.Channels, v.Stride, v.SliceStride)
}

// Slice returns slice z as an image that shares the memory of the volume, or an empty
// image if z is out of range or the volume is invalid.
func (v Volume[P]) Slice(z int) boxsum.Image[P] {
	e := v.extent()
	if err := e.Pixels(len(v.Pix)); err != nil || z < 0 || z >= v.Depth {
		return boxsum.Image[P]{}
	}
	if v.Width == 0 || v.Height == 0 {
		return boxsum.Image[P]{Width: v.Width, Height: v.Height, Channels: e.Channels}
	}
	start := z * e.SliceStride
	end := start + (v.Height-1)*e.Stride + v.Width*e.Channels
	return boxsum.Image[P]{Pix: v.Pix[start:end:end], Stride: e.Stride, Width: v.Width, Height: v.Height, Channels: e.Channels}
}

// Bounds returns the box of all voxels.
func (v Volume[P]) Bounds() Box { return NewBox(0, 0, 0, v.Width, v.Height, v.Depth) }

// A Box contains the voxels (x, y, z) with X0 ≤ x < X1, Y0 ≤ y < Y1 and Z0 ≤ z < Z1.
type Box struct{ X0, Y0, Z0, X1, Y1, Z1 int }

// NewBox returns Box{x0, y0, z0, x1, y1, z1}.
func NewBox(x0, y0, z0, x1, y1, z1 int) Box { return Box{x0, y0, z0, x1, y1, z1} }

// Empty reports whether the box contains no voxels.
func (b Box) Empty() bool { return b.X0 >= b.X1 || b.Y0 >= b.Y1 || b.Z0 >= b.Z1 }

// Intersect returns the largest box contained in both b and c, or the zero Box if they
// do not overlap.
func (b Box) Intersect(c Box) Box {
	b = Box{
		max(b.X0, c.X0), max(b.Y0, c.Y0), max(b.Z0, c.Z0),
		min(b.X1, c.X1), min(b.Y1, c.Y1), min(b.Z1, c.Z1),
	}
	if b.Empty() {
		return Box{}
	}
	return b
}

// Voxels returns the number of voxels in a box. The number may overflow for boxes that
// are much larger than any volume.
func (b Box) Voxels() int {
	if b.Empty() {
		return 0
	}
	return (b.X1 - b.X0) * (b.Y1 - b.Y0) * (b.Z1 - b.Z0)
}

// String returns the box as X0,Y0,Z0,X1,Y1,Z1.
func (b Box) String() string {
	return fmt.Sprintf("%d,%d,%d,%d,%d,%d", b.X0, b.Y0, b.Z0, b.X1, b.Y1, b.Z1)
}
