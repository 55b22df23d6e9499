package transforms

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum/internal/kernel/processor"
)

// TestCorrelator compares correlations at every level with the definition, and checks that they
// read no further than Reach allows.
func TestCorrelator(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 2))
	for _, level := range processor.Levels() {
		for i := range 60 {
			w, h := 1+rng.IntN(20), 1+rng.IntN(9)
			template := make([]int8, w*h)
			for k := range template {
				template[k] = int8(rng.Uint32())
				if i%7 == 0 {
					template[k] = []int8{-128, 127}[rng.IntN(2)]
				}
			}
			var c Correlator
			c.Set(level, template, w, h)
			across, down := c.Reach()
			stride := across + rng.IntN(9)
			src := make([]uint8, (down-1)*stride+across)
			for k := range src {
				src[k] = uint8(rng.Uint32())
				if i%7 == 0 {
					src[k] = 255
				}
			}
			var got Correlations
			c.At(&got, src, stride)
			for j := range got {
				for x, g := range got[j] {
					want := int32(0)
					for y := range h {
						for k := range w {
							want += int32(src[(y+j)*stride+x+k]) * int32(template[y*w+k])
						}
					}
					if g != want {
						t.Fatalf("%v: %d×%d at (%d, %d): %d, want %d", level, w, h, x, j, g, want)
					}
				}
			}
		}
	}
}

// TestScoreSums checks that ScoreSums and Factors return the same bits at every level.
func TestScoreSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 3))
	const n = 77
	products := make([]int32, n)
	var sums [4][]uint32
	for i := range sums {
		sums[i] = make([]uint32, n)
	}
	for i := range products {
		products[i] = int32(rng.IntN(1<<27) - 1<<26)
		s := uint32(rng.IntN(1 << 20))
		sums[1][i], sums[3][i] = rng.Uint32(), rng.Uint32()
		sums[0][i], sums[2][i] = sums[1][i]+s, sums[3][i]+s*s/300
	}
	var want []float32
	for _, level := range processor.Levels() {
		got := make([]float32, n)
		Factors(level, got, sums[0], sums[1], sums[2], sums[3], 256, 1, 1e-5)
		ScoreSums(level, got, products, sums[0], sums[1], 256, 77)
		if want == nil {
			want = got
		}
		for i, v := range got {
			if math.Float32bits(v) != math.Float32bits(want[i]) {
				t.Fatal(fmt.Sprint(level), i, v, want[i])
			}
		}
	}
}
