package rotated_test

import (
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum/internal/fixture"
	"github.com/boxsum/boxsum/rotated"
)

// TestFill tests that a table filled from the boxes of another equals it.
func TestFill(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 15))
	for _, rot := range ratios {
		for _, sign := range []int{1, -1} {
			rot := rotated.Rotation{A: sign * rot.A, B: rot.B}
			img := fixture.Image[uint16](rng, 1+rng.IntN(40), 1+rng.IntN(40), 1+rng.IntN(3))
			want, err := rotated.Integrate[uint64](img, rot, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := rotated.NewTable[uint64](img.Width, img.Height, img.Channels, rot)
			if err != nil {
				t.Fatal(err)
			}
			b := want.Bounds()
			got.Fill(func(dst []uint64, boxes []rotated.Box) {
				for _, box := range boxes {
					if box.Intersect(b) != box || box.Empty() || box.R0 != b.R0 || box.C0 != b.C0 && box.C1 != b.C1 {
						t.Errorf("%v: asked for %v in %v", rot, box, b)
					}
				}
				if err := want.SumBoxes(dst, boxes); err != nil || len(dst) != len(boxes)*img.Channels {
					t.Errorf("%v: %d sums of %d boxes: %v", rot, len(dst), len(boxes), err)
				}
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
	empty.Fill(func([]uint64, []rotated.Box) { t.Error("asked") })
}
