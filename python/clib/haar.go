//go:build cgo

package main

import (
	"image"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/haar"
	"github.com/boxsum/boxsum/rotated"
)

// features is what a call of haarValues asks for.
type features struct {
	set       *haar.Set
	windows   []image.Point
	channel   int
	corrected bool
	out       array
	workers   int
}

// evaluate evaluates along the rows of a table, or of a rotated one. Values are float64 or int64.
func evaluate[V haar.Number, S boxsum.Sum](q *features, t *boxsum.Table[S], r *rotated.Table[S], e element) {
	var p *haar.Plane[V, S]
	if r != nil {
		p = got(haar.Rotated[V](r, q.channel))
	} else {
		p = got(haar.Upright[V](t, q.channel))
	}
	n, opt := q.set.Len(), &haar.Options{Workers: q.workers}
	if q.corrected {
		must(p.CorrectedValues(list[float64](q.out, f64, "out", len(q.windows), n), q.set, q.windows, opt))
	} else {
		must(p.Values(list[V](q.out, e, "out", len(q.windows), n), q.set, q.windows, opt))
	}
}

// onPlane evaluates with sums as float64, where the values are, or as int64.
func onPlane[S boxsum.Sum](q *features, t *boxsum.Table[S], r *rotated.Table[S]) {
	if q.corrected || q.out.element == f64 {
		evaluate[float64](q, t, r, f64)
	} else {
		evaluate[int64](q, t, r, i64)
	}
}

func uprightFeatures[S boxsum.Sum](v *view, q *features) { onPlane(q, tableOver[S](v), nil) }

// newSet is all features of some kinds, or those of a list: rows of kind, x0, y0,
// x1 and y1. With a rotation that is not 0/1 the window is upright all the same.
func newSet(width, height int, kinds []int, listed [][5]int, rot rotated.Rotation) *haar.Set {
	if listed != nil {
		all := make([]haar.Feature, len(listed))
		for i, f := range listed {
			all[i] = got(haar.New(kindOf(f[0]), image.Rect(f[1], f[2], f[3], f[4])))
		}
		return got(haar.NewRotatedSet(rot, width, height, all...))
	}
	all := make([]haar.Kind, len(kinds))
	for i, k := range kinds {
		all[i] = kindOf(k)
	}
	return got(haar.AllRotated(rot, width, height, all...))
}

func kindOf(n int) haar.Kind {
	if n < 1 || n > len(haar.Kinds()) {
		must(invalid("no kind of feature is number %d", n))
	}
	return haar.Kind(n)
}

// haarValues evaluates features in windows that start at pixels. It takes a table of
// an image, or the handle of a rotated table; kinds and features, one of them None;
// width and height; 1 where windows stay upright on a rotated table; windows, out,
// the channel, 1 for values that are corrected, and workers.
func haarValues(a arguments) any {
	at := a.array(6)
	q := &features{windows: list[image.Point](at, i64, "windows", -1, 2)[:at.shape[0]], out: a.toWrite(7), channel: a.int(8), corrected: a.int(9) != 0, workers: a.int(10)}
	var l lattice
	rot := rotated.Rotation{A: 0, B: 1}
	if a.isNumber(0) {
		if l = a.lattice(0); a.int(5) != 0 {
			rot = l.plane().Rotation()
		}
	}
	var kinds []int
	var listed [][5]int
	if a.has(2) {
		from := a.array(2)
		listed = list[[5]int](from, i64, "features", -1, 5)[:from.shape[0]:from.shape[0]]
	} else {
		kinds = list[int](a.array(1), i64, "kinds", -1)
	}
	q.set = newSet(a.int(3), a.int(4), kinds, listed, rot)
	if l != nil {
		l.features(q)
		return nil
	}
	table := a.array(0).mustView(2)
	if table.width == 0 || table.height == 0 {
		must(errNoBorder)
	}
	known(bySum, table.element, "a table of %v").features(&table, q)
	return nil
}

// haarFeatures is how many features of some kinds a window has. It takes the kinds,
// width and height, a rotation's two terms, and an array to write the features to,
// or None.
func haarFeatures(a arguments) any {
	set := newSet(a.int(1), a.int(2), list[int](a.array(0), i64, "kinds", -1), nil, rotated.Rotation{A: a.int(3), B: a.int(4)})
	if !a.has(5) {
		return set.Len()
	}
	rows := list[[5]int](a.toWrite(5), i64, "out", set.Len(), 5)
	i := 0
	for f := range set.Features() {
		b := f.Bounds()
		rows[i] = [5]int{int(f.Kind()), b.Min.X, b.Min.Y, b.Max.X, b.Max.Y}
		i++
	}
	return len(rows)
}
