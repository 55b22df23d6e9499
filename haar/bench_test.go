package haar_test

import (
	"image"
	"testing"

	"github.com/boxsum/boxsum/haar"
	"github.com/boxsum/boxsum/rotated"
)

// BenchmarkValues reports the bytes per second of the values, eight bytes each.
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

// BenchmarkRotated evaluates features along 1/2: all features of a window that
// rotates with them, all of an upright one, a list, and single ones.
func BenchmarkRotated(b *testing.B) {
	half := rotated.Rotation{A: 1, B: 2}
	plane := turned[int64, uint32](b, noise[uint8](640, 480, 1), half, 0)
	along, inside := all(b, 24, 24, haar.ViolaJones()...), allRotated(b, half, 24, 24, haar.ViolaJones()...)
	list, err := along.Scale(1.25)
	if err != nil {
		b.Fatal(err)
	}
	at := []image.Point{{100, 100}}
	for i, set := range []*haar.Set{along, inside, list} {
		values, corrected := make([]int64, set.Len()), make([]float64, set.Len())
		name := []string{"turned", "inside", "list"}[i]
		b.Run(name+"/plain", func(b *testing.B) {
			b.SetBytes(8 * int64(set.Len()))
			for b.Loop() {
				if err := plane.Values(values, set, at, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/corrected", func(b *testing.B) {
			b.SetBytes(8 * int64(set.Len()))
			for b.Loop() {
				if err := plane.CorrectedValues(corrected, set, at, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	f, err := haar.New(haar.EdgeX, image.Rect(2, 3, 12, 9))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("one", func(b *testing.B) {
		for b.Loop() {
			if _, err := plane.Value(f, at[0]); err != nil {
				b.Fatal(err)
			}
		}
	})
	upright := upright[int64](b, integrate[uint32](b, noise[uint8](640, 480, 1), nil), 0)
	b.Run("one upright", func(b *testing.B) {
		for b.Loop() {
			if _, err := upright.Value(f, at[0]); err != nil {
				b.Fatal(err)
			}
		}
	})
}
