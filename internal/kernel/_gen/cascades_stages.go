package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Offsets in the Go structs HaarNode, LBPNode, StageSums and HaarNorm of package cascades.
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

// blockGroups is the number of groups of windows that go through a stage together, so that one read
// of a node serves all of them.
const blockGroups = 4

// verdict stores, for a group, the bits of the windows that may pass and, starting at bit 16, the
// bits of those that certainly pass.
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

// haarStage emits a stage of stumps, or of chains of nodes.
func haarStage(chains bool) func(set isa, name string) {
	return func(set isa, name string) {
		lanes := set.bytes() / 4
		what := "\t\tsum[i] = sums.Base + the deltas of all stumps, nodes[:twos+threes], whose value is less than their threshold"
		if chains {
			what = "\t\tsum[i] = sums.Base + the deltas of all chains, nodes[:twos+threes]"
		}
		text(name, NOSPLIT, "func(results, places, norms *byte, blocks int, table, nodes *byte, twos, threes int, sums *byte)",
			name+fmt.Sprintf(" computes, for groups of %d windows, %d groups to a block,", lanes, blockGroups), "", "\tfor i := range windows {", what,
			"\t\tresults[i] = sum[i] > sums.Fail, sum[i] > sums.Pass", "\t}")
		table, norms, node, n := arg("table"), arg("norms"), GP64(), GP64()
		var bases, corners [blockGroups]reg.GPVirtual
		var sums, values [blockGroups]reg.VecVirtual
		var gone [blockGroups]reg.Register // windows that have already matched a node of the chain
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
			// hits adds the delta to the windows on one side of the threshold. Except at the first
			// node of a chain, it skips windows that matched an earlier node.
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
		name+fmt.Sprintf(" computes, for groups of %d windows,", lanes), "", "\tfor i := range windows {",
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
	// Compute differences along the rows of corners, and then differences of these down the
	// columns.
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
		if wide(set) { // set a bit where the center is greater
			greater := K()
			VPCMPGTD(block, d[1][1], greater)
			VPADDD(one, code, greater, code)
		} else {
			VPCMPGTD(block, d[1][1], block)
			VPSUBD(block, code, code)
		}
	}
	// The pattern stores bits in reverse order, starting with the last word and the highest bit.
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
