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

// TestKnownCounts tests the numbers of features. That of the five kinds in 24×24 is
// well known. The others follow from Lienhart and Maydt: a kind of a×b cells has
// X·Y·(W+1−a(X+1)/2)·(H+1−b(Y+1)/2) features, with X = ⌊W/a⌋ and Y = ⌊H/b⌋.
func TestKnownCounts(t *testing.T) {
	for _, test := range []struct {
		width, height int
		kinds         []haar.Kind
		want          int
	}{
		{24, 24, haar.ViolaJones(), 162_336},
		{24, 24, []haar.Kind{haar.EdgeX}, 43_200},
		{24, 24, []haar.Kind{haar.EdgeY}, 43_200},
		{24, 24, []haar.Kind{haar.LineX}, 27_600},
		{24, 24, []haar.Kind{haar.LineY}, 27_600},
		{24, 24, []haar.Kind{haar.LineX4}, 19_800},
		{24, 24, []haar.Kind{haar.LineY4}, 19_800},
		{24, 24, []haar.Kind{haar.Diagonal}, 20_736},
		{24, 24, []haar.Kind{haar.CenterSurround}, 8_464},
		{24, 24, haar.LienhartMaydt(), 189_664},
		{24, 24, haar.Kinds(), 210_400},
		{1, 1, haar.Kinds(), 0},
		{2, 1, haar.Kinds(), 1},
		{200, 200, haar.ViolaJones(), 768_646_600},
	} {
		if got := all(t, test.width, test.height, test.kinds...).Len(); got != test.want {
			t.Errorf("%d×%d has %d features of %v, want %d", test.width, test.height, got, test.kinds, test.want)
		}
	}
}

// everyFeature returns the features that fit, of all positions and sizes.
func everyFeature(t failer, width, height int, kinds []haar.Kind) (features []haar.Feature) {
	for _, k := range kinds {
		across, down := k.Cells()
		for y := range height {
			for x := range width {
				for dy := 1; dy <= height; dy++ {
					for dx := 1; dx <= width; dx++ {
						bounds := image.Rect(x, y, x+across*dx, y+down*dy)
						if !bounds.In(image.Rect(0, 0, width, height)) {
							continue
						}
						f, err := haar.New(k, bounds)
						if err != nil {
							t.Fatal(err)
						}
						features = append(features, f)
					}
				}
			}
		}
	}
	return features
}

func TestAllListsEveryFeatureInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width, height := rapid.IntRange(1, 13).Draw(t, "width"), rapid.IntRange(1, 13).Draw(t, "height")
		kinds := rapid.SliceOfN(rapid.SampledFrom(haar.Kinds()), 1, 3).Draw(t, "kinds")
		set := all(t, width, height, kinds...)
		got, want := slices.Collect(set.Features()), everyFeature(t, width, height, kinds)
		if !slices.Equal(got, want) || set.Len() != len(want) {
			t.Fatalf("got %d features, Len %d, want %d: %v", len(got), set.Len(), len(want), got)
		}
		stop := rapid.IntRange(0, len(want)).Draw(t, "stop")
		for f := range set.Features() {
			if stop--; stop < 0 {
				break
			}
			_ = f
		}
	})
}

func TestNewSetKeepsItsList(t *testing.T) {
	features := everyFeature(t, 9, 9, haar.Kinds()) // of more than one piece
	set, err := haar.NewSet(9, 10, features...)
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Clone(features)
	clear(features)
	if got := slices.Collect(set.Features()); !slices.Equal(got, want) || set.Len() != len(want) {
		t.Errorf("got %d features, want %d", len(got), len(want))
	}
	if w, h := set.Window(); w != 9 || h != 10 {
		t.Errorf("the window is %d×%d", w, h)
	}
}

func TestSetErrors(t *testing.T) {
	edge, err := haar.New(haar.EdgeX, image.Rect(1, 2, 5, 4))
	if err != nil {
		t.Fatal(err)
	}
	make := func(s *haar.Set, err error) error {
		if (s == nil) == (err == nil) {
			t.Errorf("set %v with error %v", s, err)
		}
		return err
	}
	tiny := all(t, 4, 4, haar.EdgeX)
	for _, test := range []struct {
		err  error
		want string
	}{
		{make(haar.All(0, 4, haar.EdgeX)), "window is 0×4 pixels, want sides of 1 to 2147483647"},
		{make(haar.All(4, -1, haar.EdgeX)), "window is 4×-1 pixels, want sides of 1 to 2147483647"},
		{make(haar.All(4, 4)), "no kinds of features, want at least one"},
		{make(haar.All(4, 4, 0)), "unknown Kind(0), want one that Kinds lists"},
		{make(haar.All(4, 4, haar.EdgeX, 9)), "unknown Kind(9), want one that Kinds lists"},
		{make(haar.All(math.MaxInt32, math.MaxInt32, haar.EdgeX)), "window is 2147483647×2147483647, which has more features than an int can count (use a smaller window)"},
		{make(haar.NewSet(math.MinInt, 4)), fmt.Sprintf("window is %d×4 pixels, want sides of 1 to 2147483647", math.MinInt)},
		{make(haar.NewSet(4, 4, haar.Feature{})), "feature 0 is the zero Feature (use New)"},
		{make(haar.NewSet(4, 4, edge)), "feature 0 is EdgeX (1,2)-(5,4), want bounds inside the window of 4×4"},
		{make(haar.NewSet(5, 3, edge)), "feature 0 is EdgeX (1,2)-(5,4), want bounds inside the window of 5×3"},
		{make(tiny.Scale(0)), "factor is 0, want a positive finite number"},
		{make(tiny.Scale(0.5)), "factor is 0.5, too small for EdgeX (0,0)-(2,1): one of its boxes would be empty"},
		{make(tiny.Scale(1e9)), "factor is 1e+09, too large for coordinate 4: want at most 1073741824 after scaling"},
	} {
		if !errors.Is(test.err, boxsum.ErrInvalid) || test.err.Error() != test.want {
			t.Errorf("got  %v\nwant %s", test.err, test.want)
		}
	}
	if math.MaxInt == math.MaxInt32 {
		return // no set of all features is too large for a list
	}
	huge, err := haar.All(1<<20, 1<<10, haar.EdgeX)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := huge.Scale(2); !errors.Is(err, boxsum.ErrMemory) {
		t.Errorf("a list that no memory holds gives %v", err)
	}
}
