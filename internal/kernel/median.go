package kernel

import "unsafe"

// medianUnit is how many pixels a vector has at most.
const medianUnit = LineBytes

// HasMedians reports whether a level has [SortColumns] and [Medians] for rows of n elements
// and windows of this size.
func HasMedians[P Pixel](level Level, size, n int) bool {
	_, bytes := any(*new(P)).(uint8)
	_, words := any(*new(P)).(uint16)
	return windows[level].sort3U8 != nil && (bytes || words) && (size == 3 || size == 5) && n >= medianUnit
}

// SortColumns sorts the pixels over each other in 3 rows or 5. The least of each column go
// to planes, the next plane elements further on, and so on.
func SortColumns[P Pixel](level Level, planes []P, plane int, rows [][]P) {
	n := len(rows[0])
	_ = planes[(len(rows)-1)*plane+n-1]
	w, size := &windows[level], int(unsafe.Sizeof(*new(P)))
	sort := func(x, n int) {
		to := first(planes[x:])
		at := func(k int) *byte { return first(rows[k][x : x+n]) }
		switch {
		case len(rows) == 3 && size == 1:
			w.sort3U8(to, plane, at(0), at(1), at(2), n)
		case len(rows) == 3:
			w.sort3U16(to, 2*plane, at(0), at(1), at(2), n)
		case size == 1:
			w.sort5U8(to, plane, at(0), at(1), at(2), at(3), at(4), n)
		default:
			w.sort5U16(to, 2*plane, at(0), at(1), at(2), at(3), at(4), n)
		}
	}
	wholeAndRest(n, sort)
}

// Medians is those of windows of as many sorted columns, step elements from each other.
func Medians[P Pixel](level Level, dst, planes []P, plane, step, columns int) {
	n := len(dst)
	_ = planes[(columns-1)*(plane+step)+n-1]
	w, size := &windows[level], int(unsafe.Sizeof(*new(P)))
	wholeAndRest(n, func(x, n int) {
		to, from := first(dst[x:x+n]), first(planes[x:])
		switch {
		case columns == 3 && size == 1:
			w.median3U8(to, from, plane, step, n)
		case columns == 3:
			w.median3U16(to, from, 2*plane, 2*step, n)
		case size == 1:
			w.median5U8(to, from, plane, step, n)
		default:
			w.median5U16(to, from, 2*plane, 2*step, n)
		}
	})
}

// wholeAndRest does something with whole vectors of n elements, and then with the last one,
// some of it for the second time.
func wholeAndRest(n int, do func(x, n int)) {
	whole := n &^ (medianUnit - 1)
	do(0, whole)
	if whole < n {
		do(n-medianUnit, medianUnit)
	}
}

// HasBox3 reports whether a level has [Box3] for rows of n bytes.
func HasBox3(level Level, n int) bool { return windows[level].box3U8 != nil && n >= medianUnit+2 }

// Box3 makes rounded means of 3×3 bytes, of all but the first and the last pixel of a row. It
// has no sums of columns: three rows are read once.
func Box3(level Level, dst, a, b, c []uint8) {
	n := len(dst) - 2
	multiplier, _, _ := smallDivisor(9) // which is not shifted
	wholeAndRest(n, func(x, n int) {
		x++
		_, _, _ = a[x-1:x+n+1], b[x-1:x+n+1], c[x-1:x+n+1]
		windows[level].box3U8(first(dst[x:x+n]), &a[x], &b[x], &c[x], n, 9/2, multiplier)
	})
}

// Halve makes one byte of every four: two of a and two of b, rounded to nearest, ties up.
func Halve(level Level, dst, a, b []uint8) {
	a, b = a[:2*len(dst)], b[:2*len(dst)]
	from := 0
	if asm := windows[level].halveU8; asm != nil {
		from = len(dst) &^ (windowUnit - 1)
		asm(first(dst), first(a), first(b), from)
	}
	for i := from; i < len(dst); i++ {
		dst[i] = uint8((uint32(a[2*i]) + uint32(a[2*i+1]) + uint32(b[2*i]) + uint32(b[2*i+1]) + 2) >> 2)
	}
}
