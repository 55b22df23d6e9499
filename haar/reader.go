package haar

import (
	"cmp"
	"image"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/grid"
)

// A reader is what one worker sees of a plane: a window at a time.
type reader[V Number, S boxsum.Sum] struct {
	plane  *Plane[V, S]
	grid   mesh[S]
	areas  mesh[int64] // of pixels, on a plane that is not upright
	strips []S

	bounds  image.Rectangle // of the lines to gather
	sums    []S             // gathered; nil where single features are
	pixels  []int64
	current int // window, counted from 1
}

func (p *Plane[V, S]) readers(workers int, set *Set, areas bool) ([]reader[V, S], error) {
	list := make([]reader[V, S], workers)
	bounds := set.window.bounds()
	gather := p.lattice != nil && set.sharesEntries(bounds)
	for i := range list {
		r := &list[i]
		r.plane, r.bounds = p, bounds
		var errs [3]error
		if !areas {
			r.strips, errs[0] = grid.Make[S](set.stripsLen())
		}
		if gather {
			r.sums, errs[1] = grid.Make[S](cornersLen(bounds))
		}
		if gather && areas {
			r.pixels, errs[2] = grid.Make[int64](cornersLen(bounds))
		}
		if err := cmp.Or(errs[:]...); err != nil {
			return nil, grid.OutOfMemory("%w", err)
		}
	}
	return list, nil
}

// sharesEntries reports whether the features of a set read the entries of its
// window more often than once each.
func (s *Set) sharesEntries(bounds image.Rectangle) bool {
	const reads = 8 // of a feature
	return s.kinds != nil || cornersLen(bounds)/reads <= s.length
}

// show moves the reader to a window. It does not where features are better
// looked at one by one.
func (r *reader[V, S]) show(at image.Point, window int) bool {
	p := r.plane
	switch {
	case p.lattice == nil:
		r.grid = p.at(at)
	case r.sums == nil:
		return false
	case r.current != window+1:
		r.current = window + 1
		place := p.place(at)
		r.grid = gather(r.sums, place, r.bounds, p.entry)
		if r.pixels != nil {
			r.areas = gather(r.pixels, place, r.bounds, p.areaEntry)
		}
	}
	return true
}

// areasOf is the pixels for and against a feature of the window, times their
// weights.
func (r *reader[V, S]) areasOf(f *Feature) (plus, minus int64) {
	if r.pixels == nil {
		return f.areas()
	}
	return read[int64](&r.areas, f)
}
