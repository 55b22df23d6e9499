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
	{"haarStumpsRow", haarStumps(false)},
	{"haarStumpsList", haarStumps(true)},
	{"haarSplitRow", haarSplit(false)},
	{"haarSplitList", haarSplit(true)},
	{"lbpStumpsRow", lbpStumps(false)},
	{"lbpStumpsList", lbpStumps(true)},
	{"addLeaves", addLeaves},
	{"passed", passed},
	{"flat", flatNorms},
	{"haarNorms", haarNorms},
	{"blendRows", blendRows},
	{"blendColumns", blendColumns},
	{"cascadeRow", cascadeRow},
}

func cascades(set isa) {
	for _, k := range cascadeKernels {
		k.emit(set, k.name+set.name())
	}
}

// Offsets in the Go structs kernel.HaarNode, kernel.LBPNode and kernel.HaarNorm.
const (
	haarWeights   = 12 * 4
	haarThreshold = haarWeights + 3*4
	haarLeaves    = haarThreshold + 4
	haarBoxes     = haarLeaves + 2*4
	haarBytes     = haarBoxes + 2*4

	lbpSubset = 16 * 4
	lbpLeaves = lbpSubset + 8*4
	lbpBytes  = lbpLeaves + 8*4

	normSquares = 4 * 4
	normArea    = 8 * 4
	normMost    = normArea + 8
)

// placeOf is where a window is, for doc comments.
func placeOf(list bool) string {
	if list {
		return "at[i]"
	}
	return "i"
}

// A fetcher reads entries of a table for a vector of windows: neighbours, or those at places
// of a list.
type fetcher struct {
	set   isa
	list  bool
	i     reg.GPVirtual // of the first window
	place reg.VecVirtual
	ones  reg.Register // a mask of all lanes
	zeros reg.VecVirtual
}

func newFetcher(set isa, list bool, i reg.GPVirtual) *fetcher {
	return &fetcher{set: set, list: list, i: i}
}

// gathers gets ready for gathers, and windows for the vector of windows from i on.
func (f *fetcher) gathers() {
	if f.list && wide(f.set) {
		f.ones, f.zeros = K(), zeroed(f.set)
		MOVL(U32(0xffff), f.i.As32())
		KMOVW(f.i.As32(), f.ones)
	}
}

func (f *fetcher) windows(spare reg.Register) {
	if f.list {
		MOVQ(param("at"), spare)
		f.place = loaded(f.set, Mem{Base: spare, Index: f.i, Scale: 4})
	}
}

// entry is that of all windows at a distance, which base has: the place of the first one.
func (f *fetcher) entry(base reg.Register) reg.VecVirtual {
	if !f.list {
		return loaded(f.set, Mem{Base: base, Index: f.i, Scale: 4})
	}
	v := f.set.vec()
	m := Mem{Base: base, Index: f.place, Scale: 4}
	if wide(f.set) {
		all := K()
		VMOVDQA32(f.zeros, v) // or every gather waits for the one before
		KMOVW(f.ones, all)
		VPGATHERDD(m, all, v)
	} else {
		all := YMM()
		VPXOR(v, v, v)
		VPCMPEQD(all, all, all)
		VPGATHERDD(all, m, v)
	}
	return v
}

// each is a vector of what number makes of the place of each window.
func (f *fetcher) each(place reg.GPVirtual, number func(place reg.Register) reg.GPVirtual) reg.VecVirtual {
	v := zeroed(f.set)
	for quarter := range f.set.bytes() / 16 {
		four := XMM()
		if quarter == 0 {
			four = v.AsX().(reg.VecVirtual)
		}
		for k := range 4 {
			MOVQ(param("at"), place)
			MOVLQSX(Mem{Base: place, Index: f.i, Scale: 4, Disp: 4 * (4*quarter + k)}, place)
			t := number(place).As32()
			if k == 0 {
				VMOVD(t, four)
			} else {
				VPINSRD(Imm(uint64(k)), t, four, four)
			}
		}
		switch {
		case quarter == 0:
		case wide(f.set):
			VINSERTI32X4(Imm(uint64(quarter)), four, v, v)
		default:
			VINSERTI128(Imm(1), four, v, v)
		}
	}
	return v
}

// less subtracts an entry from v, and more adds one.
func (f *fetcher) less(base reg.Register, v reg.VecVirtual) {
	if f.list {
		VPSUBD(f.entry(base), v, v)
	} else {
		VPSUBD(Mem{Base: base, Index: f.i, Scale: 4}, v, v)
	}
}

func (f *fetcher) more(base reg.Register, v reg.VecVirtual) {
	if f.list {
		VPADDD(f.entry(base), v, v)
	} else {
		VPADDD(Mem{Base: base, Index: f.i, Scale: 4}, v, v)
	}
}

// box is p0 - p1 - p2 + p3 as floats. That of a list has registers to spare for a place and a
// sum: gathers are slower than loads of every number where processors guard them against
// others that look on.
func (f *fetcher) box(corner func(k int) reg.Register, spare ...reg.GPVirtual) reg.VecVirtual {
	if f.list {
		p := [4]reg.Register{corner(0), corner(1), corner(2), corner(3)}
		v := f.each(spare[0], func(place reg.Register) reg.GPVirtual {
			at := func(k int) Mem { return Mem{Base: p[k], Index: place, Scale: 4} }
			t := spare[1]
			MOVL(at(0), t.As32())
			SUBL(at(1), t.As32())
			SUBL(at(2), t.As32())
			ADDL(at(3), t.As32())
			return t
		})
		VCVTDQ2PS(v, v)
		return v
	}
	v := f.entry(corner(0))
	f.less(corner(1), v)
	f.less(corner(2), v)
	f.more(corner(3), v)
	VCVTDQ2PS(v, v)
	return v
}

// constant is a number of 32 bits of a struct in all lanes.
func constant(set isa, base reg.Register, offset int) reg.VecVirtual {
	v := set.vec()
	VBROADCASTSS(Mem{Base: base, Disp: offset}, v)
	return v
}

// cornerPointers is where the entries of the first corners of a node are.
func cornerPointers(node reg.Register, pointers []reg.GPVirtual) {
	table := GP64()
	MOVQ(param("table"), table)
	for k, p := range pointers {
		MOVLQSX(Mem{Base: node, Disp: 4 * k}, p)
		LEAQ(Mem{Base: table, Index: p, Scale: 4}, p)
	}
}

// A haarNode is a node in registers.
type haarNode struct {
	node               reg.Register
	pointers           []reg.GPVirtual
	w0, w1, w2, thresh reg.VecVirtual
	norms              reg.Register
}

func newHaarNode(node, norms reg.Register) *haarNode {
	h := &haarNode{node: node, norms: norms}
	for range 8 {
		h.pointers = append(h.pointers, GP64())
	}
	return h
}

// aim gets the node's corners and constants.
func (h *haarNode) aim(set isa) {
	cornerPointers(h.node, h.pointers)
	h.w0, h.w1, h.w2 = constant(set, h.node, haarWeights), constant(set, h.node, haarWeights+4), constant(set, h.node, haarWeights+8)
	h.thresh = constant(set, h.node, haarThreshold)
}

// value is that of the feature in a vector of windows, of two boxes or of three.
func (h *haarNode) value(f *fetcher, spare reg.GPVirtual, three bool) reg.VecVirtual {
	var more []reg.GPVirtual
	if f.list {
		more = []reg.GPVirtual{spare, GP64()}
	}
	v := f.box(func(k int) reg.Register { return h.pointers[k] }, more...)
	u := f.box(func(k int) reg.Register { return h.pointers[4+k] }, more...)
	VMULPS(h.w0, v, v)
	VMULPS(h.w1, u, u)
	VADDPS(u, v, v)
	switch {
	case three && f.list: // the pointers of the first box make room
		point := func(from int) {
			for k, p := range h.pointers[:4] {
				MOVLQSX(Mem{Base: h.node, Disp: 4 * (from + k)}, p)
				SHLQ(U8(2), p)
				ADDQ(param("table"), p)
			}
		}
		point(8)
		third := f.box(func(k int) reg.Register { return h.pointers[k] }, more...)
		point(0)
		VMULPS(h.w2, third, third)
		VADDPS(third, v, v)
	case three:
		third := f.box(func(k int) reg.Register {
			MOVLQSX(Mem{Base: h.node, Disp: 4 * (8 + k)}, spare)
			SHLQ(U8(2), spare)
			ADDQ(param("table"), spare)
			return spare
		})
		VMULPS(h.w2, third, third)
		VADDPS(third, v, v)
	}
	VMULPS(Mem{Base: h.norms, Index: f.i, Scale: 4}, v, v)
	return v
}

// choose is left where v is less than the threshold, and right elsewhere.
func choose(set isa, v, threshold, left, right reg.VecVirtual) {
	const less = 1
	if wide(set) {
		mask := K()
		VCMPPS(Imm(less), threshold, v, mask)
		VBLENDMPS(left, right, mask, v)
		return
	}
	VCMPPS(Imm(less), threshold, v, v)
	VBLENDVPS(v, left, right, v)
}

// addTo adds a vector of floats of 32 bits to sums of 64.
func addTo(set isa, v reg.VecVirtual, sums, i reg.Register) {
	low, high := set.vec(), set.vec()
	half := set.bytes()
	if wide(set) {
		VCVTPS2PD(v.AsY(), low)
		top := YMM()
		VEXTRACTF64X4(Imm(1), v, top)
		VCVTPS2PD(top, high)
	} else {
		VCVTPS2PD(v.AsX(), low)
		top := XMM()
		VEXTRACTF128(Imm(1), v, top)
		VCVTPS2PD(top, high)
	}
	at := func(k int) Mem { return Mem{Base: sums, Index: i, Scale: 8, Disp: k * half} }
	VADDPD(at(0), low, low)
	VADDPD(at(1), high, high)
	VMOVUPD(low, at(0))
	VMOVUPD(high, at(1))
}

func haarStumps(list bool) func(set isa, name string) {
	return func(set isa, name string) {
		place := placeOf(list)
		text(name, NOSPLIT, "func(sums, nodes *byte, count int, table, at, norms *byte, n int)",
			name+fmt.Sprintf(" is, for a multiple of %d,", set.bytes()/4), "", "\tfor k := range count {", "\t\tfor i := range n {",
			"\t\t\tsums[i] += nodes[k].leaf(table, "+place+", norms[i])", "\t\t}", "\t}")
		sums, node, norms, i := arg("sums"), arg("nodes"), arg("norms"), GP64()
		f := newFetcher(set, list, i)
		h := newHaarNode(node, norms)
		Label("node")
		h.aim(set)
		left, right := constant(set, node, haarLeaves), constant(set, node, haarLeaves+4)
		XORQ(i, i)
		CMPL(Mem{Base: node, Disp: haarBoxes}, Imm(2))
		JG(LabelRef("three"))
		for _, three := range []bool{false, true} {
			label := "two"
			if three {
				label = "three"
			}
			Label(label)
			spare := GP64()
			v := h.value(f, spare, three)
			choose(set, v, h.thresh, left, right)
			addTo(set, v, sums, i)
			ADDQ(I32(set.bytes()/4), i)
			CMPQ(i, param("n"))
			JL(LabelRef(label))
			if !three {
				JMP(LabelRef("next"))
			}
		}
		Label("next")
		ADDQ(I32(haarBytes), node)
		DECQ(param("count"))
		JNZ(LabelRef("node"))
		leave()
	}
}

func haarSplit(list bool) func(set isa, name string) {
	return func(set isa, name string) {
		place := placeOf(list)
		text(name, NOSPLIT, "func(dst, node, table, at, norms, left, right *byte, n int)",
			name+fmt.Sprintf(" is, for a multiple of %d,", set.bytes()/4), "", "\tfor i := range n {",
			"\t\tdst[i] = right[i]", "\t\tif node.value(table, "+place+", norms[i]) < node.Threshold {", "\t\t\tdst[i] = left[i]", "\t\t}", "\t}",
			"", "with the node's leaf for left or right where it is nil.")
		dst, node, norms, i := arg("dst"), arg("node"), arg("norms"), GP64()
		f := newFetcher(set, list, i)
		h := newHaarNode(node, norms)
		h.aim(set)
		leaves := [2]reg.VecVirtual{constant(set, node, haarLeaves), constant(set, node, haarLeaves+4)}
		XORQ(i, i)
		// A loop for each number of boxes and kind of children.
		name2 := func(three bool, kind int) string { return fmt.Sprintf("loop%v%d", three, kind) }
		for _, three := range []bool{false, true} {
			if !three {
				CMPL(Mem{Base: node, Disp: haarBoxes}, Imm(2))
				JG(LabelRef("kindtrue"))
			}
			Label(fmt.Sprint("kind", three))
			CMPQ(param("left"), Imm(0))
			JNE(LabelRef(fmt.Sprint("left", three)))
			CMPQ(param("right"), Imm(0))
			JNE(LabelRef(name2(three, 2)))
			JMP(LabelRef(name2(three, 0)))
			Label(fmt.Sprint("left", three))
			CMPQ(param("right"), Imm(0))
			JNE(LabelRef(name2(three, 3)))
			JMP(LabelRef(name2(three, 1)))
			for kind := range 4 {
				Label(name2(three, kind))
				spare := GP64()
				v := h.value(f, spare, three)
				sides := leaves
				for k, side := range []string{"left", "right"} {
					if kind>>k&1 != 0 {
						MOVQ(param(side), spare)
						sides[k] = loaded(set, Mem{Base: spare, Index: i, Scale: 4})
					}
				}
				choose(set, v, h.thresh, sides[0], sides[1])
				set.store(v, Mem{Base: dst, Index: i, Scale: 4})
				ADDQ(I32(set.bytes()/4), i)
				CMPQ(i, param("n"))
				JL(LabelRef(name2(three, kind)))
				JMP(LabelRef("done"))
			}
		}
		Label("done")
		leave()
	}
}

// zeroed is a new vector of zeros.
func zeroed(set isa) reg.VecVirtual {
	v := set.vec()
	VPSUBD(v, v, v)
	return v
}

func lbpStumps(list bool) func(set isa, name string) {
	return func(set isa, name string) {
		place := placeOf(list)
		text(name, NOSPLIT, "func(sums, nodes *byte, count int, table, at *byte, n int)",
			name+fmt.Sprintf(" is, for a multiple of %d,", set.bytes()/4), "", "\tfor k := range count {", "\t\tfor i := range n {",
			"\t\t\tsums[i] += nodes[k].leaf(table, "+place+")", "\t\t}", "\t}")
		sums, node, table, i, spare := arg("sums"), arg("nodes"), arg("table"), GP64(), GP64()
		f := newFetcher(set, list, i)
		f.gathers()
		var one reg.VecVirtual
		if wide(set) {
			one = set.vec()
			MOVQ(U32(1), spare)
			VPBROADCASTD(spare.As32(), one)
		}
		Label("node")
		XORQ(i, i)
		Label("loop")
		f.windows(spare)
		entry := func(k int) reg.Register {
			MOVLQSX(Mem{Base: node, Disp: 4 * k}, spare)
			LEAQ(Mem{Base: table, Index: spare, Scale: 4}, spare)
			return spare
		}
		// Differences along the rows of corners, and of these down the columns: the middle
		// first, of which only the center stays, and the blocks are compared as they come.
		row := func(r int) (d [3]reg.VecVirtual) {
			before := f.entry(entry(4 * r))
			for k := range 3 {
				next := f.entry(entry(4*r + k + 1))
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
		} else {
			VPXOR(ones, word, word)
		}
		if wide(set) {
			seven := set.vec()
			VPSRLD(Imm(29), ones, seven)
			VPANDD(seven, word, word)
			subset := set.vec()
			VBROADCASTI64X4(Mem{Base: node, Disp: lbpSubset}, subset)
			VPERMD(subset, word, word)
		} else {
			VPERMD(Mem{Base: node, Disp: lbpSubset}, word, word)
		}
		VPSLLVD(shift, word, word)
		leaf, left, right := set.vec(), constant(set, node, lbpLeaves), constant(set, node, lbpLeaves+4)
		if wide(set) {
			mask := K()
			VPMOVD2M(word, mask)
			VBLENDMPS(left, right, mask, leaf)
		} else {
			VBLENDVPS(word, left, right, leaf)
		}
		addTo(set, leaf, sums, i)
		ADDQ(I32(set.bytes()/4), i)
		CMPQ(i, param("n"))
		JL(LabelRef("loop"))
		ADDQ(I32(lbpBytes), node)
		DECQ(param("count"))
		JNZ(LabelRef("node"))
		leave()
	}
}

func addLeaves(set isa, name string) {
	text(name, NOSPLIT, "func(sums, leaves *byte, n int)",
		name+fmt.Sprintf(" is, for a multiple of %d,", set.bytes()/4), "", "\tfor i := range n {", "\t\tsums[i] += float64(leaves[i])", "\t}")
	sums, leaves, n, i := arg("sums"), arg("leaves"), arg("n"), GP64()
	XORQ(i, i)
	Label("loop")
	v := loaded(set, Mem{Base: leaves, Index: i, Scale: 4})
	addTo(set, v, sums, i)
	ADDQ(I32(set.bytes()/4), i)
	CMPQ(i, n)
	JL(LabelRef("loop"))
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

func passed(set isa, name string) {
	text(name, NOSPLIT, "func(bits, sums *byte, words int, threshold float64)",
		name+" is", "", "\tfor i := range 64 * words {", "\t\tbits[i] = !(sums[i] < threshold)", "\t}")
	sums, words := arg("sums"), arg("words")
	threshold := broadcast(set, "threshold")
	const notLess = 5
	bitsOf(set, 8, words, sums, func(m Mem) reg.Register {
		v, bits := loaded(set, m), GP64()
		if wide(set) {
			k := K()
			VCMPPD(Imm(notLess), threshold, v, k)
			KMOVB(k, bits.As32())
		} else {
			VCMPPD(Imm(notLess), threshold, v, v)
			VMOVMSKPD(v, bits.As32())
		}
		return bits
	})
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
	f := newFetcher(set, false, i)
	sum := func(p []reg.GPVirtual) reg.VecVirtual {
		v := f.entry(p[0])
		f.less(p[1], v)
		f.less(p[2], v)
		f.more(p[3], v)
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

// blendRows, blendColumns and cascadeRow are for vectors of 256 bits at every level.

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
