package windows

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/boxsum/boxsum/internal/kernel/processor"
)

// TestGuidedBox checks that lines and pixels are the same at every level, and that nothing else is
// written.
func TestGuidedBox(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 18))
	for range 300 {
		n, span, height := 1+rng.IntN(150), 1+rng.IntN(50), 1+rng.IntN(50)
		own, epsilon := rng.IntN(2) == 0, float64(1+rng.IntN(1000))
		var cols [4][]uint32
		for k := range cols {
			cols[k] = make([]uint32, n+span+Slack)
		}
		for x := 1; x < n+span; x++ {
			for range height {
				i, v := uint32(rng.IntN(256)), uint32(rng.IntN(256))
				cols[0][x] += i
				cols[1][x] += v
				cols[2][x] += i * i
				cols[3][x] += i * v
			}
		}
		if own {
			cols[1], cols[3] = nil, nil
		}
		guide := make([]uint8, n)
		for i := range guide {
			guide[i] = uint8(rng.Uint32())
		}
		var slopes, heights []uint32
		var bytes []uint8
		for _, level := range processor.Levels() {
			box, ok := NewGuidedBox(level, span, height, epsilon, own)
			if !ok {
				continue
			}
			var s GuidedScratch
			a, b := make([]uint32, n+40), make([]uint32, n+40)
			box.Lines(a[:n], b[:n], &s, cols[0], cols[1], cols[2], cols[3])
			aCols, bCols := make([]uint32, n+span+Slack), make([]uint32, n+span+Slack)
			copy(aCols[1:], a[:n])
			copy(bCols[1:], b[:n])
			dst := make([]uint8, n+40)
			box.Bytes(dst[:n], guide, &s, aCols, bCols)
			if slopes == nil {
				slopes, heights, bytes = a, b, dst
			}
			if !slices.Equal(a, slopes) || !slices.Equal(b, heights) || !slices.Equal(dst, bytes) {
				t.Fatalf("%v: %d of %d×%d, own guide %v, differ", level, n, span, height, own)
			}
		}
	}
}

func TestProducts(t *testing.T) {
	for _, level := range processor.Levels() {
		for n := range 200 {
			a, b, dst := make([]uint8, n), make([]uint8, n), make([]uint16, n+40)
			for i := range n {
				a[i], b[i] = uint8(255-i), uint8(255-i/7)
			}
			Products(level, dst[:n], a, b)
			for i := range dst {
				want := uint16(0)
				if i < n {
					want = uint16(a[i]) * uint16(b[i])
				}
				if dst[i] != want {
					t.Fatalf("%v: product %d of %d is %d, want %d", level, i, n, dst[i], want)
				}
			}
		}
	}
}
