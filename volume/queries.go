// Code generated from queries.tmpl. DO NOT EDIT.

package volume

import (
	"math"

	"github.com/boxsum/boxsum/internal/exact"
	"github.com/boxsum/boxsum/internal/grid"
)

// Sum is the sum of the first channel over a box, clipped to the volume. It comes from
// the eight entries at its corners. The sum of an empty box is 0.
func (t *Table[S]) Sum(box Box) S { return t.SumChannel(box, 0) }

// SumChannels appends the sum of every channel over a box, clipped to the volume,
// to dst.
func (t *Table[S]) SumChannels(dst []S, box Box) []S {
	if t == nil {
		return dst
	}
	for channel := range t.Channels {
		dst = append(dst, t.SumChannel(box, channel))
	}
	return dst
}

// SumChannel is the sum of one channel over a box, clipped to the volume. The
// sum of a channel that the volume does not have is 0.
func (t *Table[S]) SumChannel(box Box, channel int) S {
	box = box.Intersect(t.Bounds())
	if box.Empty() || uint(channel) >= uint(t.Channels) {
		return 0
	}
	s := t.sum(box, channel)
	if t.Offset != 0 {
		s = t.restore(s, box, channel)
	}
	return s
}

// restore puts the offset back into the sum of a box inside of the volume.
func (t *Table[S]) restore(s S, box Box, channel int) S {
	offset, n := float64(t.Offset), float64(cuboid(box).Pixels())
	if t.first != nil { // (p−o)² = p² − 2o(p−o) − o²
		return s + S(2*offset*t.first.float(box, channel)+offset*offset*n)
	}
	return s + S(offset*n)
}

// sums are what the squares of voxels less an offset lack to be those of the voxels.
type sums interface {
	float(box Box, channel int) float64
}

func (t *Table[S]) float(box Box, channel int) float64 { return float64(t.sum(box, channel)) }

// Know is for packages of this module, and for tables that they did not make by
// integrating: what is known of their voxels.
func (t *Table[S]) Know(pixels exact.Pixels) {
	if t != nil {
		t.pixels, t.first = pixels, nil
	}
}

// Tie is for such tables too: squares that lack an offset have it put back by way of
// the sums beside them.
func (t *SquaredTable[S, Q]) Tie() {
	if t != nil && t.Sum != nil && t.Squares != nil && t.Squares.Offset != 0 {
		t.Squares.first = t.Sum
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

// Mean is the mean of one channel over a box, clipped to the volume, and 0 for
// an empty box. In an integer table it is right for boxes of any size, also where
// their sum does not fit the type: such a box is summed in parts that do.
func (t *Table[S]) Mean(box Box, channel int) float64 {
	if box = box.Intersect(t.Bounds()); box.Empty() || uint(channel) >= uint(t.Channels) {
		return 0
	}
	within := cuboid(box)
	if n := within.Pixels(); t.pixels.Fit(n) {
		return t.mean(n, box, channel)
	}
	of := t.channel(channel)
	return exact.MeanOf(&of, within)
}

// mean is that of n voxels whose sum fits.
func (t *Table[S]) mean(n int, box Box, channel int) float64 {
	if t.first != nil { // the squares of voxels less an offset
		return exact.Mean(n, t.restore(t.sum(box, channel), box, channel))
	}
	return float64(t.Offset) + exact.Mean(n, t.sum(box, channel))
}

// channel is one channel, as statistics see it.
func (t *Table[S]) channel(channel int) exact.Table[S, cuboid] {
	return exact.Table[S, cuboid]{Pixels: t.pixels, Offset: t.Offset, Sum: func(box cuboid) S { return t.sum(Box(box), channel) }}
}

// MeanBoxes writes the means of all channels over every box, clipped to the volume:
// channel c of boxes[i] is dst[i*Channels+c]. That of an empty box is 0.
func (t *Table[S]) MeanBoxes(dst []float64, boxes []Box) error {
	if err := t.room(len(dst), len(boxes)); err != nil {
		return err
	}
	for i, box := range boxes { // in line, so that the reads of many boxes are under way at once
		box, means := t.clip(box), dst[i*t.Channels:][:t.Channels]
		switch n := cuboid(box).Pixels(); {
		case n == 0:
			clear(means)
		case t.pixels.Fit(n) && t.first == nil:
			for c := range means {
				means[c] = float64(t.Offset) + float64(t.sum(box, c))/float64(n)
			}
		default:
			for c := range means {
				means[c] = t.Mean(box, c)
			}
		}
	}
	return nil
}

// Mean is [Table.Mean].
func (t *SquaredTable[S, Q]) Mean(box Box, channel int) float64 {
	if t == nil {
		return 0
	}
	return t.Sum.Mean(box, channel)
}

// Variance is the variance of one channel over a box, clipped to the volume:
// the mean square distance from the mean, never negative, and 0 for an empty box.
// It is as good as [boxsum.SquaredTable.Variance], and as that NaN where
// cancellation of floats has eaten it.
func (t *SquaredTable[S, Q]) Variance(box Box, channel int) float64 {
	if t == nil || t.Sum == nil || t.Squares == nil {
		return 0
	}
	if box = box.Intersect(t.Sum.Bounds()); box.Empty() || uint(channel) >= uint(t.Sum.Channels) {
		return 0
	}
	within := cuboid(box)
	if n := within.Pixels(); !exact.IsFloat[S]() && !exact.IsFloat[Q]() && t.Sum.pixels.Fit(n) && t.Squares.pixels.Fit(n) {
		return exact.Variance(n, t.Sum.sum(box, channel), t.Squares.sum(box, channel), nil, nil)
	}
	sums, squares := t.Sum.channel(channel), t.Squares.channel(channel)
	return exact.VarianceOf(&sums, &squares, within, func(p cuboid) exact.Rounding { return t.rounding(p, channel) },
		func(p cuboid) bool { return t.whole(p, channel) })
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

// VarianceBoxes writes the variances of all channels over every box, clipped to the volume:
// channel c of boxes[i] is dst[i*Channels+c]. That of an empty box is 0.
func (t *SquaredTable[S, Q]) VarianceBoxes(dst []float64, boxes []Box) error {
	return t.each(dst, boxes, t.Variance, func(v float64) float64 { return v })
}

// StdDevBoxes is [SquaredTable.VarianceBoxes] for standard deviations.
func (t *SquaredTable[S, Q]) StdDevBoxes(dst []float64, boxes []Box) error {
	return t.each(dst, boxes, t.StdDev, math.Sqrt)
}

// each answers of every box, by way of its variance where that comes from integers
// that fit.
func (t *SquaredTable[S, Q]) each(dst []float64, boxes []Box, of func(box Box, channel int) float64, ofVariance func(float64) float64) error {
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
	integers, channels := !exact.IsFloat[S]() && !exact.IsFloat[Q](), t.Sum.Channels
	for i, box := range boxes {
		box, out := t.Sum.clip(box), dst[i*channels:][:channels]
		switch n := cuboid(box).Pixels(); {
		case n == 0:
			clear(out)
		case integers && t.Sum.pixels.Fit(n) && t.Squares.pixels.Fit(n):
			for c := range out {
				out[c] = ofVariance(exact.Variance(n, t.Sum.sum(box, c), t.Squares.sum(box, c), nil, nil))
			}
		default:
			for c := range out {
				out[c] = of(box, c)
			}
		}
	}
	return nil
}
