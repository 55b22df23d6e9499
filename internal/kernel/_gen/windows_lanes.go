package main

import (
	"fmt"
	"math"
	"slices"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Windows of 32 pixels beside each other have their histograms level by level: a line of 32 counts of 16 bits for each level. A
// lane of a vector then belongs to one pixel throughout.

const (
	lanePixels = 32
	laneBytes  = 2 * lanePixels
)

// laneVectors returns a register for each vector of a line.
func laneVectors(set isa, make func(at int) reg.VecVirtual) []reg.VecVirtual {
	var all []reg.VecVirtual
	for at := 0; at < laneBytes; at += set.bytes() {
		all = append(all, make(at))
	}
	return all
}

// wordsInAll returns a vector with a 16-bit constant in all lanes.
func wordsInAll(set isa, word uint16) reg.VecVirtual {
	return bitsInAll(set, uint32(word)<<16|uint32(word))
}

// slideLanes moves histograms down by a row.
func slideLanes(set isa, name string) {
	text(name, NOSPLIT, "func(counts, in, out, ramp *byte, n int)", name+" computes", "", "\tfor k := range n {", "\t\tfor x := range 32 {",
		"\t\t\tcounts[in[k]][x] += ramp[x-k]", "\t\t\tcounts[out[k]][x] -= ramp[x-k]", "\t\t}", "\t}")
	counts, in, out, ramp, n, k := arg("counts"), arg("in"), arg("out"), arg("ramp"), arg("n"), GP64()
	loopTo(k, n, Imm(1), func() {
		part := laneVectors(set, func(at int) reg.VecVirtual { return loaded(set, Mem{Base: ramp, Disp: at}) })
		for _, row := range []struct {
			levels reg.Register
			add    func(...Op)
		}{{in, VPADDW}, {out, VPSUBW}} {
			level := GP64()
			MOVWQZX(Mem{Base: row.levels, Index: k, Scale: 2}, level)
			SHLQ(Imm(log2(laneBytes)), level)
			for i, p := range part {
				m := Mem{Base: counts, Index: level, Scale: 1, Disp: i * set.bytes()}
				v := loaded(set, m)
				row.add(p, v, v)
				set.store(v, m)
			}
		}
		SUBQ(Imm(2), ramp)
	})
	leave()
}

// eachLevel emits a loop over lines of counts, with the number of each line in all words of a vector.
func eachLevel(set isa, counts, levels reg.Register, body func(level reg.VecVirtual)) {
	level, one := zeroed(set), wordsInAll(set, 1)
	Label("level")
	body(level)
	VPADDW(one, level, level)
	ADDQ(I32(laneBytes), counts)
	DECQ(levels)
	JNZ(LabelRef("level"))
}

// storeBytes narrows a line of small words to bytes.
func storeBytes(set isa, line []reg.VecVirtual, dst reg.Register) {
	for i, v := range line {
		narrowWords(set, v, Mem{Base: dst, Disp: i * set.bytes() / 2})
	}
}

func majorityLanes(set isa, name string) {
	text(name, NOSPLIT, "func(dst, counts *byte)", name+" computes", "", "\tfor x := range 32 {",
		"\t\tfor i := range 256 {", "\t\t\tif counts[i][x] > counts[dst[x]][x] {", "\t\t\t\tdst[x] = i // which is 0 before", "\t\t\t}", "\t\t}", "\t}")
	dst, counts, levels := arg("dst"), arg("counts"), GP64()
	MOVQ(U32(256), levels)
	zeros := func(int) reg.VecVirtual { return zeroed(set) }
	most, at := laneVectors(set, zeros), laneVectors(set, zeros)
	eachLevel(set, counts, levels, func(level reg.VecVirtual) {
		for i := range most {
			m := Mem{Base: counts, Disp: i * set.bytes()}
			if wide(set) {
				v, k := loaded(set, m), K()
				VPCMPUW(Imm(6), most[i], v, k) // greater
				VPMAXUW(v, most[i], most[i])
				VMOVDQU16(level, k, at[i])
			} else {
				v, same := set.vec(), set.vec()
				VPMAXUW(m, most[i], v)
				VPCMPEQW(v, most[i], same)
				VMOVDQA(v, most[i])
				VPBLENDVB(same, at[i], level, at[i])
			}
		}
	})
	storeBytes(set, at, dst)
	leave()
}

func upToLanes(set isa, name string) {
	text(name, NOSPLIT, "func(sums, counts, most *byte, levels int)", name+" computes", "", "\tfor x := range 32 {",
		"\t\tfor i := range levels {", "\t\t\tif i <= most[x] {", "\t\t\t\tsums[x] += counts[i][x] // which is 0 before", "\t\t\t}", "\t\t}", "\t}", "",
		"with most below 2^15.")
	sums, counts, most, levels := arg("sums"), arg("counts"), arg("most"), arg("levels")
	limits := laneVectors(set, func(at int) reg.VecVirtual { return loaded(set, Mem{Base: most, Disp: at}) })
	totals := laneVectors(set, func(int) reg.VecVirtual { return zeroed(set) })
	if !wide(set) {
		one := wordsInAll(set, 1)
		for _, limit := range limits {
			VPADDW(one, limit, limit)
		}
	}
	eachLevel(set, counts, levels, func(level reg.VecVirtual) {
		for i, total := range totals {
			m := Mem{Base: counts, Disp: i * set.bytes()}
			if wide(set) {
				k := K()
				VPCMPUW(Imm(5), level, limits[i], k) // not less
				VPADDW(m, total, k, total)
			} else {
				v := set.vec()
				VPCMPGTW(level, limits[i], v)
				VPAND(m, v, v)
				VPADDW(v, total, total)
			}
		}
	})
	for i, total := range totals {
		set.store(total, Mem{Base: sums, Disp: i * set.bytes()})
	}
	leave()
}

func percentileLanes(set isa, name string) {
	text(name, NOSPLIT, "func(dst, counts, limits *byte)", name+" computes", "", "\tfor x := range 32 {",
		"\t\tn := counts[0][x]", "\t\tfor dst[x] = 0; n <= limits[x]; dst[x]++ {", "\t\t\tn += counts[dst[x]+1][x]", "\t\t}", "\t}")
	dst, counts, limits, levels := arg("dst"), arg("counts"), arg("limits"), GP64()
	MOVQ(U32(256), levels)
	limit := laneVectors(set, func(at int) reg.VecVirtual { return loaded(set, Mem{Base: limits, Disp: at}) })
	zeros := func(int) reg.VecVirtual { return zeroed(set) }
	sums, below := laneVectors(set, zeros), laneVectors(set, zeros)
	one := wordsInAll(set, 1)
	eachLevel(set, counts, levels, func(reg.VecVirtual) {
		for i, sum := range sums {
			VPADDW(Mem{Base: counts, Disp: i * set.bytes()}, sum, sum)
			if wide(set) {
				k := K()
				VPCMPUW(Imm(2), limit[i], sum, k) // not greater
				VPADDW(one, below[i], k, below[i])
			} else {
				v := set.vec()
				VPMINUW(limit[i], sum, v)
				VPCMPEQW(sum, v, v)
				VPSUBW(v, below[i], below[i])
			}
		}
	})
	storeBytes(set, below, dst)
	leave()
}

// presentLevels writes the levels from 1 on that any window has to a list of 32-bit words, and returns their number.
func presentLevels(set isa, counts, list reg.Register) reg.GPVirtual {
	n, level, has := GP64(), GP64(), GP64()
	XORQ(n, n)
	XORQ(has, has)
	MOVQ(U32(1), level)
	Label("present")
	MOVL(level.As32(), Mem{Base: list, Index: n, Scale: 4})
	at := GP64()
	MOVQ(level, at)
	SHLQ(Imm(log2(laneBytes)), at)
	v, m := set.vec(), Mem{Base: counts, Index: at, Scale: 1}
	set.load(m, v)
	if wide(set) {
		k := K()
		VPTESTMD(v, v, k)
		KORTESTW(k, k)
	} else {
		VPOR(m.Offset(set.bytes()), v, v)
		VPTEST(v, v)
	}
	SETNE(has.As8())
	ADDQ(has, n)
	INCQ(level)
	CMPQ(level, U32(256))
	JNE(LabelRef("present"))
	return n
}

// otsuLanes compares variances as fractions of float32, of numerators and denominators that it has exactly. Only where they are too close
// for that, it divides in float64.
func otsuLanes(set isa, name string) {
	lanes := set.bytes() / 4
	text(name, NOSPLIT, "func(dst, counts, list *byte)", name+" computes, with a list of 256 words as scratch memory,", "", "\tfor x := range 32 {",
		"\t\tn, sum, best := 0, 0, 0.0", "\t\tfor i := range 256 {", "\t\t\tn += counts[i][x]", "\t\t\tsum += i * counts[i][x]", "\t\t}",
		"\t\tq, m := counts[0][x], 0", "\t\tfor i := 1; i < 256 && q+counts[i][x] < n; i++ {", "\t\t\tq += counts[i][x]", "\t\t\tm += i * counts[i][x]",
		"\t\t\tt := float64(n*m - sum*q)", "\t\t\tif v := t * t / float64(q*(n-q)); counts[i][x] > 0 && v > best {",
		"\t\t\t\tdst[x], best = i, v // dst[x] is 0 before", "\t\t\t}", "\t\t}", "\t}", "", "for windows of up to 255 pixels.")
	dst, counts, list := arg("dst"), arg("counts"), arg("list")
	number := presentLevels(set, counts, list)
	numbers := constants{}
	all := func(what string, bits uint64) Mem {
		return numbers.mem(name+what, slices.Repeat([]uint64{bits<<32 | bits}, 8)...)
	}
	close, magnitude := all("Close", uint64(math.Float32bits(0x1p-20))), all("Magnitude", 1<<31-1)
	for part := range lanePixels / lanes {
		label := func(s string) string { return fmt.Sprint(s, part) }
		// count loads what the windows have of a level, and the level.
		count := func(k reg.Register) (h, level reg.VecVirtual) {
			h, level = set.vec(), set.vec()
			at := GP64()
			MOVL(Mem{Base: list, Index: k, Scale: 4}, at.As32())
			SHLQ(Imm(log2(laneBytes)), at)
			VPMOVZXWD(Mem{Base: counts, Index: at, Scale: 1, Disp: part * lanes * 2}, h)
			VCVTDQ2PS(h, h)
			VPBROADCASTD(Mem{Base: list, Index: k, Scale: 4}, level)
			VCVTDQ2PS(level, level)
			return h, level
		}
		q, n, sum, k := set.vec(), set.vec(), zeroed(set), GP64()
		VPMOVZXWD(Mem{Base: counts, Disp: part * lanes * 2}, q)
		VCVTDQ2PS(q, q)
		move(set, q, n)
		XORQ(k, k)
		Label(label("total"))
		CMPQ(k, number)
		JGE(LabelRef(label("totals")))
		h, level := count(k)
		VADDPS(h, n, n)
		VMULPS(h, level, level)
		VADDPS(level, sum, sum)
		INCQ(k)
		JMP(LabelRef(label("total")))
		Label(label("totals"))
		m, best, top, bottom := zeroed(set), zeroed(set), zeroed(set), bitsInAll(set, 0x3f800000) // 0/1
		XORQ(k, k)
		Label(label("level"))
		CMPQ(k, number)
		JGE(LabelRef(label("levels")))
		h, level = count(k)
		t, p, mine, other, v := set.vec(), set.vec(), set.vec(), set.vec(), set.vec()
		VADDPS(h, q, q)
		VMULPS(h, level, v)
		VADDPS(v, m, m)
		VMULPS(n, m, t)
		VMULPS(sum, q, v)
		VSUBPS(v, t, t)
		VSUBPS(q, n, p)
		VMULPS(q, p, p)
		VMULPS(t, t, mine)
		VMULPS(bottom, mine, mine)
		VMULPS(top, top, other)
		VMULPS(p, other, other)
		VSUBPS(other, mine, mine)
		VMULPS(close, other, other)
		andBytes(set, magnitude, mine, v)
		zero := set.vec()
		set.zero(zero)
		const greater, less, unequal = 30, 17, 12
		if wide(set) {
			more, near, has := K(), K(), K()
			VCMPPS(Imm(unequal), zero, h, has)
			VCMPPS(Imm(greater), zero, mine, more)
			VCMPPS(Imm(less), other, v, near)
			KANDW(has, near, near)
			KORTESTW(near, near)
			JEQ(LabelRef(label("clear")))
			moreVariance512(t, p, top, bottom, more)
			Label(label("clear"))
			KANDW(has, more, more)
			VMOVAPS(t, more, top)
			VMOVAPS(p, more, bottom)
			VMOVAPS(level, more, best)
		} else {
			VCMPPS(Imm(less), other, v, v)
			VCMPPS(Imm(greater), zero, mine, mine)
			VCMPPS(Imm(unequal), zero, h, h)
			VPTEST(h, v)
			JEQ(LabelRef(label("clear")))
			moreVariance2(t, p, top, bottom, mine)
			Label(label("clear"))
			VPAND(h, mine, mine)
			VBLENDVPS(mine, t, top, top)
			VBLENDVPS(mine, p, bottom, bottom)
			VBLENDVPS(mine, level, best, best)
		}
		INCQ(k)
		JMP(LabelRef(label("level")))
		Label(label("levels"))
		VCVTTPS2DQ(best, best)
		narrow(set, u8, best, Mem{Base: dst, Disp: part * lanes})
	}
	leave()
}

// moreVariance512 compares t*t/p with top*top/bottom in float64.
func moreVariance512(t, p, top, bottom reg.VecVirtual, more reg.Register) {
	masks := [2]reg.Register{K(), K()}
	for half, k := range masks {
		fraction := func(t, p reg.VecVirtual) reg.VecVirtual {
			a, b := ZMM(), ZMM()
			for _, v := range []struct{ from, to reg.VecVirtual }{{t, a}, {p, b}} {
				part := v.from.AsY()
				if half > 0 {
					y := YMM()
					VEXTRACTF64X4(Imm(1), v.from, y)
					part = y
				}
				VCVTPS2PD(part, v.to)
			}
			VMULPD(a, a, a)
			VDIVPD(b, a, a)
			return a
		}
		VCMPPD(Imm(30), fraction(top, bottom), fraction(t, p), k)
	}
	KUNPCKBW(masks[0], masks[1], more)
}

// moreVariance2 is like moreVariance512.
func moreVariance2(t, p, top, bottom, more reg.VecVirtual) {
	var masks [2]reg.VecVirtual
	for half := range masks {
		fraction := func(t, p reg.VecVirtual) reg.VecVirtual {
			a, b := YMM(), YMM()
			for _, v := range []struct{ from, to reg.VecVirtual }{{t, a}, {p, b}} {
				part := v.from.AsX()
				if half > 0 {
					x := XMM()
					VEXTRACTF128(Imm(1), v.from, x)
					part = x
				}
				VCVTPS2PD(part, v.to)
			}
			VMULPD(a, a, a)
			VDIVPD(b, a, a)
			return a
		}
		mine := fraction(t, p)
		VCMPPD(Imm(30), fraction(top, bottom), mine, mine)
		masks[half] = mine
	}
	VSHUFPS(Imm(0x88), masks[1], masks[0], more)
	VPERMQ(Imm(0xd8), more, more)
}

// extremes emits a loop that keeps the lesser or the greater of elements.
func extremes(of elem, greater bool) func(set isa, name string) {
	var pick func(...Op)
	switch {
	case of == u8 && greater:
		pick = VPMAXUB
	case of == u8:
		pick = VPMINUB
	case greater:
		pick = VPMAXUW
	default:
		pick = VPMINUW
	}
	return func(set isa, name string) {
		text(name, NOSPLIT, "func(dst, src *byte, n int)", name+fmt.Sprintf(" computes, for n bytes, a multiple of %d,", set.bytes()), "",
			"\tfor i := range n {", "\t\tdst[i] = extreme(dst[i], src[i])", "\t}", "", "in this order, as src may be a later part of dst.")
		dst, src, n, i := arg("dst"), arg("src"), arg("n"), GP64()
		loopTo(i, n, I32(set.bytes()), func() {
			at := Mem{Base: dst, Index: i, Scale: 1}
			v := loaded(set, at)
			pick(Mem{Base: src, Index: i, Scale: 1}, v, v)
			set.store(v, at)
		})
		leave()
	}
}
