package fourier

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/kernel/transforms"
	"github.com/boxsum/boxsum/internal/raster"
)

// TestConvolve tests that blocks are correlated with templates cyclically, both parts independently, and
// with the same bits at every level.
func TestConvolve(t *testing.T) {
	for _, size := range [][2]int{{16, 16}, {32, 16}, {16, 64}, {64, 32}, {128, 16}, {16, 256}, {512, 16}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			testConvolve(t, &Singles, Single, size[0], size[1], 1e-5)
			testConvolve(t, &Doubles, func(to, s *Spectrum[float64]) { *to = *s }, size[0], size[1], 1e-13)
		})
	}
}

func testConvolve[T transforms.Real](t *testing.T, factors *Factors[T], round func(to *Spectrum[T], s *Spectrum[float64]), w, h int, tolerance float64) {
	rng := rand.New(rand.NewPCG(1, uint64(w*h)))
	l := transforms.Lanes[T]()
	tw, th := 1+rng.IntN(w), 1+rng.IntN(h)
	template := make([]float64, tw*th)
	for i := range template {
		template[i] = rng.NormFloat64()
	}
	const channels = 2
	pixels := make([]T, channels*2*w*h)
	for i := range pixels {
		pixels[i] = T(rng.NormFloat64())
	}
	index := func(x, y int) int { return 2*(x/l*h+y)*l + x%l }
	var want []T
	for _, level := range processor.Levels() {
		var b, template64 Block[float64]
		template64.Resize(&Doubles, w, h)
		clear(template64.Lines)
		const l64 = raster.LineBytes / 8
		for y := range th {
			for x := range tw {
				template64.Lines[2*(x/l64*h+y)*l64+x%l64] = template[y*tw+x]
			}
		}
		b = template64
		var s64 Spectrum[float64]
		s64.Transform(level, &b, tw)
		spectrum := new(Spectrum[T])
		round(spectrum, &s64)
		blocks, spectra := make([]*Block[T], channels), make([]*Spectrum[T], channels)
		for i := range blocks {
			blocks[i], spectra[i] = new(Block[T]), spectrum
			blocks[i].Resize(factors, w, h)
			copy(blocks[i].Lines, pixels[i*2*w*h:][:2*w*h])
			for x := 0; x < w; x += l {
				blocks[i].Columns(level, x)
			}
		}
		var c Convolver[T]
		out := blocks[0]
		c.Convolve(level, out, blocks, spectra)
		for x := 0; x < w; x += l {
			out.InverseColumns(level, x)
		}
		if want == nil {
			want = out.Lines
			for range 50 {
				x, y := rng.IntN(w), rng.IntN(h)
				for part := range 2 {
					sum := 0.0
					for j := range th {
						for i := range tw {
							at := index((x+i)%w, (y+j)%h) + part*l
							sum += template[j*tw+i] * (float64(pixels[at]) + float64(pixels[2*w*h+at]))
						}
					}
					if got := float64(out.Lines[index(x, y)+part*l]); math.Abs(got-sum) > tolerance*math.Sqrt(float64(w*h)) {
						t.Fatalf("%v at (%d, %d), part %d: want %v", got, x, y, part, sum)
					}
				}
			}
		}
		for i, v := range out.Lines {
			if v != want[i] {
				t.Fatalf("level %v: %v at %d, want %v", level, v, i, want[i])
			}
		}
		if level == processor.Portable {
			continue
		}
		var one Convolver[T] // of one block, in place
		copy(blocks[1].Lines, pixels[:2*w*h])
		one.Convolve(level, blocks[1], blocks[1:], spectra[1:])
	}
}
