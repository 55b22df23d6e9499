package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// bytesAsWords loads as many bytes as a vector has 32-bit words.
func bytesAsWords(set isa, base, i reg.Register) reg.VecVirtual {
	v := set.vec()
	VPMOVZXBD(Mem{Base: base, Index: i, Scale: 1}, v)
	return v
}

// pairPatches joins the pixels of two rows.
func pairPatches(set isa, name string) {
	lanes := set.bytes() / 4
	text(name, NOSPLIT, "func(pairs, a, b *byte, n int)", name+fmt.Sprintf(" computes, for n a multiple of %d,", lanes), "",
		"\tfor i := range n {", "\t\tpairs[i] = a[i] | b[i]<<16", "\t}")
	pairs, a, b, n, i := arg("pairs"), arg("a"), arg("b"), arg("n"), GP64()
	loopTo(i, n, I32(lanes), func() {
		low, high := bytesAsWords(set, a, i), bytesAsWords(set, b, i)
		VPSLLD(Imm(16), high, high)
		VPADDD(high, low, low)
		set.store(low, Mem{Base: pairs, Index: i, Scale: 4})
	})
	leave()
}

// slidePatches moves the sums of squared differences down by a row.
func slidePatches(set isa, name string) {
	lanes := set.bytes() / 4
	text(name, NOSPLIT, "func(columns, a, b *byte, n int)", name+fmt.Sprintf(" computes, for n a multiple of %d,", lanes), "",
		"\tfor i := range n {", "\t\tenter, leave := a[i].low-b[i].low, a[i].high-b[i].high", "\t\tcolumns[i] += enter*enter - leave*leave", "\t}", "",
		"with the 16-bit halves of pairs.")
	columns, a, b, n, i := arg("columns"), arg("a"), arg("b"), arg("n"), GP64()
	signs := bitsInAll(set, 0xffff0001) // -1 and 1
	loopTo(i, n, I32(lanes), func() {
		v, squares := loaded(set, Mem{Base: a, Index: i, Scale: 4}), set.vec()
		VPSUBW(Mem{Base: b, Index: i, Scale: 4}, v, v)
		VPMULLW(signs, v, squares)
		VPMADDWD(v, squares, squares)
		VPADDD(Mem{Base: columns, Index: i, Scale: 4}, squares, squares)
		set.store(squares, Mem{Base: columns, Index: i, Scale: 4})
	})
	leave()
}

// patchUnit is the number of patches of a round.
const patchUnit = 16

// weighPatches adds up columns and looks up weights.
func weighPatches(set isa, name string) {
	text(name, NOSPLIT, "func(weights, columns, table *byte, n, span int, shift, last uint32)", name+fmt.Sprintf(" computes, for n a multiple of %d,", patchUnit), "",
		"\tfor i := range n {", "\t\tsum := 0", "\t\tfor k := range span {", "\t\t\tsum += columns[i+k]", "\t\t}",
		"\t\tweights[i] = table[min(sum>>shift, last)]", "\t}")
	weights, columns, table, n, span, i := arg("weights"), arg("columns"), arg("table"), arg("n"), arg("span"), GP64()
	shift, last := wordArg("shift"), set.vec()
	VPBROADCASTD(wordArg("last"), last)
	loopTo(i, n, I32(patchUnit), func() {
		at, left := GP64(), GP64()
		LEAQ(Mem{Base: columns, Index: i, Scale: 4}, at)
		MOVQ(span, left)
		sums := make([]reg.VecVirtual, patchUnit*4/set.bytes())
		for v := range sums {
			sums[v] = zeroed(set)
		}
		Label("beside")
		for v, sum := range sums {
			VPADDD(Mem{Base: at, Disp: v * set.bytes()}, sum, sum)
		}
		ADDQ(Imm(4), at)
		DECQ(left)
		JNZ(LabelRef("beside"))
		for v, index := range sums {
			words := set.vec()
			VPSRLD(shift, index, index)
			VPMINUD(last, index, index)
			from := Mem{Base: table, Index: index, Scale: 4}
			if wide(set) {
				k := K()
				KXNORW(k, k, k)
				VPGATHERDD(from, k, words)
			} else {
				all := set.vec()
				VPCMPEQD(all, all, all)
				VPGATHERDD(all, from, words)
			}
			set.store(words, Mem{Base: weights, Index: i, Scale: 4, Disp: v * set.bytes()})
		}
	})
	leave()
}

// addPatches adds weighted pixels.
func addPatches(set isa, name string) {
	lanes := set.bytes() / 4
	text(name, NOSPLIT, "func(sums, totals, weights, pixels *byte, n int)", name+fmt.Sprintf(" computes, for n a multiple of %d,", lanes), "",
		"\tfor i := range n {", "\t\ttotals[i] += weights[i]", "\t\tsums[i] += weights[i] * pixels[i]", "\t}")
	sums, totals, weights, pixels, n, i := arg("sums"), arg("totals"), arg("weights"), arg("pixels"), arg("n"), GP64()
	loopTo(i, n, I32(lanes), func() {
		w, total, v := loaded(set, Mem{Base: weights, Index: i, Scale: 4}), set.vec(), bytesAsWords(set, pixels, i)
		VPADDD(Mem{Base: totals, Index: i, Scale: 4}, w, total)
		set.store(total, Mem{Base: totals, Index: i, Scale: 4})
		VPMULLD(w, v, v)
		VPADDD(Mem{Base: sums, Index: i, Scale: 4}, v, v)
		set.store(v, Mem{Base: sums, Index: i, Scale: 4})
	})
	leave()
}
