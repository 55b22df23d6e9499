package windows

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// TestAddRows compares sums of several rows at every level with those of one row after the other.
func TestAddRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 7))
	for range 200 {
		testAddRows[float32](t, rng)
		testAddRows[float64](t, rng)
	}
}

func testAddRows[P float32 | float64](t *testing.T, rng *rand.Rand) {
	t.Helper()
	n, offset := rng.IntN(120), float64(float32(rng.NormFloat64()))
	rows := make([][]byte, rng.IntN(20))
	for k := range rows {
		row := make([]P, n)
		for i := range row {
			if row[i] = P(rng.NormFloat64() * 1000); rng.IntN(40) == 0 {
				row[i] = P(math.NaN())
			}
		}
		rows[k] = raster.Bytes(row)
	}
	start := make([]float64, n+5)
	for i := range start {
		start[i] = rng.NormFloat64()
	}
	pixel := raster.TypeOf[P]()
	plain := NewColumns(processor.Portable, pixel, raster.F64, raster.F64)
	want, wantSquares := slices.Clone(start), slices.Clone(start)
	for _, row := range rows {
		plain.Add(raster.Bytes(want[:n]), raster.Bytes(wantSquares[:n]), row, offset, 1)
	}
	for _, level := range processor.Levels() {
		c := NewColumns(level, pixel, raster.F64, raster.F64)
		for _, squared := range []bool{false, true} {
			got, squares := slices.Clone(start), slices.Clone(start)
			if c.AddRows(raster.Bytes(got[:n]), nil, rows, offset); squared {
				copy(got, start)
				c.AddRows(raster.Bytes(got[:n]), raster.Bytes(squares[:n]), rows, offset)
			}
			if !sameBits(got, want) || squared && !sameBits(squares, wantSquares) {
				t.Fatalf("%v: sums of %d rows of %d of %T differ", level, len(rows), n, *new(P))
			}
		}
	}
}

// TestValidMeans compares means of valid pixels at every level with those of the portable loop.
func TestValidMeans(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 8))
	for range 200 {
		n, offset := rng.IntN(120), rng.NormFloat64()
		var sums, counts Sums
		hi, lo, hiCount, loCount := make([]float64, n), make([]float64, n), make([]uint32, n), make([]uint32, n)
		for i := range n {
			hi[i], lo[i] = rng.NormFloat64()*100, rng.NormFloat64()*100
			loCount[i] = rng.Uint32()
			hiCount[i] = loCount[i] + uint32(rng.IntN(4)*rng.IntN(1<<29))
			if rng.IntN(20) == 0 {
				hi[i] = math.NaN()
			}
		}
		sums, counts = Sums{raster.F64, raster.Bytes(hi), raster.Bytes(lo)}, Sums{raster.U32, raster.Bytes(hiCount), raster.Bytes(loCount)}
		doubles, singles := make([]float64, n+3), make([]float32, n+3)
		ValidMeans(processor.Portable, raster.F64, raster.Bytes(doubles[:n]), sums, counts, offset)
		ValidMeans(processor.Portable, raster.F32, raster.Bytes(singles[:n]), sums, counts, offset)
		for i, v := range doubles[:n] {
			want := (hi[i]-lo[i])/float64(hiCount[i]-loCount[i]) + offset
			if hiCount[i] == loCount[i] {
				want = math.NaN()
			}
			if v != want && (v == v || want == want) || singles[i] != float32(v) && v == v {
				t.Fatalf("mean %d of %d is %v and %v, want %v", i, n, v, singles[i], want)
			}
		}
		for _, level := range processor.Levels() {
			got, single := make([]float64, n+3), make([]float32, n+3)
			ValidMeans(level, raster.F64, raster.Bytes(got[:n]), sums, counts, offset)
			ValidMeans(level, raster.F32, raster.Bytes(single[:n]), sums, counts, offset)
			if !sameBits(got, doubles) || !slices.Equal(raster.Bytes(single), raster.Bytes(singles)) {
				t.Fatalf("%v: means of %d windows differ", level, n)
			}
		}
	}
}

func sameBits(a, b []float64) bool { return slices.Equal(raster.Bytes(a), raster.Bytes(b)) }
