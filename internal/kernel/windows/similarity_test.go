package windows

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// TestDistances compares every level with the definition, and looks for writes beyond the end.
func TestDistances(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 33))
	for n := 0; n < 300; n += 2 {
		a, b, before := make([]byte, n), make([]byte, n), make([]byte, n+20)
		for i := range a {
			a[i], b[i] = uint8(rng.IntN(256)), uint8(rng.IntN(256))
		}
		for i := range before {
			before[i] = uint8(rng.IntN(256))
		}
		for _, level := range processor.Levels() {
			got := bytes.Clone(before)
			Distances(level, raster.U8, got[:n], a, b)
			for i, v := range got {
				if i < n && v != max(a[i], b[i])-min(a[i], b[i]) || i >= n && v != before[i] {
					t.Fatalf("level %v: byte %d of %d is %d", level, i, n, v)
				}
			}
			copy(got, before)
			Distances(level, raster.U16, got[:n], a, b)
			words, x, y := raster.Elems[uint16](got), raster.Elems[uint16](a), raster.Elems[uint16](b)
			for i, v := range words {
				if i < n/2 && v != max(x[i], y[i])-min(x[i], y[i]) || i >= n/2 && v != raster.Elems[uint16](before)[i] {
					t.Fatalf("level %v: word %d of %d is %d", level, i, n, v)
				}
			}
		}
	}
}

// TestSimilarity compares the bits of every level with the definitions, for windows of bytes, among them black and white ones, and looks for
// writes beyond the end.
func TestSimilarity(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 34))
	for n := range 80 {
		count := []int{1, 9, 49, 121}[n%4]
		values := make([][]uint32, 5)
		var sums [5]Sums
		for i := range sums {
			values[i] = make([]uint32, n)
			sums[i] = Sums{Type: raster.U32, Hi: make([]byte, 4*n), Lo: make([]byte, 4*n)}
		}
		for i := range n {
			base, spread := rng.IntN(256), 1+rng.IntN(256)
			for range count {
				x, y := uint32(min(255, base+rng.IntN(spread))), uint32(min(255, base+rng.IntN(spread)))
				if i%9 == 0 {
					x, y = 255, uint32(255*(i/9%2))
				}
				for k, v := range []uint32{x, y, x * x, y * y, (x - y) * (x - y)} {
					values[k][i] += v
				}
			}
			for k := range sums {
				low := rng.Uint32()
				raster.Elems[uint32](sums[k].Lo)[i], raster.Elems[uint32](sums[k].Hi)[i] = low, low+values[k][i]
			}
		}
		s := Similarity{Count: uint64(count), C1: 6.5 * float64(count*count), C2: 58.5 * float64(count*count), Factor: 1.02}
		const least = 1e-5
		compared, correlated := make([]float64, n), make([]float64, n)
		inverse := 1 / float64(count)
		for i := range n {
			x, y, xx, yy, dd := int(values[0][i]), int(values[1][i]), int(values[2][i]), int(values[3][i]), int(values[4][i])
			covariance := float64(count*(xx+yy-dd) - 2*x*y)
			top, bottom := float64(s.Factor*covariance)+s.C2, float64(s.Factor*float64(count*(xx+yy)-x*x-y*y))+s.C2
			compared[i] = float64((float64(2*x*y)+s.C1)*top) / float64((float64(x*x+y*y)+s.C1)*bottom)
			c := max(float64(covariance*(inverse/2)), least)
			a, b := max(float64(float64(count*xx-x*x)*inverse), least), max(float64(float64(count*yy-y*y)*inverse), least)
			correlated[i] = float64(c/a) * float64(c/b)
		}
		before := make([]float64, n+9)
		for i := range before {
			before[i] = rng.Float64()
		}
		for _, level := range processor.Levels() {
			s.Level = level
			for name, run := range map[string]func(scores []float64) ([]float64, int){
				"compare":   func(scores []float64) ([]float64, int) { return compared, s.Compare(scores, &sums) },
				"correlate": func(scores []float64) ([]float64, int) { return correlated, s.Correlate(scores, &sums, least) },
			} {
				got := slices.Clone(before)
				want, done := run(got[:n])
				for i, v := range got {
					if i < done && math.Float64bits(v) != math.Float64bits(want[i]) || i >= done && v != before[i] {
						t.Fatalf("level %v, %s: score %d of %d is %v", level, name, i, n, v)
					}
				}
				if level != processor.Portable && windowTable[level].compareSums != nil && done != n&^(similarityUnit-1) {
					t.Fatalf("level %v, %s: %d scores of %d", level, name, done, n)
				}
			}
		}
	}
}
