package kernel

import (
	"encoding/binary"

	"github.com/boxsum/boxsum/internal/raster"
)

// Columns sums columns of pixels, or of their squares. It exists only for integer sums, which may
// be added in any order, so that the table row above a tile can be computed from a row further up
// and the pixels in between.
type Columns struct {
	// Sum adds rows of pixels, which are stride elements apart, to sums. The length of sums gives
	// the number of columns.
	Sum func(sums, src []byte, stride, rows int)
	// Add adds a row of sums to another, and Sub subtracts it.
	Add, Sub func(dst, src []byte)
	// Prefix replaces a row of column sums by its prefix sums, for each channel separately.
	Prefix func(row []byte, channels int)
}

// columnLoops holds the portable loops of Columns.
type columnLoops = Columns

// ColumnsOf returns the functions of a level. They are nil for sums that are not integers.
func ColumnsOf(pixel, sum raster.Type, level Level, squares bool) Columns {
	return find(pixel, sum, squares).columns[level]
}

// newColumns returns Columns that use the assembly of a level for whole vectors, after checking
// bounds, and the portable loop for the remaining columns.
func newColumns(r *routines, loops columnLoops, size sizes) Columns {
	if r.columns == nil {
		return loops
	}
	asm, portable := r.columns, loops.Sum
	loops.Sum = func(sums, src []byte, stride, rows int) {
		const lanes = LineBytes / 4 // a multiple of the lanes of every level
		all := len(sums) / size.sum
		n, groups := all&^(lanes-1), rows/groupRows
		if n == 0 || groups == 0 {
			portable(sums, src, stride, rows)
			return
		}
		_ = src[:((rows-1)*stride+all)*size.pixel]
		asm(&sums[0], &src[0], stride*size.pixel, groups, n)
		portable(sums[n*size.sum:], src[n*size.pixel:], stride, groups*groupRows)
		if done := groups * groupRows; done < rows {
			portable(sums, src[done*stride*size.pixel:], stride, rows-done)
		}
	}
	return loops
}

// portableColumns is the specification of [Columns.Sum].
func portableColumns[P Pixel, S Sum](sums, src []byte, stride, rows int) {
	to, pixels := raster.Elems[S](sums), raster.Elems[P](src)
	if len(to) == 0 {
		return
	}
	if raster.TypeOf[P]() == raster.U8 {
		byteColumns(to, src, stride, rows)
		return
	}
	for r := range rows {
		for i, p := range pixels[r*stride:][:len(to)] {
			to[i] += S(p)
		}
	}
}

// portableSquareColumns is like portableColumns for squares.
func portableSquareColumns[P Pixel, S Sum](sums, src []byte, stride, rows int) {
	to, pixels := raster.Elems[S](sums), raster.Elems[P](src)
	for r := range rows {
		for i, p := range pixels[r*stride:][:len(to)] {
			to[i] += S(p) * S(p)
		}
	}
}

// byteColumns sums eight columns at a time, in two words of four 16-bit sums each.
func byteColumns[S Sum](sums []S, src []uint8, stride, rows int) {
	const (
		even = 0x00ff00ff00ff00ff
		most = 257 // rows of pixels of 255 whose sum fits 16 bits
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

// addRow implements [Columns.Add].
func addRow[S Sum](dst, src []byte) {
	to := raster.Elems[S](dst)
	for i, v := range raster.Elems[S](src)[:len(to)] {
		to[i] += v
	}
}

// subRow implements [Columns.Sub].
func subRow[S Sum](dst, src []byte) {
	to := raster.Elems[S](dst)
	for i, v := range raster.Elems[S](src)[:len(to)] {
		to[i] -= v
	}
}

// prefixRow implements [Columns.Prefix].
func prefixRow[S Sum](row []byte, channels int) {
	sums := raster.Elems[S](row)
	for i := channels; i < len(sums); i++ {
		sums[i] += sums[i-channels]
	}
}
