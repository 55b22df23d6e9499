package windows

import (
	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// medianUnit is the greatest number of pixels in a vector.
const medianUnit = raster.LineBytes

// medianKernel holds the assembly of one level for one pixel type.
type medianKernel struct {
	sort3   func(dst *byte, plane int, a, b, c *byte, n int)
	sort5   func(dst *byte, plane int, a, b, c, d, e *byte, n int)
	median3 func(dst, src *byte, plane, step, n int)
	median5 func(dst, src *byte, plane, step, n int)
	keys    func(dst, src *byte, n int) // nil for pixels that are their own keys
}

// medianKernels holds the kernels by pixel type and level.
var medianKernels = [raster.NumTypes][processor.Count]medianKernel{
	raster.U8: newMedianKernels(func(w *windowRoutines) medianKernel {
		return medianKernel{w.sort3U8, w.sort5U8, w.median3U8, w.median5U8, nil}
	}),
	raster.U16: newMedianKernels(func(w *windowRoutines) medianKernel {
		return medianKernel{w.sort3U16, w.sort5U16, w.median3U16, w.median5U16, nil}
	}),
	raster.F32: newMedianKernels(func(w *windowRoutines) medianKernel {
		return medianKernel{w.sort3I32, w.sort5I32, w.median3F32, w.median5F32, w.keysF32}
	}),
}

func newMedianKernels(of func(w *windowRoutines) medianKernel) (all [processor.Count]medianKernel) {
	for level := range all {
		all[level] = of(&windowTable[level])
	}
	return all
}

// HasMedians reports whether a level supports [SortColumns] and [Medians] for rows of n elements
// and windows of this size.
func HasMedians(level processor.Level, pixel raster.Type, size, n int) bool {
	return medianKernels[pixel][level].sort3 != nil && (size == 3 || size == 5) && n >= medianUnit
}

// HasMedianKeys reports whether pixels of a type are sorted by keys of the same size.
func HasMedianKeys(pixel raster.Type) bool { return pixel.Float() }

// MedianKeys computes the keys of at least 64 floats: integers in the order of the floats,
// in which -0 comes before 0 and NaN is last.
func MedianKeys(level processor.Level, pixel raster.Type, dst, src []byte) {
	size := pixel.Bytes()
	wholeAndRest(len(src)/size, func(x, n int) {
		medianKernels[pixel][level].keys(raster.First(dst[x*size:(x+n)*size]), raster.First(src[x*size:(x+n)*size]), n)
	})
}

// SortColumns sorts each column of 3 or 5 rows of pixels, or of their keys. The least pixels of all columns are stored at the
// start of planes, the next ones plane elements further on, and so on.
func SortColumns(level processor.Level, pixel raster.Type, planes []byte, plane int, rows [][]byte) {
	k, size := &medianKernels[pixel][level], pixel.Bytes()
	n := len(rows[0]) / size
	_ = planes[((len(rows)-1)*plane+n)*size-1]
	wholeAndRest(n, func(x, n int) {
		to := raster.First(planes[x*size:])
		at := func(k int) *byte { return raster.First(rows[k][x*size : (x+n)*size]) }
		if len(rows) == 3 {
			k.sort3(to, size*plane, at(0), at(1), at(2), n)
		} else {
			k.sort5(to, size*plane, at(0), at(1), at(2), at(3), at(4), n)
		}
	})
}

// Medians computes the medians of windows of sorted columns that are step elements apart. If a
// window of floats contains a NaN, its median is NaN.
func Medians(level processor.Level, pixel raster.Type, dst, planes []byte, plane, step, columns int) {
	k, size := &medianKernels[pixel][level], pixel.Bytes()
	n := len(dst) / size
	_ = planes[((columns-1)*(plane+step)+n)*size-1]
	median := k.median5
	if columns == 3 {
		median = k.median3
	}
	wholeAndRest(n, func(x, n int) {
		median(raster.First(dst[x*size:(x+n)*size]), raster.First(planes[x*size:]), size*plane, size*step, n)
	})
}

// wholeAndRest calls do for the whole vectors of n elements, and then for the last vector, which
// may overlap them.
func wholeAndRest(n int, do func(x, n int)) {
	whole := n &^ (medianUnit - 1)
	do(0, whole)
	if whole < n {
		do(n-medianUnit, medianUnit)
	}
}

// HasBox3 reports whether a level supports [Box3] for rows of n bytes.
func HasBox3(level processor.Level, n int) bool {
	return windowTable[level].box3U8 != nil && n >= medianUnit+2
}

// Box3 computes rounded means of 3×3 bytes, except for the first and the last pixel of a row. It
// needs no column sums: it reads three rows once.
func Box3(level processor.Level, dst, a, b, c []uint8) {
	n := len(dst) - 2
	multiplier, _, _ := smallDivisor(9) // the shift is 0
	wholeAndRest(n, func(x, n int) {
		x++
		_, _, _ = a[x-1:x+n+1], b[x-1:x+n+1], c[x-1:x+n+1]
		windowTable[level].box3U8(raster.First(dst[x:x+n]), &a[x], &b[x], &c[x], n, 9/2, multiplier)
	})
}

// Halve averages 2×2 bytes, two each from a and b, rounded to nearest, ties up.
func Halve(level processor.Level, dst, a, b []uint8) {
	a, b = a[:2*len(dst)], b[:2*len(dst)]
	from := 0
	if asm := windowTable[level].halveU8; asm != nil {
		from = len(dst) &^ (windowUnit - 1)
		asm(raster.First(dst), raster.First(a), raster.First(b), from)
	}
	for i := from; i < len(dst); i++ {
		dst[i] = uint8((uint32(a[2*i]) + uint32(a[2*i+1]) + uint32(b[2*i]) + uint32(b[2*i+1]) + 2) >> 2)
	}
}
