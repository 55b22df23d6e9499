package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// slideLevels moves a histogram of bytes with counts of 16 bits, and finds the levels that it has.
func slideLevels(set isa, name string) {
	text(name, NOSPLIT, "func(window, in, out, present *byte)", name+" computes", "", "\tfor i := range 256 {",
		"\t\twindow[i] += in[i] - out[i]", "\t\tpresent[i/64] |= bit(window[i] != 0) << (i % 64) // present is 0 before", "\t}")
	window, in, out, present := arg("window"), arg("in"), arg("out"), arg("present")
	zero := zeroed(set)
	var word reg.GPVirtual
	for i := 0; i < 512; i += 64 { // 32 counts
		bits := GP64()
		if wide(set) {
			v, k := loaded(set, Mem{Base: window, Disp: i}), K()
			VPADDW(Mem{Base: in, Disp: i}, v, v)
			VPSUBW(Mem{Base: out, Disp: i}, v, v)
			set.store(v, Mem{Base: window, Disp: i})
			VPTESTMW(v, v, k)
			KMOVD(k, bits.As32())
		} else {
			low, high := set.vec(), set.vec()
			for half, v := range []Op{low, high} {
				at := i + 32*half
				VMOVDQU(Mem{Base: window, Disp: at}, v)
				VPADDW(Mem{Base: in, Disp: at}, v, v)
				VPSUBW(Mem{Base: out, Disp: at}, v, v)
				VMOVDQU(v, Mem{Base: window, Disp: at})
				VPCMPEQW(zero, v, v)
			}
			VPACKSSWB(high, low, low)
			VPERMQ(Imm(0xd8), low, low) // it packs each half of a vector
			VPMOVMSKB(low, bits.As32())
			NOTL(bits.As32())
		}
		if i%128 == 0 {
			word = bits
			continue
		}
		SHLQ(Imm(32), bits)
		ORQ(bits, word)
		MOVQ(word, Mem{Base: present, Disp: i / 128 * 8}) // whole words, which loads can be served from
	}
	leave()
}

// notAboveUnit is the number of bytes of a round of countNotAbove.
const notAboveUnit = 64

// countNotAbove compares bytes with those beside them.
func countNotAbove(set isa, name string) {
	text(name, NOSPLIT, "func(counts, center, src *byte, n, span int)", name+fmt.Sprintf(" computes, for n a multiple of %d,", notAboveUnit), "",
		"\tfor i := range n {", "\t\tfor j := range span {", "\t\t\tcounts[i] += bit(src[i+j] <= center[i])", "\t\t}", "\t}")
	counts, center, src, n, span, i := arg("counts"), arg("center"), arg("src"), arg("n"), arg("span"), GP64()
	var ones reg.VecVirtual
	if wide(set) {
		ones = onesOf(set)
	}
	loopTo(i, n, I32(notAboveUnit), func() {
		at, j := GP64(), GP64()
		LEAQ(Mem{Base: src, Index: i, Scale: 1}, at)
		MOVQ(span, j)
		var sums, centers []reg.VecVirtual
		for disp := 0; disp < notAboveUnit; disp += set.bytes() {
			sums = append(sums, loaded(set, Mem{Base: counts, Index: i, Scale: 1, Disp: disp}))
			centers = append(centers, loaded(set, Mem{Base: center, Index: i, Scale: 1, Disp: disp}))
		}
		Label("beside")
		for v, sum := range sums {
			m := Mem{Base: at, Disp: v * set.bytes()}
			if wide(set) {
				k := K()
				VPCMPUB(Imm(5), m, centers[v], k) // not less
				VPADDB(ones, sum, k, sum)
			} else {
				equal := set.vec()
				VPMAXUB(m, centers[v], equal)
				VPCMPEQB(centers[v], equal, equal)
				VPSUBB(equal, sum, sum)
			}
		}
		INCQ(at)
		DECQ(j)
		JNZ(LabelRef("beside"))
		for v, sum := range sums {
			set.store(sum, Mem{Base: counts, Index: i, Scale: 1, Disp: v * set.bytes()})
		}
	})
	leave()
}
