package tilted

import (
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/exact"
	"github.com/boxsum/boxsum/internal/grid"
)

// Mean is the mean of one channel over a box, clipped to the image, and 0 for one
// without pixels. In an integer table it is right for boxes of any size.
func (t *Table[S]) Mean(b Box, channel int) float64 {
	if t.Area(b) == 0 || uint(channel) >= uint(t.Channels) {
		return 0
	}
	of := t.channel(channel)
	return exact.MeanOf(&of, part[S]{t, b})
}

// channel is one channel, as statistics see it.
func (t *Table[S]) channel(channel int) exact.Table[S, part[S]] {
	return exact.Table[S, part[S]]{Pixels: t.pixels, Sum: func(p part[S]) S { return t.SumChannel(p.Box, channel) }}
}

// A part is a box that has pixels in the image, or a part of one.
type part[S boxsum.Sum] struct {
	in *Table[S]
	Box
}

func (p part[S]) Pixels() int { return p.in.Area(p.Box) }

// Halves are parts along the longer side.
func (p part[S]) Halves() (one, other part[S], ok bool) {
	one, other = p, p
	if p.W > p.H {
		one.W = p.W / 2
		other.X, other.Y, other.W = p.X+one.W, p.Y+one.W, p.W-one.W
	} else {
		one.H = p.H / 2
		other.X, other.Y, other.H = p.X-one.H, p.Y+one.H, p.H-one.H
	}
	return one, other, p.W > 1 || p.H > 1 // the smallest box has two pixels
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
// one without pixels.
func (t *SquaredTable[S, Q]) Mean(b Box, channel int) float64 {
	if t == nil {
		return 0
	}
	return t.Sum.Mean(b, channel)
}

// Variance is the variance of one channel over a box, clipped to the image: never
// negative, and 0 for a box without pixels. It is as good as
// [boxsum.SquaredTable.Variance], and as that NaN where cancellation of floats has
// eaten it.
func (t *SquaredTable[S, Q]) Variance(b Box, channel int) float64 {
	if t == nil || t.Sum == nil || t.Squares == nil || t.Sum.Area(b) == 0 || uint(channel) >= uint(t.Sum.Channels) {
		return 0
	}
	clamped := func(x, y int) (int, int) { return min(max(x, 0), t.Sum.Width), min(max(y, 0), t.Sum.Height) }
	x, y := clamped(total(b.X, b.W, -b.H), total(b.Y, b.W, b.H))
	sums, of := t.Sum.channel(channel), t.Squares.channel(channel)
	squares := exact.Table[Q, part[S]]{Pixels: of.Pixels, Sum: func(p part[S]) Q { return t.Squares.SumChannel(p.Box, channel) }}
	return exact.VarianceOf(&sums, &squares, part[S]{t.Sum, b}, func(part[S]) exact.Rounding {
		return exact.Rounding{Squares: float64(t.Squares.At(x, y, channel)), Pixels: y * t.Sum.Width, Steps: 4 * (t.Sum.Height + t.Sum.Width)}
	}, func(part[S]) bool {
		for _, at := range [...][2]int{{b.X, b.Y}, {total(b.X, -b.H), total(b.Y, b.H)}, {total(b.X, b.W), total(b.Y, b.W)}, {x, y}} {
			x, y := clamped(at[0], at[1])
			if !exact.IsWhole(t.Sum.At(x, y, channel), t.Squares.At(x, y, channel)) {
				return false
			}
		}
		return true
	})
}

// StdDev is the standard deviation of one channel over a box: the square root
// of its [SquaredTable.Variance].
func (t *SquaredTable[S, Q]) StdDev(b Box, channel int) float64 {
	return math.Sqrt(t.Variance(b, channel))
}
