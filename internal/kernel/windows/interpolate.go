package windows

import (
	"math"

	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// interpolateUnit is a multiple of the number of elements of every level's vectors.
const interpolateUnit = 16

// Interpolate maps bytes by four lookup tables. An entry of table holds the bytes of the four
// tables, lowest first: those to the upper left, upper right, lower left and lower right of the
// pixel. across holds the position of every pixel between left and right, and down the position of
// all pixels between above and below. Every product and every sum is rounded to float32, and the
// result to nearest, ties to even.
func Interpolate(level processor.Level, dst, src []uint8, table *[256]uint32, across []float32, down float32) {
	src, across = src[:len(dst)], across[:len(dst)]
	up, from := 1-down, 0
	if asm := windowTable[level].interpolateU8; asm != nil {
		from = len(dst) &^ (interpolateUnit - 1)
		asm(raster.First(dst), raster.First(src), raster.First(table[:]), raster.First(across), from, down, up, 1)
	}
	for i := from; i < len(dst); i++ {
		v, right := table[src[i]], across[i]
		left := 1 - right
		above := float32(float32(v&255)*left) + float32(float32(v>>8&255)*right)
		below := float32(float32(v>>16&255)*left) + float32(float32(v>>24)*right)
		dst[i] = uint8(Rounded16(float32(above*up) + float32(below*down)))
	}
}

// Rounded16 rounds a number from 0 to 65535 to nearest, ties to even. Adding 1.5·2^23 leaves no
// bits for a fraction.
func Rounded16(v float32) uint16 {
	const integers = 3 << 22
	return uint16(math.Float32bits(v + integers))
}
