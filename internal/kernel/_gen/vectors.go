package main

// Vector operations that the kernels of several packages share.

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// wide reports whether vectors are those of AVX-512.
func wide(set isa) bool { return set.bytes() == lineBytes }

// wordArg loads a 32-bit argument into a vector.
func wordArg(name string) reg.VecVirtual {
	v := XMM()
	VMOVD(Load(Param(name), GP32()), v)
	return v
}

// narrow stores a vector of small 32-bit integers as elements of 8 or 16 bits.
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

// narrowWords stores a vector of small 16-bit integers as bytes.
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

// part64 converts the lower or the upper half of a vector of 32-bit integers to float64.
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

// toSingles converts a vector of float64 to float32.
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

// broadcast loads a 64-bit argument into all lanes.
func broadcast(set isa, name string) reg.VecVirtual {
	v := set.vec()
	VBROADCASTSD(param(name), v)
	return v
}

// singles stores a vector of float64 as float32.
func singles(set isa, v reg.VecVirtual, m Mem) { VMOVDQU(toSingles(set, v), m) }

// notLess sets the bytes of to to 255 where a's byte is not less than b's, and to 0 elsewhere.
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

// quarter converts a quarter of the bytes of a vector to floats.
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

// onesOf returns a vector with 1 in all bytes.
func onesOf(set isa) reg.VecVirtual {
	g, x, v := GP32(), XMM(), set.vec()
	MOVL(U32(1), g)
	VMOVD(g, x)
	VPBROADCASTB(x, v)
	return v
}

// constant broadcasts a 32-bit field of a struct to all lanes.
func constant(set isa, base reg.Register, offset int) reg.VecVirtual {
	v := set.vec()
	VBROADCASTSS(Mem{Base: base, Disp: offset}, v)
	return v
}

// zeroed returns a new vector of zeros.
func zeroed(set isa) reg.VecVirtual {
	v := set.vec()
	VPSUBD(v, v, v)
	return v
}

// unsigned64 converts half a vector of unsigned 32-bit integers to float64.
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

// joined combines two halves of a vector of float32.
func joined(set isa, low, high reg.VecVirtual) reg.VecVirtual {
	v := set.vec()
	if wide(set) {
		VINSERTF64X4(Imm(1), high, low.AsZ(), v)
	} else {
		VINSERTF128(Imm(1), high, low.AsY(), v)
	}
	return v
}

// lanes2 combines two 128-bit halves of two vectors, numbered as by VPERM2F128.
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

// andNot sets to to b without the bits of a.
func andNot(set isa, a, b, to reg.VecVirtual) {
	if wide(set) {
		VPANDND(b, a, to)
	} else {
		VPANDN(b, a, to)
	}
}

// pairOf loads the two halves of a vector from different addresses.
func pairOf(low, high Mem) reg.VecVirtual {
	v := YMM()
	VBROADCASTI128(low, v)
	VINSERTI128(Imm(1), high, v, v)
	return v
}

// interleaved interleaves the elements of two vectors, and returns the low and the high half.
func interleaved(low, high func(...Op), a, b reg.VecVirtual) (reg.VecVirtual, reg.VecVirtual) {
	l, h := YMM(), YMM()
	low(b, a, l)
	high(b, a, h)
	return l, h
}

// bitsInAll returns a vector with a 32-bit constant in all lanes.
func bitsInAll(set isa, bits uint32) reg.VecVirtual {
	t, x, v := GP32(), XMM(), set.vec()
	MOVL(U32(bits), t)
	VMOVD(t, x)
	VBROADCASTSS(x, v)
	return v
}

// loopTo emits a loop over i from zero to n in steps.
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
