package filter_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/internal/ref"
)

// TestNarrowGaussian tests that narrow Gaussians are bit-identical at every level, with any number of workers and in
// place, and do not allocate the second time.
func TestNarrowGaussian(t *testing.T) {
	rng := rand.New(rand.NewPCG(ref.Seed(t, 20), 18))
	for range ref.Trials(t, 10) {
		narrowGaussian[uint8](t, rng)
		narrowGaussian[uint16](t, rng)
		narrowGaussian[float32](t, rng)
		narrowGaussian[float64](t, rng)
	}
}

func narrowGaussian[P filter.Pixel](t *testing.T, rng *rand.Rand) {
	t.Helper()
	img := random[P](rng, 1+rng.IntN(400), 1+rng.IntN(700), 1+rng.IntN(3))
	sigma := filter.Sigma{X: rng.Float64() * 2, Y: rng.Float64() * 4}
	opt := randomOptions(rng)
	opt.Workers, opt.Level = 1, boxsum.Levels()[0]
	name := fmt.Sprintf("%T %d×%d×%d %+v %v", *new(P), img.Width, img.Height, img.Channels, sigma, opt.Border)
	want := must[P](t, name)(filter.Gaussian(img, sigma, opt))
	for _, level := range boxsum.Levels() {
		for _, workers := range []int{1, 2, 5} {
			o := *opt
			o.Level, o.Workers = level, workers
			same(t, name+" "+level.String(), must[P](t, name)(filter.Gaussian(img, sigma, &o)), want)
		}
	}
	over := must[P](t, name)(filter.Box(img, filter.Square(1), nil))
	if err := filter.GaussianInto(over, over, sigma, opt); err != nil {
		t.Fatal(err)
	}
	same(t, name+" in place", over, want)
}

func TestNarrowGaussianAllocates(t *testing.T) {
	img := random[uint8](rand.New(rand.NewPCG(21, 18)), 100, 90, 1)
	dst := random[uint8](rand.New(rand.NewPCG(21, 18)), 100, 90, 1)
	for _, border := range borders {
		opt := &filter.Options{Border: border, Workers: 1}
		ref.AllocatesNothing(t, "GaussianInto", func() error {
			return filter.GaussianInto(dst, img, filter.Sigma{X: 1, Y: 1.2}, opt)
		})
	}
}
