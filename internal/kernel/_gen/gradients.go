package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// gradientRoutines lists the assembly of package gradients, whose gradients.go documents each.
var gradientRoutines = []routine{
	{"roots", brightness(true)},
	{"floats", brightness(false)},
	{"differences", differences},
	{"strongest", strongest},
	{"polar", polar},
	{"blocks4", gradientBlocks(4)},
	{"blocks8", gradientBlocks(8)},
	{"normalize", normalizeBlocks},
	{"scores", scoreWindows},
}

// gradientLanes is gradients.Lanes.
const gradientLanes = 16

// brightness converts bytes to floats.
func brightness(root bool) func(isa, string) {
	return func(set isa, name string) {
		to := "float32(src[i])"
		if root {
			to = "sqrt(float32(src[i]))"
		}
		text(name, NOSPLIT, "func(dst, src *byte, n int)", name+" computes, for n a multiple of 16,", "", "\tfor i := range n {", "\t\tdst[i] = "+to, "\t}")
		dst, src, n, i := arg("dst"), arg("src"), arg("n"), GP64()
		loopTo(i, n, I32(set.bytes()/4), func() {
			v := set.vec()
			VPMOVZXBD(Mem{Base: src, Index: i, Scale: 1}, v)
			VCVTDQ2PS(v, v)
			if root {
				VSQRTPS(v, v)
			}
			set.store(v, Mem{Base: dst, Index: i, Scale: 4})
		})
		leave()
	}
}

func differences(set isa, name string) {
	text(name, NOSPLIT, "func(dx, dy, up, middle, down *byte, n int)", name+" computes, for n a multiple of 16,", "",
		"\tfor i := range n {", "\t\tdx[i], dy[i] = middle[i+2]-middle[i], down[i+1]-up[i+1]", "\t}")
	dx, dy, up, middle, down, n, i := arg("dx"), arg("dy"), arg("up"), arg("middle"), arg("down"), arg("n"), GP64()
	loopTo(i, n, I32(set.bytes()/4), func() {
		x, y := difference(set, Mem{Base: middle, Index: i, Scale: 4}, 8, 0), set.vec()
		set.load(Mem{Base: down, Index: i, Scale: 4, Disp: 4}, y)
		VSUBPS(Mem{Base: up, Index: i, Scale: 4, Disp: 4}, y, y)
		set.store(x, Mem{Base: dx, Index: i, Scale: 4})
		set.store(y, Mem{Base: dy, Index: i, Scale: 4})
	})
	leave()
}

// difference subtracts the floats at one distance from m from those at another.
func difference(set isa, m Mem, plus, minus int) reg.VecVirtual {
	v := set.vec()
	set.load(m.Offset(plus), v)
	VSUBPS(m.Offset(minus), v, v)
	return v
}

func strongest(set isa, name string) {
	text(name, NOSPLIT, "func(dx, dy, up, middle, down *byte, pitch, n int)", name+" computes, for n a multiple of 16, the largest of three gradients, the first of equal ones;",
		"pitch is in bytes.")
	dx, dy, up, middle, down, pitch, n, i := arg("dx"), arg("dy"), arg("up"), arg("middle"), arg("down"), arg("pitch"), arg("n"), GP64()
	XORQ(i, i)
	Label("loop")
	CMPQ(i, n)
	JGE(LabelRef("done"))
	at := GP64()
	MOVQ(i, at)
	SHLQ(Imm(2), at)
	var bestX, bestY, best reg.VecVirtual
	for c := range 3 {
		x, y, size, t := difference(set, Mem{Base: middle, Index: at, Scale: 1}, 8, 0), set.vec(), set.vec(), set.vec()
		set.load(Mem{Base: down, Index: at, Scale: 1, Disp: 4}, y)
		VSUBPS(Mem{Base: up, Index: at, Scale: 1, Disp: 4}, y, y)
		VMULPS(x, x, size)
		VMULPS(y, y, t)
		VADDPS(t, size, size)
		if c == 0 {
			bestX, bestY, best = x, y, size
		} else {
			larger(set, size, best, [][2]reg.VecVirtual{{x, bestX}, {y, bestY}, {size, best}})
		}
		if c < 2 {
			ADDQ(pitch, at)
		}
	}
	set.store(bestX, Mem{Base: dx, Index: i, Scale: 4})
	set.store(bestY, Mem{Base: dy, Index: i, Scale: 4})
	ADDQ(I32(set.bytes()/4), i)
	JMP(LabelRef("loop"))
	Label("done")
	leave()
}

// larger replaces the second of each pair by the first where size exceeds best.
func larger(set isa, size, best reg.VecVirtual, pairs [][2]reg.VecVirtual) {
	const less = 1
	if wide(set) {
		k := K()
		VCMPPS(Imm(less), size, best, k)
		for _, p := range pairs {
			VMOVAPS(p[0], k, p[1])
		}
		return
	}
	mask := set.vec()
	VCMPPS(Imm(less), size, best, mask)
	for _, p := range pairs {
		VBLENDVPS(mask, p[0], p[1], p[1])
	}
}

// polar computes angles by a polynomial, which is fused like OpenCV's.
func polar(set isa, name string) {
	text(name, NOSPLIT, "func(first, second, places, dx, dy, constants *byte, n int)", name+" is Polar for n a multiple of 16; constants lists its constants.")
	first, second, places, dx, dy, c, n, i := arg("first"), arg("second"), arg("places"), arg("dx"), arg("dy"), arg("constants"), arg("n"), GP64()
	constant := func(k int) reg.VecVirtual {
		v := set.vec()
		VBROADCASTSS(Mem{Base: c, Disp: 4 * k}, v)
		return v
	}
	const atan7, atan5, atan3, atan1, radians, angle, right, half, full, one, middle, tiny, bins, magnitude, unit = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14
	at := func(base reg.Register) Mem { return Mem{Base: base, Index: i, Scale: 4} }
	// choose returns a where the comparison of x with y holds, and b elsewhere.
	choose := func(predicate uint64, x, y, a, b reg.VecVirtual) {
		if wide(set) {
			k := K()
			VCMPPS(Imm(predicate), y, x, k)
			VMOVAPS(a, k, b)
			return
		}
		mask := set.vec()
		VCMPPS(Imm(predicate), y, x, mask)
		VBLENDVPS(mask, a, b, b)
	}
	const less = 1
	loopTo(i, n, I32(set.bytes()/4), func() {
		x, y := loaded(set, at(dx)), loaded(set, at(dy))
		m := set.vec()
		VMULPS(y, y, m)
		VFMADD231PS(x, x, m)
		VSQRTPS(m, m)
		sign, ax, ay := constant(magnitude), set.vec(), set.vec()
		andBytes(set, sign, x, ax)
		andBytes(set, sign, y, ay)
		t, s, q := set.vec(), set.vec(), set.vec()
		VMAXPS(ax, ay, t)
		VADDPS(constant(tiny), t, t)
		VMINPS(ax, ay, s)
		VDIVPS(t, s, t) // c
		VMULPS(t, t, s)
		move(set, constant(atan7), q)
		VFMADD213PS(constant(atan5), s, q)
		VFMADD213PS(constant(atan3), s, q)
		VFMADD213PS(constant(atan1), s, q)
		VMULPS(t, q, q) // the angle, up to 45°
		other, zero := set.vec(), set.vec()
		set.zero(zero)
		VSUBPS(q, constant(right), other)
		choose(less, ax, ay, other, q)
		VSUBPS(q, constant(half), other)
		choose(less, x, zero, other, q)
		VSUBPS(q, constant(full), other)
		choose(less, y, zero, other, q)
		VMULPS(constant(radians), q, q)
		VMULPS(constant(angle), q, q)
		VSUBPS(constant(middle), q, q)
		low := set.vec()
		if wide(set) {
			VRNDSCALEPS(Imm(1), q, low)
		} else {
			VROUNDPS(Imm(1), q, low)
		}
		VSUBPS(low, q, q) // the part of the next bin
		rest := set.vec()
		VSUBPS(q, constant(one), rest)
		VMULPS(rest, m, rest)
		VMULPS(q, m, m)
		set.store(rest, at(first))
		set.store(m, at(second))

		bin, count, next := set.vec(), constant(bins), set.vec()
		VCVTTPS2DQ(low, bin)
		none := set.vec()
		set.zero(none)
		wrapBins(set, none, bin, count, bin, true)   // bin < 0: add
		wrapBins(set, bin, count, count, bin, false) // bin >= count: subtract
		VPADDD(constant(unit), bin, next)
		wrapBins(set, next, count, count, next, false)
		VPSLLD(Imm(4), bin, bin)
		VPSLLD(Imm(20), next, next)
		VPADDD(next, bin, bin)
		set.store(bin, at(places))
	})
	leave()
}

// wrapBins adds count to v where a > b or, without adds, subtracts it where a >= b.
func wrapBins(set isa, a, b, count, v reg.VecVirtual, adds bool) {
	if wide(set) {
		k := K()
		if adds {
			VPCMPGTD(b, a, k)
			VPADDD(count, v, k, v)
		} else {
			VPCMPD(Imm(5), b, a, k) // not less
			VPSUBD(count, v, k, v)
		}
		return
	}
	mask := set.vec()
	if adds {
		VPCMPGTD(b, a, mask)
		VPAND(count, mask, mask)
		VPADDD(mask, v, v)
		return
	}
	VPCMPGTD(a, b, mask) // a < b: keep
	VPANDN(count, mask, mask)
	VPSUBD(mask, v, v)
}

const (
	histPitch  = 16*256 + 16*17 // gradients.pitch
	pixelBytes = 64
	spreadAt   = 48 // of gradients.Pixel
)

// gradientBlocks keeps a vector of the four cells for each bin, and adds a pixel to it twice. Several
// blocks take turns, because an addition waits for the one before if both are to the same bin.
func gradientBlocks(group int) func(isa, string) {
	return func(_ isa, name string) { emitBlocks(group, name) }
}

func emitBlocks(group int, name string) {
	text(name, NOSPLIT, "func(planes *byte, stride int, first, second, places *byte, lattice int, offsets, pixels *byte, count int, hist *byte, bins int)",
		name+fmt.Sprintf(" is BlockRow.Fill for %d blocks of four cells; distances are in bytes, and hist is memory for the histograms.", group))
	hist, n := arg("hist"), arg("bins")
	zero, at := XMM(), GP64()
	VXORPS(zero, zero, zero)
	MOVQ(hist, at)
	Label("clear")
	for b := range group {
		VMOVUPS(zero, Mem{Base: at, Disp: b * histPitch})
	}
	ADDQ(Imm(16), at)
	DECQ(n)
	JNZ(LabelRef("clear"))

	first, second, places, lattice := arg("first"), arg("second"), arg("places"), arg("lattice")
	offsets, pixels, count := arg("offsets"), arg("pixels"), arg("count")
	Label("pixel")
	spread, x := XMM(), GP64()
	MOVLQSX(Mem{Base: offsets}, x)
	SHLQ(Imm(2), x)
	VMOVUPS(Mem{Base: pixels, Disp: spreadAt}, spread)
	for b := range group {
		bin, next := GP64(), GP64()
		MOVL(Mem{Base: places, Index: x, Scale: 1}, next.As32())
		MOVWLZX(next.As16(), bin.As32())
		SHRL(Imm(16), next.As32())
		v, w := XMM(), XMM()
		VBROADCASTSS(Mem{Base: first, Index: x, Scale: 1}, v)
		VMULPS(spread, v, v)
		to := Mem{Base: hist, Index: bin, Scale: 1, Disp: b * histPitch}
		VADDPS(to, v, v)
		VMOVUPS(v, to)
		VBROADCASTSS(Mem{Base: second, Index: x, Scale: 1}, w)
		VMULPS(spread, w, w)
		to = Mem{Base: hist, Index: next, Scale: 1, Disp: b * histPitch}
		VADDPS(to, w, w)
		VMOVUPS(w, to)
		if b < group-1 {
			ADDQ(lattice, x)
		}
	}
	ADDQ(Imm(4), offsets)
	ADDQ(Imm(pixelBytes), pixels)
	DECQ(count)
	JNZ(LabelRef("pixel"))

	// Transpose: from the cells of a block's bin to the blocks of a cell's bin.
	planes, stride, left := arg("planes"), arg("stride"), arg("bins")
	cell := GP64()
	MOVQ(left, cell)
	IMULQ(stride, cell)
	Label("bin")
	for from := 0; from < group; from += 4 {
		transposeCells(Mem{Base: hist, Disp: from * histPitch}, Mem{Base: planes, Disp: 4 * from}, cell)
	}
	ADDQ(Imm(16), hist)
	ADDQ(stride, planes)
	DECQ(left)
	JNZ(LabelRef("bin"))
	RET()
}

// transposeCells writes the cells of a bin of four blocks to planes that are cell bytes apart.
func transposeCells(hist, planes Mem, cell reg.Register) {
	var v, t [4]reg.VecVirtual
	for b := range v {
		v[b], t[b] = XMM(), XMM()
		VMOVUPS(hist.Offset(b*histPitch), v[b])
	}
	VUNPCKLPS(v[1], v[0], t[0])
	VUNPCKHPS(v[1], v[0], t[1])
	VUNPCKLPS(v[3], v[2], t[2])
	VUNPCKHPS(v[3], v[2], t[3])
	to := GP64()
	LEAQ(planes, to)
	for k := range v {
		r := XMM()
		if k%2 == 0 {
			VMOVLHPS(t[k/2+2], t[k/2], r)
		} else {
			VMOVHLPS(t[k/2], t[k/2+2], r)
		}
		VMOVUPS(r, Mem{Base: to})
		if k < 3 {
			ADDQ(cell, to)
		}
	}
}

// normalizeBlocks keeps a block in every lane.
func normalizeBlocks(set isa, name string) {
	text(name, NOSPLIT, "func(planes *byte, stride, length, n int, clip, grow float32)", name+" is Normalize for a length that is a multiple of 4, and n of 16; stride is in bytes.")
	planes, stride, length, n := arg("planes"), arg("stride"), arg("length"), arg("n")
	clip, grow, one := set.vec(), set.vec(), set.vec()
	VBROADCASTSS(param("clip"), clip)
	VBROADCASTSS(param("grow"), grow)
	single := func(bits uint32) reg.VecVirtual {
		r, x, v := GP32(), XMM(), set.vec()
		MOVL(U32(bits), r)
		VMOVD(r, x)
		VBROADCASTSS(x, v)
		return v
	}
	VMOVAPS(single(0x3f800000), one)
	least := single(0x3a83126f) // 1e-3
	Label("vector")
	// pass goes through the numbers of the blocks; each returns what is stored, or nil.
	pass := func(label string, each func(v reg.VecVirtual, k int) bool) {
		at, left := GP64(), GP64()
		MOVQ(planes, at)
		MOVQ(length, left)
		Label(label)
		for k := range 4 {
			v := loaded(set, Mem{Base: at})
			if each(v, k) {
				set.store(v, Mem{Base: at})
			}
			ADDQ(stride, at)
		}
		SUBQ(Imm(4), left)
		JNZ(LabelRef(label))
	}
	var sums [4]reg.VecVirtual
	begin := func() {
		for k := range sums {
			sums[k] = set.vec()
			set.zero(sums[k])
		}
	}
	square := func(v reg.VecVirtual, k int) {
		s := set.vec()
		VMULPS(v, v, s)
		VADDPS(s, sums[k], sums[k])
	}
	scale := func(more reg.VecVirtual) reg.VecVirtual {
		VADDPS(sums[1], sums[0], sums[0])
		VADDPS(sums[3], sums[2], sums[2])
		VADDPS(sums[2], sums[0], sums[0])
		VSQRTPS(sums[0], sums[0])
		VADDPS(more, sums[0], sums[0])
		s := set.vec()
		VDIVPS(sums[0], one, s)
		return s
	}
	begin()
	pass("squares", func(v reg.VecVirtual, k int) bool { square(v, k); return false })
	s := scale(grow)
	begin()
	pass("limit", func(v reg.VecVirtual, k int) bool {
		VMULPS(s, v, v)
		VMINPS(clip, v, v)
		square(v, k)
		return true
	})
	s = scale(least)
	pass("scale", func(v reg.VecVirtual, _ int) bool { VMULPS(s, v, v); return true })
	ADDQ(Imm(uint64(set.bytes())), planes)
	SUBQ(Imm(uint64(set.bytes()/4)), n)
	JNZ(LabelRef("vector"))
	leave()
}

// scoreWindows keeps a window in every lane: sixteen, in one vector or two. It goes through the
// blocks row by row, so that the cache keeps the planes of a row for all columns, and adds up
// what they contribute afterwards, column by column.
func scoreWindows(set isa, name string) {
	text(name, NOSPLIT, "func(scores, planes *byte, rows *int, down, across, step, stride, length int, coefficients, parts *byte, coefficientStep, partStep, n int)",
		name+" is Windows.Scores for a length that is a multiple of 4, and n of 16; step and stride are in bytes. parts is",
		"memory for 16 float64 for each block of a window. coefficientStep and partStep are the distances in bytes from a",
		"block to the one in the next column.")
	scores, planes, stride, n := arg("scores"), arg("planes"), arg("stride"), arg("n")
	vectors := 4 * gradientLanes / set.bytes()
	Label("windows")
	rowCoefficients, rowParts, rows, left := GP64(), GP64(), GP64(), GP64()
	MOVQ(param("coefficients"), rowCoefficients)
	MOVQ(param("parts"), rowParts)
	MOVQ(param("rows"), rows)
	MOVQ(param("down"), left)
	Label("row")
	c, part, column, columns := GP64(), GP64(), GP64(), GP64()
	MOVQ(rowCoefficients, c)
	MOVQ(rowParts, part)
	MOVQ(Mem{Base: rows}, column)
	LEAQ(Mem{Base: planes, Index: column, Scale: 4}, column)
	MOVQ(param("across"), columns)
	Label("block")
	at, numbers, coefficient := GP64(), GP64(), GP64()
	MOVQ(column, at)
	MOVQ(c, coefficient)
	MOVQ(param("length"), numbers)
	lanes := make([][4]reg.VecVirtual, vectors)
	for v := range lanes {
		for k := range 4 {
			lanes[v][k] = set.vec()
			set.zero(lanes[v][k])
		}
	}
	Label("numbers")
	for k := range 4 {
		one := set.vec()
		VBROADCASTSS(Mem{Base: coefficient, Disp: 4 * k}, one)
		for v := range lanes {
			product := set.vec()
			VMULPS(Mem{Base: at, Disp: v * set.bytes()}, one, product)
			VADDPS(product, lanes[v][k], lanes[v][k])
		}
		ADDQ(stride, at)
	}
	ADDQ(Imm(16), coefficient)
	SUBQ(Imm(4), numbers)
	JNZ(LabelRef("numbers"))
	for v := range lanes {
		l := lanes[v]
		VADDPS(l[1], l[0], l[0])
		VADDPS(l[3], l[2], l[2])
		for half := range 2 {
			a, b := halfDoubles(set, l[0], half), halfDoubles(set, l[2], half)
			VADDPD(b, a, a)
			set.store(a, Mem{Base: part, Disp: (2*v + half) * set.bytes()})
		}
	}
	ADDQ(param("coefficientStep"), c)
	ADDQ(param("partStep"), part)
	ADDQ(param("step"), column)
	DECQ(columns)
	JNZ(LabelRef("block"))
	length := GP64()
	MOVQ(param("length"), length)
	LEAQ(Mem{Base: rowCoefficients, Index: length, Scale: 4}, rowCoefficients)
	ADDQ(Imm(8*gradientLanes), rowParts)
	ADDQ(Imm(8), rows)
	DECQ(left)
	JNZ(LabelRef("row"))

	MOVQ(param("parts"), rowParts)
	MOVQ(param("across"), left)
	IMULQ(param("down"), left)
	var sums []reg.VecVirtual // two vectors of float64 for each of float32
	for k := range 2 * vectors {
		sums = append(sums, loaded(set, Mem{Base: scores, Disp: k * set.bytes()}))
	}
	Label("add")
	for k, sum := range sums {
		VADDPD(Mem{Base: rowParts, Disp: k * set.bytes()}, sum, sum)
	}
	ADDQ(Imm(8*gradientLanes), rowParts)
	DECQ(left)
	JNZ(LabelRef("add"))
	for k, v := range sums {
		set.store(v, Mem{Base: scores, Disp: k * set.bytes()})
	}
	ADDQ(Imm(8*gradientLanes), scores)
	ADDQ(Imm(4*gradientLanes), planes)
	SUBQ(Imm(gradientLanes), n)
	JNZ(LabelRef("windows"))
	leave()
}

// halfDoubles converts the lower or the upper half of a vector of float32 to float64.
func halfDoubles(set isa, v reg.VecVirtual, half int) reg.VecVirtual {
	to := set.vec()
	switch {
	case wide(set) && half == 0:
		VCVTPS2PD(v.AsY(), to)
	case wide(set):
		upper := YMM()
		VEXTRACTF64X4(Imm(1), v, upper)
		VCVTPS2PD(upper, to)
	case half == 0:
		VCVTPS2PD(v.AsX(), to)
	default:
		upper := XMM()
		VEXTRACTF128(Imm(1), v, upper)
		VCVTPS2PD(upper, to)
	}
	return to
}
