package histogram_test

import (
	"errors"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/fixture"
	"github.com/boxsum/boxsum/internal/ref"
	"pgregory.net/rapid"
)

// random returns an image with a gap after every row: integers over their whole
// range, floats between -30 and 30.
func random[P boxsum.Pixel](rng *rand.Rand, width, height, channels int) boxsum.Image[P] {
	return fixture.ImageIn[P](rng, width, height, channels, -30, 30)
}

// A definition finds bins by their definition: by the last edge that is not above a
// value.
type definition struct {
	bins  histogram.Bins
	edges []float64
}

func define(b histogram.Bins) definition {
	d := definition{bins: b}
	for i := range b.N {
		d.edges = append(d.edges, b.Edge(i))
	}
	return d
}

func (d definition) bin(v float64) int {
	after, _ := slices.BinarySearchFunc(d.edges, v, func(edge, v float64) int {
		if edge <= v {
			return -1
		}
		return 1
	})
	switch {
	case v != v, v > d.bins.Edge(d.bins.N) && !d.bins.Clamp:
		return -1
	case v < d.bins.Edge(0) && d.bins.Clamp:
		return 0
	}
	return after - 1
}

// brute counts the pixels of a box one by one.
func brute[S boxsum.Sum, P boxsum.Pixel](img boxsum.Image[P], weight func(x, y int) S, box image.Rectangle, channel int, b histogram.Bins) []S {
	d, h := define(b), make([]S, b.N)
	box = box.Intersect(image.Rect(0, 0, img.Width, img.Height))
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			if bin := d.bin(float64(img.Pix[y*img.Stride+x*img.Channels+channel])); bin >= 0 {
				h[bin] += weight(x, y)
			}
		}
	}
	return h
}

func one[S boxsum.Sum](x, y int) S { return 1 }

// shapes returns awkward sizes; only the first few in short mode.
func shapes() [][3]int {
	all := [][3]int{{1, 1, 1}, {1, 17, 1}, {23, 1, 1}, {7, 5, 3}, {37, 19, 1}, {131, 29, 1}, {40, 67, 2}}
	if testing.Short() {
		return all[:5]
	}
	return all
}

func TestEveryEntry(t *testing.T) {
	testEveryEntry[uint8](t, histogram.Bins{}, histogram.Bins{Low: 30, High: 99}, histogram.Bins{Low: 30, High: 99.5, Clamp: true})
	testEveryEntry[uint16](t, histogram.Bins{}, histogram.Bins{Low: -1000, High: 1e5})
	testEveryEntry[int16](t, histogram.Bins{}, histogram.Bins{Low: -5, High: 10000})
	testEveryEntry[uint32](t, histogram.Bins{Low: 0, High: 1 << 32}, histogram.Bins{Low: 0, High: 1 << 31, Clamp: true})
	testEveryEntry[int32](t, histogram.Bins{Low: math.MinInt32, High: 1 << 31})
	testEveryEntry[float32](t, histogram.Bins{Low: -30, High: 30}, histogram.Bins{Low: -1, High: 0.1, Clamp: true})
	testEveryEntry[float64](t, histogram.Bins{Low: -10, High: 20})
}

// testEveryEntry compares whole tables with counting, at every level and with
// several numbers of workers and of bins.
func testEveryEntry[P boxsum.Pixel](t *testing.T, ranges ...histogram.Bins) {
	t.Run(fmt.Sprintf("%T", *new(P)), func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		for i, shape := range shapes() {
			img := random[P](rng, shape[0], shape[1], shape[2])
			for _, bins := range ranges {
				bins.N = []int{2, 3, 16, 32, 48, 100, 256}[(i+rng.IntN(7))%7]
				var first []uint32
				for _, opt := range options() {
					table, err := histogram.Integrate(img, bins, opt)
					if err != nil {
						t.Fatal(err)
					}
					if first == nil {
						first = table.Counts
						checkEntries(t, img, table)
					} else if !slices.Equal(first, table.Counts) {
						t.Fatalf("%v, %d bins: %+v differs from the first", shape, bins.N, *opt)
					}
				}
			}
		}
	})
}

func options() (all []*histogram.Options) {
	for _, level := range boxsum.Levels() {
		for _, workers := range []int{1, 3} {
			all = append(all, &histogram.Options{Level: level, Workers: workers})
		}
	}
	return all
}

// checkEntries compares each entry with the entry above it plus its row so far.
func checkEntries[P boxsum.Pixel](t *testing.T, img boxsum.Image[P], table *histogram.Table[uint32]) {
	t.Helper()
	d := define(table.Bins)
	row, want := make([]uint32, table.Bins.N), make([]uint32, table.Bins.N)
	for c := range img.Channels {
		for y := range img.Height + 1 {
			clear(row)
			for x := range img.Width + 1 {
				clear(want)
				if x > 0 && y > 0 {
					if bin := d.bin(float64(img.Pix[(y-1)*img.Stride+(x-1)*img.Channels+c])); bin >= 0 {
						row[bin]++
					}
					above := table.At(x, y-1, c)
					for i := range want {
						want[i] = above[i] + row[i]
					}
				}
				if got := table.At(x, y, c); !slices.Equal(got, want) {
					t.Fatalf("%d×%d, %+v: entry (%d,%d) of channel %d is %v, want %v", img.Width, img.Height, table.Bins, x, y, c, got, want)
				}
			}
		}
	}
}

// TestBoxes tests random boxes of random images.
func TestBoxes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		rng := rand.New(rand.NewPCG(seed, 1))
		img := random[uint8](rng, rapid.IntRange(1, 60).Draw(t, "width"), rapid.IntRange(1, 60).Draw(t, "height"), rapid.IntRange(1, 3).Draw(t, "channels"))
		bins := histogram.Bins{N: rapid.IntRange(2, 256).Draw(t, "bins")}
		table, err := histogram.Integrate(img, bins, nil)
		if err != nil {
			t.Fatal(err)
		}
		var boxes []image.Rectangle
		var want []uint32
		for range 10 {
			box := fixture.Box(rng, img.Width, img.Height)
			boxes = append(boxes, box)
			for c := range img.Channels {
				h := brute(img, one[uint32], box, c, table.Bins)
				want = append(want, h...)
				if got := table.Histogram([]uint32{7}, box, c); got[0] != 7 || !slices.Equal(got[1:], h) {
					t.Fatalf("box %v of channel %d is %v, want %v", box, c, got[1:], h)
				}
			}
		}
		got := make([]uint32, len(want))
		if err := table.Histograms(got, boxes); err != nil || !slices.Equal(got, want) {
			t.Fatalf("all boxes are %v, %v, want %v", got, err, want)
		}
	})
}

// TestLarge makes a table beyond the caches, of which all rows are written past
// them, and one of which every other row is.
func TestLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("needs 200 MB of memory: leave out -short")
	}
	rng := rand.New(rand.NewPCG(9, 9))
	img := random[uint8](rng, 701, 403, 1)
	for _, bins := range []int{10, 16, 32, 160} {
		table, err := histogram.Integrate(img, histogram.Bins{N: bins}, &histogram.Options{Workers: 3})
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			box := fixture.Box(rng, img.Width, img.Height)
			if got, want := table.Histogram(nil, box, 0), brute(img, one[uint32], box, 0, table.Bins); !slices.Equal(got, want) {
				t.Fatalf("%d bins: box %v is %v, want %v", bins, box, got, want)
			}
		}
	}
}

func TestWeights(t *testing.T) {
	testWeights[uint32, uint8](t)
	testWeights[uint64, uint16](t)
	testWeights[int64, int16](t)
	testWeights[int64, int32](t)
	testWeights[uint32, uint32](t)
	testWeights[float64, float32](t)
	testWeights[float64, float64](t)
	testWeights[float32, float32](t)
}

func testWeights[S boxsum.Sum, W boxsum.Pixel](t *testing.T) {
	t.Run(fmt.Sprintf("%T in %T", *new(W), *new(S)), func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 4))
		for i, shape := range shapes() {
			img, weights := random[uint8](rng, shape[0], shape[1], shape[2]), random[W](rng, shape[0], shape[1], 1)
			bins := histogram.Bins{N: []int{2, 8, 13, 32, 100, 128, 256}[i]}
			var first *histogram.Table[S]
			for _, opt := range options() {
				table, err := histogram.IntegrateWeighted[S](img, weights, bins, opt)
				if err != nil {
					t.Fatal(err)
				}
				if first == nil {
					first = table
				} else if !slices.Equal(first.Counts, table.Counts) {
					t.Fatalf("%v, %d bins: %+v differs from the first", shape, bins.N, *opt)
				}
			}
			for range 20 {
				box := fixture.Box(rng, img.Width, img.Height)
				c := rng.IntN(img.Channels)
				got := first.Histogram(nil, box, c)
				want := brute(img, func(x, y int) S { return S(weights.Pix[y*weights.Stride+x]) }, box, c, first.Bins)
				for i := range want {
					// Integers are exact; floats are right but for their rounding.
					if got[i] != want[i] && !(math.Abs(float64(got[i])-float64(want[i])) <= tolerance[S]()) {
						t.Fatalf("%v, %d bins: bin %d of box %v is %v, want %v", shape, bins.N, i, box, got[i], want[i])
					}
				}
			}
		}
	})
}

func tolerance[S boxsum.Sum]() float64 {
	switch any(*new(S)).(type) {
	case float32:
		return 1
	case float64:
		return 1e-8
	}
	return 0
}

func TestNotNumbers(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	img := boxsum.Image[float64]{Pix: []float64{nan, inf, -inf, 0, 0.5, 1, 1.0000001, -1e-9}, Width: 8, Height: 1}
	for _, test := range []struct {
		clamp bool
		want  []uint32
	}{
		{false, []uint32{1, 2}},
		{true, []uint32{3, 4}},
	} {
		table, err := histogram.Integrate(img, histogram.Bins{N: 2, Low: 0, High: 1, Clamp: test.clamp}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := table.Histogram(nil, table.Bounds(), 0); !slices.Equal(got, test.want) {
			t.Errorf("clamp %v: %v, want %v", test.clamp, got, test.want)
		}
	}
}

// TestAgain integrates images of several types into the same table, and tests that
// the second of a type does not allocate.
func TestAgain(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	table, err := histogram.NewTable[uint32](50, 40, 1, histogram.Bins{N: 20, Low: 0, High: 256})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		again(t, table, random[uint8](rng, 50, 40, 1))
		again(t, table, random[float32](rng, 50, 40, 1))
	}
	img := random[uint8](rng, 50, 40, 1)
	opt := &histogram.Options{Workers: 1}
	again(t, table, img)
	ref.AllocatesNothing(t, "a table", func() error { return histogram.IntegrateInto(table, img, opt) })
	h := table.Histogram(nil, table.Bounds(), 0)
	if n := testing.AllocsPerRun(10, func() { h = table.Histogram(h[:0], table.Bounds(), 0) }); n != 0 {
		t.Errorf("%v allocations for a box", n)
	}
}

func again[P boxsum.Pixel](t *testing.T, table *histogram.Table[uint32], img boxsum.Image[P]) {
	t.Helper()
	if err := histogram.IntegrateInto(table, img, nil); err != nil {
		t.Fatal(err)
	}
	checkEntries(t, img, table)
}

func TestEmptyImages(t *testing.T) {
	for _, size := range [][2]int{{0, 0}, {5, 0}, {0, 5}} {
		table, err := histogram.Integrate(boxsum.Image[uint8]{Width: size[0], Height: size[1]}, histogram.Bins{N: 4}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := table.Histogram(nil, image.Rect(-9, -9, 9, 9), 0); !slices.Equal(got, []uint32{0, 0, 0, 0}) {
			t.Errorf("%v: %v", size, got)
		}
		if len(table.Counts) != (size[0]+1)*(size[1]+1)*4 {
			t.Errorf("%v: %d counts", size, len(table.Counts))
		}
	}
}

func TestBytes(t *testing.T) {
	if got, err := histogram.Bytes[uint32](1920, 1080, 0, 32); got != 1921*1081*32*4 || err != nil {
		t.Errorf("1080p takes %d, %v", got, err)
	}
	if got, err := histogram.Bytes[float64](10, 20, 3, 256); got != 11*21*3*256*8 || err != nil {
		t.Errorf("doubles take %d, %v", got, err)
	}
}

func TestErrors(t *testing.T) {
	good := boxsum.Image[uint8]{Pix: make([]uint8, 12), Width: 4, Height: 3}
	table, err := histogram.Integrate(good, histogram.Bins{N: 4}, nil)
	if err != nil {
		t.Fatal(err)
	}
	integrate := func(img boxsum.Image[uint8], bins histogram.Bins, opt *histogram.Options) error {
		_, err := histogram.Integrate(img, bins, opt)
		return err
	}
	_, noRange := histogram.Integrate(boxsum.Image[float32]{}, histogram.Bins{N: 4}, nil)
	_, noPair := histogram.IntegrateWeighted[uint32](good, boxsum.Image[float32]{Pix: make([]float32, 12), Width: 4, Height: 3}, histogram.Bins{N: 4}, nil)
	_, weights := histogram.IntegrateWeighted[uint32](good, boxsum.Image[uint8]{Pix: make([]uint8, 12), Width: 3, Height: 4}, histogram.Bins{N: 4}, nil)
	_, fewWeights := histogram.IntegrateWeighted[uint32](good, boxsum.Image[uint8]{Pix: make([]uint8, 11), Width: 4, Height: 3}, histogram.Bins{N: 4}, nil)
	_, memory := histogram.NewTable[uint32](1<<20, 1<<16, 3, histogram.Bins{N: 256})
	_, huge := histogram.NewTable[uint32](math.MaxInt, math.MaxInt, 1, histogram.Bins{N: 256})
	_, negative := histogram.Bytes[uint32](-1, 5, 1, 8)
	_, wide := histogram.Bytes[uint32](math.MaxInt, 0, 1, 8)
	_, radius := histogram.Local(table, -1, 0, func([]uint32) uint8 { return 0 }, nil)
	_, channel := histogram.Local(table, 1, 1, func([]uint32) uint8 { return 0 }, nil)
	ok, whole := histogram.Bins{N: 4}, histogram.Bins{N: 4, High: 1 << 32}
	shared := make([]uint32, 100)
	for _, test := range []struct {
		name string
		err  error
		is   error
	}{
		{"no bins", integrate(good, histogram.Bins{}, nil), boxsum.ErrInvalid},
		{"one bin", integrate(good, histogram.Bins{N: 1}, nil), boxsum.ErrInvalid},
		{"many bins", integrate(good, histogram.Bins{N: 257}, nil), boxsum.ErrInvalid},
		{"inverted", integrate(good, histogram.Bins{N: 4, Low: 2, High: 1}, nil), boxsum.ErrInvalid},
		{"nothing", integrate(good, histogram.Bins{N: 4, Low: 2, High: 2}, nil), boxsum.ErrInvalid},
		{"NaN", integrate(good, histogram.Bins{N: 4, Low: math.NaN(), High: 2}, nil), boxsum.ErrInvalid},
		{"infinite", integrate(good, histogram.Bins{N: 4, Low: 0, High: math.Inf(1)}, nil), boxsum.ErrInvalid},
		{"wide", integrate(good, histogram.Bins{N: 4, Low: -math.MaxFloat64, High: math.MaxFloat64}, nil), boxsum.ErrInvalid},
		{"narrow", integrate(good, histogram.Bins{N: 4, Low: 1, High: math.Nextafter(1, 2)}, nil), boxsum.ErrInvalid},
		{"short", integrate(boxsum.Image[uint8]{Pix: make([]uint8, 11), Width: 4, Height: 3}, ok, nil), boxsum.ErrInvalid},
		{"stride", integrate(boxsum.Image[uint8]{Pix: make([]uint8, 12), Width: 4, Height: 3, Stride: 3}, ok, nil), boxsum.ErrInvalid},
		{"negative stride", integrate(boxsum.Image[uint8]{Pix: make([]uint8, 12), Width: 4, Height: 3, Stride: -4}, ok, nil), boxsum.ErrInvalid},
		{"negative width", integrate(boxsum.Image[uint8]{Width: -4, Height: 3}, ok, nil), boxsum.ErrInvalid},
		{"large image", integrate(boxsum.Image[uint8]{Width: math.MaxInt, Height: math.MaxInt}, ok, nil), boxsum.ErrInvalid},
		{"workers", integrate(good, ok, &histogram.Options{Workers: -1}), boxsum.ErrInvalid},
		{"no range", noRange, boxsum.ErrInvalid},
		{"types", noPair, boxsum.ErrTypes},
		{"weights", weights, boxsum.ErrInvalid},
		{"few weights", fewWeights, boxsum.ErrInvalid},
		{"memory", memory, boxsum.ErrMemory},
		{"huge", huge, boxsum.ErrInvalid},
		{"negative", negative, boxsum.ErrInvalid},
		{"wide table", wide, boxsum.ErrInvalid},
		{"radius", radius, boxsum.ErrInvalid},
		{"channel", channel, boxsum.ErrInvalid},
		{"no table", histogram.IntegrateInto(nil, good, nil), boxsum.ErrInvalid},
		{"zero table", histogram.IntegrateInto(new(histogram.Table[uint32]), good, nil), boxsum.ErrInvalid},
		{"own table", histogram.IntegrateInto(&histogram.Table[uint32]{Width: 4, Height: 3, Channels: 1, Bins: ok}, good, nil), boxsum.ErrInvalid},
		{"other size", histogram.IntegrateInto(table, boxsum.Image[uint8]{Pix: make([]uint8, 12), Width: 3, Height: 4}, nil), boxsum.ErrInvalid},
		{"overlap", histogram.IntegrateInto(&histogram.Table[uint32]{Counts: shared[:80], Width: 4, Height: 3, Channels: 1, Bins: whole}, boxsum.Image[uint32]{Pix: shared[70:], Width: 4, Height: 3}, nil), boxsum.ErrOverlap},
		{"few counts", table.Histograms(make([]uint32, 7), make([]image.Rectangle, 2)), boxsum.ErrInvalid},
	} {
		if test.err == nil || test.is != nil && !errors.Is(test.err, test.is) || strings.HasPrefix(test.err.Error(), "boxsum: ") {
			t.Errorf("%s: %v", test.name, test.err)
		}
	}
	if memory != nil && wordBits == 64 && !strings.Contains(memory.Error(), "GB") {
		t.Errorf("does not say how much: %v", memory)
	}
}

const wordBits = 32 << (^uint(0) >> 63)
