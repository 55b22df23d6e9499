//go:build cgo

package main

import (
	"image"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/histogram"
)

// A counting is an integral histogram to make. Its weights are none, uint8 or
// float64, and its table uint32 or, with weights of float64, the same.
type counting struct {
	image, weights view
	table          array
	bins           histogram.Bins
	workers        int
}

func count[P boxsum.Pixel](c *counting) {
	img := imageOf[P](&c.image)
	opt := &histogram.Options{Workers: c.workers}
	switch [2]element{c.table.element, c.weights.element} {
	case [2]element{u32, {}}:
		must(histogram.IntegrateInto(histogramOver[uint32](c), img, opt))
	case [2]element{u32, u8}:
		must(histogram.IntegrateWeightedInto(histogramOver[uint32](c), img, imageOf[uint8](&c.weights), opt))
	case [2]element{f64, f64}:
		must(histogram.IntegrateWeightedInto(histogramOver[float64](c), img, imageOf[float64](&c.weights), opt))
	default:
		must(wrongTypes("pixels of %v have no integral histogram of %v", c.image.element, c.table.element))
	}
}

func histogramOver[S boxsum.Sum](c *counting) *histogram.Table[S] {
	counts := list[S](c.table, c.table.element, "out", c.image.height+1, c.image.width+1, c.image.channels, c.bins.N)
	return &histogram.Table[S]{Counts: counts, Width: c.image.width, Height: c.image.height, Channels: c.image.channels, Bins: c.bins}
}

// histogramTable makes the integral histogram of an image in an array without gaps
// of height+1, width+1, channels and bins. It takes the image, weights or None, the
// table, how many bins, their low and high end, 1 to clamp, and workers.
func histogramTable(a arguments) any {
	c := &counting{
		image: a.array(0).mustView(2), table: a.toWrite(2),
		bins:    histogram.Bins{N: a.int(3), Low: a.float(4), High: a.float(5), Clamp: a.int(6) != 0},
		workers: a.int(7),
	}
	if a.has(1) {
		c.weights = a.array(1).mustView(2)
	}
	known(byPixel, c.image.element, "pixels of %v have no integral histogram").count(c)
	return nil
}

// What histogramBoxes says of a box: its counts, or one number.
const (
	boxCounts = iota
	boxQuantile
	boxMode
	boxEntropy
)

// histogramBoxes answers boxes from an integral histogram: counts, of the type of
// the table, or a number each, int64 for bins and float64 for entropies. It takes
// the table, boxes, out, the question, the quantile and workers.
func histogramBoxes(a arguments) any {
	from, to := a.array(0), a.toWrite(2)
	boxes := list[image.Rectangle](a.array(1), i64, "boxes", -1, 4)
	switch from.element {
	case u32:
		histograms[uint32](from, boxes, to, a.int(3), a.float(4), a.int(5))
	case f64:
		histograms[float64](from, boxes, to, a.int(3), a.float(4), a.int(5))
	default:
		must(wrongTypes("an integral histogram of %v", from.element))
	}
	return nil
}

func histograms[S boxsum.Sum](from array, boxes []image.Rectangle, to array, what int, quantile float64, workers int) {
	sums := list[S](from, from.element, "the table", -1, -1, -1, -1)
	if from.shape[0] == 0 || from.shape[1] == 0 {
		must(errNoBorder)
	}
	t := &histogram.Table[S]{Counts: sums, Width: from.shape[1] - 1, Height: from.shape[0] - 1, Channels: from.shape[2], Bins: histogram.Bins{N: from.shape[3]}}
	n, c, least := t.Bins.N, t.Channels, max(1, boxesPerWorker/max(1, from.shape[2]*from.shape[3]))
	if what == boxCounts {
		out := list[S](to, from.element, "out", len(boxes), c, n)
		parallel(len(boxes), workers, least, func(from, to int) { must(t.Histograms(out[from*c*n:to*c*n], boxes[from:to])) })
		return
	}
	var bins []int64
	var numbers []float64
	if what == boxEntropy {
		numbers = list[float64](to, f64, "out", len(boxes), c)
	} else {
		bins = list[int64](to, i64, "out", len(boxes), c)
	}
	parallel(len(boxes), workers, least, func(from, to int) {
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
	})
}
