package rotated_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/boxsum/boxsum/rotated"
)

func anyRotation(t *rapid.T) rotated.Rotation {
	rot := rapid.SampledFrom(ratios).Draw(t, "rotation")
	if rapid.Bool().Draw(t, "negative") {
		rot.A = -rot.A
	}
	return rot
}

// TestCells tests that every pixel has its own cell inside the bounds, and that
// every cell knows whether it has a pixel.
func TestCells(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width, height := rapid.IntRange(1, 40).Draw(t, "width"), rapid.IntRange(1, 40).Draw(t, "height")
		rot := anyRotation(t)
		l, err := rotated.NewLattice(width, height, rot)
		if err != nil {
			t.Fatal(err)
		}
		type at struct{ c, r int }
		pixels := map[at][2]int{}
		var bounds rotated.Box
		for y := range height {
			for x := range width {
				c, r := l.Cell(x, y)
				if wantC, wantR := cell(x, y, width, rot); c != wantC || r != wantR {
					t.Fatalf("%v: pixel (%d,%d) is in cell (%d,%d), want (%d,%d)", rot, x, y, c, r, wantC, wantR)
				}
				if other, ok := pixels[at{c, r}]; ok {
					t.Fatalf("%v: pixels %v and (%d,%d) share a cell", rot, other, x, y)
				}
				if len(pixels) == 0 {
					bounds = rotated.Box{C0: c, C1: c + 1, R0: r, R1: r + 1}
				}
				bounds = rotated.Box{C0: min(bounds.C0, c), C1: max(bounds.C1, c+1), R0: min(bounds.R0, r), R1: max(bounds.R1, r+1)}
				pixels[at{c, r}] = [2]int{x, y}
			}
		}
		if l.Bounds() != bounds {
			t.Fatalf("%v over %d×%d: bounds %v, want %v", rot, width, height, l.Bounds(), bounds)
		}
		for r := bounds.R0 - 2; r < bounds.R1+2; r++ {
			for c := bounds.C0 - 2; c < bounds.C1+2; c++ {
				x, y, ok := l.Point(c, r)
				p, want := pixels[at{c, r}]
				if ok != want || ok && p != [2]int{x, y} {
					t.Fatalf("%v: cell (%d,%d) has pixel (%d,%d), %v, want %v, %v", rot, c, r, x, y, ok, p, want)
				}
			}
		}
	})
}

// TestCellsOutside tests that pixels outside the image have cells that map back to
// them.
func TestCellsOutside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, err := rotated.NewLattice(30, 20, anyRotation(t))
		if err != nil {
			t.Fatal(err)
		}
		x, y := rapid.IntRange(-5000, 5000).Draw(t, "x"), rapid.IntRange(-5000, 5000).Draw(t, "y")
		c, r := l.Cell(x, y)
		gotX, gotY, ok := l.Point(c, r)
		if gotX != x || gotY != y || ok != (x >= 0 && x < 30 && y >= 0 && y < 20) {
			t.Fatalf("(%d,%d) is in cell (%d,%d), which is (%d,%d), %v", x, y, c, r, gotX, gotY, ok)
		}
		if _, _, ok := l.Point(math.MinInt, math.MaxInt); ok {
			t.Fatal("there is a pixel at the end of the world")
		}
	})
}
