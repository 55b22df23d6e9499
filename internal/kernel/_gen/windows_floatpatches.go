package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// numberInAll returns a vector with a float64 constant in all lanes.
func numberInAll(set isa, number float64) reg.VecVirtual {
	t, x, v := GP64(), XMM(), set.vec()
	MOVQ(U64(math.Float64bits(number)), t)
	VMOVQ(t, x)
	VBROADCASTSD(x, v)
	return v
}

// slideFloats moves the sums of squared differences of floats down by a row.
func slideFloats(set isa, name string) {
	lanes := set.bytes() / 8
	text(name, NOSPLIT, "func(columns, a, b, c, d *byte, n int)", name+fmt.Sprintf(" computes, for n a multiple of %d,", lanes), "",
		"\tfor i := range n {", "\t\tenter, leave := a[i]-b[i], c[i]-d[i]", "\t\tcolumns[i] += enter*enter - leave*leave", "\t}")
	columns, a, b, c, d, n, i := arg("columns"), arg("a"), arg("b"), arg("c"), arg("d"), arg("n"), GP64()
	loopTo(i, n, I32(lanes), func() {
		enter, leave := loaded(set, Mem{Base: a, Index: i, Scale: 8}), loaded(set, Mem{Base: c, Index: i, Scale: 8})
		VSUBPD(Mem{Base: b, Index: i, Scale: 8}, enter, enter)
		VSUBPD(Mem{Base: d, Index: i, Scale: 8}, leave, leave)
		VMULPD(enter, enter, enter)
		VMULPD(leave, leave, leave)
		VSUBPD(leave, enter, enter)
		VADDPD(Mem{Base: columns, Index: i, Scale: 8}, enter, enter)
		set.store(enter, Mem{Base: columns, Index: i, Scale: 8})
	})
	leave()
}

// floatPatchUnit is the number of patches of a round of weighFloats.
const floatPatchUnit = 8

// weighFloats adds up columns and computes weights close to exponentials.
func weighFloats(set isa, name string) {
	text(name, NOSPLIT, "func(weights, columns *byte, n, span int, bias, scale float64)", name+fmt.Sprintf(" computes, for n a multiple of %d,", floatPatchUnit), "",
		"\tfor i := range n {", "\t\tsum := columns[i]", "\t\tfor k := 1; k < span; k++ {", "\t\t\tsum += columns[i+k]", "\t\t}",
		"\t\tweights[i] = 0", "\t\tif d := max(sum-bias, 0) * scale; d <= farthest {",
		"\t\t\tweights[i] = math.Float64frombits(uint64(int32(expScale*d)+expZero) << 32)", "\t\t}", "\t}")
	weights, columns, n, span, i := arg("weights"), arg("columns"), arg("n"), arg("span"), GP64()
	bias, scale := broadcast(set, "bias"), broadcast(set, "scale")
	farthest, slope, offset, zero := numberInAll(set, 5), numberInAll(set, -1512775.3951951856938), bitsInAll(set, 1072632447), zeroed(set)
	lanes := set.bytes() / 8
	loopTo(i, n, I32(floatPatchUnit), func() {
		at, left := GP64(), GP64()
		LEAQ(Mem{Base: columns, Index: i, Scale: 8}, at)
		MOVQ(span, left)
		sums := make([]reg.VecVirtual, floatPatchUnit/lanes)
		for v := range sums {
			sums[v] = loaded(set, Mem{Base: at, Disp: v * set.bytes()})
		}
		JMP(LabelRef("columns"))
		Label("beside")
		for v, sum := range sums {
			VADDPD(Mem{Base: at, Disp: v * set.bytes()}, sum, sum)
		}
		Label("columns")
		ADDQ(Imm(8), at)
		DECQ(left)
		JNZ(LabelRef("beside"))
		for v, d := range sums {
			VSUBPD(bias, d, d)
			VMAXPD(d, zero, d) // NaN remains
			VMULPD(scale, d, d)
			w := set.vec()
			VMULPD(slope, d, w)
			const atMost = 18
			if wide(set) {
				k, half := K(), YMM()
				VCMPPD(Imm(atMost), farthest, d, k)
				VCVTTPD2DQ(w, half)
				VPADDD(offset.AsY(), half, half)
				VPMOVZXDQ(half, w)
				VPSLLQ_Z(Imm(32), w, k, w)
			} else {
				half := XMM()
				VCMPPD(Imm(atMost), farthest, d, d)
				VCVTTPD2DQY(w, half)
				VPADDD(offset.AsX(), half, half)
				VPMOVZXDQ(half, w)
				VPSLLQ(Imm(32), w, w)
				VPAND(d, w, w)
			}
			set.store(w, Mem{Base: weights, Index: i, Scale: 8, Disp: v * set.bytes()})
		}
	})
	leave()
}

// addFloats adds weighted floats.
func addFloats(set isa, name string) {
	lanes := set.bytes() / 8
	text(name, NOSPLIT, "func(sums, totals, weights, pixels *byte, n int)", name+fmt.Sprintf(" computes, for n a multiple of %d,", lanes), "",
		"\tfor i := range n {", "\t\ttotals[i] += weights[i]", "\t\tsums[i] += weights[i] * pixels[i]", "\t}")
	sums, totals, weights, pixels, n, i := arg("sums"), arg("totals"), arg("weights"), arg("pixels"), arg("n"), GP64()
	loopTo(i, n, I32(lanes), func() {
		w, v := loaded(set, Mem{Base: weights, Index: i, Scale: 8}), set.vec()
		VMULPD(Mem{Base: pixels, Index: i, Scale: 8}, w, v)
		VADDPD(Mem{Base: totals, Index: i, Scale: 8}, w, w)
		set.store(w, Mem{Base: totals, Index: i, Scale: 8})
		VADDPD(Mem{Base: sums, Index: i, Scale: 8}, v, v)
		set.store(v, Mem{Base: sums, Index: i, Scale: 8})
	})
	leave()
}
