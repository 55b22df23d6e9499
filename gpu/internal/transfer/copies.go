package transfer

import (
	"runtime"
	"sync/atomic"

	"github.com/boxsum/boxsum/gpu/internal/driver"
)

const (
	// tableCopiers is the number of processors that copy a table from page-locked memory: one
	// cannot keep up with the bus, and many compete with it for memory bandwidth.
	tableCopiers = 6

	// pieceBytes is the approximate size of the pieces in which copies are shared. Those who finish
	// early wait for the last piece.
	pieceBytes = 128 << 10
)

// imageCopiers returns the number of processors needed to copy an image to page-locked memory by
// the time that the bus is free for it. If its table is larger, that keeps the bus busy for longer.
func imageCopiers(image, table int64) int {
	const most = 8
	return int(min(2+(most*image-1)/max(image, table)+1, most))
}

// share calls copy for all rows, piece by piece, on at most by processors and no more than there
// are pieces.
func share(r driver.Rows, by int, copy func(first, count int64)) {
	size := max(1, pieceBytes/max(r.Bytes, 1))
	pieces := (r.Count + size - 1) / size
	var drawn, done atomic.Int64
	all := make(chan struct{})
	work := func() {
		for n := drawn.Add(1) - 1; n < pieces; n = drawn.Add(1) - 1 {
			copy(n*size, min(size, r.Count-n*size))
			if done.Add(1) == pieces {
				close(all)
			}
		}
	}
	for range min(int64(runtime.GOMAXPROCS(0)), int64(by), pieces) - 1 {
		go work()
	}
	work()
	// The last piece takes a few microseconds, less than waking up.
	for range 100 {
		if done.Load() >= pieces {
			return
		}
		runtime.Gosched()
	}
	<-all
}
