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

// TestValues compares the values of features with their pixels, for all methods
// that evaluate them.
func TestValues(t *testing.T) {
	t.Run("uint32", rapid.MakeCheck(valuesProperty[int64, uint32, uint8]))
	t.Run("uint64", rapid.MakeCheck(valuesProperty[int64, uint64, uint16]))
	t.Run("int64", rapid.MakeCheck(valuesProperty[int64, int64, int16]))
	t.Run("float32", rapid.MakeCheck(valuesProperty[float64, float32, uint8]))
	t.Run("float64", rapid.MakeCheck(valuesProperty[float64, float64, float32]))
	t.Run("uint32 as float64", rapid.MakeCheck(valuesProperty[float64, uint32, uint8]))
}

func valuesProperty[V haar.Number, S boxsum.Sum, P boxsum.Pixel](t *rapid.T) {
	width, height := rapid.IntRange(1, 12).Draw(t, "width"), rapid.IntRange(1, 12).Draw(t, "height")
	channels := rapid.IntRange(1, 3).Draw(t, "channels")
	img := noise[P](width+rapid.IntRange(0, 5).Draw(t, "more"), height+rapid.IntRange(0, 5).Draw(t, "more"), channels)
	channel := rapid.IntRange(0, channels-1).Draw(t, "channel")
	plane := upright[V](t, integrate[S](t, img, nil), channel)
	at := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) image.Point {
		return image.Pt(rapid.IntRange(0, img.Width-width).Draw(t, "x"), rapid.IntRange(0, img.Height-height).Draw(t, "y"))
	}), 0, 3).Draw(t, "at")

	set := all(t, width, height, haar.Kinds()...)
	list, err := haar.NewSet(width, height, slices.Collect(set.Features())...)
	if err != nil {
		t.Fatal(err)
	}
	values, listed := guarded[V](len(at)*set.Len()), guarded[V](len(at)*set.Len())
	corrected := guarded[float64](len(at) * set.Len())
	if err := errors.Join(
		plane.Values(values, set, at, nil),
		plane.Values(listed, list, at, nil),
		plane.CorrectedValues(corrected, set, at, nil),
	); err != nil {
		t.Fatal(err)
	}
	i := 0
	for _, a := range at {
		for f := range set.Features() {
			want, wantCorrected := brute[V](img, f, a, channel)
			alone, err := plane.Value(f, a)
			if err != nil || alone != want || values[i] != want || listed[i] != want {
				t.Fatalf("%v at %v is %v, %v of all, %v of a list, want %v, %v", f, a, alone, values[i], listed[i], want, err)
			}
			c, err := plane.Corrected(f, a)
			if err != nil || c != corrected[i] || !near(c, wantCorrected) {
				t.Fatalf("%v at %v is corrected %v, %v of all, want %v, %v", f, a, c, corrected[i], wantCorrected, err)
			}
			i++
		}
	}
	unguard(t, values)
	unguard(t, listed)
	unguard(t, corrected)
}

// brute returns the value and the corrected value of a feature, by equation 4 of
// Messom and Barczak over the whole feature and its + boxes.
func brute[V haar.Number, P boxsum.Pixel](img boxsum.Image[P], f haar.Feature, at image.Point, channel int) (value V, corrected float64) {
	var sum, area float64
	for _, box := range f.Boxes() {
		s := pixels[V](img, box.Bounds.Add(at), channel)
		value += V(box.Weight) * s
		if box.Weight > 0 {
			sum += float64(s)
			area += float64(box.Bounds.Dx() * box.Bounds.Dy())
		}
	}
	whole := f.Bounds()
	return value, float64(whole.Dx()*whole.Dy())*sum/area - float64(pixels[V](img, whole.Add(at), channel))
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*(1+math.Abs(a)+math.Abs(b)) }

const guard = 77777

// guarded returns n elements followed by others that must not change.
func guarded[V haar.Number](n int) []V {
	s := make([]V, n+8)
	for i := range s[n:] {
		s[n+i] = guard
	}
	return s[:n]
}

func unguard[V haar.Number](t failer, s []V) {
	t.Helper()
	for _, v := range s[len(s) : len(s)+8] {
		if v != guard {
			t.Fatal("written past the end")
		}
	}
}

// TestWrappedTable tests that sums of boxes do not wrap if the table has wrapped
// and boxes are larger than half of uint32's range.
func TestWrappedTable(t *testing.T) {
	const width, height = 12, 12
	img := boxsum.Image[uint32]{Width: width + 2, Height: height + 2, Channels: 1, Pix: make([]uint32, (width+2)*(height+2))}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range img.Pix {
		img.Pix[i] = uint32(math.MaxUint32/(width*height)) - random.Uint32N(1000)
	}
	plane := upright[int64](t, integrate[uint32](t, img, nil), 0)
	set, at := all(t, width, height, haar.Kinds()...), []image.Point{{2, 2}}
	values := make([]int64, set.Len())
	if err := plane.Values(values, set, at, nil); err != nil {
		t.Fatal(err)
	}
	i, most := 0, int64(0)
	for f := range set.Features() {
		want, _ := brute[int64](img, f, at[0], 0)
		if alone, err := plane.Value(f, at[0]); err != nil || alone != want || values[i] != want {
			t.Fatalf("%v is %d, %d of all, want %d, %v", f, alone, values[i], want, err)
		}
		most = min(most, want)
		i++
	}
	if most > math.MinInt32 {
		t.Errorf("no value is out of reach of 32 bits, the least is %d", most)
	}
}

// TestSameBits tests that float values are bit-identical whether evaluated alone or
// with others.
func TestSameBits(t *testing.T) {
	img := boxsum.Image[float32]{Width: 19, Height: 17, Channels: 1, Pix: make([]float32, 19*17)}
	random := rand.New(rand.NewPCG(3, 4))
	for i := range img.Pix {
		img.Pix[i] = random.Float32()
	}
	set := all(t, 16, 15, haar.Kinds()...)
	for _, opt := range []*boxsum.Options{nil, {Offset: 0.5}} {
		sameBits(t, upright[float64](t, integrate[float32](t, img, opt), 0), set)
	}
	sameBits(t, upright[float64](t, integrate[float64](t, img, nil), 0), set)
	for _, rot := range []rotated.Rotation{{A: 1, B: 2}, {A: -1, B: 1}, {A: 3, B: 1}} {
		set := allRotated(t, rot, 16, 15, haar.Kinds()...)
		sameBits(t, turned[float64, float32](t, img, rot, 0), set)
		sameBits(t, turned[float64, float64](t, img, rot, 0), set)
	}
}

func sameBits[S boxsum.Sum](t *testing.T, plane *haar.Plane[float64, S], set *haar.Set) {
	at := []image.Point{{3, 2}, {0, 0}}
	values := make([]float64, len(at)*set.Len())
	if err := plane.Values(values, set, at, nil); err != nil {
		t.Fatal(err)
	}
	i := 0
	for _, a := range at {
		for f := range set.Features() {
			if alone, err := plane.Value(f, a); err != nil || alone != values[i] {
				t.Fatalf("%v is %v alone and %v of all, %v", f, alone, values[i], err)
			}
			i++
		}
	}
}

// TestOffset tests that the offset is added back, also for features with more −
// than +.
func TestOffset(t *testing.T) {
	img := noise[float32](12, 12, 1)
	plane := upright[float64](t, integrate[float32](t, img, &boxsum.Options{Offset: 64}), 0)
	set, at := all(t, 12, 12, haar.Kinds()...), []image.Point{{}}
	values, corrected := make([]float64, set.Len()), make([]float64, set.Len())
	if err := errors.Join(plane.Values(values, set, at, nil), plane.CorrectedValues(corrected, set, at, nil)); err != nil {
		t.Fatal(err)
	}
	i := 0
	for f := range set.Features() {
		want, wantCorrected := brute[float64](img, f, at[0], 0)
		if values[i] != want || !near(corrected[i], wantCorrected) {
			t.Fatalf("%v is %v, corrected %v, want %v and %v", f, values[i], corrected[i], want, wantCorrected)
		}
		i++
	}
}

// TestCorrectedFlat tests that corrected values in a flat image are 0, however
// scaling rounded.
func TestCorrectedFlat(t *testing.T) {
	img := boxsum.Image[uint8]{Width: 30, Height: 30, Pix: slices.Repeat([]uint8{200}, 900)}
	plane := upright[int64](t, integrate[uint32](t, img, nil), 0)
	set := all(t, 12, 12, haar.Kinds()...)
	for _, factor := range []float64{1, 1.25, 1.7, 2.5} {
		scaled, err := set.Scale(factor)
		if err != nil {
			t.Fatal(err)
		}
		values := make([]float64, scaled.Len())
		if err := plane.CorrectedValues(values, scaled, []image.Point{{}}, nil); err != nil {
			t.Fatal(err)
		}
		i := 0
		for f := range scaled.Features() {
			if values[i] != 0 {
				t.Fatalf("%v is %v in a flat image", f, values[i])
			}
			i++
		}
	}
}

func TestWorkersDoNotMatter(t *testing.T) {
	plane := upright[int64](t, integrate[uint32](t, noise[uint8](40, 40, 1), nil), 0)
	set := all(t, 20, 20, haar.Kinds()...)
	list, err := set.Scale(1)
	if err != nil {
		t.Fatal(err)
	}
	at := []image.Point{{0, 0}, {20, 20}, {3, 7}}
	want := make([]int64, len(at)*set.Len())
	if err := plane.Values(want, set, at, &haar.Options{Workers: 1}); err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{0, 2, 3, 8, 1000} {
		for _, s := range []*haar.Set{set, list} {
			got := make([]int64, len(want))
			if err := plane.Values(got, s, at, &haar.Options{Workers: workers}); err != nil || !slices.Equal(got, want) {
				t.Errorf("%d workers differ from one: %v", workers, err)
			}
		}
	}
}

// TestNextImage tests that a plane uses the next image that is integrated into its
// table.
func TestNextImage(t *testing.T) {
	first, second := noise[float32](8, 8, 1), noise[float32](8, 8, 1)
	for i := range second.Pix {
		second.Pix[i] = float32(i * i % 31)
	}
	table := integrate[float32](t, first, nil)
	plane := upright[float64](t, table, 0)
	if err := boxsum.IntegrateInto(table, second, &boxsum.Options{Offset: 15}); err != nil {
		t.Fatal(err)
	}
	f, err := haar.New(haar.CenterSurround, image.Rect(0, 0, 6, 6))
	if err != nil {
		t.Fatal(err)
	}
	want, _ := brute[float64](second, f, image.Pt(1, 2), 0)
	if got, err := plane.Value(f, image.Pt(1, 2)); err != nil || got != want {
		t.Errorf("got %v, want %v, %v", got, want, err)
	}
}

func TestPlaneErrors(t *testing.T) {
	table := integrate[uint32](t, noise[uint8](8, 6, 2), nil)
	short := &boxsum.Table[uint32]{Sums: make([]uint32, 5), Stride: 9, Width: 8, Height: 6, Channels: 1}
	create := func(_ any, err error) error { return err }
	for _, test := range []struct {
		err, is error
		want    string
	}{
		{create(haar.Upright[int64, uint32](nil, 0)), boxsum.ErrInvalid, "nil table"},
		{create(haar.Upright[int64](table, 2)), boxsum.ErrInvalid, "channel is 2, want 0 to 1"},
		{create(haar.Upright[int64](table, -1)), boxsum.ErrInvalid, "channel is -1, want 0 to 1"},
		{create(haar.Upright[int64](short, 0)), boxsum.ErrInvalid, "table has a buffer of 5 elements, too short for 7 rows of 9 elements with a stride of 9"},
		{create(haar.Upright[int64](&boxsum.Table[float32]{}, 0)), boxsum.ErrTypes, "values have type int64, want float64 for sums of float32"},
	} {
		if !errors.Is(test.err, test.is) || test.err.Error() != test.want {
			t.Errorf("got  %v\nwant %s", test.err, test.want)
		}
	}
}

func TestValuesErrors(t *testing.T) {
	plane := upright[int64](t, integrate[uint32](t, noise[uint8](8, 6, 1), nil), 0)
	set, at := all(t, 4, 4, haar.EdgeX), []image.Point{{0, 0}, {4, 2}}
	n := set.Len()
	var none *haar.Plane[int64, uint32]
	for _, test := range []struct {
		plane   *haar.Plane[int64, uint32]
		length  int
		set     *haar.Set
		at      []image.Point
		workers int
		want    string
	}{
		{plane, 2 * n, set, at, 0, ""},
		{plane, 0, set, nil, 0, ""},
		{plane, 0, &haar.Set{}, at, 0, ""},
		{plane, 2*n - 1, set, at, 0, fmt.Sprintf("dst has length %d, want 2×%d (%d features in each of 2 windows)", 2*n-1, n, n)},
		{plane, 2*n + 1, set, at, 0, fmt.Sprintf("dst has length %d, want 2×%d (%d features in each of 2 windows)", 2*n+1, n, n)},
		{plane, 2 * n, nil, at, 0, "nil Set (use All, AllRotated, NewSet or NewRotatedSet)"},
		{plane, 2 * n, set, at, -1, "workers is -1, want 1 or more, or 0 for one per processor"},
		{plane, n, set, []image.Point{{5, 2}}, 0, "a window of 4×4 at (5,2) is outside the image of 8×6"},
		{plane, n, set, []image.Point{{0, -1}}, 0, "a window of 4×4 at (0,-1) is outside the image of 8×6"},
		{plane, n, set, []image.Point{{math.MaxInt, 0}}, 0, fmt.Sprintf("a window of 4×4 at (%d,0) is outside the image of 8×6", math.MaxInt)},
		{none, 2 * n, set, at, 0, "zero Plane (use Upright or Rotated)"},
		{&haar.Plane[int64, uint32]{}, 2 * n, set, at, 0, "zero Plane (use Upright or Rotated)"},
	} {
		opt := &haar.Options{Workers: test.workers}
		err := test.plane.Values(make([]int64, test.length), test.set, test.at, opt)
		again := test.plane.CorrectedValues(make([]float64, test.length), test.set, test.at, opt)
		if fmt.Sprint(err) != fmt.Sprint(again) {
			t.Errorf("values give %v, corrected ones %v", err, again)
		}
		if test.want == "" && err == nil {
			continue
		}
		if !errors.Is(err, boxsum.ErrInvalid) || err.Error() != test.want {
			t.Errorf("got  %v\nwant %s", err, test.want)
		}
	}
	f, err := haar.New(haar.EdgeY, image.Rect(0, 0, 3, 2))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		f  haar.Feature
		at image.Point
	}{{f, image.Pt(6, 0)}, {f, image.Pt(0, 5)}, {f, image.Pt(-1, 0)}, {haar.Feature{}, image.Pt(0, 0)}} {
		_, err := plane.Value(test.f, test.at)
		_, again := plane.Corrected(test.f, test.at)
		if !errors.Is(err, boxsum.ErrInvalid) || !errors.Is(again, boxsum.ErrInvalid) {
			t.Errorf("%v at %v gives %v and %v", test.f, test.at, err, again)
		}
	}
}
