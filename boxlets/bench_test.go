package boxlets_test

import (
	"image"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/boxlets"
	"github.com/boxsum/boxsum/imgio"
)

// BenchmarkFilter compares kernels of up to eight boxes with the time of reading an image twice and writing the result once.
func BenchmarkFilter(b *testing.B) {
	img := imgio.Demo(1920, 1080)
	dst, err := boxsum.NewImage[float32](img.Width, img.Height, 1)
	if err != nil {
		b.Fatal(err)
	}
	moved := 2*len(img.Pix) + 4*len(dst.Pix)
	b.Run("copy", func(b *testing.B) { // as many bytes, half of them read
		from, to := make([]byte, moved/2), make([]byte, moved/2)
		for b.Loop() {
			copy(to, from)
		}
		b.SetBytes(int64(moved))
	})
	var kernel []boxlets.Box
	for k := range 8 {
		kernel = append(kernel, boxlets.Box{Rectangle: image.Rect(-2*k, -k, k+1, 2*k+1), Weight: float64(k) - 3.5})
	}
	for _, level := range boxsum.Levels() {
		opt := &boxlets.Options{Workers: 1, Level: level}
		for n := 1; n <= 8; n *= 2 {
			b.Run(level.String()+"/"+string(rune('0'+n)), func(b *testing.B) {
				for b.Loop() {
					if err := boxlets.FilterInto(dst, img, kernel[:n], opt); err != nil {
						b.Fatal(err)
					}
				}
				b.SetBytes(int64(moved))
			})
		}
		b.Run(level.String()+"/hessian", func(b *testing.B) {
			for b.Loop() {
				if err := boxlets.HessianInto(dst, img, 3, opt); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
