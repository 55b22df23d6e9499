package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Medians of bytes in large windows are computed from two histograms of every column, after
// Perreault and Hébert (2007): a coarse one of the upper four bits of its pixels and, for each of
// its bins, a fine one of the lower four bits. Counts are cumulative, so that a comparison finds
// the bin of the median without a sum within a vector.

// countRoutines lists the routines of windows/counts.go. They use vectors of 32 bytes, which hold
// 16 counts, at every level.
var countRoutines = []routine{
	{"countColumns", countColumns},
	{"countMedians", countWindows(false)},
	{"countUpTo", countWindows(true)},
}

// Offsets in the state of countMedians.
const (
	countsCoarse = 64  // 16 counts; the preceding word is the count of no pixels
	countsLast   = 128 // columns at which the fine histograms start
	countsFine   = 192 // 16 histograms of 16 counts
)

// countSteps returns 16 rows of 16 bytes: row v has ones from byte v on.
func countSteps(set isa) reg.Register {
	var words []uint64
	for v := range 16 {
		ones := ^uint64(0) / 255
		if v < 8 {
			words = append(words, ones<<(8*v), ones)
		} else {
			words = append(words, 0, ones<<(8*(v-8)))
		}
	}
	p := GP64()
	LEAQ(set.(*avx2).mem("countSteps", words...), p)
	return p
}

func countColumns(set isa, name string) {
	text(name, NOSPLIT, "func(coarse, fine *byte, stride int, in, out *byte, n int)", name+" is", "",
		"\tfor i := range n {", "\t\tfor j := range 16 {",
		"\t\t\tcoarse[16*i+j] += bit(j >= in[i]>>4) - bit(j >= out[i]>>4)",
		"\t\t\tfine[int(in[i]>>4)*stride+16*i+j] += bit(j >= in[i]&15)",
		"\t\t\tfine[int(out[i]>>4)*stride+16*i+j] -= bit(j >= out[i]&15)",
		"\t\t}", "\t}")
	coarse, fine, stride, in, out, n, i := arg("coarse"), arg("fine"), arg("stride"), arg("in"), arg("out"), arg("n"), GP64()
	steps := countSteps(set)
	SHRQ(Imm(4), stride)
	loopTo(i, n, Imm(1), func() {
		v := XMM()
		VMOVDQU(Mem{Base: coarse}, v)
		for _, row := range []struct {
			pix reg.Register
			add func(...Op)
		}{{in, VPADDB}, {out, VPSUBB}} {
			high, low, at, f := GP64(), GP64(), GP64(), XMM()
			MOVBQZX(Mem{Base: row.pix, Index: i, Scale: 1}, high)
			MOVQ(high, low)
			SHLQ(Imm(4), low)
			ANDQ(Imm(0xf0), low)
			ANDQ(I32(0xf0), high)
			row.add(Mem{Base: steps, Index: high, Scale: 1}, v, v)
			MOVQ(stride, at)
			IMULQ(high, at)
			VMOVDQU(Mem{Base: fine, Index: at, Scale: 1}, f)
			row.add(Mem{Base: steps, Index: low, Scale: 1}, f, f)
			VMOVDQU(f, Mem{Base: fine, Index: at, Scale: 1})
		}
		VMOVDQU(v, Mem{Base: coarse})
		ADDQ(Imm(16), coarse)
		ADDQ(Imm(16), fine)
	})
	leave()
}

// widened loads 16 bytes as words.
func widened(m Mem) reg.VecVirtual {
	v := YMM()
	VPMOVZXBW(m, v)
	return v
}

// countWindows keeps the coarse histogram of the window up to date, but only one of the fine ones, that of the result. Counts are
// stored minus 2^15, because words are compared as signed.
func countWindows(upTo bool) func(set isa, name string) {
	return func(set isa, name string) {
		if upTo {
			text(name, NOSPLIT, "func(sums, coarse, fine, state *byte, stride, n, columns int, levels *byte)", name+" is", "",
				"\tfor i := range n {", "\t\tsums[i] = count(levels[i])", "\t}", "", "with count as in countMedians.")
		} else {
			text(name, NOSPLIT, "func(dst, coarse, fine, state *byte, stride, n, columns, middle int)", name+" is", "",
				"\tfor i := range n {", "\t\tfor dst[i] = 0; count(dst[i]) <= middle; dst[i]++ {", "\t\t}", "\t}", "",
				"where count(v) is the number of pixels up to v in columns [i, i+columns) of the histograms.")
		}
		countLoop(upTo)
	}
}

func countLoop(upTo bool) {
	coarse, fine, state, stride, columns := arg("coarse"), arg("fine"), arg("state"), arg("stride"), arg("columns")
	words := func(from reg.GPVirtual) reg.VecVirtual {
		x, v := XMM(), YMM()
		VMOVD(from.As32(), x)
		VPBROADCASTW(x, v)
		return v
	}
	number := GP64()
	MOVQ(U32(0x8000), number)
	bias := words(number)
	MOVW(number.As16(), Mem{Base: state, Disp: countsCoarse - 2})
	var dst reg.GPVirtual
	limit, first := YMM(), YMM() // number of pixels left after the bins before the median's
	if upTo {
		dst = arg("sums")
	} else {
		dst = arg("dst")
		middle := arg("middle")
		INCQ(middle)
		limit = words(middle)
		VPXOR(bias, limit, first)
	}
	SHRQ(Imm(1), stride)
	// At the start, no fine histogram is up to date.
	far := YMM()
	VPSLLD(Imm(16), bias, far) // -2^31
	VMOVDQU(far, Mem{Base: state, Disp: countsLast})
	VMOVDQU(far, Mem{Base: state, Disp: countsLast + 32})
	h := YMM()
	VMOVDQA(bias, h)
	ahead, p := GP64(), GP64()
	MOVQ(columns, ahead)
	DECQ(ahead)
	SHLQ(Imm(4), ahead)
	ADDQ(coarse, ahead)
	MOVQ(coarse, p)
	Label("prime")
	CMPQ(p, ahead)
	JGE(LabelRef("primed"))
	VPADDW(widened(Mem{Base: p}), h, h)
	ADDQ(Imm(16), p)
	JMP(LabelRef("prime"))
	Label("primed")

	x := GP64()
	XORQ(x, x)
	Label("next")
	CMPQ(x, param("n"))
	JGE(LabelRef("end"))
	VPADDW(widened(Mem{Base: ahead}), h, h)
	ADDQ(Imm(16), ahead)
	mask, bin, less, low := YMM(), GP64(), YMM(), GP64()
	VMOVDQU(h, Mem{Base: state, Disp: countsCoarse})
	if upTo {
		MOVQ(param("levels"), low) // as registers are scarce
		MOVBQZX(Mem{Base: low, Index: x, Scale: 1}, bin)
		MOVQ(bin, low)
		ANDQ(Imm(15), low)
		SHRQ(Imm(4), bin)
		ADDQ(bin, bin)
	} else {
		VPCMPGTW(h, first, mask)
		VPMOVMSKB(mask, bin.As32())
		POPCNTL(bin.As32(), bin.As32()) // two bits for each bin before that of the median
		VPBROADCASTW(Mem{Base: state, Index: bin, Scale: 1, Disp: countsCoarse - 2}, less)
		VPSUBW(less, limit, less)
	}
	histogram, from, last, lag := GP64(), GP64(), GP64(), GP64()
	MOVQ(bin, histogram)
	SHLQ(Imm(4), histogram)
	ADDQ(state, histogram)
	MOVQ(stride, from)
	IMULQ(bin, from)
	ADDQ(fine, from)
	MOVLQSX(Mem{Base: state, Index: bin, Scale: 2, Disp: countsLast}, last)
	MOVL(x.As32(), Mem{Base: state, Index: bin, Scale: 2, Disp: countsLast})
	MOVQ(x, lag)
	SUBQ(last, lag)
	f, width := YMM(), GP64()
	MOVQ(columns, width)
	SHLQ(Imm(4), width)
	ADDQ(lag, lag)
	CMPQ(lag, columns)
	JGT(LabelRef("anew"))
	// Move the fine histogram on to this window.
	VMOVDQU(Mem{Base: histogram, Disp: countsFine}, f)
	SHLQ(Imm(3), lag) // 16 bytes a column
	SHLQ(Imm(4), last)
	ADDQ(last, from)
	ADDQ(from, lag)
	Label("move")
	CMPQ(from, lag)
	JGE(LabelRef("moved"))
	VPADDW(widened(Mem{Base: from, Index: width, Scale: 1}), f, f)
	VPSUBW(widened(Mem{Base: from}), f, f)
	ADDQ(Imm(16), from)
	JMP(LabelRef("move"))
	Label("anew")
	VMOVDQA(bias, f)
	MOVQ(x, last)
	SHLQ(Imm(4), last)
	ADDQ(last, from)
	ADDQ(from, width)
	Label("column")
	VPADDW(widened(Mem{Base: from}), f, f)
	ADDQ(Imm(16), from)
	CMPQ(from, width)
	JLT(LabelRef("column"))
	Label("moved")
	VMOVDQU(f, Mem{Base: histogram, Disp: countsFine})
	if upTo {
		sum := GP64()
		MOVWQZX(Mem{Base: state, Index: bin, Scale: 1, Disp: countsCoarse - 2}, sum)
		ADDW(Mem{Base: histogram, Index: low, Scale: 2, Disp: countsFine}, sum.As16()) // 2^15 was subtracted from both
		MOVW(sum.As16(), Mem{Base: dst, Index: x, Scale: 2})
	} else {
		VPCMPGTW(f, less, mask)
		VPMOVMSKB(mask, low.As32())
		POPCNTL(low.As32(), low.As32())
		SHRQ(Imm(1), low)
		SHLQ(Imm(3), bin)
		ADDQ(bin, low)
		MOVB(low.As8(), Mem{Base: dst, Index: x, Scale: 1})
	}
	VPSUBW(widened(Mem{Base: coarse}), h, h)
	ADDQ(Imm(16), coarse)
	INCQ(x)
	JMP(LabelRef("next"))
	Label("end")
	leave()
}
