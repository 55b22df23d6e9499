package windows

import (
	"math"
	"slices"

	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// medianUnit is the number of bytes in the longest vector.
const medianUnit = raster.LineBytes

// medianKernel holds the assembly of one level for one pixel type.
type medianKernel struct {
	of3, of5       func(dst, next *byte, rows *[]byte, step, n, srcAhead, dstAhead int) (special int)
	keyed3, keyed5 func(dst, next *byte, rows *[]byte, step, n, srcAhead, dstAhead int) (special int) // of the keys of floats
	keys           func(dst, src *byte, n int)                                                        // nil for integers
}

// medianKernels holds the kernels by pixel type and level.
var medianKernels = [raster.NumTypes][processor.Count]medianKernel{
	raster.U8:  newMedianKernels(func(w *windowRoutines) medianKernel { return medianKernel{of3: w.median3U8, of5: w.median5U8} }),
	raster.U16: newMedianKernels(func(w *windowRoutines) medianKernel { return medianKernel{of3: w.median3U16, of5: w.median5U16} }),
	raster.F32: newMedianKernels(func(w *windowRoutines) medianKernel {
		return medianKernel{w.median3F32, w.median5F32, w.median3I32, w.median5I32, w.keysF32}
	}),
	raster.F64: newMedianKernels(func(w *windowRoutines) medianKernel {
		return medianKernel{w.median3F64, w.median5F64, w.median3I64, w.median5I64, w.keysF64}
	}),
}

func newMedianKernels(of func(w *windowRoutines) medianKernel) (all [processor.Count]medianKernel) {
	for level := range all {
		all[level] = of(&windowTable[level])
	}
	return all
}

// MinMedianBytes is the least length of a row of [Medians] and [MedianKeys].
const MinMedianBytes = medianUnit

// HasMedians reports whether a level supports [Medians] for windows of this size.
func HasMedians(level processor.Level, pixel raster.Type, size int) bool {
	return medianKernels[pixel][level].of3 != nil && (size == 3 || size == 5)
}

// MedianKeys computes the keys of a row of floats, which are integers in the order of the floats.
// -0 precedes 0, and NaN is last.
func MedianKeys(level processor.Level, pixel raster.Type, dst, src []byte) {
	dst = dst[:len(src)]
	wholeAndRest(len(src), func(x, n int) {
		medianKernels[pixel][level].keys(raster.First(dst[x:x+n]), raster.First(src[x:x+n]), n)
	})
}

// Ahead is the distance in bytes from the last two rows of pixels to the next two, and from the
// results to the next ones. They are prefetched explicitly, because the processor does not prefetch
// across the start of a row.
type Ahead struct{ Src, Dst int }

// Medians computes the medians of 3×3 or 5×5 windows in two rows, from one more row of pixels than
// a window has. Rows of pixels start with the first pixel of the first window, and neighbors are
// step elements apart. Medians reports whether no float was NaN or -0. If one was, the results are
// not valid, and [KeyMedians] must be used. It does not examine the first and the last
// step·(size/2) elements of rows.
func Medians(level processor.Level, pixel raster.Type, dst, next []byte, rows [][]byte, step int, ahead Ahead) bool {
	k := &medianKernels[pixel][level]
	return runMedians(k.of3, k.of5, dst, next, rows, step*pixel.Bytes(), ahead)
}

// HasSpecial reports whether any of some floats is NaN or -0, for which [KeyMedians] must be used.
func HasSpecial(pixel raster.Type, pixels []byte) bool {
	if pixel == raster.F32 {
		return slices.ContainsFunc(raster.Elems[float32](pixels), isSpecial)
	}
	return slices.ContainsFunc(raster.Elems[float64](pixels), isSpecial)
}

func isSpecial[P float32 | float64](v P) bool {
	return v != v || v == 0 && math.Signbit(float64(v))
}

// KeyMedians is like [Medians] for the keys of floats, all of which are valid. The median of a
// window that contains a NaN is NaN.
func KeyMedians(level processor.Level, pixel raster.Type, dst, next []byte, rows [][]byte, step int) {
	k := &medianKernels[pixel][level]
	runMedians(k.keyed3, k.keyed5, dst, next, rows, step*pixel.Bytes(), Ahead{})
}

func runMedians(of3, of5 func(dst, next *byte, rows *[]byte, step, n, srcAhead, dstAhead int) int, dst, next []byte, rows [][]byte, step int, ahead Ahead) bool {
	kernel := of3
	if len(rows) == 6 {
		kernel = of5
	}
	n := len(dst)
	_ = dst[MinMedianBytes-1]
	for _, row := range rows {
		_ = row[n+(len(rows)-2)*step-1]
	}
	return kernel(raster.First(dst), raster.First(next[:n]), &rows[0], step, n, ahead.Src, ahead.Dst) == 0
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

// Halve averages blocks of 2×2 bytes, two bytes each from a and b, rounded to nearest, ties up.
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
