package store

import (
	"context"
	"errors"
	"image"
	"math"

	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/stats"
	"github.com/boxsum/boxsum/volume"
	"github.com/boxsum/boxsum/zarr"
)

// A region is what a statistic is about: a box of one channel of an image, or a box of a
// volume, whose slices are stored as channels that add up the slices before them.
type region struct {
	image.Rectangle
	depth  int // number of slices; 1 for an image
	last   int // the channel, or the last slice
	before int // the slice before the box, or -1 for none

	read bool // whether sums holds the sums of the region, by layer
	sums [2]number
}

func (r region) pixels() int { return r.Dx() * r.Dy() * r.depth }

// halves divides a region along its longest side. ok is false if it has only one pixel.
func (r region) halves() (one, other region, ok bool) {
	ok = r.pixels() > 1
	r.read = false
	one, other = r, r
	switch w, h, d := r.Dx(), r.Dy(), r.depth; {
	case w >= h && w >= d:
		one.Max.X = r.Min.X + w/2
		other.Min.X = one.Max.X
	case h >= d:
		one.Max.Y = r.Min.Y + h/2
		other.Min.Y = one.Max.Y
	default:
		one.last, one.depth = r.before+d/2, d/2
		other.before, other.depth = one.last, d-d/2
	}
	return one, other, ok
}

// sumRegion returns the sum of a region in a layer.
func (t *Table) sumRegion(ctx context.Context, l *layer, r region) (number, error) {
	if r.read {
		return r.sums[l.index], nil
	}
	sum, err := t.sum(ctx, l, r.Rectangle, r.last)
	if err != nil || r.before < 0 {
		return sum, err
	}
	near, err := t.sum(ctx, l, r.Rectangle, r.before)
	return l.minus(sum, near), err
}

// total returns the sum of a region, added up from parts of at most the given number of
// pixels.
func (t *Table) total(ctx context.Context, l *layer, r region, most int) (stats.Sum, error) {
	if r.pixels() <= most {
		s, err := t.sumRegion(ctx, l, r)
		return l.exact(s), err
	}
	one, other, ok := r.halves()
	if !ok {
		return stats.Sum{}, nil
	}
	a, err := t.total(ctx, l, one, most)
	if err != nil {
		return stats.Sum{}, err
	}
	b, err := t.total(ctx, l, other, most)
	return a.Plus(b), err
}

// known returns what is known about the pixels. For 64-bit pixels, only the sum of a single
// pixel is certain to fit.
func (t *Table) known(squares bool) stats.Pixels {
	if t.pixel == zarr.Int64 || t.pixel == zarr.Uint64 {
		return stats.Pixels{Bound: math.MaxUint64}
	}
	return stats.Bounded(boundOf(t.pixel), squares)
}

// mean returns the mean of a region.
func (t *Table) mean(ctx context.Context, r region) (float64, error) {
	l := t.layers[0]
	sum, err := t.total(ctx, l, r, t.known(false).MaxCount(rasterTypes[l.sum], false))
	return stats.Mean(r.pixels(), sum), err
}

// variance returns the variance of a region.
func (t *Table) variance(ctx context.Context, r region) (float64, error) {
	sums, squares := t.layers[0], t.layers[1]
	most, mostSquares := stats.MaxCounts(rasterTypes[sums.sum], t.known(false), rasterTypes[squares.sum], t.known(true))
	sum, err := t.total(ctx, sums, r, most)
	if err != nil {
		return 0, err
	}
	square, err := t.total(ctx, squares, r, mostSquares)
	if err != nil {
		return 0, err
	}
	if !isFloat(squares.sum) {
		return stats.Variance(r.pixels(), sum, square, nil, nil), nil
	}
	rounding, err := t.rounding(ctx, r)
	if err != nil {
		return 0, err
	}
	v := stats.Variance(r.pixels(), sum, square, &rounding, func() bool {
		var whole bool
		whole, err = t.isWhole(ctx, r)
		return whole
	})
	return v, err
}

// rounding returns how the sums of a region have been rounded.
func (t *Table) rounding(ctx context.Context, r region) (stats.Rounding, error) {
	squares := t.layers[1]
	largest, err := t.at(ctx, squares, r.Max.X, r.Max.Y, r.last)
	// Rows and columns of a block, then the blocks to its left, then those above.
	steps := 2*t.Block + 8 + r.Max.X/t.Block + 2*(r.Max.Y/t.Block) + 3
	entries, pixels := 4, r.Max.X*r.Max.Y
	if t.about.Depth > 0 {
		entries, pixels, steps = 8, pixels*(r.last+1), steps+r.last+1
	}
	return stats.Rounding{Entries: entries, Squares: squares.float(largest), Pixels: pixels, Steps: steps}, err
}

// isWhole reports whether the entries at the corners of a region are exact sums of whole
// numbers.
func (t *Table) isWhole(ctx context.Context, r region) (bool, error) {
	sums, squares := t.layers[0], t.layers[1]
	for _, channel := range [...]int{r.before, r.last} {
		if channel < 0 {
			continue
		}
		for _, p := range corners(r.Rectangle) {
			s, err1 := t.at(ctx, sums, p.X, p.Y, channel)
			q, err2 := t.at(ctx, squares, p.X, p.Y, channel)
			if err := errors.Join(err1, err2); err != nil || !stats.IsWhole(sums.float(s), squares.float(q), rasterTypes[sums.sum]) {
				return false, err
			}
		}
	}
	return true, nil
}

// A statistic computes a number from the pixels of a region.
type statistic = func(ctx context.Context, r region) (float64, error)

// statistics stores a statistic of all channels over each box. It reads the sums of the
// given number of layers for many boxes at once.
func (t *Table) statistics(ctx context.Context, dst []float64, boxes []image.Rectangle, layers int, of statistic) error {
	channels, most := t.about.Channels, t.atOnce()
	if err := raster.CheckRoom(len(dst), len(boxes), channels); err != nil {
		return err
	}
	for from := 0; from < len(boxes); from += most {
		some, dst := boxes[from:min(from+most, len(boxes))], dst[from*channels:]
		var sums [2][]number
		for n, l := range t.layers[:layers] {
			sums[n] = make([]number, len(some)*channels)
			if err := t.sums(ctx, l, sums[n], some); err != nil {
				return err
			}
		}
		answer := func(i int, box image.Rectangle) (err error) {
			for c := range channels {
				at := i*channels + c
				r := region{Rectangle: box, depth: 1, last: c, before: -1, read: true}
				for n := range layers {
					r.sums[n] = sums[n][at]
				}
				if dst[at], err = of(ctx, r); err != nil {
					return err
				}
			}
			return nil
		}
		if err := t.each(ctx, len(dst), channels, some, answer, func(i int) { clear(dst[i*channels:][:channels]) }); err != nil {
			return err
		}
	}
	return nil
}

// volumeStatistics is like statistics for boxes of a volume.
func (t *Table) volumeStatistics(ctx context.Context, dst []float64, boxes []volume.Box, of statistic) error {
	return t.eachOfVolume(ctx, len(dst), boxes, func(i int, r region) (err error) {
		dst[i], err = of(ctx, r)
		return err
	}, func(i int) { dst[i] = 0 })
}

// MeanBoxes writes the means of all channels over each box to dst, in the order of
// [SumBoxes]. The length of dst must be at least the number of boxes times the number of
// channels. The mean of an empty box is 0. Integer means are correct for boxes of any size.
func (t *Table) MeanBoxes(ctx context.Context, dst []float64, boxes []image.Rectangle) error {
	return t.statistics(ctx, dst, boxes, 1, t.mean)
}

// VarianceBoxes writes the variances of all channels over each box to dst, in the order of
// [SumBoxes]. The length of dst must be at least the number of boxes times the number of
// channels. The table must include squares. Variances of integers are exact except for the
// final rounding. Variances of floats are NaN if the rounding error may exceed a fiftieth
// of the variance.
func (t *Table) VarianceBoxes(ctx context.Context, dst []float64, boxes []image.Rectangle) error {
	if err := t.checkSquares(); err != nil {
		return err
	}
	return t.statistics(ctx, dst, boxes, 2, t.variance)
}

func (t *Table) checkSquares() error {
	if !t.Squares {
		return bad("the table has no squares, which deviations need (make it with squares)")
	}
	return nil
}

// StdDevBoxes writes the standard deviations of all channels over each box, clipped to the
// image, to dst, in the order of [SumBoxes]. They are the square roots of the variances
// that [Table.VarianceBoxes] returns, under the same conditions.
func (t *Table) StdDevBoxes(ctx context.Context, dst []float64, boxes []image.Rectangle) error {
	if err := t.VarianceBoxes(ctx, dst, boxes); err != nil {
		return err
	}
	for i, v := range dst[:len(boxes)*t.about.Channels] {
		dst[i] = math.Sqrt(v)
	}
	return nil
}

// MeanVolumeBoxes writes the mean over each box of a volume, clipped to the volume, to dst:
// the mean over boxes[i] is dst[i]. The length of dst must be at least len(boxes). The mean
// of an empty box is 0. Integer means are correct for boxes of any size.
func (t *Table) MeanVolumeBoxes(ctx context.Context, dst []float64, boxes []volume.Box) error {
	return t.volumeStatistics(ctx, dst, boxes, t.mean)
}

// VarianceVolumeBoxes writes the variance over each box of a volume, clipped to the volume,
// to dst: the variance over boxes[i] is dst[i]. The length of dst must be at least
// len(boxes). The table must include squares. The accuracy is that of
// [Table.VarianceBoxes].
func (t *Table) VarianceVolumeBoxes(ctx context.Context, dst []float64, boxes []volume.Box) error {
	if err := t.checkSquares(); err != nil {
		return err
	}
	return t.volumeStatistics(ctx, dst, boxes, t.variance)
}

// StdDevVolumeBoxes writes the standard deviation over each box of a volume, clipped to the
// volume, to dst: the standard deviation over boxes[i] is dst[i]. The length of dst must be
// at least len(boxes). The table must include squares.
func (t *Table) StdDevVolumeBoxes(ctx context.Context, dst []float64, boxes []volume.Box) error {
	if err := t.VarianceVolumeBoxes(ctx, dst, boxes); err != nil {
		return err
	}
	for i, v := range dst[:len(boxes)] {
		dst[i] = math.Sqrt(v)
	}
	return nil
}
