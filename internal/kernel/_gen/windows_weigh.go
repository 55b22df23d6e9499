package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// weighBlock is the number of elements computed at a time: whole vectors at every level.
const weighBlock = 32

// weigh emits a kernel that adds rows of floats. Rows at the same distance from the middle share a
// weight. A whole block stays in registers while the rows pass.
func weigh(e elem) func(set isa, name string) {
	return func(set isa, name string) {
		text(name, NOSPLIT, "func(dst *byte, rows **byte, weights *byte, radius, n int)",
			name+fmt.Sprintf(" computes, for n a multiple of %d,", weighBlock), "", "\tfor i := range n {",
			"\t\tdst[i] = weights[0] * rows[0][i]",
			"\t\tfor k := 1; k <= radius; k++ {",
			"\t\t\tdst[i] += weights[k] * (rows[2*k-1][i] + rows[2*k][i])",
			"\t\t}", "\t}")
		dst, rows, weights, n, i := arg("dst"), arg("rows"), arg("weights"), arg("n"), GP64()
		row, weight, left, a, b := GP64(), GP64(), GP64(), GP64(), GP64()
		sums := make([]reg.VecVirtual, weighBlock*e.Bytes()/set.bytes())
		for v := range sums {
			sums[v] = set.vec()
		}
		times := set.vec()
		place := func(base reg.Register, v int) Mem {
			return Mem{Base: base, Index: i, Scale: uint8(e.Bytes()), Disp: v * set.bytes()}
		}
		next := func() {
			if e == f32 {
				VBROADCASTSS(Mem{Base: weight}, times)
			} else {
				VBROADCASTSD(Mem{Base: weight}, times)
			}
			ADDQ(Imm(uint64(e.Bytes())), weight)
		}
		multiply, add := VMULPS, VADDPS
		if e == f64 {
			multiply, add = VMULPD, VADDPD
		}
		loopTo(i, n, I32(weighBlock), func() {
			MOVQ(rows, row)
			MOVQ(weights, weight)
			MOVQ(param("radius"), left)
			MOVQ(Mem{Base: row}, a)
			next()
			for v, sum := range sums {
				multiply(place(a, v), times, sum)
			}
			Label("taps")
			CMPQ(left, Imm(0))
			JE(LabelRef("store"))
			MOVQ(Mem{Base: row, Disp: 8}, a)
			MOVQ(Mem{Base: row, Disp: 16}, b)
			ADDQ(Imm(16), row)
			next()
			for v, sum := range sums {
				both := loaded(set, place(a, v))
				add(place(b, v), both, both)
				multiply(times, both, both)
				add(both, sum, sum)
			}
			DECQ(left)
			JMP(LabelRef("taps"))
			Label("store")
			for v, sum := range sums {
				set.store(sum, place(dst, v))
			}
		})
		leave()
	}
}

// toFloats emits a kernel that converts pixels to floats.
func toFloats(pix elem) func(set isa, name string) {
	return func(set isa, name string) {
		lanes := set.bytes() / 4
		text(name, NOSPLIT, "func(dst, src *byte, n int)",
			name+fmt.Sprintf(" computes, for n a multiple of %d,", lanes), "", "\tfor i := range n {", "\t\tdst[i] = float32(src[i])", "\t}")
		dst, src, n, i := arg("dst"), arg("src"), arg("n"), GP64()
		loopTo(i, n, I32(lanes), func() {
			v := set.vec()
			from := Mem{Base: src, Index: i, Scale: uint8(pix.Bytes())}
			if pix == u8 {
				VPMOVZXBD(from, v)
			} else {
				VPMOVZXWD(from, v)
			}
			VCVTDQ2PS(v, v)
			set.store(v, Mem{Base: dst, Index: i, Scale: 4})
		})
		leave()
	}
}

// fromFloats emits a kernel that converts floats, which must be in range, to pixels.
func fromFloats(pix elem) func(set isa, name string) {
	return func(set isa, name string) {
		lanes := set.bytes() / 4
		text(name, NOSPLIT, "func(dst, src *byte, n int, half float32)",
			name+fmt.Sprintf(" computes, for n a multiple of %d,", lanes), "", "\tfor i := range n {", fmt.Sprintf("\t\tdst[i] = %v(src[i] + half)", pix), "\t}")
		half := set.vec()
		VBROADCASTSS(param("half"), half)
		dst, src, n, i := arg("dst"), arg("src"), arg("n"), GP64()
		loopTo(i, n, I32(lanes), func() {
			v := loaded(set, Mem{Base: src, Index: i, Scale: 4})
			VADDPS(half, v, v)
			VCVTTPS2DQ(v, v)
			narrow(set, pix, v, Mem{Base: dst, Index: i, Scale: uint8(pix.Bytes())})
		})
		leave()
	}
}
