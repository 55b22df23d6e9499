package method

import (
	"math/big"
	"testing"

	"github.com/boxsum/boxsum/gpu/internal/kernels"
)

// The mean of a small window is the second byte of a float, for all areas and the sums next to
// every tie.
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
