package features_test

import (
	"errors"
	"image"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/haar"
	"github.com/boxsum/boxsum/internal/features"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/rotated"
)

// TestPlanes tests the values of an edge in planes of every sum type.
func TestPlanes(t *testing.T) {
	img := boxsum.Image[uint8]{Pix: make([]uint8, 64), Width: 8, Height: 8}
	for i := range img.Pix {
		if img.Pix[i] = 1; i%8 >= 4 {
			img.Pix[i] = 10
		}
	}
	edge, err := haar.New(haar.EdgeX, image.Rect(0, 0, 4, 4))
	if err != nil {
		t.Fatal(err)
	}
	testPlanes[uint32](t, img, edge)
	testPlanes[uint64](t, img, edge)
	testPlanes[int64](t, img, edge)
	testPlanes[float32](t, img, edge)
	testPlanes[float64](t, img, edge)
	if _, err := features.Upright(raster.Array{Type: raster.U8}, 0, 0); !errors.Is(err, boxsum.ErrTypes) {
		t.Errorf("a table of uint8: %v", err)
	}
}

func testPlanes[S boxsum.Sum](t *testing.T, img boxsum.Image[uint8], edge haar.Feature) {
	const want = 8 * 9
	up, err := boxsum.Integrate[S](img, nil)
	if err != nil {
		t.Fatal(err)
	}
	turned, err := rotated.Integrate[S](img, rotated.Rotation{A: 0, B: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := features.Upright(raster.ArrayOf(up.Sums, raster.PlaneExtent(up.Width, up.Height, up.Channels, up.Stride)), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	b, err := features.Rotated(turned, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []features.Plane{a, b} {
		if v, err := p.Floats.Value(edge, image.Pt(2, 2)); v != want || err != nil {
			t.Errorf("%T: %v, %v, want %v", *new(S), v, err, want)
		}
		if integers := !raster.TypeOf[S]().Float(); integers != (p.Integers != nil) {
			t.Errorf("%T: integers: %v", *new(S), p.Integers)
		} else if !integers {
			continue
		}
		if v, err := p.Integers.Value(edge, image.Pt(2, 2)); v != want || err != nil {
			t.Errorf("%T: %v, %v, want %v", *new(S), v, err, want)
		}
	}
	if _, err := features.Rotated(turned, 3); err == nil {
		t.Error("channel 3 of 1")
	}
}
