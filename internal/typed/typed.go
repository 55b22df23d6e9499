// Package typed answers queries of tables whose types are known only at run time: for
// the command, the explorer, the Python library and the measurements, which make tables
// with package engine. Here the type of sums becomes a Go type again.
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
	tilted  func(sums, squares *engine.Table) (Tilted, error)
	rotated func(squares raster.Type, width, height, channels int, rot rotated.Rotation) (*turned, integrate, error)
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

// table implements [Table] with functions of a table that has types. It is not an interface
// that those tables implement, because then all of their methods would be compiled.
type table[B any] struct {
	statistics[B]
	sums     raster.Type
	channels int
	sum      func(box B, channel int) any
	sumBoxes func(dst []byte, boxes []B) error
	totals   func(dst []stats.Sum, boxes []B) error
}

// statistics holds the functions of a table that may have squares.
type statistics[B any] struct {
	mean, stdDev                          func(box B, channel int) float64
	meanBoxes, varianceBoxes, stdDevBoxes func(dst []float64, boxes []B) error
}

func (t *table[B]) Type() raster.Type { return t.sums }
func (t *table[B]) Channels() int     { return t.channels }

func (t *table[B]) Sum(box B, channel int) any { return t.sum(box, channel) }

func (t *table[B]) SumBoxes(dst []byte, boxes []B) error { return t.sumBoxes(dst, boxes) }

func (t *table[B]) Totals(dst []stats.Sum, boxes []B) error { return t.totals(dst, boxes) }

func (t *table[B]) Mean(box B, channel int) float64 { return t.mean(box, channel) }

func (t *table[B]) MeanBoxes(dst []float64, boxes []B) error { return t.meanBoxes(dst, boxes) }

func (t *table[B]) StdDev(box B, channel int) float64 { return t.stdDev(box, channel) }

func (t *table[B]) VarianceBoxes(dst []float64, boxes []B) error { return t.varianceBoxes(dst, boxes) }

func (t *table[B]) StdDevBoxes(dst []float64, boxes []B) error { return t.stdDevBoxes(dst, boxes) }

// tableOf returns the table whose sums of one and of several boxes are given.
func tableOf[S boxsum.Sum, B any](channels int, sum func(box B, channel int) S, sumBoxes func(dst []S, boxes []B) error, squared statistics[B]) table[B] {
	return table[B]{
		statistics: squared,
		sums:       raster.TypeOf[S](),
		channels:   channels,
		sum:        func(box B, channel int) any { return sum(box, channel) },
		sumBoxes:   func(dst []byte, boxes []B) error { return sumBoxes(raster.Elems[S](dst), boxes) },
		totals: func(dst []stats.Sum, boxes []B) error {
			all := make([]S, len(boxes)*channels)
			if err := raster.CheckRoom(len(dst), len(boxes), channels); err != nil {
				return err
			}
			if err := sumBoxes(all, boxes); err != nil {
				return err
			}
			for i, s := range all {
				dst[i] = stats.SumOf(s)
			}
			return nil
		},
	}
}

// oneByOne returns the statistics of a table that answers queries about single boxes only.
func oneByOne[B any](channels int, mean, variance, stdDev func(box B, channel int) float64) statistics[B] {
	each := func(of func(box B, channel int) float64) func(dst []float64, boxes []B) error {
		return func(dst []float64, boxes []B) error {
			if err := raster.CheckRoom(len(dst), len(boxes), channels); err != nil {
				return err
			}
			for i, box := range boxes {
				for channel := range channels {
					dst[i*channels+channel] = of(box, channel)
				}
			}
			return nil
		}
	}
	return statistics[B]{mean, stdDev, each(mean), each(variance), each(stdDev)}
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
