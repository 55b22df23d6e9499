package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// half64 converts the lower or the upper half of a vector of unsigned 32-bit integers to float64.
func (r *runningSums) half64(v reg.VecVirtual, part int) reg.VecVirtual {
	t := r.set.vec()
	xorBytes(r.set, r.k(kSign), v, t)
	d := part64(r.set, t, part)
	VADDPD(r.k(kPower), d, d)
	return d
}

// stats64 returns the mean and the variance of half a vector, rounded after each operation.
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

// spread compares in float32 first, because few variances come near the greatest so far.
func spread(set isa, name string) {
	text(name, NOSPLIT, "func(pix, hi, lo, hi2, lo2, single, double *byte, n int, lanes *uint32, scratch *byte)",
		name+fmt.Sprintf(" computes, for n a multiple of %d and with every sum and inverse in float64,", set.bytes()/4), "", "\tfor i := range n {",
		"\t\tsum += hi[i] - lo[i]", "\t\tsquares += hi2[i] - lo2[i]", "\t\tmean := sum * double[i]",
		"\t\tmost = max(most, squares*double[i] - mean*mean)", "\t\tleast = min(least, pix[i])", "\t}", "",
		"where the variance in float32, with the inverses in single, is not below the margin. Squares must be below 2^31.")
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

// mapStats emits a kernel that writes thresholds as float64, or as float32 if single is not zero.
func mapStats(sauvola bool) func(set isa, name string) {
	return func(set isa, name string) {
		formula := "mean + K*sqrt(variance)"
		if sauvola {
			formula = "mean * (1 + K*(sqrt(variance)*inverseR - 1))"
		}
		text(name, NOSPLIT, "func(dst, hi, lo, hi2, lo2, inverse *byte, n int, lanes *uint32, scratch *byte, K, inverseR float64, single int)",
			name+fmt.Sprintf(" computes, for n a multiple of %d and with every sum and inverse in float64,", set.bytes()/4), "", "\tfor i := range n {",
			"\t\tsum += hi[i] - lo[i]", "\t\tsquares += hi2[i] - lo2[i]", "\t\tmean := sum * inverse[i]",
			"\t\tvariance := max(0, squares*inverse[i] - mean*mean)", "\t\tdst[i] = "+formula, "\t}", "", "as float32 if single is not zero.")
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

// decideSu decides without a square root or a division, in float64 of integers, which is exact:
// a·|a| > n·squares - sum², where a is 2·n times the pixel's distance from the mean.
func decideSu(set isa, name string) {
	lanes := set.bytes() / 8
	text(name, NOSPLIT, "func(dst, pix, hi, lo, hi2, lo2, hiN, loN *byte, n int, least float64, scratch *byte)",
		name+fmt.Sprintf(" computes, for n a multiple of %d and integers below 2^31, with every sum in float64,", lanes), "", "\tfor i := range n {",
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
		MOVB(bits.As8(), Mem{Base: scratch, Index: i, Scale: 1, Disp: suDoubt}) // one byte for each eight pixels
	} else {
		few, white := set.vec(), set.vec()
		VCMPPD(Imm(less), least, count, few)
		VCMPPD(Imm(greater), zero, p, white)
		VORPD(few, white, white)
		VCMPPD(Imm(atMost), q, t, t)
		VANDNPD(t, few, t)
		bits := GP32()
		VMOVMSKPD(t, bits)
		MOVB(bits.As8(), Mem{Base: scratch, Index: i, Scale: 1, Disp: suDoubt}) // one byte for each four pixels
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

// Offsets in the Go struct windows.suScratch.
const (
	suAbs = iota * lineBytes
	suTiny
	suDoubt
)
