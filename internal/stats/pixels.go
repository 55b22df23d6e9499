package stats

import (
	"math"
	"math/bits"

	"github.com/boxsum/boxsum/internal/raster"
)

// Pixels holds what a table knows about the pixels that it sums. It determines for which
// boxes the sum fits the sum type; sums over more pixels may have wrapped.
type Pixels struct {
	// Bound is the largest magnitude that a pixel, or its square in a table of squares,
	// adds to a sum. It is 0 if unknown. Float sums ignore it.
	Bound uint64

	// Signed means that the sums are int32 numbers in a uint32 table.
	Signed bool
}

// Fit reports whether the sum of n pixels is known to fit a sum type, so that the
// entries of the table give its actual value.
func (p Pixels) Fit(n int, sum raster.Type) bool {
	limit := limitOf(sum)
	over, most := bits.Mul64(uint64(n), p.Bound)
	return limit == 0 || over == 0 && most <= limit && p.Bound != 0 && !p.Signed
}

// Interpret returns the number that a sum read from a table represents.
func (p Pixels) Interpret(s Sum) Sum {
	if p.Signed {
		return integer(int64(int32(s.lo)))
	}
	return s
}

// MaxCount returns the number of pixels whose sum always fits the sum type, at least 1. If
// the pixels are unknown, it assumes those that such sums usually have.
func (p Pixels) MaxCount(sum raster.Type, squares bool) int {
	limit, bound := limitOf(sum), p.Bound
	if limit == 0 {
		return math.MaxInt
	}
	if p.Signed {
		limit = math.MaxInt32
	}
	if bound == 0 {
		bound = Assumed(sum, squares).Bound
	}
	return int(max(1, min(limit/bound, math.MaxInt)))
}

// MaxCounts returns the number of pixels of a box that may be summed at once for a
// variance, in a table of sums and in one of squares.
func MaxCounts(sum raster.Type, sums Pixels, square raster.Type, squares Pixels) (most, mostSquares int) {
	if square.Float() {
		return sums.MaxCount(sum, false), math.MaxInt
	}
	most = min(sums.MaxCount(sum, false), squares.MaxCount(square, true))
	return most, most
}

// limitOf returns the largest integer of a sum type, or 0 for floats.
func limitOf(sum raster.Type) uint64 {
	switch sum {
	case raster.U32:
		return math.MaxUint32
	case raster.U64:
		return math.MaxUint64
	case raster.I64:
		return math.MaxInt64
	}
	return 0
}

// Assumed returns the properties to assume for unknown pixels: those of the type that
// such sums usually have.
func Assumed(sum raster.Type, squares bool) Pixels {
	switch {
	case sum == raster.U32:
		return Typical(raster.U8, squares)
	case sum == raster.I64:
		return Typical(raster.I32, squares)
	case sum == raster.U64 && squares:
		return Typical(raster.U16, true)
	case sum == raster.U64:
		return Typical(raster.U32, false)
	}
	return Pixels{}
}

// Typical returns the properties of pixels of a type, or of their squares.
func Typical(pixel raster.Type, squares bool) Pixels {
	bound := uint64(0)
	switch {
	case pixel.Float():
	case pixel.Signed():
		bound = 1 << (8*pixel.Bytes() - 1)
	default:
		bound = 1<<(8*pixel.Bytes()) - 1
	}
	return Bounded(bound, squares)
}

// Bounded returns the properties of pixels, or of their squares, whose magnitudes are
// at most bound. If bound is 0, they are unknown.
func Bounded(bound uint64, squares bool) Pixels {
	if squares {
		over, square := bits.Mul64(bound, bound)
		if bound = square; over != 0 {
			bound = math.MaxUint64
		}
	}
	return Pixels{Bound: bound}
}

// Largest returns an upper bound on the magnitudes of the integers in an array: a power
// of two, or one less.
func Largest(src *raster.Array) uint64 {
	magnitudes, n := magnitudesOf[src.Type], src.Width*src.Channels
	var all uint64
	for z := range src.Depth {
		for y := range src.Height {
			all |= magnitudes(src.From(z*src.SliceStride + y*src.Stride)[:n*src.Type.Bytes()])
		}
	}
	if src.Type.Signed() {
		return 1 << bits.Len64(all)
	}
	return max(1, uint64(1)<<bits.Len64(all)-1)
}

// magnitudesOf holds, for each integer type, a function that returns the bitwise OR of
// the magnitudes in a row, or of one less for negative numbers.
var magnitudesOf = [raster.NumTypes]func(row []byte) uint64{
	raster.U8:  magnitudes[uint8],
	raster.U16: magnitudes[uint16],
	raster.U32: magnitudes[uint32],
	raster.U64: magnitudes[uint64],
	raster.I16: magnitudes[int16],
	raster.I32: magnitudes[int32],
	raster.I64: magnitudes[int64],
}

func magnitudes[P uint8 | uint16 | uint32 | uint64 | int16 | int32 | int64](row []byte) uint64 {
	var all P
	for _, p := range raster.Elems[P](row) {
		if p < 0 {
			p = ^p
		}
		all |= p
	}
	return uint64(all)
}
