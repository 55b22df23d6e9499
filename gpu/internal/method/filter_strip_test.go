package method

import (
	"math/big"
	"testing"

	"github.com/boxsum/boxsum/gpu/internal/kernels"
	"github.com/boxsum/boxsum/internal/window"
)

// TestStripMean checks that the mean of a small window is the second byte of a float, for all areas
// and the sums next to every tie.
func TestStripMean(t *testing.T) {
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(v) }
	for area := 2; area <= kernels.FilterStripSmall; area++ {
		inverse, bias := stripMean(area)
		for mean := range 256 {
			first, last := max(0, mean*area-area/2), min(255*area, (mean+1)*area-area/2-1)
			for _, sum := range []int{first, last} {
				v := new(big.Float).SetPrec(200).Mul(number(1<<23+float64(sum)), number(float64(inverse)))
				v.Add(v, number(float64(bias)))
				v.Sub(v, number(1<<15))
				if got, _ := v.Int64(); v.Sign() < 0 || got != int64(mean) {
					t.Fatalf("%d pixels with a sum of %d: %v, want %d", area, sum, v, mean)
				}
			}
		}
	}
}

// TestStripRoom checks that windows which are too wide for a strip go to other kernels.
func TestStripRoom(t *testing.T) {
	var job Job
	job.Width, job.Height, job.Channels, job.Count = 1024, 300, 1, 1
	for width := 1; width <= kernels.FilterStripReach+2; width++ {
		for right := range width {
			f := &Filter{Kind: BoxFilter, Shape: window.Shape{Left: width - 1 - right, Right: right, Border: window.Replicate}}
			if name := f.stripKernel(job); name != "" && meanSkip(width, right) >= kernels.FilterStripLanes || name == "" && width <= 240 {
				t.Fatalf("a window of %d columns, %d of them on the right: %q", width, right, name)
			}
		}
	}
}
