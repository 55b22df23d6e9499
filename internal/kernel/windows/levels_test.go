package windows

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/boxsum/boxsum/internal/kernel/processor"
)

// TestLevels compares every level with the portable loop.
func TestLevels(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 11))
	for range 200 {
		var before Levels
		in, out := make([]uint16, 256), make([]uint16, 256)
		for i := range 256 {
			if rng.IntN(3) == 0 {
				out[i] = uint16(rng.IntN(9))
				before.Counts[i] = out[i]
			}
			if rng.IntN(20) == 0 {
				before.Counts[i] = 65000
				in[i] = uint16(rng.IntN(536))
			}
		}
		before.Present[rng.IntN(4)] = rng.Uint64()
		want := before
		want.Slide(processor.Portable, in, out)
		for i, n := range want.Counts {
			if present := want.Present[i/64]>>(i%64)&1 == 1; n != before.Counts[i]+in[i]-out[i] || present != (n != 0) {
				t.Fatalf("level %d is counted %d times, present: %v", i, n, present)
			}
		}
		for _, level := range processor.Levels() {
			got := before
			if got.Slide(level, in, out); got != want {
				t.Fatalf("level %v: %v, want %v", level, got, want)
			}
		}
	}
}

// TestCountNotAbove compares every level with the portable loop, and looks for writes beyond the end.
func TestCountNotAbove(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 12))
	for n := 0; n <= 3*NotAboveUnit; n += NotAboveUnit {
		for _, span := range []int{1, 2, 15, 100} {
			before, center, src := make([]uint8, n+9), make([]uint8, n), make([]uint8, n+span-1)
			for _, all := range [][]uint8{before, center, src} {
				for i := range all {
					all[i] = uint8(rng.IntN(256))
				}
			}
			want := slices.Clone(before)
			for i := range n {
				for _, v := range src[i : i+span] {
					if v <= center[i] {
						want[i]++
					}
				}
			}
			for _, level := range processor.Levels() {
				got := slices.Clone(before)
				if CountNotAbove(level, got[:n], center, src, span); !slices.Equal(got, want) {
					t.Fatalf("level %v, %d pixels, span %d: %v, want %v", level, n, span, got, want)
				}
			}
		}
	}
}
