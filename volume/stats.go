package volume

import (
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/stats"
)

// A cuboid is a box inside the volume.
type cuboid Box

func (c cuboid) Pixels() int { return Box(c).Voxels() }

// Halves splits the cuboid in two across its longest side. ok is always true:
// the sum of a single voxel always fits.
func (c cuboid) Halves() (one, other cuboid, ok bool) {
	one, other = c, c
	switch width, height, depth := c.X1-c.X0, c.Y1-c.Y0, c.Z1-c.Z0; max(width, height, depth) {
	case depth:
		one.Z1 = c.Z0 + depth/2
		other.Z0 = one.Z1
	case height:
		one.Y1 = c.Y0 + height/2
		other.Y0 = one.Y1
	default:
		one.X1 = c.X0 + width/2
		other.X0 = one.X1
	}
	return one, other, true // a voxel always fits
}

// clip returns the part of box that is inside the volume.
func (t *Table[S]) clip(box Box) Box { return box.Intersect(t.Bounds()) }

func (t *SquaredTable[S, Q]) rounding(c cuboid, channel int) stats.Rounding {
	// As in an image, plus adding each slice to the one before.
	steps := c.Z1 + c.Y1 + c.X1*min(t.Sum.Channels, 4)/4 + 8
	return stats.Rounding{Entries: 8, Squares: float64(t.Squares.At(c.X1, c.Y1, c.Z1, channel)), Pixels: c.X1 * c.Y1 * c.Z1, Steps: steps}
}

// whole reports whether all entries at the corners of a box are whole numbers.
func (t *SquaredTable[S, Q]) whole(c cuboid, channel int) bool {
	xs, ys, zs := [2]int{c.X0, c.X1}, [2]int{c.Y0, c.Y1}, [2]int{c.Z0, c.Z1}
	for corner := range 8 {
		x, y, z := xs[corner&1], ys[corner>>1&1], zs[corner>>2]
		if !stats.IsWhole(float64(t.Sum.At(x, y, z, channel)), float64(t.Squares.At(x, y, z, channel)), raster.TypeOf[S]()) {
			return false
		}
	}
	return true
}
