package windows

import (
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum/internal/kernel/processor"
)

// TestQuads compares the decisions of quads with the formula, row by row, for windows of any size
// and strips of an image.
func TestQuads(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 11))
	for i := range 300 {
		width, height := 1+rng.IntN(300), 1+rng.IntN(12)
		left, right, up, down := rng.IntN(20), rng.IntN(20), rng.IntN(5), rng.IntN(5)
		if i%5 == 0 {
			left, right = rng.IntN(quadSpan/2), rng.IntN(quadSpan/2)
		}
		f := Formula{Kind: FormulaKind(i % 7), Whole: true, Bytes: true, K: []float64{0.2, -0.2, 0.5, 0, 1, -1.5, 0.0005}[rng.IntN(7)], InverseR: 1.0 / 128, P: 3, NegQ: -10.0 / 255, White: 255, Most: 254, Factor: 0.85,
			Darkest: float64(rng.IntN(30)), Spread: 0.1 + 100*rng.Float64()}
		pix, base, noise := make([]uint8, width*height), rng.IntN(200), 1+i%4*18
		for j := range pix {
			pix[j] = uint8(base + rng.IntN(noise))
		}
		row := func(y int) []uint8 {
			if y < 0 || y >= height {
				return nil
			}
			return pix[y*width:][:width]
		}
		x := rng.IntN(width)
		n := 1 + rng.IntN(width-x)
		for _, level := range processor.Levels() {
			if !QuadsDecide(level, &f, left+right+1, up+down+1) {
				continue
			}
			var q Quads
			q.Aim(level, &f, left+right+1, up+down+1, 1)
			if !q.Fast() {
				continue
			}
			q.Strip(x, n, left, width)
			for y := range down {
				q.Slide(row(y), nil, nil, nil)
			}
			got := make([]uint8, n+1)
			for y := range height {
				q.Slide(row(y+down), row(y-up-1), row(y+down+1), got)
				q.Counts(int64(min(height, y+down+1) - max(0, y-up)))
				got[n] = 77
				q.Row(got[:n], row(y)[x:][:n])
				for j, v := range got[:n] {
					var sum, squares uint64
					var count int64
					for v := max(0, y-up); v < min(height, y+down+1); v++ {
						for _, p := range row(v)[max(0, x+j-left):min(width, x+j+right+1)] {
							sum += uint64(p)
							squares += uint64(p) * uint64(p)
							count++
						}
					}
					if want := f.decide(row(y)[x+j], sum, squares, count); v != want {
						t.Fatalf("round %d, level %v, %d×%d, window %d+1+%d, %d+1+%d, kind %d, K %v: pixel (%d, %d) of a strip from %d is %d, want %d", i, level, width, height, left, right, up, down, f.Kind, f.K, x+j, y, x, v, want)
					}
				}
				if got[n] != 77 {
					t.Fatal("a pixel too many was written")
				}
			}
		}
	}
}
