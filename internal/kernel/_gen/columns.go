package main

import (
	"fmt"

	"github.com/boxsum/boxsum/internal/raster"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// columnSums emits the kernels that sum pixels down columns only. They are for integers, whose sums
// do not depend on the order.
func columnSums(set isa) {
	for _, o := range ops(raster.Upright) {
		if o.columns() {
			columnKernel(set, o)
		}
	}
}

func (o op) columns() bool { return !o.dot && !o.sum.Float() }

func columnKernel(set isa, o op) {
	name := o.name() + "Columns" + set.name()
	lanes := set.bytes() / o.sum.Bytes()
	what := "src[r*stride+i]"
	if o.square {
		what += "²"
	}
	text(name, NOSPLIT, "func(sums, src *byte, stride, groups, n int)",
		name+fmt.Sprintf(" adds %s to sums[i] for all rows r of the given number of groups of four. n is a multiple of %d.", what, lanes),
		"stride is in bytes.")
	sums, stride, i, n := arg("sums"), arg("stride"), GP64(), GP64()
	src := arg("src")
	second, third, fourth := GP64(), GP64(), GP64()
	Label("groups")
	LEAQ(Mem{Base: src, Index: stride, Scale: 1}, second)
	LEAQ(Mem{Base: second, Index: stride, Scale: 1}, third)
	LEAQ(Mem{Base: third, Index: stride, Scale: 1}, fourth)
	XORQ(i, i)
	MOVQ(param("n"), n)
	Label("vectors")
	at := Mem{Base: sums, Index: i, Scale: uint8(o.sum.Bytes())}
	sum := loaded(set, at)
	for _, row := range []Mem{{Base: src}, {Base: second}, {Base: third}, {Base: fourth}} {
		row.Index, row.Scale = i, uint8(o.pix.Bytes())
		add(o, set.pixels(o, row, false), sum, sum)
	}
	set.store(sum, at)
	ADDQ(Imm(uint64(lanes)), i)
	CMPQ(i, n)
	JLT(LabelRef("vectors"))
	LEAQ(Mem{Base: fourth, Index: stride, Scale: 1}, src)
	DECQ(param("groups"))
	JNZ(LabelRef("groups"))
	leave()
}
