package haar

import (
	"cmp"
	"image"
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/raster"
)

// Values evaluates the features of a set in the windows with the given top left
// pixels: the value of feature i in window w is dst[w*set.Len()+i]. It returns
// an error if a window lies partly outside the image, or if the length of dst
// is not len(at)*set.Len(). Each worker allocates memory for one window.
func (p *Plane[V, S]) Values(dst []V, set *Set, at []image.Point, opt *Options) error {
	return share(p, dst, set, at, opt, false, func(r *reader[V, S], out []V, t tile, at image.Point, shown bool) {
		if t.kind != 0 && shown {
			p.block(out, r.strips, &r.grid, set, t)
			return
		}
		for i := range out {
			if f := &set.list[t.start+i]; shown {
				out[i] = p.valueOn(&r.grid, f)
			} else {
				out[i] = p.value(f, at)
			}
		}
	})
}

// CorrectedValues is like [Plane.Values] but corrects each value for uneven
// areas, as [Plane.Corrected] does.
func (p *Plane[V, S]) CorrectedValues(dst []float64, set *Set, at []image.Point, opt *Options) error {
	return share(p, dst, set, at, opt, true, func(r *reader[V, S], out []float64, t tile, at image.Point, shown bool) {
		i := 0
		for f := range set.featuresOf(t) {
			if shown {
				plus, minus := read[V](&r.grid, &f)
				plusArea, minusArea := r.areasOf(&f)
				out[i] = correct(plus, minus, plusArea, minusArea)
			} else {
				out[i] = p.corrected(&f, at)
			}
			i++
		}
	})
}

// valuesPerWorker is the number of values that justify another worker:
// computing them takes about ten times as long as waking it.
const valuesPerWorker = 1 << 14

// share checks the arguments and distributes the tiles of all windows among
// workers, which write the results to dst. Features are read one by one if a
// reader cannot copy its window.
func share[T, V Number, S boxsum.Sum](p *Plane[V, S], dst []T, set *Set, at []image.Point, opt *Options, areas bool,
	evaluate func(r *reader[V, S], out []T, t tile, at image.Point, shown bool)) error {
	if set == nil {
		return raster.Invalid("nil Set (use All, AllRotated, NewSet or NewRotatedSet)")
	}
	options := opt.engine()
	how, err := options.Check()
	if err != nil {
		return err
	}
	if err := p.viewOrNil().check(&set.window, at...); err != nil {
		return err
	}
	if n := len(at); n > 0 && set.length > math.MaxInt/n || len(dst) != n*set.length {
		return raster.Invalid("dst has length %d, want %d×%d (%d features in each of %d windows)", len(dst), n, set.length, set.length, n)
	}
	if len(dst) == 0 {
		return nil
	}
	tiles := set.tiles()
	workers := max(1, min(how.Workers(), len(dst)/valuesPerWorker, len(at)*tiles))
	readers, err := p.readers(workers, set, areas)
	if err != nil {
		return err
	}
	return how.Each(len(at)*tiles, workers, func(worker, job int) {
		window, t := job/tiles, set.tile(job%tiles)
		shown := readers[worker].show(at[window], window)
		evaluate(&readers[worker], dst[window*set.length+t.start:][:t.count], t, at[window], shown)
	})
}

// A reader is one worker's access to a plane, one window at a time.
type reader[V Number, S boxsum.Sum] struct {
	plane  *Plane[V, S]
	grid   mesh[S]
	areas  mesh[int64] // of pixels, for a plane that is not upright
	strips []S

	bounds  image.Rectangle // range of the lines to copy
	sums    []S             // copied entries; nil if features are read one by one
	pixels  []int64
	current int // the current window, counted from 1
}

func (p *Plane[V, S]) readers(workers int, set *Set, areas bool) ([]reader[V, S], error) {
	list := make([]reader[V, S], workers)
	bounds := set.window.bounds()
	gather := p.view.lattice != nil && set.sharesEntries(bounds)
	for i := range list {
		r := &list[i]
		r.plane, r.bounds = p, bounds
		var errs [3]error
		if !areas {
			r.strips, errs[0] = raster.Make[S](set.stripsLen())
		}
		if gather {
			r.sums, errs[1] = raster.Make[S](cornersLen(bounds))
		}
		if gather && areas {
			r.pixels, errs[2] = raster.Make[int64](cornersLen(bounds))
		}
		if err := cmp.Or(errs[:]...); err != nil {
			return nil, raster.OutOfMemory("%w", err)
		}
	}
	return list, nil
}

// sharesEntries reports whether the features of a set together read the entries
// of their window several times.
func (s *Set) sharesEntries(bounds image.Rectangle) bool {
	const reads = 8 // number of reads per feature
	return s.kinds != nil || cornersLen(bounds)/reads <= s.length
}

// show moves the reader to a window. It returns false if it is faster to read
// features one by one.
func (r *reader[V, S]) show(at image.Point, window int) bool {
	p := r.plane
	switch {
	case p.view.lattice == nil:
		r.grid = p.at(at)
	case r.sums == nil:
		return false
	case r.current != window+1:
		r.current = window + 1
		place := p.view.place(at)
		r.grid = gather(r.sums, place, r.bounds, p.entry)
		if r.pixels != nil {
			r.areas = gather(r.pixels, place, r.bounds, p.view.areaEntry)
		}
	}
	return true
}

// areasOf returns the number of pixels in the + and the − boxes of a feature of
// the window, multiplied by their weights.
func (r *reader[V, S]) areasOf(f *Feature) (plus, minus int64) {
	if r.pixels == nil {
		return f.areas()
	}
	return read[int64](&r.areas, f)
}
