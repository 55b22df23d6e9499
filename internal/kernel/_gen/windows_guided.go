package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Offsets in the Go struct windows.guidedSums.
const (
	sumsHi      = 0
	sumsLo      = 4 * 8
	sumsCarry   = 8 * 8
	sumsDoubles = sumsCarry + 4*64
	sumsSingles = sumsDoubles + 4*8
)

// guidedArgs holds the registers that the kernels of guided filters of bytes share.
type guidedArgs struct {
	set  isa
	sums reg.Register
	i    reg.Register
}

// window returns the next vector of sums of windows.
func (g *guidedArgs) window(k int, scan *rowScan) reg.VecVirtual {
	at := GP64()
	MOVQ(Mem{Base: g.sums, Disp: sumsHi + 8*k}, at)
	v := loaded(g.set, Mem{Base: at, Index: g.i, Scale: 4})
	less := GP64()
	MOVQ(Mem{Base: g.sums, Disp: sumsLo + 8*k}, less)
	VPSUBD(Mem{Base: less, Index: g.i, Scale: 4}, v, v)
	scan.sum(v)
	return v
}

// double and single return constants broadcast to all lanes.
func (g *guidedArgs) double(k int) reg.VecVirtual {
	v := g.set.vec()
	VBROADCASTSD(Mem{Base: g.sums, Disp: sumsDoubles + 8*k}, v)
	return v
}

func (g *guidedArgs) single(k int) reg.VecVirtual {
	v := g.set.vec()
	VBROADCASTSS(Mem{Base: g.sums, Disp: sumsSingles + 4*k}, v)
	return v
}

// carries loads the sums before a row, or stores them after it.
func (g *guidedArgs) carries(scans []*rowScan, which []int, store bool) {
	for i, k := range which {
		m := Mem{Base: g.sums, Disp: sumsCarry + 64*k}
		if store {
			g.set.store(scans[i].carry, m)
		} else {
			g.set.load(m, scans[i].carry)
		}
	}
}

// guidedLines emits a kernel that fits a line in every window, in fixed-point arithmetic.
func guidedLines(own bool) func(set isa, name string) {
	return func(set isa, name string) {
		lanes := set.bytes() / 4
		doc := []string{
			name + fmt.Sprintf(" computes, for n a multiple of %d,", lanes), "", "\tfor x := range n {",
			"\t\tfor k := range sum {", "\t\t\tsum[k] += s.hi[k][x] - s.lo[k][x]", "\t\t}",
			"\t\ta[x], b[x] = s.line(sum) // as in Go", "\t}", "", "with s.carry holding the sums before and after.",
		}
		if own {
			doc[len(doc)-1] += " The image is its own guide: sums 0 and 2 are 1 and 3."
		}
		text(name, NOSPLIT, "func(a, b *byte, s *byte, n int, lanes *uint32)", doc...)
		which := []int{0, 1, 2, 3}
		if own {
			which = []int{0, 2}
		}
		scans := rowScans(set, "lanes", len(which))
		g := &guidedArgs{set: set, sums: arg("s"), i: GP64()}
		g.carries(scans, which, false)
		toA, toB, n := arg("a"), arg("b"), arg("n")
		loopTo(g.i, n, I32(lanes), func() {
			var sums [4]reg.VecVirtual
			for i, k := range which {
				sums[k] = g.window(k, scans[i])
			}
			var variance, covariance, guide, image [2]reg.VecVirtual
			for part := range 2 {
				i, ii := part64(set, sums[0], part), part64(set, sums[2], part)
				t := set.vec()
				count := g.double(0)
				VMULPD(count, ii, ii)
				VMULPD(i, i, t)
				VSUBPD(t, ii, ii)
				if !own {
					v, iv := part64(set, sums[1], part), part64(set, sums[3], part)
					VMULPD(count, iv, iv)
					VMULPD(i, v, t)
					VSUBPD(t, iv, iv)
					covariance[part] = toSingles(set, iv)
					VMULPD(g.double(1), v, v)
					VSUBPD(g.double(3), v, v)
					image[part] = toSingles(set, v)
				} else {
					covariance[part] = toSingles(set, ii)
				}
				VADDPD(g.double(2), ii, ii)
				variance[part] = toSingles(set, ii)
				VMULPD(g.double(1), i, i)
				VSUBPD(g.double(3), i, i)
				guide[part] = toSingles(set, i)
			}
			both := func(parts [2]reg.VecVirtual) reg.VecVirtual { return joined(set, parts[0], parts[1]) }
			by := both(variance)
			VMAXPS(g.single(2), by, by)
			slope := both(covariance)
			VDIVPS(by, slope, slope)
			i := both(guide)
			v := i
			if !own {
				v = both(image)
			}
			rest := set.vec()
			VMULPS(slope, i, rest)
			VSUBPS(rest, v, rest)
			for k, to := range []struct {
				v  reg.VecVirtual
				at reg.Register
			}{{slope, toA}, {rest, toB}} {
				VMULPS(g.single(k), to.v, to.v)
				VCVTPS2DQ(to.v, to.v)
				set.store(to.v, Mem{Base: to.at, Index: g.i, Scale: 4})
			}
		})
		g.carries(scans, which, true)
		leave()
	}
}

func guidedBytes(set isa, name string) {
	lanes := set.bytes() / 4
	text(name, NOSPLIT, "func(dst, guide *byte, s *byte, n int, lanes *uint32)",
		name+fmt.Sprintf(" computes, for n a multiple of %d,", lanes), "", "\tfor x := range n {",
		"\t\tfor k := range 2 {", "\t\t\tsum[k] += s.hi[k][x] - s.lo[k][x]", "\t\t}",
		"\t\tdst[x] = s.pixel(guide[x], sum) // as in Go", "\t}", "", "with s.carry holding the sums before and after.")
	which := []int{0, 1}
	scans := rowScans(set, "lanes", len(which))
	g := &guidedArgs{set: set, sums: arg("s"), i: GP64()}
	g.carries(scans, which, false)
	dst, guide, n := arg("dst"), arg("guide"), arg("n")
	XORQ(g.i, g.i)
	inverseA, inverseB, center, bias, zero := g.single(0), g.single(1), g.single(2), g.single(3), set.vec()
	set.zero(zero)
	Label("loop")
	CMPQ(g.i, n)
	JGE(LabelRef("done"))
	a, b := g.window(0, scans[0]), g.window(1, scans[1])
	VCVTDQ2PS(a, a)
	VMULPS(inverseA, a, a)
	i := set.vec()
	VPMOVZXBD(Mem{Base: guide, Index: g.i, Scale: 1}, i)
	VCVTDQ2PS(i, i)
	VSUBPS(center, i, i)
	VMULPS(i, a, a)
	VCVTDQ2PS(b, b)
	VMULPS(inverseB, b, b)
	VADDPS(b, a, a)
	VADDPS(bias, a, a)
	VMAXPS(zero, a, a)
	VCVTTPS2DQ(a, a)
	to := Mem{Base: dst, Index: g.i, Scale: 1}
	if wide(set) {
		VPMOVUSDB(a, to)
	} else {
		narrow(set, u8, a, to)
	}
	ADDQ(I32(lanes), g.i)
	JMP(LabelRef("loop"))
	Label("done")
	g.carries(scans, which, true)
	leave()
}

// Kernels of the guided filter that process four pixels at a time, at every level: apart from
// dividing, they mainly transpose pixels and channels.

// fourLoop emits a loop over n pixels, four at a time.
func fourLoop(body func(i reg.Register)) {
	n, i := arg("n"), GP64()
	loopTo(i, n, Imm(4), func() {
		body(i)
	})
	leave()
}

// fourBytes loads four bytes as float64.
func fourBytes(m Mem) reg.VecVirtual {
	x, v := XMM(), YMM()
	VPMOVZXBD(m, x)
	VCVTDQ2PD(x, v)
	return v
}

func guidedProducts(_ isa, name string) {
	text(name, NOSPLIT, "func(dst, img, guide *byte, n int)", name+" computes, for n a multiple of 4,", "", "\tfor x := range n {",
		"\t\ti, v := float64(guide[x]), float64(img[x])", "\t\tdst[4*x], dst[4*x+1], dst[4*x+2], dst[4*x+3] = i, v, i*i, i*v", "\t}")
	dst, img, guide := arg("dst"), arg("img"), arg("guide")
	fourLoop(func(x reg.Register) {
		i, v := fourBytes(Mem{Base: guide, Index: x, Scale: 1}), fourBytes(Mem{Base: img, Index: x, Scale: 1})
		ii, iv := YMM(), YMM()
		VMULPD(i, i, ii)
		VMULPD(i, v, iv)
		low, high := unpack(i, v)
		low2, high2 := unpack(ii, iv)
		for k, p := range []reg.VecVirtual{lanes2(low, low2, 0x20), lanes2(high, high2, 0x20), lanes2(low, low2, 0x31), lanes2(high, high2, 0x31)} {
			VMOVUPD(p, Mem{Base: dst, Disp: 32 * k})
		}
		ADDQ(I32(128), dst)
	})
}

func guidedFit(_ isa, name string) {
	text(name, NOSPLIT, "func(dst, hi, lo *byte, n int, inverse, epsilon float64)", name+" computes, for n a multiple of 4,", "", "\tfor x := range n {",
		"\t\ti, v, ii, iv := (hi[4*x+…]-lo[4*x+…]) * inverse", "\t\tvariance := max(0, ii-i*i) + epsilon",
		"\t\ta := (iv - i*v) / variance // 0 where that is 0", "\t\tdst[2*x], dst[2*x+1] = a, v-a*i", "\t}")
	dst, hi, lo := arg("dst"), arg("hi"), arg("lo")
	inverse, epsilon, zero := YMM(), YMM(), YMM()
	VBROADCASTSD(param("inverse"), inverse)
	VBROADCASTSD(param("epsilon"), epsilon)
	VXORPD(zero, zero, zero)
	fourLoop(func(reg.Register) {
		var d [4]reg.VecVirtual
		for k := range d {
			d[k] = YMM()
			VMOVUPD(Mem{Base: hi, Disp: 32 * k}, d[k])
			VSUBPD(Mem{Base: lo, Disp: 32 * k}, d[k], d[k])
			VMULPD(inverse, d[k], d[k])
		}
		low, high := unpack(d[0], d[1])
		low2, high2 := unpack(d[2], d[3])
		i, ii := lanes2(low, low2, 0x20), lanes2(low, low2, 0x31)
		v, iv := lanes2(high, high2, 0x20), lanes2(high, high2, 0x31)
		t := YMM()
		VMULPD(i, i, t)
		VSUBPD(t, ii, ii)
		VMAXPD(ii, zero, ii) // propagates NaN
		VADDPD(epsilon, ii, ii)
		VMULPD(v, i, t)
		VSUBPD(t, iv, iv)
		a, none := YMM(), YMM()
		VDIVPD(ii, iv, a)
		VCMPPD(Imm(0), zero, ii, none)
		VANDNPD(a, none, a)
		VMULPD(i, a, t)
		VSUBPD(t, v, v)
		low, high = unpack(a, v)
		VMOVUPD(lanes2(low, high, 0x20), Mem{Base: dst})
		VMOVUPD(lanes2(low, high, 0x31), Mem{Base: dst, Disp: 32})
		ADDQ(I32(128), hi)
		ADDQ(I32(128), lo)
		ADDQ(Imm(64), dst)
	})
}

func guidedPixels(_ isa, name string) {
	text(name, NOSPLIT, "func(dst, guide, hi, lo *byte, n int, inverse, half, most float64)", name+" computes, for n a multiple of 4,", "", "\tfor x := range n {",
		"\t\ta, b := (hi[2*x+…]-lo[2*x+…]) * inverse", "\t\tdst[x] = uint8(min(max(b+a*float64(guide[x]), 0)+half, most))", "\t}")
	dst, guide, hi, lo := arg("dst"), arg("guide"), arg("hi"), arg("lo")
	inverse, half, most, zero := YMM(), YMM(), YMM(), YMM()
	VBROADCASTSD(param("inverse"), inverse)
	VBROADCASTSD(param("half"), half)
	VBROADCASTSD(param("most"), most)
	VXORPD(zero, zero, zero)
	fourLoop(func(x reg.Register) {
		var d [2]reg.VecVirtual
		for k := range d {
			d[k] = YMM()
			VMOVUPD(Mem{Base: hi, Disp: 32 * k}, d[k])
			VSUBPD(Mem{Base: lo, Disp: 32 * k}, d[k], d[k])
			VMULPD(inverse, d[k], d[k])
		}
		a, b := unpack(d[0], d[1]) // of pixels 0, 2, 1 and 3
		i := fourBytes(Mem{Base: guide, Index: x, Scale: 1})
		VPERMPD(Imm(0xd8), i, i)
		VMULPD(i, a, a)
		VADDPD(a, b, a)
		VPERMPD(Imm(0xd8), a, a)
		VMAXPD(zero, a, a) // turns NaN into 0
		VADDPD(half, a, a)
		VMINPD(most, a, a)
		w := XMM()
		VCVTTPD2DQY(a, w)
		VPACKUSDW(w, w, w)
		VPACKUSWB(w, w, w)
		VMOVD(w, Mem{Base: dst, Index: x, Scale: 1})
		ADDQ(Imm(64), hi)
		ADDQ(Imm(64), lo)
	})
}

func products(set isa, name string) {
	lanes := set.bytes() / 2
	text(name, NOSPLIT, "func(dst, a, b *byte, n int)", name+fmt.Sprintf(" computes, for n a multiple of %d,", lanes), "",
		"\tfor i := range n {", "\t\tdst[i] = uint16(a[i]) * uint16(b[i])", "\t}")
	dst, a, b, n, i := arg("dst"), arg("a"), arg("b"), arg("n"), GP64()
	loopTo(i, n, I32(lanes), func() {
		v, w := set.vec(), set.vec()
		VPMOVZXBW(Mem{Base: a, Index: i, Scale: 1}, v)
		VPMOVZXBW(Mem{Base: b, Index: i, Scale: 1}, w)
		VPMULLW(w, v, v)
		set.store(v, Mem{Base: dst, Index: i, Scale: 2})
	})
	leave()
}
