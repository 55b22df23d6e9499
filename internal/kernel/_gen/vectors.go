package main

// What the kernels of several packages do with vectors.

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// wide reports whether vectors are those of AVX-512.
func wide(set isa) bool { return set.bytes() == lineBytes }

// wordArg is an argument of 32 bits in a vector.
func wordArg(name string) reg.VecVirtual {
	v := XMM()
	VMOVD(Load(Param(name), GP32()), v)
	return v
}

// narrow writes a vector of small numbers of 32 bits as elements of 8 or 16.
func narrow(set isa, to elem, v reg.VecVirtual, m Mem) {
	switch {
	case wide(set) && to == u8:
		VPMOVDB(v, m)
	case wide(set):
		VPMOVDW(v, m)
	default:
		high := XMM()
		VEXTRACTI128(Imm(1), v, high)
		VPACKUSDW(high, v.AsX(), high)
		if to == u8 {
			VPACKUSWB(high, high, high)
			VMOVQ(high, m)
		} else {
			VMOVDQU(high, m)
		}
	}
}

// narrowWords writes a vector of small numbers of 16 bits as bytes.
func narrowWords(set isa, v reg.VecVirtual, m Mem) {
	if wide(set) {
		VPMOVWB(v, m)
		return
	}
	high := XMM()
	VEXTRACTI128(Imm(1), v, high)
	VPACKUSWB(high, v.AsX(), high)
	VMOVDQU(high, m)
}

// part64 is the lower or the upper half of a vector of numbers of 32 bits as floats of 64.
func part64(set isa, v reg.VecVirtual, part int) reg.VecVirtual {
	to := set.vec()
	switch {
	case wide(set) && part == 0:
		VCVTDQ2PD(v.AsY(), to)
	case wide(set):
		half := YMM()
		VEXTRACTI64X4(Imm(1), v, half)
		VCVTDQ2PD(half, to)
	case part == 0:
		VCVTDQ2PD(v.AsX(), to)
	default:
		half := XMM()
		VEXTRACTI128(Imm(1), v, half)
		VCVTDQ2PD(half, to)
	}
	return to
}

// toSingles is a vector of 64 bits as floats of 32.
func toSingles(set isa, v reg.VecVirtual) reg.VecVirtual {
	if wide(set) {
		half := YMM()
		VCVTPD2PS(v, half)
		return half
	}
	half := XMM()
	VCVTPD2PSY(v, half)
	return half
}

// broadcast is an argument of 64 bits in all lanes.
func broadcast(set isa, name string) reg.VecVirtual {
	v := set.vec()
	VBROADCASTSD(param(name), v)
	return v
}

// singles writes a vector of 64 bits as floats of 32.
func singles(set isa, v reg.VecVirtual, m Mem) { VMOVDQU(toSingles(set, v), m) }

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

func move(set isa, from, to reg.VecVirtual) {
	if wide(set) {
		VMOVDQA32(from, to)
	} else {
		VMOVDQA(from, to)
	}
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

// constant is a number of 32 bits of a struct in all lanes.
func constant(set isa, base reg.Register, offset int) reg.VecVirtual {
	v := set.vec()
	VBROADCASTSS(Mem{Base: base, Disp: offset}, v)
	return v
}

// zeroed is a new vector of zeros.
func zeroed(set isa) reg.VecVirtual {
	v := set.vec()
	VPSUBD(v, v, v)
	return v
}

// unsigned64 is half a vector of unsigned numbers of 32 bits as floats of 64.
func unsigned64(set isa, v reg.VecVirtual, part int, bias Mem) reg.VecVirtual {
	to := set.vec()
	if wide(set) {
		half := v.AsY()
		if part > 0 {
			top := YMM()
			VEXTRACTI64X4(Imm(1), v, top)
			half = top
		}
		VCVTUDQ2PD(half, to)
		return to
	}
	half := v.AsX()
	if part > 0 {
		top := XMM()
		VEXTRACTI128(Imm(1), v, top)
		half = top
	}
	VPMOVZXDQ(half, to)
	VPOR(bias, to, to)
	VSUBPD(bias, to, to)
	return to
}

// joined is two halves of a vector of floats of 32 bits.
func joined(set isa, low, high reg.VecVirtual) reg.VecVirtual {
	v := set.vec()
	if wide(set) {
		VINSERTF64X4(Imm(1), high, low.AsZ(), v)
	} else {
		VINSERTF128(Imm(1), high, low.AsY(), v)
	}
	return v
}

// lanes2 is two halves of 128 bits of two vectors, as VPERM2F128 numbers them.
func lanes2(a, b reg.VecVirtual, which uint64) reg.VecVirtual {
	v := YMM()
	VPERM2F128(Imm(which), b, a, v)
	return v
}

func unpack(a, b reg.VecVirtual) (low, high reg.VecVirtual) {
	low, high = YMM(), YMM()
	VUNPCKLPD(b, a, low)
	VUNPCKHPD(b, a, high)
	return low, high
}

// andNot is b without the bits of a.
func andNot(set isa, a, b, to reg.VecVirtual) {
	if wide(set) {
		VPANDND(b, a, to)
	} else {
		VPANDN(b, a, to)
	}
}

// pairOf is two halves of a vector from memory.
func pairOf(low, high Mem) reg.VecVirtual {
	v := YMM()
	VBROADCASTI128(low, v)
	VINSERTI128(Imm(1), high, v, v)
	return v
}

// interleaved is both halves of two vectors' elements by turns.
func interleaved(low, high func(...Op), a, b reg.VecVirtual) (reg.VecVirtual, reg.VecVirtual) {
	l, h := YMM(), YMM()
	low(b, a, l)
	high(b, a, h)
	return l, h
}

// bitsInAll is a number of 32 bits in all lanes.
func bitsInAll(set isa, bits uint32) reg.VecVirtual {
	t, x, v := GP32(), XMM(), set.vec()
	MOVL(U32(bits), t)
	VMOVD(t, x)
	VBROADCASTSS(x, v)
	return v
}

// loopTo emits a loop in which i goes from zero to n by steps.
func loopTo(i, n reg.Register, step Op, body func()) {
	XORQ(i, i)
	Label("loop")
	CMPQ(i, n)
	JGE(LabelRef("done"))
	body()
	ADDQ(step, i)
	JMP(LabelRef("loop"))
	Label("done")
}
