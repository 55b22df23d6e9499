package histograms_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/boxsum/boxsum/internal/kernel/histograms"
	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// guard is the number of elements before and after those that a kernel may touch.
const guard = 64

func numbers(rng *rand.Rand, n int) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = rng.Float64()*60 - 30
	}
	return all
}

func TestBins(t *testing.T) {
	testBins[uint32](t)
	testBins[uint64](t)
	testBins[int64](t)
	testBins[float32](t)
	testBins[float64](t)
}

// testBins compares every level bit for bit with the portable loop, for all numbers of bins, with
// guards around what is written.
func testBins[S raster.Number](t *testing.T) {
	t.Run(fmt.Sprintf("%T", *new(S)), func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 6))
		for bins := 2; bins <= histograms.MaxBins; bins++ {
			n, gap, step, weightStep := 1+rng.IntN(9), rng.IntN(3)*rng.IntN(20), 1+rng.IntN(3), rng.IntN(2)
			pitch := bins + gap
			index := make([]uint32, n*step)
			for i := range index {
				if index[i] = uint32(rng.IntN(bins)); rng.IntN(8) == 0 {
					index[i] = histograms.NoBin
				}
			}
			weights := numbers(rng, n)
			start := numbers(rng, n*pitch+bins+2*guard+7)
			run := func(level processor.Level) (above, run []S) {
				above, run = make([]S, n*pitch+2*guard), make([]S, bins+2*guard)
				weight := make([]S, n)
				for i := range weight {
					weight[i] = S(int(weights[i]))
				}
				for i := range above {
					above[i] = S(int(start[i]))
				}
				for i := range run {
					run[i] = S(int(start[i+7]))
				}
				histograms.For(raster.TypeOf[S](), level)(&histograms.Row{
					Above: raster.Bytes(above[guard:][:n*pitch]), Pitch: pitch, Index: index, Step: step,
					Weights: raster.Bytes(weight), WeightStep: weightStep, Run: raster.Bytes(run[guard:][:bins]), Bins: bins, N: n,
				})
				return above, run
			}
			above, sums := run(processor.Portable)
			for _, level := range processor.Levels()[1:] {
				got, gotSums := run(level)
				for i := range above {
					if got[i] != above[i] {
						t.Fatalf("level %d, %d bins, pitch %d, %d pixels: element %d is %v, want %v", level, bins, pitch, n, i-guard, got[i], above[i])
					}
				}
				for i := range sums {
					if gotSums[i] != sums[i] {
						t.Fatalf("level %d, %d bins: the row's bin %d is %v, want %v", level, bins, i-guard, gotSums[i], sums[i])
					}
				}
			}
		}
	})
}

// TestBinsStream compares what kernels write with non-temporal stores with the bins they leave in
// Above, and checks that they do so only if bins are whole cache lines.
func TestBinsStream(t *testing.T) {
	testBinsStream[uint32](t)
	testBinsStream[uint64](t)
	testBinsStream[int64](t)
	testBinsStream[float32](t)
	testBinsStream[float64](t)
}

func testBinsStream[S raster.Number](t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	size := int(unsafe.Sizeof(*new(S)))
	line := raster.LineBytes / size
	for _, level := range processor.Levels() {
		for bins := 2; bins <= histograms.MaxBins; bins++ {
			for _, shift := range []int{0, 1} {
				n, pitch := 1+rng.IntN(5), bins+rng.IntN(2)*line
				index := make([]uint32, n)
				for i := range index {
					index[i] = uint32(rng.IntN(bins))
				}
				buf := make([]S, n*pitch+2*guard+line)
				at := guard
				for uintptr(unsafe.Pointer(&buf[at]))%raster.LineBytes != 0 {
					at++
				}
				at += shift
				above := make([]S, n*pitch)
				row := histograms.Row{
					Above: raster.Bytes(above), Pitch: pitch, Index: index, Step: 1,
					Weights: raster.Bytes([]S{3}), Run: raster.Bytes(make([]S, bins)), Bins: bins, N: n, Dst: raster.Bytes(buf[at:][:n*pitch]),
				}
				for i := range above {
					above[i] = S(i)
				}
				histograms.For(raster.TypeOf[S](), level)(&row)
				processor.StoreFence()
				if want := level > processor.Portable && bins%line == 0 && shift == 0; row.Written != want {
					t.Fatalf("level %d, %d bins, %d off the line: written is %v, want %v", level, bins, shift, row.Written, want)
				}
				for i, v := range buf {
					var want S
					if j := i - at; row.Written && j >= 0 && j < n*pitch && j%pitch < bins {
						want = above[j]
					}
					if v != want {
						t.Fatalf("level %d, %d bins: element %d is %v, want %v", level, bins, i-at, v, want)
					}
				}
			}
		}
	}
}
