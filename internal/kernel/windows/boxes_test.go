package windows

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// TestBoxSums compares every level with the definition, at all lengths, and looks for writes beyond the end.
func TestBoxSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 30))
	for n := range 70 {
		for terms := range 5 {
			testBoxSums[uint32, float32](t, rng, n, terms, func(v uint32) float64 { return float64(int32(v)) })
			testBoxSums[uint32, float64](t, rng, n, terms, func(v uint32) float64 { return float64(int32(v)) })
			testBoxSums[uint64, float32](t, rng, n, terms, func(v uint64) float64 { return float64(int64(v)) })
			testBoxSums[float64, float32](t, rng, n, terms, func(v float64) float64 { return v })
			testBoxSums[float64, float64](t, rng, n, terms, func(v float64) float64 { return v })
		}
	}
}

func testBoxSums[S uint32 | uint64 | float64, D float32 | float64](t *testing.T, rng *rand.Rand, n, terms int, signed func(S) float64) {
	const guards = 5
	corners, weights, views := make([][]S, 4*terms), make([]float64, terms), make([][]byte, 4*terms)
	for k := range corners {
		corners[k] = make([]S, n)
		for i := range corners[k] {
			corners[k][i] = S(rng.Float64() * 0x1p30)
		}
		views[k] = raster.Bytes(corners[k])
	}
	for k := range weights {
		weights[k] = rng.NormFloat64()
	}
	want := make([]D, n+guards)
	for i := range want {
		sum := 0.0
		for k := 0; k < terms && i < n; k++ {
			c := corners[4*k:]
			sum += float64(weights[k] * signed((c[0][i]-c[1][i])-(c[2][i]-c[3][i])))
		}
		want[i] = D(sum)
		if i >= n {
			want[i] = 7
		}
	}
	for _, level := range processor.Levels() {
		got := make([]D, n+guards)
		for i := range got {
			got[i] = 7
		}
		b := BoxSums{Level: level, Sum: raster.TypeOf[S](), Result: raster.TypeOf[D](), Weights: weights, Corners: views}
		b.Row(raster.Bytes(got[:n]))
		if !bytes.Equal(raster.Bytes(got), raster.Bytes(want)) {
			t.Fatalf("%v of %v at level %v, %d pixels, %d boxes: %v, want %v", raster.TypeOf[D](), raster.TypeOf[S](), level, n, terms, got, want)
		}
	}
}
