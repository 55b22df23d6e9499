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

// levelGroup is the number of lines that are skipped together if they do not matter: most levels are in none of the windows.
const levelGroup = 4

// skipGroup jumps to a label unless a count in a group of lines is greater than most.
func skipGroup(set isa, counts reg.Register, most []reg.VecVirtual, label string) {
	if wide(set) {
		v, k := loaded(set, Mem{Base: counts}), K()
		for line := 1; line < levelGroup; line++ {
			VPMAXUW(Mem{Base: counts, Disp: line * laneBytes}, v, v)
		}
		VPCMPUW(Imm(6), most[0], v, k)
		KORTESTD(k, k)
		JEQ(LabelRef(label))
		return
	}
	same, bits := set.vec(), GP32()
	set.ones(same)
	for i, m := range most {
		v := set.vec()
		VPMAXUW(Mem{Base: counts, Disp: i * set.bytes()}, m, v)
		for line := 1; line < levelGroup; line++ {
			VPMAXUW(Mem{Base: counts, Disp: line*laneBytes + i*set.bytes()}, v, v)
		}
		VPCMPEQW(m, v, v)
		VPAND(v, same, same)
	}
	VPMOVMSKB(same, bits)
	CMPL(bits, I8(-1))
	JEQ(LabelRef(label))
}

func majorityLanes(set isa, name string) {
	text(name, NOSPLIT, "func(dst, counts *byte)", name+" computes", "", "\tfor x := range 32 {",
		"\t\tfor i := range 256 {", "\t\t\tif counts[i][x] > counts[dst[x]][x] {", "\t\t\t\tdst[x] = i // which is 0 before", "\t\t\t}", "\t\t}", "\t}")
	dst, counts, groups := arg("dst"), arg("counts"), GP64()
	MOVQ(U32(256/levelGroup), groups)
	zeros := func(int) reg.VecVirtual { return zeroed(set) }
	most, at := laneVectors(set, zeros), laneVectors(set, zeros)
	first, one, step := zeroed(set), wordsInAll(set, 1), wordsInAll(set, levelGroup)
	Label("group")
	skipGroup(set, counts, most, "next")
	level := set.vec()
	move(set, first, level)
	for line := range levelGroup {
		for i := range most {
			m := Mem{Base: counts, Disp: line*laneBytes + i*set.bytes()}
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
		VPADDW(one, level, level)
	}
	Label("next")
	VPADDW(step, first, first)
	ADDQ(I32(levelGroup*laneBytes), counts)
	DECQ(groups)
	JNZ(LabelRef("group"))
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

// Offsets behind the list of levels.
const (
	laneNumbers = 8 * 256
	laneSums    = laneNumbers + laneBytes
)

// presentLevels writes the levels that any window has to a list, as 32-bit integers and as float32, the numbers of pixels in windows and the sums of their
// levels behind it, and returns the number of levels.
func presentLevels(set isa, counts, list reg.Register) reg.GPVirtual {
	n, level, has := GP64(), GP64(), GP64()
	XORQ(n, n)
	XORQ(has, has)
	XORQ(level, level)
	zeros := func(int) reg.VecVirtual { return zeroed(set) }
	none, numbers, sums := laneVectors(set, zeros), laneVectors(set, zeros), laneVectors(set, zeros)
	Label("group")
	skipGroup(set, counts, none, "absent")
	for line := range levelGroup {
		entry, words, any, number := Mem{Base: list, Index: n, Scale: 8}, set.vec(), set.vec(), XMM()
		MOVL(level.As32(), entry)
		VPBROADCASTW(entry, words)
		VCVTSI2SSL(level.As32(), none[0].AsX(), number)
		VMOVSS(number, entry.Offset(4))
		for i := range numbers {
			v, product := loaded(set, Mem{Base: counts, Disp: line*laneBytes + i*set.bytes()}), set.vec()
			VPADDW(v, numbers[i], numbers[i])
			VPMULLW(words, v, product)
			VPADDW(product, sums[i], sums[i])
			if i == 0 {
				move(set, v, any)
			} else {
				VPOR(v, any, any)
			}
		}
		if wide(set) {
			k := K()
			VPTESTMD(any, any, k)
			KORTESTW(k, k)
		} else {
			VPTEST(any, any)
		}
		SETNE(has.As8())
		ADDQ(has, n)
		INCQ(level)
	}
	JMP(LabelRef("listed"))
	Label("absent")
	ADDQ(Imm(levelGroup), level)
	Label("listed")
	ADDQ(I32(levelGroup*laneBytes), counts)
	CMPQ(level, U32(256))
	JNE(LabelRef("group"))
	for i := range numbers {
		set.store(numbers[i], Mem{Base: list, Disp: laneNumbers + i*set.bytes()})
		set.store(sums[i], Mem{Base: list, Disp: laneSums + i*set.bytes()})
	}
	return n
}

// otsuLanes compares variances as fractions of float32, of numerators and denominators. Only where they are too close for that, it
// divides in float64.
func otsuLanes(set isa, name string) {
	lanes := set.bytes() / 4
	text(name, NOSPLIT, "func(dst, counts, list *byte)", name+" computes, with a list of 544 words as scratch memory,", "", "\tfor x := range 32 {",
		"\t\tn, sum, best := 0, 0, 0.0", "\t\tfor i := range 256 {", "\t\t\tn += counts[i][x]", "\t\t\tsum += i * counts[i][x]", "\t\t}",
		"\t\tq, m := counts[0][x], 0", "\t\tfor i := 1; i < 256 && q+counts[i][x] < n; i++ {", "\t\t\tq += counts[i][x]", "\t\t\tm += i * counts[i][x]",
		"\t\t\tt := float64(n*m - sum*q)", "\t\t\tif v := t * t / float64(q*(n-q)); counts[i][x] > 0 && v > best {",
		"\t\t\t\tdst[x], best = i, v // dst[x] is 0 before", "\t\t\t}", "\t\t}", "\t}", "", "for windows of up to 255 pixels.")
	dst, counts, list := arg("dst"), arg("counts"), arg("list")
	number := presentLevels(set, counts, list)
	counts = arg("counts")
	numbers := constants{}
	all := func(what string, bits uint64) Mem {
		return numbers.mem(name+what, slices.Repeat([]uint64{bits<<32 | bits}, 8)...)
	}
	close, magnitude := all("Close", uint64(math.Float32bits(0x1p-20))), all("Magnitude", 1<<31-1)
	for part := range lanePixels / lanes {
		label := func(s string) string { return fmt.Sprint(s, part) }
		// words loads 16-bit words as floats.
		words := func(m Mem) reg.VecVirtual {
			v := set.vec()
			VPMOVZXWD(m, v)
			VCVTDQ2PS(v, v)
			return v
		}
		at := part * lanes * 2
		n, sum := words(Mem{Base: list, Disp: laneNumbers + at}), words(Mem{Base: list, Disp: laneSums + at})
		q, m, best, k := zeroed(set), zeroed(set), zeroed(set), GP64()
		top, bottom := zeroed(set), bitsInAll(set, math.Float32bits(1)) // 0/1
		XORQ(k, k)
		Label(label("level"))
		CMPQ(k, number)
		JGE(LabelRef(label("levels")))
		line, level := GP64(), set.vec()
		MOVL(Mem{Base: list, Index: k, Scale: 8}, line.As32())
		SHLQ(Imm(log2(laneBytes)), line)
		h := words(Mem{Base: counts, Index: line, Scale: 1, Disp: at})
		VBROADCASTSS(Mem{Base: list, Index: k, Scale: 8, Disp: 4}, level)
		t, p, mine, other, v := set.vec(), set.vec(), set.vec(), set.vec(), set.vec()
		VADDPS(h, q, q)
		VMULPS(level, h, h) // 0 if nothing is added, and for level 0, which separates nothing
		VADDPS(h, m, m)
		VMULPS(n, m, t)
		VMULPS(sum, q, v)
		VSUBPS(v, t, t)
		VSUBPS(q, n, p)
		VMULPS(q, p, p)
		zero := set.vec()
		set.zero(zero)
		const greater, less, unequal = 30, 17, 12
		var has reg.Register
		VMULPS(t, t, t)
		if wide(set) {
			has = K()
			VCMPPS(Imm(unequal), zero, h, has)
			VMULPS_Z(bottom, t, has, mine)
		} else {
			VCMPPS(Imm(unequal), zero, h, h)
			VPAND(h, t, t)
			VMULPS(bottom, t, mine)
		}
		VMULPS(p, top, other)
		VSUBPS(other, mine, v)
		andBytes(set, magnitude, v, v)
		if wide(set) {
			more, near := K(), K()
			VCMPPS(Imm(greater), other, mine, more)
			VMULPS(close, other, other)
			VCMPPS(Imm(less), other, v, near)
			KORTESTW(near, near)
			JEQ(LabelRef(label("clear")))
			moreVariance512(t, p, top, bottom, more)
			KANDW(has, more, more)
			Label(label("clear"))
			VMOVAPS(t, more, top)
			VMOVAPS(p, more, bottom)
			VMOVAPS(level, more, best)
		} else {
			near := GP32()
			VCMPPS(Imm(greater), other, mine, mine)
			VMULPS(close, other, other)
			VCMPPS(Imm(less), other, v, v)
			VMOVMSKPS(v, near)
			TESTL(near, near)
			JEQ(LabelRef(label("clear")))
			moreVariance2(t, p, top, bottom, mine)
			VPAND(h, mine, mine)
			Label(label("clear"))
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

// moreVariance512 compares t/p with top/bottom in float64, for numerators that are rounded squares: the square root of such a square is
// the number that was squared.
func moreVariance512(t, p, top, bottom reg.VecVirtual, more reg.Register) {
	masks := [2]reg.Register{K(), K()}
	for half, k := range masks {
		fraction := func(t, p reg.VecVirtual) reg.VecVirtual {
			a, b, root := ZMM(), ZMM(), ZMM()
			VSQRTPS(t, root)
			for _, v := range []struct{ from, to reg.VecVirtual }{{root, a}, {p, b}} {
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
			a, b, root := YMM(), YMM(), YMM()
			VSQRTPS(t, root)
			for _, v := range []struct{ from, to reg.VecVirtual }{{root, a}, {p, b}} {
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
