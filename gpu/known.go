package gpu

import (
	"iter"
	"math/bits"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/gpu/internal/transfer"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/stats"
	"github.com/boxsum/boxsum/tilted"
	"github.com/boxsum/boxsum/volume"
)

// few is the number of pixels, or of their squares, that must be sure to fit in a
// sum. If fewer fit, a table's bound comes from its own pixels rather than from
// their type. See [engine.Pixels].
const few = 4

// typical returns what a table on a device knows of its pixels from their type.
func typical(a *devmem.Array) stats.Pixels {
	if a.Pixel == 0 {
		return stats.Pixels{}
	}
	return stats.Typical(a.Pixel, a.Squared)
}

// learned is like typical for a table that has been copied to the host. If only a
// few pixels of the type fit in a sum, it uses the bound of the table's actual
// pixels, which are differences of its entries, wrapped or not.
func learned[S boxsum.Sum](a *devmem.Array, values iter.Seq[S]) stats.Pixels {
	pixels := typical(a)
	if a.Pixel == 0 || pixels.MaxCount(a.Element, a.Squared) > few {
		return pixels
	}
	var all uint64
	for v := range values {
		all |= uint64(v)
	}
	return stats.Pixels{Bound: max(1, uint64(1)<<bits.Len64(all)-1)}
}

// planePixels returns what an upright table that has been copied to the host knows.
// Boxes in parts of a single pixel would be correct too, but slow.
func planePixels[S boxsum.Sum](a *devmem.Array, t *boxsum.Table[S]) stats.Pixels {
	return learned(a, planeValues(t))
}

func volumePixels[S boxsum.Sum](a *devmem.Array, t *volume.Table[S]) stats.Pixels {
	return learned(a, volumeValues(t))
}

// planeValues yields the values that a table sums: pixels or their squares.
func planeValues[S boxsum.Sum](t *boxsum.Table[S]) iter.Seq[S] {
	return func(yield func(S) bool) {
		c, n := t.Channels, t.Width*t.Channels
		for y := range t.Height {
			above, row := t.Sums[y*t.Stride:], t.Sums[(y+1)*t.Stride:]
			for i := range n {
				if !yield(row[i+c] - row[i] - above[i+c] + above[i]) {
					return
				}
			}
		}
	}
}

// volumeValues is like planeValues for a volume.
func volumeValues[S boxsum.Sum](t *volume.Table[S]) iter.Seq[S] {
	return func(yield func(S) bool) {
		c, n := t.Channels, t.Width*t.Channels
		for z := range t.Depth {
			for y := range t.Height {
				at := z*t.SliceStride + y*t.Stride
				before, beforeBelow := t.Sums[at:], t.Sums[at+t.Stride:]
				above, row := t.Sums[at+t.SliceStride:], t.Sums[at+t.SliceStride+t.Stride:]
				for i := range n {
					if !yield(row[i+c] - row[i] - above[i+c] + above[i] - (beforeBelow[i+c] - beforeBelow[i] - before[i+c] + before[i])) {
						return
					}
				}
			}
		}
	}
}

// tiltedValues is like planeValues for a tilted table. The sum of two neighbors in
// a column is a difference of the entries around them. To the right of the table,
// entries equal those one further up.
func tiltedValues[S boxsum.Sum](t *tilted.Table[S]) iter.Seq[S] {
	return func(yield func(S) bool) {
		c, n := t.Channels, t.Width*t.Channels
		pixels := make([]S, n) // of the line above
		entry := func(y, i int) S {
			switch {
			case y <= 0:
				return 0
			case i >= n+c:
				i, y = i-c, y-1
			}
			return t.Sums[y*t.Stride+i]
		}
		for y := 1; y <= t.Height; y++ {
			for i := range n {
				x := i + c // of the entry whose tip is the pixel
				pixels[i] = entry(y, x) - entry(y-1, x-c) - entry(y-1, x+c) + entry(y-2, x) - pixels[i]
				if !yield(pixels[i]) {
					return
				}
			}
		}
	}
}

// prepare determines what tables on the host will know of their pixels, as the CPU
// does, and the offset. If only a few pixels fit in a sum and there are squares, it
// examines the pixels.
func prepare(w *transfer.Work, src *raster.Array, opt *Options) {
	job := &w.Job
	if shifts(job.Pixel, job.Square != 0, opt, "") {
		job.Offset = float64(engine.Center(src))
	}
	for i, sum := range [...]raster.Type{job.Sum, job.Square} {
		if sum == 0 {
			continue
		}
		pixels := stats.Typical(job.Pixel, i == 1)
		if job.Square != 0 && pixels.MaxCount(sum, i == 1) <= few {
			pixels = stats.Bounded(stats.Largest(src), i == 1)
		}
		w.Pixels[i] = pixels
	}
}

// squaresOffset returns the offset of the squares of a job.
func squaresOffset(job *method.Job) float32 {
	if !job.Pixel.Float() {
		return 0
	}
	return float32(job.Offset)
}
