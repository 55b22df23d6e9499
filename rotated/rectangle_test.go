package rotated_test

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/rotated"
)

// TestUprightRectangle tests that upright rectangles on whole pixels do not change.
func TestUprightRectangle(t *testing.T) {
	l, err := rotated.NewLattice(100, 80, rotated.Rotation{A: 0, B: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		rect rotated.Rectangle
		want rotated.Box
	}{
		{rotated.FromCorner(10, 20, 30, 40, 0), rotated.Box{C0: 10, R0: 20, C1: 40, R1: 60}},
		{rotated.Rectangle{X: 25, Y: 40, Width: 30, Height: 40}, rotated.Box{C0: 10, R0: 20, C1: 40, R1: 60}},
		{rotated.Rectangle{X: 25, Y: 40, Width: 40, Height: 30, Degrees: 90}, rotated.Box{C0: 10, R0: 20, C1: 40, R1: 60}},
		{rotated.Rectangle{X: 25, Y: 40, Width: 30, Height: 40, Degrees: -180}, rotated.Box{C0: 10, R0: 20, C1: 40, R1: 60}},
		{rotated.FromCorner(10, 60, 40, 30, 90), rotated.Box{C0: 10, R0: 20, C1: 40, R1: 60}},
		{rotated.FromCorner(10.4, 20.4, 30, 40, 0), rotated.Box{C0: 10, R0: 20, C1: 40, R1: 60}},
		{rotated.FromCorner(10.5, 20.5, 30, 40, 0), rotated.Box{C0: 11, R0: 21, C1: 41, R1: 61}},
		{rotated.FromCorner(10.6, 20.6, 0.1, 0.1, 0), rotated.Box{C0: 10, R0: 20, C1: 11, R1: 21}},
		{rotated.FromCorner(-5, 70, 10, 20, 0), rotated.Box{C0: -5, R0: 70, C1: 5, R1: 90}},
	} {
		if got, err := l.FromRectangle(test.rect); err != nil || got != test.want {
			t.Errorf("%+v is %v, %v, want %v", test.rect, got, err, test.want)
		}
	}
}

// TestRectanglePixels tests that the pixels of the box are those whose centers lie
// in the rectangle, except within a line of its edges, and that its area is that of
// the rectangle, to one line at each edge.
func TestRectanglePixels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const width, height = 90, 70
		rot := anyRotation(t)
		l, err := rotated.NewLattice(width, height, rot)
		if err != nil {
			t.Fatal(err)
		}
		quarters := rapid.IntRange(-4, 4).Draw(t, "quarters")
		rect := rotated.Rectangle{
			X: rapid.Float64Range(0, width).Draw(t, "x"), Y: rapid.Float64Range(0, height).Draw(t, "y"),
			Width: rapid.Float64Range(0.1, 60).Draw(t, "width"), Height: rapid.Float64Range(0.1, 60).Draw(t, "height"),
			Degrees: rot.Degrees() + 90*float64(quarters),
		}
		box, err := l.FromRectangle(rect)
		if err != nil {
			t.Fatal(err)
		}
		if box.Empty() {
			t.Fatalf("%v: %+v is empty", rot, rect)
		}
		sin, cos := math.Sincos(rect.Degrees * math.Pi / 180)
		for y := range height {
			for x := range width {
				dx, dy := float64(x)+0.5-rect.X, float64(y)+0.5-rect.Y
				along, across := math.Abs(dx*cos-dy*sin), math.Abs(dx*sin+dy*cos)
				inside := min(rect.Width/2-along, rect.Height/2-across) // how far
				c, r := l.Cell(x, y)
				got := box.C0 <= c && c < box.C1 && box.R0 <= r && r < box.R1
				if inside > 1.01 && !got || inside < -1.01 && got {
					t.Fatalf("%v: %+v is box %v: pixel (%d,%d) is in it: %v, but %.2f inside", rot, rect, box, x, y, got, inside)
				}
			}
		}
	})
}

// TestFromCorner tests that a corner and the corresponding center give the same
// rectangle.
func TestFromCorner(t *testing.T) {
	got := rotated.FromCorner(100, 200, 80, 60, math.Atan(0.75)*180/math.Pi) // cos 0.8, sin 0.6
	if math.Abs(got.X-150) > 1e-9 || math.Abs(got.Y-200) > 1e-9 {
		t.Errorf("the center is (%v,%v), want (150,200)", got.X, got.Y)
	}
}

func TestBadRectangles(t *testing.T) {
	l, err := rotated.NewLattice(100, 80, rotated.Rotation{A: 1, B: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, rect := range []rotated.Rectangle{
		{}, {Width: 1}, {Width: -1, Height: 5}, {Width: math.NaN(), Height: 1}, {X: math.NaN(), Width: 1, Height: 1},
		{Y: math.Inf(-1), Width: 1, Height: 1}, {X: 1e30, Width: 1, Height: 1}, {Width: 1, Height: 1, Degrees: math.Inf(1)},
	} {
		if box, err := l.FromRectangle(rect); !errors.Is(err, boxsum.ErrInvalid) {
			t.Errorf("%+v is %v, %v", rect, box, err)
		}
	}
}
