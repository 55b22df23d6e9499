// Code generated from queries.tmpl. DO NOT EDIT.

package tilted

import (
	"math"

	"github.com/boxsum/boxsum/internal/exact"
	"github.com/boxsum/boxsum/internal/grid"
)

// Sum is the sum of the first channel over a box, clipped to the image. It takes
// four reads, but where the box sticks out below the image: see [Table.Contains].
// The sum of an empty box is 0.
func (t *Table[S]) Sum(b Box) S { return t.SumChannel(b, 0) }

// SumChannels appends the sum of every channel over a box, clipped to the image,
// to dst.
func (t *Table[S]) SumChannels(dst []S, b Box) []S {
	if t == nil {
		return dst
	}
	for channel := range t.Channels {
		dst = append(dst, t.SumChannel(b, channel))
	}
	return dst
}

// SumBoxes writes the sums of all channels over every box, clipped to the image:
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
	if t == nil {
		return grid.NoTable()
	}
	e := t.extent()
	if err := e.Sums(len(t.Sums)); err != nil {
		return err
	}
	return grid.Room(have, boxes, t.Channels)
}

// Mean is the mean of one channel over a box, clipped to the image, and 0 for
// a box without pixels. In an integer table it is right for boxes of any size, also where
// their sum does not fit the type: such a box is summed in parts that do.
func (t *Table[S]) Mean(b Box, channel int) float64 {
	within, ok := t.inside(b)
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

// MeanBoxes writes the means of all channels over every box, clipped to the image:
// channel c of boxes[i] is dst[i*Channels+c]. That of a box without pixels is 0.
func (t *Table[S]) MeanBoxes(dst []float64, boxes []Box) error {
	if err := t.room(len(dst), len(boxes)); err != nil {
		return err
	}
	exact.Each(dst, boxes, t.Channels, t.Mean)
	return nil
}

// Mean is [Table.Mean].
func (t *SquaredTable[S, Q]) Mean(b Box, channel int) float64 {
	if t == nil {
		return 0
	}
	return t.Sum.Mean(b, channel)
}

// Variance is the variance of one channel over a box, clipped to the image:
// the mean square distance from the mean, never negative, and 0 for a box without pixels.
// It is as good as [boxsum.SquaredTable.Variance], and as that NaN where
// cancellation of floats has eaten it.
func (t *SquaredTable[S, Q]) Variance(b Box, channel int) float64 {
	if t == nil || t.Sum == nil || t.Squares == nil {
		return 0
	}
	within, ok := t.Sum.inside(b)
	if !ok || uint(channel) >= uint(t.Sum.Channels) {
		return 0
	}
	sums, squares := t.Sum.channel(channel), t.Squares.channel(channel)
	return exact.VarianceOf(&sums, &squares, within, func(p part) exact.Rounding { return t.rounding(p, channel) },
		func(p part) bool { return t.whole(p, channel) })
}

// StdDev is the standard deviation of one channel over a box: the square root
// of its [SquaredTable.Variance].
func (t *SquaredTable[S, Q]) StdDev(b Box, channel int) float64 {
	return math.Sqrt(t.Variance(b, channel))
}
