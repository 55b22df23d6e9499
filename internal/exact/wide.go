package exact

import (
	"iter"
	"math"
	"math/big"
	"math/bits"

	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/pairs"
)

// Most is how many pixels of type P, or squares of them, always fit a sum of type
// S: sums of more may wrap. Floats do not.
func Most[P kernel.Pixel, S kernel.Sum](squares bool) int {
	return MostOf[S](Magnitude(pairs.TypeOf[P]()), squares)
}

// Magnitude is the greatest magnitude of pixels of an integer type, and 0 for floats.
func Magnitude(pixel pairs.Type) uint64 {
	switch pixel {
	case pairs.U8:
		return math.MaxUint8
	case pairs.U16:
		return math.MaxUint16
	case pairs.I16:
		return 1 << 15
	case pairs.I32:
		return 1 << 31
	case pairs.U32:
		return math.MaxUint32
	}
	return 0
}

// MostOf is [Most] for pixels that are at most this bound, or its negative.
func MostOf[S kernel.Sum](bound uint64, squares bool) int {
	return mostOf(bound, largest[S](), squares)
}

// largest is the largest integer of a type, and 0 of floats.
func largest[S kernel.Sum]() uint64 {
	switch {
	case IsFloat[S]():
		return 0
	case isSigned[S]():
		return math.MaxInt64
	case isWords[S]():
		return math.MaxUint64
	}
	return math.MaxUint32
}

func mostOf(bound, largest uint64, squares bool) int {
	if squares {
		bound *= bound // less than 2^64
	}
	if largest == 0 || bound == 0 {
		return math.MaxInt
	}
	return int(min(largest/bound, math.MaxInt))
}

// Pixels is what a table knows of those that it sums.
type Pixels struct {
	Most   int  // of them fit a sum; 0 if that is not known
	Signed bool // sums of 32 bits are negative from 2^31 on
}

// mostOr is how many pixels fit a sum of type S, the usual ones where they are not
// known.
func mostOr[S kernel.Sum](p *Pixels, squares bool) int {
	if p.Most == 0 {
		return usual(largest[S](), squares)
	}
	return p.Most
}

// Usual is for a table of which nobody knows the pixels: those of the type that
// such sums are usually of.
func Usual[S kernel.Sum](squares bool) Pixels { return Pixels{Most: usual(largest[S](), squares)} }

func usual(largest uint64, squares bool) int {
	bound := uint64(math.MaxUint32)
	switch {
	case largest == math.MaxUint32:
		bound = math.MaxUint8
	case largest == math.MaxInt64:
		bound = 1 << 31
	case squares:
		bound = math.MaxUint16
	}
	return mostOf(bound, largest, squares)
}

// Fit reports whether the sum of n pixels is known to fit, as the unsigned or
// floating number that it looks like.
func (p *Pixels) Fit(n int) bool { return n <= p.Most && !p.Signed }

// Bound is a power of two, or one less, that the magnitude of no pixel exceeds: of
// 32 bits, for which [Most] is hardly a pixel where they are squared.
func Bound[P kernel.Pixel](rows iter.Seq[[]P]) uint64 {
	var signed int32
	var unsigned uint32
	for row := range rows {
		switch row := any(row).(type) {
		case []int32:
			for _, p := range row {
				signed |= p ^ p>>31 // |p|, or one less
			}
		case []uint32:
			for _, p := range row {
				unsigned |= p
			}
		}
	}
	if unsigned != 0 {
		return 1<<bits.Len32(unsigned) - 1
	}
	return 1 << bits.Len32(uint32(signed))
}

// An Int is a sum of many integers: 128 bits hold those of any image.
type Int struct {
	hi int64
	lo uint64
}

// add adds an integer sum.
func add[S kernel.Sum](i *Int, s S) {
	hi, lo := int64(0), uint64(s)
	if s < 0 {
		hi = -1
	}
	var carry uint64
	i.lo, carry = bits.Add64(i.lo, lo, 0)
	i.hi += hi + int64(carry)
}

func (i *Int) big() *big.Int {
	b := new(big.Int).Lsh(big.NewInt(i.hi), 64)
	return b.Add(b, new(big.Int).SetUint64(i.lo))
}

// Mean is that of n numbers of this sum, rounded once.
func (i *Int) Mean(n int) float64 {
	f, _ := new(big.Rat).SetFrac(i.big(), big.NewInt(int64(n))).Float64()
	return f
}

// Variance is that of n numbers of this sum and sum of squares, rounded once.
func (i *Int) Variance(n int, squares *Int) float64 {
	sum, count := i.big(), big.NewInt(int64(n))
	sum.Mul(sum, sum)
	num := squares.big()
	num.Sub(num.Mul(num, count), sum)
	f, _ := new(big.Rat).SetFrac(num, count.Mul(count, count)).Float64()
	return f
}
