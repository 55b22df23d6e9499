//go:build cgo

package main

import (
	"github.com/boxsum/boxsum/internal/typed"
	"github.com/boxsum/boxsum/tilted"
)

// tiltedBoxes writes the sum or the mean of every box of a 45° table. Its arguments are a table, boxes, out,
// the query and workers, and optionally the largest pixel. Boxes are int64: x, y, w, h; out has a row per
// box with one number per channel.
func tiltedBoxes(a arguments) any {
	q := &query{boxes: a.array(1), out: a.toWrite(2), what: a.int(3), workers: a.int(4)}
	if q.table = a.array(0).mustView(2); q.table.width == 0 || q.table.height == 0 {
		must(errNoBorder)
	}
	if len(a) > 5 && q.what != boxSum {
		q.setRange(a[5:])
	}
	boxes := list[tilted.Box](q.boxes, i64, "boxes", -1, 4)
	if q.what > boxMean {
		must(invalid("query is %d, want a sum or a mean for a tilted table", q.what))
	}
	ask(q, boxes, got(typed.NewTilted(q.sums(false), nil)))
	return nil
}
