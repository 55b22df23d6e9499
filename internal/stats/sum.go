package stats

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"github.com/boxsum/boxsum/internal/raster"
)

// A Sum is a sum of any type: a 128-bit integer, which can hold the sum of any image,
// or a float. The zero Sum is unknown, and anything computed from it is NaN.
type Sum struct {
	hi    int64
	lo    uint64 // for a float, the bits of a float64
	typ   raster.Type
	parts bool // added up from parts, each of which fits the type
}

// SumOf returns a number as a Sum.
func SumOf[S raster.Number](s S) Sum {
	t := raster.TypeOf[S]()
	switch {
	case t.Float():
		return Sum{lo: math.Float64bits(float64(s)), typ: t}
	case t.Signed():
		return integer(int64(s))
	}
	return Sum{lo: uint64(s), typ: t}
}

// NumberOf returns a Sum as the number of which SumOf made it. The zero Sum is 0.
func NumberOf[S raster.Number](s Sum) S {
	if raster.TypeOf[S]().Float() {
		return S(s.Float())
	}
	return S(s.lo)
}

// Wide returns the integer high·2⁶⁴ + low as a Sum.
func Wide(high int64, low uint64) Sum { return Sum{high, low, raster.I64, true} }

func integer(s int64) Sum { return Sum{hi: s >> 63, lo: uint64(s), typ: raster.I64} }

// Plus returns the sum of two parts of a box. It truncates floats to integers.
func (s Sum) Plus(other Sum) Sum {
	if s.typ == 0 || other.typ == 0 {
		return Sum{}
	}
	s, other = s.truncated(), other.truncated()
	lo, carry := bits.Add64(s.lo, other.lo, 0)
	return Sum{s.hi + other.hi + int64(carry), lo, s.typ, true}
}

// truncated returns s with a float truncated to an integer.
func (s Sum) truncated() Sum {
	if !s.typ.Float() {
		return s
	}
	f := s.Float()
	if f < 0 {
		return integer(int64(f))
	}
	return Sum{lo: uint64(f), typ: raster.U64}
}

// Type returns the type of the number, or 0 if it is unknown. All signed integers are int64.
func (s Sum) Type() raster.Type { return s.typ }

// String formats the number like package fmt.
func (s Sum) String() string {
	switch {
	case s.typ == 0:
		return "unknown"
	case s.typ == raster.F32:
		return fmt.Sprint(float32(s.Float()))
	case s.typ.Float():
		return fmt.Sprint(s.Float())
	}
	return s.big().String()
}

// MarshalJSON returns the number as JSON, or null if JSON does not have it.
func (s Sum) MarshalJSON() ([]byte, error) {
	switch f := s.Float(); {
	case s.typ == 0, math.IsNaN(f), math.IsInf(f, 0):
		return []byte("null"), nil
	case s.typ == raster.F32:
		return json.Marshal(float32(f))
	case s.typ.Float():
		return json.Marshal(f)
	}
	return []byte(s.big().String()), nil
}

// Float returns a sum that was not added up from parts as a float64.
func (s Sum) Float() float64 {
	switch {
	case s.typ.Float():
		return math.Float64frombits(s.lo)
	case s.hi < 0:
		return float64(int64(s.lo))
	}
	return float64(s.lo)
}

// magnitude returns the magnitude of a 64-bit integer, or 0 for floats.
func (s Sum) magnitude() uint64 {
	switch {
	case s.typ.Float():
		return 0
	case s.hi < 0:
		return -s.lo
	}
	return s.lo
}

func (s Sum) big() *big.Int {
	b := new(big.Int).Lsh(big.NewInt(s.hi), 64)
	return b.Add(b, new(big.Int).SetUint64(s.lo))
}

// bigMean returns the mean of n numbers, rounded once, from their exact sum.
func bigMean(n int, sum Sum) float64 {
	f, _ := new(big.Rat).SetFrac(sum.big(), big.NewInt(int64(n))).Float64()
	return f
}

// bigVariance returns the variance of n numbers, rounded once.
func bigVariance(n int, sum, squares Sum) float64 {
	s, num, count := sum.big(), squares.big(), big.NewInt(int64(n))
	num.Sub(num.Mul(num, count), s.Mul(s, s))
	f, _ := new(big.Rat).SetFrac(num, count.Mul(count, count)).Float64()
	return f
}
