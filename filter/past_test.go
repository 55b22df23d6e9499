package filter_test

import (
	"slices"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
)

// TestPast compares results large enough to be written past the caches with results in place, which are not.
func TestPast(t *testing.T) {
	if testing.Short() {
		t.Skip("filters images of 33 MB: leave out -short")
	}
	src, _ := boxsum.NewImage[float32](2891, 2900, 1)
	for i := range src.Pix {
		src.Pix[i] = float32(uint32(i)*2654435761>>7&1023) / 3
	}
	dst := boxsum.Image[float32]{Pix: make([]float32, 2895*2900), Width: 2891, Height: 2900, Stride: 2895}
	for _, w := range []filter.Window{filter.Square(7), {Width: 40, Height: 3}} {
		if err := filter.BoxInto(dst, src, w, nil); err != nil {
			t.Fatal(err)
		}
		over := src
		over.Pix = slices.Clone(src.Pix)
		if err := filter.BoxInto(over, over, w, nil); err != nil {
			t.Fatal(err)
		}
		for y := range 2900 {
			if !slices.Equal(dst.Row(y), over.Row(y)) {
				t.Fatalf("window %v: row %d differs", w, y)
			}
		}
	}
}
