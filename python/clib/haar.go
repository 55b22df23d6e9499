package main

// #include "array.h"
import "C"

import (
	"fmt"
	"image"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/haar"
	"github.com/boxsum/boxsum/rotated"
)

// features is what a call of boxsum_haar asks for.
type features struct {
	set       *haar.Set
	windows   []image.Point
	channel   int
	corrected bool
	out       array
	workers   int
}

// evaluate writes the values of all features in all windows.
func evaluate[V haar.Number, S boxsum.Sum](p *haar.Plane[V, S], q *features) error {
	n := q.set.Len()
	opt := &haar.Options{Workers: q.workers}
	if q.corrected {
		out, err := list[float64](q.out, f64, "out", len(q.windows), n)
		if err != nil {
			return err
		}
		return p.CorrectedValues(out, q.set, q.windows, opt)
	}
	e := i64
	if V(1)/2 != 0 {
		e = f64
	}
	out, err := list[V](q.out, e, "out", len(q.windows), n)
	if err != nil {
		return err
	}
	return p.Values(out, q.set, q.windows, opt)
}

// uprightFeatures evaluates on a table of the caller's.
func uprightFeatures[S boxsum.Sum](a array, q *features) error {
	g, err := a.grid(2)
	if err != nil {
		return err
	}
	if g.width == 0 || g.height == 0 {
		return fmt.Errorf("boxsum: %w: a table has a row and a column of zeros at least", boxsum.ErrInvalid)
	}
	t := new(boxsum.Table[S])
	over(t, a, g)
	if q.corrected || q.out.element == f64 {
		p, err := haar.Upright[float64](t, q.channel)
		if err != nil {
			return err
		}
		return evaluate(p, q)
	}
	p, err := haar.Upright[int64](t, q.channel)
	if err != nil {
		return err
	}
	return evaluate(p, q)
}

// newSet is all features of some kinds, or those of a list: rows of kind, x0, y0,
// x1 and y1. With a rotation that is not 0/1 the window is upright all the same.
func newSet(width, height int, kinds []int, listed [][5]int, rot rotated.Rotation) (*haar.Set, error) {
	if listed != nil {
		all := make([]haar.Feature, len(listed))
		for i, f := range listed {
			kind, err := kindOf(f[0])
			if err != nil {
				return nil, err
			}
			if all[i], err = haar.New(kind, image.Rect(f[1], f[2], f[3], f[4])); err != nil {
				return nil, err
			}
		}
		if rot.A != 0 {
			return haar.NewRotatedSet(rot, width, height, all...)
		}
		return haar.NewSet(width, height, all...)
	}
	all := make([]haar.Kind, len(kinds))
	for i, k := range kinds {
		var err error
		if all[i], err = kindOf(k); err != nil {
			return nil, err
		}
	}
	if rot.A != 0 {
		return haar.AllRotated(rot, width, height, all...)
	}
	return haar.All(width, height, all...)
}

func kindOf(n int) (haar.Kind, error) {
	if n < 1 || n > len(haar.Kinds()) {
		return 0, fmt.Errorf("boxsum: %w: no kind of feature is number %d", boxsum.ErrTypes, n)
	}
	return haar.Kind(n), nil
}

// setOf is the set that arrays of kinds or of features describe; one is nil.
func setOf(kinds, listed *C.boxsum_array, width, height, a, b C.int64_t) (*haar.Set, error) {
	rot := rotated.Rotation{A: int(a), B: int(b)}
	if listed != nil {
		from, err := arrayOf(listed)
		if err != nil {
			return nil, err
		}
		rows, err := list[[5]int](from, i64, "features", -1, 5)
		if err != nil {
			return nil, err
		}
		return newSet(int(width), int(height), nil, rows[:from.shape[0]:from.shape[0]], rot)
	}
	from, err := arrayOf(kinds)
	if err != nil {
		return nil, err
	}
	numbers, err := list[int](from, i64, "kinds", -1)
	if err != nil {
		return nil, err
	}
	return newSet(int(width), int(height), numbers, nil, rot)
}

// boxsum_haar evaluates features in windows that start at pixels, on a table of
// an image or, where that is nil, on the rotated table of a handle. Upright says
// that windows stay upright on the latter.
//
//export boxsum_haar
func boxsum_haar(table *C.boxsum_array, handle C.uintptr_t, kinds, listed *C.boxsum_array, width, height, upright C.int64_t, windows, out *C.boxsum_array, channel, corrected, workers C.int64_t) *C.char {
	return guard(func() error {
		q := &features{channel: int(channel), corrected: corrected != 0, workers: int(workers)}
		at, err := arrayOf(windows)
		if err != nil {
			return err
		}
		if q.windows, err = list[image.Point](at, i64, "windows", -1, 2); err != nil {
			return err
		}
		q.windows = q.windows[:at.shape[0]]
		if q.out, err = arrayOf(out); err != nil {
			return err
		}
		if err := q.out.toWrite("out"); err != nil {
			return err
		}
		if table == nil {
			l, err := latticeAt(handle)
			if err != nil {
				return err
			}
			var rot rotated.Rotation
			if upright != 0 {
				rot = l.plane().Rotation()
			}
			if q.set, err = setOf(kinds, listed, width, height, C.int64_t(rot.A), C.int64_t(rot.B)); err != nil {
				return err
			}
			return l.features(q)
		}
		if q.set, err = setOf(kinds, listed, width, height, 0, 1); err != nil {
			return err
		}
		from, err := arrayOf(table)
		if err != nil {
			return err
		}
		switch from.element {
		case u32, i32:
			return uprightFeatures[uint32](from, q)
		case u64:
			return uprightFeatures[uint64](from, q)
		case i64:
			return uprightFeatures[int64](from, q)
		case f32:
			return uprightFeatures[float32](from, q)
		case f64:
			return uprightFeatures[float64](from, q)
		}
		return fmt.Errorf("boxsum: %w: a table of %v", boxsum.ErrTypes, from.element)
	})
}

// boxsum_haar_features says how many features of some kinds a window has, and
// writes them unless out is nil.
//
//export boxsum_haar_features
func boxsum_haar_features(kinds *C.boxsum_array, width, height, a, b C.int64_t, out *C.boxsum_array, count *C.int64_t) *C.char {
	return guard(func() error {
		set, err := setOf(kinds, nil, width, height, a, b)
		if err != nil {
			return err
		}
		*count = C.int64_t(set.Len())
		if out == nil {
			return nil
		}
		to, err := arrayOf(out)
		if err != nil {
			return err
		}
		rows, err := list[[5]int](to, i64, "out", set.Len(), 5)
		if err != nil {
			return err
		}
		i := 0
		for f := range set.Features() {
			b := f.Bounds()
			rows[i] = [5]int{int(f.Kind()), b.Min.X, b.Min.Y, b.Max.X, b.Max.Y}
			i++
		}
		return nil
	})
}
