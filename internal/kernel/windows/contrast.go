package windows

import (
	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// Contrast computes the local contrast around each pixel, from the greatest and the least of 3×3
// pixels:
//
//	dst[i] = uint8(255 * ((most - least) / (0.0001 + most + least)))
//
// as in float64. The rows begin and end with one more pixel than dst. above and below may be the
// row itself.
func Contrast(level processor.Level, dst, above, row, below []uint8) {
	n := len(dst)
	above, row, below = above[:n+2], row[:n+2], below[:n+2]
	if asm := thresholdTable[level].contrast; asm != nil {
		if whole := n &^ (raster.LineBytes - 1); whole > 0 {
			asm(raster.First(dst), raster.First(above), raster.First(row), raster.First(below), whole)
			if last := n - raster.LineBytes; last < whole { // the last vector ends with the row
				asm(raster.First(dst[last:]), raster.First(above[last:]), raster.First(row[last:]), raster.First(below[last:]), raster.LineBytes)
			}
			return
		}
	}
	l0, m0 := least3(above[0], row[0], below[0])
	l1, m1 := least3(above[1], row[1], below[1])
	for i := range dst {
		l2, m2 := least3(above[i+2], row[i+2], below[i+2])
		dst[i] = ContrastOf(min(l0, l1, l2), max(m0, m1, m2))
		l0, m0, l1, m1 = l1, m1, l2, m2
	}
}

func least3(a, b, c uint8) (least, most uint8) { return min(a, b, c), max(a, b, c) }

// ContrastOf computes the contrast of one pixel in integers. This is exact, because the quotient is
// never that close to an integer unless it is one, and in that case the 0.0001 makes it smaller.
// TestContrast checks all pairs.
func ContrastOf(least, most uint8) uint8 {
	if most == least {
		return 0
	}
	return uint8((255*(uint32(most)-uint32(least)) - 1) / (uint32(most) + uint32(least)))
}
