package exact

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// Integers of any size give the quotient of whole numbers, to two units in the
// last place.
func TestVariance(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		n := 1 + rng.IntN(1<<rng.IntN(30))
		sum := int64(rng.Uint64() >> 1 >> rng.IntN(60))
		least := new(big.Int).Mul(big.NewInt(sum), big.NewInt(sum)) // squares are at least sum²/n
		least.Div(least, big.NewInt(int64(n))).Add(least, big.NewInt(1))
		if !least.IsUint64() {
			continue
		}
		squares := max(least.Uint64(), rng.Uint64()>>rng.IntN(64))
		if rng.IntN(2) == 0 {
			sum = -sum
		}
		num := new(big.Int).Mul(big.NewInt(int64(n)), new(big.Int).SetUint64(squares))
		num.Sub(num, new(big.Int).Mul(big.NewInt(sum), big.NewInt(sum)))
		want, _ := new(big.Rat).SetFrac(num, new(big.Int).Mul(big.NewInt(int64(n)), big.NewInt(int64(n)))).Float64()
		if got := Variance(n, sum, squares, nil, nil); math.Abs(got-want) > 0x1p-51*want {
			t.Fatalf("n %d, sum %d, squares %d: %v, want %v", n, sum, squares, got, want)
		}
	}
	if got := Variance(2, uint32(10), uint64(1), nil, nil); !math.IsNaN(got) {
		t.Errorf("squares that are too small give %v", got)
	}
	if got := Variance(3, 3.0, 2.0, nil, nil); got != 0 {
		t.Errorf("floats that cancel give %v", got)
	}
}
