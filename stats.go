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
	exact.Each(dst, boxes, t.Channels, t.Mean)
	return nil
}

// Know is for packages of this module, and for tables that they did not make by
// integrating: what is known of their pixels.
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
	sums, squares := t.Sum.channel(channel), t.Squares.channel(channel)
	return exact.VarianceOf(&sums, &squares, rectangle(box), func(box rectangle) (r exact.Rounding) {
		r.Steps, r.Pixels = t.Sum.Height+t.Sum.Width/4+8, box.Max.X*box.Max.Y
		for _, x := range [...]int{box.Min.X, box.Max.X} {
			for _, y := range [...]int{box.Min.Y, box.Max.Y} {
				exact.Entry(&r, t.Sum.At(x, y, channel), t.Squares.At(x, y, channel))
			}
		}
		return r
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
	return t.each(dst, boxes, t.Variance)
}

// StdDevBoxes is [SquaredTable.VarianceBoxes] for standard deviations.
func (t *SquaredTable[S, Q]) StdDevBoxes(dst []float64, boxes []image.Rectangle) error {
	return t.each(dst, boxes, t.StdDev)
}

func (t *SquaredTable[S, Q]) each(dst []float64, boxes []image.Rectangle, of func(box image.Rectangle, channel int) float64) error {
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

func area(box image.Rectangle) int {
	if box.Empty() {
		return 0
	}
	return box.Dx() * box.Dy()
}
