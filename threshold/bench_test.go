package threshold_test

import (
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/threshold"
)

// BenchmarkBinarize runs every method at 1920×1080 with a window of 25, on one worker.
func BenchmarkBinarize(b *testing.B) {
	img := strokesPage(1920, 1080)
	dst, _ := boxsum.NewImage[uint8](img.Width, img.Height, 1)
	for _, m := range threshold.Methods() {
		b.Run(m.String(), func(b *testing.B) {
			b.SetBytes(int64(len(img.Pix)))
			for b.Loop() {
				if err := threshold.BinarizeInto(dst, img, threshold.New(m, 25), &threshold.Options{Workers: 1}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// strokesPage returns an image of dark strokes on paper that is lit from one side, with noise.
func strokesPage(width, height int) boxsum.Image[uint8] {
	img, _ := boxsum.NewImage[uint8](width, height, 1)
	rng := rand.New(rand.NewPCG(1, 18))
	noise := make([]float64, 1<<12)
	for i := range noise {
		noise[i] = 4 * rng.NormFloat64()
	}
	for y := range height {
		row, at := img.Row(y), rng.IntN(1<<12)
		for x := range row {
			v := 250 * (0.4 + 0.6*float64(x)/float64(width)) * (0.8 + 0.2*float64(y)/float64(height))
			if y%34 > 10 && y%34 < 26 && (x*7+y/34*131)%97 < 60 && (x/5+y/5*3)%3 == 0 {
				v *= 0.2
			}
			row[x] = uint8(max(0, min(255, v+noise[(x+at)&(1<<12-1)])))
		}
	}
	return img
}
