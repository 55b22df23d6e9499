package papers

import (
	"sync"

	"github.com/boxsum/boxsum"
)

// hostCode is an algorithm for the CPU, with nil for unsupported types. out has an entry for each
// pixel or, if whole is set, one more row and column.
type hostCode struct {
	whole bool
	f32   func(in, out grid[float32], o Options)
	f64   func(in, out grid[float64], o Options)
	u32   func(in, out grid[uint32], o Options)
}

// A grid holds rows of values.
type grid[E element] struct {
	values        []E
	stride        int
	width, height int
}

func gridOf[E element](img boxsum.Image[E]) grid[E] {
	return grid[E]{img.Pix, img.Stride, img.Width, img.Height}
}

// newGrid returns a grid of zeros.
func newGrid[E element](width, height int) grid[E] {
	return grid[E]{make([]E, width*height), width, width, height}
}

// row returns row y.
func (g grid[E]) row(y int) []E { return g.values[y*g.stride:][:g.width] }

// inThreads calls f concurrently for chunks of [0, n), one per thread, and waits for them. Chunk k
// starts at k·size, and the last one is the rest.
func inThreads(n, threads, size int, f func(start, stop int)) {
	var wg sync.WaitGroup
	for k := range threads {
		start, stop := min(k*size, n), min((k+1)*size, n)
		if k == threads-1 {
			stop = n
		}
		if start < stop {
			wg.Go(func() { f(start, stop) })
		}
	}
	wg.Wait()
}
