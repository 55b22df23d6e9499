package regress

import (
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/match"
	"github.com/boxsum/boxsum/threshold"
)

func BenchmarkBox(b *testing.B) {
	b.Run("u8", into(func(dst, img boxsum.Image[uint8], workers int) error {
		return filter.BoxInto(dst, img, filter.Radius(7), &filter.Options{Workers: workers})
	}))
	b.Run("f32", into(func(dst, img boxsum.Image[float32], workers int) error {
		return filter.BoxInto(dst, img, filter.Radius(7), &filter.Options{Workers: workers})
	}))
}

func BenchmarkMean(b *testing.B) {
	b.Run("u8-f32", into(func(dst boxsum.Image[float32], img boxsum.Image[uint8], workers int) error {
		return filter.MeanInto(dst, img, filter.Radius(7), &filter.Options{Workers: workers})
	}))
}

func BenchmarkStdDev(b *testing.B) {
	b.Run("u8-f32", into(func(dst boxsum.Image[float32], img boxsum.Image[uint8], workers int) error {
		return filter.StdDevInto(dst, img, filter.Radius(7), &filter.Options{Workers: workers})
	}))
	b.Run("f32-f32", into(func(dst, img boxsum.Image[float32], workers int) error {
		return filter.StdDevInto(dst, img, filter.Radius(7), &filter.Options{Workers: workers})
	}))
}

func BenchmarkGaussian(b *testing.B) {
	b.Run("u8", into(func(dst, img boxsum.Image[uint8], workers int) error {
		return filter.GaussianInto(dst, img, filter.Sigma{X: 5, Y: 5}, &filter.Options{Workers: workers})
	}))
}

func BenchmarkMedian(b *testing.B) {
	b.Run("u8", intoSizes(sizes[:4], func(dst, img boxsum.Image[uint8], workers int) error {
		return filter.MedianInto(dst, img, filter.Radius(3), &filter.Options{Workers: workers})
	}))
}

func BenchmarkThreshold(b *testing.B) {
	for _, m := range []threshold.Method{threshold.Sauvola, threshold.Niblack, threshold.Bradley} {
		b.Run(m.String(), into(func(dst, img boxsum.Image[uint8], workers int) error {
			return threshold.BinarizeInto(dst, img, threshold.New(m, 25), &threshold.Options{Workers: workers})
		}))
	}
}

// into returns the benchmark of a function that converts an image to another, at every size.
func into[D, P boxsum.Pixel](run func(dst boxsum.Image[D], img boxsum.Image[P], workers int) error) func(*testing.B) {
	return intoSizes(sizes, run)
}

func intoSizes[D, P boxsum.Pixel](sizes []size, run func(dst boxsum.Image[D], img boxsum.Image[P], workers int) error) func(*testing.B) {
	return func(b *testing.B) {
		forWorkers[P](b, sizes, func(b *testing.B, s size) func(int) error {
			img := noise[P](b, s)
			dst, err := boxsum.NewImage[D](s.width, s.height, 1)
			check(b, err)
			return func(workers int) error { return run(dst, img, workers) }
		})
	}
}

func BenchmarkMatch(b *testing.B) {
	forWorkers[uint8](b, []size{small, sd, hd}, func(b *testing.B, s size) func(int) error {
		img, template := noise[uint8](b, s), noise[uint8](b, size{"", 24, 24})
		scores, err := boxsum.NewImage[float32](s.width-23, s.height-23, 1)
		check(b, err)
		return func(workers int) error {
			return match.MatchInto(scores, img, template, match.ZNCC, &match.Options{Workers: workers})
		}
	})
}
