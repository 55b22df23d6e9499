// Package windows holds the loops over one row of windows: running sums of columns, means,
// deviations, medians, guided filters and the decisions of thresholds. The portable Go loop
// is the specification; the assembly gives the same bits.
package windows

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// Number is what the running sums of windows are made of.
type Number interface {
	uint16 | uint32 | uint64 | float64
}

// windowRoutines is the assembly of a level, nil where there is none.
type windowRoutines struct {
	columnsU8U16, columnsU8U32, columnsU16U32 func(cols, add, sub *byte, n int)
	columnsU32U32                             func(cols, add, sub *byte, n int)
	columnsF32F64, columnsF64F64              func(cols, add, sub *byte, n int)
	squaresU8U32, squaresF32F64               func(cols, add, sub *byte, n int, offset float64)
	bothU8U32                                 func(cols, squares, add, sub *byte, n int)
	prefixU32, prefixF64                      func(dst, src *byte, n int, lanes *uint32)
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
	variancesU32F32                           func(dst, hi, lo, hi2, lo2 *byte, n int, count uint32, inverse, inverse2 float32, small, root int)
	sort3U8, sort3U16                         func(dst *byte, plane int, a, b, c *byte, n int)
	sort5U8, sort5U16                         func(dst *byte, plane int, a, b, c, d, e *byte, n int)
	median3U8, median3U16                     func(dst, src *byte, plane, step, n int)
	median5U8, median5U16                     func(dst, src *byte, plane, step, n int)
	halveU8                                   func(dst, a, b *byte, n int)
	roundU8, roundU16                         func(dst, hi, lo *byte, n int, scale, half, multiplier, shift uint32)
	weighF32, weighF64                        func(dst *byte, rows **byte, weights *byte, radius, n int)
	singlesU8, singlesU16                     func(dst, src *byte, n int)
	roundedU8, roundedU16                     func(dst, src *byte, n int, half float32)
	tripleIn                                  func(dst *byte, rows **byte, n int)
	tripleOut                                 func(rows **byte, src *byte, n int)
	tripleAcross                              func(src *byte, n, step int, taps *int, factor float32)
	tripleDown                                func(dst, state *byte, rows **byte, n int, factor float32)
}

const (
	// windowUnit is a number of elements that vectors of every size divide.
	windowUnit = 32
	// Slack is how many elements more than they say the slices of a row have, those
	// of pixels and results excepted.
	Slack = 64
)

// A Divisor divides sums by a number with rounding to nearest, ties up.
type Divisor struct {
	n, half           uint64
	most              uint64 // the largest sum for which the multiplier is exact
	multiplier, shift uint32
}

// NewDivisor is for numbers from 1 on.
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
	over := m*n - one // how far the multiplier is too large
	d.most = 1<<32 - 1
	if over > 0 {
		d.most = min(d.most, (one-1)/over)
	}
	d.multiplier = uint32(m)
	return d
}

// A BoxKind is how means of bytes are made from the sums of columns.
type BoxKind uint8

const (
	BoxNone  BoxKind = iota // there is no kernel
	BoxSmall                // whole windows in 16 bits, by adding their columns
	BoxPairs                // along a row, from columns of 16 bits
	BoxWords                // along a row, from columns of 32 bits
)

// Narrow reports whether columns have 16 bits.
func (k BoxKind) Narrow() bool { return k == BoxSmall || k == BoxPairs }

// A Box makes rounded means of bytes from the sums of columns.
type Box struct {
	Kind     BoxKind
	level    processor.Level
	span     int // pixels across
	channels int
	tall     bool // columns have all 16 bits
	divisor  Divisor

	smallMultiplier, smallShift uint32

	inverse, bias float32 // for few pixels
}

const (
	// maxSmall is how many columns are added one by one, and maxDoubled those that are
	// added by doubling.
	maxSmall, maxDoubled = 6, 16
	// maxPairs is how high windows are whose columns fit in 15 bits, and maxTall in 16.
	maxPairs, maxTall = 128, 257
	// maxFloat is how many pixels means by floats are exact for: half a pixel more or less
	// than a tie is more than their rounding. TestBoxFloats tries all ties.
	maxFloat = 1 << 14
)

// NewBox is for windows of span×height pixels. Its Kind is BoxNone if a level has no
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

// NewScaledBox is for windows of span words across, with sums below 2^31: the means of
// [ScaledMeans]. It is of kind BoxWords if a level has a kernel.
func NewScaledBox(level processor.Level, span, channels int, factor float32) Box {
	b := Box{level: level, span: span, channels: channels, inverse: factor}
	if windowTable[level].boxU8 != nil && channels <= processor.FastChannels {
		b.Kind = BoxWords
	}
	return b
}

// smallDivisor is how to divide sums of n bytes that fit in 16 bits, as a product of which
// the upper half is shifted. It reports whether there is a way.
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

// BoxScratch is what a worker needs for a [Box].
type BoxScratch struct {
	carry   [16]uint32
	carry2  [16]uint32
	floats  [2][windowUnit]float32
	rest    [windowUnit]uint8
	words   [windowUnit]uint16
	doubled [3][]uint16 // sums of 2, 4 and 8 columns
	_       [raster.LineBytes]byte
}

// start is for the window before the first, of which all columns but the first, zero, are
// in the first window too.
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

// Narrow makes a row of means from columns of 16 bits. They begin with as many zeros as
// there are channels, and have Slack elements more than those of the last window.
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

// terms adds up the columns of a window by sums of 1, 2, 4 and 8 of them, as the digits of
// the span say.
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
		if size == maxDoubled { // twice the sums of 8
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

// Row makes a row of means from columns of 32 bits, which begin and end as those of Narrow.
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

// WordBox is a [Box] whose results are 16 bits: those of [ScaledMeans].
type WordBox struct {
	level          processor.Level
	span, channels int
	factor         float32
}

// NewWordBox is for windows of span×height pixels, times a factor, with sums below 2^31. It
// reports whether a level has a kernel for them.
func NewWordBox(level processor.Level, span, height, channels int, factor float32) (WordBox, bool) {
	return WordBox{level, span, channels, factor}, windowTable[level].boxU16 != nil && channels <= processor.FastChannels
}

// Row makes a row of means from columns as those of [Box.Row].
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

// ScaledMeans, of elements of 8 or 16 bits, is
//
//	dst[i] = round(float32(hi[i]-lo[i]) * factor)
//
// to nearest, ties to even, of sums below 2^31.
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
