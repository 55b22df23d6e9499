//go:build cgo

package main

import (
	"image"

	"github.com/boxsum/boxsum/haar"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/typed"
	"github.com/boxsum/boxsum/rotated"
)

// features holds the arguments of haarValues.
type features struct {
	set       *haar.Set
	windows   []image.Point
	channel   int
	corrected bool
	out       array
	workers   int
}

// A plane is a table whose channels can evaluate features.
type plane interface {
	Features(channel int, values raster.Type) (typed.Features, error)
}

// evaluate evaluates features on a table or a rotated table. Values are float64 or int64.
func (q *features) evaluate(t plane) {
	n, opt := q.set.Len(), &haar.Options{Workers: q.workers}
	switch {
	case q.corrected:
		out := list[float64](q.out, f64, "out", len(q.windows), n)
		must(got(t.Features(q.channel, raster.F64)).CorrectedValues(out, q.set, q.windows, opt))
	case q.out.element == f64:
		must(got(t.Features(q.channel, raster.F64)).Values(memory(q.out, f64, "out", len(q.windows), n), q.set, q.windows, opt))
	default:
		must(got(t.Features(q.channel, raster.I64)).Values(memory(q.out, i64, "out", len(q.windows), n), q.set, q.windows, opt))
	}
}

// newSet returns all features of some kinds, or those of a list with rows of kind, x0, y0, x1 and y1.
// The window is upright even if the rotation is not 0/1.
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
		must(invalid("kind of feature is %d, want 1 to %d", n, len(haar.Kinds())))
	}
	return haar.Kind(n)
}

// haarValues evaluates features in windows that start at given pixels. Its arguments are a table of an
// image, or the handle of a rotated table; kinds and features, one of them None; width and height; 1 to
// keep windows upright on a rotated table; windows, out, the channel, 1 for corrected values, and
// workers.
func haarValues(a arguments) any {
	at := a.array(6)
	q := &features{windows: list[image.Point](at, i64, "windows", -1, 2)[:at.shape[0]], out: a.toWrite(7), channel: a.int(8), corrected: a.int(9) != 0, workers: a.int(10)}
	var l typed.Rotated
	rot := rotated.Rotation{A: 0, B: 1}
	if a.isNumber(0) {
		if l = a.lattice(0); a.int(5) != 0 {
			rot = l.Lattice().Rotation()
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
		q.evaluate(l)
		return nil
	}
	table := &query{table: a.array(0).mustView(2)}
	if table.table.width == 0 || table.table.height == 0 {
		must(errNoBorder)
	}
	q.evaluate(got(typed.NewUpright(table.sums(false), nil, nil)))
	return nil
}

// haarFeatures returns the number of features of some kinds in a window. Its arguments are the kinds,
// width and height, the two terms of a rotation, and an array to write the features to, or None.
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
