package engine

import (
	"sync"
	"sync/atomic"

	"github.com/boxsum/boxsum/internal/raster"
)

// Each calls work for n independent pieces of work on up to the given number of
// workers, one of which is the caller. It returns an error if the context is done
// before they are.
func (s Settings) Each(n, workers int, work func(worker, i int)) error {
	var next, done atomic.Int64
	run := func(worker int) {
		reported := int64(0)
		for i := int(next.Add(1)) - 1; i < n && s.Stopped() == nil; i = int(next.Add(1)) - 1 {
			work(worker, i)
			if d := done.Add(1); worker == 0 && d < int64(n) && d-reported > int64(n)/reports {
				reported = d
				s.Report(float64(d) / float64(n))
			}
		}
	}
	var helpers sync.WaitGroup
	for worker := 1; worker < min(workers, n); worker++ {
		helpers.Go(func() { run(worker) })
	}
	if min(workers, n) > 1 {
		startLast()
	}
	run(0)
	helpers.Wait()
	if done.Load() < int64(n) {
		return s.Stopped()
	}
	s.Report(1)
	return nil
}

// eachRow calls work for all rows of an image, on the workers of the settings. An image without
// columns has none.
func (s *Settings) eachRow(img *raster.Array, work func(worker, y int)) error {
	rows := img.Height
	if img.Width == 0 {
		rows = 0
	}
	return s.Quiet().Each(DivUp(rows, groupRows), s.Workers(), func(worker, group int) {
		for y := group * groupRows; y < min((group+1)*groupRows, rows); y++ {
			work(worker, y)
		}
	})
}
