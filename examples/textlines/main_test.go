package main

import (
	"math"
	"testing"

	"github.com/boxsum/boxsum"
)

// TestFind draws seven lines of strokes at an angle, and tests that the angle is found to a degree, and all lines.
func TestFind(t *testing.T) {
	for _, degrees := range []float64{-21, 0, 14} {
		sin, cos := math.Sincos(degrees * math.Pi / 180)
		page := boxsum.Image[uint8]{Pix: make([]uint8, 400*360), Width: 400, Height: 360}
		for i := range page.Pix {
			x, y := float64(i%400)+0.5-200, float64(i/400)+0.5-180
			u, v := x*cos-y*sin, x*sin+y*cos
			page.Pix[i] = 220
			line := math.Floor((v + 84) / 24)
			if line >= 0 && line < 7 && v+84-24*line < 10 && math.Abs(u) < 120 && math.Mod(u+120, 9) < 5 {
				page.Pix[i] = 30
			}
		}
		angle, lines, err := find(page)
		if err != nil {
			t.Fatal(err)
		}
		if off := angle.Degrees() - degrees; math.Abs(off) > 1 {
			t.Errorf("lines at %v° are found at %v°", degrees, angle.Degrees())
		}
		if len(lines) != 7 {
			t.Errorf("%d lines at %v°, not 7", len(lines), degrees)
			continue
		}
		middle := lines[3]
		if angle.A < 0 {
			middle = lines[len(lines)-4]
		}
		if math.Abs(middle.X-200) > 6 || math.Abs(middle.Y-173) > 10 || math.Abs(middle.Width-238) > 12 || math.Abs(middle.Height-10) > 7 {
			t.Errorf("at %v° the middle line is %v", degrees, middle)
		}
	}
	if _, _, err := find(boxsum.Image[uint8]{Pix: make([]uint8, 100), Width: 10, Height: 10}); err == nil {
		t.Error("an empty page has lines")
	}
}
