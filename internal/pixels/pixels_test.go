package pixels

import (
	"errors"
	"slices"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/raster"
)

func TestPixels(t *testing.T) {
	roundTrip[uint8](t)
	roundTrip[uint16](t)
	roundTrip[uint32](t)
	roundTrip[int16](t)
	roundTrip[int32](t)
	roundTrip[float32](t)
	roundTrip[float64](t)
	if a := Of(42); a.Type != 0 {
		t.Errorf("42 is an image of %v", a.Type)
	}
	wide := Of(boxsum.Image[int64]{Pix: []int64{-1, 2}, Width: 2, Height: 1})
	if wide.Type != raster.I64 || wide.Stride != 2 || wide.Channels != 1 {
		t.Errorf("64-bit integers: %v, %+v", wide.Type, wide.Extent)
	}
	if _, err := Image(wide); !errors.Is(err, boxsum.ErrTypes) {
		t.Errorf("an image of int64: %v", err)
	}
}

func roundTrip[P boxsum.Pixel](t *testing.T) {
	t.Helper()
	img := boxsum.Image[P]{Pix: []P{1, 2, 3, 4, 5, 0, 7, 8, 9, 10, 11, 12}, Width: 2, Height: 2, Channels: 2, Stride: 6}
	a := Of(img)
	if got := a.Floats(nil, 1, 1, 4, 2); !slices.Equal(got, []float64{8, 10}) {
		t.Errorf("%v: channel 1 of row 1 is %v", a.Type, got)
	}
	if got := raster.Elems[P](a.Row(1)); !slices.Equal(got, img.Row(1)) {
		t.Errorf("%v: row 1 is %v", a.Type, got)
	}
	back, err := Image(a)
	same, ok := back.(boxsum.Image[P])
	if err != nil || !ok || !slices.Equal(same.Pix, img.Pix) || same.Stride != 6 || same.Channels != 2 {
		t.Errorf("%v: %+v, %v", a.Type, back, err)
	}
}
