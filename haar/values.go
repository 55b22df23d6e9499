package haar

import (
	"image"
	"math"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
)

// Values evaluates the features of a set in windows that start at pixels:
// feature i in window w is dst[w*set.Len()+i]. The windows must lie inside of
// the image, and dst must have as many elements as there are values. Beside
// dst, a worker takes memory for one window.
func (p *Plane[V, S]) Values(dst []V, set *Set, at []image.Point, opt *Options) error {
	how, workers, err := p.prepare(len(dst), set, at, opt)
	if err != nil || len(dst) == 0 {
		return err
	}
	readers, err := p.readers(workers, set, false)
	if err != nil {
		return err
	}
	return share(dst, set, how, workers, func(worker int, out []V, t tile, window int) {
		r := &readers[worker]
		if !r.show(at[window], window) {
			for i := range out {
				out[i] = p.value(&set.list[t.start+i], at[window])
			}
			return
		}
		if t.kind != 0 {
			p.block(out, r.strips, &r.grid, set, t)
			return
		}
		for i := range out {
			out[i] = p.valueOn(&r.grid, &set.list[t.start+i])
		}
	})
}

// CorrectedValues is [Plane.Values] with each value corrected for uneven
// areas, as [Plane.Corrected] does.
func (p *Plane[V, S]) CorrectedValues(dst []float64, set *Set, at []image.Point, opt *Options) error {
	how, workers, err := p.prepare(len(dst), set, at, opt)
	if err != nil || len(dst) == 0 {
		return err
	}
	readers, err := p.readers(workers, set, true)
	if err != nil {
		return err
	}
	return share(dst, set, how, workers, func(worker int, out []float64, t tile, window int) {
		r, i := &readers[worker], 0
		shown := r.show(at[window], window)
		for f := range set.in(t) {
			if shown {
				plus, minus := read[V](&r.grid, &f)
				plusArea, minusArea := r.areasOf(&f)
				out[i] = correct(plus, minus, plusArea, minusArea)
			} else {
				out[i] = p.corrected(&f, at[window])
			}
			i++
		}
	})
}

// prepare checks the arguments and says how many workers to use.
func (p *Plane[V, S]) prepare(length int, set *Set, at []image.Point, opt *Options) (how engine.Settings, workers int, err error) {
	if set == nil {
		return how, 0, grid.Invalid("no set of features")
	}
	if how, err = opt.check(); err != nil {
		return how, 0, err
	}
	if err := p.check(&set.window, at...); err != nil {
		return how, 0, err
	}
	if n := len(at); n > 0 && set.length > math.MaxInt/n || length != n*set.length {
		return how, 0, grid.Invalid("%d features in %d windows do not go into %d values", set.length, n, length)
	}
	return how, max(1, min(how.Workers(), length/valuesPerWorker, len(at)*set.tiles())), nil
}

// valuesPerWorker is how many values make it worth the while to wake another
// worker: they take about as long as ten times the waking does.
const valuesPerWorker = 1 << 14

// share has workers evaluate the tiles of all windows, each into its part of
// dst.
func share[T Number](dst []T, set *Set, how engine.Settings, workers int, evaluate func(worker int, out []T, t tile, window int)) error {
	tiles := set.tiles()
	return how.Each(len(dst)/set.length*tiles, workers, func(worker, job int) {
		window, t := job/tiles, set.tile(job%tiles)
		evaluate(worker, dst[window*set.length+t.start:][:t.count], t, window)
	})
}
