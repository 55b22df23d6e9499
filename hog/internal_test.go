package hog

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

// TestExpf tests exponentials against exact ones: they differ by less than 0.51 units in the last place.
func TestExpf(t *testing.T) {
	other := 0
	for i := range 200000 {
		x := -float32(i) * 0x1p-11
		got, want := expf(x), math.Exp(float64(x))
		ulp := float64(math.Nextafter32(float32(want), 2) - float32(want))
		if math.Abs(float64(got)-want) > 0.51*ulp+0x1p-149 {
			t.Fatalf("e^%v is %v, want %v", x, got, want)
		}
		if got != float32(want) {
			other++
		}
	}
	if other > 200 {
		t.Errorf("%d of 200000 are not the nearest", other)
	}
	if expf(0) != 1 || expf(-200) != 0 {
		t.Error("exponentials of 0 and -200")
	}
}

func TestMirrored(t *testing.T) {
	for i, want := range []int{2, 3, 2, 1, 0, 1, 2, 3, 2, 1, 0, 1} {
		if got := mirrored(i-4, 4); got != want {
			t.Errorf("pixel %d of 4 is %d, want %d", i-4, got, want)
		}
	}
	if mirrored(-5, 1) != 0 || mirrored(7, 2) != 1 {
		t.Error("borders of one and two pixels")
	}
}
