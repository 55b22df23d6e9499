package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tripleRows equals windows.tripleRows.
const tripleRows = 16

// tripleIn transposes sixteen rows of bytes into columns of sixteen 16-bit lanes.
func tripleIn(_ isa, name string) {
	text(name, NOSPLIT, "func(dst *byte, rows **byte, n int)", name+" computes, for n a multiple of 16,", "",
		"\tfor i := range n {", "\t\tfor r := range 16 {", "\t\t\tdst[16*i+r] = uint16(rows[r][i])", "\t\t}", "\t}")
	dst, rows, n, i := arg("dst"), arg("rows"), arg("n"), GP64()
	loopTo(i, n, Imm(16), func() {
		at := func(r int) Mem {
			p := GP64()
			MOVQ(Mem{Base: rows, Disp: 8 * r}, p)
			return Mem{Base: p, Index: i, Scale: 1}
		}
		var v [8]reg.VecVirtual
		for r := range v {
			v[r] = pairOf(at(r), at(r+8)) // rows r and r+8
		}
		// Three rounds leave two columns in each vector. The lower half has rows 0 to 7 of both.
		for range 3 {
			var w [8]reg.VecVirtual
			for r := range 4 {
				w[2*r], w[2*r+1] = interleaved(VPUNPCKLBW, VPUNPCKHBW, v[r], v[r+4])
			}
			v = w
		}
		for r := range v {
			VPERMQ(Imm(0xd8), v[r], v[r])
			low, high, half := YMM(), YMM(), XMM()
			VPMOVZXBW(v[r].AsX(), low)
			VEXTRACTI128(Imm(1), v[r], half)
			VPMOVZXBW(half, high)
			VMOVDQU(low, Mem{Base: dst, Disp: 64 * r})
			VMOVDQU(high, Mem{Base: dst, Disp: 64*r + 32})
		}
		ADDQ(I32(512), dst)
	})
	leave()
}

// tripleOut transposes 16-bit results back into sixteen rows.
func tripleOut(_ isa, name string) {
	text(name, NOSPLIT, "func(rows **byte, src *byte, n int)", name+" computes, for n a multiple of 16,", "",
		"\tfor i := range n {", "\t\tfor r := range 16 {", "\t\t\trows[r][i] = src[16*i+r]", "\t\t}", "\t}")
	rows, src, n, i := arg("rows"), arg("src"), arg("n"), GP64()
	loopTo(i, n, Imm(16), func() {
		for half := range 2 {
			var v [8]reg.VecVirtual
			for p := range v { // pixels p and p+8
				v[p] = pairOf(Mem{Base: src, Disp: 32*p + 16*half}, Mem{Base: src, Disp: 32*(p+8) + 16*half})
			}
			for range 3 {
				var w [8]reg.VecVirtual
				for r := range 4 {
					w[2*r], w[2*r+1] = interleaved(VPUNPCKLWD, VPUNPCKHWD, v[r], v[r+4])
				}
				v = w
			}
			for r := range v {
				p := GP64()
				MOVQ(Mem{Base: rows, Disp: 8 * (8*half + r)}, p)
				VMOVDQU(v[r], Mem{Base: p, Index: i, Scale: 2})
			}
		}
		ADDQ(I32(512), src)
	})
	leave()
}

// scaledTriple scales two vectors of sums and packs them as one vector of 16 bits.
func scaledTriple(low, high, factor reg.VecVirtual) reg.VecVirtual {
	a, b := YMM(), YMM()
	for _, p := range [2][2]reg.VecVirtual{{low, a}, {high, b}} {
		VCVTDQ2PS(p[0], p[1])
		VMULPS(factor, p[1], p[1])
		VCVTPS2DQ(p[1], p[1])
	}
	VPACKUSDW(b, a, a)
	return a
}

func tripleAcross(_ isa, name string) {
	text(name, NOSPLIT, "func(src *byte, n, step int, taps *int, factor float32)", name+" computes, in each of 16 lanes and with step in bytes,", "",
		"\tfor i := range n {", "\t\td := src[i] - src[i-taps[1]] + src[i-taps[2]] - src[i-taps[3]] + …", "\t\tfirst += d", "\t\tsecond += first", "\t\tthird += second",
		"\t\tsrc[i-taps[7]] = uint16(roundToEven(float32(third) * factor))", "\t}")
	src, n, step, taps := arg("src"), arg("n"), arg("step"), arg("taps")
	factor := YMM()
	VBROADCASTSS(param("factor"), factor)
	at := [8]reg.GPVirtual{src}
	for i := 1; i < len(at); i++ {
		at[i] = GP64()
		MOVQ(Mem{Base: taps, Disp: 8 * i}, at[i])
		IMULQ(step, at[i])
		NEGQ(at[i])
		ADDQ(src, at[i])
	}
	i := GP64()
	XORQ(i, i)
	IMULQ(step, n)
	var s [5]reg.VecVirtual // the first sum, and two of each of the others
	for j := range s {
		s[j] = YMM()
		VPXOR(s[j], s[j], s[j])
	}
	Label("loop")
	CMPQ(i, n)
	JGE(LabelRef("done"))
	v := YMM()
	VMOVDQU(Mem{Base: at[0], Index: i, Scale: 1}, v)
	for j := 1; j < len(at); j++ {
		if j%2 == 1 {
			VPSUBW(Mem{Base: at[j], Index: i, Scale: 1}, v, v)
		} else {
			VPADDW(Mem{Base: at[j], Index: i, Scale: 1}, v, v)
		}
	}
	VPADDW(v, s[0], s[0])
	low, high := interleaved(VPUNPCKLWD, VPUNPCKHWD, s[0], s[0])
	VPSRAD(Imm(16), low, low)
	VPSRAD(Imm(16), high, high)
	VPADDD(low, s[1], s[1])
	VPADDD(high, s[2], s[2])
	VPADDD(s[1], s[3], s[3])
	VPADDD(s[2], s[4], s[4])
	VMOVDQU(scaledTriple(s[3], s[4], factor), Mem{Base: at[7], Index: i, Scale: 1})
	ADDQ(step, i)
	JMP(LabelRef("loop"))
	Label("done")
	leave()
}

func tripleDown(set isa, name string) {
	lanes := set.bytes() / 2
	text(name, NOSPLIT, "func(dst, state *byte, rows **byte, n int, factor float32)", name+fmt.Sprintf(" computes, for n a multiple of %d,", lanes), "",
		"\tfor i := range n {", "\t\td := rows[0][i] - rows[1][i] + rows[2][i] - rows[3][i] + …", "\t\tfirst[i] += d", "\t\tsecond[i] += first[i]", "\t\tthird[i] += second[i]",
		"\t\tdst[i] = uint8(roundToEven(float32(third[i]/2) * factor))", "\t}", "", "where dst may be nil. The order of the sums in state is private.")
	dst, state, rows, n, i := arg("dst"), arg("state"), arg("rows"), arg("n"), GP64()
	factor, ones := set.vec(), set.vec()
	VBROADCASTSS(param("factor"), factor)
	set.ones(ones)
	VPSRLW(Imm(15), ones, ones)
	var at [8]reg.GPVirtual
	for j := range at {
		at[j] = GP64()
		MOVQ(Mem{Base: rows, Disp: 8 * j}, at[j])
	}
	XORQ(i, i)
	Label("loop")
	CMPQ(i, n)
	JGE(LabelRef("done"))
	var d [4]reg.VecVirtual
	for j := range d {
		d[j] = loaded(set, Mem{Base: at[2*j], Index: i, Scale: 2})
		VPSUBW(Mem{Base: at[2*j+1], Index: i, Scale: 2}, d[j], d[j])
	}
	var sums [2]reg.VecVirtual
	for half, unpack := range []func(...Op){VPUNPCKLWD, VPUNPCKHWD} {
		sums[half] = set.vec()
		other := set.vec()
		unpack(d[1], d[0], sums[half])
		unpack(d[3], d[2], other)
		VPMADDWD(ones, sums[half], sums[half])
		VPMADDWD(ones, other, other)
		VPADDD(other, sums[half], sums[half])
	}
	for s := range 3 {
		for half, v := range sums {
			m := Mem{Base: state, Disp: (2*s + half) * set.bytes()}
			VPADDD(m, v, v)
			set.store(v, m)
		}
	}
	TESTQ(dst, dst)
	JZ(LabelRef("next"))
	for _, v := range sums {
		VPSRLD(Imm(1), v, v)
		VCVTDQ2PS(v, v)
		VMULPS(factor, v, v)
		VCVTPS2DQ(v, v)
	}
	VPACKUSDW(sums[1], sums[0], sums[0])
	to := Mem{Base: dst, Index: i, Scale: 1}
	if wide(set) {
		VPMOVUSWB(sums[0], to)
	} else {
		narrowWords(set, sums[0], to)
	}
	Label("next")
	ADDQ(I32(6*set.bytes()), state)
	ADDQ(I32(lanes), i)
	JMP(LabelRef("loop"))
	Label("done")
	leave()
}
