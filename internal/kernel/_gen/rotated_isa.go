package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rotated512 sums a vector of 64 bytes; floats are summed as two blocks of 32 bytes.
type rotated512 struct {
	set  *avx512
	op   op
	zero reg.VecVirtual
}

// pick returns, in every lane, the lane of a or b that a row of the pattern selects.
func (r *rotated512) pick(a, b reg.VecVirtual, m Mem) reg.VecVirtual {
	lanes := loaded(r.set, m)
	VPERMI2D(b, a, lanes)
	return lanes
}

func (r *rotated512) step(s int, v reg.VecVirtual, pattern pattern) {
	add(r.op, v, r.pick(v, r.zero, pattern.row(rowSteps+s)), v)
}

// dots computes the sums of runs of bytes as dot products. For every four bytes, it broadcasts them
// to all lanes; the weights of the pattern select those that belong to the sum of each lane.
func (r *rotated512) dots(src Mem, pattern pattern) reg.VecVirtual {
	var v [2]reg.VecVirtual
	for g := range 4 {
		half := &v[g/2]
		if g%2 == 0 {
			*half = ZMM()
			VPXORD(*half, *half, *half)
		}
		four := ZMM()
		VPBROADCASTD(src.Offset(4*g), four)
		VPDPBUSD(pattern.row(rowWeights+g), four, *half)
	}
	VPADDD(v[0], v[1], v[0])
	return v[0]
}

func (r *rotated512) beyond(v, before reg.VecVirtual, above Mem, pattern pattern) {
	more := r.pick(loaded(r.set, above), before, pattern.row(rowBeyond))
	if r.op.sum.Float() {
		VPANDD(pattern.row(rowOuter), more, more)
		add(r.op, v, more, v)
		more = r.pick(v, r.zero, pattern.row(rowInner))
	}
	add(r.op, v, more, v)
	VMOVDQA32(v, before)
}

func (r *rotated512) addEmpty(v reg.VecVirtual, above Mem, pattern pattern) {
	add(r.op, v, r.pick(loaded(r.set, above), r.zero, pattern.row(rowEmpty)), v)
}

// rotated256 sums a vector of 32 bytes, one block.
type rotated256 struct {
	set  *avx2
	op   op
	ones reg.VecVirtual
}

// pick returns, in every lane, the lane of v that a row of the pattern selects.
func (r *rotated256) pick(v Op, m Mem) reg.VecVirtual {
	lanes := loaded(r.set, m)
	VPERMD(v, lanes, lanes)
	return lanes
}

func (r *rotated256) step(s int, v reg.VecVirtual, pattern pattern) {
	t := r.pick(v, pattern.row(rowSteps+s))
	VPAND(pattern.row(rowKeep+s), t, t)
	add(r.op, v, t, v)
}

func (r *rotated256) dots(src Mem, pattern pattern) reg.VecVirtual {
	v, t := YMM(), YMM()
	VPBROADCASTD(src, v)
	VPBROADCASTD(src.Offset(4), t)
	VPMADDUBSW(pattern.row(rowWeights), v, v)
	VPMADDUBSW(pattern.row(rowWeights+1), t, t)
	VPADDW(v, t, v)
	VPMADDWD(r.ones, v, v)
	return v
}

func (r *rotated256) beyond(v, before reg.VecVirtual, above Mem, pattern pattern) {
	rows := r.pick(above, pattern.row(rowBeyond))
	carried, carries := r.pick(before, pattern.row(rowCarried)), loaded(r.set, pattern.row(rowCarries))
	VPBLENDVB(carries, carried, rows, rows)
	add(r.op, v, rows, v)
	VMOVDQA(v, before)
}

func (r *rotated256) addEmpty(v reg.VecVirtual, above Mem, pattern pattern) {
	rows := r.pick(above, pattern.row(rowEmpty))
	VPAND(pattern.row(rowFilled), rows, rows)
	add(r.op, v, rows, v)
}
