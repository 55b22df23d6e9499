package haar_test

import (
	"errors"
	"fmt"
	"image"
	"math"
	"slices"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/haar"
	"pgregory.net/rapid"
)

func TestBoxes(t *testing.T) {
	for _, test := range []struct {
		kind   haar.Kind
		bounds image.Rectangle
		want   []haar.Box
	}{
		{haar.EdgeX, image.Rect(1, 2, 7, 3), []haar.Box{{image.Rect(1, 2, 4, 3), -1}, {image.Rect(4, 2, 7, 3), 1}}},
		{haar.EdgeY, image.Rect(1, 2, 7, 4), []haar.Box{{image.Rect(1, 2, 7, 3), -1}, {image.Rect(1, 3, 7, 4), 1}}},
		{haar.LineX, image.Rect(0, 0, 6, 1), []haar.Box{{image.Rect(0, 0, 2, 1), -1}, {image.Rect(2, 0, 4, 1), 1}, {image.Rect(4, 0, 6, 1), -1}}},
		{haar.LineY, image.Rect(0, 0, 1, 6), []haar.Box{{image.Rect(0, 0, 1, 2), -1}, {image.Rect(0, 2, 1, 4), 1}, {image.Rect(0, 4, 1, 6), -1}}},
		{haar.LineX4, image.Rect(0, 0, 8, 1), []haar.Box{{image.Rect(0, 0, 2, 1), -1}, {image.Rect(2, 0, 6, 1), 1}, {image.Rect(6, 0, 8, 1), -1}}},
		{haar.LineY4, image.Rect(0, 0, 1, 8), []haar.Box{{image.Rect(0, 0, 1, 2), -1}, {image.Rect(0, 2, 1, 6), 1}, {image.Rect(0, 6, 1, 8), -1}}},
		{haar.Diagonal, image.Rect(0, 0, 2, 4), []haar.Box{
			{image.Rect(0, 0, 1, 2), -1}, {image.Rect(1, 0, 2, 2), 1}, {image.Rect(1, 2, 2, 4), -1}, {image.Rect(0, 2, 1, 4), 1}}},
		{haar.CenterSurround, image.Rect(0, 0, 6, 3), []haar.Box{{image.Rect(0, 0, 6, 3), -1}, {image.Rect(2, 1, 4, 2), 2}}},
	} {
		f, err := haar.New(test.kind, test.bounds)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Boxes(); !slices.Equal(got, test.want) || f.Bounds() != test.bounds || f.Kind() != test.kind {
			t.Errorf("%v has boxes %v, want %v", f, got, test.want)
		}
	}
}

func TestZeroFeature(t *testing.T) {
	var f haar.Feature
	if _, err := f.Scale(2); f.Boxes() != nil || !f.Bounds().Empty() || !errors.Is(err, boxsum.ErrInvalid) {
		t.Errorf("the zero Feature is %v with boxes %v, scaled %v", f, f.Boxes(), err)
	}
	if x, y := haar.Kind(0).Cells(); x != 0 || y != 0 {
		t.Errorf("no kind has %d×%d cells", x, y)
	}
}

func TestNewErrors(t *testing.T) {
	for _, test := range []struct {
		kind   haar.Kind
		bounds image.Rectangle
		want   string
	}{
		{0, image.Rect(0, 0, 2, 2), "unknown Kind(0), want one that Kinds lists"},
		{haar.EdgeX, image.Rect(-2<<30, 0, 2, 2), "EdgeX has bounds (-2147483648,0)-(2,2), want coordinates from -1073741824 to 1073741824"},
		{haar.EdgeX, image.Rect(0, 0, 2, math.MaxInt), fmt.Sprintf("EdgeX has bounds (0,0)-(2,%d), want coordinates from -1073741824 to 1073741824", math.MaxInt)},
		{haar.EdgeX, image.Rect(0, 0, 3, 2), "EdgeX has bounds (0,0)-(3,2), want a size that is a multiple of 2×1 pixels"},
		{haar.LineY4, image.Rect(0, 0, 3, 6), "LineY4 has bounds (0,0)-(3,6), want a size that is a multiple of 1×4 pixels"},
		{haar.Diagonal, image.Rect(4, 4, 4, 6), "Diagonal has bounds (4,4)-(4,6), want a size that is a multiple of 2×2 pixels"},
		{haar.Diagonal, image.Rectangle{Min: image.Pt(4, 4), Max: image.Pt(2, 2)}, "Diagonal has bounds (4,4)-(2,2), want a size that is a multiple of 2×2 pixels"},
	} {
		_, err := haar.New(test.kind, test.bounds)
		if !errors.Is(err, boxsum.ErrInvalid) || err.Error() != test.want {
			t.Errorf("got  %v\nwant %s", err, test.want)
		}
	}
}

func TestScale(t *testing.T) {
	line, err := haar.New(haar.LineX, image.Rect(1, 1, 7, 3))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		factor float64
		lines  [4]int // left to right
		y      [2]int
	}{
		{1, [4]int{1, 3, 5, 7}, [2]int{1, 3}},
		{1.25, [4]int{1, 4, 6, 9}, [2]int{1, 4}}, // 1.25, 3.75, 6.25, 8.75
		{1.5, [4]int{2, 5, 8, 11}, [2]int{2, 5}}, // halves go up
		{2, [4]int{2, 6, 10, 14}, [2]int{2, 6}},
		{0.5, [4]int{1, 2, 3, 4}, [2]int{1, 2}},
	} {
		f, err := line.Scale(test.factor)
		if err != nil {
			t.Fatal(err)
		}
		for i, box := range f.Boxes() {
			if want := image.Rect(test.lines[i], test.y[0], test.lines[i+1], test.y[1]); box.Bounds != want {
				t.Errorf("box %d of %v scaled by %v is %v, want %v", i, line, test.factor, box.Bounds, want)
			}
		}
	}
	for _, factor := range []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1), 0.2, 1e300, math.SmallestNonzeroFloat64} {
		if f, err := line.Scale(factor); !errors.Is(err, boxsum.ErrInvalid) || f != (haar.Feature{}) {
			t.Errorf("scaled by %v: %v, %v", factor, f, err)
		}
	}
}

// TestScaledSet tests that a scaled set stays inside its window, and that the boxes
// of a feature still meet.
func TestScaledSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width, height := rapid.IntRange(1, 8).Draw(t, "width"), rapid.IntRange(1, 8).Draw(t, "height")
		set := all(t, width, height, haar.Kinds()...)
		scaled, err := set.Scale(rapid.Float64Range(1, 5).Draw(t, "factor"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := haar.NewSet(int(first(scaled.Window())), second(scaled.Window()), slices.Collect(scaled.Features())...); err != nil {
			t.Fatal(err)
		}
		for f := range scaled.Features() {
			area := 0
			for _, box := range f.Boxes() {
				area += box.Bounds.Dx() * box.Bounds.Dy()
				if box.Bounds.Empty() || !box.Bounds.In(f.Bounds()) {
					t.Fatalf("%v has boxes %v", f, f.Boxes())
				}
			}
			if whole := f.Bounds().Dx() * f.Bounds().Dy(); f.Kind() != haar.CenterSurround && area != whole {
				t.Fatalf("%v has boxes of %d pixels together", f, area)
			}
		}
	})
}

func first(a, _ int) int  { return a }
func second(_, b int) int { return b }
