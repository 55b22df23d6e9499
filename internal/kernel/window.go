package kernel

import (
	"math"
	"math/bits"
	"unsafe"
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
	tripleIn                                  func(dst *byte, rows **byte, n int)
	tripleOut                                 func(rows **byte, src *byte, n int)
	tripleAcross                              func(src *byte, n, step int, taps *int, factor float32)
	tripleDown                                func(dst, state *byte, rows **byte, n int, factor float32)
}

const (
	// windowUnit is a number of elements that vectors of every size divide.
	windowUnit = 32
	// WindowSlack is how many elements more than they say the slices of a row have, those
	// of pixels and results excepted.
	WindowSlack = 64
)

// AddColumns is the specification of
//
//	cols[i] += times * (row[i] - offset)
//
// where only floats have an offset.
func AddColumns[P Pixel, A Number](cols []A, row []P, offset, times A) {
	cols = cols[:len(row)]
	if times == 1 {
		for i, p := range row {
			cols[i] += A(p) - offset
		}
		return
	}
	for i, p := range row {
		cols[i] += A((A(p) - offset) * times) // the conversion keeps the compiler from fusing
	}
}

// AddSquares is the same for squares.
func AddSquares[P Pixel, Q Number](cols []Q, row []P, offset, times Q) {
	cols = cols[:len(row)]
	for i, p := range row {
		d := Q(p) - offset
		cols[i] += Q(Q(d*d) * times)
	}
}

// SlideColumns moves the sums of columns a row down:
//
//	cols[i] += add[i] - sub[i]
func SlideColumns[P Pixel, A Number](level Level, cols []A, add, sub []P) {
	cols, sub = cols[:len(add)], sub[:len(add)]
	if asm := columnsOf[P, A](&windows[level]); asm != nil {
		n := len(add) &^ (windowUnit - 1)
		asm(first(cols), first(add), first(sub), n)
		cols, add, sub = cols[n:], add[n:], sub[n:]
	}
	for i, p := range add {
		cols[i] += A(p) - A(sub[i])
	}
}

func columnsOf[P Pixel, A Number](w *windowRoutines) func(cols, add, sub *byte, n int) {
	var a A
	switch any(*new(P)).(type) {
	case uint8:
		switch any(a).(type) {
		case uint16:
			return w.columnsU8U16
		case uint32:
			return w.columnsU8U32
		}
	case uint16:
		if _, ok := any(a).(uint32); ok {
			return w.columnsU16U32
		}
	case uint32:
		if _, ok := any(a).(uint32); ok {
			return w.columnsU32U32
		}
	case float32:
		if _, ok := any(a).(float64); ok {
			return w.columnsF32F64
		}
	case float64:
		if _, ok := any(a).(float64); ok {
			return w.columnsF64F64
		}
	}
	return nil
}

// SlideSquares is the same for squares.
func SlideSquares[P Pixel, Q Number](level Level, cols []Q, add, sub []P, offset Q) {
	cols, sub = cols[:len(add)], sub[:len(add)]
	if asm := squaresOf[P, Q](&windows[level]); asm != nil {
		n := len(add) &^ (windowUnit - 1)
		asm(first(cols), first(add), first(sub), n, float64(offset))
		cols, add, sub = cols[n:], add[n:], sub[n:]
	}
	for i, p := range add {
		a, b := Q(p)-offset, Q(sub[i])-offset
		cols[i] += Q(a*a) - Q(b*b)
	}
}

func squaresOf[P Pixel, Q Number](w *windowRoutines) func(cols, add, sub *byte, n int, offset float64) {
	switch any(*new(P)).(type) {
	case uint8:
		if _, ok := any(*new(Q)).(uint32); ok {
			return w.squaresU8U32
		}
	case float32:
		if _, ok := any(*new(Q)).(float64); ok {
			return w.squaresF32F64
		}
	}
	return nil
}

// SlideBoth is [SlideColumns] and [SlideSquares].
func SlideBoth[P Pixel, A, Q Number](level Level, cols []A, squares []Q, add, sub []P, offset Q) {
	_, bytes := any(add).([]uint8)
	sums, words := any(cols).([]uint32)
	all, words2 := any(squares).([]uint32)
	n := 0
	if asm := windows[level].bothU8U32; asm != nil && bytes && words && words2 {
		n = len(add) &^ (windowUnit - 1)
		asm(first(sums[:len(add)]), first(all[:len(add)]), first(add), first(sub[:len(add)]), n)
	}
	if n < len(add) {
		SlideColumns(level, cols[n:], add[n:], sub[n:])
		SlideSquares(level, squares[n:], add[n:], sub[n:], offset)
	}
}

// Prefix sums along a row, each channel by itself:
//
//	dst[i+channels] = dst[i] + src[i]
//
// for all of dst, whose first channels are zero. Floats of up to [FastChannels] are added
// in the order of tables, by blocks. Both slices have WindowSlack elements more than that.
func Prefix[A Number](level Level, dst, src []A, channels int) {
	dst = dst[:len(dst)-WindowSlack]
	n := len(dst) - channels
	if channels <= FastChannels && n > 0 {
		w, size := &windows[level], int(unsafe.Sizeof(*new(A)))
		asm := w.prefixU32
		if size == 8 {
			asm = w.prefixF64
		}
		switch any(dst).(type) {
		case []uint32, []float64:
			if asm != nil {
				_ = src[:n+windowUnit]
				asm(first(dst[channels:]), first(src), n+(-n&(windowUnit-1)), &lanesOf[size/4-1][channels-1].step[0][0])
				return
			}
		}
		if to, ok := any(dst).([]float64); ok {
			floatPrefix(to[channels:], any(src).([]float64)[:n], channels)
			return
		}
	}
	src = src[:n]
	to := dst[channels:]
	for i, v := range src {
		to[i] = dst[i] + v
	}
}

// floatPrefix sums eight floats as two blocks of four, each by doubling shifts. The second
// goes on from the first, and both then from what came before.
func floatPrefix(dst, src []float64, channels int) {
	var carry [FastChannels]float64
	var block [8]float64
	for len(src) > 0 {
		v := block[:]
		clear(v[copy(v, src):])
		for _, half := range [2][]float64{v[:4], v[4:]} {
			for shift := channels; shift < 4; shift *= 2 {
				for i := 3; i >= shift; i-- {
					half[i] += half[i-shift]
				}
			}
		}
		for i := range 4 {
			v[4+i] += v[4-channels+i%channels]
		}
		for i := range v {
			v[i] += carry[i%channels]
		}
		for ch := range channels { // those of the next block's first
			carry[ch] = v[8-channels+ch]
		}
		n := copy(dst, v[:min(8, len(src))])
		src, dst = src[n:], dst[n:]
	}
}

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

// RoundedMeans is
//
//	dst[i] = round((hi[i] - lo[i]) << scale / n)
//
// to nearest, ties up, of sums that are most at most.
func RoundedMeans[D Pixel, A Number](level Level, dst []D, hi, lo []A, n uint64, scale uint, most uint64) {
	hi, lo = hi[:len(dst)], lo[:len(dst)]
	if len(dst) >= windowUnit {
		if asm := roundOf[D, A](&windows[level]); asm != nil {
			if d := NewDivisor(n); d.most > 0 && most<<scale+d.half <= d.most {
				n := len(dst) &^ (windowUnit - 1)
				asm(first(dst), first(hi), first(lo), n, uint32(scale), uint32(d.half), d.multiplier, d.shift)
				dst, hi, lo = dst[n:], hi[n:], lo[n:]
			}
		}
	}
	half := n / 2
	for i := range dst {
		dst[i] = D((uint64(hi[i]-lo[i])<<scale + half) / n)
	}
}

func roundOf[D Pixel, A Number](w *windowRoutines) func(dst, hi, lo *byte, n int, scale, half, multiplier, shift uint32) {
	if _, ok := any(*new(A)).(uint32); !ok {
		return nil
	}
	switch any(*new(D)).(type) {
	case uint8:
		return w.roundU8
	case uint16:
		return w.roundU16
	}
	return nil
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
	level    Level
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
func NewBox(level Level, span, height, channels int) Box {
	n := uint64(span) * uint64(height)
	b := Box{level: level, span: span, channels: channels}
	w := &windows[level]
	if w.boxU8 == nil || channels > FastChannels || n >= 1<<31 {
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
func NewScaledBox(level Level, span, channels int, factor float32) Box {
	b := Box{level: level, span: span, channels: channels, inverse: factor}
	if windows[level].boxU8 != nil && channels <= FastChannels {
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
	_       [LineBytes]byte
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
// there are channels, and have WindowSlack elements more than those of the last window.
func (b *Box) Narrow(dst []uint8, cols []uint16, s *BoxScratch) {
	c := b.channels
	_ = cols[:len(dst)+b.span*c+WindowSlack]
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
	asm := windows[b.level].boxSmallU8
	if b.span > maxSmall {
		b.terms(dst, cols, s)
		return
	}
	n := len(dst) &^ (windowUnit - 1)
	if n > 0 {
		asm(first(dst), first(cols), n, 2*c, b.span, uint32(b.divisor.half), b.smallMultiplier, b.smallShift)
	}
	if n < len(dst) {
		asm(&s.rest[0], first(cols[n:]), windowUnit, 2*c, b.span, uint32(b.divisor.half), b.smallMultiplier, b.smallShift)
		copy(dst[n:], s.rest[:])
	}
}

func (b *Box) pairs(dst []uint8, cols []uint16, s *BoxScratch) {
	if len(dst) > 0 {
		asm := windows[b.level].boxPairsU8
		if b.tall {
			asm = windows[b.level].boxTallU8
		}
		asm(first(dst), first(cols[b.span:]), first(cols), len(dst), &s.carry[0], &lanesOf[0][0].step[0][0],
			uint32(b.divisor.half), b.divisor.multiplier, b.divisor.shift, b.inverse, b.bias)
	}
}

// terms adds up the columns of a window by sums of 1, 2, 4 and 8 of them, as the digits of
// the span say.
func (b *Box) terms(dst []uint8, cols []uint16, s *BoxScratch) {
	w, c := &windows[b.level], b.channels
	length := len(dst) + b.span*c // as far as any term reaches
	length += -length & (windowUnit - 1)
	at, from, used := [4]*byte{}, 0, 0
	below := cols
	for i, size := 0, 1; size <= b.span; i, size = i+1, 2*size {
		if i > 0 && i <= len(s.doubled) {
			if have := &s.doubled[i-1]; len(*have) < length+2*WindowSlack {
				*have = make([]uint16, length+2*WindowSlack)
			}
			to := s.doubled[i-1]
			w.addU16(first(to), first(below), first(below[size/2*c:]), length)
			below = to
		}
		if size == maxDoubled { // twice the sums of 8
			at[used], used = first(below[from*c:]), used+1
			at[used], used = first(below[(from+size/2)*c:]), used+1
			break
		}
		if b.span&size != 0 {
			at[used], used = first(below[from*c:]), used+1
			from += size
		}
	}
	for i := used; i < len(at); i++ {
		at[i] = at[0]
	}
	n := len(dst) &^ (windowUnit - 1)
	if n > 0 {
		w.boxTermsU8(first(dst), at[0], at[1], at[2], at[3], n, used, uint32(b.divisor.half), b.smallMultiplier, b.smallShift)
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
	_ = cols[:len(dst)+b.span*c+WindowSlack]
	b.words(dst[:n], cols, s)
	if n < len(dst) {
		b.words(s.rest[:], cols[n:], s)
		copy(dst[n:], s.rest[:])
	}
}

func (b *Box) words(dst []uint8, cols []uint32, s *BoxScratch) {
	if len(dst) > 0 {
		asm := windows[b.level].boxU8
		if b.channels == 1 {
			asm = windows[b.level].boxOneU8
		}
		asm(first(dst), first(cols[b.span*b.channels:]), first(cols), len(dst), &s.carry[0], &lanesOf[0][b.channels-1].step[0][0],
			uint32(b.divisor.half), b.divisor.multiplier, b.divisor.shift, b.inverse, b.bias)
	}
}

// WordBox is a [Box] whose results are 16 bits: those of [ScaledMeans].
type WordBox struct {
	level          Level
	span, channels int
	factor         float32
}

// NewWordBox is for windows of span×height pixels, times a factor, with sums below 2^31. It
// reports whether a level has a kernel for them.
func NewWordBox(level Level, span, height, channels int, factor float32) (WordBox, bool) {
	return WordBox{level, span, channels, factor}, windows[level].boxU16 != nil && channels <= FastChannels
}

// Row makes a row of means from columns as those of [Box.Row].
func (b *WordBox) Row(dst []uint16, cols []uint32, s *BoxScratch) {
	s.start(cols, b.span, b.channels)
	n := len(dst) &^ (windowUnit - 1)
	_ = cols[:len(dst)+b.span*b.channels+WindowSlack]
	b.words(dst[:n], cols, s)
	if n < len(dst) {
		b.words(s.words[:], cols[n:], s)
		copy(dst[n:], s.words[:])
	}
}

func (b *WordBox) words(dst []uint16, cols []uint32, s *BoxScratch) {
	if len(dst) > 0 {
		asm := windows[b.level].boxU16
		if b.channels == 1 {
			asm = windows[b.level].boxOneU16
		}
		asm(first(dst), first(cols[b.span*b.channels:]), first(cols), len(dst), &s.carry[0], &lanesOf[0][b.channels-1].step[0][0], b.factor)
	}
}

// ScaledMeans, of elements of 8 or 16 bits, is
//
//	dst[i] = round(float32(hi[i]-lo[i]) * factor)
//
// to nearest, ties to even, of sums below 2^31.
func ScaledMeans[D Pixel](level Level, dst []D, hi, lo []uint32, factor float32) {
	hi, lo = hi[:len(dst)], lo[:len(dst)]
	from := 0
	asm := windows[level].scaledU16
	if unsafe.Sizeof(*new(D)) == 1 {
		asm = windows[level].scaledU8
	}
	if asm != nil {
		from = len(dst) &^ (windowUnit - 1)
		asm(first(dst), first(hi), first(lo), from, factor)
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

// FloatMeans is
//
//	dst[i] = float32(float64(hi[i]-lo[i])*(1/n) + offset)
//
// of sums that are most at most, if they are integers, which have no offset.
func FloatMeans[A Number](level Level, dst []float32, hi, lo []A, n, offset float64, most uint64) {
	hi, lo = hi[:len(dst)], lo[:len(dst)]
	inverse := 1 / n
	w := &windows[level]
	var asm func(dst, hi, lo *byte, n int, inverse, offset float64)
	switch any(*new(A)).(type) {
	case uint32:
		if most < 1<<31 {
			asm = w.meansU32F32
		}
	case float64:
		asm = w.meansF64F32
	}
	if asm != nil {
		n := len(dst) &^ (windowUnit - 1)
		asm(first(dst), first(hi), first(lo), n, inverse, offset)
		dst, hi, lo = dst[n:], hi[n:], lo[n:]
	}
	for i := range dst {
		dst[i] = float32(float64(float64(hi[i]-lo[i])*inverse) + offset)
	}
}
