package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func fourierType(e elem) string {
	if e == f32 {
		return "F32"
	}
	return "F64"
}

// A point is two cache lines: real and imaginary parts.
const pointBytes = 2 * lineBytes

// floats emits arithmetic on one float type: d = a op b.
type floats struct {
	set isa
	e   elem
}

func (f *floats) add(a, b Op) reg.VecVirtual {
	d := f.set.vec()
	if f.e == f32 {
		VADDPS(b, a, d)
	} else {
		VADDPD(b, a, d)
	}
	return d
}

func (f *floats) sub(a, b Op) reg.VecVirtual {
	d := f.set.vec()
	if f.e == f32 {
		VSUBPS(b, a, d)
	} else {
		VSUBPD(b, a, d)
	}
	return d
}

func (f *floats) mul(a, b Op) reg.VecVirtual {
	d := f.set.vec()
	if f.e == f32 {
		VMULPS(b, a, d)
	} else {
		VMULPD(b, a, d)
	}
	return d
}

// all broadcasts a number to all lanes.
func (f *floats) all(m Mem) reg.VecVirtual {
	d := f.set.vec()
	if f.e == f32 {
		VBROADCASTSS(m, d)
	} else {
		VBROADCASTSD(m, d)
	}
	return d
}

// product multiplies complex numbers, by the conjugate of the second if asked for.
func (f *floats) product(re, im, wr, wi Op, conjugate bool) (reg.VecVirtual, reg.VecVirtual) {
	if conjugate {
		return f.add(f.mul(re, wr), f.mul(im, wi)), f.sub(f.mul(im, wr), f.mul(re, wi))
	}
	return f.sub(f.mul(re, wr), f.mul(im, wi)), f.add(f.mul(re, wi), f.mul(im, wr))
}

// fourierFour emits a butterfly of four points, forward or backward.
func fourierFour(forward, twiddles bool) func(set isa, e elem, name string) {
	return func(set isa, e elem, name string) {
		which, signature := "up4", "func(buf *byte, blocks int)"
		if forward {
			which = "down4"
		}
		doc := []string{name + " is", "", "\tfor b := range blocks {", "\t\t" + which + "(buf[b*4*line:], line, nil)", "\t}"}
		if twiddles {
			signature = "func(buf *byte, blocks, quarter int, twiddles *byte)"
			doc = []string{name + " is", "", "\tfor b := range blocks {", "\t\tfor j := range quarter {",
				"\t\t\t" + which + "(buf[(b*4*quarter+j)*line:], quarter*line, twiddles[6*j:])", "\t\t}", "\t}"}
		}
		text(name, NOSPLIT, signature, doc...)
		f := &floats{set, e}
		p, blocks := arg("buf"), arg("blocks")
		step, step3 := GP64(), GP64()
		factors, w, j, quarter := GP64(), GP64(), GP64(), GP64()
		MOVQ(I32(pointBytes), step)
		if twiddles {
			Load(Param("quarter"), quarter)
			Load(Param("twiddles"), factors)
			MOVQ(quarter, step)
			SHLQ(Imm(log2(pointBytes)), step)
		}
		LEAQ(Mem{Base: step, Index: step, Scale: 2}, step3)
		Label("block")
		TESTQ(blocks, blocks)
		JE(LabelRef("done"))
		if twiddles {
			MOVQ(factors, w)
			MOVQ(quarter, j)
			Label("point")
		}
		for at := 0; at < lineBytes; at += set.bytes() {
			re := [4]Mem{{Base: p, Disp: at}, {Base: p, Index: step, Scale: 1, Disp: at}, {Base: p, Index: step, Scale: 2, Disp: at}, {Base: p, Index: step3, Scale: 1, Disp: at}}
			im := re
			for i := range im {
				im[i].Disp += lineBytes
			}
			turned := func(i int, r, m reg.VecVirtual) (reg.VecVirtual, reg.VecVirtual) {
				if !twiddles || i == 0 {
					return r, m
				}
				k := (i - 1) * 2 * e.Bytes()
				return f.product(r, m, f.all(Mem{Base: w, Disp: k}), f.all(Mem{Base: w, Disp: k + e.Bytes()}), !forward)
			}
			load := func(i int) (reg.VecVirtual, reg.VecVirtual) {
				r, m := loaded(set, re[i]), loaded(set, im[i])
				if forward {
					return r, m
				}
				return turned(i, r, m)
			}
			store := func(i int, r, m reg.VecVirtual) {
				if forward {
					r, m = turned(i, r, m)
				}
				set.store(r, re[i])
				set.store(m, im[i])
			}
			ar, ai := load(0)
			cr, ci := load(2)
			s0r, s0i, s1r, s1i := f.add(ar, cr), f.add(ai, ci), f.sub(ar, cr), f.sub(ai, ci)
			br, bi := load(1)
			dr, di := load(3)
			s2r, s2i := f.add(br, dr), f.add(bi, di)
			var s3r, s3i reg.VecVirtual
			if forward {
				s3r, s3i = f.sub(bi, di), f.sub(dr, br)
			} else {
				s3r, s3i = f.sub(di, bi), f.sub(br, dr)
			}
			store(0, f.add(s0r, s2r), f.add(s0i, s2i))
			store(2, f.sub(s0r, s2r), f.sub(s0i, s2i))
			store(1, f.add(s1r, s3r), f.add(s1i, s3i))
			store(3, f.sub(s1r, s3r), f.sub(s1i, s3i))
		}
		if twiddles {
			ADDQ(I32(pointBytes), p)
			ADDQ(I32(6*e.Bytes()), w)
			DECQ(j)
			JNE(LabelRef("point"))
			ADDQ(step3, p)
		} else {
			ADDQ(I32(4*pointBytes), p)
		}
		DECQ(blocks)
		JMP(LabelRef("block"))
		Label("done")
		leave()
	}
}

func fourierTwo(set isa, e elem, name string) {
	text(name, NOSPLIT, "func(buf *byte, blocks int)", name+" is", "", "\tfor b := range blocks {", "\t\tstep2(buf[b*2*line:], line)", "\t}")
	f := &floats{set, e}
	p, blocks := arg("buf"), arg("blocks")
	Label("block")
	TESTQ(blocks, blocks)
	JE(LabelRef("done"))
	for at := 0; at < pointBytes; at += set.bytes() {
		a, b := loaded(set, Mem{Base: p, Disp: at}), loaded(set, Mem{Base: p, Disp: at + pointBytes})
		set.store(f.add(a, b), Mem{Base: p, Disp: at})
		set.store(f.sub(a, b), Mem{Base: p, Disp: at + pointBytes})
	}
	ADDQ(I32(2*pointBytes), p)
	DECQ(blocks)
	JMP(LabelRef("block"))
	Label("done")
	leave()
}

func fourierMultiply(add bool) func(set isa, e elem, name string) {
	return func(set isa, e elem, name string) {
		op := "="
		if add {
			op = "+="
		}
		text(name, NOSPLIT, "func(dst, a, b *byte, points int)", name+" computes, for complex numbers,", "", "\tfor i := range points {", "\t\tdst[i] "+op+" a[i] * b[i]", "\t}")
		f := &floats{set, e}
		dst, a, b, points := arg("dst"), arg("a"), arg("b"), arg("points")
		Label("point")
		TESTQ(points, points)
		JE(LabelRef("done"))
		for at := 0; at < lineBytes; at += set.bytes() {
			load := func(base reg.Register, at int) reg.VecVirtual { return loaded(set, Mem{Base: base, Disp: at}) }
			re, im := f.product(load(a, at), load(a, at+lineBytes), load(b, at), load(b, at+lineBytes), false)
			if add {
				re, im = f.add(load(dst, at), re), f.add(load(dst, at+lineBytes), im)
			}
			set.store(re, Mem{Base: dst, Disp: at})
			set.store(im, Mem{Base: dst, Disp: at + lineBytes})
		}
		for _, r := range []reg.Register{dst, a, b} {
			ADDQ(I32(pointBytes), r)
		}
		DECQ(points)
		JMP(LabelRef("point"))
		Label("done")
		leave()
	}
}

// fourierTranspose emits the transposition of squares of lines: pairs of rows are interleaved
// within 128 bits, then pairs of those, and finally the 128-bit parts are exchanged.
func fourierTranspose(set isa, e elem, name string) {
	lanes := lineBytes / e.Bytes()
	text(name, NOSPLIT, "func(dst, src *byte, dstStep, srcStep, count int)", name+fmt.Sprintf(" transposes count squares of %d points of %d lanes each, which are dstStep and srcStep bytes apart.", lanes, lanes))
	dst, src, dstStep, srcStep, count := arg("dst"), arg("src"), arg("dstStep"), arg("srcStep"), arg("count")
	side := set.bytes() / e.Bytes()
	Label("square")
	TESTQ(count, count)
	JE(LabelRef("done"))
	for part := 0; part < pointBytes; part += lineBytes {
		for i := 0; i < lanes; i += side {
			for j := 0; j < lanes; j += side {
				rows := make([]reg.VecVirtual, side)
				for k := range rows {
					rows[k] = loaded(set, Mem{Base: src, Disp: part + (j+k)*pointBytes + i*e.Bytes()})
				}
				for k, v := range turn(set, e, rows) {
					set.store(v, Mem{Base: dst, Disp: part + (i+k)*pointBytes + j*e.Bytes()})
				}
			}
		}
	}
	ADDQ(srcStep, src)
	ADDQ(dstStep, dst)
	DECQ(count)
	JMP(LabelRef("square"))
	Label("done")
	leave()
}

// turn transposes a square of vectors.
func turn(set isa, e elem, rows []reg.VecVirtual) []reg.VecVirtual {
	per := 16 / e.Bytes() // numbers in 128 bits
	quads := make([]reg.VecVirtual, len(rows))
	for g := 0; g < len(rows); g += per {
		if e == f64 {
			low, high := set.vec(), set.vec()
			VUNPCKLPD(rows[g+1], rows[g], low)
			VUNPCKHPD(rows[g+1], rows[g], high)
			quads[g], quads[g+1] = low, high
			continue
		}
		var t [4]reg.VecVirtual // rows 0 and 1, and rows 2 and 3, of the lower and the upper numbers
		for i := range t {
			t[i] = set.vec()
		}
		VUNPCKLPS(rows[g+1], rows[g], t[0])
		VUNPCKHPS(rows[g+1], rows[g], t[1])
		VUNPCKLPS(rows[g+3], rows[g+2], t[2])
		VUNPCKHPS(rows[g+3], rows[g+2], t[3])
		for k := range 2 {
			low, high := set.vec(), set.vec()
			VUNPCKLPD(t[2+k], t[k], low)
			VUNPCKHPD(t[2+k], t[k], high)
			quads[g+2*k], quads[g+2*k+1] = low, high
		}
	}
	out := make([]reg.VecVirtual, len(rows))
	for k := range per {
		if !wide(set) {
			out[k], out[per+k] = lanes2(quads[k], quads[per+k], 0x20), lanes2(quads[k], quads[per+k], 0x31)
			continue
		}
		shuffle := func(a, b reg.VecVirtual, which uint64) reg.VecVirtual {
			d := set.vec()
			VSHUFF64X2(Imm(which), b, a, d)
			return d
		}
		even, odd := shuffle(quads[k], quads[per+k], 0x88), shuffle(quads[k], quads[per+k], 0xdd)
		even2, odd2 := shuffle(quads[2*per+k], quads[3*per+k], 0x88), shuffle(quads[2*per+k], quads[3*per+k], 0xdd)
		out[k], out[2*per+k] = shuffle(even, even2, 0x88), shuffle(even, even2, 0xdd)
		out[per+k], out[3*per+k] = shuffle(odd, odd2, 0x88), shuffle(odd, odd2, 0xdd)
	}
	return out
}
