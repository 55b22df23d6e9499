package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Offsets in the Go struct windows.decideScratch: first constants that fill a cache line each, then
// its other fields.
const (
	kAlpha = iota * lineBytes
	kBeta
	kGamma
	kDelta
	kMargin
	kScale
	kShift // a shift count, in the lower half of 128 bits
	kAbs
	kP
	kExp // -Q·log2 e
	kWhite
	kMost
	kSign
	kPower // 2^31 in float64
	kOne
	kPoly0
	kPoly1
	kPoly2
	kPoly3
	kPoly4
	kPoly5
	kBias // 127, the exponent of 1
	kFloor
	kFlat
	kOnes   // words
	kLow    // 1 in the lower word of 32 bits
	kHigh   // all bits of the upper word
	kByte   // 255 in 32 bits
	kSecond // moves the second byte of 32 bits to the first
	kThird
	sCarry
	sCarry2
	sMost  // the greatest variance, in float64
	sLeast // the least pixel, in bytes
	sDoubt
	sSums    = sDoubt + decideChunk/8
	sSquares = sSums + 4*decideChunk
)

// decideChunk is the value of windows.decideChunk.
const decideChunk = 1024

// runningSums computes the sums of windows along a row, a vector at a time.
type runningSums struct {
	set     isa
	c, c2   *scanner
	scratch reg.Register
	i       reg.Register
	hi, lo  reg.Register
	hi2     reg.Register
	lo2     reg.Register
	held    map[int]reg.VecVirtual // constants that stay in registers
}

func newRunningSums(set isa, squares bool) *runningSums {
	r := &runningSums{set: set, scratch: arg("scratch"), i: GP64(), hi: arg("hi"), lo: arg("lo")}
	r.c = newScanner(set, u32, arg("lanes"))
	set.load(Mem{Base: r.scratch, Disp: sCarry}, r.c.carry[0])
	if squares {
		c2 := *r.c
		c2.carry = []reg.VecVirtual{set.vec()}
		r.c2, r.hi2, r.lo2 = &c2, arg("hi2"), arg("lo2")
		set.load(Mem{Base: r.scratch, Disp: sCarry2}, c2.carry[0])
	}
	return r
}

func (r *runningSums) at(base reg.Register, size int) Mem {
	return Mem{Base: base, Index: r.i, Scale: uint8(size)}
}

// k returns a constant as an operand.
func (r *runningSums) k(offset int) Op {
	if v, ok := r.held[offset]; ok {
		return v
	}
	return r.constant(offset)
}

func (r *runningSums) constant(offset int) Mem { return Mem{Base: r.scratch, Disp: offset} }

// vector returns a constant in a register.
func (r *runningSums) vector(offset int) reg.VecVirtual {
	if v, ok := r.held[offset]; ok {
		return v
	}
	return loaded(r.set, r.constant(offset))
}

// sums returns the next vector of sums.
func (r *runningSums) sums() reg.VecVirtual {
	v := loaded(r.set, r.at(r.hi, 4))
	VPSUBD(r.at(r.lo, 4), v, v)
	r.c.sum(v)
	return v
}

// squares returns the next vector of sums of squares. If shifted, the column sums are shifted right
// first.
func (r *runningSums) squares(shifted bool) reg.VecVirtual {
	v := loaded(r.set, r.at(r.hi2, 4))
	if shifted {
		less := loaded(r.set, r.at(r.lo2, 4))
		VPSRLD(r.k(kShift), v, v)
		VPSRLD(r.k(kShift), less, less)
		VPSUBD(less, v, v)
	} else {
		VPSUBD(r.at(r.lo2, 4), v, v)
	}
	r.c2.sum(v)
	return v
}

// leave stores the carries and ends the kernel.
func (r *runningSums) leave() {
	r.set.store(r.c.carry[0], r.constant(sCarry))
	if r.c2 != nil {
		r.set.store(r.c2.carry[0], r.constant(sCarry2))
	}
	leave()
}

// loop emits a loop over n pixels.
func (r *runningSums) loop(label string, n reg.Register, body func()) {
	Label(label)
	CMPQ(r.i, n)
	JGE(LabelRef("done"))
	body()
	ADDQ(I32(r.set.bytes()/4), r.i)
	JMP(LabelRef(label))
}

// pixels converts bytes to floats.
func (r *runningSums) pixels(pix reg.Register) reg.VecVirtual {
	p := r.set.vec()
	VPMOVZXBD(r.at(pix, 1), p)
	VCVTDQ2PS(p, p)
	return p
}

// minusProduct sets v to v - a·b; the product may be rounded.
func minusProduct(set isa, a Op, b, v reg.VecVirtual) {
	if wide(set) {
		VFNMADD231PS(a, b, v)
		return
	}
	t := set.vec()
	VMULPS(a, b, t)
	VSUBPS(t, v, v)
}

// verdict writes 255 where f is negative and 0 elsewhere, and marks pixels as doubtful where |f| is
// within the margin. If variance is given, it also marks black pixels whose variance may be zero,
// because rounding may make the variance negative, and such pixels are white.
func (r *runningSums) verdict(f, variance reg.VecVirtual, dst reg.Register) {
	set, doubt := r.set, GP64()
	abs := set.vec()
	VANDPS(r.k(kAbs), f, abs)
	MOVQ(r.i, doubt)
	SHRQ(Imm(3), doubt)
	to := Mem{Base: r.scratch, Index: doubt, Scale: 1, Disp: sDoubt}
	const notGreater = 0x1a
	if wide(set) {
		white, near, bytes := K(), K(), XMM()
		VPMOVD2M(f, white)
		VPMOVM2B(white, bytes)
		VMOVDQU(bytes, r.at(dst, 1))
		VCMPPS(Imm(notGreater), r.k(kMargin), abs, near)
		if variance != nil {
			flat := K()
			VCMPPS(Imm(notGreater), r.k(kFlat), variance, flat)
			KANDNW(flat, white, flat)
			KORW(flat, near, near)
		}
		KMOVW(near, to)
		return
	}
	bits, high := GP32(), XMM()
	VCMPPS(Imm(notGreater), r.k(kMargin), abs, abs)
	VPSRAD(Imm(31), f, f)
	if variance != nil {
		VCMPPS(Imm(notGreater), r.k(kFlat), variance, variance)
		VANDNPS(variance, f, variance)
		VORPS(variance, abs, abs)
	}
	VMOVMSKPS(abs, bits)
	MOVB(bits.As8(), to)
	VEXTRACTI128(Imm(1), f, high)
	VPACKSSDW(high, f.AsX(), high)
	VPACKSSWB(high, high, high)
	VMOVQ(high, r.at(dst, 1))
}

// signedSquare sets v to v·|v|.
func (r *runningSums) signedSquare(v reg.VecVirtual) {
	abs := r.set.vec()
	VANDPS(r.k(kAbs), v, abs)
	VMULPS(abs, v, v)
}

// lessProduct sets v to a·b - v; the product may be rounded.
func lessProduct(set isa, a Op, b, v reg.VecVirtual) {
	if wide(set) {
		VFMSUB231PS(a, b, v)
		return
	}
	t := set.vec()
	VMULPS(a, b, t)
	VSUBPS(v, t, v)
}

// exp sets v, which must be at most 0, to 2^v. It evaluates a polynomial of the fraction and adds
// the integer part to the exponent.
func (r *runningSums) exp(v reg.VecVirtual) {
	set := r.set
	whole, poly := set.vec(), set.vec()
	VMAXPS(r.k(kFloor), v, v)
	VCVTPS2DQ(v, whole)
	fraction := set.vec()
	VCVTDQ2PS(whole, fraction)
	VSUBPS(fraction, v, v) // in [-1/2, 1/2]
	set.load(r.constant(kPoly5), poly)
	for _, k := range []int{kPoly4, kPoly3, kPoly2, kPoly1, kPoly0} {
		if wide(set) {
			VFMADD213PS(r.k(k), v, poly)
		} else {
			VMULPS(v, poly, poly)
			VADDPS(r.k(k), poly, poly)
		}
	}
	VPADDD(r.k(kBias), whole, whole)
	VPSLLD(Imm(23), whole, whole)
	VMULPS(whole, poly, v)
}

// A statsForm is a formula that decides by mean and variance.
type statsForm int

const (
	sauvolaForm statsForm = iota
	niblackForm
	nickForm
	linearForm
	carefulForm
	phansalkarForm
)

// doc returns the Go code of a form.
func (f statsForm) doc() []string {
	switch f {
	case sauvolaForm:
		return []string{"\t\ta := pix[i] - alpha*mean", "\t\tf := gamma*mean*mean*variance - a*|a|"}
	case niblackForm:
		return []string{"\t\ta := pix[i] - mean", "\t\tf := gamma*variance - a*|a|"}
	case nickForm:
		return []string{"\t\ta := pix[i] - mean", "\t\tf := gamma*squares*scale*inverse[i] - a*|a|"}
	case phansalkarForm:
		return []string{"\t\ta := pix[i] - (alpha+P*exp(-Q*mean))*mean", "\t\tf := gamma*mean*mean*variance - a*|a|"}
	}
	return []string{"\t\ta, b := pix[i]-alpha*mean-beta, gamma*mean+delta", "\t\tf := b*|b|*variance - a*|a|"}
}

// constants returns the offsets of the constants of a form.
func (f statsForm) constants() []int {
	switch f {
	case niblackForm, nickForm:
		return []int{kGamma}
	case sauvolaForm:
		return []int{kAlpha, kGamma}
	case phansalkarForm:
		return []int{kAlpha, kGamma, kExp, kP, kFlat}
	}
	return []int{kAlpha, kBeta, kGamma, kDelta}
}

// careful reports whether the form marks windows of equal pixels as doubtful.
func (f statsForm) careful() bool { return f == carefulForm || f == phansalkarForm }

// decideStats emits the decision b·|b|·variance < a·|a|, where a is the pixel minus the part of the
// threshold that does not depend on the deviation, and b is the factor of the deviation.
func decideStats(form statsForm) func(set isa, name string) {
	return func(set isa, name string) {
		lines := []string{name + fmt.Sprintf(" computes, for n a multiple of %d, in float32 and apart from rounding,", set.bytes()/4), "", "\tfor i := range n {",
			"\t\tsum += hi[i] - lo[i]", "\t\tsquares += hi2[i]>>shift - lo2[i]>>shift", "\t\tmean := sum * inverse[i]"}
		if form != nickForm {
			lines = append(lines, "\t\tvariance := squares*scale*inverse[i] - mean*mean")
		}
		lines = append(append(lines, form.doc()...), "\t\tdst[i] = 255 if f < 0, else 0", "\t\tdoubt[i] = !(|f| > margin)")
		if form.careful() {
			lines[len(lines)-1] += " || dst[i] == 0 && !(variance > flat)"
		}
		lines = append(lines, "\t}", "", "where scratch holds the constants, the sums before and after, and on return the sums and squares of all windows.")
		text(name, NOSPLIT, "func(dst, pix, hi, lo, hi2, lo2, inverse *byte, n int, lanes *uint32, scratch *byte)", lines...)
		r := newRunningSums(set, true)
		dst, pix, inverse, n := arg("dst"), arg("pix"), arg("inverse"), arg("n")
		XORQ(r.i, r.i)
		body := func(shifted bool) {
			sums := r.sums()
			set.store(sums, r.at(r.scratch, 4).Offset(sSums))
			squares := r.squares(shifted)
			if !shifted {
				set.store(squares, r.at(r.scratch, 4).Offset(sSquares))
			}
			mean, variance := set.vec(), set.vec()
			VCVTDQ2PS(sums, mean)
			VMULPS(r.at(inverse, 4), mean, mean)
			VCVTDQ2PS(squares, variance)
			if shifted {
				VMULPS(r.k(kScale), variance, variance)
			}
			VMULPS(r.at(inverse, 4), variance, variance)
			f := r.pixels(pix)
			r.verdict(f, r.compare(form, f, mean, variance), dst)
		}
		shift := GP32()
		MOVL(r.constant(kShift), shift)
		TESTL(shift, shift)
		JNZ(LabelRef("shifted"))
		r.loop("plain", n, func() { body(false) })
		r.loop("shifted", n, func() { body(true) })
		Label("done")
		r.leave()
	}
}

// compare sets a to the value whose sign decides, given the mean and the mean of squares, and
// returns the variance if the form is careful.
func (r *runningSums) compare(form statsForm, a, mean, variance reg.VecVirtual) reg.VecVirtual {
	set := r.set
	weight := set.vec()
	switch form {
	case nickForm:
		VSUBPS(mean, a, a)
		r.signedSquare(a)
		lessProduct(set, r.k(kGamma), variance, a)
	case niblackForm:
		VSUBPS(mean, a, a)
		r.signedSquare(a)
		minusProduct(set, mean, mean, variance)
		lessProduct(set, r.k(kGamma), variance, a)
	case sauvolaForm, phansalkarForm:
		if form == phansalkarForm {
			VMULPS(r.k(kExp), mean, weight)
			r.exp(weight)
			VMULPS(r.k(kP), weight, weight)
			VADDPS(r.k(kAlpha), weight, weight)
			minusProduct(set, mean, weight, a)
		} else {
			minusProduct(set, r.k(kAlpha), mean, a)
		}
		r.signedSquare(a)
		VMULPS(mean, mean, mean)
		VSUBPS(mean, variance, variance)
		VMULPS(r.k(kGamma), mean, weight)
		lessProduct(set, variance, weight, a)
	default:
		minusProduct(set, r.k(kAlpha), mean, a)
		VSUBPS(r.k(kBeta), a, a)
		r.signedSquare(a)
		VMULPS(r.k(kGamma), mean, weight)
		VADDPS(r.k(kDelta), weight, weight)
		r.signedSquare(weight)
		minusProduct(set, mean, mean, variance)
		lessProduct(set, variance, weight, a)
	}
	if !form.careful() {
		return nil
	}
	return variance
}

// decideMeans emits the decision alpha·mean < pix or, for TRSingh, mean·gamma·d < (pix -
// alpha·mean)·(white - d), where d is the distance of a pixel from the mean.
func decideMeans(singh bool) func(set isa, name string) {
	return func(set isa, name string) {
		lines := []string{name + fmt.Sprintf(" computes, for n a multiple of %d, in float32 and apart from rounding,", set.bytes()/4), "", "\tfor i := range n {",
			"\t\tsum += hi[i] - lo[i]", "\t\tmean := sum * inverse[i]", "\t\tf := alpha*mean - pix[i]"}
		if singh {
			lines = append(lines, "\t\td := min(|pix[i]-mean|, most)", "\t\tf = f*(white-d) + gamma*mean*d")
		}
		lines = append(lines, "\t\tdst[i] = 255 if f < 0, else 0", "\t\tdoubt[i] = !(|f| > margin)", "\t}", "", "where scratch holds the constants, the sums before and after, and on return the sums of all windows.")
		text(name, NOSPLIT, "func(dst, pix, hi, lo, inverse *byte, n int, lanes *uint32, scratch *byte)", lines...)
		r := newRunningSums(set, false)
		dst, pix, inverse, n := arg("dst"), arg("pix"), arg("inverse"), arg("n")
		XORQ(r.i, r.i)
		r.loop("loop", n, func() {
			sums := r.sums()
			set.store(sums, r.at(r.scratch, 4).Offset(sSums))
			mean := set.vec()
			VCVTDQ2PS(sums, mean)
			VMULPS(r.at(inverse, 4), mean, mean)
			f := r.pixels(pix)
			r.compareMean(singh, f, mean)
			r.verdict(f, nil, dst)
		})
		Label("done")
		r.leave()
	}
}

// compareMean is like compare for decisions without squares.
func (r *runningSums) compareMean(singh bool, f, mean reg.VecVirtual) {
	set := r.set
	if !singh {
		lessProduct(set, r.k(kAlpha), mean, f)
		return
	}
	d, rest := set.vec(), set.vec()
	VSUBPS(mean, f, d)
	VANDPS(r.k(kAbs), d, d)
	VMINPS(r.k(kMost), d, d)
	VSUBPS(d, r.vector(kWhite), rest)
	minusProduct(set, r.k(kAlpha), mean, f)
	VMULPS(rest, f, f)
	VMULPS(r.k(kGamma), mean, mean)
	lessProduct(set, d, mean, f)
}
