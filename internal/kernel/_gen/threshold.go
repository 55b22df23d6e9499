package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// thresholdKernels are those of black and white: see kernel/decide.go for what each is.
var thresholdKernels = []windowKernel{
	{"decideSauvola", decideStats(sauvolaForm)},
	{"decideNiblack", decideStats(niblackForm)},
	{"decideNICK", decideStats(nickForm)},
	{"decideLinear", decideStats(linearForm)},
	{"decideCareful", decideStats(carefulForm)},
	{"decidePhansalkar", decideStats(phansalkarForm)},
	{"decideBradley", decideMeans(false)},
	{"decideTRSingh", decideMeans(true)},
	{"slideQuads", slideQuads(false)},
	{"slideQuadSquares", slideQuads(true)},
	{"quadSauvola", quadStats(sauvolaForm)},
	{"quadNiblack", quadStats(niblackForm)},
	{"quadNICK", quadStats(nickForm)},
	{"quadLinear", quadStats(linearForm)},
	{"quadCareful", quadStats(carefulForm)},
	{"quadPhansalkar", quadStats(phansalkarForm)},
	{"quadBradley", quadMeans(false)},
	{"quadTRSingh", quadMeans(true)},
	{"spread", spread},
	{"mapSauvola", mapStats(true)},
	{"mapNiblack", mapStats(false)},
	{"decideSu", decideSu},
	{"atLeast", atLeast},
	{"contrast", contrast},
	{"keepContrast", keepContrast},
	{"maskContrast", maskContrast},
	{"packBits", packBits},
}

func thresholds(set isa) {
	for _, k := range thresholdKernels {
		k.emit(set, k.name+set.name())
	}
}

// Offsets in the Go struct kernel.decideScratch: constants of a line each, then the rest.
const (
	kAlpha = iota * lineBytes
	kBeta
	kGamma
	kDelta
	kMargin
	kScale
	kShift // a count, in the lower half of 128 bits
	kAbs
	kP
	kExp // -Q·log2 e
	kWhite
	kMost
	kSign
	kPower // of two, 2^31 in float64
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
	sMost  // the greatest, in float64
	sLeast // the least, bytes
	sDoubt
	sSums    = sDoubt + decideChunk/8
	sSquares = sSums + 4*decideChunk
)

// decideChunk is kernel.decideChunk.
const decideChunk = 1024

// runningSums are the sums of windows along a row, a vector at a time.
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

// k is a constant.
func (r *runningSums) k(offset int) Op {
	if v, ok := r.held[offset]; ok {
		return v
	}
	return r.constant(offset)
}

func (r *runningSums) constant(offset int) Mem { return Mem{Base: r.scratch, Disp: offset} }

// vector is a constant in a register.
func (r *runningSums) vector(offset int) reg.VecVirtual {
	if v, ok := r.held[offset]; ok {
		return v
	}
	return loaded(r.set, r.constant(offset))
}

// sums is a vector of them.
func (r *runningSums) sums() reg.VecVirtual {
	v := loaded(r.set, r.at(r.hi, 4))
	VPSUBD(r.at(r.lo, 4), v, v)
	r.c.sum(v)
	return v
}

// squares is the same of squares, each column of which is shifted first if asked for.
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

// leave stores the carries.
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

// pixels is bytes as floats.
func (r *runningSums) pixels(pix reg.Register) reg.VecVirtual {
	p := r.set.vec()
	VPMOVZXBD(r.at(pix, 1), p)
	VCVTDQ2PS(p, p)
	return p
}

// minusProduct is v - a·b, in v; the product may be rounded.
func minusProduct(set isa, a Op, b, v reg.VecVirtual) {
	if wide(set) {
		VFNMADD231PS(a, b, v)
		return
	}
	t := set.vec()
	VMULPS(a, b, t)
	VSUBPS(t, v, v)
}

// verdict writes 255 where f is less than zero and 0 elsewhere, and notes where it is not
// more than the margin away from zero. Of black pixels it also notes those whose variance,
// where it is given, may be zero: rounding may make it less, and then they are white.
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

// signedSquare is v·|v|, in v.
func (r *runningSums) signedSquare(v reg.VecVirtual) {
	abs := r.set.vec()
	VANDPS(r.k(kAbs), v, abs)
	VMULPS(abs, v, v)
}

// lessProduct is a·b - v, in v; the product may be rounded.
func lessProduct(set isa, a Op, b, v reg.VecVirtual) {
	if wide(set) {
		VFMSUB231PS(a, b, v)
		return
	}
	t := set.vec()
	VMULPS(a, b, t)
	VSUBPS(v, t, v)
}

// exp is 2 to the power of v, which is 0 or less, in v: a polynomial of the fraction and the
// whole number as the exponent.
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

// A statsForm is how a decision from mean and variance is made.
type statsForm int

const (
	sauvolaForm statsForm = iota
	niblackForm
	nickForm
	linearForm
	carefulForm
	phansalkarForm
)

// doc is the Go code of a form.
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

// constants are those that a form takes.
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

// careful reports whether windows of equal pixels are looked at again.
func (f statsForm) careful() bool { return f == carefulForm || f == phansalkarForm }

// decideStats decides b·|b|·variance < a·|a|, where a is the pixel less what the threshold
// has without the deviation, and b what the deviation counts.
func decideStats(form statsForm) func(set isa, name string) {
	return func(set isa, name string) {
		lines := []string{name + fmt.Sprintf(" is, for a multiple of %d, in float32 and with rounding of its own,", set.bytes()/4), "", "\tfor i := range n {",
			"\t\tsum += hi[i] - lo[i]", "\t\tsquares += hi2[i]>>shift - lo2[i]>>shift", "\t\tmean := sum * inverse[i]"}
		if form != nickForm {
			lines = append(lines, "\t\tvariance := squares*scale*inverse[i] - mean*mean")
		}
		lines = append(append(lines, form.doc()...), "\t\tdst[i] = 255 if f < 0, else 0", "\t\tdoubt[i] = !(|f| > margin)")
		if form.careful() {
			lines[len(lines)-1] += " || dst[i] == 0 && !(variance > flat)"
		}
		lines = append(lines, "\t}", "", "with the sums and squares of all in the scratch memory, where the constants are, and the sums before and after.")
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

// compare makes what is compared with zero of pixels, in a, from the mean and the mean of
// squares, and the variance where the form is careful.
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

// decideMeans decides alpha·mean < pix, or for TRSingh, of which d is the distance of a
// pixel from the mean, mean·gamma·d < (pix - alpha·mean)·(white - d).
func decideMeans(singh bool) func(set isa, name string) {
	return func(set isa, name string) {
		lines := []string{name + fmt.Sprintf(" is, for a multiple of %d, in float32 and with rounding of its own,", set.bytes()/4), "", "\tfor i := range n {",
			"\t\tsum += hi[i] - lo[i]", "\t\tmean := sum * inverse[i]", "\t\tf := alpha*mean - pix[i]"}
		if singh {
			lines = append(lines, "\t\td := min(|pix[i]-mean|, most)", "\t\tf = f*(white-d) + gamma*mean*d")
		}
		lines = append(lines, "\t\tdst[i] = 255 if f < 0, else 0", "\t\tdoubt[i] = !(|f| > margin)", "\t}", "", "with the sums of all in the scratch memory.")
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

// compareMean is the same of decisions without squares.
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

// half64 is the lower or the upper half of a vector of numbers below 2^32 as floats of 64
// bits.
func (r *runningSums) half64(v reg.VecVirtual, part int) reg.VecVirtual {
	t := r.set.vec()
	xorBytes(r.set, r.k(kSign), v, t)
	d := part64(r.set, t, part)
	VADDPD(r.k(kPower), d, d)
	return d
}

// stats64 is the mean and the variance of half a vector, rounded after each operation.
func (r *runningSums) stats64(sums, squares reg.VecVirtual, inverse reg.Register, part int) (mean, variance reg.VecVirtual) {
	by := r.at(inverse, 8).Offset(part * r.set.bytes())
	mean, variance = r.half64(sums, part), r.half64(squares, part)
	VMULPD(by, mean, mean)
	VMULPD(by, variance, variance)
	t := r.set.vec()
	VMULPD(mean, mean, t)
	VSUBPD(t, variance, variance)
	return mean, variance
}

// spread looks in float32 first: few variances come near the greatest so far.
func spread(set isa, name string) {
	text(name, NOSPLIT, "func(pix, hi, lo, hi2, lo2, single, double *byte, n int, lanes *uint32, scratch *byte)",
		name+fmt.Sprintf(" is, for a multiple of %d, with float64 of every sum and inverse,", set.bytes()/4), "", "\tfor i := range n {",
		"\t\tsum += hi[i] - lo[i]", "\t\tsquares += hi2[i] - lo2[i]", "\t\tmean := sum * double[i]",
		"\t\tmost = max(most, squares*double[i] - mean*mean)", "\t\tleast = min(least, pix[i])", "\t}", "",
		"where that is not less than the margin says in float32, with the inverses of single. Squares are below 2^31.")
	r := newRunningSums(set, true)
	pix, single, double, n := arg("pix"), arg("single"), arg("double"), arg("n")
	most, least := loaded(set, r.constant(sMost)), XMM()
	VMOVDQU(r.constant(sLeast), least)
	XORQ(r.i, r.i)
	r.loop("loop", n, func() {
		sums := r.sums()
		squares := r.squares(false)
		mean, variance := set.vec(), set.vec()
		VCVTDQ2PS(sums, mean)
		VMULPS(r.at(single, 4), mean, mean)
		VCVTDQ2PS(squares, variance)
		VMULPS(r.at(single, 4), variance, variance)
		minusProduct(set, mean, mean, variance)
		if wide(set) {
			VPMINUB(r.at(pix, 1), least, least)
		} else {
			p := XMM()
			VMOVQ(r.at(pix, 1), p)
			VPUNPCKLQDQ(p, p, p)
			VPMINUB(p, least, least)
		}
		const notLess = 0x15
		if wide(set) {
			near := K()
			VCMPPS(Imm(notLess), r.k(kMargin), variance, near)
			KORTESTW(near, near)
		} else {
			bits := GP32()
			VCMPPS(Imm(notLess), r.k(kMargin), variance, variance)
			VMOVMSKPS(variance, bits)
			TESTL(bits, bits)
		}
		JZ(LabelRef("next"))
		for part := range 2 {
			_, exact := r.stats64(sums, squares, double, part)
			VMAXPD(exact, most, most)
		}
		Label("next")
	})
	Label("done")
	set.store(most, r.constant(sMost))
	VMOVDQU(least, r.constant(sLeast))
	r.leave()
}

// mapStats writes thresholds, as floats of 64 bits, or of 32 where single is not zero.
func mapStats(sauvola bool) func(set isa, name string) {
	return func(set isa, name string) {
		formula := "mean + K*sqrt(variance)"
		if sauvola {
			formula = "mean * (1 + K*(sqrt(variance)*inverseR - 1))"
		}
		text(name, NOSPLIT, "func(dst, hi, lo, hi2, lo2, inverse *byte, n int, lanes *uint32, scratch *byte, K, inverseR float64, single int)",
			name+fmt.Sprintf(" is, for a multiple of %d, with float64 of every sum and inverse,", set.bytes()/4), "", "\tfor i := range n {",
			"\t\tsum += hi[i] - lo[i]", "\t\tsquares += hi2[i] - lo2[i]", "\t\tmean := sum * inverse[i]",
			"\t\tvariance := max(0, squares*inverse[i] - mean*mean)", "\t\tdst[i] = "+formula, "\t}", "", "of float32 where single is not zero.")
		r := newRunningSums(set, true)
		dst, inverse, n, single := arg("dst"), arg("inverse"), arg("n"), arg("single")
		k, inverseR := broadcast(set, "K"), broadcast(set, "inverseR")
		XORQ(r.i, r.i)
		body := func(single bool) {
			sums := r.sums()
			squares := r.squares(false)
			for part := range 2 {
				t, d := r.stats64(sums, squares, inverse, part)
				zero := set.vec()
				set.zero(zero)
				VMAXPD(zero, d, d)
				VSQRTPD(d, d)
				if sauvola {
					one := set.vec()
					set.load(r.constant(kOne), one)
					VMULPD(inverseR, d, d)
					VSUBPD(one, d, d)
					VMULPD(k, d, d)
					VADDPD(one, d, d)
					VMULPD(d, t, t)
				} else {
					VMULPD(k, d, d)
					VADDPD(d, t, t)
				}
				if single {
					singles(set, t, r.at(dst, 4).Offset(part*set.bytes()/2))
				} else {
					set.store(t, r.at(dst, 8).Offset(part*set.bytes()))
				}
			}
		}
		TESTQ(single, single)
		JNZ(LabelRef("single"))
		r.loop("double", n, func() { body(false) })
		r.loop("single", n, func() { body(true) })
		Label("done")
		r.leave()
	}
}

// decideSu compares without a root or a quotient, in float64 of whole numbers, which are
// exact: with a twice the distance of a pixel from the mean times n, a·|a| > n·squares - sum².
func decideSu(set isa, name string) {
	lanes := set.bytes() / 8
	text(name, NOSPLIT, "func(dst, pix, hi, lo, hi2, lo2, hiN, loN *byte, n int, least float64, scratch *byte)",
		name+fmt.Sprintf(" is, for a multiple of %d and whole numbers below 2^31, with float64 of every sum,", lanes), "", "\tfor i := range n {",
		"\t\ts, q, count := hi[i]-lo[i], hi2[i]-lo2[i], hiN[i]-loN[i]", "\t\ta := 2 * (pix[i]*count - s)", "\t\tf := a*|a| - (q*count - s*s)",
		"\t\tdst[i] = 255 if f > 0 or count < least, else 0", "\t\tdoubt[i] = |f| < 2^-40 * q*count and count >= least", "\t}")
	dst, pix, n, scratch, i := arg("dst"), arg("pix"), arg("n"), arg("scratch"), GP64()
	hi, lo, hi2, lo2, hiN, loN := arg("hi"), arg("lo"), arg("hi2"), arg("lo2"), arg("hiN"), arg("loN")
	least, zero := broadcast(set, "least"), set.vec()
	set.zero(zero)
	abs, tiny := loaded(set, Mem{Base: scratch, Disp: suAbs}), loaded(set, Mem{Base: scratch, Disp: suTiny})
	XORQ(i, i)
	at := func(base reg.Register) *Mem { return &Mem{Base: base, Index: i, Scale: 4} }
	Label("loop")
	CMPQ(i, n)
	JGE(LabelRef("done"))
	s, q, count := doubles(set, *at(hi), at(lo)), doubles(set, *at(hi2), at(lo2)), doubles(set, *at(hiN), at(loN))
	p := set.vec()
	if wide(set) {
		y := YMM()
		VPMOVZXBD(Mem{Base: pix, Index: i, Scale: 1}, y)
		VCVTDQ2PD(y, p)
	} else {
		x := XMM()
		VPMOVZXBD(Mem{Base: pix, Index: i, Scale: 1}, x)
		VCVTDQ2PD(x, p)
	}
	VMULPD(count, p, p)
	VSUBPD(s, p, p)
	VADDPD(p, p, p)
	t := set.vec()
	VANDPD(abs, p, t)
	VMULPD(t, p, p)
	VMULPD(count, q, q)
	VMULPD(s, s, s)
	VSUBPD(s, q, s)
	VSUBPD(s, p, p) // f
	VANDPD(abs, p, t)
	VMULPD(tiny, q, q)
	const less, greater, atMost, atLeast = 0x11, 0x1e, 0x12, 0x1d
	if wide(set) {
		few, white, near, bytes := K(), K(), K(), XMM()
		VCMPPD(Imm(less), least, count, few)
		VCMPPD(Imm(greater), zero, p, white)
		KORW(few, white, white)
		VPMOVM2B(white, bytes)
		VMOVQ(bytes, Mem{Base: dst, Index: i, Scale: 1})
		VCMPPD(Imm(atMost), q, t, near)
		KANDNW(near, few, near)
		bits := GP32()
		KMOVW(near, bits)
		MOVB(bits.As8(), Mem{Base: scratch, Index: i, Scale: 1, Disp: suDoubt}) // one byte of each eight
	} else {
		few, white := set.vec(), set.vec()
		VCMPPD(Imm(less), least, count, few)
		VCMPPD(Imm(greater), zero, p, white)
		VORPD(few, white, white)
		VCMPPD(Imm(atMost), q, t, t)
		VANDNPD(t, few, t)
		bits := GP32()
		VMOVMSKPD(t, bits)
		MOVB(bits.As8(), Mem{Base: scratch, Index: i, Scale: 1, Disp: suDoubt}) // one byte of each four
		high := XMM()
		VEXTRACTF128(Imm(1), white, high)
		VPACKSSDW(high, white.AsX(), high)
		VPACKSSDW(high, high, high)
		VPACKSSWB(high, high, high)
		VMOVD(high, Mem{Base: dst, Index: i, Scale: 1})
	}
	ADDQ(I32(lanes), i)
	JMP(LabelRef("loop"))
	Label("done")
	leave()
}

// Offsets in the Go struct kernel.suScratch.
const (
	suAbs = iota * lineBytes
	suTiny
	suDoubt
)

// byteLoop emits a loop over n bytes, a vector at a time.
func byteLoop(set isa, body func(at func(base reg.Register) Mem)) {
	n, i := arg("n"), GP64()
	XORQ(i, i)
	Label("loop")
	CMPQ(i, n)
	JGE(LabelRef("done"))
	body(func(base reg.Register) Mem { return Mem{Base: base, Index: i, Scale: 1} })
	ADDQ(I32(set.bytes()), i)
	JMP(LabelRef("loop"))
	Label("done")
	leave()
}

// everyByte is an argument in all bytes of a vector.
func everyByte(set isa, name string) reg.VecVirtual {
	v := set.vec()
	VPBROADCASTB(windowWord(name), v)
	return v
}

// notLess is 255 in the bytes of a that are no less than those of b, and 0 in others.
func notLess(set isa, a, b, to reg.VecVirtual) {
	if wide(set) {
		k := K()
		VPCMPUB(Imm(5), b, a, k)
		VPMOVM2B(k, to)
		return
	}
	VPMAXUB(b, a, to)
	VPCMPEQB(a, to, to)
}

func xorBytes(set isa, a Op, b, to reg.VecVirtual) {
	if wide(set) {
		VPXORD(a, b, to)
	} else {
		VPXOR(a, b, to)
	}
}

func andBytes(set isa, a Op, b, to reg.VecVirtual) {
	if wide(set) {
		VPANDD(a, b, to)
	} else {
		VPAND(a, b, to)
	}
}

func atLeast(set isa, name string) {
	text(name, NOSPLIT, "func(dst, a, b *byte, n int, more, flip uint32)",
		name+fmt.Sprintf(" is, for a multiple of %d bytes, with sums of at most 255,", set.bytes()), "", "\tfor i := range n {",
		"\t\tdst[i] = (255 if a[i]+more >= b[i], else 0) ^ flip", "\t}")
	dst, a, b := arg("dst"), arg("a"), arg("b")
	more, flip := everyByte(set, "more"), everyByte(set, "flip")
	byteLoop(set, func(at func(reg.Register) Mem) {
		v, w := loaded(set, at(a)), loaded(set, at(b))
		VPADDUSB(more, v, v)
		notLess(set, v, w, w)
		xorBytes(set, flip, w, w)
		set.store(w, at(dst))
	})
}

// contrast of bytes: the quotient is far enough from whole numbers for float32, see
// kernel.ContrastOf.
func contrast(set isa, name string) {
	lanes := set.bytes() / 4
	text(name, NOSPLIT, "func(dst, above, row, below *byte, n int)", name+fmt.Sprintf(" is, for a multiple of %d", 4*lanes), "", "\tfor i := range n {",
		"\t\tleast, most := those of above[i:i+3], row[i:i+3] and below[i:i+3]",
		"\t\tdst[i] = uint8((255*(most-least) - 0.5) / (most + least)) // 0 where they are equal", "\t}", "", "in float32.")
	dst, above, row, below := arg("dst"), arg("above"), arg("row"), arg("below")
	scale, half, one := floatConstant(set, 0x437f0000), floatConstant(set, 0x3f000000), floatConstant(set, 0x3f800000)
	byteLoop(set, func(at func(reg.Register) Mem) {
		var least, most reg.VecVirtual
		for _, base := range []reg.Register{above, row, below} {
			for x := range 3 {
				v := loaded(set, at(base).Offset(x))
				if least == nil {
					least, most = v, set.vec()
					move(set, v, most)
					continue
				}
				VPMINUB(v, least, least)
				VPMAXUB(v, most, most)
			}
		}
		parts := make([]reg.VecVirtual, 4)
		for q := range parts { // a quarter of the bytes
			l, m := quarter(set, least, q), quarter(set, most, q)
			sum := set.vec()
			VADDPS(l, m, sum)
			VSUBPS(l, m, m)
			VMULPS(scale, m, m)
			VSUBPS(half, m, m)
			VMAXPS(one, sum, sum) // of black
			VDIVPS(sum, m, m)
			VCVTTPS2DQ(m, m)
			parts[q] = m
		}
		if wide(set) {
			for q, v := range parts {
				VPMOVDB(v, at(dst).Offset(q*lanes))
			}
			return
		}
		for q, v := range parts {
			narrow(set, u8, v, at(dst).Offset(q*lanes))
		}
	})
}

func move(set isa, from, to reg.VecVirtual) {
	if wide(set) {
		VMOVDQA32(from, to)
	} else {
		VMOVDQA(from, to)
	}
}

// floatConstant is a float of these bits in all lanes.
func floatConstant(set isa, bits uint32) reg.VecVirtual {
	g, x, v := GP32(), XMM(), set.vec()
	MOVL(U32(bits), g)
	VMOVD(g, x)
	VBROADCASTSS(x, v)
	return v
}

// quarter is a quarter of the bytes of a vector as floats.
func quarter(set isa, v reg.VecVirtual, q int) reg.VecVirtual {
	to, part := set.vec(), XMM()
	switch {
	case q == 0:
		part = v.AsX().(reg.VecVirtual)
	case wide(set):
		VEXTRACTI32X4(Imm(uint64(q)), v, part)
	case q == 2:
		VEXTRACTI128(Imm(1), v, part)
	case q == 1:
		VPSRLDQ(Imm(8), v.AsX(), part)
	default:
		VEXTRACTI128(Imm(1), v, part)
		VPSRLDQ(Imm(8), part, part)
	}
	VPMOVZXBD(part, to)
	VCVTDQ2PS(to, to)
	return to
}

// onesOf is 1 in all bytes.
func onesOf(set isa) reg.VecVirtual {
	g, x, v := GP32(), XMM(), set.vec()
	MOVL(U32(1), g)
	VMOVD(g, x)
	VPBROADCASTB(x, v)
	return v
}

func keepContrast(set isa, name string) {
	text(name, NOSPLIT, "func(dst, contrast *byte, n int, level uint32)", name+fmt.Sprintf(" is, for a multiple of %d bytes,", set.bytes()), "",
		"\tfor i := range n {", "\t\tdst[i] |= 1 if contrast[i] <= level, else 0", "\t}")
	dst, from, level, ones := arg("dst"), arg("contrast"), everyByte(set, "level"), onesOf(set)
	byteLoop(set, func(at func(reg.Register) Mem) {
		c := loaded(set, at(from))
		notLess(set, level, c, c)
		andBytes(set, ones, c, c)
		set.orMem(at(dst), c)
		set.store(c, at(dst))
	})
}

func maskContrast(set isa, name string) {
	text(name, NOSPLIT, "func(values, mask, row *byte, n int, level uint32)", name+fmt.Sprintf(" is, for a multiple of %d bytes,", set.bytes()), "",
		"\tfor i := range n {", "\t\tmask[i] = 1 if mask[i] > level, else 0", "\t\tvalues[i] = row[i] * mask[i]", "\t}")
	values, mask, row, level, ones := arg("values"), arg("mask"), arg("row"), everyByte(set, "level"), onesOf(set)
	byteLoop(set, func(at func(reg.Register) Mem) {
		c, v := loaded(set, at(mask)), loaded(set, at(row))
		notLess(set, level, c, c) // 255 where there is none
		if wide(set) {
			VPANDND(v, c, v)
			VPANDND(ones, c, c)
		} else {
			VPANDN(v, c, v)
			VPANDN(ones, c, c)
		}
		set.store(v, at(values))
		set.store(c, at(mask))
	})
}

// packBits turns the eight bytes of each 64 bits round first, so that the first is in the
// highest bit of its byte.
func packBits(set isa, name string) {
	text(name, NOSPLIT, "func(dst, src *byte, n int)", name+fmt.Sprintf(" is, for a multiple of %d pixels,", set.bytes()), "",
		"\tfor i := range n {", "\t\tbit 7-i%8 of dst[i/8] = src[i] < 128", "\t}")
	dst, src := arg("dst"), arg("src")
	order, low, high := set.vec(), GP64(), GP64()
	x, y := XMM(), XMM()
	MOVQ(U64(0x0001020304050607), low)
	MOVQ(U64(0x08090a0b0c0d0e0f), high)
	VMOVQ(low, x)
	VMOVQ(high, y)
	VPUNPCKLQDQ(y, x, x)
	if wide(set) {
		VSHUFI32X4(Imm(0), x.AsZ(), x.AsZ(), order)
	} else {
		VINSERTI128(Imm(1), x, x.AsY(), order)
	}
	byteLoop(set, func(at func(reg.Register) Mem) {
		v := loaded(set, at(src))
		VPSHUFB(order, v, v)
		if wide(set) {
			k, bits := K(), GP64()
			VPMOVB2M(v, k)
			KMOVQ(k, bits)
			NOTQ(bits)
			MOVQ(bits, Mem{Base: dst})
			ADDQ(Imm(8), dst)
			return
		}
		bits := GP32()
		VPMOVMSKB(v, bits)
		NOTL(bits)
		MOVL(bits, Mem{Base: dst})
		ADDQ(Imm(4), dst)
	})
}
