package moments_test

import (
	"fmt"
	"image"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/moments"
)

func BenchmarkIntegrate(b *testing.B) {
	benchmarkIntegrate[uint8](b)
	benchmarkIntegrate[float32](b)
}

func benchmarkIntegrate[P boxsum.Pixel](b *testing.B) {
	img := random[P](rand.New(rand.NewPCG(1, 2)), 1920, 1080, 1)
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("%T/%d-workers", *new(P), workers), func(b *testing.B) {
			table, err := moments.NewTable[P](img.Width, img.Height, 1)
			if err != nil {
				b.Fatal(err)
			}
			bytes, _ := moments.Bytes[P](img.Width, img.Height, 1)
			b.SetBytes(bytes)
			for b.Loop() {
				if err := moments.IntegrateInto(table, img, &moments.Options{Workers: workers}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkMoments computes the moments of boxes spread over a table.
func BenchmarkMoments(b *testing.B) {
	benchmarkMoments[uint8](b)
	benchmarkMoments[float32](b)
}

func benchmarkMoments[P boxsum.Pixel](b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	table, err := moments.Integrate(random[P](rng, 640, 480, 1), nil)
	if err != nil {
		b.Fatal(err)
	}
	boxes := make([]image.Rectangle, 1<<12)
	for i := range boxes {
		boxes[i] = image.Rect(rng.IntN(640), rng.IntN(480), rng.IntN(640), rng.IntN(480))
	}
	b.Run(fmt.Sprintf("%T", *new(P)), func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			table.Moments(boxes[i%len(boxes)], 0)
		}
	})
}
