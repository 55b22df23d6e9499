package windows

import (
	"math/rand/v2"
	"slices"
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
	all := make([][]T, 2*radius+1)
	rows := make([]*byte, len(all))
	for k := range all {
		all[k] = make([]T, room)
		for i := range all[k] {
			all[k][i] = T(rng.Float64() * 1000)
		}
		rows[k] = raster.First(all[k])
	}
	want := make([]T, n)
	for i := range want {
		want[i] = T(weights[0]) * all[0][i]
		for k := 1; k <= radius; k++ {
			want[i] += T(T(weights[k]) * T(all[2*k-1][i]+all[2*k][i]))
		}
	}
	for _, level := range processor.Levels() {
		got := make([]T, room+8)
		for i := range got {
			got[i] = guard
		}
		w.Add(level, typ, raster.Bytes(got), rows, n)
		if !slices.Equal(got[:n], want) || got[room] != guard {
			t.Fatalf("%v: %d weighed %v with radius %d differ", level, n, typ, radius)
		}
	}
}

func testReals[P uint8 | uint16](t *testing.T, rng *rand.Rand, n int) {
	t.Helper()
	pixel := raster.TypeOf[P]()
	pix := make([]P, n)
	for i := range pix {
		pix[i] = P(rng.Uint32())
	}
	for _, level := range processor.Levels() {
		reals, back := make([]float32, n+1), make([]P, n+1)
		reals[n], back[n] = guard, guard
		Reals(level, pixel, raster.Bytes(reals), raster.Bytes(pix))
		for i, v := range pix {
			if reals[i] != float32(v) {
				t.Fatalf("%v: %v %d is %v, want %d", level, pixel, i, reals[i], v)
			}
			reals[i] += float32(i%3) * 0.25
		}
		StoreReals(level, pixel, raster.Bytes(back[:n]), raster.Bytes(reals))
		for i, v := range back[:n] {
			want := pix[i]
			if i%3 == 2 && want < ^P(0) {
				want++
			}
			if v != want && pix[i] < ^P(0) {
				t.Fatalf("%v: %v of %v is %d, want %d", level, pixel, reals[i], v, want)
			}
		}
		if reals[n] != guard || back[n] != guard {
			t.Fatalf("%v: more than %d of %v were written", level, n, pixel)
		}
	}
}
