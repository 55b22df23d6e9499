package filter_test

import (
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/internal/fixture"
)

// TestWideWindows compares means of small images with windows of all widths, up to several times
// the image's, with the definition. Images have few rows, so that each row and window ends near
// the end of the memory.
func TestWideWindows(t *testing.T) {
	rng := rand.New(rand.NewPCG(764, 13))
	for width := 1; width <= 600; width += 1 + rng.IntN(4) {
		for height := 1; height <= 3; height++ {
			img := fixture.Image[uint8](rng, 1+rng.IntN(800), 1+rng.IntN(13), 1+rng.IntN(3))
			w := filter.Window{Width: width, Height: height}
			opt := &filter.Options{Border: borders[rng.IntN(len(borders))], Level: boxsum.Levels()[rng.IntN(len(boxsum.Levels()))]}
			got, err := filter.Box(img, w, opt)
			if err != nil {
				t.Fatal(err)
			}
			var v []float64
			for range 20 {
				x, y, c := rng.IntN(img.Width), rng.IntN(img.Height), rng.IntN(img.Channels)
				v = values(v, img, w, opt, x, y, c)
				_, mean, _ := moments(v)
				if have := got.Pix[y*got.Stride+x*got.Channels+c]; float64(have) < mean-0.5 || float64(have) > mean+0.5 {
					t.Fatalf("%d×%d with %d channels, %+v, %+v: the mean at %d, %d is %d, not %v", img.Width, img.Height, img.Channels, w, opt, x, y, have, mean)
				}
			}
		}
	}
}
