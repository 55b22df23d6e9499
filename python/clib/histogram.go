package main

// #include "array.h"
import "C"

import (
	"fmt"
	"image"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/histogram"
)

// counters makes integral histograms of pixels of each type, with weights of the
// third type: none, uint8 or float64.
var counters = map[types]func(c *counting) error{}

func init() {
	counts[uint8](u8)
	counts[uint16](u16)
	counts[uint32](u32)
	counts[int16](i16)
	counts[int32](i32)
	counts[float32](f32)
	counts[float64](f64)
}

// A counting is an integral histogram to make.
type counting struct {
	image, weights, table array
	from, weightsFrom     grid
	bins                  histogram.Bins
	workers               int
}

// counts enters the functions for one type of pixels.
func counts[P boxsum.Pixel](pixel element) {
	counters[types{pixel, u32, element{}}] = func(c *counting) error {
		return count(c, u32, func(t *histogram.Table[uint32], opt *boxsum.Options) error {
			return histogram.IntegrateInto(t, imageOf[P](c.image, c.from), opt)
		})
	}
	counters[types{pixel, u32, u8}] = func(c *counting) error {
		return count(c, u32, func(t *histogram.Table[uint32], opt *boxsum.Options) error {
			return histogram.IntegrateWeightedInto(t, imageOf[P](c.image, c.from), imageOf[uint8](c.weights, c.weightsFrom), opt)
		})
	}
	counters[types{pixel, f64, f64}] = func(c *counting) error {
		return count(c, f64, func(t *histogram.Table[float64], opt *boxsum.Options) error {
			return histogram.IntegrateWeightedInto(t, imageOf[P](c.image, c.from), imageOf[float64](c.weights, c.weightsFrom), opt)
		})
	}
}

// count lays a table over the caller's array and calls integrate with it.
func count[S boxsum.Sum](c *counting, e element, integrate func(*histogram.Table[S], *boxsum.Options) error) error {
	shape := []int{c.from.height + 1, c.from.width + 1, c.from.channels, c.bins.N}
	sums, err := list[S](c.table, e, "out", shape...)
	if err != nil {
		return err
	}
	t := &histogram.Table[S]{Counts: sums, Width: c.from.width, Height: c.from.height, Channels: c.from.channels, Bins: c.bins}
	return integrate(t, &boxsum.Options{Workers: c.workers})
}

// boxsum_histogram makes the integral histogram of an image in an array without
// gaps of height+1, width+1, channels and bins. Weights may be nil.
//
//export boxsum_histogram
func boxsum_histogram(image, weights, table *C.boxsum_array, bins C.int64_t, low, high C.double, clamp, workers C.int64_t) *C.char {
	return guard(func() error {
		c := &counting{
			bins:    histogram.Bins{N: int(bins), Low: float64(low), High: float64(high), Clamp: clamp != 0},
			workers: int(workers),
		}
		var err error
		if c.image, err = arrayOf(image); err != nil {
			return err
		}
		if c.from, err = c.image.grid(2); err != nil {
			return err
		}
		if c.table, err = arrayOf(table); err != nil {
			return err
		}
		if err := c.table.toWrite("out"); err != nil {
			return err
		}
		t := types{pixel: c.image.element, sum: c.table.element}
		if weights != nil {
			if c.weights, err = arrayOf(weights); err != nil {
				return err
			}
			if c.weightsFrom, err = c.weights.grid(2); err != nil {
				return err
			}
			t.square = c.weights.element
		}
		f, ok := counters[t]
		if !ok {
			return fmt.Errorf("boxsum: %w: pixels of %v have no integral histogram of %v", boxsum.ErrTypes, t.pixel, t.sum)
		}
		return f(c)
	})
}

// What boxsum_histogram_boxes says of a box: its counts, or one number.
const (
	boxCounts = iota
	boxQuantile
	boxMode
	boxEntropy
)

// boxsum_histogram_boxes answers boxes from an integral histogram: counts, of the
// type of the table, or a number each, int64 for bins and float64 for entropies.
//
//export boxsum_histogram_boxes
func boxsum_histogram_boxes(table, boxes, out *C.boxsum_array, what C.int64_t, quantile C.double, workers C.int64_t) *C.char {
	return guard(func() error {
		from, err := arrayOf(table)
		if err != nil {
			return err
		}
		at, err := arrayOf(boxes)
		if err != nil {
			return err
		}
		to, err := arrayOf(out)
		if err != nil {
			return err
		}
		if err := to.toWrite("out"); err != nil {
			return err
		}
		rectangles, err := list[image.Rectangle](at, i64, "boxes", -1, 4)
		if err != nil {
			return err
		}
		switch from.element {
		case u32:
			return histograms[uint32](from, rectangles, to, int(what), float64(quantile), int(workers))
		case f64:
			return histograms[float64](from, rectangles, to, int(what), float64(quantile), int(workers))
		}
		return fmt.Errorf("boxsum: %w: an integral histogram of %v", boxsum.ErrTypes, from.element)
	})
}

func histograms[S boxsum.Sum](from array, boxes []image.Rectangle, to array, what int, quantile float64, workers int) error {
	sums, err := list[S](from, from.element, "the table", -1, -1, -1, -1)
	if err != nil {
		return err
	}
	if from.shape[0] == 0 || from.shape[1] == 0 {
		return fmt.Errorf("boxsum: %w: a table has a row and a column of zeros at least", boxsum.ErrInvalid)
	}
	t := &histogram.Table[S]{Counts: sums, Width: from.shape[1] - 1, Height: from.shape[0] - 1, Channels: from.shape[2], Bins: histogram.Bins{N: from.shape[3]}}
	n, c, least := t.Bins.N, t.Channels, max(1, boxesPerWorker/max(1, from.shape[2]*from.shape[3]))
	if what == boxCounts {
		out, err := list[S](to, from.element, "out", len(boxes), c, n)
		if err != nil {
			return err
		}
		return parallel(len(boxes), workers, least, func(from, to int) error {
			return t.Histograms(out[from*c*n:to*c*n], boxes[from:to])
		})
	}
	var bins []int64
	var numbers []float64
	if what == boxEntropy {
		numbers, err = list[float64](to, f64, "out", len(boxes), c)
	} else {
		bins, err = list[int64](to, i64, "out", len(boxes), c)
	}
	if err != nil {
		return err
	}
	return parallel(len(boxes), workers, least, func(from, to int) error {
		var h []S
		for i := from; i < to; i++ {
			for channel := range c {
				h = t.Histogram(h[:0], boxes[i], channel)
				switch what {
				case boxQuantile:
					bins[i*c+channel] = int64(histogram.Quantile(h, quantile))
				case boxMode:
					bins[i*c+channel] = int64(histogram.Mode(h))
				default:
					numbers[i*c+channel] = histogram.Entropy(h)
				}
			}
		}
		return nil
	})
}
