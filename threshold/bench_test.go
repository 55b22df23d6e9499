package threshold_test

import (
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/threshold"
)

// BenchmarkBinarize is every method at 1920×1080 with a window of 25, on one worker.
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
