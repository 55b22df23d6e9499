package boxsum_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/boxsum/boxsum"
)

// BenchmarkValid alternates between sums and squares of all pixels and of valid pixels,
// nine in ten, and reports the ratio of the best times.
func BenchmarkValid(b *testing.B) {
	benchmarkValid[uint32, uint64, uint8](b, "u8", false)
	benchmarkValid[float64, float64, float32](b, "f32", false)
	benchmarkValid[float64, float64, float32](b, "f32-nan", true)
}

func benchmarkValid[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](b *testing.B, name string, nan bool) {
	for _, size := range []int{1, 3} {
		for _, workers := range []int{1, 2} {
			width, height := benchSizes[size].width, benchSizes[size].height
			b.Run(fmt.Sprintf("%s/%s/workers=%d", name, benchSizes[size].name, workers), func(b *testing.B) {
				img, mask := must(boxsum.NewImage[P](width, height, 1)), must(boxsum.NewImage[uint8](width, height, 1))
				rng, zero := rand.New(rand.NewPCG(1, 2)), P(0)
				for i := range img.Pix {
					img.Pix[i], mask.Pix[i] = P(i%251), uint8(rng.IntN(10))
					if nan && mask.Pix[i] == 0 {
						img.Pix[i] = zero / zero
					}
				}
				valid := boxsum.Valid{Mask: mask, SkipNaN: nan}
				if nan {
					valid.Mask = boxsum.Image[uint8]{}
				}
				both, all := must(boxsum.NewSquaredTable[S, Q](width, height, 1)), must(boxsum.NewValidTable[S, Q](width, height, 1))
				opt := &boxsum.Options{Workers: workers}
				compareTimes(b, func() error { return boxsum.IntegrateSquaresInto(both, img, opt) }, func() error {
					return boxsum.IntegrateValidInto(all, img, valid, opt)
				})
			})
		}
	}
}

// compareTimes reports the best time of the second function next to that of the first,
// and the median of the ratios of consecutive times, which is more reliable on a busy
// machine.
func compareTimes(b *testing.B, first, second func() error) {
	best := [2]float64{}
	var ratios []float64
	for b.Loop() {
		var took [2]float64
		for i, do := range []func() error{first, second} {
			before := b.Elapsed()
			if err := do(); err != nil {
				b.Fatal(err)
			}
			took[i] = float64(b.Elapsed() - before)
			if best[i] == 0 || took[i] < best[i] {
				best[i] = took[i]
			}
		}
		ratios = append(ratios, took[1]/took[0])
	}
	slices.Sort(ratios)
	b.ReportMetric(best[0]/1e6, "squares-ms")
	b.ReportMetric(best[1]/1e6, "valid-ms")
	b.ReportMetric(best[1]/best[0], "times")
	b.ReportMetric(ratios[len(ratios)/2], "median-times")
}
