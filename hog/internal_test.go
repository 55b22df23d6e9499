package hog

import (
	"math"
	"testing"
)

// TestExpf tests exponentials against exact ones: they differ by less than 0.51 units in the last place.
func TestExpf(t *testing.T) {
	other := 0
	for i := range 200000 {
		x := -float32(i) * 0x1p-11
		got, want := expf(x), math.Exp(float64(x))
		ulp := float64(math.Nextafter32(float32(want), 2) - float32(want))
		if math.Abs(float64(got)-want) > 0.51*ulp+0x1p-149 {
			t.Fatalf("e^%v is %v, want %v", x, got, want)
		}
		if got != float32(want) {
			other++
		}
	}
	if other > 200 {
		t.Errorf("%d of 200000 are not the nearest", other)
	}
	if expf(0) != 1 || expf(-200) != 0 {
		t.Error("exponentials of 0 and -200")
	}
}

func TestMirrored(t *testing.T) {
	for i, want := range []int{2, 3, 2, 1, 0, 1, 2, 3, 2, 1, 0, 1} {
		if got := mirrored(i-4, 4); got != want {
			t.Errorf("pixel %d of 4 is %d, want %d", i-4, got, want)
		}
	}
	if mirrored(-5, 1) != 0 || mirrored(7, 2) != 1 {
		t.Error("borders of one and two pixels")
	}
}
