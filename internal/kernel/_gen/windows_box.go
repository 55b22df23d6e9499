package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A divider divides vectors of unsigned 32-bit integers: it multiplies by a 32-bit multiplier and
// shifts the upper half of the product.
type divider struct {
	set         isa
	times, half reg.VecVirtual
	shift       reg.VecVirtual
	odd         reg.Register // mask of the odd lanes
}

// newDivider loads the constants from arguments.
func newDivider(set isa) *divider {
	d := &divider{set: set, times: set.vec(), half: set.vec()}
	VPBROADCASTD(wordArg("multiplier"), d.times)
	VPBROADCASTD(wordArg("half"), d.half)
	d.shift = wordArg("shift")
	if wide(set) {
		d.odd = K()
		bits := GP32()
		MOVL(U32(0xaaaa), bits)
		KMOVW(bits, d.odd)
	}
	return d
}

// divide computes (v + half) * times >> 32 >> shift in place.
func (d *divider) divide(v reg.VecVirtual) {
	odd := d.set.vec()
	VPADDD(d.half, v, v)
	VPSRLQ(Imm(32), v, odd)
	VPMULUDQ(d.times, v, v)
	VPMULUDQ(d.times, odd, odd)
	VPSHUFD(Imm(0xf5), v, v)
	if wide(d.set) {
		VMOVDQA32(odd, d.odd, v)
	} else {
		VPBLENDD(Imm(0xaa), odd, v, v)
	}
	VPSRLD(d.shift, v, v)
}

func roundMeans(to elem) func(set isa, name string) {
	return func(set isa, name string) {
		lanes := set.bytes() / 4
		text(name, NOSPLIT, "func(dst, hi, lo *byte, n int, scale, half, multiplier, shift uint32)",
			name+fmt.Sprintf(" computes, for n a multiple of %d,", lanes), "", "\tfor i := range n {",
			fmt.Sprintf("\t\tdst[i] = %v(uint64((hi[i]-lo[i])<<scale+half) * uint64(multiplier) >> 32 >> shift)", to), "\t}")
		d := newDivider(set)
		scale := wordArg("scale")
		dst, hi, lo, n, i := arg("dst"), arg("hi"), arg("lo"), arg("n"), GP64()
		loopTo(i, n, I32(lanes), func() {
			v := loaded(set, Mem{Base: hi, Index: i, Scale: 4})
			VPSUBD(Mem{Base: lo, Index: i, Scale: 4}, v, v)
			VPSLLD(scale, v, v)
			d.divide(v)
			narrow(set, to, v, Mem{Base: dst, Index: i, Scale: uint8(to.Bytes())})
		})
		leave()
	}
}

// boxBytes emits a loop along the column sums of a row. The sum of a window is that of the previous
// window plus a difference of two column sums. Windows of few pixels are divided in floats, which
// is exact for them and faster.
func boxBytes(one bool) func(set isa, name string) {
	return func(set isa, name string) {
		lanes := set.bytes() / 4
		text(name, NOSPLIT, "func(dst, hi, lo *byte, n int, carry, lanes *uint32, half, multiplier, shift uint32, inverse, bias float32)",
			name+fmt.Sprintf(" computes, for n a multiple of %d,", lanes), "", "\tfor i := range n {",
			"\t\tsum[i%channels] += hi[i] - lo[i]", "\t\tdst[i] = uint8(uint64(sum[i%channels]+half) * uint64(multiplier) >> 32 >> shift)", "\t}", "",
			"with carry holding the sums before and after, and if inverse is not zero,", "",
			"\tdst[i] = uint8(float32(sum[i%channels])*inverse + bias)", "", "or, if bias is zero, rounded to nearest, ties to even.")
		c := oneScan(set, one)
		sums := arg("carry")
		carry := c.carry
		set.load(Mem{Base: sums}, carry)
		dst, hi, lo, n, i := arg("dst"), arg("hi"), arg("lo"), arg("n"), GP64()
		XORQ(i, i)
		loop := func(label string, divide func(v reg.VecVirtual)) {
			Label(label)
			CMPQ(i, n)
			JGE(LabelRef("done"))
			v := loaded(set, Mem{Base: hi, Index: i, Scale: 4})
			VPSUBD(Mem{Base: lo, Index: i, Scale: 4}, v, v)
			c.sum(v)
			divide(v)
			narrow(set, u8, v, Mem{Base: dst, Index: i, Scale: 1})
			ADDQ(I32(lanes), i)
			JMP(LabelRef(label))
		}
		scaledOrNot(set, loop)
		byFloatsOrWords(set, loop)
		Label("done")
		set.store(carry, Mem{Base: sums})
		leave()
	}
}

// boxWords is like boxBytes with 16-bit results, which represent fractions and are rounded in
// floats.
func boxWords(one bool) func(set isa, name string) {
	return func(set isa, name string) {
		lanes := set.bytes() / 4
		text(name, NOSPLIT, "func(dst, hi, lo *byte, n int, carry, lanes *uint32, factor float32)",
			name+fmt.Sprintf(" computes, for n a multiple of %d,", lanes), "", "\tfor i := range n {",
			"\t\tsum[i%channels] += hi[i] - lo[i]", "\t\tdst[i] = uint16(roundToEven(float32(sum[i%channels]) * factor))", "\t}", "",
			"with carry holding the sums before and after.")
		c := oneScan(set, one)
		sums := arg("carry")
		set.load(Mem{Base: sums}, c.carry)
		factor := set.vec()
		VBROADCASTSS(param("factor"), factor)
		dst, hi, lo, n, i := arg("dst"), arg("hi"), arg("lo"), arg("n"), GP64()
		loopTo(i, n, I32(lanes), func() {
			v := loaded(set, Mem{Base: hi, Index: i, Scale: 4})
			VPSUBD(Mem{Base: lo, Index: i, Scale: 4}, v, v)
			c.sum(v)
			VCVTDQ2PS(v, v)
			VMULPS(factor, v, v)
			VCVTPS2DQ(v, v)
			narrow(set, u16, v, Mem{Base: dst, Index: i, Scale: 2})
		})
		set.store(c.carry, Mem{Base: sums})
		leave()
	}
}

func scaledMeans(to elem) func(set isa, name string) {
	return func(set isa, name string) {
		lanes := set.bytes() / 4
		text(name, NOSPLIT, "func(dst, hi, lo *byte, n int, factor float32)",
			name+fmt.Sprintf(" computes, for n a multiple of %d,", lanes), "", "\tfor i := range n {",
			fmt.Sprintf("\t\tdst[i] = %v(roundToEven(float32(hi[i]-lo[i]) * factor))", to), "\t}")
		factor := set.vec()
		VBROADCASTSS(param("factor"), factor)
		dst, hi, lo, n, i := arg("dst"), arg("hi"), arg("lo"), arg("n"), GP64()
		loopTo(i, n, I32(lanes), func() {
			v := loaded(set, Mem{Base: hi, Index: i, Scale: 4})
			VPSUBD(Mem{Base: lo, Index: i, Scale: 4}, v, v)
			VCVTDQ2PS(v, v)
			VMULPS(factor, v, v)
			VCVTPS2DQ(v, v)
			narrow(set, to, v, Mem{Base: dst, Index: i, Scale: uint8(to.Bytes())})
		})
		leave()
	}
}

// scaledOrNot emits the loop for a bias of zero: a product, rounded to nearest.
func scaledOrNot(set isa, loop func(label string, divide func(v reg.VecVirtual))) {
	zero := GP32()
	MOVL(param("bias"), zero)
	TESTL(zero, zero)
	JNZ(LabelRef("biased"))
	MOVL(param("inverse"), zero)
	TESTL(zero, zero)
	JZ(LabelRef("biased"))
	factor := set.vec()
	VBROADCASTSS(param("inverse"), factor)
	loop("scaled", func(v reg.VecVirtual) {
		VCVTDQ2PS(v, v)
		VMULPS(factor, v, v)
		VCVTPS2DQ(v, v)
	})
	Label("biased")
}

// byFloatsOrWords emits a loop twice: once with division in floats, for inverses that are not zero,
// and once with a divider.
func byFloatsOrWords(set isa, loop func(label string, divide func(v reg.VecVirtual))) {
	zero := GP32()
	MOVL(param("inverse"), zero)
	TESTL(zero, zero)
	JZ(LabelRef("integers"))
	inverse, bias := set.vec(), set.vec()
	VBROADCASTSS(param("inverse"), inverse)
	VBROADCASTSS(param("bias"), bias)
	loop("floats", func(v reg.VecVirtual) {
		VCVTDQ2PS(v, v)
		if wide(set) {
			VFMADD213PS(bias, inverse, v)
		} else { // AVX2 processors may lack FMA
			VMULPS(inverse, v, v)
			VADDPS(bias, v, v)
		}
		VCVTTPS2DQ(v, v)
	})
	Label("integers")
	loop("words", newDivider(set).divide)
}

// boxPairs is like boxBytes for one channel and 16-bit column sums. Differences are first added in
// pairs, so that one vector of prefix sums serves two vectors of pixels. Tall columns use all 16
// bits, so for them the pairs are summed before the difference is taken.
func boxPairs(tall bool) func(set isa, name string) {
	return func(set isa, name string) {
		lanes := set.bytes() / 2
		text(name, NOSPLIT, "func(dst, hi, lo *byte, n int, carry, lanes *uint32, half, multiplier, shift uint32, inverse, bias float32)",
			name+fmt.Sprintf(" computes, for n a multiple of %d,", lanes), "", "\tfor i := range n {",
			"\t\tsum += uint32(hi[i]) - uint32(lo[i])", "\t\tdst[i] = uint8(uint64(sum+half) * uint64(multiplier) >> 32 >> shift)", "\t}", "",
			"with columns of 15 bits, or of 16 bits if they are tall, and otherwise as in boxU8.")
		c := oneScan(set, true)
		sums := arg("carry")
		set.load(Mem{Base: sums}, c.carry)
		dst, hi, lo, n, i := arg("dst"), arg("hi"), arg("lo"), arg("n"), GP64()
		XORQ(i, i)
		ones, top := set.vec(), set.vec()
		set.ones(ones)
		VPSLLW(Imm(15), ones, top)
		VPSRLW(Imm(15), ones, ones)
		byFloatsOrWords(set, func(label string, divide func(v reg.VecVirtual)) {
			Label(label)
			CMPQ(i, n)
			JGE(LabelRef("done"))
			d := loaded(set, Mem{Base: hi, Index: i, Scale: 2})
			odd := set.vec()
			if tall {
				less := loaded(set, Mem{Base: lo, Index: i, Scale: 2})
				signed, signedLess := set.vec(), set.vec()
				VPSUBW(top, d, signed)
				VPSUBW(top, less, signedLess)
				VPMADDWD(ones, signed, odd)
				VPMADDWD(ones, signedLess, signedLess)
				VPSUBD(signedLess, odd, odd)
				VPSRLD(Imm(16), d, d)
				VPSRLD(Imm(16), less, less)
				VPSUBD(less, d, d)
			} else {
				VPSUBW(Mem{Base: lo, Index: i, Scale: 2}, d, d)
				VPMADDWD(ones, d, odd)
				VPSRAD(Imm(16), d, d)
			}
			c.sum(odd)
			VPSUBD(d, odd, d) // the even ones
			divide(odd)
			divide(d)
			VPSLLD(Imm(16), odd, odd)
			if wide(set) {
				VPORD(odd, d, d)
			} else {
				VPOR(odd, d, d)
			}
			narrowWords(set, d, Mem{Base: dst, Index: i, Scale: 1})
			ADDQ(I32(lanes), i)
			JMP(LabelRef(label))
		})
		Label("done")
		set.store(c.carry, Mem{Base: sums})
		leave()
	}
}
