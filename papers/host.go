package papers

import (
	"sync"

	"github.com/boxsum/boxsum"
)

// hostCode is an algorithm for the CPU, nil in the types that it is not for. Out has
// the size of the image, an entry for each pixel, or, where whole is set, a row and
// a column more.
type hostCode struct {
	whole bool
	f32   func(in, out grid[float32], o Options)
	f64   func(in, out grid[float64], o Options)
	u32   func(in, out grid[uint32], o Options)
}

// A grid is rows of values.
type grid[E element] struct {
	values        []E
	stride        int
	width, height int
}

func gridOf[E element](img boxsum.Image[E]) grid[E] {
	return grid[E]{img.Pix, img.Stride, img.Width, img.Height}
}

// newGrid is a grid of zeros.
func newGrid[E element](width, height int) grid[E] {
	return grid[E]{make([]E, width*height), width, width, height}
}

// row is row y.
func (g grid[E]) row(y int) []E { return g.values[y*g.stride:][:g.width] }

// inThreads calls f for chunks of [0, n), one for each thread and all at once, and
// waits for them: chunk k is from k·size on, and the last is what is left.
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
