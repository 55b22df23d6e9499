package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// avx2 emits AVX2 code. A vector of 32 bytes of sums is one block of the portable summation order.
type avx2 struct {
	constants
	step    []reg.Register // for each doubling step, the permutation that finds the element to add to each lane
	keep    []Mem          // for each doubling step, a mask of the lanes that add an element
	last    reg.Register   // permutation that broadcasts the vector's last sums
	sumMask reg.VecVirtual // mask of the sums in a row's tail
	pixMask reg.VecVirtual // mask of the 4-byte pixels in a row's tail
	end     reg.Register   // length of the row, at which a load of the tail ends
	shift   reg.Register   // number of bits to shift out, which belong to earlier pixels
	slid    reg.VecVirtual // or a shuffle that moves the bytes into place
	offset  reg.VecVirtual
	weights []reg.VecVirtual // of the dot products
}

func newAVX2() *avx2 { return &avx2{constants: constants{}} }

func (*avx2) name() string        { return "AVX2" }
func (*avx2) bytes() int          { return 32 }
func (*avx2) vec() reg.VecVirtual { return YMM() }

func (a *avx2) setup(o op, lanes reg.Register, offset Mem) {
	a.last = YMM()
	// AVX-512 uses only the upper half of low, which selects the last sums of a 32-byte block.
	VMOVDQU(Mem{Base: lanes, Disp: lanesLow + 32}, a.last)
	if o.dot {
		a.weights = nil
		for _, m := range []Mem{a.triangle(8, 0), a.triangle(8, 1), a.constants.ones()} {
			w := YMM()
			VMOVDQU(m, w)
			a.weights = append(a.weights, w)
		}
		return
	}
	a.step, a.keep = nil, nil
	for s := range steps(o) {
		idx := YMM()
		VMOVDQU(Mem{Base: lanes, Disp: lanesStep + 64*s}, idx)
		a.step = append(a.step, idx)
		a.keep = append(a.keep, Mem{Base: lanes, Disp: lanesKeep + 64*s})
	}
	if o.sum == f32 {
		a.offset = YMM()
		VBROADCASTSS(offset, a.offset)
	}
}

func (*avx2) folds(op) bool { return false }
func (*avx2) whole()        {}

func (a *avx2) tail(o op, elements, end reg.Register) {
	masks, dwords := GP64(), GP64()
	mask := func(size int, v reg.VecVirtual) {
		MOVQ(elements, dwords)
		if size == 8 {
			SHLQ(Imm(1), dwords)
		}
		NEGQ(dwords)
		VMOVDQU(Mem{Base: masks, Index: dwords, Scale: 4, Disp: 32}, v)
	}
	LEAQ(a.tailMasks(), masks)
	a.sumMask = YMM()
	mask(o.sum.Bytes(), a.sumMask)
	if o.pix.Bytes() == 4 {
		a.pixMask = a.sumMask
		if o.sum.Bytes() == 8 {
			a.pixMask = XMM()
			mask(4, a.pixMask)
		}
	}
	if o.pix.Bytes() <= 2 && a.loadBytes(o) == 16 {
		a.end, a.slid = end, XMM()
		LEAQ(a.slide(), masks)
		MOVQ(elements, dwords)
		NEGQ(dwords)
		VMOVDQU(Mem{Base: masks, Index: dwords, Scale: uint8(o.pix.Bytes()), Disp: 16}, a.slid)
	} else if o.pix.Bytes() <= 2 {
		// shift = (load - elements*size) bytes, in bits
		a.end, a.shift = end, GP64()
		MOVQ(elements, a.shift)
		NEGQ(a.shift)
		SHLQ(Imm(3+log2(o.pix.Bytes())), a.shift)
		ADDQ(I8(8*a.loadBytes(o)), a.shift)
	}
}

// loadBytes returns the number of bytes of narrow pixels that fill a vector of sums.
func (*avx2) loadBytes(o op) int { return 32 / o.sum.Bytes() * o.pix.Bytes() }

func (*avx2) load(m Mem, v reg.VecVirtual)        { VMOVDQU(m, v) }
func (*avx2) store(v reg.VecVirtual, m Mem)       { VMOVDQU(v, m) }
func (*avx2) stream(v reg.VecVirtual, m Mem)      { VMOVNTDQ(v, m) }
func (a *avx2) storeTail(v reg.VecVirtual, m Mem) { VPMASKMOVD(v, a.sumMask, m) }

func (a *avx2) keepTail(_ op, v reg.VecVirtual) { VPAND(a.sumMask, v, v) }

func (a *avx2) rowSums(o op, m Mem, partial bool, carry reg.VecVirtual) reg.VecVirtual {
	var v reg.VecVirtual
	switch {
	case o.dot && o.sum.Bytes() == 8:
		v = a.wideDots(o, m, partial)
	case o.dot:
		v = a.dots(o, m, partial)
	default:
		v = a.pixels(o, m, partial)
		t := YMM()
		for s := range a.step {
			VPERMD(v, a.step[s], t)
			VPAND(a.keep[s], t, t)
			add(o, v, t, v)
		}
	}
	return carryOn(o, v, a.last, carry)
}

func (a *avx2) pixels(o op, m Mem, partial bool) reg.VecVirtual {
	v := YMM()
	var from Op = m
	if partial {
		from = a.tailPixels(o, m)
	}
	switch {
	case o.pix == u32 && o.sum == f64:
		// AVX2 converts signed integers only. A 32-bit integer in the low bits of the float 2^52
		// adds its value to it, so subtracting 2^52 leaves the integer as a float.
		VPMOVZXDQ(from, v)
		VPOR(a.bias(), v, v)
		VSUBPD(a.bias(), v, v)
	case o.pix == o.sum && partial:
		v = from.(reg.VecVirtual)
	case o.pix == o.sum:
		VMOVDQU(from, v)
	default:
		load := loadOf(o)
		load.widen(o, v, XMM, func(to reg.VecVirtual) { load.all(from, to) })
	}
	return finish(o, v, a.offset)
}

// tailPixels loads the last few pixels of a row, followed by zeros, and reads nothing beyond the
// row: wide pixels under a mask, narrow ones by a load that ends with the row and is shifted into
// place.
func (a *avx2) tailPixels(o op, m Mem) reg.VecVirtual {
	if o.pix.Bytes() >= 4 {
		v, mask := YMM(), a.pixMask
		switch {
		case o.pix.Bytes() == 8:
			mask = a.sumMask
		case o.sum.Bytes() == 8:
			v = XMM()
		}
		VPMASKMOVD(m, mask, v)
		return v
	}
	bytes, v := GP64(), XMM()
	last := Mem{Base: m.Base, Index: a.end, Scale: m.Scale, Disp: -a.loadBytes(o)}
	if a.loadBytes(o) == 16 {
		VMOVDQU(last, v)
		VPSHUFB(a.slid, v, v)
		return v
	}
	if a.loadBytes(o) == 8 {
		MOVQ(last, bytes)
	} else {
		MOVL(last, bytes.As32())
	}
	SHRXQ(a.shift, bytes, bytes)
	VMOVQ(bytes, v)
	return v
}

func (a *avx2) lineSums(o op, m Mem, carry reg.VecVirtual) []reg.VecVirtual {
	if o.dot && o.sum.Bytes() == 8 {
		return a.wideDotLine(o, m, carry)
	}
	return []reg.VecVirtual{a.rowSums(o, m, false, carry), a.rowSums(o, m.Offset(a.loadBytes(o)), false, carry)}
}

// dots computes the prefix sums of a vector of bytes as dot products. For every four bytes, it
// broadcasts them to all lanes, and adds to each lane those that are not to its right. The weights
// are zeros and ones; products are added in pairs to 16 bits, and then to 32 bits.
func (a *avx2) dots(o op, m Mem, partial bool) reg.VecVirtual {
	v, t := YMM(), YMM()
	if partial {
		bytes := a.tailPixels(o, m)
		VPBROADCASTD(bytes, v)
		VPSRLDQ(Imm(4), bytes, bytes)
		VPBROADCASTD(bytes, t)
	} else {
		VPBROADCASTD(m, v)
		VPBROADCASTD(m.Offset(4), t)
	}
	a.dotEight(v, t)
	return v
}

// dotEight returns in v the prefix sums of eight bytes, the first four of which are in every lane
// of v and the others in every lane of t.
func (a *avx2) dotEight(v, t reg.VecVirtual) {
	VPMADDUBSW(a.weights[0], v, v)
	VPMADDUBSW(a.weights[1], t, t)
	VPADDW(v, t, v)
	VPMADDWD(a.weights[2], v, v)
}

// wideDots returns a vector of four 64-bit sums. Sums of bytes are integers, so float sums too are
// exact in any order.
func (a *avx2) wideDots(o op, m Mem, partial bool) reg.VecVirtual {
	t, v := XMM(), YMM()
	if partial {
		VPBROADCASTD(a.tailPixels(o, m), t)
	} else {
		VPBROADCASTD(m, t)
	}
	VPMADDUBSW(a.weights[0].AsX(), t, t)
	VPMADDWD(a.weights[2].AsX(), t, t)
	widen(o, t, v)
	return v
}

func (a *avx2) wideDotLine(o op, m Mem, carry reg.VecVirtual) []reg.VecVirtual {
	v, t, low, high := YMM(), YMM(), YMM(), YMM()
	VPBROADCASTD(m, v)
	VPBROADCASTD(m.Offset(4), t)
	a.dotEight(v, t)
	widen(o, v.AsX(), low)
	VEXTRACTI128(Imm(1), v, t.AsX())
	widen(o, t.AsX(), high)
	add(o, low, carry, low)
	return []reg.VecVirtual{low, carryOn(o, high, a.last, carry)}
}

// widen converts 32-bit integers to 64-bit sums.
func widen(o op, from, to reg.Register) {
	if o.sum == f64 {
		VCVTDQ2PD(from, to)
	} else {
		VPMOVZXDQ(from, to)
	}
}

func (*avx2) zero(v reg.VecVirtual)         { VPXOR(v, v, v) }
func (*avx2) ones(v reg.VecVirtual)         { VPCMPEQD(v, v, v) }
func (*avx2) orMem(m Mem, v reg.VecVirtual) { VPOR(m, v, v) }
