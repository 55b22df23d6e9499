package windows

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// TestMedians compares medians with those of sorted pixels.
func TestMedians(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, level := range processor.Levels() {
		for range 60 {
			testMedians[uint8](t, rng, level, 256)
			testMedians[uint8](t, rng, level, 3)
			testMedians[uint16](t, rng, level, 1<<16)
		}
	}
}

// Medians of floats are those of sorted keys, or NaN.
func TestMediansOfFloats(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 5))
	some := []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32, -1e-40, float32(math.NaN()), -float32(math.NaN()), math.Float32frombits(0x7f800001), math.Float32frombits(0xffffffff)}
	const guard = 0x12345678
	for _, level := range processor.Levels() {
		for trial := range 60 {
			size, step, n := 3+2*rng.IntN(2), 1+rng.IntN(4), 64+rng.IntN(200)
			columns := n + (size-1)*step
			if !HasMedians(level, raster.F32, size, columns) {
				continue
			}
			rows, keys := make([][]float32, size), make([][]byte, size)
			for k := range rows {
				rows[k] = make([]float32, columns)
				for i := range rows[k] {
					rows[k][i] = float32(rng.NormFloat64())
					if rng.IntN(4) == 0 {
						rows[k][i] = some[rng.IntN(6)]
					} else if trial%3 > 0 && rng.IntN(100) == 0 {
						rows[k][i] = some[6+rng.IntN(4)]
					}
				}
				all := slices.Repeat([]uint32{guard}, columns+16)
				MedianKeys(level, raster.F32, raster.Bytes(all[:columns]), raster.Bytes(rows[k]))
				for i, v := range rows[k] {
					bits := int32(math.Float32bits(v))
					if v != v {
						bits = 0x7fc00000
					}
					if want := bits ^ bits>>31&math.MaxInt32; int32(all[i]) != want {
						t.Fatalf("%v: key of %v is %#x, want %#x", level, v, all[i], want)
					}
				}
				if i := slices.IndexFunc(all[columns:], func(v uint32) bool { return v != guard }); i >= 0 {
					t.Fatalf("%v: key %d of %d was written", level, columns+i, columns)
				}
				keys[k] = raster.Bytes(all[:columns])
			}
			plane := columns + 64
			planes, dst := make([]int32, plane*size), slices.Repeat([]uint32{guard}, n+64)
			SortColumns(level, raster.F32, raster.Bytes(planes), plane, keys)
			Medians(level, raster.F32, raster.Bytes(dst[:n]), raster.Bytes(planes), plane, step, size)
			for x := range dst {
				want := uint32(guard)
				if x < n {
					var all []int32
					for _, row := range keys {
						for j := range size {
							all = append(all, raster.Elems[int32](row)[x+j*step])
						}
					}
					slices.Sort(all)
					key := all[len(all)/2]
					if last := all[len(all)-1]; last > 0x7f800000 {
						key = last
					}
					want = uint32(key ^ key>>31&math.MaxInt32)
				}
				if dst[x] != want {
					t.Fatalf("%v: median %d of %d, %d×%d, is %#x, want %#x", level, x, n, size, size, dst[x], want)
				}
			}
		}
	}
}

func testMedians[P raster.Number](t *testing.T, rng *rand.Rand, level processor.Level, values int) {
	t.Helper()
	size, step, n := 3+2*rng.IntN(2), 1+rng.IntN(4), 64+rng.IntN(200)
	columns := n + (size-1)*step
	pixel := raster.TypeOf[P]()
	if !HasMedians(level, pixel, size, columns) {
		return
	}
	rows := make([][]P, size)
	for k := range rows {
		rows[k] = make([]P, columns)
		for i := range rows[k] {
			rows[k][i] = P(rng.IntN(values))
		}
	}
	plane := columns + 64
	planes, dst := make([]P, plane*size), make([]P, n+64)
	memory := make([][]byte, len(rows))
	for i := range rows {
		memory[i] = raster.Bytes(rows[i])
	}
	SortColumns(level, pixel, raster.Bytes(planes), plane, memory)
	Medians(level, pixel, raster.Bytes(dst[:n]), raster.Bytes(planes), plane, step, size)
	var all []P
	for x := range dst {
		want := P(0)
		if x < n {
			all = all[:0]
			for _, row := range rows {
				for j := range size {
					all = append(all, row[x+j*step])
				}
			}
			slices.Sort(all)
			want = all[len(all)/2]
		}
		if dst[x] != want {
			t.Fatalf("%v: median %d of %d, %d×%d of %T, is %v, want %v", level, x, n, size, size, want, dst[x], want)
		}
	}
}

func TestHalve(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for _, level := range processor.Levels() {
		for n := range 150 {
			a, b, dst := make([]uint8, 2*n), make([]uint8, 2*n), make([]uint8, n+40)
			for i := range a {
				a[i], b[i] = uint8(rng.Uint32()), uint8(rng.Uint32())
			}
			Halve(level, dst[:n], a, b)
			for i := range dst {
				want := uint8(0)
				if i < n {
					want = uint8((int(a[2*i]) + int(a[2*i+1]) + int(b[2*i]) + int(b[2*i+1]) + 2) / 4)
				}
				if dst[i] != want {
					t.Fatalf("%v: %d of %d is %d, want %d", level, i, n, dst[i], want)
				}
			}
		}
	}
}
