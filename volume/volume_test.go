package volume_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
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

// arrayOf returns a volume as an array.
func arrayOf[P boxsum.Pixel](v volume.Volume[P]) raster.Array {
	return raster.ArrayOf(v.Pix, raster.VolumeExtent(v.Width, v.Height, v.Depth, v.Channels, v.Stride, v.SliceStride))
}

// reference returns all entries without gaps, computed by recurrence from seven
// preceding entries each, modulo the sum type or in float64.
func reference[S boxsum.Sum](v raster.Array, square bool) []S {
	w, h, d, c := v.Width+1, v.Height+1, v.Depth+1, v.Channels
	sums, floats := make([]S, w*h*d*c), make([]float64, w*h*d*c)
	at := func(x, y, z, ch int) int { return ((z*h+y)*w+x)*c + ch }
	var row []float64
	for z := 1; z < d; z++ {
		slice := sliceOf(&v, z-1)
		for y := 1; y < h; y++ {
			row = slice.Floats(row[:0], y-1, 0, v.Width*c, 1)
			for x := 1; x < w; x++ {
				for ch := range c {
					f := row[(x-1)*c+ch]
					s := S(int64(f))
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

// sliceOf returns a slice of a volume as an image.
func sliceOf(v *raster.Array, z int) raster.Array {
	return raster.Array{Data: v.From(z * v.SliceStride), Type: v.Type, Extent: raster.PlaneExtent(v.Width, v.Height, v.Channels, v.Stride)}
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

// randomArrays holds functions that return random volumes, by the type of the voxels.
var randomArrays = [raster.NumTypes]func(rng *rand.Rand, size [4]int) raster.Array{
	raster.U8: randomArray[uint8], raster.U16: randomArray[uint16], raster.U32: randomArray[uint32], raster.I16: randomArray[int16],
	raster.I32: randomArray[int32], raster.F32: randomArray[float32], raster.F64: randomArray[float64],
}

func randomArray[P boxsum.Pixel](rng *rand.Rand, size [4]int) raster.Array {
	return arrayOf(random[P](rng, size))
}

// TestIntegrate compares tables of every pair of types, at every level and number of workers,
// and those of a stream with the reference, and the floats of all with each other. The public
// functions only pass their arguments to the jobs that this test runs.
func TestIntegrate(t *testing.T) {
	for _, p := range raster.SumPairs.For(raster.Volume) {
		t.Run(p.String(), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			for _, size := range sizes {
				v := randomArrays[p.Pixel](rng, size)
				want, _ := made(t, v, p.Sum, 0, engine.Options{Level: engine.Levels()[0], Workers: 1})
				nearReference(t, fmt.Sprint("reference of ", size), want, v, false)
				for _, level := range engine.Levels() {
					for _, workers := range few(1, 2, 3) {
						got, _ := made(t, v, p.Sum, 0, engine.Options{Level: level, Workers: workers})
						sameBits(t, fmt.Sprintf("%v, %v on %d", size, level, workers), got, want)
					}
					got, _ := pushed(t, v, p.Sum, 0, engine.Options{Level: level})
					sameBits(t, fmt.Sprintf("%v, stream of %v", size, level), got, want)
				}
			}
		})
	}
}

// made returns the entries of the table of a volume, and of that of its squares unless square
// is 0, without gaps.
func made(t *testing.T, v raster.Array, sum, square raster.Type, opt engine.Options) (sums, squares raster.Array) {
	t.Helper()
	job := engine.Job{Kind: engine.Volume, Src: v, Plain: true, Options: opt}
	job.Sums.Type, job.Squares.Type = sum, square
	if err := job.Check(); err != nil {
		t.Fatal(err)
	}
	e := v.Extent
	e.Stride, e.SliceStride = 0, 0
	for _, dst := range []*engine.Table{&job.Sums, &job.Squares} {
		var err error
		if dst.Type != 0 {
			dst.Array, err = raster.NewTable(dst.Type, e)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := job.Run(); err != nil {
		t.Fatal(err)
	}
	return packed(&job.Sums.Array, v.Depth+1), packed(&job.Squares.Array, v.Depth+1)
}

// pushed is like made for a stream.
func pushed(t *testing.T, v raster.Array, sum, square raster.Type, opt engine.Options) (sums, squares raster.Array) {
	t.Helper()
	job := engine.Job{Kind: engine.Volume, Src: v, Plain: true, Options: opt}
	job.Src.Data, job.Src.Extent = nil, raster.VolumeExtent(v.Width, v.Height, 0, v.Channels, 0, 0)
	job.Sums.Type, job.Squares.Type = sum, square
	s, err := engine.NewSlices(&job)
	if err != nil {
		t.Fatal(err)
	}
	size := (v.Width + 1) * (v.Height + 1) * v.Channels
	sums.Type, squares.Type = sum, square
	sums.Data = make([]byte, size*sum.Bytes())
	if square != 0 {
		squares.Data = make([]byte, size*square.Bytes())
	}
	for z := range v.Depth {
		slice := sliceOf(&v, z)
		a, b, err := s.Push(slice)
		if err != nil {
			t.Fatal(err)
		}
		sums.Data = append(sums.Data, packed(&a, 1).Data...)
		if square != 0 {
			squares.Data = append(squares.Data, packed(&b, 1).Data...)
		}
	}
	return sums, squares
}

// packed returns the entries of a table of some slices without gaps. The table may have no type.
func packed(table *raster.Array, slices int) raster.Array {
	to := raster.Array{Type: table.Type}
	if table.Type == 0 {
		return to
	}
	row := (table.Width + 1) * table.Channels * table.Type.Bytes()
	for z := range slices {
		for y := range table.Height + 1 {
			to.Data = append(to.Data, table.From(z*table.SliceStride + y*table.Stride)[:row]...)
		}
	}
	return to
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

// nearReference compares the entries of a table of a volume, or of its squares, with the
// reference.
func nearReference(t *testing.T, what string, got, v raster.Array, square bool) {
	t.Helper()
	switch got.Type {
	case raster.U32:
		near(t, what, raster.Elems[uint32](got.Data), reference[uint32](v, square))
	case raster.U64:
		near(t, what, raster.Elems[uint64](got.Data), reference[uint64](v, square))
	case raster.I64:
		near(t, what, raster.Elems[int64](got.Data), reference[int64](v, square))
	case raster.F32:
		near(t, what, raster.Elems[float32](got.Data), reference[float32](v, square))
	case raster.F64:
		near(t, what, raster.Elems[float64](got.Data), reference[float64](v, square))
	}
}

// sameBits tests that the entries of two tables have the same bits.
func sameBits(t *testing.T, what string, got, want raster.Array) {
	t.Helper()
	if !bytes.Equal(got.Data, want.Data) {
		t.Fatalf("%s: entries differ: %d and %d bytes", what, len(got.Data), len(want.Data))
	}
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
		want := reference[uint32](arrayOf(v), false)
		squares := reference[uint64](arrayOf(v), true)
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

// TestSquares compares pairs of tables, and streams of them, with the reference.
func TestSquares(t *testing.T) {
	for _, p := range raster.SumPairs.For(raster.Volume) {
		for _, square := range raster.SquarePairs.For(raster.Volume).Of(p.Pixel) {
			t.Run(p.String()+"+"+square.Short(), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(5, 6))
				for _, size := range sizes {
					v := randomArrays[p.Pixel](rng, size)
					for _, level := range engine.Levels() {
						opt := engine.Options{Level: level}
						sums, squares := made(t, v, p.Sum, square, opt)
						nearReference(t, fmt.Sprint("sums of ", size), sums, v, false)
						nearReference(t, fmt.Sprint("squares of ", size), squares, v, true)
						streamedSums, streamedSquares := pushed(t, v, p.Sum, square, opt)
						sameBits(t, fmt.Sprint("stream of ", size), streamedSums, sums)
						sameBits(t, fmt.Sprint("stream of squares of ", size), streamedSquares, squares)
					}
				}
			})
		}
	}
}

// TestOwnMemory tests that memory around a table of the caller's own does not
// change.
func TestOwnMemory(t *testing.T) {
	const mark = 0xdeadbeef
	rng := rand.New(rand.NewPCG(7, 8))
	for _, size := range append(sizes, [4]int{300, 97, 20, 1}, [4]int{303, 31, 50, 1}) {
		v := random[uint8](rng, size)
		want := reference[uint32](arrayOf(v), false)
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
		same(t, fmt.Sprint(size), entries(table), reference[uint32](arrayOf(v), false))
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
