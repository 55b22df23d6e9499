package kernel

// What there is to do with rows of bytes that are black or white, or become so.

// AtLeast is
//
//	dst[i] = 255 if min(255, a[i]+more) >= b[i], else 0
//
// and the other way round if flip is true. The result may go over one of them.
func AtLeast(level Level, dst, a, b []uint8, more uint8, flip bool) {
	a, b = a[:len(dst)], b[:len(dst)]
	var turn uint8
	if flip {
		turn = 255
	}
	from := 0
	if asm := thresholds[level].atLeast; asm != nil {
		if from = len(dst) &^ (LineBytes - 1); from > 0 {
			asm(first(dst), first(a), first(b), from, uint32(more), uint32(turn))
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

// KeepContrast is
//
//	dst[i] |= 1   where contrast[i] <= above
func KeepContrast(level Level, dst, contrast []uint8, above uint8) {
	contrast = contrast[:len(dst)]
	from := 0
	if asm := thresholds[level].keepContrast; asm != nil {
		if from = len(dst) &^ (LineBytes - 1); from > 0 {
			asm(first(dst), first(contrast), from, uint32(above))
		}
	}
	for i := from; i < len(dst); i++ {
		if contrast[i] <= above {
			dst[i] |= 1
		}
	}
}

// Mask leaves the pixels whose contrast is more than a level:
//
//	mask[i] = 1, values[i] = row[i]   where mask[i] > above
//	mask[i] = 0, values[i] = 0        elsewhere
func Mask(level Level, values, mask, row []uint8, above uint8) {
	mask, row = mask[:len(values)], row[:len(values)]
	from := 0
	if asm := thresholds[level].maskContrast; asm != nil {
		if from = len(values) &^ (LineBytes - 1); from > 0 {
			asm(first(values), first(mask), first(row), from, uint32(above))
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

// PackBits makes a bit of every pixel, the first in the highest bit of a byte: 1 of those
// below 128. Bits after the last are 0.
func PackBits(level Level, dst, src []uint8) {
	dst = dst[:(len(src)+7)/8]
	from := 0
	if asm := thresholds[level].packBits; asm != nil {
		if from = len(src) &^ (LineBytes - 1); from > 0 {
			asm(first(dst), first(src), from)
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
