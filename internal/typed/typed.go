// Package typed answers queries of tables whose types are known only at run time: for
// the command, the explorer, the Python library and the measurements, which make tables
// with package engine. It is where the type of sums becomes a Go type again.
package typed

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/stats"
	"github.com/boxsum/boxsum/rotated"
)

// A Table answers queries about boxes of type B, whatever the types of its sums and
// squares. Boxes are clipped. Numbers of several boxes are those of all channels of the
// first box, then those of the second, and so on.
type Table[B any] interface {
	// Type returns the type of the sums, and Channels the number of values of a pixel.
	Type() raster.Type
	Channels() int

	// Sum returns the sum of one channel over a box, a number of the type of the sums.
	Sum(box B, channel int) any
	// SumBoxes writes the sums of boxes to dst, the memory of numbers of their type.
	SumBoxes(dst []byte, boxes []B) error
	// Totals is like SumBoxes, but writes numbers of any type.
	Totals(dst []stats.Sum, boxes []B) error

	// Mean returns the mean of one channel over a box, and MeanBoxes those of boxes.
	Mean(box B, channel int) float64
	MeanBoxes(dst []float64, boxes []B) error

	// StdDev returns the standard deviation of one channel over a box. Without a table
	// of squares it is 0, or NaN where not all pixels are valid.
	StdDev(box B, channel int) float64
	// VarianceBoxes and StdDevBoxes write variances and standard deviations of boxes.
	VarianceBoxes(dst []float64, boxes []B) error
	StdDevBoxes(dst []float64, boxes []B) error
}

// A form holds the functions instantiated for one type of sums.
type form struct {
	upright func(sums, squares, count *engine.Table) (Upright, error)
	volume  func(sums, squares *engine.Table) (Volume, error)
	tilted  func(sums *engine.Table) (Tilted, error)
	rotated func(width, height, channels int, rot rotated.Rotation) (Rotated, error)
}

// forms holds the forms by the type of sums.
var forms = [raster.NumTypes]form{
	raster.U32: formOf[uint32](),
	raster.U64: formOf[uint64](),
	raster.I64: formOf[int64](),
	raster.F32: formOf[float32](),
	raster.F64: formOf[float64](),
}

func formOf[S boxsum.Sum]() form {
	return form{newUpright[S], newVolume[S], newTilted[S], newRotated[S]}
}

// of returns the form of a type of sums.
func of(sum raster.Type) (*form, error) {
	if f := &forms[sum]; f.upright != nil {
		return f, nil
	}
	return nil, unsupported("sums", sum)
}

// unsupported returns an error for tables that do not exist.
func unsupported(what string, t raster.Type) error {
	if t == 0 {
		return raster.NoTable()
	}
	return raster.Unsupported("%v has no tables, want %s", t, what)
}

// sums is the method set of a table with sums of type S.
type sums[S boxsum.Sum, B any] interface {
	SumChannel(box B, channel int) S
	SumBoxes(dst []S, boxes []B) error
}

// statistics is the method set of a table that may have squares.
type statistics[B any] interface {
	Mean(box B, channel int) float64
	MeanBoxes(dst []float64, boxes []B) error
	StdDev(box B, channel int) float64
	VarianceBoxes(dst []float64, boxes []B) error
	StdDevBoxes(dst []float64, boxes []B) error
}

// table implements [Table].
type table[S boxsum.Sum, B any] struct {
	statistics[B]
	sums     sums[S, B]
	channels int
}

func (t *table[S, B]) Type() raster.Type { return raster.TypeOf[S]() }
func (t *table[S, B]) Channels() int     { return t.channels }

func (t *table[S, B]) Sum(box B, channel int) any { return t.sums.SumChannel(box, channel) }

func (t *table[S, B]) SumBoxes(dst []byte, boxes []B) error {
	return t.sums.SumBoxes(raster.Elems[S](dst), boxes)
}

func (t *table[S, B]) Totals(dst []stats.Sum, boxes []B) error {
	all := make([]S, len(boxes)*t.channels)
	if err := raster.Room(len(dst), len(boxes), t.channels); err != nil {
		return err
	}
	if err := t.sums.SumBoxes(all, boxes); err != nil {
		return err
	}
	for i, s := range all {
		dst[i] = stats.SumOf(s)
	}
	return nil
}

// single is the method set for the statistics of single boxes.
type single[B any] interface {
	Mean(box B, channel int) float64
	Variance(box B, channel int) float64
	StdDev(box B, channel int) float64
}

// oneByOne answers queries about several boxes box by box.
type oneByOne[B any] struct {
	single[B]
	channels int
}

func (t oneByOne[B]) MeanBoxes(dst []float64, boxes []B) error { return t.each(dst, boxes, t.Mean) }

func (t oneByOne[B]) VarianceBoxes(dst []float64, boxes []B) error {
	return t.each(dst, boxes, t.Variance)
}

func (t oneByOne[B]) StdDevBoxes(dst []float64, boxes []B) error {
	return t.each(dst, boxes, t.StdDev)
}

func (t oneByOne[B]) each(dst []float64, boxes []B, of func(box B, channel int) float64) error {
	if err := raster.Room(len(dst), len(boxes), t.channels); err != nil {
		return err
	}
	for i, box := range boxes {
		for channel := range t.channels {
			dst[i*t.channels+channel] = of(box, channel)
		}
	}
	return nil
}

// WideVariances writes the variances of boxes of integers whose squares may exceed 64
// bits, see [stats.WideVariance]: squares are rounded sums of squares in float64, and
// modulo are exact ones modulo 2^64. area returns the number of pixels of a box.
func WideVariances[B any](dst []float64, boxes []B, sums, squares, modulo Table[B], area func(box B, channel int) int) error {
	channels := sums.Channels()
	n := len(boxes) * channels
	s, rounded, exact := make([]stats.Sum, n), make([]float64, n), make([]uint64, n)
	if err := sums.Totals(s, boxes); err != nil {
		return err
	}
	if err := squares.SumBoxes(raster.Bytes(rounded), boxes); err != nil {
		return err
	}
	if err := modulo.SumBoxes(raster.Bytes(exact), boxes); err != nil {
		return err
	}
	for i, box := range boxes {
		for channel := range channels {
			at := i*channels + channel
			dst[at] = stats.WideVariance(area(box, channel), s[at], rounded[at], exact[at])
		}
	}
	return nil
}
