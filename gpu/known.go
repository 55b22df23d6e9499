package gpu

import (
	"iter"
	"math"
	"math/bits"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/gpu/internal/transfer"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/exact"
	"github.com/boxsum/boxsum/internal/pairs"
	"github.com/boxsum/boxsum/tilted"
	"github.com/boxsum/boxsum/volume"
)

// few is how many pixels, or squares of them, must be sure to fit a sum: where only fewer
// are, tables are told of their own pixels and not of their type. See [engine.Pixels].
const few = 4

// fitting is how many pixels of a magnitude fit a sum, or squares of them.
func fitting(sum pairs.Type, bound uint64, squares bool) exact.Pixels {
	switch sum {
	case pairs.U32:
		return exact.Pixels{Most: exact.MostOf[uint32](bound, squares)}
	case pairs.U64:
		return exact.Pixels{Most: exact.MostOf[uint64](bound, squares)}
	case pairs.I64:
		return exact.Pixels{Most: exact.MostOf[int64](bound, squares)}
	}
	return exact.Pixels{Most: math.MaxInt}
}

// typical is what a table on a device knows of its pixels: how many of their type fit.
func typical(a *devmem.Array) exact.Pixels {
	if a.Pixel == 0 {
		return exact.Pixels{} // nobody knows
	}
	return fitting(a.Element, boundOf(a.Pixel), a.Squared)
}

// boundOf is the largest magnitude of a type of pixels, and 0 for floats.
func boundOf(pixel pairs.Type) uint64 {
	switch {
	case pixel.Float():
		return 0
	case pixel.Signed():
		return 1 << (8*pixel.Bytes() - 1)
	}
	return 1<<(8*pixel.Bytes()) - 1
}

// learned is typical once the table has come to the host, where of the type of its pixels
// only few fit: then it is for those that the table has. They are differences of its
// entries, wrapped or not.
func learned[S boxsum.Sum](a *devmem.Array, values iter.Seq[S]) exact.Pixels {
	pixels := typical(a)
	if a.Pixel == 0 || pixels.Most > few {
		return pixels
	}
	var all uint64
	for v := range values {
		all |= uint64(v)
	}
	return fitting(a.Element, 1<<bits.Len64(all)-1, false)
}

// planePixels is what an upright table that has come to the host knows. Boxes in parts of
// one pixel would be right too, but take long.
func planePixels[S boxsum.Sum](a *devmem.Array, t *boxsum.Table[S]) exact.Pixels {
	return learned(a, planeValues(t))
}

func volumePixels[S boxsum.Sum](a *devmem.Array, t *volume.Table[S]) exact.Pixels {
	return learned(a, volumeValues(t))
}

// planeValues is what a table sums: pixels or squares of them.
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

// volumeValues is planeValues for a volume.
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

// tiltedValues is planeValues for a tilted table: two neighbours in a column are what the
// entries around them leave. Right of the table is what lies one further up.
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

// prepare finds out what tables of the host are to know of their pixels, as the CPU does, and
// what is taken away from these. Pixels of which few fit are looked at if asked to, and where
// there are squares.
func prepare[P boxsum.Pixel](w *transfer.Work, src *engine.Source[P], opt *Options, noOffset string, look bool) {
	job := &w.Job
	if opt == nil {
		opt = &Options{}
	}
	if shifts(job.Pixel, job.Square != 0, opt, noOffset) {
		job.Offset = float64(engine.Center(src))
	}
	for i, sum := range [...]pairs.Type{job.Sum, job.Square} {
		if sum == 0 {
			continue
		}
		pixels := fitting(sum, boundOf(job.Pixel), i == 1)
		if (look || job.Square != 0) && pixels.Most <= few {
			pixels = fitting(sum, engine.Bound(src), i == 1)
		}
		w.Pixels[i] = pixels
	}
}

// squaresOffset is the offset that the squares of work lack.
func squaresOffset(job *method.Job) float32 {
	if !job.Pixel.Float() {
		return 0
	}
	return float32(job.Offset)
}
