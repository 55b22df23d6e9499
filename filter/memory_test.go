package filter_test

import (
	"testing"

	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/internal/ref"
)

// TestMemory tests that, in addition to the image and the result, a worker needs 64 KiB and as many rows as a window is
// high, of pixels or of intermediate results, however high the image is.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("filters large images: leave out -short")
	}
	const width, k, sigma = 3000, 31, 10.0
	three := 0 // rows of the three boxes of a Gaussian
	for _, size := range filter.Boxes(sigma, 3) {
		three += size
	}
	w, blur := filter.Square(k), filter.Sigma{X: sigma, Y: sigma}
	var least [16]int
	for _, height := range []int{200, 400} {
		a, b := photo[uint8](width, height, 1), photo[uint8](width, height, 1)
		words, floats, more := photo[uint16](width, height, 1), photo[float32](width, height, 1), photo[float32](width, height, 1)
		for i, c := range []struct {
			name string
			rows int // number of rows, and bytes per element
			size int
			do   func(opt *filter.Options) error
		}{
			{"Box", k, 1, func(o *filter.Options) error { return filter.BoxInto(b, a, w, o) }},
			{"Box of 3 rows", 3, 1, func(o *filter.Options) error { return filter.BoxInto(b, a, filter.Square(3), o) }},
			{"Box to the edge", k, 1, func(o *filter.Options) error { o.Border = filter.Clip; return filter.BoxInto(b, a, w, o) }},
			{"Box in place", 2 * k, 1, func(o *filter.Options) error { return filter.BoxInto(b, b, w, o) }},
			{"Box u16 in place", 2 * k, 2, func(o *filter.Options) error { return filter.BoxInto(words, words, w, o) }},
			{"Box f32", k, 4, func(o *filter.Options) error { return filter.BoxInto(more, floats, w, o) }},
			{"MeanStdDev", k, 1, func(o *filter.Options) error { return filter.MeanStdDevInto(floats, more, a, w, o) }},
			{"StdDev f32", k, 4, func(o *filter.Options) error { return filter.StdDevInto(more, floats, w, o) }},
			{"Median", k, 1, func(o *filter.Options) error { return filter.MedianInto(b, a, filter.Square(5), o) }},
			{"Gaussian", three + 40, 2, func(o *filter.Options) error { return filter.GaussianInto(b, a, blur, o) }},
			{"Gaussian in place", three + 40 + (three+1)/2, 2, func(o *filter.Options) error { return filter.GaussianInto(b, b, blur, o) }},
			{"Guided", 2 * (k + 20), 8, func(o *filter.Options) error { return filter.GuidedInto(b, a, a, w, 100, o) }},
		} {
			for workers := 1; workers <= 2; workers++ {
				got := ref.Allocated(t, func() error { return c.do(&filter.Options{Workers: workers}) })
				if most := workers * (64<<10 + c.rows*width*c.size); got > most {
					t.Errorf("%s of %d×%d with %d workers took %d bytes, %d at most", c.name, width, height, workers, got, most)
				}
				if workers > 1 {
					continue
				}
				if least[i] == 0 {
					least[i] = got
				} else if got > least[i]+4<<10 {
					t.Errorf("%s took %d bytes, and %d for an image that is higher", c.name, least[i], got)
				}
			}
		}
	}
}
