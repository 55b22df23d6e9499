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

// Squares of more than 64 bits come back from their rounded sum and that modulo 2^64.
func TestWideVariance(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 10_000 {
		n := 1 + rng.IntN(1<<rng.IntN(30))
		around := int64(rng.Uint64()>>rng.IntN(33)>>32) - int64(rng.IntN(2))<<31
		spread := uint32(rng.Uint32() >> rng.IntN(32))
		// n numbers, of which some are around and the others as far from it as spread
		far := int64(rng.IntN(n + 1))
		sum, squares := new(big.Int), new(big.Int)
		for _, part := range []struct{ count, value int64 }{{int64(n) - far, around}, {far, around + int64(spread)}} {
			of := new(big.Int).Mul(big.NewInt(part.count), big.NewInt(part.value))
			sum.Add(sum, of)
			squares.Add(squares, of.Mul(of, big.NewInt(part.value)))
		}
		num := new(big.Int).Mul(big.NewInt(int64(n)), squares)
		num.Sub(num, new(big.Int).Mul(sum, sum))
		want, _ := new(big.Rat).SetFrac(num, new(big.Int).Mul(big.NewInt(int64(n)), big.NewInt(int64(n)))).Float64()
		rounded, _ := new(big.Float).SetInt(squares).Float64()
		rounded += float64(rng.Int64N(1<<60)) - 1<<59
		modulo := new(big.Int).And(squares, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
		if got := WideVariance(n, sum.Int64(), rounded, modulo); math.Abs(got-want) > 0x1p-51*want {
			t.Fatalf("n %d, around %d, spread %d: %v, want %v", n, around, spread, got, want)
		}
	}
	for _, got := range []float64{WideVariance(2, int64(1), 0, 1<<63), WideVariance(2, int64(1), math.Inf(1), 0), WideVariance(2, 1.0, 1, 1)} {
		if !math.IsNaN(got) {
			t.Errorf("%v, want NaN", got)
		}
	}
}
