package rotated_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/fixture"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/rotated"
	"pgregory.net/rapid"
)

// ratios are unit ratios and general ones of every kind, to be used with either
// sign.
var ratios = []rotated.Rotation{
	{0, 1}, {1, 1}, {1, 2}, {1, 3}, {1, 10}, {1, 1000}, {2, 3}, {3, 5}, {7, 11}, {99, 100}, {4, 6},
	{2, 1}, {5, 1}, {3, 2}, {10, 1}, {1000, 1}, {100, 99}, {1 << 30, 1}, {1, 1 << 30}, {1<<30 - 1, 1 << 30},
}

// cell returns the cell of a pixel by the definition, independently of the package.
func cell(x, y, width int, rot rotated.Rotation) (c, r int) {
	a, b := rot.A, rot.B
	if b < 0 {
		a, b = -a, -b
	}
	if a < 0 {
		a, x = -a, width-1-x
	}
	if a > b {
		a, b, x, y = b, a, y, x
	}
	slope := func(n int) int { return int(int64(a) * int64(n) / int64(b)) }
	return x - slope(y), y + slope(x)
}

// brute returns the sum and area of a box, computed pixel by pixel.
func brute[S boxsum.Sum, P boxsum.Pixel](img boxsum.Image[P], rot rotated.Rotation, box rotated.Box, channel int) (sum S, area int64) {
	for y := range img.Height {
		for x := range img.Width {
			if c, r := cell(x, y, img.Width, rot); box.C0 <= c && c < box.C1 && box.R0 <= r && r < box.R1 {
				sum += S(img.Pix[y*img.Stride+x*img.Channels+channel])
				area++
			}
		}
	}
	return sum, area
}

// some returns a box that begins and ends anywhere in and around the bounds.
func some(rng *rand.Rand, bounds rotated.Box) rotated.Box {
	const margin = 3
	c, n := bounds.C0-margin, bounds.C1-bounds.C0+2*margin
	r, m := bounds.R0-margin, bounds.R1-bounds.R0+2*margin
	return rotated.Box{C0: c + rng.IntN(n), C1: c + rng.IntN(n), R0: r + rng.IntN(m), R1: r + rng.IntN(m)}
}

// TestBoxes compares sums and areas of boxes, for any rotation and image, with
// counting.
func TestBoxes(t *testing.T) {
	t.Run("uint8 in uint32", rapid.MakeCheck(boxProperty[uint8, uint32]))
	t.Run("uint8 in uint64", rapid.MakeCheck(boxProperty[uint8, uint64]))
	t.Run("uint8 in float32", rapid.MakeCheck(boxProperty[uint8, float32]))
	t.Run("uint8 in float64", rapid.MakeCheck(boxProperty[uint8, float64]))
	t.Run("uint8 in int64", rapid.MakeCheck(boxProperty[uint8, int64]))
	t.Run("uint16 in uint64", rapid.MakeCheck(boxProperty[uint16, uint64]))
	t.Run("uint16 in float64", rapid.MakeCheck(boxProperty[uint16, float64]))
	t.Run("uint16 in uint32", rapid.MakeCheck(boxProperty[uint16, uint32]))
	t.Run("uint32 in uint32", rapid.MakeCheck(boxProperty[uint32, uint32]))
	t.Run("uint32 in uint64", rapid.MakeCheck(boxProperty[uint32, uint64]))
	t.Run("int16 in int64", rapid.MakeCheck(boxProperty[int16, int64]))
	t.Run("int16 in float64", rapid.MakeCheck(boxProperty[int16, float64]))
	t.Run("int32 in int64", rapid.MakeCheck(boxProperty[int32, int64]))
	t.Run("float32 in float32", rapid.MakeCheck(boxProperty[float32, float32]))
	t.Run("float32 in float64", rapid.MakeCheck(boxProperty[float32, float64]))
	t.Run("float64 in float64", rapid.MakeCheck(boxProperty[float64, float64]))
}

func boxProperty[P boxsum.Pixel, S boxsum.Sum](t *rapid.T) {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	width, height := rapid.IntRange(0, 90).Draw(t, "width"), rapid.IntRange(0, 90).Draw(t, "height")
	img := fixture.Image[P](rng, width, height, rapid.IntRange(1, 6).Draw(t, "channels"))
	rot := rapid.SampledFrom(ratios).Draw(t, "rotation")
	if rapid.Bool().Draw(t, "any ratio") {
		rot = rotated.Rotation{A: rapid.IntRange(0, 40).Draw(t, "a"), B: rapid.IntRange(1, 40).Draw(t, "b")}
	}
	if rapid.Bool().Draw(t, "negative") {
		rot.A = -rot.A
	}
	table, err := rotated.Integrate[S](img, rot, &rotated.Options{Level: rapid.SampledFrom(boxsum.Levels()).Draw(t, "level")})
	if err != nil {
		t.Fatal(err)
	}
	for range 8 {
		box, channel := some(rng, table.Bounds()), rng.IntN(img.Channels)
		check(t, table, img, rot, box, channel)
	}
	check(t, table, img, rot, rotated.Box{C0: math.MinInt, C1: math.MaxInt, R0: math.MinInt, R1: math.MaxInt}, 0)
}

type failer interface {
	Helper()
	Fatalf(string, ...any)
}

func check[P boxsum.Pixel, S boxsum.Sum](t failer, table *rotated.Table[S], img boxsum.Image[P], rot rotated.Rotation, box rotated.Box, channel int) {
	t.Helper()
	sum, area := brute[S](img, rot, box, channel)
	if got := table.Area(box); got != area {
		t.Fatalf("%v over %d×%d: box %v has area %d, counted %d", rot, img.Width, img.Height, box, got, area)
	}
	got := table.SumChannel(box, channel)
	if got != sum && !(math.Abs(float64(got)-float64(sum)) <= bound[P, S](img)) {
		t.Fatalf("%v over %d×%d: channel %d of box %v sums to %v, added up %v", rot, img.Width, img.Height, channel, box, got, sum)
	}
	if !box.Empty() {
		corners := table.Corner(box.C1, box.R1, channel) - table.Corner(box.C0, box.R1, channel) -
			table.Corner(box.C1, box.R0, channel) + table.Corner(box.C0, box.R0, channel)
		if corners != sum && !(math.Abs(float64(corners)-float64(sum)) <= bound[P, S](img)) {
			t.Fatalf("%v over %d×%d: the corners of channel %d of box %v make %v, added up %v", rot, img.Width, img.Height, channel, box, corners, sum)
		}
		if n := table.CornerArea(box.C1, box.R1) - table.CornerArea(box.C0, box.R1) - table.CornerArea(box.C1, box.R0) + table.CornerArea(box.C0, box.R0); n != area {
			t.Fatalf("%v over %d×%d: the corners of box %v have area %d, counted %d", rot, img.Width, img.Height, box, n, area)
		}
	}
	mean := 0.0
	if area > 0 {
		mean = float64(got) / float64(area)
	}
	if _, wraps := any(img.Pix).([]uint32); wraps {
		total, _ := brute[uint64](img, rot, box, channel) // the mean is that of the pixels, also where their sum wraps
		mean = float64(total) / float64(max(1, area))
	}
	if m := table.Mean(box, channel); m != mean {
		t.Fatalf("%v: box %v has mean %v, want %v", rot, box, m, mean)
	}
}

// bound returns the maximum error of a float sum, or −1 for integers.
func bound[P boxsum.Pixel, S boxsum.Sum](img boxsum.Image[P]) float64 {
	largest := 1.0
	switch any(*new(P)).(type) {
	case uint8:
		largest = 1 << 8
	case uint16:
		largest = 1 << 16
	}
	additions := float64(8 * (img.Width + img.Height + 10))
	all := float64(img.Width*img.Height) * largest
	switch any(*new(S)).(type) {
	case float32:
		return additions * all * math.Pow(2, -24)
	case float64:
		return additions * all * math.Pow(2, -53)
	}
	return -1
}

// TestQuadrants tests two thousand boxes of every quadrant, including common
// ratios.
func TestQuadrants(t *testing.T) {
	for _, quadrant := range []struct {
		name     string
		negative bool
		steep    bool
	}{{"0 to 45°", false, false}, {"45 to 90°", false, true}, {"0 to −45°", true, false}, {"−45 to −90°", true, true}} {
		t.Run(quadrant.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(2, 3))
			for i := range 250 {
				rot := rotated.Rotation{A: 1 + rng.IntN(12), B: 1 + rng.IntN(12)}
				if i%2 == 0 {
					rot = []rotated.Rotation{{1, 1}, {1, 2}, {2, 3}, {3, 5}, {1, 10}, {1, 5}}[i/2%6]
				}
				if (rot.A > rot.B) != quadrant.steep {
					rot.A, rot.B = rot.B, rot.A
				}
				if quadrant.negative {
					rot.A = -rot.A
				}
				img := fixture.Image[uint8](rng, 1+rng.IntN(60), 1+rng.IntN(60), 1)
				table, err := rotated.Integrate[uint32](img, rot, nil)
				if err != nil {
					t.Fatal(err)
				}
				for range 8 {
					check(t, table, img, rot, some(rng, table.Bounds()), 0)
				}
			}
		})
	}
}

// TestLarge tests every cell of images larger than a band and a tile, with several
// workers.
func TestLarge(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 5))
	for _, shape := range []struct{ width, height int }{{700, 500}, {2500, 3}, {2, 2000}, {1, 700}, {3000, 1}, {2300, 140}} {
		for i, rot := range []rotated.Rotation{{1, 1}, {1, 2}, {2, 3}, {-1, 10}, {5, 1}, {-3, 2}, {0, 1}} {
			for _, channels := range []int{1, 3, 17} {
				if channels > 3 && shape.width*shape.height > 1e5 || testing.Short() && (i+channels)%4 != 0 {
					continue
				}
				img := fixture.Image[uint8](rng, shape.width, shape.height, channels)
				var first []uint64
				for workers := 1; workers <= 3; workers++ {
					table, err := rotated.Integrate[uint64](img, rot, &rotated.Options{Workers: workers})
					if err != nil {
						t.Fatal(err)
					}
					if workers == 1 {
						for range 4 {
							check(t, table, img, rot, some(rng, table.Bounds()), rng.IntN(channels))
						}
						first = everyCell(t, table, img, rot, channels-1)
						continue
					}
					for i, s := range prefixes(table, channels-1) {
						if s != first[i] {
							t.Fatalf("%v over %v: cell %d differs with %d workers", rot, shape, i, workers)
						}
					}
				}
			}
		}
	}
}

// prefixes returns the sum left of and above every cell, in strides that include
// every band.
func prefixes[S boxsum.Sum](table *rotated.Table[S], channel int) []S {
	var list []S
	b := table.Bounds()
	for r := b.R0; r <= b.R1; r += 1 + (b.R1-b.R0)/70 {
		for c := b.C0; c <= b.C1; c += 1 + (b.C1-b.C0)/70 {
			list = append(list, table.SumChannel(rotated.Box{C0: b.C0, C1: c, R0: b.R0, R1: r}, channel))
		}
	}
	return list
}

// everyCell compares prefixes with a plain table over the whole lattice.
func everyCell[P boxsum.Pixel](t *testing.T, table *rotated.Table[uint64], img boxsum.Image[P], rot rotated.Rotation, channel int) []uint64 {
	t.Helper()
	b := table.Bounds()
	cells, err := boxsum.NewImage[P](b.C1-b.C0, b.R1-b.R0, 1)
	if err != nil {
		t.Fatal(err)
	}
	ones, err := boxsum.NewImage[uint8](b.C1-b.C0, b.R1-b.R0, 1)
	if err != nil {
		t.Fatal(err)
	}
	for y := range img.Height {
		for x := range img.Width {
			c, r := cell(x, y, img.Width, rot)
			i := r*cells.Stride + c - b.C0
			cells.Pix[i] = img.Pix[y*img.Stride+x*img.Channels+channel]
			ones.Pix[i]++
		}
	}
	plain, err := boxsum.Integrate[uint64](cells, nil)
	if err != nil {
		t.Fatal(err)
	}
	count, err := boxsum.Integrate[uint32](ones, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := prefixes(table, channel)
	i := 0
	for r := b.R0; r <= b.R1; r += 1 + (b.R1-b.R0)/70 {
		for c := b.C0; c <= b.C1; c += 1 + (b.C1-b.C0)/70 {
			if want := plain.At(c-b.C0, r, 0); got[i] != want {
				t.Fatalf("%v over %d×%d: up to (%d,%d) the sum is %d, want %d", rot, img.Width, img.Height, c, r, got[i], want)
			}
			area := table.Area(rotated.Box{C0: b.C0, C1: c, R0: b.R0, R1: r})
			if want := count.At(c-b.C0, r, 0); area != int64(want) {
				t.Fatalf("%v over %d×%d: up to (%d,%d) the area is %d, want %d", rot, img.Width, img.Height, c, r, area, want)
			}
			i++
		}
	}
	return got
}

// TestFloatBits tests that float sums are bit-identical at every level and number
// of workers, and in a table that held another image before.
func TestFloatBits(t *testing.T) {
	ref.SkipRace(t)
	testFloatBits[float32, float32](t, 3)
	testFloatBits[float32, float64](t, 1)
	testFloatBits[float64, float64](t, 2)
}

func testFloatBits[P boxsum.Pixel, S boxsum.Sum](t *testing.T, channels int) {
	rng := rand.New(rand.NewPCG(6, 7))
	img, other := fixture.Image[P](rng, 801, 500, channels), fixture.Image[P](rng, 801, 500, channels)
	for _, rot := range []rotated.Rotation{{1, 2}, {-7, 3}, {-1, 1}, {100, 7}} {
		var first []S
		table, err := rotated.NewTable[S](img.Width, img.Height, channels, rot)
		if err != nil {
			t.Fatal(err)
		}
		for _, level := range boxsum.Levels() {
			for workers := 1; workers <= 3; workers++ {
				opt := &rotated.Options{Level: level, Workers: workers}
				for _, img := range []boxsum.Image[P]{other, img} {
					if err := rotated.IntegrateInto(table, img, opt); err != nil {
						t.Fatal(err)
					}
				}
				got := prefixes(table, channels-1)
				if first == nil {
					first = got
				}
				for i := range got {
					if math.Float64bits(float64(got[i])) != math.Float64bits(float64(first[i])) {
						t.Fatalf("%v, %v, %d workers: sum %d is %v, elsewhere %v", rot, level, workers, i, got[i], first[i])
					}
				}
			}
		}
	}
}

// TestWrap tests that a table that has wrapped many times gives exact boxes.
func TestWrap(t *testing.T) {
	img := fixture.Image[uint32](rand.New(rand.NewPCG(8, 9)), 120, 110, 1)
	for i := range img.Pix {
		img.Pix[i] |= 1 << 31
	}
	rot := rotated.Rotation{A: 2, B: 5}
	table, err := rotated.Integrate[uint32](img, rot, nil)
	if err != nil {
		t.Fatal(err)
	}
	for y := range img.Height {
		for x := range img.Width {
			c, r := table.Cell(x, y)
			if got, want := table.Sum(rotated.Box{C0: c, C1: c + 1, R0: r, R1: r + 1}), img.Pix[y*img.Stride+x]; got != want {
				t.Fatalf("pixel (%d,%d) is %d, want %d", x, y, got, want)
			}
		}
	}
}

// TestTilted tests that entry (X, Y) of OpenCV's tilted table is a box of 1/1.
func TestTilted(t *testing.T) {
	img := fixture.Image[uint8](rand.New(rand.NewPCG(10, 11)), 23, 17, 1)
	table, err := rotated.Integrate[uint32](img, rotated.Rotation{A: 1, B: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for Y := range img.Height + 1 {
		for X := range img.Width + 1 {
			want := uint32(0)
			for y := range Y {
				for x := range img.Width {
					if d := x - X + 1; max(d, -d) <= Y-y-1 {
						want += uint32(img.Pix[y*img.Stride+x])
					}
				}
			}
			box := rotated.Box{C0: X - Y, C1: math.MaxInt, R0: math.MinInt, R1: X + Y - 1}
			if got := table.Sum(box); got != want {
				t.Fatalf("tilted (%d,%d) is %d, want %d", X, Y, got, want)
			}
		}
	}
}

func TestChannels(t *testing.T) {
	img := fixture.Image[uint8](rand.New(rand.NewPCG(12, 13)), 20, 30, 3)
	table, err := rotated.Integrate[uint32](img, rotated.Rotation{A: 1, B: 3}, nil)
	if err != nil {
		t.Fatal(err)
	}
	box := table.Bounds()
	var want []uint32
	for channel := range 3 {
		want = append(want, table.SumChannel(box, channel))
	}
	if got := table.SumChannels(nil, box); fmt.Sprint(got) != fmt.Sprint(want) || table.Channels != 3 {
		t.Errorf("channels sum to %v, want %v", got, want)
	}
	for _, channel := range []int{-1, 3} {
		if got := table.SumChannel(box, channel); got != 0 {
			t.Errorf("channel %d sums to %d", channel, got)
		}
	}
}
