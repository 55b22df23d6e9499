package rotated_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/fixture"
	"github.com/boxsum/boxsum/rotated"
)

// BenchmarkIntegrate alternates between the upright table and the rotated one of
// the same image, and reports the ratio of the best times.
func BenchmarkIntegrate(b *testing.B) {
	const side = 4096
	img, err := boxsum.NewImage[uint8](side, side, 1)
	if err != nil {
		b.Fatal(err)
	}
	for i := range img.Pix {
		img.Pix[i] = uint8(i % 251)
	}
	upright, err := boxsum.NewTable[uint32](side, side, 1)
	if err != nil {
		b.Fatal(err)
	}
	for _, rot := range []rotated.Rotation{
		{A: 0, B: 1}, {A: 1, B: 10}, {A: 1, B: 5}, {A: 1, B: 3}, {A: 1, B: 2}, {A: 2, B: 3}, {A: 3, B: 5}, {A: 1, B: 1},
		{A: 2, B: 1}, {A: 5, B: 1}, {A: -1, B: 2}, {A: -2, B: 1},
	} {
		b.Run(rot.String(), func(b *testing.B) {
			table, err := rotated.NewTable[uint32](side, side, 1, rot)
			if err != nil {
				b.Fatal(err)
			}
			plain, turned := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
			b.SetBytes(side * side)
			for b.Loop() {
				start := time.Now()
				if err := boxsum.IntegrateInto(upright, img, nil); err != nil {
					b.Fatal(err)
				}
				half := time.Now()
				if err := rotated.IntegrateInto(table, img, nil); err != nil {
					b.Fatal(err)
				}
				plain, turned = min(plain, half.Sub(start)), min(turned, time.Since(half))
			}
			b.ReportMetric(plain.Seconds()*1e3, "upright-ms")
			b.ReportMetric(turned.Seconds()*1e3, "rotated-ms")
			b.ReportMetric(float64(turned)/float64(plain), "ratio")
		})
	}
}

// BenchmarkBoxes computes sums and areas of boxes spread over a lattice.
func BenchmarkBoxes(b *testing.B) {
	img := fixture.Image[uint8](rand.New(rand.NewPCG(1, 2)), 1920, 1080, 1)
	table, err := rotated.Integrate[uint32](img, rotated.Rotation{A: 1, B: 2}, nil)
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	boxes := make([]rotated.Box, 1<<12)
	for i := range boxes {
		boxes[i] = some(rng, table.Bounds())
	}
	b.Run("sum", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			table.Sum(boxes[i%len(boxes)])
		}
	})
	b.Run("area", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			table.Area(boxes[i%len(boxes)])
		}
	})
}
