package boxsum_test

import (
	"fmt"
	"image"
	"math"
	"slices"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/haar"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/moments"
	"github.com/boxsum/boxsum/rotated"
	"github.com/boxsum/boxsum/tilted"
	"github.com/boxsum/boxsum/volume"
)

// TestNil tests that no method of a nil or zero table panics with zero arguments: both
// are tables of an image without pixels.
func TestNil(t *testing.T) {
	ref.NoPanics(t,
		(*boxsum.Table[uint32])(nil), new(boxsum.Table[uint32]), boxsum.View[uint32]{},
		(*boxsum.SquaredTable[uint32, uint64])(nil), new(boxsum.SquaredTable[uint32, uint64]),
		(*boxsum.ValidTable[uint32, uint64])(nil), new(boxsum.ValidTable[uint32, uint64]),
		(*boxsum.Stream[uint32, uint8])(nil), new(boxsum.Stream[uint32, uint8]),
		(*boxsum.SquaredStream[uint32, uint64, uint8])(nil), new(boxsum.SquaredStream[uint32, uint64, uint8]),
		(*tilted.Table[uint32])(nil), new(tilted.Table[uint32]),
		(*tilted.SquaredTable[uint32, uint64])(nil), new(tilted.SquaredTable[uint32, uint64]),
		(*tilted.Stream[uint32, uint8])(nil), new(tilted.Stream[uint32, uint8]),
		(*volume.Table[uint32])(nil), new(volume.Table[uint32]), volume.Volume[uint8]{},
		(*volume.SquaredTable[uint32, uint64])(nil), new(volume.SquaredTable[uint32, uint64]),
		(*volume.Stream[uint32, uint8])(nil), new(volume.Stream[uint32, uint8]),
		(*volume.SquaredStream[uint32, uint64, uint8])(nil), new(volume.SquaredStream[uint32, uint64, uint8]),
		(*rotated.Table[uint32])(nil), new(rotated.Table[uint32]),
		(*rotated.SquaredTable[uint32, uint64])(nil), new(rotated.SquaredTable[uint32, uint64]),
		(*rotated.Lattice)(nil), new(rotated.Lattice),
		(*histogram.Table[uint32])(nil), new(histogram.Table[uint32]),
		(*moments.Table)(nil), new(moments.Table),
		(*haar.Plane[int64, uint32])(nil), new(haar.Plane[int64, uint32]),
		(*haar.Set)(nil), new(haar.Set),
	)
}

// TestAtOutside tests that entries outside a table are 0, like pixels outside an
// image.Image, and that boxes are empty.
func TestAtOutside(t *testing.T) {
	pix := slices.Repeat([]uint8{1}, 3*3*3)
	img := boxsum.Image[uint8]{Pix: pix, Width: 3, Height: 3}
	upright, err := boxsum.Integrate[uint32](img, nil)
	if err != nil {
		t.Fatal(err)
	}
	turned, err := tilted.Integrate[uint32](img, nil)
	if err != nil {
		t.Fatal(err)
	}
	solid, err := volume.Integrate[uint32](volume.Volume[uint8]{Pix: pix, Width: 3, Height: 3, Depth: 3}, nil)
	if err != nil {
		t.Fatal(err)
	}
	along, err := rotated.Integrate[uint32](img, rotated.Rotation{A: 1, B: 2}, nil)
	if err != nil {
		t.Fatal(err)
	}
	bins, err := histogram.Integrate(img, histogram.Bins{N: 4}, nil)
	if err != nil {
		t.Fatal(err)
	}
	weighted, err := moments.Integrate(img, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, far := range []int{4, 1000, math.MaxInt, -1, -1000, math.MinInt} {
		lower := min(far, far-1)
		if far == math.MinInt {
			lower = far
		}
		box := image.Rectangle{image.Pt(lower, 0), image.Pt(far, 3)}
		for what, got := range map[string]any{
			"upright.At x":      upright.At(far, 1, 0),
			"upright.At y":      upright.At(1, far, 0),
			"upright.At c":      upright.At(1, 1, far),
			"view.At":           upright.Inclusive().At(far, 1, 0),
			"upright.Sum":       upright.Sum(box),
			"tilted.At x":       turned.At(far, 1, 0),
			"tilted.At y":       turned.At(1, far, 0),
			"tilted.At c":       turned.At(1, 1, far),
			"tilted.Sum":        turned.Sum(tilted.Box{X: far, Y: far, W: 1, H: 1}),
			"volume.At x":       solid.At(far, 1, 1, 0),
			"volume.At y":       solid.At(1, far, 1, 0),
			"volume.At z":       solid.At(1, 1, far, 0),
			"volume.At c":       solid.At(1, 1, 1, far),
			"volume.Sum":        solid.Sum(volume.NewBox(0, 0, lower, 3, 3, far)),
			"rotated.Sum":       along.Sum(rotated.Box{C0: lower, R0: 0, C1: far, R1: 3}),
			"rotated.Sum c":     along.SumChannel(along.Bounds(), far),
			"histogram.At x":    len(bins.At(far, 1, 0)),
			"histogram.At y":    len(bins.At(1, far, 0)),
			"histogram.At c":    len(bins.At(1, 1, far)),
			"moments.Moments":   weighted.Moments(box, 0).M00,
			"moments.Moments c": weighted.Moments(upright.Bounds(), far).M00,
		} {
			if text := fmt.Sprint(got); text != "0" {
				t.Errorf("%s at %d is %s, want 0", what, far, text)
			}
		}
	}
}
