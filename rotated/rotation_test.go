package rotated_test

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/rotated"
)

func TestParse(t *testing.T) {
	for _, test := range []struct {
		in   string
		want rotated.Rotation
		bad  bool
		size bool // wraps ErrInvalid
	}{
		{in: "1/2", want: rotated.Rotation{A: 1, B: 2}},
		{in: "2/4", want: rotated.Rotation{A: 1, B: 2}},
		{in: "-6/4", want: rotated.Rotation{A: -3, B: 2}},
		{in: "6/-4", want: rotated.Rotation{A: -3, B: 2}},
		{in: "-1/-3", want: rotated.Rotation{A: 1, B: 3}},
		{in: "5", want: rotated.Rotation{A: 5, B: 1}},
		{in: "0/7", want: rotated.Rotation{A: 0, B: 1}},
		{in: "1073741824/2147483646", want: rotated.Rotation{A: 536870912, B: 1073741823}},
		{in: "0/0", bad: true, size: true},
		{in: "1/0", bad: true, size: true},
		{in: "4294967297/2", bad: true, size: true},
		{in: "99999999999999999999/1", bad: true, size: true},
		{in: "-9223372036854775808/1", bad: true, size: true},
		{in: "", bad: true},
		{in: "1/", bad: true},
		{in: "/2", bad: true},
		{in: "1/2/3", bad: true},
		{in: "a/b", bad: true},
		{in: "0.5", bad: true},
	} {
		got, err := rotated.Parse(test.in)
		if got != test.want || (err != nil) != test.bad || errors.Is(err, boxsum.ErrInvalid) != test.size {
			t.Errorf("Parse(%q) is %v, %v", test.in, got, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"1/2", "-3/5", "7", "0/0", "1/-0", "x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		rot, err := rotated.Parse(s)
		if err != nil {
			return
		}
		if again, err := rotated.Parse(rot.String()); err != nil || again != rot {
			t.Errorf("%q is %v, and that is %v, %v", s, rot, again, err)
		}
	})
}

// TestAngles compares angles with table 1 of Messom and Barczak, to its two digits.
func TestAngles(t *testing.T) {
	steep := []float64{45, 63.43, 71.57, 75.96, 78.69, 80.54, 81.87, 82.87, 83.66, 84.29}
	list := rotated.Angles(10)
	if len(list) != 19 {
		t.Fatalf("%d rotations", len(list))
	}
	for i, want := range steep {
		if got := list[9+i]; got != (rotated.Rotation{A: i + 1, B: 1}) || math.Abs(got.Degrees()-want) > 0.005 {
			t.Errorf("%v is %.2f°, want %v°", got, got.Degrees(), want)
		}
		if got := list[9-i]; got != (rotated.Rotation{A: 1, B: i + 1}) || math.Abs(got.Degrees()-(90-want)) > 0.0051 {
			t.Errorf("%v is %.2f°, want %v°", got, got.Degrees(), 90-want)
		}
	}
	if got := rotated.Angles(0); len(got) != 0 {
		t.Errorf("Angles(0) is %v", got)
	}
}

func TestNearest(t *testing.T) {
	for _, test := range []struct {
		degrees float64
		limit   int
		want    rotated.Rotation
	}{
		{0, 1, rotated.Rotation{A: 0, B: 1}},
		{26.57, 10, rotated.Rotation{A: 1, B: 2}},
		{-26.57, 10, rotated.Rotation{A: -1, B: 2}},
		{63.43, 10, rotated.Rotation{A: 2, B: 1}},
		{116.57, 10, rotated.Rotation{A: -2, B: 1}},
		{206.57, 10, rotated.Rotation{A: 1, B: 2}},
		{90, 10, rotated.Rotation{A: 0, B: 1}},
		{89.9, 10, rotated.Rotation{A: 0, B: 1}},
		{37, 3, rotated.Rotation{A: 2, B: 3}},
		{53, 3, rotated.Rotation{A: 3, B: 2}},
		{45, 1 << 30, rotated.Rotation{A: 1, B: 1}},
	} {
		if got, err := rotated.Nearest(test.degrees, test.limit); err != nil || got != test.want {
			t.Errorf("%v° within %d is %v, %v, want %v", test.degrees, test.limit, got, err, test.want)
		}
	}
	for _, bad := range []struct {
		degrees float64
		limit   int
	}{{math.NaN(), 5}, {math.Inf(1), 5}, {10, 0}, {10, -1}, {10, 1<<30 + 1}} {
		if _, err := rotated.Nearest(bad.degrees, bad.limit); !errors.Is(err, boxsum.ErrInvalid) {
			t.Errorf("%v° within %d: %v", bad.degrees, bad.limit, err)
		}
	}
}

// TestNearestOfAll tests that no rotation within the limit is nearer than
// Nearest's.
func TestNearestOfAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		degrees := rapid.Float64Range(-400, 400).Draw(t, "degrees")
		limit := rapid.IntRange(1, 30).Draw(t, "limit")
		got, err := rotated.Nearest(degrees, limit)
		if err != nil {
			t.Fatal(err)
		}
		// 0/1 also stands for 90°.
		off := func(rot rotated.Rotation) float64 {
			d := math.Abs(math.Remainder(degrees-rot.Degrees(), 180))
			if rot.A == 0 {
				d = min(d, math.Abs(math.Remainder(degrees-90, 180)))
			}
			return d
		}
		for a := -limit; a <= limit; a++ {
			for b := 1; b <= limit; b++ {
				if rot := (rotated.Rotation{A: a, B: b}); off(rot) < off(got)-1e-9 {
					t.Fatalf("%v° within %d is %v, but %v is nearer", degrees, limit, got, rot)
				}
			}
		}
	})
}
