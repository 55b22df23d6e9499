package rank_test

import (
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/rank"
)

func BenchmarkFilter(b *testing.B) {
	img := imgio.Demo(1920, 1080)
	rng := rand.New(rand.NewPCG(41, 1))
	for i, v := range img.Pix { // the noise of a camera
		img.Pix[i] = uint8(min(max(float64(v)+4*rng.NormFloat64(), 0), 255))
	}
	dst, err := boxsum.NewImage[uint8](img.Width, img.Height, 1)
	if err != nil {
		b.Fatal(err)
	}
	for s := range rank.BilateralMean + 1 {
		b.Run(s.String(), func(b *testing.B) {
			for b.Loop() {
				if err := rank.FilterInto(dst, img, s, filter.Square(15), &rank.Options{Workers: 1, Fraction: 0.5, Below: 10, Above: 10}); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(len(img.Pix)))
		})
	}
}
