package windows

import (
	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// Operations on rows of bytes whose results are black and white.

// AtLeast sets
//
//	dst[i] = 255 if min(255, a[i]+more) >= b[i], else 0
//
// or, if flip is true, 0 and 255 exchanged. dst may be a or b.
func AtLeast(level processor.Level, dst, a, b []uint8, more uint8, flip bool) {
	a, b = a[:len(dst)], b[:len(dst)]
	var turn uint8
	if flip {
		turn = 255
	}
	from := 0
	if asm := thresholdTable[level].atLeast; asm != nil {
		if from = len(dst) &^ (raster.LineBytes - 1); from > 0 {
			asm(raster.First(dst), raster.First(a), raster.First(b), from, uint32(more), uint32(turn))
		}
	}
	for i := from; i < len(dst); i++ {
		v := turn
		if min(255, int(a[i])+int(more)) >= int(b[i]) {
			v = ^turn
		}
		dst[i] = v
	}
}

// KeepContrast sets
//
//	dst[i] |= 1   where contrast[i] <= above
func KeepContrast(level processor.Level, dst, contrast []uint8, above uint8) {
	contrast = contrast[:len(dst)]
	from := 0
	if asm := thresholdTable[level].keepContrast; asm != nil {
		if from = len(dst) &^ (raster.LineBytes - 1); from > 0 {
			asm(raster.First(dst), raster.First(contrast), from, uint32(above))
		}
	}
	for i := from; i < len(dst); i++ {
		if contrast[i] <= above {
			dst[i] |= 1
		}
	}
}

// Mask selects the pixels whose contrast exceeds a level:
//
//	mask[i] = 1, values[i] = row[i]   where mask[i] > above
//	mask[i] = 0, values[i] = 0        elsewhere
func Mask(level processor.Level, values, mask, row []uint8, above uint8) {
	mask, row = mask[:len(values)], row[:len(values)]
	from := 0
	if asm := thresholdTable[level].maskContrast; asm != nil {
		if from = len(values) &^ (raster.LineBytes - 1); from > 0 {
			asm(raster.First(values), raster.First(mask), raster.First(row), from, uint32(above))
		}
	}
	for i := from; i < len(values); i++ {
		var one, v uint8
		if mask[i] > above {
			one, v = 1, row[i]
		}
		mask[i], values[i] = one, v
	}
}

// PackBits packs a bit for every pixel, starting with the high bit of each byte: 1 for pixels below
// 128. Bits after the last pixel are 0.
func PackBits(level processor.Level, dst, src []uint8) {
	dst = dst[:(len(src)+7)/8]
	from := 0
	if asm := thresholdTable[level].packBits; asm != nil {
		if from = len(src) &^ (raster.LineBytes - 1); from > 0 {
			asm(raster.First(dst), raster.First(src), from)
		}
	}
	for i := from / 8; i < len(dst); i++ {
		var b byte
		for j, p := range src[8*i : min(len(src), 8*i+8)] {
			b |= (^p & 0x80) >> j
		}
		dst[i] = b
	}
}
