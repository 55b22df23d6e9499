package windows

import (
	"math/bits"

	"github.com/boxsum/boxsum/internal/raster"
)

// floorKernel holds the loops that compute integers of one type from sums of one type.
type floorKernel struct {
	floors    func(dst, hi, lo []byte, count uint64)
	wrapped   func(dst, hi, lo []byte)
	below     func(dst, pixels, hi, lo []byte, count uint64)
	distances func(dst, pixels, hi, lo []byte, count uint64, middle int)
}

// floorKernels holds the loops by sum type and pixel type.
var floorKernels = [raster.NumTypes][raster.NumTypes]floorKernel{
	raster.U32: {raster.U8: newFloors[uint8, uint32](), raster.U16: newFloors[uint16, uint32]()},
	raster.U64: {raster.U8: newFloors[uint8, uint64](), raster.U16: newFloors[uint16, uint64]()},
}

func newFloors[P uint8 | uint16, A uint32 | uint64]() floorKernel {
	return floorKernel{floors[P, A], wrapped[P, A], below[P, A], distances[P, A]}
}

// Floors computes the means of count pixels, rounded down.
func (s *Sums) Floors(t raster.Type, dst []byte, count uint64) {
	floorKernels[s.Type][t].floors(dst, s.Hi, s.Lo, count)
}

func floors[P uint8 | uint16, A uint32 | uint64](dst, hi, lo []byte, count uint64) {
	to := raster.Elems[P](dst)
	high, low := raster.Elems[A](hi)[:len(to)], raster.Elems[A](lo)[:len(to)]
	// The upper half of a product with 2^64/count, rounded up, is exact if the product of sum and count is less than
	// 2^64: that is by how much the quotient is too large.
	if count == 1 || count >= 1<<32 || len(to) > 0 && raster.SizeOf[A]() == 8 {
		for i := range to {
			to[i] = P(uint64(high[i]-low[i]) / count)
		}
		return
	}
	inverse := ^uint64(0)/count + 1
	for i := range to {
		quotient, _ := bits.Mul64(uint64(high[i]-low[i]), inverse)
		to[i] = P(quotient)
	}
}

// Wrapped stores the sums modulo what a pixel holds.
func (s *Sums) Wrapped(t raster.Type, dst []byte) {
	floorKernels[s.Type][t].wrapped(dst, s.Hi, s.Lo)
}

func wrapped[P uint8 | uint16, A uint32 | uint64](dst, hi, lo []byte) {
	to := raster.Elems[P](dst)
	high, low := raster.Elems[A](hi)[:len(to)], raster.Elems[A](lo)[:len(to)]
	for i := range to {
		to[i] = P(high[i] - low[i])
	}
}

// Below stores 1 where the mean of count pixels is below a pixel, and 0 elsewhere.
func (s *Sums) Below(t raster.Type, dst, pixels []byte, count uint64) {
	floorKernels[s.Type][t].below(dst, pixels, s.Hi, s.Lo, count)
}

func below[P uint8 | uint16, A uint32 | uint64](dst, pixels, hi, lo []byte, count uint64) {
	to := raster.Elems[P](dst)
	from, high, low := raster.Elems[P](pixels)[:len(to)], raster.Elems[A](hi)[:len(to)], raster.Elems[A](lo)[:len(to)]
	for i, g := range from {
		// The difference is less than 2^48, so that its sign is the upper bit.
		to[i] = P((uint64(high[i]-low[i]) - uint64(g)*count) >> 63)
	}
}

// Distances stores half of what a pixel exceeds the mean of count pixels by, plus middle.
func (s *Sums) Distances(t raster.Type, dst, pixels []byte, count uint64, middle int) {
	floorKernels[s.Type][t].distances(dst, pixels, s.Hi, s.Lo, count, middle)
}

func distances[P uint8 | uint16, A uint32 | uint64](dst, pixels, hi, lo []byte, count uint64, middle int) {
	to := raster.Elems[P](dst)
	from, high, low := raster.Elems[P](pixels)[:len(to)], raster.Elems[A](hi)[:len(to)], raster.Elems[A](lo)[:len(to)]
	n, m := float64(count), float64(middle)
	for i, g := range from {
		to[i] = P(int64((float64(g)-float64(high[i]-low[i])/n)/2 + m))
	}
}
