//go:build cgo

package main

import (
	"io"
	"runtime/cgo"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/typed"
	"github.com/boxsum/boxsum/rotated"
)

// rotatedBytes returns the approximate size of the table of an image: a sum for every pixel and, above 3/4,
// one for each empty cell between them.
func rotatedBytes(g layout, sum int, rot rotated.Rotation) float64 {
	small, large := float64(max(rot.A, -rot.A)), float64(max(rot.B, -rot.B))
	if small > large {
		small, large = large, small
	}
	bytes := float64(g.width+64) * float64(g.height+1) * float64(g.channels) * float64(sum)
	if t := small / max(large, 1); t > 0.75 {
		bytes *= 1 + t*t
	}
	return bytes
}

// rotatedTable makes the table of an image along a/b and returns a handle for it. Its arguments are the
// image, the kind and size of the sums, a, b, workers and the number of a device or -1.
func rotatedTable(a arguments) any {
	img, rot := a.array(0).mustView(2), rotated.Rotation{A: a.int(3), B: a.int(4)}
	pixel := img.element.pixels("pixels of %v cannot be summed")
	sum := element{byte(a.int(1)), a.int(2)}.sumsOf(pixel)
	opt := engine.Options{Workers: a.int(5)}
	if d := a.device(6); d != nil {
		opt.On = d
	}
	must(room(rotatedBytes(img.layout, sum.Bytes(), rot)))
	return int(cgo.NewHandle(got(typed.IntegrateRotated(img.pixels(pixel, false), sum, 0, rot, opt))))
}

func (a arguments) lattice(i int) typed.Rotated {
	l, ok := cgo.Handle(a.int(i)).Value().(typed.Rotated)
	if !ok {
		panic("not a rotated table")
	}
	return l
}

func release(a arguments) any {
	h := cgo.Handle(a.int(0))
	if of, ok := h.Value().(io.Closer); ok {
		must(of.Close())
	}
	h.Delete()
	return nil
}

// rotatedBoxes answers a query for boxes of four int64: c0, r0, c1, r1. Its arguments are a handle, boxes,
// out, the query (boxSum, boxMean, or anything else for areas) and workers.
func rotatedBoxes(a arguments) any {
	l, out, workers := a.lattice(0), a.toWrite(2), a.int(4)
	boxes := list[rotated.Box](a.array(1), i64, "boxes", -1, 4)
	n, c := len(boxes), l.Channels()
	switch a.int(3) {
	case boxSum:
		if out.element.kind != 'f' && l.Type().Float() || out.bytes != l.Type().Bytes() {
			must(wrongTypes("out has type %v, want %v", out.element, l.Type()))
		}
		sums, size := memory(out, out.element, "out", n, c), c*out.bytes
		parallel(n, workers, boxesPerWorker/8, func(from, to int) { must(l.SumBoxes(sums[from*size:to*size], boxes[from:to])) })
	case boxMean:
		means := list[float64](out, f64, "out", n, c)
		parallel(n, workers, boxesPerWorker/8, func(from, to int) { must(l.MeanBoxes(means[from*c:to*c], boxes[from:to])) })
	default:
		areas := list[int64](out, i64, "out", n)
		each(n, workers, boxesPerWorker/8, func(i int) { areas[i] = l.Lattice().Area(boxes[i]) })
	}
	return nil
}

// rotatedCells writes the cell of every pixel, c and r for x and y. Its arguments are a handle, points and
// out.
func rotatedCells(a arguments) any {
	l, from := a.lattice(0).Lattice(), a.array(1)
	points := list[[2]int](from, i64, "points", -1, 2)
	cells := list[[2]int](a.toWrite(2), i64, "out", from.shape[0], 2)
	for i, p := range points {
		cells[i][0], cells[i][1] = l.Cell(p[0], p[1])
	}
	return nil
}

// rotatedNearest writes the box nearest to every rectangle of five float64: x and y of its center, width,
// height and degrees. Its arguments are a handle, rectangles and out.
func rotatedNearest(a arguments) any {
	l, from := a.lattice(0).Lattice(), a.array(1)
	rectangles := list[rotated.Rectangle](from, f64, "rectangles", -1, 5)
	boxes := list[rotated.Box](a.toWrite(2), i64, "out", from.shape[0], 4)
	for i, r := range rectangles {
		boxes[i] = got(l.FromRectangle(r))
	}
	return nil
}

// rotatedBounds writes the smallest box that contains all pixels. Its arguments are a handle and out.
func rotatedBounds(a arguments) any {
	list[rotated.Box](a.toWrite(1), i64, "out", 4)[0] = a.lattice(0).Lattice().Bounds()
	return nil
}
