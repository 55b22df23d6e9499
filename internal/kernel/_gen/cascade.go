package main

import (
	"fmt"
	"math"
	"slices"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// cascadeKernels are those of detectors: see kernel/cascade.go for what each is.
var cascadeKernels = []windowKernel{
	{"haarStumps", haarStage(false)},
	{"haarChains", haarStage(true)},
	{"lbpStumps", lbpStumps},
	{"flat", flatNorms},
	{"haarNorms", haarNorms},
	{"blendRows", blendRows},
	{"blendColumns", blendColumns},
	{"cascadeRow", cascadeRow},
	{"tiltedRow", cascadeTilted},
}

func cascades(set isa) {
	for _, k := range cascadeKernels {
		k.emit(set, k.name+set.name())
	}
}

// Offsets in the Go structs kernel.HaarNode, kernel.LBPNode, kernel.StageSums and
// kernel.HaarNorm.
const (
	haarWeights   = 12 * 4
	haarThreshold = haarWeights + 3*4
	haarDelta     = haarThreshold + 4
	haarBoxes     = haarDelta + 4
	haarRoot      = haarBoxes + 4
	haarFlip      = haarRoot + 4
	haarBytes     = haarFlip + 4

	lbpSubset = 16 * 4
	lbpDelta  = lbpSubset + 8*4
	lbpBytes  = lbpDelta + 8*4

	sumsBase = 0
	sumsFail = 4
	sumsPass = 8

	normSquares = 4 * 4
	normArea    = 8 * 4
	normMost    = normArea + 8
)

// blockGroups is how many groups of windows go through a stage together, so that they share
// what is read of its nodes.
const blockGroups = 4

// constant is a number of 32 bits of a struct in all lanes.
func constant(set isa, base reg.Register, offset int) reg.VecVirtual {
	v := set.vec()
	VBROADCASTSS(Mem{Base: base, Disp: offset}, v)
	return v
}

// zeroed is a new vector of zeros.
func zeroed(set isa) reg.VecVirtual {
	v := set.vec()
	VPSUBD(v, v, v)
	return v
}

// verdict stores, for a group, bits of windows that may pass, and from bit 16 on of those
// that do for sure.
func verdict(set isa, sum reg.VecVirtual, sums, to reg.Register, disp int) {
	words := [2]reg.GPVirtual{GP64(), GP64()}
	for i, bound := range []int{sumsFail, sumsPass} {
		limit := constant(set, sums, bound)
		if wide(set) {
			k := K()
			VPCMPGTD(limit, sum, k)
			KMOVW(k, words[i].As32())
		} else {
			VPCMPGTD(limit, sum, limit)
			VMOVMSKPS(limit, words[i].As32())
		}
	}
	SHLL(Imm(16), words[1].As32())
	ORL(words[1].As32(), words[0].As32())
	MOVL(words[0].As32(), Mem{Base: to, Disp: disp})
}

// haarStage is a stage of stumps, or of chains of nodes.
func haarStage(chains bool) func(set isa, name string) {
	return func(set isa, name string) {
		lanes := set.bytes() / 4
		what := "\t\tsum[i] = sums.Base + the deltas of all stumps, nodes[:twos+threes], whose value is less than their threshold"
		if chains {
			what = "\t\tsum[i] = sums.Base + the deltas of all chains, nodes[:twos+threes]"
		}
		text(name, NOSPLIT, "func(results, places, norms *byte, blocks int, table, nodes *byte, twos, threes int, sums *byte)",
			name+fmt.Sprintf(" is, for groups of %d windows, %d groups to a block,", lanes, blockGroups), "", "\tfor i := range windows {", what,
			"\t\tresults[i] = sum[i] > sums.Fail, sum[i] > sums.Pass", "\t}")
		table, norms, node, n := arg("table"), arg("norms"), GP64(), GP64()
		var bases, corners [blockGroups]reg.GPVirtual
		var sums, values [blockGroups]reg.VecVirtual
		var gone [blockGroups]reg.Register // windows that a node of the chain has hit
		for g := range blockGroups {
			bases[g], corners[g] = GP64(), GP64()
			sums[g], values[g] = set.vec(), set.vec()
			if chains && wide(set) {
				gone[g] = K()
			} else if chains {
				gone[g] = set.vec()
			}
		}
		Label("block")
		MOVQ(param("places"), node)
		for g, base := range bases {
			MOVLQSX(Mem{Base: node, Disp: 4 * g}, base)
			LEAQ(Mem{Base: table, Index: base, Scale: 4}, base)
		}
		ADDQ(Imm(4*blockGroups), param("places"))
		MOVQ(param("sums"), node)
		for _, sum := range sums {
			VPBROADCASTD(Mem{Base: node, Disp: sumsBase}, sum)
		}
		box := func(k int) {
			for c, p := range corners {
				MOVLQSX(Mem{Base: node, Disp: 4 * (4*k + c)}, p)
			}
			weight := constant(set, node, haarWeights+4*k)
			for g, base := range bases {
				at := func(c int) Mem { return Mem{Base: base, Index: corners[c], Scale: 4} }
				v := values[g]
				if k > 0 {
					v = set.vec()
				}
				set.load(at(0), v)
				VPSUBD(at(1), v, v)
				VPSUBD(at(2), v, v)
				VPADDD(at(3), v, v)
				VCVTDQ2PS(v, v)
				VMULPS(weight, v, v)
				if k > 0 {
					VADDPS(v, values[g], values[g])
				}
			}
		}
		const less, notLess = 1, 5
		compare := func() {
			threshold, delta := constant(set, node, haarThreshold), constant(set, node, haarDelta)
			for g, v := range values {
				VMULPS(Mem{Base: norms, Disp: g * set.bytes()}, v, v)
			}
			// hits adds the delta to windows on one side of the threshold: of a chain's first node, or of another to
			// those that are not gone yet.
			hits := func(side uint64, root bool) {
				for g, v := range values {
					switch {
					case wide(set) && !chains:
						hit := K()
						VCMPPS(Imm(side), threshold, v, hit)
						VPADDD(delta, sums[g], hit, sums[g])
					case wide(set) && root:
						VCMPPS(Imm(side), threshold, v, gone[g])
						VPADDD(delta, sums[g], gone[g], sums[g])
					case wide(set):
						hit := K()
						VCMPPS(Imm(side), threshold, v, hit)
						KANDNW(hit, gone[g], hit)
						VPADDD(delta, sums[g], hit, sums[g])
						KORW(hit, gone[g], gone[g])
					default:
						hit := v
						if chains && root {
							hit = gone[g].(reg.VecVirtual)
						}
						VCMPPS(Imm(side), threshold, v, hit)
						if chains && !root {
							VPANDN(hit, gone[g], hit)
							VPOR(hit, gone[g], gone[g])
						}
						VPAND(delta, hit, v)
						VPADDD(v, sums[g], sums[g])
					}
				}
			}
			if !chains {
				hits(less, true)
				return
			}
			for _, root := range []bool{true, false} {
				if root {
					CMPL(Mem{Base: node, Disp: haarRoot}, Imm(0))
					JE(LabelRef("child"))
				} else {
					Label("child")
				}
				CMPL(Mem{Base: node, Disp: haarFlip}, Imm(0))
				JNE(LabelRef(fmt.Sprint("flip", root)))
				hits(less, root)
				JMP(LabelRef("next"))
				Label(fmt.Sprint("flip", root))
				hits(notLess, root)
				if root {
					JMP(LabelRef("next"))
				}
			}
			Label("next")
		}
		MOVQ(param("nodes"), node)
		if chains {
			MOVQ(param("threes"), n)
			Label("node")
			box(0)
			box(1)
			CMPL(Mem{Base: node, Disp: haarBoxes}, Imm(2))
			JE(LabelRef("two"))
			box(2)
			Label("two")
			compare()
			ADDQ(I32(haarBytes), node)
			DECQ(n)
			JNZ(LabelRef("node"))
		} else {
			for k, label := range []string{"twos", "threes"} {
				MOVQ(param(label), n)
				TESTQ(n, n)
				JZ(LabelRef("no" + label))
				Label(label)
				box(0)
				box(1)
				if k > 0 {
					box(2)
				}
				compare()
				ADDQ(I32(haarBytes), node)
				DECQ(n)
				JNZ(LabelRef(label))
				Label("no" + label)
			}
		}
		MOVQ(param("sums"), node)
		MOVQ(param("results"), n)
		for g, sum := range sums {
			verdict(set, sum, node, n, 4*g)
		}
		ADDQ(Imm(4*blockGroups), param("results"))
		ADDQ(I32(blockGroups*set.bytes()), norms)
		DECQ(param("blocks"))
		JNZ(LabelRef("block"))
		leave()
	}
}

func lbpStumps(set isa, name string) {
	lanes := set.bytes() / 4
	text(name, NOSPLIT, "func(results, places *byte, groups int, table, nodes *byte, count int, sums *byte)",
		name+fmt.Sprintf(" is, for groups of %d windows,", lanes), "", "\tfor i := range windows {",
		"\t\tsum[i] = sums.Base + the deltas of all nodes[:count] whose pattern is in their subset",
		"\t\tresults[i] = sum[i] > sums.Fail, sum[i] > sums.Pass", "\t}")
	table, places, node, count, base, spare := arg("table"), arg("places"), GP64(), GP64(), GP64(), GP64()
	sum := set.vec()
	var one reg.VecVirtual
	if wide(set) {
		one = set.vec()
		MOVQ(U32(1), spare)
		VPBROADCASTD(spare.As32(), one)
	}
	Label("group")
	MOVLQSX(Mem{Base: places}, base)
	LEAQ(Mem{Base: table, Index: base, Scale: 4}, base)
	ADDQ(Imm(4), places)
	MOVQ(param("sums"), node)
	VPBROADCASTD(Mem{Base: node, Disp: sumsBase}, sum)
	MOVQ(param("nodes"), node)
	MOVQ(param("count"), count)
	Label("node")
	entry := func(k int) reg.VecVirtual {
		MOVLQSX(Mem{Base: node, Disp: 4 * k}, spare)
		return loaded(set, Mem{Base: base, Index: spare, Scale: 4})
	}
	// Differences along the rows of corners, and of these down the columns.
	row := func(r int) (d [3]reg.VecVirtual) {
		before := entry(4 * r)
		for k := range 3 {
			next := entry(4*r + k + 1)
			d[k] = set.vec()
			VPSUBD(next, before, d[k])
			before = next
		}
		return d
	}
	var d [4][3]reg.VecVirtual
	for r := range 4 {
		d[r] = row(r)
		if r > 0 {
			for k := range 3 {
				VPSUBD(d[r][k], d[r-1][k], d[r-1][k])
			}
		}
	}
	code := zeroed(set)
	for _, b := range [8][2]int{{0, 0}, {0, 1}, {0, 2}, {1, 2}, {2, 2}, {2, 1}, {2, 0}, {1, 0}} {
		block := d[b[0]][b[1]]
		VPADDD(code, code, code)
		if wide(set) { // a bit where the center is greater
			greater := K()
			VPCMPGTD(block, d[1][1], greater)
			VPADDD(one, code, greater, code)
		} else {
			VPCMPGTD(block, d[1][1], block)
			VPSUBD(block, code, code)
		}
	}
	// The bits are the other way round in the pattern: they count back from the last word,
	// and from the highest bit.
	word, shift := set.vec(), set.vec()
	VPSRLD(Imm(5), code, word)
	VPSLLD(Imm(27), code, shift)
	VPSRLD(Imm(27), shift, shift)
	ones := set.vec()
	set.ones(ones)
	if wide(set) {
		VPXORD(ones, word, word)
		seven := set.vec()
		VPSRLD(Imm(29), ones, seven)
		VPANDD(seven, word, word)
		subset := set.vec()
		VBROADCASTI64X4(Mem{Base: node, Disp: lbpSubset}, subset)
		VPERMD(subset, word, word)
		VPSLLVD(shift, word, word)
		hit := K()
		VPMOVD2M(word, hit)
		VPADDD(constant(set, node, lbpDelta), sum, hit, sum)
	} else {
		VPXOR(ones, word, word)
		VPERMD(Mem{Base: node, Disp: lbpSubset}, word, word)
		VPSLLVD(shift, word, word)
		VPSRAD(Imm(31), word, word)
		VPAND(constant(set, node, lbpDelta), word, word)
		VPADDD(word, sum, sum)
	}
	ADDQ(I32(lbpBytes), node)
	DECQ(count)
	JNZ(LabelRef("node"))
	MOVQ(param("sums"), node)
	MOVQ(param("results"), count)
	verdict(set, sum, node, count, 0)
	ADDQ(Imm(4), param("results"))
	DECQ(param("groups"))
	JNZ(LabelRef("group"))
	leave()
}

// bitsOf packs a bit of each of 64 elements into words, from masks of vectors of size bytes
// an element.
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

// unsigned64 is half a vector of unsigned numbers of 32 bits as floats of 64.
func unsigned64(set isa, v reg.VecVirtual, part int, bias Mem) reg.VecVirtual {
	to := set.vec()
	if wide(set) {
		half := v.AsY()
		if part > 0 {
			top := YMM()
			VEXTRACTI64X4(Imm(1), v, top)
			half = top
		}
		VCVTUDQ2PD(half, to)
		return to
	}
	half := v.AsX()
	if part > 0 {
		top := XMM()
		VEXTRACTI128(Imm(1), v, top)
		half = top
	}
	VPMOVZXDQ(half, to)
	VPOR(bias, to, to)
	VSUBPD(bias, to, to)
	return to
}

func haarNorms(set isa, name string) {
	text(name, NOSPLIT, "func(dst, norm, table *byte, n int)",
		name+fmt.Sprintf(" is, for a multiple of %d,", set.bytes()/4), "", "\tfor i := range n {", "\t\tdst[i] = norm.of(table[i:])", "\t}")
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
	const atMost = 2 // and not NaN
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

// blendRows, blendColumns, cascadeRow and tiltedRow are for vectors of 256 bits at every level.

func blendRows(_ isa, name string) {
	text(name, NOSPLIT, "func(dst, a, b *byte, n int, part uint64)",
		name+" is, for a multiple of 16,", "", "\tfor i := range n {", "\t\tdst[i] = a[i]*(256-part) + b[i]*part - 1<<15", "\t}")
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

func blendColumns(_ isa, name string) {
	text(name, NOSPLIT, "func(dst, row, places, parts *byte, n int)",
		name+" is, for a multiple of 8,", "", "\tfor i := range n {", "\t\tj := places[i]",
		"\t\tdst[i] = ((row[j]+1<<15)*parts[2*i] + (row[j+1]+1<<15)*parts[2*i+1] + 1<<15) >> 16", "\t}")
	dst, row, places, parts, n, i := arg("dst"), arg("row"), arg("places"), arg("parts"), arg("n"), GP64()
	bias := YMM()
	VPCMPEQD(bias, bias, bias) // 1<<23 + 1<<15
	t := YMM()
	VPSRLD(Imm(31), bias, t)
	VPSLLD(Imm(23), t, bias)
	VPSLLD(Imm(15), t, t)
	VPADDD(t, bias, bias)
	XORQ(i, i)
	Label("loop")
	at, v, all := YMM(), YMM(), YMM()
	VMOVDQU(Mem{Base: places, Index: i, Scale: 4}, at)
	VPXOR(v, v, v)
	VPCMPEQD(all, all, all)
	VPGATHERDD(all, Mem{Base: row, Index: at, Scale: 2}, v)
	VPMADDWD(Mem{Base: parts, Index: i, Scale: 4}, v, v)
	VPADDD(bias, v, v)
	VPSRLD(Imm(16), v, v)
	narrow(newAVX2(), u8, v, Mem{Base: dst, Index: i, Scale: 1})
	ADDQ(Imm(8), i)
	CMPQ(i, n)
	JL(LabelRef("loop"))
	leave()
}

func cascadeRow(_ isa, name string) {
	text(name, NOSPLIT, "func(sums, squares, sumsAbove, squaresAbove, pix *byte, n, half int)",
		name+" is, for a multiple of 8, with half in bytes,", "", "\tfor x := range n {", "\t\ts += pix[x]", "\t\tq += pix[x] * pix[x]",
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
		name+" is, for a multiple of 8, with half in bytes and p[x] a pixel or its square,", "", "\tfor x := range n {", "\t\tdown[x] += p[x]", "\t\tup[x] += p[x]",
		"\t\ttilted[place(x+1)] = above[place(x+1)] + down[x] + up[x] - p[x]", "\t}")
	tilted, above, down, up, pix := arg("tilted"), arg("above"), arg("down"), arg("up"), arg("pix")
	n, half, square, i := arg("n"), arg("half"), arg("square"), GP64()
	// row is the sums of eight pixels that come to those above.
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
