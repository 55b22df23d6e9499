package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// correlateSpan is the number of positions of a row that are computed together.
const correlateSpan = 64

// correlateU8 keeps a sum in every lane, and a vector of sums for each alignment of the template's
// pixels to a lane: four bytes for 512-bit dot products, or two words. Two rows of sums share the
// pixels that they load.
func correlateU8(set isa, name string) {
	text(name, NOSPLIT, "func(dst, src *byte, stride int, template *byte, width, rows int)", name+" is", "",
		"\tfor j := range 2 {", "\t\tfor x := range 64 {",
		"\t\t\tdst[64*j+x] = Σ src[(r+j)*stride+x+i] * template[r][i] // for r < rows and all i", "\t\t}", "\t}", "",
		"where a row of the template fills width lanes of 32 bits, and a row of zeros precedes and follows the template.")
	dst, src, stride, template, width, rows := arg("dst"), arg("src"), arg("stride"), arg("template"), arg("width"), arg("rows")
	phases, pixels := 4, 4 // pixels per lane
	if !wide(set) {
		phases, pixels = 2, 2
	}
	lanes := set.bytes() / 4
	each := 2 * phases * lanes // positions at once
	if wide(set) {
		each = phases * lanes
	}
	below := GP64() // the same row of the template, for the second row of sums
	SHLQ(Imm(2), width)
	for from := 0; from < correlateSpan; from += each {
		label := func(s string) string { return s + string(rune('A'+from/each)) }
		var sums [2][]reg.VecVirtual
		for j := range sums {
			for range each / lanes {
				v := set.vec()
				set.zero(v)
				sums[j] = append(sums[j], v)
			}
		}
		row, left, at, t := GP64(), GP64(), GP64(), GP64()
		LEAQ(Mem{Base: src, Disp: from}, row)
		MOVQ(template, below)
		LEAQ(Mem{Base: rows, Disp: 1}, left)
		Label(label("row"))
		MOVQ(row, at)
		XORQ(t, t)
		above := GP64()
		LEAQ(Mem{Base: below, Index: width, Scale: 1}, above)
		Label(label("lane"))
		first, second := set.vec(), set.vec()
		VPBROADCASTD(Mem{Base: above, Index: t, Scale: 1}, first)
		VPBROADCASTD(Mem{Base: below, Index: t, Scale: 1}, second)
		for k := range sums[0] {
			v := set.vec()
			m := Mem{Base: at, Disp: k%phases + k/phases*lanes*phases}
			if wide(set) {
				set.load(m, v)
				VPDPBUSD(first, v, sums[0][k])
				VPDPBUSD(second, v, sums[1][k])
				continue
			}
			VPMOVZXBW(m, v)
			p := set.vec()
			VPMADDWD(first, v, p)
			VPADDD(p, sums[0][k], sums[0][k])
			VPMADDWD(second, v, v)
			VPADDD(v, sums[1][k], sums[1][k])
		}
		ADDQ(Imm(uint64(pixels)), at)
		ADDQ(Imm(4), t)
		CMPQ(t, width)
		JL(LabelRef(label("lane")))
		ADDQ(stride, row)
		MOVQ(above, below)
		DECQ(left)
		JNE(LabelRef(label("row")))
		for j := range sums {
			for g := 0; g < len(sums[j]); g += phases {
				for k, v := range inPlaces(set, sums[j][g:][:phases]) {
					set.store(v, Mem{Base: dst, Disp: 4 * (j*correlateSpan + from + g*lanes + k*lanes)})
				}
			}
		}
	}
	leave()
}

// inPlaces reorders sums: lane i of vector k is position i*len(v)+k.
func inPlaces(set isa, v []reg.VecVirtual) []reg.VecVirtual {
	unpack := func(a, b reg.VecVirtual) (low, high reg.VecVirtual) {
		low, high = set.vec(), set.vec()
		VPUNPCKLDQ(b, a, low)
		VPUNPCKHDQ(b, a, high)
		return low, high
	}
	if !wide(set) {
		low, high := unpack(v[0], v[1])
		return []reg.VecVirtual{lanes2(low, high, 0x20), lanes2(low, high, 0x31)}
	}
	unpack64 := func(a, b reg.VecVirtual) (low, high reg.VecVirtual) {
		low, high = set.vec(), set.vec()
		VPUNPCKLQDQ(b, a, low)
		VPUNPCKHQDQ(b, a, high)
		return low, high
	}
	a, b := unpack(v[0], v[1])
	c, d := unpack(v[2], v[3])
	q0, q1 := unpack64(a, c)
	q2, q3 := unpack64(b, d)
	shuffle := func(a, b reg.VecVirtual, which uint64) reg.VecVirtual {
		d := set.vec()
		VSHUFF64X2(Imm(which), b, a, d)
		return d
	}
	even, odd := shuffle(q0, q1, 0x88), shuffle(q0, q1, 0xdd)
	even2, odd2 := shuffle(q2, q3, 0x88), shuffle(q2, q3, 0xdd)
	return []reg.VecVirtual{shuffle(even, even2, 0x88), shuffle(odd, odd2, 0x88), shuffle(even, even2, 0xdd), shuffle(odd, odd2, 0xdd)}
}
