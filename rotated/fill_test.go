package rotated_test

import (
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum/rotated"
)

// A table filled from the boxes of another is the same table.
func TestFill(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 15))
	for _, rot := range ratios {
		for _, sign := range []int{1, -1} {
			rot := rotated.Rotation{A: sign * rot.A, B: rot.B}
			img := random[uint16](rng, 1+rng.IntN(40), 1+rng.IntN(40), 1+rng.IntN(3))
			want, err := rotated.Integrate[uint64](img, rot, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := rotated.NewTable[uint64](img.Width, img.Height, img.Channels, rot)
			if err != nil {
				t.Fatal(err)
			}
			b := want.Bounds()
			got.Fill(func(c, r, channel int) uint64 {
				if c < b.C0 || c > b.C1 || r < b.R0 || r > b.R1 {
					t.Fatalf("%v: asked for (%d,%d) outside of %v", rot, c, r, b)
				}
				return want.SumChannel(rotated.Box{C0: b.C0, R0: b.R0, C1: c, R1: r}, channel)
			})
			for range 50 {
				box, channel := some(rng, b), rng.IntN(img.Channels)
				if g, w := got.SumChannel(box, channel), want.SumChannel(box, channel); g != w {
					t.Fatalf("%v over %d×%d: box %v sums to %d, want %d", rot, img.Width, img.Height, box, g, w)
				}
			}
		}
	}
	empty, err := rotated.NewTable[uint64](0, 5, 1, rotated.Rotation{A: 1, B: 2})
	if err != nil {
		t.Fatal(err)
	}
	empty.Fill(func(c, r, channel int) uint64 { t.Error("asked"); return 0 })
}
