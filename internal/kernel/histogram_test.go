package kernel_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/boxsum/boxsum/internal/kernel"
)

func TestBins(t *testing.T) {
	testBins[uint32](t)
	testBins[uint64](t)
	testBins[int64](t)
	testBins[float32](t)
	testBins[float64](t)
}

// testBins holds every level to the bits of the portable loop, for all numbers
// of bins, with guards round what is written.
func testBins[S kernel.Sum](t *testing.T) {
	t.Run(fmt.Sprintf("%T", *new(S)), func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 6))
		for bins := 2; bins <= kernel.MaxBins; bins++ {
			n, gap, step, weightStep := 1+rng.IntN(9), rng.IntN(3)*rng.IntN(20), 1+rng.IntN(3), rng.IntN(2)
			pitch := bins + gap
			index := make([]uint32, n*step)
			for i := range index {
				if index[i] = uint32(rng.IntN(bins)); rng.IntN(8) == 0 {
					index[i] = kernel.NoBin
				}
			}
			weights := randomPixels[float64](rng, 1, n)
			start := randomPixels[float64](rng, 1, n*pitch+bins+2*guard)
			run := func(level kernel.Level) (above, run []S) {
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
				kernel.Bins[S](level)(&kernel.BinRow[S]{
					Above: above[guard:][:n*pitch], Pitch: pitch, Index: index, Step: step,
					Weights: weight, WeightStep: weightStep, Run: run[guard:][:bins], N: n,
				})
				return above, run
			}
			above, sums := run(kernel.Portable)
			for _, level := range levels()[1:] {
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

// TestBinsStream holds what kernels write past the caches against what they
// leave behind, and that they do so only where bins are whole lines.
func TestBinsStream(t *testing.T) {
	testBinsStream[uint32](t)
	testBinsStream[uint64](t)
	testBinsStream[int64](t)
	testBinsStream[float32](t)
	testBinsStream[float64](t)
}

func testBinsStream[S kernel.Sum](t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	size := int(unsafe.Sizeof(*new(S)))
	line := kernel.LineBytes / size
	for _, level := range levels() {
		for bins := 2; bins <= kernel.MaxBins; bins++ {
			for _, shift := range []int{0, 1} {
				n, pitch := 1+rng.IntN(5), bins+rng.IntN(2)*line
				index := make([]uint32, n)
				for i := range index {
					index[i] = uint32(rng.IntN(bins))
				}
				buf := make([]S, n*pitch+2*guard+line)
				at := guard
				for uintptr(unsafe.Pointer(&buf[at]))%kernel.LineBytes != 0 {
					at++
				}
				at += shift
				row := kernel.BinRow[S]{
					Above: make([]S, n*pitch), Pitch: pitch, Index: index, Step: 1,
					Weights: []S{3}, Run: make([]S, bins), N: n, Dst: buf[at:][:n*pitch],
				}
				for i := range row.Above {
					row.Above[i] = S(i)
				}
				kernel.Bins[S](level)(&row)
				kernel.StoreFence()
				if want := level > kernel.Portable && bins%line == 0 && shift == 0; row.Written != want {
					t.Fatalf("level %d, %d bins, %d off the line: written is %v, want %v", level, bins, shift, row.Written, want)
				}
				for i, v := range buf {
					var want S
					if j := i - at; row.Written && j >= 0 && j < n*pitch && j%pitch < bins {
						want = row.Above[j]
					}
					if v != want {
						t.Fatalf("level %d, %d bins: element %d is %v, want %v", level, bins, i-at, v, want)
					}
				}
			}
		}
	}
}

func TestStreamCopy(t *testing.T) {
	testStreamCopy[uint32](t)
	testStreamCopy[float64](t)
}

func testStreamCopy[S kernel.Sum](t *testing.T) {
	src := make([]S, 500)
	for i := range src {
		src[i] = S(i + 1)
	}
	for _, n := range []int{0, 1, 3, 15, 16, 17, 31, 64, 65, 127, 128, 400} {
		for at := range 17 {
			dst := make([]S, n+2*guard)
			kernel.StreamCopy(dst[guard+at:][:n], src[at/2:])
			kernel.StoreFence()
			for i, v := range dst {
				var want S
				if j := i - guard - at; j >= 0 && j < n {
					want = src[at/2+j]
				}
				if v != want {
					t.Fatalf("%d elements to %d: element %d is %v, want %v", n, at, i-guard-at, v, want)
				}
			}
		}
	}
}
