package windows

import (
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum/internal/kernel/processor"
)

// TestInterpolate compares every level with the portable loop, at all lengths, and looks for writes beyond the end.
func TestInterpolate(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 10))
	for n := range 70 {
		var table [256]uint32
		for i := range table {
			table[i] = rng.Uint32()
		}
		src, across := make([]uint8, n), make([]float32, n)
		for i := range src {
			src[i], across[i] = uint8(rng.IntN(256)), rng.Float32()
		}
		down := rng.Float32()
		want := make([]uint8, n)
		Interpolate(processor.Portable, want, src, &table, across, down)
		for _, level := range processor.Levels() {
			got := make([]uint8, n+9)
			for i := range got {
				got[i] = 77
			}
			Interpolate(level, got[:n], src, &table, across, down)
			for i, v := range got {
				if i >= n && v != 77 || i < n && v != want[i] {
					t.Fatalf("level %v, %d pixels: %d at %d", level, n, v, i)
				}
			}
		}
	}
}
