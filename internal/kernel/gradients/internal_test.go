package gradients

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestFMA32 tests that fused multiply-adds are rounded once.
func TestFMA32(t *testing.T) {
	rng := rand.New(rand.NewPCG(40, 6))
	exact := func(a, b, c float32) float32 {
		f := func(v float32) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(float64(v)) }
		sum := f(a)
		sum.Mul(sum, f(b)).Add(sum, f(c))
		v, _ := sum.Float32()
		return v
	}
	check := func(a, b, c float32) {
		t.Helper()
		if got, want := fma32(a, b, c), exact(a, b, c); got != want {
			t.Errorf("%v*%v+%v is %v, want %v", a, b, c, got, want)
		}
	}
	random := func() float32 {
		return float32(math.Ldexp(rng.Float64()*2-1, rng.IntN(20)-10))
	}
	for range 200000 {
		check(random(), random(), random())
	}
	// Sums in the middle between two float32, after rounding to float64 but not before.
	for _, sign := range []float32{1, -1} {
		check(sign*0x1p-30, 0x1p-30, sign*(1+0x1p-23))
		check(sign*(1+0x1p-12), 1+0x1p-12, sign*0x1p-40)
		for range 10000 {
			a := float32(1) + float32(rng.IntN(1<<23))*0x1p-23
			check(sign*a, 1+0x1p-23, sign*0x1p-60*float32(rng.IntN(5)-2))
			check(sign*0x1.8p-24, a, sign*0x1p-80*float32(rng.IntN(5)-2))
			check(sign*0x1p-60*a, 1, sign*(1+0x1p-23))
		}
	}
}
