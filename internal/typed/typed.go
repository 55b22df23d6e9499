// Package typed answers queries of tables whose types are known only at run time: for
// the command, the explorer and the Python library, which make tables with package
// engine. Here the type of sums becomes a Go type again.
package typed

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/stats"
)

// A Table answers queries about boxes of type B, whatever the types of its sums and
// squares. Boxes are clipped. Numbers of several boxes are those of all channels of the
// first box, then those of the second, and so on.
type Table[B any] interface {
	// Type returns the type of the sums, and Channels the number of values of a pixel.
	Type() raster.Type
	Channels() int

	// Sum returns the sum of one channel over a box.
	Sum(box B, channel int) stats.Sum
	// SumBoxes writes the sums of boxes to dst, the memory of numbers of their type.
	SumBoxes(dst []byte, boxes []B) error
	// Totals is like SumBoxes, but writes numbers of any type.
	Totals(dst []stats.Sum, boxes []B) error

	Statistics[B]
}

// Statistics are the queries of a table with squares. Without squares, deviations are 0, or
// NaN where not all pixels are valid.
type Statistics[B any] interface {
	Mean(box B, channel int) float64
	StdDev(box B, channel int) float64
	MeanBoxes(dst []float64, boxes []B) error
	VarianceBoxes(dst []float64, boxes []B) error
	StdDevBoxes(dst []float64, boxes []B) error
}

// table implements [Table] for one type of sums.
type table[S boxsum.Sum, B any] struct {
	Statistics[B]
	sums     sums[S, B]
	channels int
}

// sums are the queries of a table whose results have the type of its sums.
type sums[S boxsum.Sum, B any] interface {
	SumChannel(box B, channel int) S
	SumBoxes(dst []S, boxes []B) error
}

func (t *table[S, B]) Type() raster.Type { return raster.TypeOf[S]() }
func (t *table[S, B]) Channels() int     { return t.channels }

func (t *table[S, B]) Sum(box B, channel int) stats.Sum {
	return stats.SumOf(t.sums.SumChannel(box, channel))
}

func (t *table[S, B]) SumBoxes(dst []byte, boxes []B) error {
	return t.sums.SumBoxes(raster.Elems[S](dst), boxes)
}

func (t *table[S, B]) Totals(dst []stats.Sum, boxes []B) error {
	if err := raster.CheckRoom(len(dst), len(boxes), t.channels); err != nil {
		return err
	}
	all := make([]S, len(boxes)*t.channels)
	if err := t.sums.SumBoxes(all, boxes); err != nil {
		return err
	}
	for i, s := range all {
		dst[i] = stats.SumOf(s)
	}
	return nil
}

// unsupported returns an error for tables that do not exist.
func unsupported(what string, t raster.Type) error {
	if t == 0 {
		return raster.NoTable()
	}
	return raster.Unsupported("tables cannot have type %v, want %s", t, what)
}

// WideVariances writes the variances of boxes of integers whose squares may exceed 64
// bits; see [stats.WideVariance]: squares are rounded sums of squares in float64, and
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
