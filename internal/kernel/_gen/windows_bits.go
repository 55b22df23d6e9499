package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// byteLoop emits a loop over n bytes, a vector at a time.
func byteLoop(set isa, body func(at func(base reg.Register) Mem)) {
	n, i := arg("n"), GP64()
	loopTo(i, n, I32(set.bytes()), func() {
		body(func(base reg.Register) Mem { return Mem{Base: base, Index: i, Scale: 1} })
	})
	leave()
}

// everyByte broadcasts an argument to all bytes of a vector.
func everyByte(set isa, name string) reg.VecVirtual {
	v := set.vec()
	VPBROADCASTB(wordArg(name), v)
	return v
}

func atLeast(set isa, name string) {
	text(name, NOSPLIT, "func(dst, a, b *byte, n int, more, flip uint32)",
		name+fmt.Sprintf(" computes, for n a multiple of %d and with sums clamped to 255,", set.bytes()), "", "\tfor i := range n {",
		"\t\tdst[i] = (255 if a[i]+more >= b[i], else 0) ^ flip", "\t}")
	dst, a, b := arg("dst"), arg("a"), arg("b")
	more, flip := everyByte(set, "more"), everyByte(set, "flip")
	byteLoop(set, func(at func(reg.Register) Mem) {
		v, w := loaded(set, at(a)), loaded(set, at(b))
		VPADDUSB(more, v, v)
		notLess(set, v, w, w)
		xorBytes(set, flip, w, w)
		set.store(w, at(dst))
	})
}

// contrast emits the local contrast of bytes. The quotient is far enough from integers for float32;
// see kernel.ContrastOf.
func contrast(set isa, name string) {
	lanes := set.bytes() / 4
	text(name, NOSPLIT, "func(dst, above, row, below *byte, n int)", name+fmt.Sprintf(" computes, for n a multiple of %d,", 4*lanes), "", "\tfor i := range n {",
		"\t\tleast, most := those of above[i:i+3], row[i:i+3] and below[i:i+3]",
		"\t\tdst[i] = uint8((255*(most-least) - 0.5) / (most + least)) // 0 where they are equal", "\t}", "", "in float32.")
	dst, above, row, below := arg("dst"), arg("above"), arg("row"), arg("below")
	scale, half, one := bitsInAll(set, 0x437f0000), bitsInAll(set, 0x3f000000), bitsInAll(set, 0x3f800000)
	byteLoop(set, func(at func(reg.Register) Mem) {
		var least, most reg.VecVirtual
		for _, base := range []reg.Register{above, row, below} {
			for x := range 3 {
				v := loaded(set, at(base).Offset(x))
				if least == nil {
					least, most = v, set.vec()
					move(set, v, most)
					continue
				}
				VPMINUB(v, least, least)
				VPMAXUB(v, most, most)
			}
		}
		parts := make([]reg.VecVirtual, 4)
		for q := range parts { // a quarter of the bytes
			l, m := quarter(set, least, q), quarter(set, most, q)
			sum := set.vec()
			VADDPS(l, m, sum)
			VSUBPS(l, m, m)
			VMULPS(scale, m, m)
			VSUBPS(half, m, m)
			VMAXPS(one, sum, sum) // avoids division by zero where all pixels are black
			VDIVPS(sum, m, m)
			VCVTTPS2DQ(m, m)
			parts[q] = m
		}
		if wide(set) {
			for q, v := range parts {
				VPMOVDB(v, at(dst).Offset(q*lanes))
			}
			return
		}
		for q, v := range parts {
			narrow(set, u8, v, at(dst).Offset(q*lanes))
		}
	})
}

func keepContrast(set isa, name string) {
	text(name, NOSPLIT, "func(dst, contrast *byte, n int, level uint32)", name+fmt.Sprintf(" computes, for n a multiple of %d,", set.bytes()), "",
		"\tfor i := range n {", "\t\tdst[i] |= 1 if contrast[i] <= level, else 0", "\t}")
	dst, from, level, ones := arg("dst"), arg("contrast"), everyByte(set, "level"), onesOf(set)
	byteLoop(set, func(at func(reg.Register) Mem) {
		c := loaded(set, at(from))
		notLess(set, level, c, c)
		andBytes(set, ones, c, c)
		set.orMem(at(dst), c)
		set.store(c, at(dst))
	})
}

func maskContrast(set isa, name string) {
	text(name, NOSPLIT, "func(values, mask, row *byte, n int, level uint32)", name+fmt.Sprintf(" computes, for n a multiple of %d,", set.bytes()), "",
		"\tfor i := range n {", "\t\tmask[i] = 1 if mask[i] > level, else 0", "\t\tvalues[i] = row[i] * mask[i]", "\t}")
	values, mask, row, level, ones := arg("values"), arg("mask"), arg("row"), everyByte(set, "level"), onesOf(set)
	byteLoop(set, func(at func(reg.Register) Mem) {
		c, v := loaded(set, at(mask)), loaded(set, at(row))
		notLess(set, level, c, c) // 255 where there is no contrast
		if wide(set) {
			VPANDND(v, c, v)
			VPANDND(ones, c, c)
		} else {
			VPANDN(v, c, v)
			VPANDN(ones, c, c)
		}
		set.store(v, at(values))
		set.store(c, at(mask))
	})
}

// packBits first reverses each eight bytes, so that the first pixel becomes the highest bit.
func packBits(set isa, name string) {
	text(name, NOSPLIT, "func(dst, src *byte, n int)", name+fmt.Sprintf(" computes, for n a multiple of %d,", set.bytes()), "",
		"\tfor i := range n {", "\t\tbit 7-i%8 of dst[i/8] = src[i] < 128", "\t}")
	dst, src := arg("dst"), arg("src")
	order, low, high := set.vec(), GP64(), GP64()
	x, y := XMM(), XMM()
	MOVQ(U64(0x0001020304050607), low)
	MOVQ(U64(0x08090a0b0c0d0e0f), high)
	VMOVQ(low, x)
	VMOVQ(high, y)
	VPUNPCKLQDQ(y, x, x)
	if wide(set) {
		VSHUFI32X4(Imm(0), x.AsZ(), x.AsZ(), order)
	} else {
		VINSERTI128(Imm(1), x, x.AsY(), order)
	}
	byteLoop(set, func(at func(reg.Register) Mem) {
		v := loaded(set, at(src))
		VPSHUFB(order, v, v)
		if wide(set) {
			k, bits := K(), GP64()
			VPMOVB2M(v, k)
			KMOVQ(k, bits)
			NOTQ(bits)
			MOVQ(bits, Mem{Base: dst})
			ADDQ(Imm(8), dst)
			return
		}
		bits := GP32()
		VPMOVMSKB(v, bits)
		NOTL(bits)
		MOVL(bits, Mem{Base: dst})
		ADDQ(Imm(4), dst)
	})
}
