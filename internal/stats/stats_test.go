package stats

import (
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum/internal/raster"
)

// TestVariance compares variances of integers of any size with exact quotients, to
// two units in the last place.
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
		if got := Variance(n, SumOf(sum), SumOf(squares), nil, nil); math.Abs(got-want) > 0x1p-51*want {
			t.Fatalf("n %d, sum %d, squares %d: %v, want %v", n, sum, squares, got, want)
		}
	}
	if got := Variance(2, SumOf(uint32(10)), SumOf(uint64(1)), nil, nil); !math.IsNaN(got) {
		t.Errorf("squares that are too small give %v", got)
	}
	if got := Variance(3, SumOf(3.0), SumOf(2.0), nil, nil); got != 0 {
		t.Errorf("floats that cancel give %v", got)
	}
}

// TestWideVariance tests that squares of more than 64 bits are recovered from their
// rounded sum and their sum modulo 2^64.
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
		if got := WideVariance(n, SumOf(sum.Int64()), rounded, modulo); math.Abs(got-want) > 0x1p-51*want {
			t.Fatalf("n %d, around %d, spread %d: %v, want %v", n, around, spread, got, want)
		}
	}
	for _, got := range []float64{WideVariance(2, SumOf(int64(1)), 0, 1<<63), WideVariance(2, SumOf(int64(1)), math.Inf(1), 0), WideVariance(2, SumOf(1.0), 1, 1)} {
		if !math.IsNaN(got) {
			t.Errorf("%v, want NaN", got)
		}
	}
}

// TestParts tests that sums of parts are exact beyond 64 bits, also for negative
// numbers, and that an unknown part makes the whole unknown.
func TestParts(t *testing.T) {
	const half = math.MinInt64
	sum := SumOf(int64(half)).Plus(SumOf(int64(half))).Plus(SumOf(int64(-3)))
	if got, want := Mean(4, sum), -0x1p62; got != want {
		t.Errorf("mean %v, want %v", got, want)
	}
	const pixel = 1<<32 - 1
	squares := SumOf(uint64(pixel * pixel)).Plus(SumOf(uint64(0))) // 2^32−1 and 0
	if got, want := Variance(2, SumOf(uint64(pixel)).Plus(SumOf(uint64(0))), squares, nil, nil), float64(pixel*pixel)/4; got != want {
		t.Errorf("variance %v, want %v", got, want)
	}
	for _, got := range []float64{Mean(1, Sum{}), Mean(2, SumOf(1.0).Plus(Sum{})), Variance(2, Sum{}, squares, nil, nil), Variance(2, squares, Sum{}, nil, nil)} {
		if !math.IsNaN(got) {
			t.Errorf("%v from an unknown sum, want NaN", got)
		}
	}
}

func TestPixels(t *testing.T) {
	for _, test := range []struct {
		pixels Pixels
		sum    raster.Type
		most   uint64 // or MaxInt where that is less
	}{
		{Typical(raster.U8, false), raster.U32, math.MaxUint32 / 255},
		{Typical(raster.I32, false), raster.I64, math.MaxInt64 >> 31},
		{Typical(raster.U32, true), raster.U64, 1},
		{Pixels{Bound: math.MaxUint64}, raster.I64, 1},
		{Typical(raster.F32, false), raster.F32, math.MaxInt},
		{Typical(raster.U8, false), raster.F32, math.MaxInt},
	} {
		most := int(min(test.most, math.MaxInt))
		if got := test.pixels.MaxCount(test.sum, false); got != most {
			t.Errorf("%+v in %v: %d fit, want %d", test.pixels, test.sum, got, most)
		}
		if most > 1 && most < math.MaxInt && (!test.pixels.Fit(most, test.sum) || test.pixels.Fit(most+1, test.sum)) {
			t.Errorf("%+v in %v: %d should fit, and no more", test.pixels, test.sum, most)
		}
	}
	if (Pixels{}).Fit(1, raster.U64) || !(Pixels{}).Fit(1<<30, raster.F64) {
		t.Error("integers of unknown pixels fit, or floats do not")
	}
}

// TestNumbers tests how sums of each type are printed, encoded and converted back.
func TestNumbers(t *testing.T) {
	for _, test := range []struct {
		sum        Sum
		text, json string
	}{
		{SumOf(uint32(math.MaxUint32)), "4294967295", "4294967295"},
		{SumOf(uint64(math.MaxUint64)), "18446744073709551615", "18446744073709551615"},
		{SumOf(int64(math.MinInt64)), "-9223372036854775808", "-9223372036854775808"},
		{SumOf(float32(0.1)), "0.1", "0.1"},
		{SumOf(0.1), "0.1", "0.1"},
		{SumOf(1e21), "1e+21", "1e+21"},
		{SumOf(float32(math.Inf(1))), "+Inf", "null"},
		{SumOf(math.NaN()), "NaN", "null"},
		{SumOf(uint32(math.MaxUint32)).Plus(SumOf(uint32(1))), "4294967296", "4294967296"},
		{Wide(-1, 5), "-18446744073709551611", "-18446744073709551611"},
		{Sum{}, "unknown", "null"},
	} {
		data, err := json.Marshal(test.sum)
		if test.sum.String() != test.text || string(data) != test.json || err != nil {
			t.Errorf("%v and %s, %v, want %s and %s", test.sum, data, err, test.text, test.json)
		}
	}
	if NumberOf[uint32](SumOf(uint32(math.MaxUint32))) != math.MaxUint32 || NumberOf[int64](SumOf(int64(-7))) != -7 ||
		NumberOf[int64](SumOf(uint64(math.MaxUint64))) != -1 || NumberOf[float32](SumOf(float32(0.1))) != 0.1 || NumberOf[float64](Sum{}) != 0 {
		t.Error("numbers do not survive")
	}
}
