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
			testMedians(t, level, rng, func() uint8 { return uint8(rng.Uint32()) })
			testMedians(t, level, rng, func() uint8 { return uint8(rng.IntN(3)) })
			testMedians(t, level, rng, func() uint16 { return uint16(rng.Uint32()) })
			testMedians(t, level, rng, func() float32 { return float32(rng.NormFloat64()) })
			testMedians(t, level, rng, func() float32 { return specialOr(rng, 4, 6, float32(rng.IntN(3)-1)) })
			testMedians(t, level, rng, func() float32 { return specialOr(rng, 40, len(specials), float32(rng.IntN(3)-1)) })
			testMedians(t, level, rng, func() float64 { return rng.NormFloat64() })
			testMedians(t, level, rng, func() float64 { return float64(specialOr(rng, 4, 6, float32(rng.NormFloat64()))) })
			testMedians(t, level, rng, func() float64 { return float64(specialOr(rng, 40, len(specials), float32(rng.NormFloat64()))) })
		}
	}
}

// specials are floats that need care; NaN is last.
var specials = []float32{0, float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32, -1e-40, float32(math.Copysign(0, -1)), float32(math.NaN()),
	-float32(math.NaN()), math.Float32frombits(0x7f800001), math.Float32frombits(0xffffffff)}

// specialOr returns one of the first specials, one time in the given number, and v otherwise.
func specialOr(rng *rand.Rand, times, first int, v float32) float32 {
	if rng.IntN(times) == 0 {
		return specials[rng.IntN(first)]
	}
	return v
}

func testMedians[P raster.Number](t *testing.T, level processor.Level, rng *rand.Rand, pixel func() P) {
	t.Helper()
	typ, size, step := raster.TypeOf[P](), 3+2*rng.IntN(2), 1+rng.IntN(4)
	if !HasMedians(level, typ, size) {
		return
	}
	const guard = 77
	n := MinMedianBytes/typ.Bytes() + rng.IntN(200)
	rows, pixels := make([][]byte, size+1), make([][]P, size+1)
	special := false
	for k := range rows {
		pixels[k] = make([]P, n+(size-1)*step)
		for i := range pixels[k] {
			v := pixel()
			if v != v || v == 0 && math.Signbit(float64(v)) {
				if beside := size / 2 * step; i < beside || i >= n+beside {
					v = 1 // Medians does not look at it
				} else {
					special = true
				}
			}
			pixels[k][i] = v
		}
		rows[k] = raster.Bytes(pixels[k])
	}
	dst := [2][]P{slices.Repeat([]P{guard}, n+64), slices.Repeat([]P{guard}, n+64)}
	if got := Medians(level, typ, raster.Bytes(dst[0][:n]), raster.Bytes(dst[1][:n]), rows, step, Ahead{}); got == special {
		t.Fatalf("%v: Medians is %v for %d×%[3]d of %T, special pixels: %v", level, got, size, pixels[0][0], special)
	} else if !got || typ.Float() && rng.IntN(2) == 0 {
		for k, row := range rows {
			keys := slices.Repeat([]byte{guard}, len(row)+64)
			MedianKeys(level, typ, keys[:len(row)], row)
			for i, v := range pixels[k] {
				if key := raster.Bytes([]P{v}); string(keys[i*typ.Bytes():][:typ.Bytes()]) != string(keyBytes(key)) {
					t.Fatalf("%v: key of %v (%x) is %x, want %x", level, v, key, keys[i*typ.Bytes():][:typ.Bytes()], keyBytes(key))
				}
			}
			for i, b := range keys[len(row):] {
				if b != guard {
					t.Fatalf("%v: byte %d of %d keys of %T was written", level, len(row)+i, len(row), pixels[0][0])
				}
			}
			rows[k] = keys[:len(row)]
		}
		KeyMedians(level, typ, raster.Bytes(dst[0][:n]), raster.Bytes(dst[1][:n]), rows, step)
	}
	var all []P
	for y := range dst {
		for x, v := range dst[y] {
			want := P(guard)
			if x < n {
				all = all[:0]
				for _, row := range pixels[y:][:size] {
					for j := range size {
						all = append(all, row[x+j*step])
					}
				}
				want = medianOf(all)
			}
			if !slices.Equal(raster.Bytes([]P{v}), raster.Bytes([]P{want})) {
				t.Fatalf("%v: median %d of row %d, %d×%[4]d of %[5]T, is %[5]v, want %v", level, x, y, size, v, want)
			}
		}
	}
}

// medianOf returns a NaN if there is one; -0 is before 0.
func medianOf[P raster.Number](all []P) P {
	slices.SortFunc(all, func(a, b P) int {
		switch {
		case a < b || a == b && math.Signbit(float64(a)) && !math.Signbit(float64(b)):
			return -1
		case a > b || a == b && math.Signbit(float64(b)) && !math.Signbit(float64(a)):
			return 1
		}
		return 0
	})
	for _, v := range all {
		if v != v {
			return quiet[P]()
		}
	}
	return all[len(all)/2]
}

// quiet returns the NaN of medians.
func quiet[P raster.Number]() P {
	if raster.TypeOf[P]() == raster.F32 {
		return raster.Elems[P](raster.Bytes([]uint32{0x7fc00000}))[0]
	}
	return raster.Elems[P](raster.Bytes([]uint64{0x7ff8000000000001}))[0]
}

// keyBytes returns the key of a float.
func keyBytes(float []byte) []byte {
	if len(float) == 4 {
		bits := raster.Elems[int32](float)[0]
		if v := raster.Elems[float32](float)[0]; v != v {
			bits = 0x7fc00000
		}
		return raster.Bytes([]int32{bits ^ bits>>31&math.MaxInt32})
	}
	bits := raster.Elems[int64](float)[0]
	if v := raster.Elems[float64](float)[0]; v != v {
		bits = 0x7ff8000000000001
	}
	return raster.Bytes([]int64{bits ^ bits>>63&math.MaxInt64})
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
