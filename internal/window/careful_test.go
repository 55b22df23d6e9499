package window

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestPieces compares sums of windows with the ends and beginnings of their pieces, added in the same order.
func TestPieces(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 300 {
		channels, span, pixels := 1+rng.IntN(3)/2, 1+rng.IntN(12), 1+rng.IntN(120)
		n := pixels * channels
		columns := make([]float64, n+(span-1)*channels+span*channels)
		for i := range columns {
			columns[i] = math.Ldexp(rng.NormFloat64(), rng.IntN(60))
		}
		sums := make([]float64, n)
		pieces(sums, columns, channels, span)
		for i, got := range sums {
			x, ch := i/channels, i%channels
			next := (x/span + 1) * span // the first column of the next piece
			want, after := 0.0, 0.0
			for k := next - 1; k >= x; k-- {
				want += columns[k*channels+ch]
			}
			for k := next; k < x+span; k++ {
				after += columns[k*channels+ch]
			}
			if want += after; got != want {
				t.Fatalf("the sum of %d columns from %d of %d in channel %d of %d is %v, want %v", span, x, pixels, ch, channels, got, want)
			}
		}
	}
}
