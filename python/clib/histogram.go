//go:build cgo

package main

import (
	"image"

	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/bins"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
)

// histogramTable makes the integral histogram of an image in an array without gaps of shape height+1,
// width+1, channels and bins. Its arguments are the image, weights or None, the table, the number of
// bins, their low and high end, 1 to clamp, and workers. Weights are uint8 or float64; the table is
// float64 if they are float64, and uint32 otherwise.
func histogramTable(a arguments) any {
	img, table := a.array(0).mustView(2), a.toWrite(2)
	pixel := img.element.pixels("pixels of %v have no integral histogram")
	var weights raster.Array
	counts := u32
	if a.has(1) {
		w := a.array(1).mustView(2)
		if weights = w.pixels(w.typ(), false); w.element == f64 {
			counts = f64
		}
		if w.element != u8 && w.element != f64 {
			must(wrongTypes("weights have type %v, want uint8 or float64", w.element))
		}
	}
	if table.element != counts {
		must(wrongTypes("out has type %v, want %v", table.element, counts))
	}
	j := got(bins.Check(counts.typ(), img.pixels(pixel, false), weights, engine.Options{Workers: a.int(7)}))
	r := bins.Range{N: a.int(3), Low: a.float(4), High: a.float(5), Clamp: a.int(6) != 0}
	must(j.Fill(&bins.Table{
		Counts: raster.Array{
			Data: memory(table, counts, "out", img.height+1, img.width+1, img.channels, r.N),
			Type: counts.typ(), Extent: raster.PlaneExtent(img.width, img.height, img.channels, 0),
		},
		Range: r,
	}))
	return nil
}

// Queries of histogramBoxes for a box: its counts, or one number.
const (
	boxCounts = iota
	boxQuantile
	boxMode
	boxEntropy
)

// histogramBoxes answers a query for boxes from an integral histogram: counts of the type of the table,
// or one number each, int64 for bins and float64 for entropies. Its arguments are the table, boxes,
// out, the query, the quantile and workers.
func histogramBoxes(a arguments) any {
	from, to := a.array(0), a.toWrite(2)
	boxes := list[image.Rectangle](a.array(1), i64, "boxes", -1, 4)
	if from.element != u32 && from.element != f64 {
		must(wrongTypes("integral histogram has type %v, want uint32", from.element))
	}
	t := bins.Table{Counts: raster.Array{Data: memory(from, from.element, "the table", -1, -1, -1, -1), Type: from.typ()}}
	if from.shape[0] == 0 || from.shape[1] == 0 {
		must(errNoBorder)
	}
	t.Counts.SetPlane(from.shape[1]-1, from.shape[0]-1, from.shape[2], 0)
	t.Range.N = from.shape[3]
	n, c := t.Range.N, t.Counts.Channels
	bytes, least := n*from.bytes, max(1, boxesPerWorker/max(1, c*n))
	what, quantile, workers := a.int(3), a.float(4), a.int(5)
	if what == boxCounts {
		out := memory(to, from.element, "out", len(boxes), c, n)
		parallel(len(boxes), workers, least, func(from, to int) {
			for i := from * c; i < to*c; i++ {
				t.Histogram(out[i*bytes:][:bytes], boxes[i/c], i%c)
			}
		})
		return nil
	}
	var found []int64
	var numbers []float64
	if what == boxEntropy {
		numbers = list[float64](to, f64, "out", len(boxes), c)
	} else {
		found = list[int64](to, i64, "out", len(boxes), c)
	}
	parallel(len(boxes), workers, least, func(from, to int) {
		counts := raster.Array{Data: raster.Aligned(bytes), Type: t.Counts.Type, Extent: raster.PlaneExtent(n, 1, 1, n)}
		h := make([]float64, 0, n)
		for i := from * c; i < to*c; i++ {
			t.Histogram(counts.Data, boxes[i/c], i%c)
			h = counts.Floats(h[:0], 0, 0, n, 1)
			switch what {
			case boxQuantile:
				found[i] = int64(histogram.Quantile(h, quantile))
			case boxMode:
				found[i] = int64(histogram.Mode(h))
			default:
				numbers[i] = histogram.Entropy(h)
			}
		}
	})
	return nil
}
