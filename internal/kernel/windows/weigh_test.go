package windows

import (
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// TestWeights checks that weighted rows and conversions of pixels are the same at every level.
func TestWeights(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 19))
	for range 200 {
		n, radius := 1+rng.IntN(150), rng.IntN(10)
		testWeights[float32](t, rng, n, radius)
		testWeights[float64](t, rng, n, radius)
		testReals[uint8](t, rng, n)
		testReals[uint16](t, rng, n)
	}
}

func testWeights[T float32 | float64](t *testing.T, rng *rand.Rand, n, radius int) {
	t.Helper()
	typ, room := raster.TypeOf[T](), n+WeighUnit
	weights := make([]float64, radius+1)
	for i := range weights {
		weights[i] = rng.Float64()
	}
	var w Weights
	w.Set(weights)
	// Rows of n elements and of their neighbors, which are some elements apart.
	step, lines := 1+rng.IntN(3), 1+rng.IntN(4)
	if rng.IntN(2) == 0 {
		step = room + rng.IntN(10)
	}
	stride, from := room+rng.IntN(10), room+2*radius*step+rng.IntN(10)
	size := typ.Bytes()
	src := make([]T, lines*from)
	for i := range src {
		src[i] = T(rng.Float64() * 1000)
	}
	for _, level := range processor.Levels() {
		got := make([]T, lines*stride+8)
		for i := range got {
			got[i] = guard
		}
		w.Add(level, typ, Lines{raster.Bytes(got), stride * size}, Lines{raster.Bytes(src), from * size}, step*size, n, lines)
		for y := range lines {
			row := src[y*from:]
			for i := range n {
				want := T(weights[0]) * row[i+radius*step]
				for k := 1; k <= radius; k++ {
					want += T(T(weights[k]) * T(row[i+(radius-k)*step]+row[i+(radius+k)*step]))
				}
				if got[y*stride+i] != want {
					t.Fatalf("%v: %d weighed %v with radius %d: element %d of row %d is %v, want %v", level, n, typ, radius, i, y, got[y*stride+i], want)
				}
			}
			if got[(y+1)*stride-1] != guard && stride > room {
				t.Fatalf("%v: %d weighed %v with radius %d: more is written", level, n, typ, radius)
			}
		}
	}
}

func testReals[P uint8 | uint16](t *testing.T, rng *rand.Rand, n int) {
	t.Helper()
	pixel := raster.TypeOf[P]()
	lines, stride := 1+rng.IntN(4), n+rng.IntN(10)
	pix := make([]P, lines*stride)
	for i := range pix {
		pix[i] = P(rng.Uint32())
	}
	size := pixel.Bytes()
	for _, level := range processor.Levels() {
		reals, back := make([]float32, lines*(n+1)), make([]P, lines*(n+1))
		for y := range lines {
			reals[y*(n+1)+n], back[y*(n+1)+n] = guard, guard
		}
		Reals(level, pixel, Lines{raster.Bytes(reals), 4 * (n + 1)}, Lines{raster.Bytes(pix), size * stride}, n, lines)
		for y := range lines {
			row := reals[y*(n+1):]
			for i, v := range pix[y*stride:][:n] {
				if row[i] != float32(v) {
					t.Fatalf("%v: %v %d is %v, want %d", level, pixel, i, row[i], v)
				}
				row[i] += float32(i%3) * 0.25
			}
		}
		StoreReals(level, pixel, Lines{raster.Bytes(back), size * (n + 1)}, Lines{raster.Bytes(reals), 4 * (n + 1)}, n, lines)
		for y := range lines {
			row := back[y*(n+1):]
			for i, v := range pix[y*stride:][:n] {
				want := v
				if i%3 == 2 && want < ^P(0) {
					want++
				}
				if row[i] != want && v < ^P(0) {
					t.Fatalf("%v: %v of %v is %d, want %d", level, pixel, reals[y*(n+1)+i], row[i], want)
				}
			}
			if reals[y*(n+1)+n] != guard || row[n] != guard {
				t.Fatalf("%v: more than %d of %v were written", level, n, pixel)
			}
		}
	}
}
