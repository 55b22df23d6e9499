package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rotated512 sums a vector of 64 bytes, of floats as two blocks of 32.
type rotated512 struct {
	set  *avx512
	op   op
	zero reg.VecVirtual
}

func (*rotated512) row(pattern reg.Register, row int) Mem { return Mem{Base: pattern, Disp: 64 * row} }

// pick is, in every lane, the lane of a or b that a row of the pattern says.
func (r *rotated512) pick(a, b reg.VecVirtual, m Mem) reg.VecVirtual {
	lanes := ZMM()
	VMOVDQU32(m, lanes)
	VPERMI2D(b, a, lanes)
	return lanes
}

func (r *rotated512) step(s int, v reg.VecVirtual, pattern reg.Register) {
	add(r.op, v, r.pick(v, r.zero, r.row(pattern, rowSteps+s)), v)
}

// dots takes four bytes at a time, in every lane, and adds to each lane those
// of its run that are not on its near side.
func (r *rotated512) dots(src Mem, pattern reg.Register) reg.VecVirtual {
	var v [2]reg.VecVirtual
	for g := range 4 {
		half := &v[g/2]
		if g%2 == 0 {
			*half = ZMM()
			VPXORD(*half, *half, *half)
		}
		four := ZMM()
		VPBROADCASTD(src.Offset(4*g), four)
		VPDPBUSD(r.row(pattern, rowWeights+g), four, *half)
	}
	VPADDD(v[0], v[1], v[0])
	return v[0]
}

func (r *rotated512) beyond(v, before reg.VecVirtual, above Mem, pattern reg.Register) {
	rows := ZMM()
	VMOVDQU32(above, rows)
	more := r.pick(rows, before, r.row(pattern, rowBeyond))
	if r.op.sum.Float() {
		VPANDD(r.row(pattern, rowOuter), more, more)
		add(r.op, v, more, v)
		more = r.pick(v, r.zero, r.row(pattern, rowInner))
	}
	add(r.op, v, more, v)
	VMOVDQA32(v, before)
}

func (r *rotated512) starts(pattern reg.Register) reg.VecVirtual {
	lanes := ZMM()
	VMOVDQU32(r.row(pattern, rowStarts), lanes)
	return lanes
}

func (r *rotated512) addEmpty(v reg.VecVirtual, above Mem, pattern reg.Register) {
	rows := ZMM()
	VMOVDQU32(above, rows)
	add(r.op, v, r.pick(rows, r.zero, r.row(pattern, rowEmpty)), v)
}

// rotated256 sums a vector of 32 bytes, one block.
type rotated256 struct {
	set  *avx2
	op   op
	ones reg.VecVirtual
}

func (*rotated256) row(pattern reg.Register, row int) Mem { return Mem{Base: pattern, Disp: 32 * row} }

// pick is, in every lane, the lane of v that a row of the pattern says.
func (r *rotated256) pick(v reg.VecVirtual, m Mem) reg.VecVirtual {
	lanes := YMM()
	VMOVDQU(m, lanes)
	VPERMD(v, lanes, lanes)
	return lanes
}

func (r *rotated256) step(s int, v reg.VecVirtual, pattern reg.Register) {
	t := r.pick(v, r.row(pattern, rowSteps+s))
	VPAND(r.row(pattern, rowKeep+s), t, t)
	add(r.op, v, t, v)
}

func (r *rotated256) dots(src Mem, pattern reg.Register) reg.VecVirtual {
	v, t := YMM(), YMM()
	VPBROADCASTD(src, v)
	VPBROADCASTD(src.Offset(4), t)
	VPMADDUBSW(r.row(pattern, rowWeights), v, v)
	VPMADDUBSW(r.row(pattern, rowWeights+1), t, t)
	VPADDW(v, t, v)
	VPMADDWD(r.ones, v, v)
	return v
}

func (r *rotated256) beyond(v, before reg.VecVirtual, above Mem, pattern reg.Register) {
	rows, carries := YMM(), YMM()
	VMOVDQU(r.row(pattern, rowBeyond), rows)
	VPERMD(above, rows, rows)
	carried := r.pick(before, r.row(pattern, rowCarried))
	VMOVDQU(r.row(pattern, rowCarries), carries)
	VPBLENDVB(carries, carried, rows, rows)
	add(r.op, v, rows, v)
	VMOVDQA(v, before)
}

func (r *rotated256) starts(pattern reg.Register) reg.VecVirtual {
	lanes := YMM()
	VMOVDQU(r.row(pattern, rowStarts), lanes)
	return lanes
}

func (r *rotated256) addEmpty(v reg.VecVirtual, above Mem, pattern reg.Register) {
	rows := YMM()
	VMOVDQU(r.row(pattern, rowEmpty), rows)
	VPERMD(above, rows, rows)
	VPAND(r.row(pattern, rowFilled), rows, rows)
	add(r.op, v, rows, v)
}
