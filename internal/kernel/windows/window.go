// Package windows holds the inner loops over one row of windows: column sums, means, deviations,
// medians, guided filters and threshold decisions. The portable Go loop is the specification; the
// assembly returns the same bits.
package windows

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// Number lists the types of column sums.
type Number interface {
	uint16 | uint32 | uint64 | float64
}

// windowRoutines holds the assembly of a level; missing routines are nil.
type windowRoutines struct {
	columnsU8U16, columnsU8U32, columnsU16U32 func(cols, add, sub *byte, n int)
	columnsU32U32                             func(cols, add, sub *byte, n int)
	columnsF32F64, columnsF64F64              func(cols, add, sub *byte, n int)
	squaresU8U32, squaresF32F64               func(cols, add, sub *byte, n int, offset float64)
	bothU8U32                                 func(cols, squares, add, sub *byte, n int)
	addRowsF32, addRowsF64                    addRowsRoutine
	addSquaresF32, addSquaresF64              addRowsRoutine
	prefixU32, prefixF64, prefixOneF64        func(dst, src *byte, n int, lanes *uint32)
	boxU8, boxOneU8                           func(dst, hi, lo *byte, n int, carry, lanes *uint32, half, multiplier, shift uint32, inverse, bias float32)
	boxU16, boxOneU16                         func(dst, hi, lo *byte, n int, carry, lanes *uint32, factor float32)
	scaledU8, scaledU16                       func(dst, hi, lo *byte, n int, factor float32)
	boxStats, boxStatsOne                     func(mean, dev, hi, lo, hi2, lo2 *byte, n int, carry, carry2, lanes *uint32, count uint32, inverse, inverse2 float32, small, past int)
	guidedProducts                            func(dst, img, guide *byte, n int)
	guidedFit                                 func(dst, hi, lo *byte, n int, inverse, epsilon float64)
	guidedPixels                              func(dst, guide, hi, lo *byte, n int, inverse, half, most float64)
	guidedLines, guidedOwnLines               func(a, b *byte, s *byte, n int, lanes *uint32)
	productsU8                                func(dst, a, b *byte, n int)
	guidedBytes                               func(dst, guide *byte, s *byte, n int, lanes *uint32)
	boxPairsU8, boxTallU8                     func(dst, hi, lo *byte, n int, carry, lanes *uint32, half, multiplier, shift uint32, inverse, bias float32)
	boxSmallU8                                func(dst, cols *byte, n, step, span int, half, multiplier, shift uint32)
	box3U8                                    func(dst, a, b, c *byte, n int, half, multiplier uint32)
	addU16                                    func(dst, a, b *byte, n int)
	boxTermsU8                                func(dst, a, b, c, d *byte, n, terms int, half, multiplier, shift uint32)
	meansU32F32, meansF64F32                  func(dst, hi, lo *byte, n int, inverse, offset float64)
	validMeansF32, validMeansF64              validMeansRoutine
	variancesU32F32                           func(dst, hi, lo, hi2, lo2 *byte, n int, count uint32, inverse, inverse2 float32, small, root int)
	median3U8, median3U16, median3F32         func(dst, next *byte, rows *[]byte, step, n, srcAhead, dstAhead int) (special int)
	median3F64, median3I32, median3I64        func(dst, next *byte, rows *[]byte, step, n, srcAhead, dstAhead int) (special int)
	median5U8, median5U16, median5F32         func(dst, next *byte, rows *[]byte, step, n, srcAhead, dstAhead int) (special int)
	median5F64, median5I32, median5I64        func(dst, next *byte, rows *[]byte, step, n, srcAhead, dstAhead int) (special int)
	keysF32, keysF64                          func(dst, src *byte, n int)
	countColumns                              func(coarse, fine *byte, stride int, in, out *byte, n int)
	countMedians                              func(dst, coarse, fine, state *byte, stride, n, columns, middle int)
	countUpTo                                 func(sums, coarse, fine, state *byte, stride, n, columns int, levels *byte)
	halveU8                                   func(dst, a, b *byte, n int)
	roundU8, roundU16                         func(dst, hi, lo *byte, n int, scale, half, multiplier, shift uint32)
	weighF32, weighF64, weighU8, weighU16     func(dst, src, weights *byte, radius, step, n, rows, dstStride, srcStride int)
	singlesU8, singlesU16                     func(dst, src *byte, n, rows, dstStride, srcStride int)
	roundedU8, roundedU16                     func(dst, src *byte, n, rows, dstStride, srcStride int, half float32)
	interpolateU8                             func(dst, src, table, across *byte, n int, down, up, one float32)
	slideLevels                               func(window, in, out, present *byte)
	slideLanes                                func(counts, in, out, ramp *byte, n int)
	majorityLanes                             func(dst, counts *byte)
	upToLanes                                 func(sums, counts, most *byte, levels int)
	percentileLanes                           func(dst, counts, limits *byte)
	otsuLanes                                 func(dst, counts, list *byte)
	lesserU8, lesserU16                       func(dst, src *byte, n int)
	greaterU8, greaterU16                     func(dst, src *byte, n int)
	pairPatches                               func(pairs, a, b *byte, n int)
	slidePatches                              func(columns, a, b *byte, n int)
	weighPatches                              func(weights, columns, table *byte, n, span int, shift, last uint32)
	addPatches                                func(sums, totals, weights, pixels *byte, n int)
	slideFloats                               func(columns, a, b, c, d *byte, n int)
	weighFloats                               func(weights, columns *byte, n, span int, bias, scale float64)
	addFloats                                 func(sums, totals, weights, pixels *byte, n int)
	distancesU8, distancesU16                 func(dst, a, b *byte, n int)
	compareSums                               func(scores *byte, sums **byte, n int, count uint32, c1, c2, factor float64)
	correlateSums                             func(scores *byte, sums **byte, n int, count uint32, inverse, half, least float64)
	countNotAbove                             func(counts, center, src *byte, n, span int)
	boxesU32F32, boxesU32F64                  func(dst *byte, corners **byte, weights *byte, n, terms int)
	boxesF64F32, boxesF64F64                  func(dst *byte, corners **byte, weights *byte, n, terms int)
	tripleIn                                  func(dst *byte, rows **byte, n int)
	tripleOut                                 func(rows **byte, src *byte, n int)
	tripleAcross                              func(src *byte, n, step int, taps *int, factor float32)
	tripleDown                                func(dst, state *byte, rows **byte, n int, factor float32)
}

const (
	// windowUnit is a number of elements that is a multiple of every vector's.
	windowUnit = 32
	// Slack is the number of elements that slices of a row must have beyond their nominal length,
	// except those of pixels and results.
	Slack = 64
)

// A Divisor divides sums by a number, rounding to nearest, ties up.
type Divisor struct {
	n, half           uint64
	most              uint64 // the greatest sum for which the multiplier is exact
	multiplier, shift uint32
}

// NewDivisor returns a Divisor by n, which must be positive.
func NewDivisor(n uint64) Divisor {
	d := Divisor{n: n, half: n / 2}
	if n >= 1<<31 {
		return d
	}
	d.shift = uint32(bits.Len64(n) - 1)
	if n&(n-1) == 0 {
		if d.shift == 0 {
			return d
		}
		d.shift--
	}
	one := uint64(1) << (32 + d.shift)
	m := (one + n - 1) / n
	over := m*n - one // error of the multiplier
	d.most = 1<<32 - 1
	if over > 0 {
		d.most = min(d.most, (one-1)/over)
	}
	d.multiplier = uint32(m)
	return d
}

// A BoxKind is a method to compute means of bytes from column sums.
type BoxKind uint8

const (
	BoxNone  BoxKind = iota // no kernel
	BoxSmall                // whole windows in 16 bits, by adding their columns
	BoxPairs                // along a row, from 16-bit column sums
	BoxWords                // along a row, from 32-bit column sums
)

// Narrow reports whether column sums have 16 bits.
func (k BoxKind) Narrow() bool { return k == BoxSmall || k == BoxPairs }

// A Box computes rounded means of bytes from column sums.
type Box struct {
	Kind     BoxKind
	level    processor.Level
	span     int // width of a window in pixels
	channels int
	tall     bool // column sums use all 16 bits
	divisor  Divisor

	smallMultiplier, smallShift uint32

	inverse, bias float32 // for few pixels
}

const (
	// maxSmall is the greatest number of columns that are added one by one, and maxDoubled the
	// greatest that are added by doubling.
	maxSmall, maxDoubled = 6, 16
	// maxPairs is the greatest height of windows whose column sums fit in 15 bits, and maxTall in
	// 16 bits.
	maxPairs, maxTall = 128, 257
	// maxFloat is the greatest number of pixels for which means computed in floats are exact: half
	// a pixel from a tie exceeds their rounding error. TestBoxFloats checks all ties.
	maxFloat = 1 << 14
)

// NewBox returns a Box for windows of span×height pixels. Its Kind is BoxNone if the level has no
// kernel for them.
func NewBox(level processor.Level, span, height, channels int) Box {
	n := uint64(span) * uint64(height)
	b := Box{level: level, span: span, channels: channels}
	w := &windowTable[level]
	if w.boxU8 == nil || channels > processor.FastChannels || n >= 1<<31 {
		return b
	}
	b.divisor = NewDivisor(n)
	if multiplier, shift, ok := smallDivisor(n); ok && span <= maxDoubled {
		b.Kind, b.smallMultiplier, b.smallShift = BoxSmall, multiplier, shift
		return b
	}
	if b.divisor.most < 255*n+n/2 {
		return b
	}
	b.Kind = BoxWords
	if channels == 1 && height <= maxTall {
		b.Kind, b.tall = BoxPairs, height > maxPairs
	}
	if n <= maxFloat {
		b.inverse = float32(1 / float64(n))
		b.bias = float32((float64(b.divisor.half) + 0.5) / float64(n))
	}
	return b
}

// NewScaledBox returns a Box that computes [ScaledMeans] of windows of span columns, with sums
// below 2^31. Its Kind is BoxWords if the level has a kernel.
func NewScaledBox(level processor.Level, span, channels int, factor float32) Box {
	b := Box{level: level, span: span, channels: channels, inverse: factor}
	if windowTable[level].boxU8 != nil && channels <= processor.FastChannels {
		b.Kind = BoxWords
	}
	return b
}

// smallDivisor returns how to divide sums of n bytes that fit in 16 bits: multiply, take the upper
// half, and shift right. It reports whether this is exact.
func smallDivisor(n uint64) (multiplier, shift uint32, ok bool) {
	largest := 255*n + n/2
	if n < 2 || largest >= 1<<16 {
		return 0, 0, false
	}
	for shift := range uint32(16) {
		one := uint64(1) << (16 + shift)
		m := (one + n - 1) / n
		if m < 1<<16 && (m*n-one)*largest < one {
			return uint32(m), shift, true
		}
	}
	return 0, 0, false
}

// BoxScratch is the working memory of a worker for a [Box].
type BoxScratch struct {
	carry   [16]uint32
	carry2  [16]uint32
	floats  [2][windowUnit]float32
	rest    [windowUnit]uint8
	words   [windowUnit]uint16
	doubled [3][]uint16 // sums of 2, 4 and 8 columns
	_       [raster.LineBytes]byte
}

// start sums the window before the first pixel. It consists of a zero column and all columns of the
// first window except the last.
func (s *BoxScratch) start(cols []uint32, span, c int) {
	clear(s.carry[:])
	window := cols[c:][:(span-1)*c]
	if c == 1 {
		s.carry[0] = sumOf(window)
	} else {
		for i, v := range window {
			s.carry[i%c] += v
		}
	}
	for i := c; i < len(s.carry); i++ {
		s.carry[i] = s.carry[i-c]
	}
}

// Narrow computes a row of means from 16-bit column sums. These begin with a zero for every channel
// and extend Slack elements beyond the last window.
func (b *Box) Narrow(dst []uint8, cols []uint16, s *BoxScratch) {
	c := b.channels
	_ = cols[:len(dst)+b.span*c+Slack]
	if b.Kind == BoxPairs {
		clear(s.carry[:])
		s.carry[0] = sumOf(cols[1:b.span])
		for i := range s.carry {
			s.carry[i] = s.carry[0]
		}
		n := len(dst) &^ (windowUnit - 1)
		b.pairs(dst[:n], cols, s)
		if n < len(dst) {
			b.pairs(s.rest[:], cols[n:], s)
			copy(dst[n:], s.rest[:])
		}
		return
	}
	cols = cols[c:]
	asm := windowTable[b.level].boxSmallU8
	if b.span > maxSmall {
		b.terms(dst, cols, s)
		return
	}
	n := len(dst) &^ (windowUnit - 1)
	if n > 0 {
		asm(raster.First(dst), raster.First(cols), n, 2*c, b.span, uint32(b.divisor.half), b.smallMultiplier, b.smallShift)
	}
	if n < len(dst) {
		asm(&s.rest[0], raster.First(cols[n:]), windowUnit, 2*c, b.span, uint32(b.divisor.half), b.smallMultiplier, b.smallShift)
		copy(dst[n:], s.rest[:])
	}
}

func (b *Box) pairs(dst []uint8, cols []uint16, s *BoxScratch) {
	if len(dst) > 0 {
		asm := windowTable[b.level].boxPairsU8
		if b.tall {
			asm = windowTable[b.level].boxTallU8
		}
		asm(raster.First(dst), raster.First(cols[b.span:]), raster.First(cols), len(dst), &s.carry[0], processor.Lanes(4, 1),
			uint32(b.divisor.half), b.divisor.multiplier, b.divisor.shift, b.inverse, b.bias)
	}
}

// terms adds the columns of a window as sums of 1, 2, 4 and 8 columns, according to the binary
// digits of the span.
func (b *Box) terms(dst []uint8, cols []uint16, s *BoxScratch) {
	w, c := &windowTable[b.level], b.channels
	length := len(dst) + b.span*c // as far as any term reaches
	length += -length & (windowUnit - 1)
	at, from, used := [4]*byte{}, 0, 0
	below := cols
	for i, size := 0, 1; size <= b.span; i, size = i+1, 2*size {
		if i > 0 && i <= len(s.doubled) {
			if have := &s.doubled[i-1]; len(*have) < length+2*Slack {
				*have = make([]uint16, length+2*Slack)
			}
			to := s.doubled[i-1]
			w.addU16(raster.First(to), raster.First(below), raster.First(below[size/2*c:]), length)
			below = to
		}
		if size == maxDoubled { // 16 is twice the sums of 8
			at[used], used = raster.First(below[from*c:]), used+1
			at[used], used = raster.First(below[(from+size/2)*c:]), used+1
			break
		}
		if b.span&size != 0 {
			at[used], used = raster.First(below[from*c:]), used+1
			from += size
		}
	}
	for i := used; i < len(at); i++ {
		at[i] = at[0]
	}
	n := len(dst) &^ (windowUnit - 1)
	if n > 0 {
		w.boxTermsU8(raster.First(dst), at[0], at[1], at[2], at[3], n, used, uint32(b.divisor.half), b.smallMultiplier, b.smallShift)
	}
	if n < len(dst) {
		for i := range at {
			at[i] = (*byte)(unsafe.Add(unsafe.Pointer(at[i]), 2*n))
		}
		w.boxTermsU8(&s.rest[0], at[0], at[1], at[2], at[3], windowUnit, used, uint32(b.divisor.half), b.smallMultiplier, b.smallShift)
		copy(dst[n:], s.rest[:])
	}
}

// An Extended image consists of rows of bytes that lie one after the other, Stride bytes apart, and
// contain the pixels beside, above and below an image. It has memory for the sums of its columns.
type Extended struct {
	Pixels []uint8
	Stride int

	zeros   []uint8
	doubled []uint16 // sums of 1, 2, 4 and so on rows
	columns []uint16
}

// Resize makes room for a number of rows.
func (e *Extended) Resize(stride, rows int) {
	n := stride*rows + windowUnit
	sums := n + stride + 2*Slack // the last windows extend beyond the pixels
	if cap(e.Pixels) < n || cap(e.columns) < sums {
		e.Pixels, e.zeros = make([]uint8, n), make([]uint8, n)
		e.doubled, e.columns = make([]uint16, sums), make([]uint16, sums)
	}
	e.Stride, e.Pixels = stride, e.Pixels[:stride*rows]
}

// Bytes returns the size of the memory.
func (e *Extended) Bytes() int {
	return cap(e.Pixels) + cap(e.zeros) + 2*(cap(e.doubled)+cap(e.columns))
}

// sum computes the column sums of height rows, starting at each row, after zeros for the channels.
func (e *Extended) sum(level processor.Level, height, channels int) []uint16 {
	w := &windowTable[level]
	whole := func(n int) int { return n + (-n & (windowUnit - 1)) }
	n := len(e.Pixels)
	clear(e.doubled[:whole(n)])
	w.columnsU8U16(raster.First(e.doubled), raster.First(e.Pixels), raster.First(e.zeros), whole(n))
	rows, below := n-(height-1)*e.Stride, 0
	clear(e.columns[:channels])
	sums := e.columns[channels:]
	for size := 1; size <= height; size *= 2 {
		if size > 1 {
			n -= size / 2 * e.Stride
			w.addU16(raster.First(e.doubled), raster.First(e.doubled), raster.First(e.doubled[size/2*e.Stride:]), whole(n))
		}
		if height&size == 0 {
			continue
		}
		if from := e.doubled[below*e.Stride:]; below == 0 {
			copy(sums, from[:rows])
		} else {
			w.addU16(raster.First(sums), raster.First(sums), raster.First(from), whole(rows))
		}
		below += size
	}
	return e.columns
}

// Means computes the means of all windows of height rows as if the rows of e were a single long one, so
// that a window may consist of the end of a row and the start of the next. Kind must be Narrow.
func (b *Box) Means(dst []uint8, e *Extended, height int, s *BoxScratch) {
	b.Narrow(dst, e.sum(b.level, height, b.channels), s)
}

// Row computes a row of means from 32-bit column sums, laid out as for Narrow.
func (b *Box) Row(dst []uint8, cols []uint32, s *BoxScratch) {
	c := b.channels
	s.start(cols, b.span, c)
	n := len(dst) &^ (windowUnit - 1)
	_ = cols[:len(dst)+b.span*c+Slack]
	b.words(dst[:n], cols, s)
	if n < len(dst) {
		b.words(s.rest[:], cols[n:], s)
		copy(dst[n:], s.rest[:])
	}
}

func (b *Box) words(dst []uint8, cols []uint32, s *BoxScratch) {
	if len(dst) > 0 {
		asm := windowTable[b.level].boxU8
		if b.channels == 1 {
			asm = windowTable[b.level].boxOneU8
		}
		asm(raster.First(dst), raster.First(cols[b.span*b.channels:]), raster.First(cols), len(dst), &s.carry[0], processor.Lanes(4, b.channels),
			uint32(b.divisor.half), b.divisor.multiplier, b.divisor.shift, b.inverse, b.bias)
	}
}

// WordBox is a [Box] with 16-bit results: those of [ScaledMeans].
type WordBox struct {
	level          processor.Level
	span, channels int
	factor         float32
}

// NewWordBox returns a WordBox for windows of span×height pixels, whose sums must be below 2^31,
// and a factor. It reports whether the level has a kernel for them.
func NewWordBox(level processor.Level, span, height, channels int, factor float32) (WordBox, bool) {
	return WordBox{level, span, channels, factor}, windowTable[level].boxU16 != nil && channels <= processor.FastChannels
}

// Row computes a row of means from columns laid out as for [Box.Row].
func (b *WordBox) Row(dst []uint16, cols []uint32, s *BoxScratch) {
	s.start(cols, b.span, b.channels)
	n := len(dst) &^ (windowUnit - 1)
	_ = cols[:len(dst)+b.span*b.channels+Slack]
	b.words(dst[:n], cols, s)
	if n < len(dst) {
		b.words(s.words[:], cols[n:], s)
		copy(dst[n:], s.words[:])
	}
}

func (b *WordBox) words(dst []uint16, cols []uint32, s *BoxScratch) {
	if len(dst) > 0 {
		asm := windowTable[b.level].boxU16
		if b.channels == 1 {
			asm = windowTable[b.level].boxOneU16
		}
		asm(raster.First(dst), raster.First(cols[b.span*b.channels:]), raster.First(cols), len(dst), &s.carry[0], processor.Lanes(4, b.channels), b.factor)
	}
}

// ScaledMeans computes elements of 8 or 16 bits:
//
//	dst[i] = round(float32(hi[i]-lo[i]) * factor)
//
// rounded to nearest, ties to even, of sums below 2^31.
func ScaledMeans[D raster.Number](level processor.Level, dst []D, hi, lo []uint32, factor float32) {
	hi, lo = hi[:len(dst)], lo[:len(dst)]
	from := 0
	asm := windowTable[level].scaledU16
	if unsafe.Sizeof(*new(D)) == 1 {
		asm = windowTable[level].scaledU8
	}
	if asm != nil {
		from = len(dst) &^ (windowUnit - 1)
		asm(raster.First(dst), raster.First(hi), raster.First(lo), from, factor)
	}
	for i := from; i < len(dst); i++ {
		dst[i] = D(math.RoundToEven(float64(float32(float32(hi[i]-lo[i]) * factor))))
	}
}

func sumOf[A uint16 | uint32](all []A) uint32 {
	var a, b, c, d uint32
	for ; len(all) >= 4; all = all[4:] {
		a += uint32(all[0])
		b += uint32(all[1])
		c += uint32(all[2])
		d += uint32(all[3])
	}
	for _, v := range all {
		a += uint32(v)
	}
	return a + b + c + d
}
