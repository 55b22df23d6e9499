package haar_test

import (
	"errors"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/haar"
	"github.com/boxsum/boxsum/rotated"
	"pgregory.net/rapid"
)

// lines returns the position of a pixel on the axes of a rotation, by the
// definition: x along the rows that climb by a/b, y down across them. The lattice
// of a ratio that is not between 0 and 1 is that of the image mirrored left to
// right, or with its axes exchanged; if that is a reflection, x counts backwards.
func lines(x, y, width int, rot rotated.Rotation) image.Point {
	a, b, u, v := rot.A, rot.B, x, y
	mirror, exchange := a < 0, max(a, -a) > b
	if mirror {
		a, u = -a, width-1-x
	}
	if exchange {
		a, b, u, v = b, a, v, u
	}
	floor := func(n int) int { return int(math.Floor(float64(n) / float64(b))) }
	r, c := v+floor(a*u), u-floor(a*v)
	if mirror != exchange {
		c = -c
	}
	return image.Pt(c, r)
}

// bruteRotated returns the value and the corrected value of a feature, and whether
// all of its pixels are in the image. It tests the position of each pixel of the
// image and of a wide margin.
func bruteRotated[V haar.Number, P boxsum.Pixel](img boxsum.Image[P], rot rotated.Rotation, f haar.Feature, at image.Point, channel int) (value V, corrected float64, inside bool) {
	start := lines(at.X, at.Y, img.Width, rot)
	bounds := f.Bounds()
	margin := bounds.Dx() + bounds.Dy() + 2
	inside = true
	var plus, minus V
	var plusArea, minusArea int
	for y := -margin; y < img.Height+margin; y++ {
		for x := -margin; x < img.Width+margin; x++ {
			p := lines(x, y, img.Width, rot).Sub(start)
			if !p.In(bounds) {
				continue
			}
			if x < 0 || y < 0 || x >= img.Width || y >= img.Height {
				inside = false
				continue
			}
			pixel := V(img.Pix[(y*img.Width+x)*img.Channels+channel])
			for _, box := range f.Boxes() {
				switch {
				case !p.In(box.Bounds):
				case box.Weight > 0:
					plus += V(box.Weight) * pixel
					plusArea += box.Weight
				default:
					minus -= V(box.Weight) * pixel
					minusArea -= box.Weight
				}
			}
		}
	}
	if plusArea > 0 {
		corrected = float64(minusArea)*float64(plus)/float64(plusArea) - float64(minus)
	}
	return plus - minus, corrected, inside
}

func turned[V haar.Number, S boxsum.Sum, P boxsum.Pixel](t failer, img boxsum.Image[P], rot rotated.Rotation, channel int) *haar.Plane[V, S] {
	t.Helper()
	table, err := rotated.Integrate[S](img, rot, nil)
	if err != nil {
		t.Fatal(err)
	}
	plane, err := haar.Rotated[V](table, channel)
	if err != nil {
		t.Fatal(err)
	}
	return plane
}

func allRotated(t failer, rot rotated.Rotation, width, height int, kinds ...haar.Kind) *haar.Set {
	t.Helper()
	set, err := haar.AllRotated(rot, width, height, kinds...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// TestRotatedValues compares random features, in all four quadrants, with their
// pixels, and tests that features that leave the image are errors.
func TestRotatedValues(t *testing.T) {
	for _, quadrant := range []struct {
		name            string
		steep, negative bool
	}{{"0 to 45°", false, false}, {"45 to 90°", true, false}, {"0 to −45°", false, true}, {"−45 to −90°", true, true}} {
		t.Run(quadrant.name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(1, 2))
			values := 0
			for i := 0; values < 2000; i++ {
				rot := rotated.Rotation{A: 1 + random.IntN(9), B: 1 + random.IntN(9)}
				if i%2 == 0 {
					rot = []rotated.Rotation{{A: 1, B: 1}, {A: 1, B: 2}, {A: 2, B: 3}, {A: 3, B: 5}, {A: 1, B: 10}, {A: 1, B: 5}}[i/2%6]
				}
				if (rot.A > rot.B) != quadrant.steep {
					rot.A, rot.B = rot.B, rot.A
				}
				if quadrant.negative {
					rot.A = -rot.A
				}
				values += someValues(t, random, rot)
			}
		})
	}
}

// someValues tests random features in an image and returns how many were inside it.
func someValues(t *testing.T, random *rand.Rand, rot rotated.Rotation) (inside int) {
	img := noise[uint8](1+random.IntN(24), 1+random.IntN(24), 1+random.IntN(2))
	channel := random.IntN(img.Channels)
	plane := turned[int64, uint32](t, img, rot, channel)
	reduced, err := rot.Reduce()
	if err != nil {
		t.Fatal(err)
	}
	for range 12 {
		kind := haar.Kinds()[random.IntN(len(haar.Kinds()))]
		across, down := kind.Cells()
		x, y := random.IntN(9)-4, random.IntN(9)-4
		f, err := haar.New(kind, image.Rect(x, y, x+across*(1+random.IntN(4)), y+down*(1+random.IntN(4))))
		if err != nil {
			t.Fatal(err)
		}
		at := image.Pt(random.IntN(img.Width), random.IntN(img.Height))
		want, wantCorrected, in := bruteRotated[int64](img, reduced, f, at, channel)
		got, err := plane.Value(f, at)
		corrected, again := plane.Corrected(f, at)
		if !in {
			if !errors.Is(err, boxsum.ErrInvalid) || !errors.Is(again, boxsum.ErrInvalid) {
				t.Fatalf("%v along %v at %v leaves %d×%d: got %d, %v", f, rot, at, img.Width, img.Height, got, err)
			}
			continue
		}
		inside++
		if err != nil || again != nil || got != want || corrected != wantCorrected {
			t.Fatalf("%v along %v at %v of %d×%d is %d, corrected %v, want %d and %v, %v",
				f, rot, at, img.Width, img.Height, got, corrected, want, wantCorrected, errors.Join(err, again))
		}
	}
	return inside
}

// TestRotatedSets tests that all methods that evaluate the features of a window
// agree with the pixels, and that features of an upright window never leave it.
func TestRotatedSets(t *testing.T) {
	t.Run("uint32", rapid.MakeCheck(rotatedSetsProperty[int64, uint32, uint8]))
	t.Run("int64", rapid.MakeCheck(rotatedSetsProperty[int64, int64, int16]))
	t.Run("float64", rapid.MakeCheck(rotatedSetsProperty[float64, float64, float32]))
}

func rotatedSetsProperty[V haar.Number, S boxsum.Sum, P boxsum.Pixel](t *rapid.T) {
	rot := someRotation(t)
	width, height := rapid.IntRange(1, 7).Draw(t, "width"), rapid.IntRange(1, 7).Draw(t, "height")
	img := noise[P](width+rapid.IntRange(0, 16).Draw(t, "more"), height+rapid.IntRange(0, 16).Draw(t, "more"), 1)
	plane := turned[V, S](t, img, rot, 0)
	var upright []image.Point
	for range rapid.IntRange(0, 2).Draw(t, "windows") {
		upright = append(upright, image.Pt(rapid.IntRange(0, img.Width-width).Draw(t, "x"), rapid.IntRange(0, img.Height-height).Draw(t, "y")))
	}
	checkSet(t, plane, img, rot, allRotated(t, rot, width, height, haar.Kinds()...), upright)

	// A window along the lines, wherever all of it is in the image.
	set := all(t, width, height, haar.Kinds()...)
	var along []image.Point
	for _, at := range []image.Point{{img.Width / 2, img.Height / 2}, {img.Width / 3, img.Height - 1}, {0, img.Height / 2}} {
		if err := plane.Values(make([]V, set.Len()), set, []image.Point{at}, nil); err == nil {
			along = append(along, at)
		} else if !errors.Is(err, boxsum.ErrInvalid) {
			t.Fatal(err)
		}
	}
	checkSet(t, plane, img, rot, set, along)
}

func someRotation(t *rapid.T) rotated.Rotation {
	rot, err := rotated.Rotation{A: rapid.IntRange(-5, 5).Draw(t, "a"), B: rapid.IntRange(1, 5).Draw(t, "b")}.Reduce()
	if err != nil {
		t.Fatal(err)
	}
	return rot
}

func checkSet[V haar.Number, S boxsum.Sum, P boxsum.Pixel](t *rapid.T, plane *haar.Plane[V, S], img boxsum.Image[P], rot rotated.Rotation, set *haar.Set, at []image.Point) {
	t.Helper()
	features := slices.Collect(set.Features())
	if len(features) != set.Len() {
		t.Fatalf("%d features of %d", len(features), set.Len())
	}
	width, height := set.Window()
	list, err := haar.NewSet(width, height, features...)
	if set.Rotation() == rot {
		list, err = haar.NewRotatedSet(rot, width, height, features...)
	}
	if err != nil {
		t.Fatal(err)
	}
	few := features[:min(2, len(features))] // too few to share entries
	short, err := haar.NewRotatedSet(set.Rotation(), width, height, few...)
	if err != nil {
		t.Fatal(err)
	}
	n := len(at) * set.Len()
	values, listed, alone := guarded[V](n), guarded[V](n), guarded[V](len(at)*len(few))
	corrected, correctedAlone := guarded[float64](n), guarded[float64](len(at)*len(few))
	if err := errors.Join(
		plane.Values(values, set, at, nil),
		plane.Values(listed, list, at, nil),
		plane.Values(alone, short, at, nil),
		plane.CorrectedValues(corrected, set, at, nil),
		plane.CorrectedValues(correctedAlone, short, at, nil),
	); err != nil {
		t.Fatal(err)
	}
	for w, a := range at {
		for i, f := range features {
			j := w*set.Len() + i
			want, wantCorrected, inside := bruteRotated[V](img, rot, f, a, 0)
			if !inside {
				t.Fatalf("%v along %v at %v leaves %d×%d", f, rot, a, img.Width, img.Height)
			}
			if values[j] != want || listed[j] != want || !near(corrected[j], wantCorrected) {
				t.Fatalf("%v along %v at %v is %v, %v of a list, corrected %v, want %v and %v", f, rot, a, values[j], listed[j], corrected[j], want, wantCorrected)
			}
			one, err := plane.Value(f, a)
			if err != nil || one != want {
				t.Fatalf("%v along %v at %v is %v alone, want %v, %v", f, rot, a, one, want, err)
			}
			if i < len(few) && (alone[w*len(few)+i] != want || correctedAlone[w*len(few)+i] != corrected[j]) {
				t.Fatalf("%v along %v at %v is %v with few others, want %v", f, rot, a, alone[w*len(few)+i], want)
			}
		}
	}
	for _, s := range [][]V{values, listed, alone} {
		unguard(t, s)
	}
	unguard(t, corrected)
}

// TestAllRotatedByBruteForce compares AllRotated with trying every position and
// size in every window of a larger image: b×b neighboring windows contain all
// positions of digital lines.
func TestAllRotatedByBruteForce(t *testing.T) {
	for _, rot := range []rotated.Rotation{
		{A: 1, B: 1}, {A: 1, B: 2}, {A: 2, B: 3}, {A: 3, B: 4}, {A: 1, B: 5}, {A: -1, B: 1}, {A: -2, B: 3}, {A: 2, B: 1}, {A: -3, B: 1}, {A: 5, B: 2},
	} {
		for _, size := range []image.Point{{1, 1}, {5, 5}, {7, 4}, {3, 8}} {
			kinds := haar.Kinds()
			got, want := slices.Collect(allRotated(t, rot, size.X, size.Y, kinds...).Features()), everyRotated(t, rot, size, kinds)
			if !slices.Equal(got, want) {
				t.Errorf("%v in %v: %d features, want %d", rot, size, len(got), len(want))
			}
		}
	}
}

func everyRotated(t *testing.T, rot rotated.Rotation, size image.Point, kinds []haar.Kind) (features []haar.Feature) {
	reach := size.X + size.Y
	cells := func(p image.Point) int { return p.Y*4*reach + p.X }
	from := image.Pt(2*reach, 2*reach)
	outside := map[int]bool{} // cells that pixels outside of a window have
	period := max(rot.A, -rot.A, rot.B)
	for wy := range period {
		for wx := range period {
			start := lines(wx, wy, 1, rot)
			for y := -2 * reach; y < 3*reach; y++ {
				for x := -2 * reach; x < 3*reach; x++ {
					if p := image.Pt(x, y); !p.In(image.Rectangle{Max: size}) {
						if l := lines(wx+x, wy+y, 1, rot).Sub(start).Add(from); l.In(image.Rect(0, 0, 4*reach, 4*reach)) {
							outside[cells(l)] = true
						}
					}
				}
			}
		}
	}
	holds := func(b image.Rectangle) bool {
		for y := b.Min.Y; y < b.Max.Y; y++ {
			for x := b.Min.X; x < b.Max.X; x++ {
				if outside[cells(image.Pt(x, y).Add(from))] {
					return false
				}
			}
		}
		return true
	}
	for _, k := range kinds {
		across, down := k.Cells()
		for y := -reach; y < reach; y++ {
			for x := -reach; x < reach; x++ {
				for dy := 1; y+down*dy <= reach; dy++ {
					for dx := 1; x+across*dx <= reach; dx++ {
						bounds := image.Rect(x, y, x+across*dx, y+down*dy)
						if dx*dy == 1 || !holds(bounds) {
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

// TestAllRotatedUpright tests that AllRotated without rotation equals All.
func TestAllRotatedUpright(t *testing.T) {
	set := allRotated(t, rotated.Rotation{A: 0, B: 7}, 24, 24, haar.ViolaJones()...)
	if set.Len() != 162_336 || set.Rotation() != (rotated.Rotation{A: 0, B: 1}) {
		t.Errorf("%d features along %v", set.Len(), set.Rotation())
	}
}

// TestLienhartMaydt compares counts with those of Lienhart and Maydt:
// X·Y·(W+1−w(X+1)/2)·(H+1−h(Y+1)/2) upright features of w×h cells and
// X·Y·(W+1−z(X+1)/2)·(H+1−z(Y+1)/2) at 45°, where z is w+h. These are their figures
// for 24×24, except for 20,736, 3,600 and 1,521 in their table, which do not follow
// from their formulas.
func TestLienhartMaydt(t *testing.T) {
	count := func(w, h int) int {
		x, y := 24/w, 24/h
		return x * y * (50 - w*(x+1)) * (50 - h*(y+1)) / 4
	}
	for _, test := range []struct {
		kind               haar.Kind
		upright, at45, fit int
	}{
		{haar.EdgeX, 43_200, 8_464, 12_650},
		{haar.EdgeY, 43_200, 8_464, 12_650},
		{haar.LineX, 27_600, 4_356, 7_700},
		{haar.LineY, 27_600, 4_356, 7_700},
		{haar.LineX4, 19_800, 2_500, 5_250},
		{haar.LineY4, 19_800, 2_500, 5_250},
		{haar.Diagonal, 20_736, 4_356, 5_786},
		{haar.CenterSurround, 8_464, 1_600, 2_128},
	} {
		across, down := test.kind.Cells()
		if got := all(t, 24, 24, test.kind).Len(); got != count(across, down) || got != test.upright {
			t.Errorf("%v: %d features, %d by the formula, want %d", test.kind, got, count(across, down), test.upright)
		}
		// By their formula the two sides of the square about a feature of 45°
		// grow apart, which they cannot do.
		if got := count(across+down, across+down); got != test.at45 {
			t.Errorf("%v: %d features of 45° by the formula, want %d", test.kind, got, test.at45)
		}
		if got := likeOpenCV(t, test.kind); got != test.fit {
			t.Errorf("%v: %d features of 45°, OpenCV has %d", test.kind, got, test.fit)
		}
	}
}

// likeOpenCV returns the number of features along 1/1 that OpenCV's cascade trainer
// has in 24×24, or would have of Diagonal and CenterSurround. The sides of its
// tilted cells are an even number of lines, the pair of pixels at the top of each
// lies upright, and it omits the last column.
func likeOpenCV(t *testing.T, kind haar.Kind) (n int) {
	across, down := kind.Cells()
	for f := range allRotated(t, rotated.Rotation{A: 1, B: 1}, 23, 24, kind).Features() {
		b := f.Bounds()
		if b.Dx()/across%2 == 0 && b.Dy()/down%2 == 0 && (b.Min.X+b.Min.Y)%2 != 0 {
			n++
		}
	}
	return n
}

// TestRotatedScale tests that a scaled set stays inside its window along every
// rotation, and that its corrected values in a flat image are 0.
func TestRotatedScale(t *testing.T) {
	img := boxsum.Image[uint8]{Width: 50, Height: 50, Pix: slices.Repeat([]uint8{200}, 2500)}
	rapid.Check(t, func(t *rapid.T) {
		rot := someRotation(t)
		set := allRotated(t, rot, rapid.IntRange(1, 9).Draw(t, "width"), rapid.IntRange(1, 9).Draw(t, "height"), haar.Kinds()...)
		scaled, err := set.Scale(rapid.Float64Range(1, 4).Draw(t, "factor"))
		if err != nil {
			t.Fatal(err)
		}
		w, h := scaled.Window()
		if _, err := haar.NewRotatedSet(rot, w, h, slices.Collect(scaled.Features())...); err != nil || scaled.Rotation() != set.Rotation() {
			t.Fatal(err)
		}
		at := []image.Point{{rapid.IntRange(0, 50-w).Draw(t, "x"), rapid.IntRange(0, 50-h).Draw(t, "y")}}
		values := make([]float64, scaled.Len())
		if err := turned[int64, uint32](t, img, rot, 0).CorrectedValues(values, scaled, at, nil); err != nil {
			t.Fatal(err)
		}
		for i, v := range values {
			if v != 0 {
				t.Fatalf("feature %d along %v is %v in a flat image", i, rot, v)
			}
		}
	})
}

func TestRotatedWorkersDoNotMatter(t *testing.T) {
	rot := rotated.Rotation{A: -2, B: 3}
	plane := turned[int64, uint32](t, noise[uint8](60, 60, 1), rot, 0)
	set := allRotated(t, rot, 20, 20, haar.Kinds()...)
	at := []image.Point{{0, 0}, {20, 20}, {3, 7}, {40, 40}}
	want := make([]int64, len(at)*set.Len())
	if err := plane.Values(want, set, at, &haar.Options{Workers: 1}); err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{0, 2, 3, 100} {
		got := make([]int64, len(want))
		if err := plane.Values(got, set, at, &haar.Options{Workers: workers}); err != nil || !slices.Equal(got, want) {
			t.Errorf("%d workers differ from one: %v", workers, err)
		}
	}
}

func TestRotatedErrors(t *testing.T) {
	half := rotated.Rotation{A: 1, B: 2}
	table, err := rotated.Integrate[uint32](noise[uint8](20, 16, 1), half, nil)
	if err != nil {
		t.Fatal(err)
	}
	floats, err := rotated.Integrate[float64](noise[float32](20, 16, 1), half, nil)
	if err != nil {
		t.Fatal(err)
	}
	plane, err := haar.Rotated[int64](table, 0)
	if err != nil {
		t.Fatal(err)
	}
	create := func(_ any, err error) error { return err }
	values := func(set *haar.Set, at image.Point) error {
		return plane.Values(make([]int64, set.Len()), set, []image.Point{at}, nil)
	}
	edge, err := haar.New(haar.EdgeX, image.Rect(0, 0, 4, 2))
	if err != nil {
		t.Fatal(err)
	}
	far, err := haar.New(haar.EdgeX, image.Rect(1<<29, 0, 1<<30, 1))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		err  error
		want string
	}{
		{create(haar.Rotated[int64, uint32](nil, 0)), "nil table"},
		{create(haar.Rotated[int64](&rotated.Table[uint32]{}, 0)), "nil table"},
		{create(haar.Rotated[int64](table, 1)), "channel is 1, want 0 to 0"},
		{create(haar.Rotated[int64](floats, 0)), "values have type int64, want float64 for sums of float64"},
		{create(haar.AllRotated(rotated.Rotation{}, 24, 24, haar.EdgeX)), "rotation is 0/0, want a second number other than 0 (a quarter turn is 0/1 with the sides of boxes exchanged)"},
		{create(haar.AllRotated(rotated.Rotation{A: math.MaxInt, B: 2}, 24, 24, haar.EdgeX)), fmt.Sprintf("rotation is %d/2, want terms of at most 1073741824", math.MaxInt)},
		{create(haar.AllRotated(half, 0, 24, haar.EdgeX)), "window is 0×24 pixels, want sides of 1 to 2147483647"},
		{create(haar.AllRotated(half, 1<<21, 24, haar.EdgeX)), "window is 2097152×24 pixels for features along 1/2, want sides of at most 1048576"},
		{create(haar.AllRotated(half, 5000, 24, haar.EdgeX)), "window is 5000×24 pixels along 1/2, want sides of at most 4096 to list all features"},
		{create(haar.AllRotated(half, 24, 24)), "no kinds of features, want at least one"},
		{create(haar.NewRotatedSet(half, 4, 4, edge)), "feature 0 is EdgeX (0,0)-(4,2), want bounds inside the window of 4×4 pixels along 1/2"},
		{values(allRotated(t, half, 8, 8, haar.EdgeX), image.Pt(13, 0)), "a window of 8×8 pixels along 1/2 at (13,0) is outside the image of 20×16"},
		{values(allRotated(t, half, 8, 8, haar.EdgeX), image.Pt(math.MaxInt, 0)), fmt.Sprintf("a window of 8×8 pixels along 1/2 at (%d,0) is outside the image of 20×16", math.MaxInt)},
		{values(allRotated(t, rotated.Rotation{A: 1, B: 1}, 8, 8, haar.EdgeX), image.Pt(0, 0)), "features are along 1/1, want 1/2 like the plane"},
		{values(all(t, 8, 8, haar.EdgeX), image.Pt(0, 0)), "a window of 8×8 at (0,0) along 1/2 is outside the image of 20×16"},
		{create(plane.Value(edge, image.Pt(19, 2))), "EdgeX (0,0)-(4,2) at (19,2) along 1/2 is outside the image of 20×16"},
		{create(plane.Value(edge, image.Pt(-1, math.MinInt))), fmt.Sprintf("EdgeX (0,0)-(4,2) at (-1,%d) along 1/2 is outside the image of 20×16", math.MinInt)},
		{create(plane.Value(far, image.Pt(3, 3))), "EdgeX (536870912,0)-(1073741824,1) at (3,3) along 1/2 is outside the image of 20×16"},
	} {
		if test.err == nil || test.err.Error() != test.want || !errors.Is(test.err, boxsum.ErrInvalid) && !errors.Is(test.err, boxsum.ErrTypes) {
			t.Errorf("got  %v\nwant %s", test.err, test.want)
		}
	}
}

// TestRotatedAllocates tests that evaluating single features does not allocate.
func TestRotatedAllocates(t *testing.T) {
	plane := turned[int64, uint32](t, noise[uint8](20, 16, 1), rotated.Rotation{A: 1, B: 2}, 0)
	f, err := haar.New(haar.CenterSurround, image.Rect(0, 0, 6, 3))
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(10, func() { _, _ = plane.Corrected(f, image.Pt(5, 8)) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
