package windows

import (
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
