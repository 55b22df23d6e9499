package filter_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
)

func photo[P filter.Pixel](w, h, c int) boxsum.Image[P] {
	img, _ := boxsum.NewImage[P](w, h, c)
	for i := range img.Pix {
		img.Pix[i] = P(uint8(i*7 + i/w*13))
	}
	return img
}

func BenchmarkBox(b *testing.B) {
	img := photo[uint8](1920, 1080, 1)
	dst, _ := boxsum.NewImage[uint8](1920, 1080, 1)
	for _, k := range []int{3, 9, 15, 63, 127, 255} {
		b.Run(fmt.Sprint("k=", k), func(b *testing.B) {
			b.SetBytes(int64(2 * len(img.Pix)))
			for b.Loop() {
				if err := filter.BoxInto(dst, img, filter.Square(k), &filter.Options{Workers: 1}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func benchInto[D, P filter.Pixel](b *testing.B, channels int, f func(dst boxsum.Image[D], img boxsum.Image[P], opt *filter.Options) error) {
	img := photo[P](1920, 1080, channels)
	dst, _ := boxsum.NewImage[D](1920, 1080, channels)
	for b.Loop() {
		if err := f(dst, img, &filter.Options{Workers: 1}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFilters filters 1920×1080 pixels on one worker.
func BenchmarkFilters(b *testing.B) {
	w := filter.Square(15)
	b.Run("box16", func(b *testing.B) {
		benchInto(b, 1, func(d, i boxsum.Image[uint16], o *filter.Options) error { return filter.BoxInto(d, i, w, o) })
	})
	b.Run("box32f", func(b *testing.B) {
		benchInto(b, 1, func(d, i boxsum.Image[float32], o *filter.Options) error { return filter.BoxInto(d, i, w, o) })
	})
	b.Run("boxRGB", func(b *testing.B) {
		benchInto(b, 3, func(d, i boxsum.Image[uint8], o *filter.Options) error { return filter.BoxInto(d, i, w, o) })
	})
	b.Run("boxClip", func(b *testing.B) {
		benchInto(b, 1, func(d, i boxsum.Image[uint8], o *filter.Options) error {
			o.Border = filter.Clip
			return filter.BoxInto(d, i, w, o)
		})
	})
	holes := photo[float32](1920, 1080, 1)
	for i := 0; i < len(holes.Pix); i += 14 {
		holes.Pix[i] = float32(math.NaN())
	}
	for _, skip := range []bool{false, true} {
		b.Run(fmt.Sprint("boxNaN/skip=", skip), func(b *testing.B) {
			benchInto(b, 1, func(d, _ boxsum.Image[float32], o *filter.Options) error {
				o.Valid.SkipNaN = skip
				return filter.BoxInto(d, holes, w, o)
			})
		})
	}
	b.Run("meanStdDev", func(b *testing.B) {
		dev, _ := boxsum.NewImage[float32](1920, 1080, 1)
		benchInto(b, 1, func(d boxsum.Image[float32], i boxsum.Image[uint8], o *filter.Options) error {
			return filter.MeanStdDevInto(d, dev, i, w, o)
		})
	})
	b.Run("gaussian20", func(b *testing.B) {
		benchInto(b, 1, func(d, i boxsum.Image[uint8], o *filter.Options) error {
			return filter.GaussianInto(d, i, filter.Sigma{X: 20, Y: 20}, o)
		})
	})
	b.Run("guided16", func(b *testing.B) {
		benchInto(b, 1, func(d, i boxsum.Image[uint8], o *filter.Options) error {
			return filter.GuidedInto(d, i, i, filter.Radius(16), 100, o)
		})
	})
	b.Run("median5", func(b *testing.B) {
		benchInto(b, 1, func(d, i boxsum.Image[uint8], o *filter.Options) error {
			return filter.MedianInto(d, i, filter.Square(5), o)
		})
	})
}

// BenchmarkSmall filters images so small that the time of the call itself shows.
func BenchmarkSmall(b *testing.B) {
	opt := &filter.Options{Workers: 1}
	for _, side := range []int{8, 64} {
		bytes, floats := photo[uint8](side, side, 1), photo[float32](side, side, 1)
		blurred, result := photo[uint8](side, side, 1), photo[float32](side, side, 1)
		other := photo[float32](side, side, 1)
		for _, bench := range []struct {
			name string
			run  func() error
		}{
			{"box3", func() error { return filter.BoxInto(blurred, bytes, filter.Square(3), opt) }},
			{"box5", func() error { return filter.BoxInto(blurred, bytes, filter.Square(5), opt) }},
			{"box5f", func() error { return filter.BoxInto(result, floats, filter.Square(5), opt) }},
			{"stdDev5", func() error { return filter.StdDevInto(result, bytes, filter.Square(5), opt) }},
			{"meanStdDev5", func() error { return filter.MeanStdDevInto(result, other, bytes, filter.Square(5), opt) }},
			{"gaussian1", func() error { return filter.GaussianInto(blurred, bytes, filter.Sigma{X: 1, Y: 1}, opt) }},
			{"median3", func() error { return filter.MedianInto(blurred, bytes, filter.Square(3), opt) }},
			{"guided5", func() error { return filter.GuidedInto(blurred, bytes, bytes, filter.Square(5), 100, opt) }},
			{"downsample2", func() error {
				return filter.DownsampleInto(boxsum.Image[uint8]{Pix: blurred.Pix, Width: side / 2, Height: side / 2}, bytes, 2, 2, opt)
			}},
		} {
			b.Run(fmt.Sprintf("%s/%d", bench.name, side), func(b *testing.B) {
				for b.Loop() {
					if err := bench.run(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
