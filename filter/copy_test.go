package filter_test

import (
	"image"
	"math"
	"slices"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
)

// TestOnePixel tests that a window of one pixel, or a Gaussian of zero width, copies the image bit for bit, and that
// images of package image are not modified.
func TestOnePixel(t *testing.T) {
	src := boxsum.Image[float32]{Pix: []float32{1, float32(math.Copysign(0, -1)), 1e-42, 3, 5e37, 7, 9, 9}, Width: 3, Height: 2, Stride: 4}
	for name, make := range map[string]func() (boxsum.Image[float32], error){
		"box":      func() (boxsum.Image[float32], error) { return filter.Box(src, filter.Square(1), nil) },
		"gaussian": func() (boxsum.Image[float32], error) { return filter.Gaussian(src, filter.Sigma{}, nil) },
		"clip": func() (boxsum.Image[float32], error) {
			return filter.Box(src, filter.Square(1), &filter.Options{Border: filter.Clip})
		},
	} {
		got, err := make()
		if err != nil {
			t.Fatal(name, err)
		}
		for y := range 2 {
			if !slices.EqualFunc(got.Row(y), src.Row(y), func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }) {
				t.Errorf("%s: row %d is %v, want %v", name, y, got.Row(y), src.Row(y))
			}
		}
	}
	img := image.NewRGBA(image.Rect(3, 4, 40, 30))
	for i := range img.Pix {
		img.Pix[i] = uint8(i * 31)
	}
	part := img.SubImage(image.Rect(5, 6, 30, 20)).(*image.RGBA)
	before := slices.Clone(img.Pix)
	got, err := filter.BoxImage(part, filter.Square(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Bounds() != part.Bounds() || got.At(7, 9) != part.At(7, 9) || got.At(29, 19) != part.At(29, 19) {
		t.Error("a box of one pixel is not a copy")
	}
	if _, err := filter.GaussianImage(part, filter.Sigma{X: 2, Y: 2}, nil); err != nil || !slices.Equal(before, img.Pix) {
		t.Error("the image was written to", err)
	}
}
