package detect

import (
	"image"
	"testing"
)

// TestNearestSize tests that if no size lies between the minimum and the maximum, the nearest is used, or the one that
// OpenCV's 32-bit arithmetic selects.
func TestNearestSize(t *testing.T) {
	c := &Cascade{size: image.Pt(36, 18)}
	for _, one := range []struct {
		min, max image.Point
		compat   bool
		want     image.Point
	}{
		{image.Pt(1e6, 1e6), image.Pt(1e6, 1e6), false, image.Pt(335, 168)},
		{image.Pt(1e6, 1e6), image.Pt(1e6, 1e6), true, image.Pt(228, 114)},
		{image.Pt(100, 50), image.Pt(1, 1), false, image.Pt(98, 49)},
		{image.Pt(100, 50), image.Pt(-1, -1), true, image.Pt(98, 49)},
		{image.Pt(-50, 100), image.Pt(-1, 60), true, image.Pt(36, 18)},
	} {
		layers, err := c.layersOf(nil, 365, 177, &Options{Scale: 1.08, Min: one.min, Max: one.max, Compat: one.compat}, false)
		if err != nil || len(layers) != 1 || layers[0].window != one.want {
			t.Errorf("%v to %v: %v, %v", one.min, one.max, layers, err)
		}
	}
}
