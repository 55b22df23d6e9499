package moment

import "testing"

// TestBounds tests the sides of square boxes stated in the documentation.
func TestBounds(t *testing.T) {
	for _, test := range []struct {
		peak float64
		side int
	}{{255, 4099}, {65535, 1351}, {32768, 1552}} {
		for _, more := range []int{0, 1} {
			n := test.side + more
			fits := largest(test.peak, n/2, n-1-n/2, n/2, n-1-n/2) < 1<<63
			if fits != (more == 0) {
				t.Errorf("peak %v: a side of %d fits: %v", test.peak, n, fits)
			}
		}
	}
	if !representable(0x1p62, 10000, 10000) || representable(0x1p62, 11000, 11000) {
		t.Error("floats of 62 bits go to another side than 10,000 or so")
	}
}
