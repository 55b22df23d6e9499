// Code generated from queries.tmpl. DO NOT EDIT.

package rotated

import (
	"math"

	"github.com/boxsum/boxsum/internal/exact"
	"github.com/boxsum/boxsum/internal/grid"
)

// Sum is the sum of the first channel over a box. Cells without a pixel of the
// image, inside and outside of it, count as 0.
func (t *Table[S]) Sum(box Box) S { return t.SumChannel(box, 0) }

// SumChannels appends the sum of every channel over a box
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

// Know is for packages of this module, and for tables that they did not make by
// integrating: what is known of their pixels.
func (t *Table[S]) Know(pixels exact.Pixels) {
	if t != nil {
		t.pixels = pixels
	}
}

// SumBoxes writes the sums of all channels over every box:
// channel c of boxes[i] is dst[i*Channels+c].
func (t *Table[S]) SumBoxes(dst []S, boxes []Box) error {
	if err := t.room(len(dst), len(boxes)); err != nil {
		return err
	}
	exact.Each(dst, boxes, t.Channels, t.SumChannel)
	return nil
}

// room reports whether the table is good, and the room for answers enough.
func (t *Table[S]) room(have, boxes int) error {
	if t == nil || t.Lattice == nil {
		return grid.NoTable()
	}
	return grid.Room(have, boxes, t.Channels)
}

// Mean is the mean of one channel over a box, and 0 for
// a box without pixels. In an integer table it is right for boxes of any size, also where
// their sum does not fit the type: such a box is summed in parts that do.
func (t *Table[S]) Mean(box Box, channel int) float64 {
	within, ok := t.inside(box)
	if !ok || uint(channel) >= uint(t.Channels) {
		return 0
	}
	of := t.channel(channel)
	return exact.MeanOf(&of, within)
}

// channel is one channel, as statistics see it.
func (t *Table[S]) channel(channel int) exact.Table[S, part] {
	return exact.Table[S, part]{Pixels: t.pixels, Sum: func(p part) S { return t.SumChannel(p.Box, channel) }}
}

// Mean is [Table.Mean].
func (t *SquaredTable[S, Q]) Mean(box Box, channel int) float64 {
	if t == nil {
		return 0
	}
	return t.Sum.Mean(box, channel)
}

// Variance is the variance of one channel over a box:
// the mean square distance from the mean, never negative, and 0 for a box without pixels.
// It is as good as [boxsum.SquaredTable.Variance], and as that NaN where
// cancellation of floats has eaten it.
func (t *SquaredTable[S, Q]) Variance(box Box, channel int) float64 {
	if t == nil || t.Sum == nil || t.Squares.area(box) == 0 {
		return 0
	}
	within, ok := t.Sum.inside(box)
	if !ok || uint(channel) >= uint(t.Sum.Channels) {
		return 0
	}
	sums, squares := t.Sum.channel(channel), t.Squares.channel(channel)
	return exact.VarianceOf(&sums, &squares, within, func(p part) exact.Rounding { return t.rounding(p, channel) },
		func(p part) bool { return t.whole(p, channel) })
}

// StdDev is the standard deviation of one channel over a box: the square root
// of its [SquaredTable.Variance].
func (t *SquaredTable[S, Q]) StdDev(box Box, channel int) float64 {
	return math.Sqrt(t.Variance(box, channel))
}
