package stats

import (
	"math"
	"math/big"
	"math/bits"
)

// Covariance returns the covariance of n pairs of integers from the sums of both and the
// sum of their products: (n·products − a·b)/n², exact apart from the last two roundings.
func Covariance(n int, a, b, products Sum) float64 {
	switch {
	case n == 0:
		return 0
	case a.typ == 0 || b.typ == 0 || products.typ == 0 || a.typ.Float() || b.typ.Float() || products.typ.Float():
		return math.NaN()
	case a.parts || b.parts || products.parts || bits.Len64(a.magnitude())+bits.Len64(b.magnitude()) > 126:
		return bigCovariance(n, a, b, products)
	}
	hi, lo := signed128(uint64(n), products.magnitude(), products.hi < 0)
	subHi, subLo := signed128(a.magnitude(), b.magnitude(), (a.hi < 0) != (b.hi < 0))
	lo, borrow := bits.Sub64(lo, subLo, 0)
	hi, _ = bits.Sub64(hi, subHi, borrow)
	if int64(hi) < 0 {
		lo, borrow = bits.Sub64(0, lo, 0)
		return -overSquare(-hi-borrow, lo, uint64(n))
	}
	return overSquare(hi, lo, uint64(n))
}

// signed128 returns the product of two magnitudes, negated on request.
func signed128(a, b uint64, negative bool) (hi, lo uint64) {
	hi, lo = bits.Mul64(a, b)
	if negative {
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		hi = -hi - borrow
	}
	return hi, lo
}

// bigCovariance returns the covariance of n pairs, rounded once.
func bigCovariance(n int, a, b, products Sum) float64 {
	num, count := products.big(), big.NewInt(int64(n))
	num.Sub(num.Mul(num, count), new(big.Int).Mul(a.big(), b.big()))
	f, _ := new(big.Rat).SetFrac(num, count.Mul(count, count)).Float64()
	return f
}

// A Side holds the properties of one of the two images that CovarianceOfFloats needs.
type Side struct {
	Mean, StdDev float64 // of the box
	Squares      float64 // the largest entry of the table of squares
	Unit         float64 // half a unit in the last place of 1 in its table of sums; 0 for integers
}

// CovarianceOfFloats returns the covariance of n pairs of numbers from the mean of their
// products. It is NaN if its rounding error may exceed a fiftieth of the product of the
// two deviations, because of cancellation. unit is that of the table of products.
func CovarianceOfFloats(n int, a, b Side, mean, unit float64, r Rounding) float64 {
	limit := a.StdDev * b.StdDev
	if limit == 0 { // by the Cauchy–Schwarz inequality
		return 0
	}
	grown := float64(r.Entries) * float64(r.Steps) / float64(n)
	ofMean := func(s Side) float64 { return grown * s.Unit * math.Sqrt(float64(r.Pixels)*s.Squares) }
	noiseA, noiseB := ofMean(a), ofMean(b)
	noise := grown*unit*math.Sqrt(a.Squares*b.Squares) + math.Abs(a.Mean)*noiseB + math.Abs(b.Mean)*noiseA + noiseA*noiseB
	if !(limit > eaten*noise) {
		return math.NaN()
	}
	v := mean - float64(a.Mean*b.Mean) // same bits with and without fused operations
	return max(-limit, min(limit, v))
}
