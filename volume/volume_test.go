package volume_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/volume"
)

// sizes are chosen to be awkward: a single voxel, slabs and bars of one voxel in
// every direction, primes, and whole vectors.
var sizes = [][4]int{ // width, height, depth, channels
	{1, 1, 1, 1}, {1, 1, 7, 1}, {1, 7, 1, 1}, {7, 1, 1, 1}, {97, 1, 13, 1}, {1, 53, 31, 1}, {67, 41, 1, 1},
	{2, 3, 5, 1}, {13, 11, 7, 1}, {16, 16, 16, 1}, {17, 19, 23, 1}, {64, 5, 6, 1}, {131, 29, 3, 1}, {33, 9, 40, 1},
	{5, 4, 3, 2}, {23, 13, 5, 3}, {19, 17, 3, 4}, {7, 5, 3, 5}, {3, 2, 5, 17},
	{0, 3, 4, 1}, {3, 0, 4, 1}, {3, 4, 0, 2},
}

// random returns a volume with gaps after its rows and slices.
func random[P boxsum.Pixel](rng *rand.Rand, size [4]int) volume.Volume[P] {
	w, h, d, c := size[0], size[1], size[2], size[3]
	v := volume.Volume[P]{Width: w, Height: h, Depth: d, Channels: c, Stride: w*c + rng.IntN(5)}
	v.SliceStride = h*v.Stride + rng.IntN(7)
	v.Pix = make([]P, d*v.SliceStride)
	for i := range v.Pix {
		v.Pix[i] = value[P](rng)
	}
	return v
}

// value returns any value of an integer type, or a float of a few digits.
func value[P boxsum.Pixel](rng *rand.Rand) P {
	half := 0.5
	if p := P(half); p != 0 {
		return P(rng.IntN(2001)-1000) / 8
	}
	return P(rng.Uint64())
}

// reference returns all entries without gaps, computed by recurrence from seven
// preceding entries each, in uint64 or float64.
func reference[S boxsum.Sum, P boxsum.Pixel](v volume.Volume[P], square bool) []S {
	w, h, d, c := v.Width+1, v.Height+1, v.Depth+1, v.Channels
	sums, floats := make([]S, w*h*d*c), make([]float64, w*h*d*c)
	at := func(x, y, z, ch int) int { return ((z*h+y)*w+x)*c + ch }
	for z := 1; z < d; z++ {
		for y := 1; y < h; y++ {
			for x := 1; x < w; x++ {
				for ch := range c {
					p := v.Pix[(z-1)*v.SliceStride+(y-1)*v.Stride+(x-1)*c+ch]
					s, f := S(p), float64(p)
					if square {
						s, f = s*s, f*f
					}
					i := at(x, y, z, ch)
					for n, j := range []int{
						at(x-1, y, z, ch), at(x, y-1, z, ch), at(x, y, z-1, ch), at(x-1, y-1, z-1, ch),
						at(x-1, y-1, z, ch), at(x-1, y, z-1, ch), at(x, y-1, z-1, ch),
					} {
						if n < 4 {
							s, f = s+sums[j], f+floats[j]
						} else {
							s, f = s-sums[j], f-floats[j]
						}
					}
					sums[i], floats[i] = s, f
				}
			}
		}
	}
	if isFloat[S]() {
		for i, f := range floats {
			sums[i] = S(f)
		}
	}
	return sums
}

func isFloat[S boxsum.Sum]() bool {
	one, two := S(1), S(2)
	return one/two != 0
}

// few returns all cases, or the last two in short mode.
func few[T any](all ...T) []T {
	if testing.Short() {
		return all[len(all)-2:]
	}
	return all
}

// entries returns a table without its gaps.
func entries[S boxsum.Sum](t *volume.Table[S]) []S {
	var all []S
	for z := range t.Depth + 1 {
		v := t.Slice(z)
		for y := range v.Height {
			all = append(all, v.Row(y)...)
		}
	}
	return all
}

func TestIntegrate(t *testing.T) {
	testPair[uint8, uint32](t)
	testPair[uint8, uint64](t)
	testPair[uint8, float32](t)
	testPair[uint8, float64](t)
	testPair[uint8, int64](t)
	testPair[uint16, uint64](t)
	testPair[uint16, float64](t)
	testPair[uint16, uint32](t)
	testPair[uint32, uint32](t)
	testPair[uint32, uint64](t)
	testPair[int16, int64](t)
	testPair[int16, float64](t)
	testPair[int32, int64](t)
	testPair[float32, float32](t)
	testPair[float32, float64](t)
	testPair[float64, float64](t)
}

// testPair compares tables of a pair of types, at every level and number of
// workers, and those of a stream with the reference, and the floats of all with
// each other.
func testPair[P boxsum.Pixel, S boxsum.Sum](t *testing.T) {
	t.Run(fmt.Sprintf("%T to %T", *new(P), *new(S)), func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		for _, size := range sizes {
			v := random[P](rng, size)
			want := reference[S](v, false)
			first, err := volume.Integrate[S](v, &volume.Options{Level: boxsum.Levels()[0], Workers: 1})
			if err != nil {
				t.Fatal(err)
			}
			near(t, fmt.Sprint("reference of ", size), entries(first), want)
			want = entries(first)
			for _, level := range boxsum.Levels() {
				for _, workers := range few(1, 2, 3) {
					opt := &volume.Options{Level: level, Workers: workers}
					table, err := volume.Integrate[S](v, opt)
					if err != nil {
						t.Fatal(err)
					}
					same(t, fmt.Sprintf("%v, %v on %d", size, level, workers), entries(table), want)
				}
				same(t, fmt.Sprintf("%v, stream of %v", size, level), streamed[S](t, v, level), want)
			}
		}
	})
}

// streamed returns all entries of a stream.
func streamed[S boxsum.Sum, P boxsum.Pixel](t *testing.T, v volume.Volume[P], level boxsum.Level) []S {
	t.Helper()
	s, err := volume.NewStream[S, P](v.Width, v.Height, v.Channels, &volume.Options{Level: level})
	if err != nil {
		t.Fatal(err)
	}
	all := make([]S, (v.Width+1)*(v.Height+1)*v.Channels)
	for z := range v.Depth {
		view, err := s.Push(v.Slice(z))
		if err != nil {
			t.Fatal(err)
		}
		for y := range view.Height {
			all = append(all, view.Row(y)...)
		}
	}
	return all
}

// near compares entries with a reference that was rounded in another order.
func near[S boxsum.Sum](t *testing.T, what string, got, want []S) {
	t.Helper()
	if !isFloat[S]() {
		same(t, what, got, want)
		return
	}
	bound := 1e-12
	if _, ok := any(*new(S)).(float32); ok {
		bound = 1e-4
	}
	scale := 1.0
	for _, w := range want {
		scale = max(scale, math.Abs(float64(w)))
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d entries, want %d", what, len(got), len(want))
	}
	for i := range got {
		if math.Abs(float64(got[i])-float64(want[i])) > bound*scale {
			t.Fatalf("%s: entry %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

func same[S boxsum.Sum](t *testing.T, what string, got, want []S) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d entries, want %d", what, len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("%s: entry %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

// TestWorkers tests volumes that several workers share, by bands and by slices,
// with bands of many and of few rows.
func TestWorkers(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, size := range few([][4]int{{257, 61, 61, 1}, {1031, 309, 3, 1}, {61, 257, 67, 1}, {20_001, 9, 5, 1}, {101, 37, 37, 3}}...) {
		v := random[uint8](rng, size)
		want := reference[uint32](v, false)
		squares := reference[uint64](v, true)
		for _, level := range boxsum.Levels() {
			for _, workers := range few(1, 2, 3, 5) {
				opt := &volume.Options{Level: level, Workers: workers}
				both, err := volume.IntegrateSquares[uint32, uint64](v, opt)
				if err != nil {
					t.Fatal(err)
				}
				what := fmt.Sprintf("%v, %v on %d", size, level, workers)
				same(t, what, entries(both.Sum), want)
				same(t, what+", squares", entries(both.Squares), squares)
			}
		}
		same(t, fmt.Sprint(size, ", stream"), streamed[uint32](t, v, boxsum.Level{}), want)
	}
}

func TestSquares(t *testing.T) {
	testSquares[uint8, uint32, uint64](t)
	testSquares[uint8, uint32, float64](t)
	testSquares[uint16, uint64, float64](t)
	testSquares[uint16, uint64, uint64](t)
	testSquares[uint32, uint64, uint64](t)
	testSquares[uint32, uint64, float64](t)
	testSquares[int16, int64, uint64](t)
	testSquares[int16, float64, uint64](t)
	testSquares[int16, float64, float64](t)
	testSquares[uint16, uint32, uint64](t)
	testSquares[uint8, int64, uint64](t)
	testSquares[int32, int64, uint64](t)
	testSquares[int32, int64, float64](t)
	testSquares[float32, float64, float64](t)
	testSquares[float64, float64, float64](t)
}

// testSquares compares pairs of tables, and streams of them, with the reference.
func testSquares[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square](t *testing.T) {
	t.Run(fmt.Sprintf("%T to %T and %T", *new(P), *new(S), *new(Q)), func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 6))
		for _, size := range sizes {
			v := random[P](rng, size)
			for _, level := range boxsum.Levels() {
				opt := &volume.Options{Level: level, Plain: true}
				both, err := volume.IntegrateSquares[S, Q](v, opt)
				if err != nil {
					t.Fatal(err)
				}
				near(t, fmt.Sprint("sums of ", size), entries(both.Sum), reference[S](v, false))
				near(t, fmt.Sprint("squares of ", size), entries(both.Squares), reference[Q](v, true))
				s, err := volume.NewSquaredStream[S, Q, P](v.Width, v.Height, v.Channels, opt)
				if err != nil {
					t.Fatal(err)
				}
				for z := range v.Depth {
					sums, squares, err := s.Push(v.Slice(z))
					if err != nil {
						t.Fatal(err)
					}
					for y := range sums.Height {
						same(t, "stream", sums.Row(y), both.Sum.Slice(z+1).Row(y))
						same(t, "stream of squares", squares.Row(y), both.Squares.Slice(z+1).Row(y))
					}
				}
			}
		}
	})
}

// TestOwnMemory tests that memory around a table of the caller's own does not
// change.
func TestOwnMemory(t *testing.T) {
	const mark = 0xdeadbeef
	rng := rand.New(rand.NewPCG(7, 8))
	for _, size := range append(sizes, [4]int{300, 97, 20, 1}, [4]int{303, 31, 50, 1}) {
		v := random[uint8](rng, size)
		want := reference[uint32](v, false)
		for _, gap := range []int{0, 3, 16} {
			row := (v.Width + 1) * v.Channels
			table := volume.Table[uint32]{Width: v.Width, Height: v.Height, Depth: v.Depth, Channels: v.Channels, Stride: row + gap}
			if gap == 16 { // whole lines
				table.Stride = (row+15)/16*16 + 16
			}
			table.SliceStride = (v.Height+1)*table.Stride + gap
			buf := make([]uint32, 128+(v.Depth+1)*table.SliceStride+64)
			for i := range buf {
				buf[i] = mark
			}
			start := 64
			for gap == 16 && uintptr(unsafe.Pointer(&buf[start+v.Channels]))%64 != 0 {
				start++
			}
			end := start + v.Depth*table.SliceStride + v.Height*table.Stride + row
			table.Sums = buf[start:end:end]
			for range 2 {
				if err := volume.IntegrateInto(&table, v, &volume.Options{Workers: 2}); err != nil {
					t.Fatal(err)
				}
			}
			same(t, fmt.Sprint(size, " with gaps of ", gap), entries(&table), want)
			for i, s := range buf {
				i -= start
				inside := i >= 0 && i < len(table.Sums) && i%table.SliceStride < (v.Height+1)*table.Stride && i%table.SliceStride%table.Stride < row
				if !inside && s != mark {
					t.Fatalf("%v with gaps of %d: written outside, at %d", size, gap, i)
				}
			}
		}
	}
}

// TestReuse tests that integrating into a used table sets all of it, including
// zeros.
func TestReuse(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, size := range append(sizes, [4]int{300, 97, 40, 1}) {
		v := random[uint8](rng, size)
		table, err := volume.NewTable[uint32](v.Width, v.Height, v.Depth, v.Channels)
		if err != nil {
			t.Fatal(err)
		}
		for i := range table.Sums {
			table.Sums[i] = 99
		}
		if err := volume.IntegrateInto(table, v, nil); err != nil {
			t.Fatal(err)
		}
		same(t, fmt.Sprint(size), entries(table), reference[uint32](v, false))
	}
}

func TestNoAllocations(t *testing.T) {
	v := random[uint8](rand.New(rand.NewPCG(1, 1)), [4]int{200, 100, 100, 1})
	table, err := volume.NewSquaredTable[uint32, uint64](200, 100, 100, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{1, 2} {
		opt := &volume.Options{Workers: workers}
		ref.AllocatesNothing(t, fmt.Sprintf("a volume with %d workers", workers), func() error {
			return errors.Join(volume.IntegrateInto(table.Sum, v, opt), volume.IntegrateSquaresInto(table, v, opt))
		})
	}
}

// TestStreamNotMade tests that a stream not made by a constructor returns an error
// and does not panic.
func TestStreamNotMade(t *testing.T) {
	for _, s := range []*volume.Stream[uint32, uint8]{nil, {}} {
		if _, err := s.Push(boxsum.Image[uint8]{}); !errors.Is(err, boxsum.ErrInvalid) || s.Offset() != 0 {
			t.Error(err)
		}
	}
	for _, s := range []*volume.SquaredStream[uint32, uint64, uint8]{nil, {}} {
		if _, _, err := s.Push(boxsum.Image[uint8]{}); !errors.Is(err, boxsum.ErrInvalid) {
			t.Error(err)
		}
	}
}
