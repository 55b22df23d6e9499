//go:build cgo

package main

import (
	"io"
	"runtime/cgo"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/rotated"
)

// A lattice is a rotated table of any type.
type lattice interface {
	plane() *rotated.Lattice
	sums(out array, boxes []rotated.Box, workers int)
	means(out array, boxes []rotated.Box, workers int)
	features(q *features)
}

type latticeOf[S boxsum.Sum] struct{ table *rotated.Table[S] }

func rotate[S boxsum.Sum, P boxsum.Pixel](j *job, rot rotated.Rotation) lattice {
	must(room(rotatedBytes(j.image.layout, raster.SizeOf[S](), rot)))
	if j.device != nil {
		return latticeOf[S]{got(rotated.Integrate[S](imageOf[P](&j.image), rot, &rotated.Options{On: j.device}))}
	}
	return latticeOf[S]{got(rotated.Integrate[S](imageOf[P](&j.image), rot, &rotated.Options{Workers: j.workers}))}
}

// rotatedBytes is about what the table of an image takes: a sum for every pixel,
// and above 3/4 for the empty cells between them.
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

func (l latticeOf[S]) plane() *rotated.Lattice { return l.table.Lattice }

func (l latticeOf[S]) sums(to array, boxes []rotated.Box, workers int) {
	c := l.table.Channels
	if to.bytes != raster.SizeOf[S]() {
		must(wrongTypes("out is of %v", to.element))
	}
	out := list[S](to, to.element, "out", len(boxes), c)
	each(len(boxes), workers, boxesPerWorker/8, func(i int) { l.table.SumChannels(out[i*c:i*c:(i+1)*c], boxes[i]) })
}

func (l latticeOf[S]) means(to array, boxes []rotated.Box, workers int) {
	c := l.table.Channels
	out := list[float64](to, f64, "out", len(boxes), c)
	each(len(boxes), workers, boxesPerWorker/8, func(i int) {
		for channel := range c {
			out[i*c+channel] = l.table.Mean(boxes[i], channel)
		}
	})
}

func (l latticeOf[S]) features(q *features) { onPlane(q, nil, l.table) }

// rotatedTable makes the table of an image along a/b, and is a handle for it. It
// takes the image, the kind and bytes of the sums, a, b, workers and the number of
// a device or -1.
func rotatedTable(a arguments) any {
	j := &job{image: a.array(0).mustView(2), workers: a.int(5)}
	p := find(j.image.element, element{byte(a.int(1)), a.int(2)})
	j.device = a.device(6)
	return int(cgo.NewHandle(p.rotated(j, rotated.Rotation{A: a.int(3), B: a.int(4)})))
}

func (a arguments) lattice(i int) lattice {
	l, ok := cgo.Handle(a.int(i)).Value().(lattice)
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

// rotatedBoxes answers boxes of four int64, c0 r0 c1 r1. It takes a handle, boxes,
// out, the question (boxSum, boxMean, or any other for areas) and workers.
func rotatedBoxes(a arguments) any {
	l, out, workers := a.lattice(0), a.toWrite(2), a.int(4)
	boxes := list[rotated.Box](a.array(1), i64, "boxes", -1, 4)
	switch a.int(3) {
	case boxSum:
		l.sums(out, boxes, workers)
	case boxMean:
		l.means(out, boxes, workers)
	default:
		areas := list[int64](out, i64, "out", len(boxes))
		each(len(boxes), workers, boxesPerWorker/8, func(i int) { areas[i] = l.plane().Area(boxes[i]) })
	}
	return nil
}

// rotatedCells writes the cell of every pixel: c and r for x and y. It takes a
// handle, points and out.
func rotatedCells(a arguments) any {
	l, from := a.lattice(0).plane(), a.array(1)
	points := list[[2]int](from, i64, "points", -1, 2)
	cells := list[[2]int](a.toWrite(2), i64, "out", from.shape[0], 2)
	for i, p := range points {
		cells[i][0], cells[i][1] = l.Cell(p[0], p[1])
	}
	return nil
}

// rotatedNearest writes the box nearest to every rectangle of five float64: x and y
// of its centre, width, height and degrees. It takes a handle, rectangles and out.
func rotatedNearest(a arguments) any {
	l, from := a.lattice(0).plane(), a.array(1)
	rectangles := list[rotated.Rectangle](from, f64, "rectangles", -1, 5)
	boxes := list[rotated.Box](a.toWrite(2), i64, "out", from.shape[0], 4)
	for i, r := range rectangles {
		boxes[i] = got(l.FromRectangle(r))
	}
	return nil
}

// rotatedBounds writes the smallest box with all pixels. It takes a handle and out.
func rotatedBounds(a arguments) any {
	list[rotated.Box](a.toWrite(1), i64, "out", 4)[0] = a.lattice(0).plane().Bounds()
	return nil
}
