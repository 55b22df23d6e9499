package tables

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/raster"
)

// TestOraclesAgree asks pixels, a table and a stream for the same boxes.
func TestOraclesAgree(t *testing.T) {
	t.Run("u8", oraclesAgree[uint8, uint32, uint64])
	t.Run("u16", oraclesAgree[uint16, uint64, uint64])
	t.Run("u32", oraclesAgree[uint32, uint64, uint64])
	t.Run("i16", oraclesAgree[int16, int64, uint64])
	t.Run("i32", oraclesAgree[int32, int64, uint64])
	t.Run("f32", oraclesAgree[float32, float64, float64])
	t.Run("f64", oraclesAgree[float64, float64, float64])
}

func oraclesAgree[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square](t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, channels := range []int{1, 3} {
		img, err := boxsum.NewImage[P](37, 23, channels)
		if err != nil {
			t.Fatal(err)
		}
		for i := range img.Pix {
			if img.Pix[i] = P(int32(rnd.Uint32())); P(1)/2 != 0 {
				img.Pix[i] = P(rnd.IntN(1000)) / 8
			}
		}
		boxes := []box{{0, 0, 37, 23}, {-5, -5, 100, 100}, {50, 50, 60, 60}, {3, 3, 3, 9}}
		for range 50 {
			x, y := rnd.IntN(37), rnd.IntN(23)
			boxes = append(boxes, box{x, y, x + rnd.IntN(20), y + rnd.IntN(20)})
		}
		table, err := newPlane(pairOf[P, S, Q](), pixels.Of(img), tableChoice{squares: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := table.integrate(nil, nil); err != nil {
			t.Fatal(err)
		}
		stream, err := newStreamed(t.Context(), pairOf[P, S, Q](), pixels.Of(img), boxes, nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, of := range map[string]oracle{"direct": newDirect(pixels.Of(img)), "stream": stream} {
			for _, b := range boxes {
				for c := range channels {
					got, want := of.stats(b, c), table.stats(b, c)
					if of.area(b) != table.area(b) || plain(got.sum) != plain(want.sum) || got.mean != want.mean || math.Abs(got.std-want.std) > 1e-9*want.std {
						t.Fatalf("%s: %v, channel %d: %v, want %v", name, b, c, got, want)
					}
				}
			}
		}
	}
}

func pairOf[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square]() pair {
	return pair{pixel: raster.TypeOf[P](), sum: raster.TypeOf[S](), square: raster.TypeOf[Q]()}
}
