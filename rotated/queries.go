package rotated

import (
	"math"

	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/stats"
)

// Sum returns the sum of the first channel over a box. Cells without a pixel of the
// image, inside or outside it, count as 0.
func (t *Table[S]) Sum(box Box) S { return t.SumChannel(box, 0) }

// SumChannels appends the sum of each channel over a box to dst and returns the
// extended slice.
func (t *Table[S]) SumChannels(dst []S, box Box) []S {
	if t == nil {
		return dst
	}
	for channel := range t.Channels {
		dst = append(dst, t.SumChannel(box, channel))
	}
	return dst
}

// SumBoxes writes the sums of all channels over every box to dst: the sum of channel
// c over boxes[i] is dst[i*Channels+c]. SumBoxes returns an error if dst has fewer
// than len(boxes)*Channels elements.
func (t *Table[S]) SumBoxes(dst []S, boxes []Box) error {
	if err := t.room(len(dst), len(boxes)); err != nil {
		return err
	}
	for i, box := range boxes {
		for channel := range t.Channels {
			dst[i*t.Channels+channel] = t.SumChannel(box, channel)
		}
	}
	return nil
}

// room returns an error if the table is invalid or a slice of length have is too
// short for the results of all boxes.
func (t *Table[S]) room(have, boxes int) error {
	if t == nil || t.Lattice == nil {
		return raster.NoTable()
	}
	return raster.CheckRoom(have, boxes, t.Channels)
}

// Mean returns the mean of one channel over a box, or 0 if the box contains no
// pixels. In an integer table it is correct for boxes of any size: a box whose sum
// may exceed the sum type is added up in parts that do not.
func (t *Table[S]) Mean(box Box, channel int) float64 {
	within, ok := t.inside(box)
	if !ok || uint(channel) >= uint(t.Channels) {
		return 0
	}
	n := within.Pixels()
	return stats.Mean(n, t.total(within, n, channel, t.known().MaxCount(raster.TypeOf[S](), false)))
}

// total returns the sum of a box of n pixels, added up from parts of at most the
// given number of pixels.
func (t *Table[S]) total(box part, n, channel, most int) stats.Sum {
	if n <= most {
		return t.known().Interpret(stats.SumOf(t.SumChannel(box.Box, channel)))
	}
	one, other, ok := box.Halves()
	if !ok {
		return stats.Sum{}
	}
	return t.total(one, one.Pixels(), channel, most).Plus(t.total(other, other.Pixels(), channel, most))
}

// MeanBoxes writes the means of all channels over every box to dst: the mean of
// channel c over boxes[i] is dst[i*Channels+c]. The mean of a box without pixels is
// 0. MeanBoxes returns an error if dst has fewer than len(boxes)*Channels elements.
func (t *Table[S]) MeanBoxes(dst []float64, boxes []Box) error {
	if err := t.room(len(dst), len(boxes)); err != nil {
		return err
	}
	for i, box := range boxes {
		for channel := range t.Channels {
			dst[i*t.Channels+channel] = t.Mean(box, channel)
		}
	}
	return nil
}

// Mean returns the mean of one channel over a box, or 0 if the box contains no
// pixels. In integer tables it is correct for boxes of any size.
func (t *SquaredTable[S, Q]) Mean(box Box, channel int) float64 {
	if t == nil {
		return 0
	}
	return t.Sum.Mean(box, channel)
}

// Variance returns the variance of one channel over a box: the mean squared
// distance from the mean. It is never negative, and 0 for a box without pixels. It
// is as accurate as [boxsum.SquaredTable.Variance], and NaN under the same
// conditions.
func (t *SquaredTable[S, Q]) Variance(box Box, channel int) float64 {
	if t == nil || t.Sum == nil || t.Squares.area(box) == 0 {
		return 0
	}
	within, ok := t.Sum.inside(box)
	if !ok || uint(channel) >= uint(t.Sum.Channels) {
		return 0
	}
	n, s, q := within.Pixels(), raster.TypeOf[S](), raster.TypeOf[Q]()
	most, mostSquares := stats.MaxCounts(s, t.Sum.known(), q, t.Squares.known())
	sum, squares := t.Sum.total(within, n, channel, most), t.Squares.total(within, n, channel, mostSquares)
	if !s.Float() && !q.Float() {
		return stats.Variance(n, sum, squares, nil, nil)
	}
	r := t.rounding(within, channel)
	return stats.Variance(n, sum, squares, &r, func() bool { return t.whole(within, channel) })
}

// StdDev returns the standard deviation of one channel over a box: the square root
// of [SquaredTable.Variance].
func (t *SquaredTable[S, Q]) StdDev(box Box, channel int) float64 {
	return math.Sqrt(t.Variance(box, channel))
}

// MeanBoxes writes the means of all channels over every box to dst: the mean of
// channel c over boxes[i] is dst[i*Channels+c]. The mean of a box without pixels is
// 0. MeanBoxes returns an error if dst has fewer than len(boxes)*Channels elements.
func (t *SquaredTable[S, Q]) MeanBoxes(dst []float64, boxes []Box) error {
	if t == nil {
		return raster.NoTable()
	}
	return t.Sum.MeanBoxes(dst, boxes)
}

// VarianceBoxes writes the variances of all channels over every box to dst: the
// variance of channel c over boxes[i] is dst[i*Channels+c]. The variance of a box
// without pixels is 0. VarianceBoxes returns an error if dst has fewer than
// len(boxes)*Channels elements.
func (t *SquaredTable[S, Q]) VarianceBoxes(dst []float64, boxes []Box) error {
	return t.each(dst, boxes, t.Variance)
}

// StdDevBoxes writes the standard deviations of all channels over every box to dst:
// the standard deviation of channel c over boxes[i] is dst[i*Channels+c]. The
// standard deviation of a box without pixels is 0. StdDevBoxes returns an error if
// dst has fewer than len(boxes)*Channels elements.
func (t *SquaredTable[S, Q]) StdDevBoxes(dst []float64, boxes []Box) error {
	return t.each(dst, boxes, t.StdDev)
}

// each writes the result of a query for every box.
func (t *SquaredTable[S, Q]) each(dst []float64, boxes []Box, of func(box Box, channel int) float64) error {
	if t == nil {
		return raster.NoTable()
	}
	if err := t.Sum.room(len(dst), len(boxes)); err != nil {
		return err
	}
	if err := t.Squares.room(0, 0); err != nil {
		return err
	}
	if a, b := t.Sum, t.Squares; a.Width != b.Width || a.Height != b.Height || a.Channels != b.Channels || a.Rotation() != b.Rotation() {
		return raster.Invalid("the squares are of %d×%d with %d channels along %v, want %d×%d with %d along %v like the sums",
			b.Width, b.Height, b.Channels, b.Rotation(), a.Width, a.Height, a.Channels, a.Rotation())
	}
	for i, box := range boxes {
		for channel := range t.Sum.Channels {
			dst[i*t.Sum.Channels+channel] = of(box, channel)
		}
	}
	return nil
}
