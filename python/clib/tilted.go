//go:build cgo

package main

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/tilted"
)

// tiltedBoxes writes the sum or the mean of every box of a 45° table. It takes a table,
// boxes, out, the question and workers, and perhaps the largest pixel. Boxes are int64, x, y, w, h each; out
// has a row of as many numbers as there are channels for each.
func tiltedBoxes(a arguments) any {
	q := &query{boxes: a.array(1), out: a.toWrite(2), what: a.int(3), workers: a.int(4)}
	if q.table = a.array(0).mustView(2); q.table.width == 0 || q.table.height == 0 {
		must(errNoBorder)
	}
	if len(a) > 5 && q.what != boxSum {
		q.know(a[5:])
	}
	known(bySum, q.table.element, "a table of %v").tilted(q)
	return nil
}

//go:noinline
func tiltedOver[S boxsum.Sum](v *view) *tilted.Table[S] {
	return &tilted.Table[S]{Sums: values[S](v), Stride: v.stride, Width: v.width - 1, Height: v.height - 1, Channels: v.channels}
}

func tiltedAnswer[S boxsum.Sum](q *query) {
	boxes, t := list[tilted.Box](q.boxes, i64, "boxes", -1, 4), tiltedOver[S](&q.table)
	n, c := len(boxes), t.Channels
	if q.what == boxSum {
		out := list[S](q.out, q.table.element, "out", n, c)
		parallel(n, q.workers, boxesPerWorker, func(from, to int) { must(t.SumBoxes(out[from*c:to*c], boxes[from:to])) })
		return
	}
	out := list[float64](q.out, f64, "out", n, c)
	pixels := q.pixels(pixelsOf[S](q.bound, false))
	t.Bound, t.Signed = pixels.Bound, pixels.Signed
	parallel(n, q.workers, boxesPerWorker, func(from, to int) { must(t.MeanBoxes(out[from*c:to*c], boxes[from:to])) })
}
