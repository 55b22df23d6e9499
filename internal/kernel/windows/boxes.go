package windows

import (
	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// BoxSums adds up weighted sums of boxes for a row of pixels, from rows of an integral image.
type BoxSums struct {
	Level    processor.Level
	Sum      raster.Type // of the integral image; uint32 and uint64 hold sums of boxes that fit in one bit less
	Result   raster.Type // float32 or float64
	Weights  []float64
	Corners  [][]byte // four for each weight: from the entry of the first pixel at the right and left below, right and left above
	pointers []*byte  // the same
	chunk    [boxChunk]float64
}

// boxUnit is the number of elements that n is a multiple of in assembly.
const boxUnit = 16

// boxChunk is the number of pixels that all boxes are added for before the next pixels, so that their sums stay in the cache.
const boxChunk = 256

// boxLoops holds the loops by type of the sums.
var boxLoops = [raster.NumTypes]func(b *BoxSums, row []float64, from int){
	raster.U32: addBoxes[uint32, int32], raster.U64: addBoxes[uint64, int64], raster.F64: addBoxes[float64, float64],
}

// Row computes, for all elements of dst,
//
//	sum := 0.0
//	for k, weight := range Weights {
//		c := Corners[4*k:]
//		sum += weight * ((c[0][i] - c[1][i]) - (c[2][i] - c[3][i]))
//	}
//	dst[i] = sum
func (b *BoxSums) Row(dst []byte) {
	size, to := b.Sum.Bytes(), b.Result.Bytes()
	n := len(dst) / to
	for _, c := range b.Corners[:4*len(b.Weights)] {
		_ = c[:n*size]
	}
	from := 0
	if asm := b.routine(); asm != nil && n >= boxUnit && len(b.Weights) > 0 {
		from = n &^ (boxUnit - 1)
		b.pointers = b.pointers[:0]
		for _, c := range b.Corners {
			b.pointers = append(b.pointers, raster.First(c))
		}
		asm(raster.First(dst), &b.pointers[0], raster.First(b.Weights), from, len(b.Weights))
		clear(b.pointers)
	}
	for ; from < n; from += boxChunk {
		row := b.chunk[:min(boxChunk, n-from)]
		clear(row)
		boxLoops[b.Sum](b, row, from)
		Store(b.Result, dst[from*to:][:len(row)*to], row)
	}
}

// routine returns the assembly for the types, or nil.
func (b *BoxSums) routine() func(dst *byte, corners **byte, weights *byte, n, terms int) {
	w := &windowTable[b.Level]
	switch {
	case b.Sum == raster.U32 && b.Result == raster.F32:
		return w.boxesU32F32
	case b.Sum == raster.U32 && b.Result == raster.F64:
		return w.boxesU32F64
	case b.Sum == raster.F64 && b.Result == raster.F32:
		return w.boxesF64F32
	case b.Sum == raster.F64 && b.Result == raster.F64:
		return w.boxesF64F64
	}
	return nil
}

// addBoxes adds all boxes to the pixels from an index on. Sums wrap in S and are numbers of type N.
func addBoxes[S uint32 | uint64 | float64, N int32 | int64 | float64](b *BoxSums, row []float64, from int) {
	for k, weight := range b.Weights {
		var c [4][]S
		for i := range c {
			c[i] = raster.Elems[S](b.Corners[4*k+i])[from:][:len(row)]
		}
		for i := range row {
			row[i] += float64(weight * float64(N((c[0][i]-c[1][i])-(c[2][i]-c[3][i])))) // the conversion prevents a fused multiply-add
		}
	}
}
