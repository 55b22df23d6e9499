package stats

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum/internal/raster"
)

// TestCovarianceOfIntegers compares covariances of integers of any size with exact
// quotients, to two units in the last place.
func TestCovarianceOfIntegers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	signed := func() int64 { return int64(rng.Uint64()) >> rng.IntN(64) }
	for range 10_000 {
		n, a, b, products := 1+rng.IntN(1<<rng.IntN(40)), signed(), signed(), signed()
		count := big.NewInt(int64(n))
		num := new(big.Int).Mul(count, big.NewInt(products))
		num.Sub(num, new(big.Int).Mul(big.NewInt(a), big.NewInt(b)))
		want, _ := new(big.Rat).SetFrac(num, count.Mul(count, count)).Float64()
		if got := Covariance(n, SumOf(a), SumOf(b), SumOf(products)); math.Abs(got-want) > 0x1p-51*math.Abs(want) {
			t.Fatalf("n %d, sums %d and %d, products %d: %v, want %v", n, a, b, products, got, want)
		}
	}
	most := SumOf(uint64(math.MaxUint64))
	if got := Covariance(2, most, most, most); got != (2*0x1p64-0x1p128)/4 {
		t.Errorf("the largest sums give %v", got)
	}
	if got := Covariance(2, most.Plus(most), SumOf(int64(-1)), SumOf(int64(-3))); got != (-6+0x1p65)/4 {
		t.Errorf("sums of parts give %v", got)
	}
	if got := Covariance(0, SumOf(int64(0)), SumOf(int64(0)), SumOf(int64(0))); got != 0 {
		t.Errorf("no pixels give %v", got)
	}
	if got := Covariance(3, SumOf(1.0), SumOf(int64(0)), SumOf(int64(0))); !math.IsNaN(got) {
		t.Errorf("floats give %v", got)
	}
	if Unit(raster.U32) != 0 || Unit(raster.F64) != 0x1p-53 {
		t.Error("units")
	}
}
