package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func fillU8(set isa, name string) {
	text(name, NOSPLIT, "func(dst, src *byte, stride, rows int, center float32, energy *byte)", name+" is", "",
		"\tfor y := range rows {", "\t\tfor i := range 16 {", "\t\t\tv := float32(src[y*stride+i]) - center",
		"\t\t\tdst[32*y+i] = v", "\t\t\tenergy[i] += v * v", "\t\t}", "\t}")
	f := &floats{set, f32}
	dst, src, stride, rows, energy := arg("dst"), arg("src"), arg("stride"), arg("rows"), arg("energy")
	center := f.all(param("center"))
	n := lineBytes / set.bytes()
	sums := make([]reg.VecVirtual, n)
	for i := range sums {
		sums[i] = loaded(set, Mem{Base: energy, Disp: i * set.bytes()})
	}
	Label("row")
	TESTQ(rows, rows)
	JE(LabelRef("done"))
	for i, sum := range sums {
		v := set.vec()
		VPMOVZXBD(Mem{Base: src, Disp: i * set.bytes() / 4}, v)
		VCVTDQ2PS(v, v)
		VSUBPS(center, v, v)
		set.store(v, Mem{Base: dst, Disp: i * set.bytes()})
		VMULPS(v, v, v)
		VADDPS(v, sum, sum)
	}
	ADDQ(I32(pointBytes), dst)
	ADDQ(stride, src)
	DECQ(rows)
	JMP(LabelRef("row"))
	Label("done")
	for i, sum := range sums {
		set.store(sum, Mem{Base: energy, Disp: i * set.bytes()})
	}
	leave()
}

func scoresF32(set isa, name string) {
	text(name, NOSPLIT, "func(dst *byte, stride int, src *byte, rows int, bias float32)", name+" is", "",
		"\tfor y := range rows {", "\t\tfor i := range 16 {",
		"\t\t\tdst[y*stride+i] = clamp((src[32*y+i] + bias) * dst[y*stride+i])", "\t\t}", "\t}", "", "with the stride in bytes.")
	f := &floats{set, f32}
	dst, stride, src, rows := arg("dst"), arg("stride"), arg("src"), arg("rows")
	bias := f.all(param("bias"))
	one, less := bitsInAll(set, 0x3f800000), bitsInAll(set, 0xbf800000) // 1 and -1
	Label("row")
	TESTQ(rows, rows)
	JE(LabelRef("done"))
	for at := 0; at < lineBytes; at += set.bytes() {
		v := f.add(loaded(set, Mem{Base: src, Disp: at}), bias)
		VMULPS(Mem{Base: dst, Disp: at}, v, v)
		VMINPS(v, one, v) // propagates NaN
		VMAXPS(v, less, v)
		set.store(v, Mem{Base: dst, Disp: at})
	}
	ADDQ(I32(pointBytes), src)
	ADDQ(stride, dst)
	DECQ(rows)
	JMP(LabelRef("row"))
	Label("done")
	leave()
}

func mostF32(set isa, name string) {
	text(name, NOSPLIT, "func(most, src *byte, n int)", name+" computes, for n a multiple of 16,", "",
		"\tfor i := range n {", "\t\tmost[i%16] = max(most[i%16], src[i]) // but NaN", "\t}")
	most, src, n, i := arg("most"), arg("src"), arg("n"), GP64()
	parts := lineBytes / set.bytes()
	best := make([]reg.VecVirtual, parts)
	for k := range best {
		best[k] = loaded(set, Mem{Base: most, Disp: k * set.bytes()})
	}
	loopTo(i, n, Imm(16), func() {
		for k, b := range best {
			v := loaded(set, Mem{Base: src, Index: i, Scale: 4, Disp: k * set.bytes()})
			VMAXPS(b, v, b)
		}
	})
	for k, b := range best {
		set.store(b, Mem{Base: most, Disp: k * set.bytes()})
	}
	leave()
}

func factorsU32(set isa, name string) {
	text(name, NOSPLIT, "func(dst, hi, lo, hi2, lo2 *byte, n int, area, mean float64, root float32)", name+" computes, for n a multiple of 16,", "",
		"\tfor i := range n {", "\t\ts, q := float64(hi[i]-lo[i]), float64(hi2[i]-lo2[i]) // below 2^31",
		"\t\tdst[i] = root / sqrt(float32(area*q - mean*s*s)) // 0 where that is 0", "\t}")
	dst, hi, lo, hi2, lo2, n, i := arg("dst"), arg("hi"), arg("lo"), arg("hi2"), arg("lo2"), arg("n"), GP64()
	area, mean, root, zero := set.vec(), set.vec(), set.vec(), set.vec()
	VBROADCASTSD(param("area"), area)
	VBROADCASTSD(param("mean"), mean)
	VBROADCASTSS(param("root"), root)
	set.zero(zero)
	loopTo(i, n, Imm(uint64(set.bytes()/4)), func() {
		at := func(base reg.Register) Mem { return Mem{Base: base, Index: i, Scale: 4} }
		s, q := loaded(set, at(hi)), loaded(set, at(hi2))
		VPSUBD(at(lo), s, s)
		VPSUBD(at(lo2), q, q)
		var parts [2]reg.VecVirtual
		for part := range parts {
			a, b, t := part64(set, q, part), part64(set, s, part), set.vec()
			VMULPD(area, a, a)
			VMULPD(mean, b, t)
			VMULPD(b, t, t)
			VSUBPD(t, a, a)
			parts[part] = toSingles(set, a)
		}
		v, r := joined(set, parts[0], parts[1]), set.vec()
		VSQRTPS(v, r)
		VDIVPS(r, root, r)
		if wide(set) {
			k := K()
			VCMPPS(Imm(4), zero, v, k) // not equal
			VMOVAPS_Z(r, k, r)
		} else {
			VCMPPS(Imm(4), zero, v, v)
			VANDPS(v, r, r)
		}
		set.store(r, at(dst))
	})
	leave()
}

func scoresU32(set isa, name string) {
	text(name, NOSPLIT, "func(dst, products, hi, lo *byte, n int, area, mean float64)", name+" computes, for n a multiple of 16,", "",
		"\tfor i := range n {", "\t\tv := area*float64(products[i]) + mean*float64(hi[i]-lo[i]) // below 2^31",
		"\t\tdst[i] = clamp(float32(v) * dst[i])", "\t}")
	dst, products, hi, lo, n, i := arg("dst"), arg("products"), arg("hi"), arg("lo"), arg("n"), GP64()
	area, mean := set.vec(), set.vec()
	VBROADCASTSD(param("area"), area)
	VBROADCASTSD(param("mean"), mean)
	one, less := bitsInAll(set, 0x3f800000), bitsInAll(set, 0xbf800000) // 1 and -1
	loopTo(i, n, Imm(uint64(set.bytes()/4)), func() {
		at := func(base reg.Register) Mem { return Mem{Base: base, Index: i, Scale: 4} }
		p, s := loaded(set, at(products)), loaded(set, at(hi))
		VPSUBD(at(lo), s, s)
		var parts [2]reg.VecVirtual
		for part := range parts {
			a, b := part64(set, p, part), part64(set, s, part)
			VMULPD(area, a, a)
			VMULPD(mean, b, b)
			VADDPD(b, a, a)
			parts[part] = toSingles(set, a)
		}
		v := joined(set, parts[0], parts[1])
		VMULPS(at(dst), v, v)
		VMINPS(v, one, v)
		VMAXPS(v, less, v)
		set.store(v, at(dst))
	})
	leave()
}
