package windows

import (
	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// Distances writes the absolute differences of pixels of 8 or 16 bits.
func Distances(level processor.Level, pixel raster.Type, dst, a, b []byte) {
	if w := &windowTable[level]; pixel == raster.U16 {
		absolutes(raster.Elems[uint16](dst), raster.Elems[uint16](a), raster.Elems[uint16](b), w.distancesU16)
	} else {
		absolutes(dst, a, b, w.distancesU8)
	}
}

func absolutes[P uint8 | uint16](dst, a, b []P, asm func(dst, a, b *byte, n int)) {
	a, b = a[:len(dst)], b[:len(dst)]
	from := 0
	if asm != nil {
		size := raster.SizeOf[P]()
		from = len(dst) * size &^ (raster.LineBytes - 1) / size
		asm(raster.First(dst), raster.First(a), raster.First(b), from*size)
	}
	for i := from; i < len(dst); i++ {
		dst[i] = max(a[i], b[i]) - min(a[i], b[i])
	}
}

// Similarity computes scores from the sums of windows in the pixels x and y of two images: those of x, y, x², y² and (x-y)².
type Similarity struct {
	Level          processor.Level
	Count          uint64 // pixels in a window
	C1, C2, Factor float64
	pointers       [10]*byte
}

// similarityUnit is the number of windows of a round of assembly.
const similarityUnit = 16

// similarityPixels is the greatest number of pixels of a window for which all products of sums of bytes fit in 31 bits.
const similarityPixels = 128

// elements returns how many scores assembly computes, and points it to the sums.
func (s *Similarity) elements(asm bool, n int, sums *[5]Sums) int {
	for i := range sums {
		if sums[i].Type != raster.U32 {
			return 0
		}
		s.pointers[2*i], s.pointers[2*i+1] = raster.First(sums[i].Hi[:4*n]), raster.First(sums[i].Lo[:4*n])
	}
	if !asm || s.Count > similarityPixels {
		return 0
	}
	return n &^ (similarityUnit - 1)
}

// Compare computes, of the first scores,
//
//	covariance, variances := n*(x²+y²-(x-y)²)-2*x*y, n*(x²+y²)-x*x-y*y
//	score = (2*x*y + c1) * (factor*covariance + c2) / ((x*x + y*y + c1) * (factor*variances + c2))
//
// in float64 from exact integers, and returns how many. The pixels are bytes if sums have 32 bits.
func (s *Similarity) Compare(scores []float64, sums *[5]Sums) int {
	asm := windowTable[s.Level].compareSums
	n := s.elements(asm != nil, len(scores), sums)
	if n > 0 {
		asm(raster.First(scores), &s.pointers[0], n, uint32(s.Count), s.C1, s.C2, s.Factor)
	}
	return n
}

// Correlate computes, of the first scores,
//
//	c := max((n*(x²+y²-(x-y)²) - 2*x*y) * half, least)
//	a, b := max((n*x²-x*x)*inverse, least), max((n*y²-y*y)*inverse, least)
//	score = (c / a) * (c / b)
//
// with half of the inverse of n, like Compare.
func (s *Similarity) Correlate(scores []float64, sums *[5]Sums, least float64) int {
	asm := windowTable[s.Level].correlateSums
	n := s.elements(asm != nil, len(scores), sums)
	if n > 0 {
		inverse := 1 / float64(s.Count)
		asm(raster.First(scores), &s.pointers[0], n, uint32(s.Count), inverse, inverse/2, least)
	}
	return n
}
