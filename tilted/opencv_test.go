package tilted_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/tilted"
)

// TestOpenCV tests that every pair of types that OpenCV supports gives the same
// bits, including floats that round at every addition and negative zeros. OpenCV's
// signed sums are compared as numbers.
func TestOpenCV(t *testing.T) {
	cv := ref.StartPython(t, "testdata/opencv.py")
	likeOpenCV[uint8, uint32, int32](t, cv)
	likeOpenCV[uint8, float32, float32](t, cv)
	likeOpenCV[uint8, float64, float64](t, cv)
	likeOpenCV[uint8, uint64, float64](t, cv)
	likeOpenCV[uint16, uint64, float64](t, cv)
	likeOpenCV[uint16, float64, float64](t, cv)
	likeOpenCV[int16, int64, float64](t, cv)
	likeOpenCV[float32, float32, float32](t, cv)
	likeOpenCV[float32, float64, float64](t, cv)
	likeOpenCV[float64, float64, float64](t, cv)
}

func likeOpenCV[P boxsum.Pixel, S boxsum.Sum, D int32 | float32 | float64](t *testing.T, cv ref.Script) {
	t.Run(fmt.Sprintf("%T to %T", *new(P), *new(S)), func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 6))
		for i := range 40 {
			width, height, channels := 1+rng.IntN(60), 1+rng.IntN(60), 1+rng.IntN(4)
			switch i % 8 {
			case 0:
				width = 1 + rng.IntN(3)
			case 1:
				height = 1 + rng.IntN(3)
			case 2:
				width = 700
			}
			img := randomImage[P](rng, width, height, channels)
			table, err := tilted.Integrate[S](img, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := fmt.Fprintln(cv.In, reflect.TypeFor[P](), reflect.TypeFor[D](), height, width, channels); err != nil {
				t.Fatal(err)
			}
			for y := range height {
				if err := binary.Write(cv.In, binary.NativeEndian, img.Row(y)); err != nil {
					t.Fatal(err)
				}
			}
			want := make([]D, (width+1)*channels)
			for y := range height + 1 {
				if err := binary.Read(cv.Out, binary.NativeEndian, want); err != nil {
					t.Fatal(err)
				}
				for i, got := range table.View().Row(y) {
					// Integers wrap to the same bits; NaNs are not told apart.
					if got, w := D(got), want[i]; got != w && !(got != got && w != w) || math.Signbit(float64(got)) != math.Signbit(float64(w)) && got == got {
						t.Fatalf("%d×%d×%d: value %d of row %d is %v, of OpenCV %v", width, height, channels, i, y, got, w)
					}
				}
			}
		}
	})
}
