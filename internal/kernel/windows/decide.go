package windows

import (
	"encoding/binary"
	"math"
	"math/bits"
	"unsafe"

	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// thresholdRoutines holds the assembly of a level; missing routines are nil.
type thresholdRoutines struct {
	decideSauvola, decideNiblack func(dst, pix, hi, lo, hi2, lo2, inverse *byte, n int, lanes *uint32, scratch *byte)
	decideNICK, decidePhansalkar func(dst, pix, hi, lo, hi2, lo2, inverse *byte, n int, lanes *uint32, scratch *byte)
	decideLinear, decideCareful  func(dst, pix, hi, lo, hi2, lo2, inverse *byte, n int, lanes *uint32, scratch *byte)
	decideBradley, decideTRSingh func(dst, pix, hi, lo, inverse *byte, n int, lanes *uint32, scratch *byte)
	slideQuads, slideQuadSquares func(memory, add, sub, next, out *byte, n int)
	quadSauvola, quadNiblack     quadFunc
	quadNICK, quadPhansalkar     quadFunc
	quadLinear, quadCareful      quadFunc
	quadBradley, quadTRSingh     quadFunc
	spread                       func(pix, hi, lo, hi2, lo2, single, double *byte, n int, lanes *uint32, scratch *byte)
	mapSauvola, mapNiblack       func(dst, hi, lo, hi2, lo2, inverse *byte, n int, lanes *uint32, scratch *byte, K, inverseR float64, single int)
	decideSu                     func(dst, pix, hi, lo, hi2, lo2, hiN, loN *byte, n int, least float64, scratch *byte)
	atLeast                      func(dst, a, b *byte, n int, more, flip uint32)
	contrast                     func(dst, above, row, below *byte, n int)
	keepContrast                 func(dst, contrast *byte, n int, level uint32)
	maskContrast                 func(values, mask, row *byte, n int, level uint32)
	packBits                     func(dst, src *byte, n int)
}

// decideChunk is the number of pixels that are decided before the doubtful ones are decided again.
const decideChunk = 1024

// A line is a cache line of equal floats.
type line [16]float32

func lineOf(v float64) (l line) {
	for i := range l {
		l[i] = float32(v)
	}
	return l
}

// decideScratch is the working memory of the assembly. The generator knows the offsets.
type decideScratch struct {
	alpha, beta, gamma, delta, margin, scale line

	shift      [8]uint64
	abs        [16]uint32
	p, exp     line
	white      line
	most       line
	sign       [16]uint32
	power, one [8]float64
	poly       [6]line
	bias       [16]uint32
	floor      line
	flat       line // variances up to this may be zero

	ones, low, high, lowByte [16]uint32 // see Quads
	second, third            [64]uint8

	carry, carry2 [16]uint32
	greatest      [8]float64
	least         [64]uint8
	doubt         [decideChunk / 8]uint8
	sums, squares [decideChunk]uint32
}

// A Decider thresholds rows of bytes, given column sums. It decides in float32, and decides again
// by the formula where rounding leaves doubt, so the result is always that of the formula.
type Decider struct {
	Formula *Formula

	level   processor.Level
	fast    bool // there is a kernel that supports the parameters
	kernel  FormulaKind
	span    int
	area    float64
	shift   uint // number of bits by which squares are shifted right, so that their sums fit 31 bits
	rest    [windowUnit]uint8
	pix     [decideChunk]uint8
	single  []float32 // 1/n for the window of every pixel
	double  []float64 // the same in float64, computed when first needed
	across  []int32   // the arguments of Counts
	down    int64
	x, n    int
	doubled bool   // double is up to date
	exact   uint64 // sum of the squares of a window, not shifted
	exactAt int    // the index of that window, or negative
	memory  [unsafe.Sizeof(decideScratch{}) + raster.LineBytes - 1]byte

	flat      [256]flatDecision // decisions for flat windows of flatCount pixels
	flatCount int64
}

// scratch returns the part of the memory that starts at a cache line, so that no vector crosses
// one.
func (d *Decider) scratch() *decideScratch {
	return (*decideScratch)(unsafe.Pointer(&d.memory[-uintptr(unsafe.Pointer(&d.memory))&(raster.LineBytes-1)]))
}

// A flatDecision is the decision for a pixel in a window whose pixels all equal it, or 0 if
// unknown.
type flatDecision uint8

const (
	flatBlack flatDecision = 1 + iota
	flatWhite
)

// maxConstant bounds the constants that float32 arithmetic supports.
const maxConstant = 1e4

// CanDecide reports whether a [Decider] supports windows of this size: their sums must be below 2^31,
// and sums of squares of columns below 2^32.
func CanDecide(span, height int) bool {
	return float64(span)*float64(height)*255 < 1<<31 && float64(height)*255*255 < 1<<32
}

// Aim prepares for windows of span×height pixels, at least least rows of which are inside the
// image.
func (d *Decider) Aim(level processor.Level, f *Formula, span, height, least int) {
	d.Formula, d.level, d.span = f, level, span
	d.across, d.down, d.n, d.flatCount = nil, 0, 0, 0
	d.area = float64(span) * float64(height)
	d.shift = 0
	for f.Kind.Squares() && math.Ldexp(d.area*255*255, -int(d.shift)) >= 1<<31 {
		d.shift++
	}
	lost := 0.0 // of the mean of squares, by shifting the columns
	if d.shift > 0 {
		lost = math.Ldexp(1, int(d.shift)) / float64(least)
	}
	d.fast = d.constants(lost) && thresholdTable[level].decideLinear != nil
	s := d.scratch()
	for i := range s.power {
		s.power[i], s.one[i] = 1<<31, 1
	}
	for i := range s.abs {
		s.abs[i], s.sign[i], s.bias[i] = 1<<31-1, 1<<31, 127
		s.ones[i], s.low[i], s.high[i], s.lowByte[i] = 1<<16|1, 1, 0xffff<<16, 255
	}
	for i := range s.second { // indices within 16 bytes; a set high bit selects 0
		s.second[i], s.third[i] = 0x80, 0x80
		if i%4 == 0 {
			s.second[i], s.third[i] = uint8(i%16+1), uint8(i%16+2)
		}
	}
}

// constants sets the constants of all rows. The margin bounds the rounding error of the compared
// value: u is the unit roundoff of float32, and every term is taken at its maximum. It returns
// false if the assembly does not support the parameters.
func (d *Decider) constants(lost float64) bool {
	f, s := d.Formula, d.scratch()
	var alpha, beta, gamma, delta, margin float64
	const u, white = 0x1p-24, 255.0
	spread := white * white / 4 // the greatest possible variance
	switch f.Kind {
	case SauvolaFormula, PhansalkarFormula:
		alpha, gamma = 1-f.K, f.K*f.InverseR
	case NiblackFormula:
		alpha, delta = 1, f.K
	case NICKFormula:
		alpha, delta, spread = 1, f.K, white*white
	case WolfFormula:
		alpha, beta = 1-f.K, f.K*f.Darkest
		gamma, delta, spread = f.K/f.Spread, -f.K*f.Darkest/f.Spread, f.Spread*f.Spread
	case BradleyFormula:
		alpha = f.Factor
		margin = 8 * u * white * (1 + math.Abs(alpha))
	case TRSinghFormula:
		alpha, gamma = 1-f.K, f.K
		margin = 24 * u * white * white * (1 + math.Abs(alpha) + math.Abs(f.K))
	default:
		return false
	}
	if f.Kind.Squares() {
		a, b := math.Abs(alpha), math.Abs(gamma)*white+math.Abs(delta)
		inA := u * (white*(6*a+2) + 4*math.Abs(beta))
		if f.Kind == PhansalkarFormula {
			inA += u * white * math.Abs(f.P) * (32 + 8*white*math.Abs(f.NegQ)) // including that of the polynomial
			a += math.Abs(f.P)
		}
		near := min(white*(1+a)+math.Abs(beta), b*math.Sqrt(spread)+1) // bounds |a| where the sign is in doubt
		inV := 12*u*white*white + lost
		s.flat = lineOf(2 * inV)
		margin = 2*near*inA + 4*u*near*near + b*b*inV + 20*u*b*b*spread
	}
	margin *= 1.5
	for _, v := range []float64{alpha, beta, gamma, delta, f.P, f.NegQ, f.White, f.Most, margin} {
		if !(math.Abs(v) < maxConstant) {
			return false
		}
	}
	if f.Kind == PhansalkarFormula && f.NegQ > 0 {
		return false // the polynomial needs exponents of at most 0
	}
	switch d.kernel = f.Kind; {
	case f.Kind == SauvolaFormula && f.K < minK || f.Kind == WolfFormula && f.K < 0:
		d.kernel = carefulKernel
	case f.Kind == SauvolaFormula || f.Kind == PhansalkarFormula: // the factor of the deviation, squared
		gamma *= math.Abs(gamma)
	case f.Kind == NiblackFormula || f.Kind == NICKFormula:
		gamma = delta * math.Abs(delta)
	}
	s.alpha, s.beta, s.gamma, s.delta = lineOf(alpha), lineOf(beta), lineOf(gamma), lineOf(delta)
	s.margin, s.scale = lineOf(margin), lineOf(math.Ldexp(1, int(d.shift)))
	s.shift[0] = uint64(d.shift)
	s.p, s.exp = lineOf(f.P), lineOf(f.NegQ*math.Log2E)
	s.white, s.most, s.floor = lineOf(f.White), lineOf(f.Most), lineOf(-120)
	for i, c := range exp2 {
		s.poly[i] = lineOf(c)
	}
	return true
}

// minK is the least K for which Sauvola's threshold in a flat window is well below the mean.
const minK = 0.001

// carefulKernel is the kernel for parameters that make pixels of flat windows black.
const carefulKernel FormulaKind = 255

// exp2 holds the coefficients of a polynomial for 2^x, x in [-1/2, 1/2], with a relative error
// below 2^-22: a least-squares fit at Chebyshev nodes.
var exp2 = [6]float64{1.000000071029699, 0.69314694916106434, 0.24022121753561643, 0.05550742616002257, 0.0096754597455212463, 0.0013266970386456116}

// Fast reports whether there is a kernel for the formula.
func (d *Decider) Fast() bool { return d.fast }

// Counts sets the number of pixels in the windows of a row, from column x on: across[i] times down
// each, or area for all windows if across is nil.
func (d *Decider) Counts(x int, across []int32, down, area int64, n int) {
	if across == nil {
		down = area
	}
	if x == d.x && n == d.n && down == d.down {
		return
	}
	d.x, d.across, d.down, d.n, d.doubled = x, across, down, n, false
	if len(d.single) < n+windowUnit {
		d.single = make([]float32, n+windowUnit)
	}
	last, inverse := int64(-1), float32(0)
	for i := range n {
		if count := d.count(i); count != last {
			last, inverse = count, float32(1/float64(count))
		}
		d.single[i] = inverse
	}
	for i := range windowUnit { // the last vector may extend beyond n
		d.single[n+i] = 1
	}
}

// count returns the number of pixels in the window of pixel i.
func (d *Decider) count(i int) int64 {
	if d.across == nil {
		return d.down
	}
	return int64(d.across[i]) * d.down
}

// Forget drops references to the counts and the formula.
func (d *Decider) Forget() { d.across, d.down, d.n, d.Formula = nil, 0, 0, nil }

// Bytes returns the size of the memory that d keeps.
func (d *Decider) Bytes() int { return 4*cap(d.single) + 8*cap(d.double) }

// start sums the columns of the window before the first.
func (d *Decider) start(cols, squares []uint32) {
	s := d.scratch()
	sum := sumOf(cols[1:d.span])
	for i := range s.carry {
		s.carry[i] = sum
	}
	if squares == nil {
		return
	}
	sum = 0
	for _, v := range squares[1:d.span] {
		sum += v >> d.shift
	}
	for i := range s.carry2 {
		s.carry2[i] = sum
	}
}

// Row thresholds a row of pixels to 0 and 255, given the column sums. These begin with a zero and
// extend Slack elements beyond the last window. dst may be pix. Counts must have been called for
// the row.
func (d *Decider) Row(dst, pix []uint8, cols, squares []uint32) {
	dst = dst[:len(pix)]
	_ = cols[:len(pix)+d.span+Slack]
	if !d.Formula.Kind.Squares() {
		squares = nil
	} else {
		_ = squares[:len(pix)+d.span+Slack]
	}
	if !d.fast {
		d.slowRow(dst, pix, cols, squares)
		return
	}
	d.start(cols, squares)
	d.exactAt = -1
	inPlace := unsafe.SliceData(dst) == unsafe.SliceData(pix)
	for from := 0; from < len(pix); from += decideChunk {
		part := pix[from:min(len(pix), from+decideChunk)]
		whole := len(part) &^ (windowUnit - 1)
		if whole > 0 {
			some := part[:whole]
			if inPlace { // doubtful pixels are read again
				some = d.pix[:copy(d.pix[:], some)]
			}
			d.chunk(dst[from:][:whole], some, cols, squares, from)
		}
		if whole < len(part) {
			n := copy(d.pix[:windowUnit], part[whole:])
			d.chunk(d.rest[:], d.pix[:windowUnit], cols, squares, from+whole)
			copy(dst[from+whole:][:n], d.rest[:])
		}
	}
}

// chunk decides pixels that start at position at of the row.
func (d *Decider) chunk(dst, pix []uint8, cols, squares []uint32, at int) {
	w, n := &thresholdTable[d.level], len(pix)
	lanes, scratch := processor.Lanes(4, 1), (*byte)(unsafe.Pointer(d.scratch()))
	to, from, inverse := raster.First(dst), raster.First(pix), raster.First(d.single[at:])
	hi, lo := raster.First(cols[at+d.span:]), raster.First(cols[at:])
	var asm func(dst, pix, hi, lo, hi2, lo2, inverse *byte, n int, lanes *uint32, scratch *byte)
	switch d.kernel {
	case BradleyFormula:
		w.decideBradley(to, from, hi, lo, inverse, n, lanes, scratch)
	case TRSinghFormula:
		w.decideTRSingh(to, from, hi, lo, inverse, n, lanes, scratch)
	case SauvolaFormula:
		asm = w.decideSauvola
	case NiblackFormula:
		asm = w.decideNiblack
	case NICKFormula:
		asm = w.decideNICK
	case PhansalkarFormula:
		asm = w.decidePhansalkar
	case WolfFormula:
		asm = w.decideLinear
	default:
		asm = w.decideCareful
	}
	if asm != nil {
		asm(to, from, hi, lo, raster.First(squares[at+d.span:]), raster.First(squares[at:]), inverse, n, lanes, scratch)
	}
	n = min(n, d.n-at)
	for i := 0; i < n; i += 64 {
		doubt := binary.LittleEndian.Uint64(d.scratch().doubt[i/8:])
		if left := n - i; left < 64 {
			doubt &= 1<<left - 1
		}
		for ; doubt != 0; doubt &= doubt - 1 {
			j := i + bits.TrailingZeros64(doubt)
			square := uint64(d.scratch().squares[j])
			if squares != nil && d.shift > 0 {
				square = d.exactSquares(squares, at+j)
			}
			dst[j] = d.decideExactly(pix[j], uint64(d.scratch().sums[j]), square, d.count(at+j))
		}
	}
}

// decideExactly decides by the formula.
func (d *Decider) decideExactly(p uint8, sum, square uint64, count int64) uint8 {
	if !d.Formula.Kind.Squares() {
		return d.Formula.decide(p, sum, 0, count)
	}
	if sum*sum != square*uint64(count) { // the products are below 2^63 because sums are below 2^31
		return d.Formula.decide(p, sum, square, count)
	}
	// All pixels of the window are equal. Blank paper has long stretches of such windows, so the
	// decision is cached.
	if count != d.flatCount {
		d.flat, d.flatCount = [256]flatDecision{}, count
	}
	if d.flat[p] == 0 {
		d.flat[p] = flatBlack
		if d.Formula.decide(p, sum, square, count) != 0 {
			d.flat[p] = flatWhite
		}
	}
	if d.flat[p] == flatBlack {
		return 0
	}
	return 255
}

// exactSquares returns the sum of squares of a window without the shift. It updates the sum of the
// previous call if that window is near.
func (d *Decider) exactSquares(squares []uint32, at int) uint64 {
	if d.exactAt < 0 || at-d.exactAt > d.span/2 {
		d.exact = 0
		for _, v := range squares[at+1:][:d.span] {
			d.exact += uint64(v)
		}
	} else {
		for i := d.exactAt + 1; i <= at; i++ {
			d.exact += uint64(squares[i+d.span]) - uint64(squares[i])
		}
	}
	d.exactAt = at
	return d.exact
}

// decide decides one pixel by the formula.
func (f *Formula) decide(p uint8, sum, squares uint64, count int64) uint8 {
	inverse := 1 / float64(count)
	mean := float64(float64(sum) * inverse)
	variance := float64(float64(squares)*inverse) - float64(mean*mean)
	if f.Kind == MeanCFormula {
		mean = float64((sum + uint64(count)/2) / uint64(count))
	}
	if float64(p) <= f.At(float64(p), mean, variance) {
		return 0
	}
	return 255
}
