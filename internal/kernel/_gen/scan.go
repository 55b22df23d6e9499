package main

// Prefix sums along a row, for windows and cascades.

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A scanner computes prefix sums along a row, a vector at a time. For AVX2 and floats it takes two
// vectors at a time: as in tables, 64 bytes of floats are two blocks, where the second continues
// from the first, and only then is the carry added to both. This keeps the dependency chain from
// vector to vector short.
type scanner struct {
	set   isa
	op    op
	step  []reg.VecVirtual
	keep  []Op // AVX-512 masks, or memory operands
	low   reg.VecVirtual
	upper reg.Register
	next  []reg.VecVirtual // for each vector
	carry []reg.VecVirtual
	one   bool // one channel: all lanes of the carry are equal
}

func newScanner(set isa, sum elem, lanes reg.Register) *scanner {
	c := &scanner{set: set, op: op{pix: sum, sum: sum, plain: true}}
	at := func(offset int) reg.VecVirtual { return loaded(set, Mem{Base: lanes, Disp: offset}) }
	for s := range steps(c.op) {
		c.step = append(c.step, at(lanesStep+64*s))
		keep := Mem{Base: lanes, Disp: lanesKeep + 64*s}
		if !wide(set) {
			c.keep = append(c.keep, keep)
			continue
		}
		k := K()
		VPMOVD2M(loaded(set, keep), k)
		c.keep = append(c.keep, k)
	}
	if wide(set) {
		c.low, c.upper = at(lanesLow), K()
		bits := GP32()
		MOVL(U32(0xff00), bits)
		KMOVW(bits, c.upper)
		c.next = append(c.next, at(lanesNext))
	} else {
		c.low = at(lanesLow + 32)
		if c.next = append(c.next, c.low); c.vectors() == 2 {
			c.next = []reg.VecVirtual{at(lanesNext), at(lanesNext + 32)}
		}
	}
	for range c.vectors() {
		v := set.vec()
		set.zero(v)
		c.carry = append(c.carry, v)
	}
	return c
}

// vectors returns the number of vectors summed at a time.
func (c *scanner) vectors() int {
	if !wide(c.set) && c.op.sum == f64 {
		return 2
	}
	return 1
}

// sum replaces vectors by their prefix sums.
func (c *scanner) sum(all ...reg.VecVirtual) {
	t := c.set.vec()
	for _, v := range all {
		for s, step := range c.step {
			if wide(c.set) {
				VPERMD_Z(v, step, c.keep[s], t)
			} else {
				VPERMD(v, step, t)
				VPAND(c.keep[s], t, t)
			}
			add(c.op, v, t, v)
		}
	}
	last := all[len(all)-1]
	if wide(c.set) {
		VPERMD_Z(last, c.low, c.upper, t)
		add(c.op, last, t, last)
	} else if len(all) == 2 {
		VPERMD(all[0], c.low, t)
		add(c.op, last, t, last)
	}
	if c.one { // the carry waits only for one addition per line
		VPERMD(last, c.next[0], t)
		for _, v := range all {
			add(c.op, v, c.carry[0], v)
		}
		add(c.op, t, c.carry[0], c.carry[0])
		return
	}
	for i, v := range all {
		add(c.op, v, c.carry[i], v)
	}
	for i := range all { // another line starts with other channels in its lanes
		VPERMD(last, c.next[i], c.carry[i])
	}
}

// A rowScan computes 32-bit prefix sums along a row of one channel, a vector at a time.
type rowScan struct {
	set   isa
	by    *scanner // for AVX-512, else nil
	carry reg.VecVirtual
}

// rowScans returns n rowScans that share their constants.
func rowScans(set isa, lanes string, n int) []*rowScan {
	all := make([]*rowScan, n)
	var by *scanner
	if wide(set) {
		by = newScanner(set, u32, arg(lanes))
	}
	for i := range all {
		all[i] = &rowScan{set: set, carry: set.vec()}
		if by != nil {
			one := *by
			one.carry = []reg.VecVirtual{all[i].carry}
			all[i].by = &one
		}
	}
	return all
}

// sum replaces a vector by its prefix sums.
func (r *rowScan) sum(v reg.VecVirtual) {
	if r.by != nil {
		r.by.sum(v)
		return
	}
	t := YMM()
	for _, bytes := range []uint64{4, 8} { // within each half
		VPSLLDQ(Imm(bytes), v, t)
		VPADDD(t, v, v)
	}
	VPSHUFD(Imm(0xff), v, t)
	VPERM2I128(Imm(0x08), t, t, t) // the last sum of the lower half, for the upper half
	VPADDD(r.carry, v, v)
	VPADDD(t, v, v)
	VPSHUFD(Imm(0xff), v, r.carry)
	VPERM2I128(Imm(0x11), r.carry, r.carry, r.carry)
}

// oneScan returns a scan of one channel, or of the number of channels that the lanes argument
// describes.
func oneScan(set isa, one bool) *rowScan {
	if one {
		return rowScans(set, "lanes", 1)[0]
	}
	c := newScanner(set, u32, arg("lanes"))
	return &rowScan{set: set, by: c, carry: c.carry[0]}
}
