package kernel

import (
	"encoding/binary"
	"unsafe"
)

// A Columns adds the sums of columns, of pixels or of their squares, to sums: as many
// columns as there are sums, and rows that are stride elements apart. There is one
// for pairs of whole numbers, which add up in any order.
type Columns[P Pixel, S Sum] func(sums []S, src []P, stride, rows int)

// ColumnsOf is that of a level, and nil for other pairs.
func ColumnsOf[P Pixel, S Sum](level Level, squares bool) Columns[P, S] {
	return find[P, S](squares).columns[level]
}

// columnsFunc is the columns by assembly, which trusts its arguments, and what it
// leaves by another.
func columnsFunc[P Pixel, S Sum](r *routines[P, S], portable Columns[P, S]) Columns[P, S] {
	if r.columns == nil {
		return portable
	}
	return func(sums []S, src []P, stride, rows int) {
		const lanes = LineBytes / 4 // a multiple of those of every level
		n, groups := len(sums)&^(lanes-1), rows/groupRows
		if n == 0 || groups == 0 {
			portable(sums, src, stride, rows)
			return
		}
		_ = src[:(rows-1)*stride+len(sums)]
		r.columns(&sums[0], &src[0], stride*int(unsafe.Sizeof(src[0])), groups, n)
		portable(sums[n:], src[n:], stride, groups*groupRows)
		if done := groups * groupRows; done < rows {
			portable(sums, src[done*stride:], stride, rows-done)
		}
	}
}

// portableColumns is the specification.
func portableColumns[P Pixel, S Sum](squares bool) Columns[P, S] {
	return func(sums []S, src []P, stride, rows int) {
		if len(sums) == 0 {
			return
		}
		if bytes, ok := any(src).([]uint8); ok && !squares {
			byteColumns(sums, bytes, stride, rows)
			return
		}
		for r := range rows {
			row := src[r*stride:][:len(sums)]
			if squares {
				for i, p := range row {
					sums[i] += S(p) * S(p)
				}
				continue
			}
			for i, p := range row {
				sums[i] += S(p)
			}
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
