package haar

import (
	"fmt"
	"image"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/boxsum/boxsum"
)

// Options says how to evaluate many features; nil and the zero value mean the
// best for the machine.
type Options struct {
	// Workers is how many goroutines may work at once, at most. Zero stands
	// for GOMAXPROCS. Little work uses fewer.
	Workers int
}

// Values evaluates the features of a set in windows that start at pixels:
// feature i in window w is dst[w*set.Len()+i]. The windows must lie inside of
// the image, and dst must have as many elements as there are values. Beside
// dst, a worker takes memory for one window.
func (p *Plane[V, S]) Values(dst []V, set *Set, at []image.Point, opt *Options) error {
	workers, err := p.prepare(len(dst), set, at, opt)
	if err != nil || len(dst) == 0 {
		return err
	}
	readers, err := p.readers(workers, set, false)
	if err != nil {
		return err
	}
	share(dst, set, workers, func(worker int, out []V, t tile, window int) {
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
	return nil
}

// CorrectedValues is [Plane.Values] with each value corrected for uneven
// areas, as [Plane.Corrected] does.
func (p *Plane[V, S]) CorrectedValues(dst []float64, set *Set, at []image.Point, opt *Options) error {
	workers, err := p.prepare(len(dst), set, at, opt)
	if err != nil || len(dst) == 0 {
		return err
	}
	readers, err := p.readers(workers, set, true)
	if err != nil {
		return err
	}
	share(dst, set, workers, func(worker int, out []float64, t tile, window int) {
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
	return nil
}

// prepare checks the arguments and says how many workers to use.
func (p *Plane[V, S]) prepare(length int, set *Set, at []image.Point, opt *Options) (int, error) {
	if set == nil {
		return 0, fmt.Errorf("haar: %w: no set of features", boxsum.ErrInvalid)
	}
	if opt == nil {
		opt = &Options{}
	}
	if opt.Workers < 0 {
		return 0, fmt.Errorf("haar: %w: %d workers", boxsum.ErrInvalid, opt.Workers)
	}
	if err := p.check(&set.window, at...); err != nil {
		return 0, err
	}
	if n := len(at); n > 0 && set.length > math.MaxInt/n || length != n*set.length {
		return 0, fmt.Errorf("haar: %w: %d features in %d windows do not go into %d values", boxsum.ErrInvalid, set.length, n, length)
	}
	workers := opt.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	return max(1, min(workers, length/valuesPerWorker, len(at)*set.tiles())), nil
}

// valuesPerWorker is how many values make it worth the while to wake another
// worker: they take about as long as ten times the waking does.
const valuesPerWorker = 1 << 14

// share has workers evaluate the tiles of all windows, each into its part of
// dst. One of them is the caller itself.
func share[T Number](dst []T, set *Set, workers int, evaluate func(worker int, out []T, t tile, window int)) {
	tiles := set.tiles()
	jobs := int64(len(dst)/set.length) * int64(tiles)
	var taken atomic.Int64
	work := func(worker int) {
		for job := taken.Add(1) - 1; job < jobs; job = taken.Add(1) - 1 {
			window, t := int(job/int64(tiles)), set.tile(int(job%int64(tiles)))
			evaluate(worker, dst[window*set.length+t.start:][:t.count], t, window)
		}
	}
	var helpers sync.WaitGroup
	for worker := 1; worker < workers; worker++ {
		helpers.Go(func() { work(worker) })
	}
	work(0)
	helpers.Wait()
}
