package main

import (
	"log"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// avx512 emits AVX-512 code. A vector of 64 bytes is summed as two blocks of 32: each block by
// itself, then the carry is added to the lower block and the lower block's last sums to the upper
// one. That is the portable summation order.
type avx512 struct {
	constants
	step, keep []reg.Register // for each doubling step, the permutation that finds the element to add to each lane, and a mask of the lanes that add one
	low, last  reg.Register   // permutations that broadcast the last sums of the lower block, and those of the whole vector
	lower      reg.Register   // lane masks of the two blocks
	upper      reg.Register
	some       reg.Register // mask of the tail
	offset     reg.VecVirtual
	weights    []reg.VecVirtual // of the dot products
}

func newAVX512() *avx512 { return &avx512{constants: constants{}} }

func (*avx512) name() string        { return "AVX512" }
func (*avx512) bytes() int          { return 64 }
func (*avx512) vec() reg.VecVirtual { return ZMM() }

func (a *avx512) setup(o op, lanes reg.Register, offset Mem) {
	a.last = ZMM()
	if o.dot {
		vector, broadcast := ZMM, VPBROADCASTD
		if o.sum.Bytes() == 8 {
			vector, broadcast = YMM, func(ops ...Op) { VBROADCASTI32X8(ops[0], ops[1]) }
		}
		broadcast(Mem{Base: lanes, Disp: lanesLast}, a.last)
		a.weights = nil
		for g := range 16 / o.sum.Bytes() {
			w := vector()
			VMOVDQU32(a.triangle(16, g), w)
			a.weights = append(a.weights, w)
		}
		return
	}
	a.step, a.keep = nil, nil
	for s := range steps(o) {
		idx, keep, k := ZMM(), ZMM(), K()
		VMOVDQU32(Mem{Base: lanes, Disp: lanesStep + 64*s}, idx)
		VMOVDQU32(Mem{Base: lanes, Disp: lanesKeep + 64*s}, keep)
		VPMOVD2M(keep, k)
		a.step, a.keep = append(a.step, idx), append(a.keep, k)
	}
	a.low = ZMM()
	VMOVDQU32(Mem{Base: lanes, Disp: lanesLow}, a.low)
	VMOVDQU32(Mem{Base: lanes, Disp: lanesLast}, a.last)
	a.lower, a.upper = K(), K()
	bits := GP32()
	MOVL(U32(0x00ff), bits)
	KMOVW(bits, a.lower)
	MOVL(U32(0xff00), bits)
	KMOVW(bits, a.upper)
	if o.sum == f32 {
		a.offset = ZMM()
		VBROADCASTSS(offset, a.offset)
	}
}

// steps returns the number of doubling steps that sum a block of 32 bytes.
func steps(o op) int {
	if o.sum.Bytes() == 4 {
		return 3
	}
	return 2
}

// folds reports whether a mask costs nothing. It does not in a load that widens pixels. But a plain
// load under a mask takes an extra instruction, and a dot product loads its bytes four at a time,
// whereas a masked load reads all of them at once.
func (*avx512) folds(o op) bool { return !o.dot && o.pix.Bytes() < o.sum.Bytes() }

func (a *avx512) whole() {
	a.some = K()
	KXNORW(a.some, a.some, a.some)
}

func (a *avx512) tail(o op, elements, _ reg.Register) {
	bits := GP64()
	MOVQ(I32(-1), bits)
	BZHIQ(elements, bits, bits)
	if !a.folds(o) {
		a.some = K()
	}
	KMOVW(bits.As32(), a.some)
}

func (*avx512) load(m Mem, v reg.VecVirtual)   { VMOVDQU32(m, v) }
func (*avx512) store(v reg.VecVirtual, m Mem)  { VMOVDQU32(v, m) }
func (*avx512) stream(v reg.VecVirtual, m Mem) { VMOVNTDQ(v, m) }

func (a *avx512) storeTail(v reg.VecVirtual, m Mem) { moveSome(int(m.Scale), v, a.some, m) }

// moveSome moves sums of the given size in bytes under a mask with one bit per sum.
func moveSome(size int, operands ...Op) {
	if size == 8 {
		VMOVDQU64(operands...)
	} else {
		VMOVDQU32(operands...)
	}
}

func (a *avx512) keepTail(o op, v reg.VecVirtual) {
	if o.sum.Bytes() == 8 {
		VMOVDQA64_Z(v, a.some, v)
	} else {
		VMOVDQA32_Z(v, a.some, v)
	}
}

func (a *avx512) rowSums(o op, m Mem, partial bool, carry reg.VecVirtual) reg.VecVirtual {
	if o.dot {
		return carryOn(o, a.dots(o, m, partial), a.last, carry)
	}
	v, t := a.pixels(o, m, partial), ZMM()
	for s := range a.step {
		VPERMD_Z(v, a.step[s], a.keep[s], t)
		add(o, v, t, v)
	}
	add(o, v, carry, v) // the carry is zero in the upper block
	VPERMD_Z(v, a.low, a.upper, t)
	add(o, v, t, v)
	VPERMD_Z(v, a.last, a.lower, carry)
	return v
}

// A load holds the instructions that load pixels as sums, as a whole vector or under a mask, and
// the instruction that converts 32-bit integers to floats after that.
type load struct {
	all     func(...Op)
	some    func(m, k, v Op)
	convert func(...Op)
}

var loads = map[[2]elem]load{
	{u8, u32}:  {VPMOVZXBD, VPMOVZXBD_Z, nil},
	{u8, u64}:  {VPMOVZXBQ, VPMOVZXBQ_Z, nil},
	{u8, f32}:  {VPMOVZXBD, VPMOVZXBD_Z, VCVTDQ2PS},
	{u8, f64}:  {VPMOVZXBD, VPMOVZXBD_Z, VCVTDQ2PD},
	{u16, u32}: {VPMOVZXWD, VPMOVZXWD_Z, nil},
	{u16, u64}: {VPMOVZXWQ, VPMOVZXWQ_Z, nil},
	{u16, f64}: {VPMOVZXWD, VPMOVZXWD_Z, VCVTDQ2PD},
	{u32, u32}: {VMOVDQU32, VMOVDQU32_Z, nil},
	{u32, u64}: {VPMOVZXDQ, VPMOVZXDQ_Z, nil},
	{u32, f64}: {VCVTUDQ2PD, VCVTUDQ2PD_Z, nil},
	{i16, i64}: {VPMOVSXWQ, VPMOVSXWQ_Z, nil},
	{i16, f64}: {VPMOVSXWD, VPMOVSXWD_Z, VCVTDQ2PD},
	{i32, i64}: {VPMOVSXDQ, VPMOVSXDQ_Z, nil},
	{i32, f64}: {VCVTDQ2PD, VCVTDQ2PD_Z, nil},
	{u64, u64}: {VMOVDQU64, VMOVDQU64_Z, nil},
	{i64, i64}: {VMOVDQU64, VMOVDQU64_Z, nil},
	{f32, f32}: {VMOVDQU32, VMOVDQU32_Z, nil},
	{f32, f64}: {VCVTPS2PD, VCVTPS2PD_Z, nil},
	{f64, f64}: {VMOVDQU64, VMOVDQU64_Z, nil},
}

func (a *avx512) pixels(o op, m Mem, partial bool) reg.VecVirtual {
	load, v := loadOf(o), ZMM()
	load.widen(o, v, YMM, func(to reg.VecVirtual) {
		if partial {
			load.some(m, a.some, to)
		} else {
			load.all(m, to)
		}
	})
	return finish(o, v, a.offset)
}

func loadOf(o op) load {
	load, ok := loads[[2]elem{o.pix, o.number()}]
	if !ok {
		log.Fatalf("loads has no %v to %v", o.pix, o.number())
	}
	return load
}

// widen loads pixels as sums, through half a vector if the loaded integers are half as wide.
func (l load) widen(o op, v reg.VecVirtual, half func() reg.VecVirtual, from func(to reg.VecVirtual)) {
	to := v
	if l.convert != nil && o.sum == f64 {
		to = half()
	}
	if from(to); l.convert != nil {
		l.convert(to, v)
	}
}

// finish squares the pixels, or subtracts the offset.
func finish(o op, v, offset reg.VecVirtual) reg.VecVirtual {
	switch {
	case o.square && o.sum == f64:
		VMULPD(v, v, v)
	case o.square && !o.pix.Signed():
		VPMULUDQ(v, v, v)
	case o.square:
		VPMULDQ(v, v, v)
	case o.sum == f32 && !o.plain:
		VSUBPS(offset, v, v)
	}
	return v
}

// dots computes the prefix sums of a vector of bytes as dot products with zeros and ones. For every
// four bytes, it broadcasts them to all lanes, and adds to each lane those that are not to its
// right. Sums of bytes are integers, so float sums are exact in any order too.
func (a *avx512) dots(o op, m Mem, partial bool) reg.VecVirtual {
	vector := ZMM
	if o.sum.Bytes() == 8 { // eight lanes of 32 bits
		vector = YMM
	}
	v, four := vector(), vector()
	VPXORD(v, v, v)
	var bytes reg.VecVirtual
	if partial {
		bytes = XMM()
		VMOVDQU8_Z(m, a.some, bytes)
	}
	for g, w := range a.weights {
		if partial && g > 0 {
			VPSRLDQ(Imm(4), bytes, bytes)
		}
		if partial {
			VPBROADCASTD(bytes, four)
		} else {
			VPBROADCASTD(m.Offset(4*g), four)
		}
		VPDPBUSD(w, four, v)
	}
	if o.sum.Bytes() == 8 {
		wide := ZMM()
		widen(o, v, wide)
		return wide
	}
	return v
}

// carryOn adds the carry to a vector of sums, and sets the carry to the vector's last sums.
func carryOn(o op, v reg.VecVirtual, last reg.Register, carry reg.VecVirtual) reg.VecVirtual {
	add(o, v, carry, v)
	VPERMD(v, last, carry)
	return v
}

func (a *avx512) lineSums(o op, m Mem, carry reg.VecVirtual) []reg.VecVirtual {
	return []reg.VecVirtual{a.rowSums(o, m, false, carry)}
}

func (*avx512) zero(v reg.VecVirtual)         { VPXORD(v, v, v) }
func (*avx512) ones(v reg.VecVirtual)         { VPTERNLOGD(U8(0xff), v, v, v) }
func (*avx512) orMem(m Mem, v reg.VecVirtual) { VPORD(m, v, v) }
