package haar_test

import (
	"image"
	"testing"

	"github.com/boxsum/boxsum/haar"
)

// Values are eight bytes each: the bytes per second are those of the result.
func BenchmarkValues(b *testing.B) {
	plane := upright[int64](b, integrate[uint32](b, noise[uint8](640, 480, 1), nil), 0)
	every := all(b, 24, 24, haar.ViolaJones()...)
	list, err := every.Scale(1.25)
	if err != nil {
		b.Fatal(err)
	}
	for i, set := range []*haar.Set{every, list} {
		name := []string{"all", "list"}[i]
		values, corrected := make([]int64, set.Len()), make([]float64, set.Len())
		at, one := []image.Point{{100, 100}}, &haar.Options{Workers: 1}
		for _, bench := range []struct {
			name     string
			evaluate func() error
		}{
			{"plain", func() error { return plane.Values(values, set, at, nil) }},
			{"plain, 1 worker", func() error { return plane.Values(values, set, at, one) }},
			{"corrected", func() error { return plane.CorrectedValues(corrected, set, at, nil) }},
		} {
			b.Run(name+"/"+bench.name, func(b *testing.B) {
				b.SetBytes(8 * int64(set.Len()))
				for b.Loop() {
					if err := bench.evaluate(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
