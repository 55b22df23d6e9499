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

// slidePatches moves the sums of squared differences down by a row.
func slidePatches(set isa, name string) {
	lanes := set.bytes() / 4
	text(name, NOSPLIT, "func(columns, a, b, c, d *byte, n int)", name+fmt.Sprintf(" computes, for n a multiple of %d,", lanes), "",
		"\tfor i := range n {", "\t\tenter, leave := a[i]-b[i], c[i]-d[i]", "\t\tcolumns[i] += enter*enter - leave*leave", "\t}")
	columns, a, b, c, d, n, i := arg("columns"), arg("a"), arg("b"), arg("c"), arg("d"), arg("n"), GP64()
	loopTo(i, n, I32(lanes), func() {
		v := loaded(set, Mem{Base: columns, Index: i, Scale: 4})
		for _, pair := range []struct {
			first, second reg.Register
			add           func(...Op)
		}{{a, b, VPADDD}, {c, d, VPSUBD}} {
			difference := bytesAsWords(set, pair.first, i)
			VPSUBD(bytesAsWords(set, pair.second, i), difference, difference)
			VPMULLD(difference, difference, difference)
			pair.add(difference, v, v)
		}
		set.store(v, Mem{Base: columns, Index: i, Scale: 4})
	})
	leave()
}

// weighPatches looks up weights.
func weighPatches(set isa, name string) {
	lanes := set.bytes() / 4
	text(name, NOSPLIT, "func(weights, high, low, table *byte, n int, shift, last uint32)", name+fmt.Sprintf(" computes, for n a multiple of %d,", lanes), "",
		"\tfor i := range n {", "\t\tweights[i] = table[min((high[i]-low[i])>>shift, last)]", "\t}")
	weights, high, low, table, n, i := arg("weights"), arg("high"), arg("low"), arg("table"), arg("n"), GP64()
	shift, last := wordArg("shift"), set.vec()
	VPBROADCASTD(wordArg("last"), last)
	loopTo(i, n, I32(lanes), func() {
		index, words := loaded(set, Mem{Base: high, Index: i, Scale: 4}), set.vec()
		VPSUBD(Mem{Base: low, Index: i, Scale: 4}, index, index)
		VPSRLD(shift, index, index)
		VPMINUD(last, index, index)
		at := Mem{Base: table, Index: index, Scale: 4}
		if wide(set) {
			k := K()
			KXNORW(k, k, k)
			VPGATHERDD(at, k, words)
		} else {
			all := set.vec()
			VPCMPEQD(all, all, all)
			VPGATHERDD(all, at, words)
		}
		set.store(words, Mem{Base: weights, Index: i, Scale: 4})
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
