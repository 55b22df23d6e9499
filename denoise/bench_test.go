package denoise_test

import (
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/denoise"
	"github.com/boxsum/boxsum/imgio"
)

func BenchmarkNonLocalMeans(b *testing.B) {
	img := imgio.Demo(1920, 1080)
	rng := rand.New(rand.NewPCG(41, 1))
	for i, v := range img.Pix {
		img.Pix[i] = uint8(min(max(float64(v)+10*rng.NormFloat64(), 0), 255))
	}
	dst, err := boxsum.NewImage[uint8](img.Width, img.Height, 1)
	if err != nil {
		b.Fatal(err)
	}
	for _, level := range boxsum.Levels() {
		b.Run(level.String(), func(b *testing.B) {
			for b.Loop() {
				if err := denoise.NonLocalMeansInto(dst, img, &denoise.Options{Workers: 1, Strength: 10, Level: level}); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(len(img.Pix)))
		})
	}
}
