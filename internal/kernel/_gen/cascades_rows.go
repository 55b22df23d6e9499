package main

import (
	"fmt"
	"math"
	"slices"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// bitsOf emits a loop that packs one bit of each of 64 elements into a word. mask returns the bits
// of a vector of elements of size bytes.
func bitsOf(set isa, size int, words, from reg.Register, mask func(m Mem) reg.Register) {
	out := arg("bits")
	lanes := set.bytes() / size
	Label("word")
	all := GP64()
	XORQ(all, all)
	for k := range 64 / lanes {
		bits := mask(Mem{Base: from, Disp: k * set.bytes()})
		if k > 0 {
			SHLQ(U8(k*lanes), bits)
		}
		ORQ(bits, all)
	}
	MOVQ(all, Mem{Base: out})
	ADDQ(Imm(8), out)
	ADDQ(I32(64*size), from)
	DECQ(words)
	JNZ(LabelRef("word"))
	leave()
}

func flatNorms(set isa, name string) {
	text(name, NOSPLIT, "func(bits, norms *byte, words int)",
		name+" is", "", "\tfor i := range 64 * words {", "\t\tbits[i] = norms[i] == 0", "\t}")
	norms, words := arg("norms"), arg("words")
	zero := set.vec()
	set.zero(zero)
	bitsOf(set, 4, words, norms, func(m Mem) reg.Register {
		v, bits := loaded(set, m), GP64()
		if wide(set) {
			k := K()
			VCMPPS(Imm(0), zero, v, k)
			KMOVW(k, bits.As32())
		} else {
			VCMPPS(Imm(0), zero, v, v)
			VMOVMSKPS(v, bits.As32())
		}
		return bits
	})
}

func haarNorms(set isa, name string) {
	text(name, NOSPLIT, "func(dst, norm, table *byte, n int)",
		name+fmt.Sprintf(" computes, for n a multiple of %d,", set.bytes()/4), "", "\tfor i := range n {", "\t\tdst[i] = norm.of(table[i:])", "\t}")
	norm, i, table := arg("norm"), GP64(), arg("table")
	var pointers []reg.GPVirtual
	for k := range 8 {
		p := GP64()
		MOVLQSX(Mem{Base: norm, Disp: 4 * k}, p)
		LEAQ(Mem{Base: table, Index: p, Scale: 4}, p)
		pointers = append(pointers, p)
	}
	area, most := set.vec(), constant(set, norm, normMost)
	VBROADCASTSD(Mem{Base: norm, Disp: normArea}, area)
	one := set.vec()
	VBROADCASTSD(constants{}.mem(name+"One", math.Float64bits(1)), one)
	bias := constants{}.mem(name+"Bias", slices.Repeat([]uint64{math.Float64bits(1 << 52)}, 4)...)
	dst, n := arg("dst"), arg("n")
	sum := func(p []reg.GPVirtual) reg.VecVirtual {
		at := func(k int) Mem { return Mem{Base: p[k], Index: i, Scale: 4} }
		v := loaded(set, at(0))
		VPSUBD(at(1), v, v)
		VPSUBD(at(2), v, v)
		VPADDD(at(3), v, v)
		return v
	}
	XORQ(i, i)
	Label("loop")
	v, q := sum(pointers[:4]), sum(pointers[4:])
	var halves [2]reg.VecVirtual
	for part := range 2 {
		s, w := part64(set, v, part), unsigned64(set, q, part, bias)
		VMULPD(area, w, w)
		VMULPD(s, s, s)
		VSUBPD(s, w, w)
		VSQRTPD(w, w)
		VDIVPD(w, one, w)
		halves[part] = toSingles(set, w)
	}
	r := joined(set, halves[0], halves[1])
	const atMost = 2 // less than or equal, and not NaN
	if wide(set) {
		k, to := K(), set.vec()
		VCMPPS(Imm(atMost), most, r, k)
		VMOVAPS_Z(r, k, to)
		r = to
	} else {
		mask := set.vec()
		VCMPPS(Imm(atMost), most, r, mask)
		VANDPS(mask, r, r)
	}
	set.store(r, Mem{Base: dst, Index: i, Scale: 4})
	ADDQ(I32(set.bytes()/4), i)
	CMPQ(i, n)
	JL(LabelRef("loop"))
	leave()
}

func blendRows(_ isa, name string) {
	text(name, NOSPLIT, "func(dst, a, b *byte, n int, part uint64)",
		name+" computes, for n a multiple of 16,", "", "\tfor i := range n {", "\t\tdst[i] = a[i]*(256-part) + b[i]*part - 1<<15", "\t}")
	dst, a, b, n, i := arg("dst"), arg("a"), arg("b"), arg("n"), GP64()
	part, sign := YMM(), YMM()
	VMOVQ(arg("part"), part.AsX())
	VPBROADCASTW(part.AsX(), part)
	VPCMPEQW(sign, sign, sign)
	VPSLLW(Imm(15), sign, sign)
	XORQ(i, i)
	Label("loop")
	v, w := YMM(), YMM()
	VPMOVZXBW(Mem{Base: a, Index: i, Scale: 1}, v)
	VPMOVZXBW(Mem{Base: b, Index: i, Scale: 1}, w)
	VPSUBW(v, w, w)
	VPMULLW(part, w, w)
	VPSLLW(Imm(8), v, v)
	VPADDW(w, v, v)
	VPXOR(sign, v, v)
	VMOVDQU(v, Mem{Base: dst, Index: i, Scale: 2})
	ADDQ(Imm(16), i)
	CMPQ(i, n)
	JL(LabelRef("loop"))
	leave()
}

// blendColumns gathers pairs of elements. With AVX-512, it permutes them if they lie in two vectors,
// which takes a third of the time.
func blendColumns(set isa, name string) {
	step := 8
	if wide(set) {
		step = 16
	}
	text(name, NOSPLIT, "func(dst, row, places, parts *byte, n, length int)",
		name+fmt.Sprintf(" computes, for n a multiple of %d and a row of the given length,", step), "", "\tfor i := range n {", "\t\tj := places[i]",
		"\t\tdst[i] = ((row[j]+1<<15)*parts[2*i] + (row[j+1]+1<<15)*parts[2*i+1] + 1<<15) >> 16", "\t}")
	dst, row, places, parts, n, i := arg("dst"), arg("row"), arg("places"), arg("parts"), arg("n"), GP64()
	bias := set.vec() // 1<<23 + 1<<15
	single := func(v reg.VecVirtual, bits uint32) {
		r := GP32()
		MOVL(U32(bits), r)
		VMOVD(r, v.AsX())
		VPBROADCASTD(v.AsX(), v)
	}
	single(bias, 1<<23+1<<15)
	XORQ(i, i)
	if !wide(set) {
		Label("loop")
		gatherColumns(dst, row, places, parts, i, bias, 0)
		ADDQ(Imm(8), i)
		CMPQ(i, n)
		JL(LabelRef("loop"))
		leave()
		return
	}
	next, last := ZMM(), GP64()
	single(next, 1<<16)
	MOVQ(arg("length"), last)
	SUBQ(Imm(64), last) // the last element from which two vectors can be read
	Label("loop")
	first, span := GP64(), GP64()
	MOVLQSX(Mem{Base: places, Index: i, Scale: 4}, first)
	MOVLQSX(Mem{Base: places, Index: i, Scale: 4, Disp: 60}, span)
	CMPQ(first, last)
	JG(LabelRef("gather"))
	SUBQ(first, span)
	CMPQ(span, Imm(62))
	JG(LabelRef("gather"))
	base, at, pairs, low, high := ZMM(), ZMM(), ZMM(), ZMM(), ZMM()
	VPBROADCASTD(first.As32(), base)
	VMOVDQU32(Mem{Base: places, Index: i, Scale: 4}, at)
	VPSUBD(base, at, at)
	VPSLLD(Imm(16), at, pairs)
	VPADDD(at, pairs, pairs)
	VPADDD(next, pairs, pairs) // each place, and the one after it
	VMOVDQU32(Mem{Base: row, Index: first, Scale: 2}, low)
	VMOVDQU32(Mem{Base: row, Index: first, Scale: 2, Disp: 64}, high)
	VPERMI2W(high, low, pairs)
	VPMADDWD(Mem{Base: parts, Index: i, Scale: 4}, pairs, pairs)
	VPADDD(bias, pairs, pairs)
	VPSRLD(Imm(16), pairs, pairs)
	VPMOVDB(pairs, Mem{Base: dst, Index: i, Scale: 1})
	Label("next")
	ADDQ(Imm(16), i)
	CMPQ(i, n)
	JL(LabelRef("loop"))
	leave()
	Label("gather")
	for k := range 2 {
		gatherColumns(dst, row, places, parts, i, bias.AsY().(reg.VecVirtual), 8*k)
	}
	JMP(LabelRef("next"))
}

// gatherColumns blends eight pairs, from entry i+more of the places.
func gatherColumns(dst, row, places, parts, i reg.Register, bias reg.VecVirtual, more int) {
	at, v, all := YMM(), YMM(), YMM()
	VMOVDQU(Mem{Base: places, Index: i, Scale: 4, Disp: 4 * more}, at)
	VPXOR(v, v, v)
	VPCMPEQD(all, all, all)
	VPGATHERDD(all, Mem{Base: row, Index: at, Scale: 2}, v)
	VPMADDWD(Mem{Base: parts, Index: i, Scale: 4, Disp: 4 * more}, v, v)
	VPADDD(bias, v, v)
	VPSRLD(Imm(16), v, v)
	narrow(newAVX2(), u8, v, Mem{Base: dst, Index: i, Scale: 1, Disp: more})
}

func cascadeRow(_ isa, name string) {
	text(name, NOSPLIT, "func(sums, squares, sumsAbove, squaresAbove, pix *byte, n, half int)",
		name+" computes, for n a multiple of 8, with half in bytes,", "", "\tfor x := range n {", "\t\ts += pix[x]", "\t\tq += pix[x] * pix[x]",
		"\t\tsums[place(x+1)] = sumsAbove[place(x+1)] + s", "\t\tsquares[place(x+1)] = squaresAbove[place(x+1)] + q", "\t}")
	set := newAVX2()
	rows := [2][2]reg.GPVirtual{{arg("sums"), arg("sumsAbove")}, {arg("squares"), arg("squaresAbove")}}
	pix, n, half, i := arg("pix"), arg("n"), arg("half"), GP64()
	scans := rowScans(set, "", 2)
	for _, s := range scans {
		set.zero(s.carry)
	}
	both := func() (v [2]reg.VecVirtual) {
		v[0], v[1] = YMM(), YMM()
		VPMOVZXBD(Mem{Base: pix, Index: i, Scale: 1}, v[0])
		VPMADDWD(v[0], v[0], v[1])
		for k := range v {
			scans[k].sum(v[k])
		}
		return v
	}
	XORQ(i, i)
	TESTQ(half, half)
	JNZ(LabelRef("split"))
	Label("loop")
	for k, v := range both() {
		VPADDD(Mem{Base: rows[k][1], Index: i, Scale: 4, Disp: 4}, v, v)
		VMOVDQU(v, Mem{Base: rows[k][0], Index: i, Scale: 4, Disp: 4})
	}
	ADDQ(Imm(8), i)
	CMPQ(i, n)
	JL(LabelRef("loop"))
	leave()
	Label("split")
	order := YMM()
	VMOVDQU(constants{}.mem(name+"Order", 2<<32, 6<<32|4, 3<<32|1, 7<<32|5), order)
	odd := [2][2]reg.GPVirtual{{GP64(), GP64()}, {GP64(), GP64()}}
	for k := range 2 {
		for j := range 2 {
			LEAQ(Mem{Base: rows[k][j], Index: half, Scale: 1}, odd[k][j])
		}
	}
	Label("splits")
	for k, v := range both() {
		VPERMD(v, order, v) // entries x+1, x+3, x+5, x+7 and then x+2, ...
		high := XMM()
		VEXTRACTI128(Imm(1), v, high)
		VPADDD(Mem{Base: odd[k][1], Index: i, Scale: 2}, v.AsX(), v.AsX())
		VMOVDQU(v.AsX(), Mem{Base: odd[k][0], Index: i, Scale: 2})
		VPADDD(Mem{Base: rows[k][1], Index: i, Scale: 2, Disp: 4}, high, high)
		VMOVDQU(high, Mem{Base: rows[k][0], Index: i, Scale: 2, Disp: 4})
	}
	ADDQ(Imm(8), i)
	CMPQ(i, n)
	JL(LabelRef("splits"))
	leave()
}

func cascadeTilted(_ isa, name string) {
	text(name, NOSPLIT, "func(tilted, above, down, up, pix *byte, n, half, square int)",
		name+" computes, for n a multiple of 8, with half in bytes and p[x] a pixel or its square,", "", "\tfor x := range n {", "\t\tdown[x] += p[x]", "\t\tup[x] += p[x]",
		"\t\ttilted[place(x+1)] = above[place(x+1)] + down[x] + up[x] - p[x]", "\t}")
	tilted, above, down, up, pix := arg("tilted"), arg("above"), arg("down"), arg("up"), arg("pix")
	n, half, square, i := arg("n"), arg("half"), arg("square"), GP64()
	// row returns the amounts that eight pixels add to the sums above them.
	row := func(label string) reg.VecVirtual {
		p, d, u := YMM(), YMM(), YMM()
		VPMOVZXBD(Mem{Base: pix, Index: i, Scale: 1}, p)
		TESTQ(square, square)
		JZ(LabelRef(label))
		VPMADDWD(p, p, p)
		Label(label)
		VPADDD(Mem{Base: down, Index: i, Scale: 4}, p, d)
		VMOVDQU(d, Mem{Base: down, Index: i, Scale: 4})
		VPADDD(Mem{Base: up, Index: i, Scale: 4}, p, u)
		VMOVDQU(u, Mem{Base: up, Index: i, Scale: 4})
		VPADDD(u, d, d)
		VPSUBD(p, d, d)
		return d
	}
	XORQ(i, i)
	TESTQ(half, half)
	JNZ(LabelRef("split"))
	Label("loop")
	v := row("plain")
	VPADDD(Mem{Base: above, Index: i, Scale: 4, Disp: 4}, v, v)
	VMOVDQU(v, Mem{Base: tilted, Index: i, Scale: 4, Disp: 4})
	ADDQ(Imm(8), i)
	CMPQ(i, n)
	JL(LabelRef("loop"))
	leave()
	Label("split")
	order, high := YMM(), XMM()
	VMOVDQU(constants{}.mem(name+"Order", 2<<32, 6<<32|4, 3<<32|1, 7<<32|5), order)
	odd, oddAbove := GP64(), GP64()
	LEAQ(Mem{Base: tilted, Index: half, Scale: 1}, odd)
	LEAQ(Mem{Base: above, Index: half, Scale: 1}, oddAbove)
	Label("splits")
	v = row("splitPlain")
	VPERMD(v, order, v) // entries x+1, x+3, x+5, x+7 and then x+2, ...
	VEXTRACTI128(Imm(1), v, high)
	VPADDD(Mem{Base: oddAbove, Index: i, Scale: 2}, v.AsX(), v.AsX())
	VMOVDQU(v.AsX(), Mem{Base: odd, Index: i, Scale: 2})
	VPADDD(Mem{Base: above, Index: i, Scale: 2, Disp: 4}, high, high)
	VMOVDQU(high, Mem{Base: tilted, Index: i, Scale: 2, Disp: 4})
	ADDQ(Imm(8), i)
	CMPQ(i, n)
	JL(LabelRef("splits"))
	leave()
}
