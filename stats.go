package boxsum

import (
	"image"
	"math"

	"github.com/boxsum/boxsum/internal/exact"
	"github.com/boxsum/boxsum/internal/grid"
)

// Mean is the mean of one channel over a box, clipped to the image, and 0 for
// an empty box. In an integer table it is right for boxes of any size, also where
// their sum does not fit the type: such a box is summed in parts that do.
func (t *Table[S]) Mean(box image.Rectangle, channel int) float64 {
	if box = box.Intersect(t.Bounds()); box.Empty() || uint(channel) >= uint(t.Channels) {
		return 0
	}
	if n := area(box); t.pixels.Fit(n) {
		return float64(t.Offset) + exact.Mean(n, t.sum(box, channel))
	}
	of := t.channel(channel)
	return exact.MeanOf(&of, rectangle(box))
}

// channel is one channel, as statistics see it.
func (t *Table[S]) channel(channel int) exact.Table[S, rectangle] {
	return exact.Table[S, rectangle]{Pixels: t.pixels, Offset: t.Offset, Sum: func(box rectangle) S { return t.sum(image.Rectangle(box), channel) }}
}

// A rectangle is a box inside of the image.
type rectangle image.Rectangle

func (r rectangle) Pixels() int { return (r.Max.X - r.Min.X) * (r.Max.Y - r.Min.Y) }

func (r rectangle) Halves() (one, other rectangle, ok bool) {
	one, other = r, r
	if width, height := r.Max.X-r.Min.X, r.Max.Y-r.Min.Y; width > height {
		one.Max.X = r.Min.X + width/2
		other.Min.X = one.Max.X
	} else {
		one.Max.Y = r.Min.Y + height/2
		other.Min.Y = one.Max.Y
	}
	return one, other, true // a pixel always fits
}

// MeanBoxes writes the means of all channels over every box, clipped to the image:
// channel c of boxes[i] is dst[i*Channels+c]. That of an empty box is 0.
func (t *Table[S]) MeanBoxes(dst []float64, boxes []image.Rectangle) error {
	if err := t.room(len(dst), len(boxes)); err != nil {
		return err
	}
	for i, box := range boxes { // in line, so that the reads of many boxes are under way at once
		box, means := t.clip(box), dst[i*t.Channels:][:t.Channels]
		switch n := area(box); {
		case n == 0:
			clear(means)
		case t.pixels.Fit(n):
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

// Know is for packages of this module, and for tables that they did not make by
// integrating: what is known of their pixels.
func (t *Table[S]) Know(pixels exact.Pixels) {
	if t != nil {
		t.pixels = pixels
	}
}

// clip is what of a box is in the image.
func (t *Table[S]) clip(box image.Rectangle) image.Rectangle {
	box.Min.X, box.Max.X = max(box.Min.X, 0), min(box.Max.X, t.Width)
	box.Min.Y, box.Max.Y = max(box.Min.Y, 0), min(box.Max.Y, t.Height)
	return box
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
// an empty box.
func (t *SquaredTable[S, Q]) Mean(box image.Rectangle, channel int) float64 {
	if t == nil {
		return 0
	}
	return t.Sum.Mean(box, channel)
}

// Variance is the variance of one channel over a box, clipped to the image:
// the mean square distance from the mean, never negative, and 0 for an empty
// box.
//
// For integer tables it comes from exact integers and is right to two units in
// the last place, for boxes of any size. For float tables it is the difference of
// two rounded numbers. Where their rounding may be more than a fiftieth of it, as
// the entries of the tables tell, it is NaN: cancellation has eaten it. That does
// not happen to whole numbers up to 2^44, whose sums are exact, and hardly to
// images that lie far from zero as a whole, see [SquaredTable].
func (t *SquaredTable[S, Q]) Variance(box image.Rectangle, channel int) float64 {
	if t == nil || t.Sum == nil || t.Squares == nil {
		return 0
	}
	if box = box.Intersect(t.Sum.Bounds()); box.Empty() || uint(channel) >= uint(t.Sum.Channels) {
		return 0
	}
	if n := area(box); !exact.IsFloat[S]() && !exact.IsFloat[Q]() && t.Sum.pixels.Fit(n) && t.Squares.pixels.Fit(n) {
		return exact.Variance(n, t.Sum.sum(box, channel), t.Squares.sum(box, channel), nil, nil)
	}
	sums, squares := t.Sum.channel(channel), t.Squares.channel(channel)
	return exact.VarianceOf(&sums, &squares, rectangle(box), func(box rectangle) exact.Rounding {
		return exact.Rounding{Squares: float64(t.Squares.At(box.Max.X, box.Max.Y, channel)), Pixels: box.Max.X * box.Max.Y, Steps: t.Sum.Height + t.Sum.Width/4 + 8}
	}, func(box rectangle) bool {
		for _, x := range [...]int{box.Min.X, box.Max.X} {
			for _, y := range [...]int{box.Min.Y, box.Max.Y} {
				if !exact.IsWhole(t.Sum.At(x, y, channel), t.Squares.At(x, y, channel)) {
					return false
				}
			}
		}
		return true
	})
}

// StdDev is the standard deviation of one channel over a box: the square root
// of its [SquaredTable.Variance].
func (t *SquaredTable[S, Q]) StdDev(box image.Rectangle, channel int) float64 {
	return math.Sqrt(t.Variance(box, channel))
}

// MeanBoxes is [Table.MeanBoxes].
func (t *SquaredTable[S, Q]) MeanBoxes(dst []float64, boxes []image.Rectangle) error {
	if t == nil {
		return grid.NoTable()
	}
	return t.Sum.MeanBoxes(dst, boxes)
}

// VarianceBoxes writes the variances of all channels over every box, clipped to the
// image: channel c of boxes[i] is dst[i*Channels+c]. That of an empty box is 0.
func (t *SquaredTable[S, Q]) VarianceBoxes(dst []float64, boxes []image.Rectangle) error {
	return t.each(dst, boxes, t.Variance, func(v float64) float64 { return v })
}

// StdDevBoxes is [SquaredTable.VarianceBoxes] for standard deviations.
func (t *SquaredTable[S, Q]) StdDevBoxes(dst []float64, boxes []image.Rectangle) error {
	return t.each(dst, boxes, t.StdDev, math.Sqrt)
}

// each answers of every box, by way of its variance where that comes from integers
// that fit.
func (t *SquaredTable[S, Q]) each(dst []float64, boxes []image.Rectangle, of func(box image.Rectangle, channel int) float64, ofVariance func(float64) float64) error {
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
		switch n := area(box); {
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

func area(box image.Rectangle) int {
	if box.Empty() {
		return 0
	}
	return box.Dx() * box.Dy()
}
