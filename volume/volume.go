package volume

import (
	"fmt"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/grid"
)

// A Volume is Width×Height×Depth voxels of Channels interleaved values each:
// channel c of the voxel at (x, y, z) is
//
//	Pix[z*SliceStride+y*Stride+x*Channels+c]
//
// Zero Channels stands for one, and zero strides for rows and slices without a
// gap, so that Volume[uint8]{Pix: p, Width: w, Height: h, Depth: d} is a whole
// array of shape (d, h, w).
type Volume[P boxsum.Pixel] struct {
	Pix                  []P
	Stride               int // elements from one row to the next
	SliceStride          int // elements from one slice to the next
	Width, Height, Depth int
	Channels             int
}

// New allocates a volume of zeros.
func New[P boxsum.Pixel](width, height, depth, channels int) (Volume[P], error) {
	pix, e, err := grid.NewPixels[P](grid.Volume(width, height, depth, channels, 0, 0))
	if err != nil {
		return Volume[P]{}, err
	}
	return Volume[P]{
		Pix: pix, Stride: e.Stride, SliceStride: e.SliceStride,
		Width: width, Height: height, Depth: depth, Channels: e.Channels,
	}, nil
}

func (v *Volume[P]) extent() grid.Extent {
	return grid.Volume(v.Width, v.Height, v.Depth, v.Channels, v.Stride, v.SliceStride)
}

// Slice is the voxels of slice z as an image, in the volume's own memory, and
// an image without pixels for a slice that the volume does not have.
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

// Bounds is the box of all voxels.
func (v Volume[P]) Bounds() Box { return NewBox(0, 0, 0, v.Width, v.Height, v.Depth) }

// A Box is the voxels (x, y, z) with X0 ≤ x < X1, Y0 ≤ y < Y1 and Z0 ≤ z < Z1.
type Box struct{ X0, Y0, Z0, X1, Y1, Z1 int }

// NewBox is the box between two corners, the nearer one first.
func NewBox(x0, y0, z0, x1, y1, z1 int) Box { return Box{x0, y0, z0, x1, y1, z1} }

// Empty reports whether the box has no voxels.
func (b Box) Empty() bool { return b.X0 >= b.X1 || b.Y0 >= b.Y1 || b.Z0 >= b.Z1 }

// Intersect is what both boxes have in common, and the zero box if that is
// nothing.
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

// Voxels is how many voxels a box has. It is for boxes that are clipped to a
// volume: those of others may be more than an int.
func (b Box) Voxels() int {
	if b.Empty() {
		return 0
	}
	return (b.X1 - b.X0) * (b.Y1 - b.Y0) * (b.Z1 - b.Z0)
}

// String is the box as the command line takes it.
func (b Box) String() string {
	return fmt.Sprintf("%d,%d,%d,%d,%d,%d", b.X0, b.Y0, b.Z0, b.X1, b.Y1, b.Z1)
}
