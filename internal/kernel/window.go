package kernel

import (
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
	columnsF32F64, columnsF64F64              func(cols, add, sub *byte, n int)
	squaresU8U32, squaresF32F64               func(cols, add, sub *byte, n int, offset float64)
	prefixU32, prefixF64                      func(dst, src *byte, n int, lanes *uint32)
	boxU8                                     func(dst, hi, lo *byte, n int, carry, lanes *uint32, half, multiplier, shift uint32, inverse, bias float32)
	boxSmallU8                                func(dst, cols *byte, n, step, span int, half, multiplier, shift uint32)
	roundU8, roundU16                         func(dst, hi, lo *byte, n int, scale, half, multiplier, shift uint32)
}

// windowUnit is a number of elements that vectors of every size divide.
const windowUnit = 32

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

// Prefix sums along a row, each channel by itself:
//
//	dst[i+channels] = dst[i] + src[i]
//
// for all of dst, whose first channels are zero. Floats of up to [FastChannels] are added
// in the order of tables, by blocks. Both slices have Slack elements more than that.
func Prefix[A Number](level Level, dst, src []A, channels int) {
	dst = dst[:len(dst)-Slack]
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
				_ = src[:n+Slack]
				asm(first(dst[channels:]), first(src), n+(-n&(Slack-1)), &lanesOf[size/4-1][channels-1].step[0][0])
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

// floatPrefix is floatRow of tables without a row above.
func floatPrefix(dst, src []float64, channels int) {
	var carry [FastChannels]float64
	if channels == 1 {
		s := 0.0
		for len(src) >= 4 {
			p, d := src[:4], dst[:4]
			v0, v1, v2, v3 := p[0], p[1], p[2], p[3]
			v3, v2, v1 = v3+v2, v2+v1, v1+v0
			v3, v2 = v3+v1, v2+v0
			d[0], d[1], d[2], d[3] = v0+s, v1+s, v2+s, v3+s
			s = d[3]
			src, dst = src[4:], dst[4:]
		}
		carry[0] = s
	}
	var block [4]float64
	for len(src) > 0 {
		v := block[:copy(block[:], src)]
		for shift := channels; shift < len(block); shift *= 2 {
			for i := len(v) - 1; i >= shift; i-- {
				v[i] += v[i-shift]
			}
		}
		for i := range v {
			v[i] += carry[i%channels]
			dst[i] = v[i]
		}
		copy(carry[:channels], v[max(0, len(v)-channels):])
		src, dst = src[len(v):], dst[len(v):]
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

// A Box makes rounded means of bytes from the sums of columns: of windows that have span
// pixels across and n in all.
type Box struct {
	level    Level
	span     int
	channels int
	divisor  Divisor

	// Few columns in 16 bits.
	small                      bool
	smallMultiplier, smallTurn uint32

	// Few pixels by floats.
	inverse, bias float32
}

const (
	// maxSmall is how many columns are added one by one.
	maxSmall = 8
	// maxFloat is how many pixels means by floats are exact for: half a pixel more or less
	// than a tie is more than their rounding. TestBoxFloats tries all.
	maxFloat = 1 << 13
)

// Boxes reports whether a level has kernels for windows of n pixels of bytes, span of them
// across, and whether their columns have 16 bits, else 32.
func Boxes(level Level, span int, n uint64) (ok, small bool) {
	w := &windows[level]
	if _, _, found := smallDivisor(n); found && span <= maxSmall && w.boxSmallU8 != nil {
		return true, true
	}
	d := NewDivisor(n)
	return w.boxU8 != nil && d.most >= 255*n+n/2, false
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

// NewBox is for windows for which Boxes is true.
func NewBox(level Level, span, channels int, n uint64) Box {
	b := Box{level: level, span: span, channels: channels, divisor: NewDivisor(n)}
	if _, b.small = Boxes(level, span, n); b.small {
		b.smallMultiplier, b.smallTurn, _ = smallDivisor(n)
	}
	if n <= maxFloat {
		b.inverse = float32(1 / float64(n))
		b.bias = float32((float64(b.divisor.half) + 0.5) / float64(n))
	}
	return b
}

// Small makes a row of means from columns of 16 bits, which have Slack elements more and
// those of the last window.
func (b *Box) Small(dst []uint8, cols []uint16) {
	asm := windows[b.level].boxSmallU8
	step := 2 * b.channels
	n := len(dst) &^ (windowUnit - 1)
	_ = cols[:len(dst)+(b.span-1)*b.channels]
	if n > 0 {
		asm(first(dst), first(cols), n, step, b.span, uint32(b.divisor.half), b.smallMultiplier, b.smallTurn)
	}
	for i := n; i < len(dst); i++ {
		sum := uint32(0)
		for j := range b.span {
			sum += uint32(cols[i+j*b.channels])
		}
		dst[i] = uint8((sum + uint32(b.divisor.half)) / uint32(b.divisor.n))
	}
}

// BoxScratch is what a worker needs for [Box.Row].
type BoxScratch struct {
	carry [16]uint32
	rest  [Slack]uint8
	_     [LineBytes]byte
}

// Row makes a row of means from columns of 32 bits, which begin with as many zeros as there
// are channels, and have Slack elements more than those of the last window.
func (b *Box) Row(dst []uint8, cols []uint32, s *BoxScratch) {
	c, carry := b.channels, &s.carry
	clear(carry[:])
	window := cols[c:][:(b.span-1)*c]
	if c == 1 {
		carry[0] = sumOf(window)
	} else {
		for i, v := range window {
			carry[i%c] += v
		}
	}
	for i := c; i < 8; i++ {
		carry[i] = carry[i-c]
	}
	asm := windows[b.level].boxU8
	lanes := &lanesOf[0][c-1].step[0][0]
	hi := cols[b.span*c:]
	n := len(dst) &^ (Slack - 1)
	_ = hi[:len(dst)+Slack]
	if n > 0 {
		asm(first(dst), first(hi), first(cols), n, &carry[0], lanes, uint32(b.divisor.half), b.divisor.multiplier, b.divisor.shift, b.inverse, b.bias)
	}
	if n < len(dst) {
		asm(&s.rest[0], first(hi[n:]), first(cols[n:]), Slack, &carry[0], lanes, uint32(b.divisor.half), b.divisor.multiplier, b.divisor.shift, b.inverse, b.bias)
		copy(dst[n:], s.rest[:])
	}
}

func sumOf(all []uint32) uint32 {
	var a, b, c, d uint32
	for ; len(all) >= 8; all = all[8:] {
		a += all[0] + all[4]
		b += all[1] + all[5]
		c += all[2] + all[6]
		d += all[3] + all[7]
	}
	for _, v := range all {
		a += v
	}
	return a + b + c + d
}
