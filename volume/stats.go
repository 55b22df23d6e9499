package volume

import (
	"math"

	"github.com/boxsum/boxsum/internal/exact"
	"github.com/boxsum/boxsum/internal/grid"
)

// Mean is the mean of one channel over a box, clipped to the volume, and 0 for
// an empty box. In an integer table it is right for boxes of any size.
func (t *Table[S]) Mean(box Box, channel int) float64 {
	if box = box.Intersect(t.Bounds()); box.Empty() || uint(channel) >= uint(t.Channels) {
		return 0
	}
	of := t.channel(channel)
	return exact.MeanOf(&of, cuboid(box))
}

// channel is one channel, as statistics see it.
func (t *Table[S]) channel(channel int) exact.Table[S, cuboid] {
	return exact.Table[S, cuboid]{Pixels: t.pixels, Offset: t.Offset, Sum: func(box cuboid) S { return t.sum(Box(box), channel) }}
}

// A cuboid is a box inside of the volume.
type cuboid Box

func (c cuboid) Pixels() int { return Box(c).Voxels() }

// Halves are parts along the longest side.
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

// Know is for packages of this module, and for tables that they did not make by
// integrating: what is known of their voxels.
func (t *Table[S]) Know(pixels exact.Pixels) {
	if t != nil {
		t.pixels = pixels
	}
}

// room reports whether the table is good, and the room for answers enough.
func (t *Table[S]) room(have, boxes int) error {
	if t == nil {
		return grid.NoTable()
	}
	e := t.extent()
	if err := e.Sums(len(t.Sums)); err != nil {
		return err
	}
	return grid.Room(have, boxes, t.Channels)
}

// MeanBoxes writes the means of all channels over every box, clipped to the volume:
// channel c of boxes[i] is dst[i*Channels+c]. That of an empty box is 0.
func (t *Table[S]) MeanBoxes(dst []float64, boxes []Box) error {
	if err := t.room(len(dst), len(boxes)); err != nil {
		return err
	}
	exact.Each(dst, boxes, t.Channels, t.Mean)
	return nil
}

// Mean is the mean of one channel over a box, clipped to the volume, and 0 for
// an empty box.
func (t *SquaredTable[S, Q]) Mean(box Box, channel int) float64 {
	if t == nil {
		return 0
	}
	return t.Sum.Mean(box, channel)
}

// Variance is the variance of one channel over a box, clipped to the volume: the
// mean square distance from the mean, never negative, and 0 for an empty box. It is
// as good as [boxsum.SquaredTable.Variance], and as that NaN where cancellation of
// floats has eaten it.
func (t *SquaredTable[S, Q]) Variance(box Box, channel int) float64 {
	if t == nil || t.Sum == nil || t.Squares == nil {
		return 0
	}
	if box = box.Intersect(t.Sum.Bounds()); box.Empty() || uint(channel) >= uint(t.Sum.Channels) {
		return 0
	}
	sums, squares := t.Sum.channel(channel), t.Squares.channel(channel)
	return exact.VarianceOf(&sums, &squares, cuboid(box), func(b cuboid) exact.Rounding {
		return exact.Rounding{Squares: float64(t.Squares.At(b.X1, b.Y1, b.Z1, channel)), Pixels: b.X1 * b.Y1 * b.Z1, Steps: t.Sum.Depth + t.Sum.Height + t.Sum.Width/4 + 8}
	}, func(b cuboid) bool {
		xs, ys, zs := [2]int{b.X0, b.X1}, [2]int{b.Y0, b.Y1}, [2]int{b.Z0, b.Z1}
		for corner := range 8 {
			x, y, z := xs[corner&1], ys[corner>>1&1], zs[corner>>2]
			if !exact.IsWhole(t.Sum.At(x, y, z, channel), t.Squares.At(x, y, z, channel)) {
				return false
			}
		}
		return true
	})
}

// StdDev is the standard deviation of one channel over a box: the square root
// of its [SquaredTable.Variance].
func (t *SquaredTable[S, Q]) StdDev(box Box, channel int) float64 {
	return math.Sqrt(t.Variance(box, channel))
}

// MeanBoxes is [Table.MeanBoxes].
func (t *SquaredTable[S, Q]) MeanBoxes(dst []float64, boxes []Box) error {
	if t == nil {
		return grid.NoTable()
	}
	return t.Sum.MeanBoxes(dst, boxes)
}

// VarianceBoxes writes the variances of all channels over every box, as
// [Table.MeanBoxes] does the means.
func (t *SquaredTable[S, Q]) VarianceBoxes(dst []float64, boxes []Box) error {
	return t.each(dst, boxes, t.Variance)
}

// StdDevBoxes is the same for standard deviations.
func (t *SquaredTable[S, Q]) StdDevBoxes(dst []float64, boxes []Box) error {
	return t.each(dst, boxes, t.StdDev)
}

func (t *SquaredTable[S, Q]) each(dst []float64, boxes []Box, of func(box Box, channel int) float64) error {
	if t == nil {
		return grid.NoTable()
	}
	if err := t.Sum.room(len(dst), len(boxes)); err != nil {
		return err
	}
	if err := t.Squares.room(len(dst), len(boxes)); err != nil {
		return err
	}
	a, b := t.Sum.extent(), t.Squares.extent()
	if err := b.Same(&a); err != nil {
		return err
	}
	exact.Each(dst, boxes, t.Sum.Channels, of)
	return nil
}
