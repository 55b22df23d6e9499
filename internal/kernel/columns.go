package kernel

import (
	"encoding/binary"

	"github.com/boxsum/boxsum/internal/pairs"
)

// A Columns adds the sums of columns, of pixels or of their squares, to sums: as many
// columns as there are sums, and rows of pixels, as bytes, that are stride elements apart. There is one
// for pairs of whole numbers, which add up in any order.
type Columns[S Sum] func(sums []S, src []byte, stride, rows int)

// ColumnsOf is that of a level, and nil for other pairs.
func ColumnsOf[S Sum](pixel pairs.Type, level Level, squares bool) Columns[S] {
	return find[S](pixel, squares).columns[level]
}

// columnsFunc is the columns by assembly, which trusts its arguments, and what it
// leaves by another.
func columnsFunc[S Sum](r *routines[byte, S], portable Columns[S], pixelBytes int) Columns[S] {
	if r.columns == nil {
		return portable
	}
	return func(sums []S, src []byte, stride, rows int) {
		const lanes = LineBytes / 4 // a multiple of those of every level
		n, groups := len(sums)&^(lanes-1), rows/groupRows
		if n == 0 || groups == 0 {
			portable(sums, src, stride, rows)
			return
		}
		_ = src[:((rows-1)*stride+len(sums))*pixelBytes]
		r.columns(&sums[0], &src[0], stride*pixelBytes, groups, n)
		portable(sums[n:], src[n*pixelBytes:], stride, groups*groupRows)
		if done := groups * groupRows; done < rows {
			portable(sums, src[done*stride*pixelBytes:], stride, rows-done)
		}
	}
}

// portableColumns is the specification.
func portableColumns[P Pixel, S Sum](sums []S, src []byte, stride, rows int) {
	if len(sums) == 0 {
		return
	}
	pixels := Of[P](src)
	if bytes, ok := any(pixels).([]uint8); ok {
		byteColumns(sums, bytes, stride, rows)
		return
	}
	for r := range rows {
		for i, p := range pixels[r*stride:][:len(sums)] {
			sums[i] += S(p)
		}
	}
}

// portableSquareColumns is the same of squares.
func portableSquareColumns[P Pixel, S Sum](sums []S, src []byte, stride, rows int) {
	pixels := Of[P](src)
	for r := range rows {
		for i, p := range pixels[r*stride:][:len(sums)] {
			sums[i] += S(p) * S(p)
		}
	}
}

// byteColumns takes eight columns at a time, in two words of four sums of 16 bits
// each.
func byteColumns[S Sum](sums []S, src []uint8, stride, rows int) {
	const (
		even = 0x00ff00ff00ff00ff
		most = 257 // rows of 255 that 16 bits hold
	)
	for rows > 0 {
		part := min(rows, most)
		i := 0
		for ; i+8 <= len(sums); i += 8 {
			var a, b uint64
			for at := i; at < i+part*stride; at += stride {
				v := binary.LittleEndian.Uint64(src[at : at+8])
				a += v & even
				b += v >> 8 & even
			}
			eight := sums[i : i+8 : i+8]
			for k := range 4 {
				eight[2*k] += S(a >> (16 * k) & 0xffff)
				eight[2*k+1] += S(b >> (16 * k) & 0xffff)
			}
		}
		for r := range part {
			for k, p := range src[r*stride+i : r*stride+len(sums)] {
				sums[i+k] += S(p)
			}
		}
		if rows -= part; rows > 0 {
			src = src[part*stride:]
		}
	}
}
