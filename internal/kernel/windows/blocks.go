package windows

import (
	"math/bits"

	"github.com/boxsum/boxsum/internal/raster"
)

// blockLoops holds the kernels of [BlockMeans] by sum type and pixel type.
var blockLoops = [raster.NumTypes][raster.NumTypes]func(dst, cols []byte, channels, width, rows int){
	raster.U32: {raster.U8: wholeBlocks[uint8, uint32], raster.U16: wholeBlocks[uint16, uint32]},
	raster.U64: {raster.U8: wholeBlocks[uint8, uint64], raster.U16: wholeBlocks[uint16, uint64]},
	raster.F64: {raster.F32: floatBlocks[float32], raster.F64: floatBlocks[float64]},
}

// BlockMeans computes the means of blocks of width pixels and the given number of rows from their
// column sums. The last block may be narrower.
func BlockMeans(sum, pixel raster.Type, dst, cols []byte, channels, width, rows int) {
	blockLoops[sum][pixel](dst, cols, channels, width, rows)
}

func wholeBlocks[P uint8 | uint16, A uint32 | uint64](dst, cols []byte, channels, width, rows int) {
	to, sums := raster.Elems[P](dst), raster.Elems[A](cols)
	if channels == 1 {
		for x := range to {
			width = min(width, len(sums))
			count := uint64(width * rows)
			s := count / 2
			for _, v := range sums[:width] {
				s += uint64(v)
			}
			if sums = sums[width:]; count&(count-1) == 0 {
				to[x] = P(s >> (bits.TrailingZeros64(count) & 63))
			} else {
				to[x] = P(s / count)
			}
		}
		return
	}
	for len(sums) > 0 {
		n := min(width*channels, len(sums))
		count := uint64(n / channels * rows)
		for ch := range channels {
			var s A
			for i := ch; i < n; i += channels {
				s += sums[i]
			}
			to[ch] = P((uint64(s) + count/2) / count)
		}
		sums, to = sums[n:], to[channels:]
	}
}

func floatBlocks[P float32 | float64](dst, cols []byte, channels, width, rows int) {
	to, sums := raster.Elems[P](dst), raster.Elems[float64](cols)
	for len(sums) > 0 {
		n := min(width*channels, len(sums))
		count := float64(n / channels * rows)
		for ch := range channels {
			s := 0.0
			for i := ch; i < n; i += channels {
				s += sums[i]
			}
			to[ch] = P(s / count)
		}
		sums, to = sums[n:], to[channels:]
	}
}
