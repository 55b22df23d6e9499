package boxsum

import (
	"image"
	"math"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/exact"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/pairs"
)

// Valid says which pixels of an image are valid. Those of its zero value are all.
type Valid struct {
	// Mask has the size of the image, and one channel for all of its channels or as
	// many as it has. Where it is zero, pixels are not valid. The zero Image stands
	// for no mask.
	Mask Image[uint8]

	// SkipNaN makes NaN a value that is missing, in each channel by itself.
	// Infinities are values.
	SkipNaN bool
}

// A ValidTable is the tables of those pixels of an image that are valid: their sums,
// their squares and how many they are. So one NaN, or a mark for a value that is
// missing, does not spoil the boxes that it is in.
//
// The methods of Sum and Squares know of Count: their sums and means too are over
// valid pixels.
type ValidTable[S Sum, Q Square] struct {
	Sum     *Table[S]
	Squares *Table[Q] // nil if there is none
	Count   *Table[uint32]
}

// NewValidTable allocates the three tables for an image of this size.
func NewValidTable[S Sum, Q Square](width, height, channels int) (*ValidTable[S, Q], error) {
	both, err := NewSquaredTable[S, Q](width, height, channels)
	if err != nil {
		return nil, err
	}
	count, err := NewTable[uint32](width, height, channels)
	return grid.OrNil(&ValidTable[S, Q]{Sum: both.Sum, Squares: both.Squares, Count: count}, err)
}

// IntegrateValid makes the tables of the valid pixels of an image in one pass, with
// types as for [IntegrateSquares]:
//
//	table, err := boxsum.IntegrateValid[float64, float64](img, boxsum.Valid{SkipNaN: true}, nil)
//	mean, std, pixels := table.Mean(box, 0), table.StdDev(box, 0), table.Area(box, 0)
func IntegrateValid[S Sum, Q Square, P Pixel](src Image[P], valid Valid, opt *Options) (*ValidTable[S, Q], error) {
	return validOnce[S, Q](nil, rawOf(&src), valid, opt, true)
}

// IntegrateValidInto makes the tables in dst, which must have the image's size and must
// overlap neither it, nor the mask, nor each other. Where dst has no Squares, it makes
// the other two. It does not allocate once an image of the same type has been
// integrated.
func IntegrateValidInto[S Sum, Q Square, P Pixel](dst *ValidTable[S, Q], src Image[P], valid Valid, opt *Options) error {
	_, err := validOnce(dst, rawOf(&src), valid, opt, false)
	return err
}

// validOnce is integrateValid, as this package has compiled it.
func validOnce[S Sum, Q Square](dst *ValidTable[S, Q], src engine.Raw, valid Valid, opt *Options, fresh bool) (*ValidTable[S, Q], error) {
	f := validTables[pairs.NumberTwo[S, Q]()].(func(*ValidTable[S, Q], engine.Raw, Valid, *Options, bool) (*ValidTable[S, Q], error))
	return f(dst, src, valid, aside(opt), fresh)
}

// integrateValid makes the tables in dst, or in fresh ones.
func integrateValid[S Sum, Q Square](t *ValidTable[S, Q], src engine.Raw, valid Valid, opt *Options, fresh bool) (*ValidTable[S, Q], error) {
	run, set, err := startValid[S, Q](src, &valid, opt, t == nil || t.Squares != nil)
	if err == nil && fresh {
		t, err = NewValidTable[S, Q](src.Width, src.Height, src.Channels)
	}
	if err == nil {
		err = fillValid(run, set, t)
	}
	return grid.OrNil(t, err)
}

type validRun[S Sum, Q Square] = engine.Run[engine.ValidTables[S, Q]]

func startValid[S Sum, Q Square](src engine.Raw, valid *Valid, opt *Options, squares bool) (run *validRun[S, Q], set engine.Settings, err error) {
	if set, err = engineOptions(opt).Check(); err != nil {
		return nil, set, err
	}
	run = engine.Take[validRun[S, Q]]()
	l, m := &run.Layer, &valid.Mask
	l.Src = src
	l.Mask.Image(m.Pix, m.Width, m.Height, m.Channels, m.Stride)
	l.NaN = valid.SkipNaN
	switch forSums, forSquares := l.Find(set.Level, squares); {
	case !forSums:
		return nil, set, engine.NoPair[S](src.Type)
	case !forSquares:
		return nil, set, engine.NoSquares[S, Q](src.Type)
	}
	if err = l.Src.Pixels(src.Len()); err != nil {
		return nil, set, err
	}
	if m.Pix != nil || m.Width != 0 || m.Height != 0 {
		if err = l.Mask.Pixels(len(m.Pix)); err != nil {
			return nil, set, err
		}
		if a, b := &l.Src, &l.Mask; a.Width != b.Width || a.Height != b.Height || b.Channels != 1 && a.Channels != b.Channels {
			return nil, set, grid.Invalid("a mask of %v for an image of %v: it takes the same size, and one channel or as many", b.Extent, a.Extent)
		}
	}
	if opt == nil {
		return run, set, l.Shift(0, false)
	}
	return run, set, l.Shift(opt.Offset, opt.Plain)
}

func fillValid[S Sum, Q Square](run *validRun[S, Q], set engine.Settings, t *ValidTable[S, Q]) error {
	if t == nil {
		return grid.NoTable()
	}
	l := &run.Layer
	if err := acceptValid(&l.Sum, t.Sum, &l.Src, l.Mask.Pix, false); err != nil {
		return err
	}
	if err := acceptValid(&l.Count, t.Count, &l.Src, l.Mask.Pix, false); err != nil {
		return err
	}
	if err := grid.Overlap(l.Sum.Sums, l.Count.Sums); err != nil {
		return err
	}
	if t.Squares != nil {
		if err := acceptValid(&l.Squares, t.Squares, &l.Src, l.Mask.Pix, true); err != nil {
			return err
		}
		if err := grid.Overlap(l.Squares.Sums, l.Sum.Sums); err != nil {
			return err
		}
		if err := grid.Overlap(l.Squares.Sums, l.Count.Sums); err != nil {
			return err
		}
		if t.Squares.valid = t.Count; t.Squares.Offset != 0 {
			t.Squares.first = t.Sum
		}
	}
	t.Sum.valid = t.Count
	t.Count.pixels = exact.Pixels{Most: math.MaxInt32}
	layer, plan := l.Aim(&set)
	return run.Fill(set, plan, layer)
}

// acceptValid is accept for a table that must not overlap the mask either.
func acceptValid[S Sum](dst *engine.Target[S], t *Table[S], src *engine.Raw, mask []uint8, squares bool) error {
	if err := accept(dst, t, src, squares, squares); err != nil {
		return err
	}
	return grid.Overlap(mask, t.Sums)
}

// count is how many pixels the sum of a box inside of the image is of.
func (t *Table[S]) count(box image.Rectangle, channel int) int {
	if t.valid == nil {
		return rectangle(box).Pixels()
	}
	return countValid(t.valid, rectangle(box), channel)
}

// countValid reads a box from a table of counts. One that may have more pixels than an
// entry holds is read in parts.
func countValid(count *Table[uint32], box rectangle, channel int) int {
	if uint64(box.Pixels()) <= math.MaxUint32 {
		return int(count.sum(image.Rectangle(box), channel))
	}
	one, other, _ := box.Halves()
	return countValid(count, one, channel) + countValid(count, other, channel)
}

// A validBox is a box whose pixels are those that are valid.
type validBox struct {
	rectangle
	count   *Table[uint32]
	channel int
}

func (b validBox) Pixels() int { return countValid(b.count, b.rectangle, b.channel) }

func (b validBox) Halves() (one, other validBox, ok bool) {
	one, other = b, b
	one.rectangle, other.rectangle, ok = b.rectangle.Halves()
	return one, other, ok && b.rectangle.Pixels() > 1
}

// validChannel is one channel, as statistics of valid pixels see it.
func (t *Table[S]) validChannel(channel int) exact.Table[S, validBox] {
	return exact.Table[S, validBox]{Pixels: t.pixels, Offset: t.Offset, Sum: func(box validBox) S { return t.sum(image.Rectangle(box.rectangle), channel) }}
}

// validMean is the mean over the valid pixels of a box inside of the image.
func (t *Table[S]) validMean(count *Table[uint32], box image.Rectangle, channel int) float64 {
	n := countValid(count, rectangle(box), channel)
	switch {
	case n == 0:
		return math.NaN()
	case t.pixels.Fit(n):
		return t.mean(n, box, channel)
	}
	of := t.validChannel(channel)
	return exact.MeanOf(&of, validBox{rectangle(box), count, channel})
}

// inside is what of a box is in the image, and whether there is something of it and
// such a channel.
func (t *ValidTable[S, Q]) inside(box image.Rectangle, channel int) (image.Rectangle, bool) {
	if t == nil || t.Sum == nil || t.Count == nil {
		return box, false
	}
	box = box.Intersect(t.Sum.Bounds())
	return box, !box.Empty() && uint(channel) < uint(t.Sum.Channels)
}

// Area is how many pixels of a box, clipped to the image, are valid in a channel.
func (t *ValidTable[S, Q]) Area(box image.Rectangle, channel int) int {
	box, ok := t.inside(box, channel)
	if !ok {
		return 0
	}
	return countValid(t.Count, rectangle(box), channel)
}

// Mean is the mean of one channel over the valid pixels of a box, clipped to the image,
// and NaN where there are none. It is right for boxes of any size as [Table.Mean] is.
func (t *ValidTable[S, Q]) Mean(box image.Rectangle, channel int) float64 {
	box, ok := t.inside(box, channel)
	if !ok {
		return math.NaN()
	}
	return t.Sum.validMean(t.Count, box, channel)
}

// Variance is the variance of one channel over the valid pixels of a box, clipped to
// the image, and NaN where there are none. It is as right as
// [SquaredTable.Variance] is. It takes Squares.
func (t *ValidTable[S, Q]) Variance(box image.Rectangle, channel int) float64 {
	box, ok := t.inside(box, channel)
	if !ok || t.Squares == nil {
		return math.NaN()
	}
	valid := validBox{rectangle(box), t.Count, channel}
	n := valid.Pixels()
	switch {
	case n == 0:
		return math.NaN()
	case !exact.IsFloat[S]() && !exact.IsFloat[Q]() && t.Sum.pixels.Fit(n) && t.Squares.pixels.Fit(n):
		return exact.Variance(n, t.Sum.sum(box, channel), t.Squares.sum(box, channel), nil, nil)
	}
	sums, squares := t.Sum.validChannel(channel), t.Squares.validChannel(channel)
	both := &SquaredTable[S, Q]{t.Sum, t.Squares}
	return exact.VarianceOf(&sums, &squares, valid, func(box validBox) exact.Rounding {
		r := both.rounding(box.rectangle, channel)
		r.Pixels = countValid(t.Count, rectangle{Max: box.Max}, channel)
		return r
	}, func(box validBox) bool { return both.whole(box.rectangle, channel) })
}

// StdDev is the standard deviation of one channel over the valid pixels of a box: the
// square root of its [ValidTable.Variance].
func (t *ValidTable[S, Q]) StdDev(box image.Rectangle, channel int) float64 {
	return math.Sqrt(t.Variance(box, channel))
}

// MeanBoxes writes the means of all channels over the valid pixels of every box, clipped
// to the image: channel c of boxes[i] is dst[i*Channels+c].
func (t *ValidTable[S, Q]) MeanBoxes(dst []float64, boxes []image.Rectangle) error {
	return t.each(dst, boxes, false, t.Mean)
}

// VarianceBoxes is [ValidTable.MeanBoxes] for variances.
func (t *ValidTable[S, Q]) VarianceBoxes(dst []float64, boxes []image.Rectangle) error {
	return t.each(dst, boxes, true, t.Variance)
}

// StdDevBoxes is [ValidTable.MeanBoxes] for standard deviations.
func (t *ValidTable[S, Q]) StdDevBoxes(dst []float64, boxes []image.Rectangle) error {
	return t.each(dst, boxes, true, t.StdDev)
}

// each answers of every box, from tables of the same size.
func (t *ValidTable[S, Q]) each(dst []float64, boxes []image.Rectangle, squares bool, of func(box image.Rectangle, channel int) float64) error {
	if t == nil {
		return grid.NoTable()
	}
	if err := t.Sum.room(len(dst), len(boxes)); err != nil {
		return err
	}
	size := t.Sum.extent()
	if err := sameSize(t.Count, &size); err != nil {
		return err
	}
	if squares {
		if err := sameSize(t.Squares, &size); err != nil {
			return err
		}
	}
	exact.Each(dst, boxes, t.Sum.Channels, of)
	return nil
}

// sameSize reports whether a table is good and of a size.
func sameSize[S Sum](t *Table[S], size *grid.Extent) error {
	if err := t.room(0, 0); err != nil {
		return err
	}
	e := t.extent()
	return e.Same(size)
}
