package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// weighBlock is the number of elements that n is a multiple of in weigh: whole vectors at every level.
const weighBlock = 32

// weigh emits a kernel that weighs floats and stores the results as elements of another type. Floats at the
// same distance from the middle share a weight. Some vectors stay in registers while the neighbors pass.
func weigh(e, to elem) func(set isa, name string) {
	return func(set isa, name string) {
		doc := []string{name + fmt.Sprintf(" computes, for n a multiple of %d and neighbors step bytes apart,", weighBlock), "",
			"\tfor y := range rows {", "\t\tfor i := range n {",
			"\t\t\tsum := weights[0] * src[y][i+radius]",
			"\t\t\tfor k := 1; k <= radius; k++ {",
			"\t\t\t\tsum += weights[k] * (src[y][i+radius-k] + src[y][i+radius+k])",
			"\t\t\t}", "\t\t\tdst[y][i] = sum", "\t\t}", "\t}"}
		if e != to {
			doc[8] = fmt.Sprintf("\t\t\tdst[y][i] = %v(sum + 0.5)", to)
		}
		text(name, NOSPLIT, "func(dst, src, weights *byte, radius, step, n, rows, dstStride, srcStride int)", doc...)
		var half reg.VecVirtual
		if e != to {
			half = bitsInAll(set, math.Float32bits(0.5))
		}
		dst, middle, weights, step, n, rows, i := arg("dst"), arg("src"), arg("weights"), arg("step"), arg("n"), arg("rows"), GP64()
		weight, left, a, b := GP64(), GP64(), GP64(), GP64()
		MOVQ(step, a)
		IMULQ(param("radius"), a)
		ADDQ(a, middle)
		times := set.vec()
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
		// block emits a loop over i that runs while n has this many bytes left.
		block := func(label string, bytes int) {
			sums := make([]reg.VecVirtual, bytes/set.bytes())
			place := func(base reg.Register, v int) Mem { return Mem{Base: base, Disp: v * set.bytes()} }
			Label(label)
			LEAQ(Mem{Base: i, Disp: bytes / e.Bytes()}, a)
			CMPQ(a, n)
			JGT(LabelRef(label + "Done"))
			LEAQ(Mem{Base: middle, Index: i, Scale: uint8(e.Bytes())}, a)
			MOVQ(a, b)
			MOVQ(weights, weight)
			MOVQ(param("radius"), left)
			next()
			for v := range sums {
				sums[v] = set.vec()
				multiply(place(a, v), times, sums[v])
			}
			Label(label + "Neighbors")
			TESTQ(left, left)
			JE(LabelRef(label + "Store"))
			SUBQ(step, a)
			ADDQ(step, b)
			next()
			for v, sum := range sums {
				both := loaded(set, place(a, v))
				add(place(b, v), both, both)
				multiply(times, both, both)
				add(both, sum, sum)
			}
			DECQ(left)
			JMP(LabelRef(label + "Neighbors"))
			Label(label + "Store")
			for v, sum := range sums {
				at := Mem{Base: dst, Index: i, Scale: uint8(to.Bytes()), Disp: v * set.bytes() / e.Bytes() * to.Bytes()}
				if e == to {
					set.store(sum, at)
				} else {
					add(half, sum, sum)
					VCVTTPS2DQ(sum, sum)
					narrow(set, to, sum, at)
				}
			}
			ADDQ(I32(bytes/e.Bytes()), i)
			JMP(LabelRef(label))
			Label(label + "Done")
		}
		Label("row")
		XORQ(i, i)
		block("wide", 256)
		if least := weighBlock * e.Bytes(); least < 256 {
			block("narrow", least)
		}
		ADDQ(param("dstStride"), dst)
		ADDQ(param("srcStride"), middle)
		DECQ(rows)
		JNZ(LabelRef("row"))
		leave()
	}
}

// convertRows emits a kernel that converts the elements of rows: a vector of floats at a time.
func convertRows(set isa, dst, src reg.Register, convert func(i reg.Register)) {
	n, rows, i := arg("n"), arg("rows"), GP64()
	Label("row")
	XORQ(i, i)
	Label("loop")
	convert(i)
	ADDQ(Imm(uint64(set.bytes()/4)), i)
	CMPQ(i, n)
	JLT(LabelRef("loop"))
	ADDQ(param("dstStride"), dst)
	ADDQ(param("srcStride"), src)
	DECQ(rows)
	JNZ(LabelRef("row"))
	leave()
}

// toFloats emits a kernel that converts pixels to floats.
func toFloats(pix elem) func(set isa, name string) {
	return func(set isa, name string) {
		text(name, NOSPLIT, "func(dst, src *byte, n, rows, dstStride, srcStride int)",
			name+fmt.Sprintf(" computes, for n a multiple of %d,", set.bytes()/4), "",
			"\tfor y := range rows {", "\t\tfor i := range n {", "\t\t\tdst[y][i] = float32(src[y][i])", "\t\t}", "\t}")
		dst, src := arg("dst"), arg("src")
		convertRows(set, dst, src, func(i reg.Register) {
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
	}
}

// fromFloats emits a kernel that converts floats, which must be in range, to pixels.
func fromFloats(pix elem) func(set isa, name string) {
	return func(set isa, name string) {
		text(name, NOSPLIT, "func(dst, src *byte, n, rows, dstStride, srcStride int, half float32)",
			name+fmt.Sprintf(" computes, for n a multiple of %d,", set.bytes()/4), "",
			"\tfor y := range rows {", "\t\tfor i := range n {", fmt.Sprintf("\t\t\tdst[y][i] = %v(src[y][i] + half)", pix), "\t\t}", "\t}")
		half := set.vec()
		VBROADCASTSS(param("half"), half)
		dst, src := arg("dst"), arg("src")
		convertRows(set, dst, src, func(i reg.Register) {
			v := loaded(set, Mem{Base: src, Index: i, Scale: 4})
			VADDPS(half, v, v)
			VCVTTPS2DQ(v, v)
			narrow(set, pix, v, Mem{Base: dst, Index: i, Scale: uint8(pix.Bytes())})
		})
	}
}
