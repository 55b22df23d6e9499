package boxsum

import (
	"image"
	"math"

	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/stats"
)

// Sum returns the sum of the first channel over a box, clipped to the image. It returns
// 0 for an empty box.
func (t *Table[S]) Sum(box image.Rectangle) S { return t.SumChannel(box, 0) }

// SumChannels appends the sum of each channel over a box, clipped to the image, to dst
// and returns the extended slice.
func (t *Table[S]) SumChannels(dst []S, box image.Rectangle) []S {
	if t == nil {
		return dst
	}
	for channel := range t.Channels {
		dst = append(dst, t.SumChannel(box, channel))
	}
	return dst
}

// SumChannel returns the sum of one channel over a box, clipped to the image. It
// returns 0 if the box is empty or the image has no such channel.
func (t *Table[S]) SumChannel(box image.Rectangle, channel int) S {
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

// Area returns the number of pixels that the sum of one channel over a box covers:
// those inside the image and, in a table of a [ValidTable], valid. It returns 0 if the
// image has no such channel.
func (t *Table[S]) Area(box image.Rectangle, channel int) int {
	box = box.Intersect(t.Bounds())
	if box.Empty() || uint(channel) >= uint(t.Channels) {
		return 0
	}
	return t.count(box, channel)
}

// restore adds the offset back to the sum of a box inside the image.
func (t *Table[S]) restore(s S, box image.Rectangle, channel int) S {
	offset, n := float64(t.Offset), float64(t.count(box, channel))
	if t.first != nil { // (p−o)² = p² − 2o(p−o) − o²
		return s + S(2*offset*t.first.float(box, channel)+offset*offset*n)
	}
	return s + S(offset*n)
}

// sums returns the sums needed to add the offset back to a table of squares. It is
// implemented by tables of every sum type.
type sums interface {
	float(box image.Rectangle, channel int) float64
}

func (t *Table[S]) float(box image.Rectangle, channel int) float64 {
	return float64(t.sum(box, channel))
}

// room returns an error if the table is invalid or a slice of length have is too short
// for the results of all boxes.
func (t *Table[S]) room(have, boxes int) error {
	if t == nil {
		return raster.NoTable()
	}
	e := t.extent()
	if err := e.Sums(len(t.Sums)); err != nil {
		return err
	}
	return raster.CheckRoom(have, boxes, t.Channels)
}

// Mean returns the mean of one channel over a box, clipped to the image, or 0 if the
// box is empty. In an integer table it is correct for boxes of any size: a box whose
// sum may exceed the sum type is added up in parts that do not.
func (t *Table[S]) Mean(box image.Rectangle, channel int) float64 {
	if box = box.Intersect(t.Bounds()); box.Empty() || uint(channel) >= uint(t.Channels) {
		return 0
	}
	if t.valid != nil {
		return t.validMean(t.valid, box, channel)
	}
	within := rectangle(box)
	n := within.Pixels()
	if t.known().Fit(n, raster.TypeOf[S]()) {
		return t.mean(n, box, channel)
	}
	return float64(t.Offset) + stats.Mean(n, t.total(within, n, channel, t.known().MaxCount(raster.TypeOf[S](), false)))
}

// mean returns the mean of a box of n pixels whose sum fits the sum type.
func (t *Table[S]) mean(n int, box image.Rectangle, channel int) float64 {
	if t.first != nil { // squares of pixels minus an offset
		return float64(t.restore(t.sum(box, channel), box, channel)) / float64(n)
	}
	return float64(t.Offset) + float64(t.sum(box, channel))/float64(n)
}

// total returns the sum of a box of n pixels, without the offset, added up from parts
// of at most the given number of pixels.
func (t *Table[S]) total(box rectangle, n, channel, most int) stats.Sum {
	if n <= most {
		return t.known().Interpret(stats.SumOf(t.sum(image.Rectangle(box), channel)))
	}
	one, other, ok := box.Halves()
	if !ok {
		return stats.Sum{}
	}
	return t.total(one, one.Pixels(), channel, most).Plus(t.total(other, other.Pixels(), channel, most))
}

// MeanBoxes writes the means of all channels over every box, clipped to the image,
// to dst: the mean of channel c over boxes[i] is dst[i*Channels+c]. The mean of an
// empty box is 0. MeanBoxes returns an error if dst has fewer than
// len(boxes)*Channels elements.
func (t *Table[S]) MeanBoxes(dst []float64, boxes []image.Rectangle) error {
	if err := t.room(len(dst), len(boxes)); err != nil {
		return err
	}
	for i, box := range boxes { // inlined so that the processor can overlap the reads of several boxes
		box, means := t.clip(box), dst[i*t.Channels:][:t.Channels]
		switch n := rectangle(box).Pixels(); {
		case n == 0:
			clear(means)
		case t.known().Fit(n, raster.TypeOf[S]()) && t.first == nil && t.valid == nil:
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

// Mean returns the mean of one channel over a box, clipped to the image, or 0 if the
// box is empty. In integer tables it is correct for boxes of any size.
func (t *SquaredTable[S, Q]) Mean(box image.Rectangle, channel int) float64 {
	if t == nil {
		return 0
	}
	return t.Sum.Mean(box, channel)
}

// Variance returns the variance of one channel over a box, clipped to the image: the
// mean squared distance from the mean. It is never negative, and 0 for an empty box.
//
// The variance of integer pixels is computed from exact integers and accurate to two
// units in the last place, for boxes of any size. The variance of floats is the
// difference of two rounded numbers. If the entries of the tables show that rounding
// errors may exceed a fiftieth of the result, Variance returns NaN. That does not
// happen for whole numbers up to 2^44, whose sums are exact, and rarely happens for
// images whose pixels all lie far from zero; see [SquaredTable].
func (t *SquaredTable[S, Q]) Variance(box image.Rectangle, channel int) float64 {
	if t == nil || t.Sum == nil || t.Squares == nil {
		return 0
	}
	if box = box.Intersect(t.Sum.Bounds()); box.Empty() || uint(channel) >= uint(t.Sum.Channels) {
		return 0
	}
	if t.Sum.valid != nil {
		return t.validVariance(validBox{rectangle(box), t.Sum.valid, channel})
	}
	within := rectangle(box)
	n, s, q := within.Pixels(), raster.TypeOf[S](), raster.TypeOf[Q]()
	if !s.Float() && !q.Float() && t.Sum.known().Fit(n, s) && t.Squares.known().Fit(n, q) {
		return stats.VarianceOfIntegers(n, stats.Magnitude(t.Sum.sum(box, channel)), uint64(t.Squares.sum(box, channel)))
	}
	most, mostSquares := stats.MaxCounts(s, t.Sum.known(), q, t.Squares.known())
	sum, squares := t.Sum.total(within, n, channel, most), t.Squares.total(within, n, channel, mostSquares)
	if !s.Float() && !q.Float() {
		return stats.Variance(n, sum, squares, nil, nil)
	}
	if t.Sum.Offset != t.Squares.Offset {
		sum = t.Sum.known().Interpret(stats.SumOf(t.Sum.sum(box, channel) + S(float64(t.Sum.Offset)*float64(n))))
	}
	r := t.rounding(within, channel)
	return stats.Variance(n, sum, squares, &r, func() bool { return t.whole(within, channel) })
}

// StdDev returns the standard deviation of one channel over a box, clipped to the
// image: the square root of [SquaredTable.Variance].
func (t *SquaredTable[S, Q]) StdDev(box image.Rectangle, channel int) float64 {
	return math.Sqrt(t.Variance(box, channel))
}

// MeanBoxes writes the means of all channels over every box, clipped to the image, to
// dst: the mean of channel c over boxes[i] is dst[i*Channels+c]. The mean of an empty
// box is 0. MeanBoxes returns an error if dst has fewer than len(boxes)*Channels
// elements.
func (t *SquaredTable[S, Q]) MeanBoxes(dst []float64, boxes []image.Rectangle) error {
	if t == nil {
		return raster.NoTable()
	}
	return t.Sum.MeanBoxes(dst, boxes)
}

// VarianceBoxes writes the variances of all channels over every box, clipped to the
// image, to dst: the variance of channel c over boxes[i] is dst[i*Channels+c]. The
// variance of an empty box is 0. VarianceBoxes returns an error if dst has fewer
// than len(boxes)*Channels elements.
func (t *SquaredTable[S, Q]) VarianceBoxes(dst []float64, boxes []image.Rectangle) error {
	return t.each(dst, boxes, t.Variance, func(v float64) float64 { return v })
}

// StdDevBoxes writes the standard deviations of all channels over every box, clipped
// to the image, to dst: the standard deviation of channel c over boxes[i] is
// dst[i*Channels+c]. The standard deviation of an empty box is 0. StdDevBoxes
// returns an error if dst has fewer than len(boxes)*Channels elements.
func (t *SquaredTable[S, Q]) StdDevBoxes(dst []float64, boxes []image.Rectangle) error {
	return t.each(dst, boxes, t.StdDev, math.Sqrt)
}

// each writes the result of a query for every box. It computes it from the variance if
// that comes from integers that fit.
func (t *SquaredTable[S, Q]) each(dst []float64, boxes []image.Rectangle, of func(box image.Rectangle, channel int) float64, ofVariance func(float64) float64) error {
	if t == nil {
		return raster.NoTable()
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
	s, q := raster.TypeOf[S](), raster.TypeOf[Q]()
	integers, channels := !s.Float() && !q.Float() && t.Sum.valid == nil, t.Sum.Channels
	for i, box := range boxes {
		box, out := t.Sum.clip(box), dst[i*channels:][:channels]
		switch n := rectangle(box).Pixels(); {
		case n == 0:
			clear(out)
		case integers && t.Sum.known().Fit(n, s) && t.Squares.known().Fit(n, q):
			for c := range out {
				out[c] = ofVariance(stats.VarianceOfIntegers(n, stats.Magnitude(t.Sum.sum(box, c)), uint64(t.Squares.sum(box, c))))
			}
		default:
			for c := range out {
				out[c] = of(box, c)
			}
		}
	}
	return nil
}
