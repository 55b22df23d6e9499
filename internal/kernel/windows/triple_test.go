package windows

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum/internal/kernel/processor"
)

// TestTriple compares rows and columns of three boxes with the definition, at every level.
func TestTriple(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 3))
	for i := range 60 {
		var b Triple
		small := 1 + 2*rng.IntN(10+20*(i%2))
		for j := range b.Sizes {
			b.Sizes[j] = small
			if j > i%3 {
				b.Sizes[j] += 2
			}
		}
		if !b.Fits(255 << 5) {
			t.Fatalf("%v do not fit", b.Sizes)
		}
		channels, width, rows := 1+rng.IntN(4), 1+rng.IntN(90), 1+rng.IntN(tripleRows)
		n, reach := width*channels, b.Reach()
		beside := func(at int) int { return ((at % width) + width) % width }
		src := make([][]uint8, rows)
		for r := range src {
			src[r] = make([]uint8, n)
			for j := range src[r] {
				src[r][j] = uint8(rng.Uint32() | uint32(-(i & 1 & r)))
			}
		}
		factor := float32(1<<5) / float32(b.Count())
		kernel := []int{1} // the three boxes as one kernel
		for _, k := range b.Sizes {
			next := make([]int, len(kernel)+k-1)
			for j, v := range kernel {
				for o := range k {
					next[j+o] += v
				}
			}
			kernel = next
		}
		for _, level := range processor.Levels() {
			dst := make([][]uint16, rows)
			for r := range dst {
				dst[r] = make([]uint16, n+2)
				dst[r][n], dst[r][n+1] = 0xabcd, 0xabcd
				dst[r] = dst[r][:n]
			}
			var s TripleScratch
			for range 2 {
				b.Across(level, dst, src, channels, factor, beside, &s)
			}
			for r := range dst {
				for j, got := range dst[r] {
					var sum int
					for o, v := range kernel {
						sum += v * int(src[r][beside(j/channels-reach+o)*channels+j%channels])
					}
					if want := uint16(math.RoundToEven(float64(float32(sum) * factor))); got != want {
						t.Fatalf("level %v, %v, %d×%d: row %d has %d at %d, want %d", level, b.Sizes, width, channels, r, got, j, want)
					}
				}
				if rest := dst[r][:n+2]; rest[n] != 0xabcd || rest[n+1] != 0xabcd {
					t.Fatal("written beyond a row")
				}
			}
			// Filter columns of these rows.
			down, zero := make([]uint32, 3*n), make([]uint16, n)
			var all [][]uint16
			factor := 2 / float32(b.Count()<<5)
			for y := range b.Span() + 3 {
				all = append(all, dst[y%rows])
				var taps [8][]uint16
				for j, back := range b.Taps() {
					if taps[j] = zero; y >= back {
						taps[j] = all[y-back]
					}
				}
				out := make([]uint8, n+1)
				out[n] = 77
				b.Down(level, out[:n], down, &taps, factor, &s)
				if y < 2*reach {
					b.Down(level, nil, make([]uint32, 3*n), &taps, factor, &s)
					continue
				}
				for j, got := range out[:n] {
					var sum uint32
					for o, v := range kernel {
						sum += uint32(v) * uint32(all[y-o][j])
					}
					if want := uint8(math.RoundToEven(float64(float32(sum>>1) * factor))); got != want {
						t.Fatalf("level %v, %v: column %d has %d, want %d", level, b.Sizes, j, got, want)
					}
				}
				if out[n] != 77 {
					t.Fatal("written beyond a row")
				}
			}
		}
	}
}
