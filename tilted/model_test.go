package tilted_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/tilted"
)

// model returns the table made in OpenCV's order of additions, row by row: t and d
// are the sums and the diagonals of a row.
func model[S boxsum.Sum, P boxsum.Pixel](img boxsum.Image[P], square bool) [][]S {
	c, n := img.Channels, img.Width*img.Channels
	value := func(p P) S {
		if square {
			return S(S(p) * S(p))
		}
		return S(p)
	}
	table := make([][]S, img.Height+1)
	for y := range table {
		table[y] = make([]S, n+c)
	}
	var d []S
	for y := range img.Height {
		row, down := table[y+1][c:], make([]S, n+c)
		for i := range n {
			v := value(img.Pix[y*img.Stride+i])
			if y == 0 {
				row[i], down[i] = v, v
				continue
			}
			above := table[y]
			down[i] = d[i+c] + v
			switch {
			case i < c:
				row[i] = (above[c+i] + v) + d[i+c]
				table[y+1][i] = above[c+i]
			case i >= n-c:
				row[i] = (v + d[i]) + above[i]
				down[i] = v
			default:
				row[i] = d[i] + (down[i] + above[i])
			}
		}
		d = down
	}
	return table
}

// brute returns the sum of the pixels of entry (X, Y), by its definition.
func brute[S boxsum.Sum, P boxsum.Pixel](img boxsum.Image[P], x, y, channel int) (sum S) {
	for py := range min(y, img.Height) {
		for px := range img.Width {
			if abs(px-x+1) < y-py {
				sum += S(img.Pix[py*img.Stride+px*img.Channels+channel])
			}
		}
	}
	return sum
}

func abs(n int) int { return max(n, -n) }

// TestModel compares the model with the definition of an entry in the
// documentation.
func TestModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, width := range []int{1, 2, 3, 9} {
		for _, height := range []int{1, 2, 7, 12} {
			for _, channels := range []int{1, 3} {
				img := randomImage[uint8](rng, width, height, channels)
				want := model[uint32](img, false)
				for y := range height + 1 {
					for x := range width + 1 {
						for c := range channels {
							if got := want[y][x*channels+c]; got != brute[uint32](img, x, y, c) {
								t.Fatalf("%d×%d×%d: entry (%d,%d) is %d, want %d", width, height, channels, x, y, got, brute[uint32](img, x, y, c))
							}
						}
					}
				}
			}
		}
	}
}

func TestSums(t *testing.T) {
	testTypes[uint8, uint32](t)
	testTypes[uint8, uint64](t)
	testTypes[uint8, float32](t)
	testTypes[uint8, float64](t)
	testTypes[uint8, int64](t)
	testTypes[uint16, uint64](t)
	testTypes[uint16, float64](t)
	testTypes[uint16, uint32](t)
	testTypes[uint32, uint64](t)
	testTypes[uint32, uint32](t)
	testTypes[int16, int64](t)
	testTypes[int16, float64](t)
	testTypes[int32, int64](t)
	testTypes[float32, float64](t)
	testTypes[float32, float32](t)
	testTypes[float64, float64](t)
}

// sizes are chosen around a vector's width, a tile's and a band's height.
var sizes = [][2]int{
	{1, 1}, {1, 70}, {2, 3}, {70, 1}, {3, 2}, {15, 17}, {16, 16}, {17, 33}, {31, 5}, {33, 64}, {63, 65}, {64, 40},
	{100, 131}, {129, 300}, {700, 67}, {2100, 70}, {5000, 11},
}

func testTypes[P boxsum.Pixel, S boxsum.Sum](t *testing.T) {
	t.Run(fmt.Sprintf("%T to %T", *new(P), *new(S)), func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 4))
		for _, size := range sizes {
			for _, channels := range []int{1, []int{2, 3, 4, 5, 8, 17}[rng.IntN(6)]} {
				if testing.Short() && (channels > 1 || size[0]*size[1] > 20_000) {
					continue
				}
				img := randomImage[P](rng, size[0], size[1], channels)
				want := model[S](img, false)
				for _, level := range boxsum.Levels() {
					for _, workers := range []int{1, 2 + rng.IntN(3)} {
						g := newGuarded[S](rng, size[0], size[1], channels)
						if err := tilted.IntegrateInto(g.table, img, &tilted.Options{Level: level, Workers: workers}); err != nil {
							t.Fatal(err)
						}
						g.check(t, want, fmt.Sprintf("%d×%d×%d, %v on %d workers", size[0], size[1], channels, level, workers))
					}
				}
			}
		}
	})
}

// TestAccuracy tests that float tables are as accurate as documented.
func TestAccuracy(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for range 20 {
		width, height := 1+rng.IntN(80), 1+rng.IntN(80)
		img := boxsum.Image[float32]{Pix: make([]float32, width*height), Width: width, Height: height, Channels: 1, Stride: width}
		magnitudes := img
		magnitudes.Pix = make([]float32, len(img.Pix))
		for i := range img.Pix {
			img.Pix[i] = rng.Float32() - 0.4
			magnitudes.Pix[i] = float32(math.Abs(float64(img.Pix[i])))
		}
		got, err := tilted.Integrate[float32](img, nil)
		if err != nil {
			t.Fatal(err)
		}
		truth, all := model[float64](img, false), model[float64](magnitudes, false)
		for y := range height + 1 {
			for x := range width + 1 {
				off := math.Abs(float64(got.At(x, y, 0)) - truth[y][x])
				if bound := float64(2*height+2) * 0x1p-24 * all[y][x]; off > bound {
					t.Fatalf("%d×%d: entry (%d,%d) is off by %v, more than %v", width, height, x, y, off, bound)
				}
			}
		}
	}
}

// TestLarge uses images large enough for several workers, several bands and tiles,
// and rows that are written past the caches.
func TestLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector: leave out -short")
	}
	rng := rand.New(rand.NewPCG(11, 12))
	large(t, rng, model[uint32, uint8], 2111, 1003, 1)
	large(t, rng, model[uint32, uint8], 700, 801, 3)
	large(t, rng, model[float32, float32], 1999, 805, 1)
	large(t, rng, model[float64, uint16], 1024, 641, 2)
	large(t, rng, model[uint64, uint8], 4096, 333, 1)
}

func large[S boxsum.Sum, P boxsum.Pixel](t *testing.T, rng *rand.Rand, model func(boxsum.Image[P], bool) [][]S, width, height, channels int) {
	t.Helper()
	img := randomImage[P](rng, width, height, channels)
	want := model(img, false)
	table, err := tilted.NewTable[S](width, height, channels)
	if err != nil {
		t.Fatal(err)
	}
	for _, level := range boxsum.Levels() {
		for workers := 1; workers <= 5; workers++ {
			clear(table.Sums)
			if err := tilted.IntegrateInto(table, img, &tilted.Options{Level: level, Workers: workers}); err != nil {
				t.Fatal(err)
			}
			for y := range want {
				for i, got := range table.View().Row(y) {
					if !ref.Same(got, want[y][i]) {
						t.Fatalf("%T of %d×%d×%d, %v on %d workers: value %d of row %d is %v, want %v",
							table, width, height, channels, level, workers, i, y, got, want[y][i])
					}
				}
			}
		}
	}
}

// guarded is a table with markers before and after it and between its rows.
type guarded[S boxsum.Sum] struct {
	all   []S
	lead  int
	table *tilted.Table[S]
}

const mark, guard = 77, 64

// newGuarded allocates a guarded table, with or without rows aligned to cache
// lines.
func newGuarded[S boxsum.Sum](rng *rand.Rand, width, height, channels int) *guarded[S] {
	line := 64 / int(unsafe.Sizeof(*new(S)))
	row := (width + 1) * channels
	stride := row + rng.IntN(5)
	onLines := rng.IntN(2) == 0
	if onLines {
		stride = (row + line) / line * line
	}
	g := &guarded[S]{all: make([]S, 2*guard+line+(height+1)*stride), lead: guard}
	for i := range g.all {
		g.all[i] = mark
	}
	for onLines && uintptr(unsafe.Pointer(&g.all[g.lead+channels]))%64 != 0 {
		g.lead++
	}
	g.table = &tilted.Table[S]{Sums: g.all[g.lead:][:height*stride+row], Stride: stride, Width: width, Height: height, Channels: channels}
	return g
}

// check compares every entry, bit for bit, and all markers.
func (g *guarded[S]) check(t *testing.T, want [][]S, what string) {
	t.Helper()
	row := (g.table.Width + 1) * g.table.Channels
	for i, got := range g.all {
		i -= g.lead
		y, x := 0, 0
		if i >= 0 {
			y, x = i/g.table.Stride, i%g.table.Stride
		}
		if i < 0 || y > g.table.Height || x >= row {
			if got != mark {
				t.Fatalf("%s: written outside, at %d", what, i)
			}
			continue
		}
		if !ref.Same(got, want[y][x]) {
			t.Fatalf("%s: value %d of row %d is %v, want %v", what, x, y, got, want[y][x])
		}
	}
}

// randomImage returns an image with gaps after its rows: integers over their whole
// range, so that sums wrap, or floats that round at every addition, some images
// with special values among them.
func randomImage[P boxsum.Pixel](rng *rand.Rand, width, height, channels int) boxsum.Image[P] {
	img := boxsum.Image[P]{Width: width, Height: height, Channels: channels, Stride: width*channels + rng.IntN(4)}
	img.Pix = make([]P, max(0, (height-1)*img.Stride+width*channels))
	odd := []float64{math.Inf(1), math.Inf(-1), math.NaN(), 1e-310, 1e-42, math.MaxFloat32}
	rare, zeros := rng.IntN(3), rng.IntN(3)
	float := func() float64 {
		switch {
		case rare == 0 && rng.IntN(500) == 0:
			return odd[rng.IntN(len(odd))]
		case zeros == 0 && rng.IntN(4) > 0:
			return math.Copysign(0, -1)
		}
		return math.Ldexp(rng.Float64()-0.5, rng.IntN(50)-25)
	}
	for i := range img.Pix {
		switch p := any(&img.Pix[i]).(type) {
		case *float32:
			*p = float32(float())
		case *float64:
			*p = float()
		default:
			img.Pix[i] = P(rng.Uint64())
		}
	}
	return img
}
