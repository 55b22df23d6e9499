package main

import "fmt"

// neonCascade emits the stages of detectors for groups of eight windows, like haarStage.
func neonCascade(f *armFile) {
	neonHaarStage(f, "haarStumpsNEON", false)
	neonHaarStage(f, "haarChainsNEON", true)
}

// neonCascadeRoutines lists the cascadeRoutines that NEON has.
var neonCascadeRoutines = []string{"haarStumps", "haarChains"}

func neonHaarStage(f *armFile, name string, chains bool) {
	what := "\t\tsum[i] = sums.Base + the deltas of all stumps, nodes[:twos+threes], whose value is less than their threshold"
	if chains {
		what = "\t\tsum[i] = sums.Base + the deltas of all chains, nodes[:twos+threes]"
	}
	args := []armArg{
		{"results", "*byte"}, {"places", "*byte"}, {"norms", "*byte"}, {"blocks", "int"}, {"table", "*byte"}, {"nodes", "*byte"},
		{"twos", "int"}, {"threes", "int"}, {"sums", "*byte"},
	}
	doc := []string{
		name + fmt.Sprintf(" computes, for groups of 8 windows, %d groups to a block,", blockGroups), "", "\tfor i := range windows {", what,
		"\t\tresults[i] = sum[i] > sums.Fail, sum[i] > sums.Pass", "\t}",
	}
	f.function(name, doc, args, func(fn *armFunc) {
		const results, places, norms, pairs, table, nodes, twos, threes, sumsAt = "R0", "R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8"
		const node, n, at, spare = "R9", "R10", "R16", "R17"
		bases, corners := [2]string{"R11", "R12"}, [4]string{"R13", "R14", "R15", "R19"}
		for i, a := range args {
			fn.arg(a.name, fmt.Sprintf("R%d", i))
		}
		fn.emit("ADD %s, %s, %s", twos, threes, threes)
		fn.emit("LSL $1, %s, %s", pairs, pairs) // two groups at a time
		// Two groups of two vectors each.
		sum, value, gone, other := fn.takes(4), fn.takes(4), fn.takes(4), fn.takes(4)
		constant, flip, hit := fn.take(), fn.take(), fn.take()
		weights := [2]vreg{fn.take(), fn.take()} // of the bits of the windows in a group
		fn.emit("MOVD $0x0000000200000001, %s", spare)
		fn.emit("VMOV %s, V%d.D[0]", spare, weights[0])
		fn.emit("MOVD $0x0000000800000004, %s", spare)
		fn.emit("VMOV %s, V%d.D[1]", spare, weights[0])
		fn.emit("VSHL $4, %s, %s", weights[0].arranged("S4"), weights[1].arranged("S4"))
		// all broadcasts the 32-bit field at the given offset of a struct.
		all := func(base string, offset int, v vreg) {
			fn.emit("ADD $%d, %s, %s", offset, base, spare)
			fn.emit("VLD1R (%s), [%s]", spare, v.arranged("S4"))
		}
		box := func(k int) {
			for c, p := range corners {
				fn.emit("MOVW %d(%s), %s", 4*(4*k+c), node, p)
			}
			all(node, haarWeights+4*k, constant)
			for g, base := range bases {
				v, t := value[2*g:2*g+2], other[:2]
				if k > 0 {
					v = other[2:]
				}
				for c, p := range corners {
					fn.emit("ADD %s<<2, %s, %s", p, base, at)
					if c == 0 {
						fn.emit("FLDPQ (%s), (F%d, F%d)", at, v[0], v[1])
						continue
					}
					fn.emit("FLDPQ (%s), (F%d, F%d)", at, t[0], t[1])
					for i := range 2 {
						fn.three([]string{"", "VSUB", "VSUB", "VADD"}[c], "S4", v[i], v[i], t[i])
					}
				}
				for i := range 2 {
					fn.word("scvtf.4s", v[i], v[i])
					fn.word("fmul.4s", v[i], v[i], constant)
					if k > 0 {
						fn.word("fadd.4s", value[2*g+i], value[2*g+i], v[i])
					}
				}
			}
		}
		fn.label("pair")
		for g, base := range bases {
			fn.emit("MOVW %d(%s), %s", 4*g, places, base)
			fn.emit("ADD %s<<2, %s, %s", base, table, base)
		}
		fn.emit("ADD $8, %s, %s", places, places)
		all(sumsAt, sumsBase, sum[0])
		for i := 1; i < 4; i++ {
			fn.three("VORR", "B16", sum[i], sum[0], sum[0])
		}
		for _, v := range gone {
			fn.zero(v)
		}
		fn.emit("MOVD %s, %s", nodes, node)
		fn.emit("MOVD %s, %s", threes, n)
		fn.label("node")
		box(0)
		box(1)
		fn.emit("MOVW %d(%s), %s", haarBoxes, node, at)
		fn.emit("CMP $2, %s", at)
		fn.emit("BEQ two")
		box(2)
		fn.label("two")
		for g := range 2 {
			fn.emit("FLDPQ %d(%s), (F%d, F%d)", 32*g, norms, other[0], other[1])
			for i := range 2 {
				fn.word("fmul.4s", value[2*g+i], value[2*g+i], other[i])
			}
		}
		all(node, haarThreshold, constant)
		for _, v := range value {
			fn.word("fcmgt.4s", v, constant, v) // less than the threshold
		}
		if chains {
			// The first node of a chain tests all windows, and the others only windows that have
			// not matched an earlier node.
			all(node, haarRoot, constant)
			all(node, haarFlip, flip)
			for i, v := range value {
				fn.three("VEOR", "B16", v, v, flip)
				fn.word("bic", gone[i], gone[i], constant)
				fn.word("bic", other[i], v, gone[i])
				fn.three("VORR", "B16", gone[i], gone[i], v)
				fn.three("VORR", "B16", v, other[i], other[i])
			}
		}
		all(node, haarDelta, constant)
		for i, v := range value {
			fn.three("VAND", "B16", v, v, constant)
			fn.three("VADD", "S4", sum[i], sum[i], v)
		}
		fn.emit("ADD $%d, %s, %s", haarBytes, node, node)
		fn.emit("SUBS $1, %s, %s", n, n)
		fn.emit("BNE node")
		for g := range 2 {
			for k, bound := range []int{sumsFail, sumsPass} {
				all(sumsAt, bound, constant)
				for i := range 2 {
					fn.word("cmgt.4s", other[i], sum[2*g+i], constant)
					fn.three("VAND", "B16", other[i], other[i], weights[i])
				}
				fn.three("VADD", "S4", hit, other[0], other[1])
				fn.emit("VADDV %s, V%d", hit.arranged("S4"), hit)
				fn.emit("VMOV V%d.S[0], %s", hit, []string{at, spare}[k])
			}
			fn.emit("ORR %s<<16, %s, %s", spare, at, at)
			fn.emit("MOVW %s, %d(%s)", at, 4*g, results)
		}
		fn.emit("ADD $8, %s, %s", results, results)
		fn.emit("ADD $64, %s, %s", norms, norms)
		fn.emit("SUBS $1, %s, %s", pairs, pairs)
		fn.emit("BNE pair")
		fn.release(weights[1], weights[0], hit, flip, constant)
		for _, v := range [][]vreg{other, gone, value, sum} {
			fn.release(v...)
		}
	})
}
