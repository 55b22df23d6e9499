package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func addWords(set isa, name string) {
	lanes := set.bytes() / 2
	text(name, NOSPLIT, "func(dst, a, b *byte, n int)", name+fmt.Sprintf(" computes, for n a multiple of %d,", lanes), "",
		"\tfor i := range n {", "\t\tdst[i] = a[i] + b[i]", "\t}")
	dst, a, b, n, i := arg("dst"), arg("a"), arg("b"), arg("n"), GP64()
	loopTo(i, n, I32(lanes), func() {
		v := loaded(set, Mem{Base: a, Index: i, Scale: 2})
		VPADDW(Mem{Base: b, Index: i, Scale: 2}, v, v)
		set.store(v, Mem{Base: dst, Index: i, Scale: 2})
	})
	leave()
}

// maxTerms is the greatest number of column sums that make up a window.
const maxTerms = 4

func boxTerms(set isa, name string) {
	lanes := set.bytes() / 2
	text(name, NOSPLIT, "func(dst, a, b, c, d *byte, n, terms int, half, multiplier, shift uint32)",
		name+fmt.Sprintf(" computes, for n a multiple of %d and 1 to %d terms,", lanes, maxTerms), "", "\tfor i := range n {",
		"\t\tdst[i] = uint8(uint32(a[i]+b[i]+c[i]+d[i]+half) * multiplier >> 16 >> shift)", "\t}")
	times, bias, shift := set.vec(), set.vec(), wordArg("shift")
	VPBROADCASTW(wordArg("multiplier"), times)
	VPBROADCASTW(wordArg("half"), bias)
	dst, n, terms, i := arg("dst"), arg("n"), arg("terms"), GP64()
	at := []reg.GPVirtual{arg("a"), arg("b"), arg("c"), arg("d")}
	XORQ(i, i)
	for k := 2; k <= maxTerms; k++ {
		CMPQ(terms, Imm(uint64(k)))
		JEQ(LabelRef(fmt.Sprint("terms", k)))
	}
	for k := 1; k <= maxTerms; k++ {
		label := fmt.Sprint("terms", k)
		Label(label)
		CMPQ(i, n)
		JGE(LabelRef("done"))
		v := loaded(set, Mem{Base: at[0], Index: i, Scale: 2})
		for j := 1; j < k; j++ {
			VPADDW(Mem{Base: at[j], Index: i, Scale: 2}, v, v)
		}
		VPADDW(bias, v, v)
		VPMULHUW(times, v, v)
		VPSRLW(shift, v, v)
		narrowWords(set, v, Mem{Base: dst, Index: i, Scale: 1})
		ADDQ(I32(lanes), i)
		JMP(LabelRef(label))
	}
	Label("done")
	leave()
}

// maxSmall is the greatest window width of boxSmall, in columns.
const maxSmall = 8

// boxSmall adds the few columns of a window in 16 bits.
func boxSmall(set isa, name string) {
	lanes := set.bytes() / 2
	text(name, NOSPLIT, "func(dst, cols *byte, n, step, span int, half, multiplier, shift uint32)",
		name+fmt.Sprintf(" computes, for n a multiple of %d and a span of 1 to %d,", lanes, maxSmall), "", "\tfor i := range n {",
		"\t\tvar sum uint16", "\t\tfor j := range span {", "\t\t\tsum += cols[i+j*step/2]", "\t\t}",
		"\t\tdst[i] = uint8(uint32(sum+half) * multiplier >> 16 >> shift)", "\t}")
	times, bias, shift := set.vec(), set.vec(), wordArg("shift")
	VPBROADCASTW(wordArg("multiplier"), times)
	VPBROADCASTW(wordArg("half"), bias)
	dst, n, span, step, i := arg("dst"), arg("n"), arg("span"), arg("step"), GP64()
	at := make([]reg.GPVirtual, maxSmall)
	at[0] = arg("cols")
	XORQ(i, i)
	for k := 2; k <= maxSmall; k++ {
		CMPQ(span, Imm(uint64(k)))
		JEQ(LabelRef(fmt.Sprint("span", k)))
	}
	for k := 1; k <= maxSmall; k++ {
		label := fmt.Sprint("span", k)
		Label(label)
		for j := 1; j < k; j++ {
			at[j] = GP64()
			LEAQ(Mem{Base: at[j-1], Index: step, Scale: 1}, at[j])
		}
		Label(label + "Loop")
		CMPQ(i, n)
		JGE(LabelRef("done"))
		v := loaded(set, Mem{Base: at[0], Index: i, Scale: 2})
		for j := 1; j < k; j++ {
			VPADDW(Mem{Base: at[j], Index: i, Scale: 2}, v, v)
		}
		VPADDW(bias, v, v)
		VPMULHUW(times, v, v)
		VPSRLW(shift, v, v)
		to := Mem{Base: dst, Index: i, Scale: 1}
		PREFETCHT0(to.Offset(columnsAhead))
		if wide(set) {
			VPMOVWB(v, to)
		} else {
			high := XMM()
			VEXTRACTI128(Imm(1), v, high)
			VPACKUSWB(high, v.AsX(), high)
			VMOVDQU(high, to)
		}
		ADDQ(I32(lanes), i)
		JMP(LabelRef(label + "Loop"))
	}
	Label("done")
	leave()
}

// box3 sums 3×3 bytes of three rows. A 16-bit lane holds an even pixel and the odd one after it,
// both of which belong to the windows of both pixels. Each window has one more pixel, on the left
// or on the right.
func box3(set isa, name string) {
	text(name, NOSPLIT, "func(dst, a, b, c *byte, n int, half, multiplier uint32)",
		name+fmt.Sprintf(" computes, for n a multiple of %d,", set.bytes()), "", "\tfor i := range n {",
		"\t\tvar sum uint16", "\t\tfor j := i - 1; j <= i+1; j++ {", "\t\t\tsum += a[j] + b[j] + c[j]", "\t\t}",
		"\t\tdst[i] = uint8(uint32(sum+half) * multiplier >> 16)", "\t}")
	times, bias, ones, low := set.vec(), set.vec(), set.vec(), set.vec()
	VPBROADCASTW(wordArg("multiplier"), times)
	VPBROADCASTW(wordArg("half"), bias)
	set.ones(ones)
	VPSRLW(Imm(8), ones, low)
	VPABSB(ones, ones)
	dst, n, i := arg("dst"), arg("n"), GP64()
	rows := []reg.GPVirtual{arg("a"), arg("b"), arg("c")}
	loopTo(i, n, I32(set.bytes()), func() {
		var both, left, right reg.VecVirtual
		sum := func(to *reg.VecVirtual, v reg.VecVirtual) {
			if *to == nil {
				*to = v
				return
			}
			VPADDW(v, *to, *to)
		}
		for _, row := range rows {
			at := Mem{Base: row, Index: i, Scale: 1}
			v, w, u := loaded(set, at), loaded(set, at.Offset(-1)), loaded(set, at.Offset(1))
			VPMADDUBSW(ones, v, v)
			if wide(set) {
				VPANDD(low, w, w)
			} else {
				VPAND(low, w, w)
			}
			VPSRLW(Imm(8), u, u)
			sum(&both, v)
			sum(&left, w)
			sum(&right, u)
		}
		VPADDW(bias, both, both)
		VPADDW(both, left, left)
		VPADDW(both, right, right)
		VPMULHUW(times, left, left)
		VPMULHUW(times, right, right)
		VPSLLW(Imm(8), right, right)
		if wide(set) {
			VPORD(right, left, left)
		} else {
			VPOR(right, left, left)
		}
		to := Mem{Base: dst, Index: i, Scale: 1}
		PREFETCHT0(to.Offset(columnsAhead))
		set.store(left, to)
	})
	leave()
}
