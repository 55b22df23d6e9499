package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tailLoop emits the code for the end of the rows, after whole lines or vectors. It processes a
// vector at a time, under masks.
func (k *loop) tailLoop(label string, i, n, end reg.Register, carry []reg.VecVirtual) {
	Label(label + "Tail")
	k.remaining(i, n, end, label+"End")
	k.tail(k.op, n, end)
	for r, s := range k.body(i, true, carry) {
		k.storeTail(s, k.sums(r, i))
	}
	ADDQ(I8(k.lanes), i)
	CMPQ(i, param("n"))
	JLT(LabelRef(label + "Tail"))
}

// remaining sets n to the number of elements from i on, at most a vector, and end to the index after
// them. It jumps to label none if there are none.
func (k *loop) remaining(i, n, end reg.Register, none string) {
	MOVQ(param("n"), n)
	SUBQ(i, n)
	JLE(LabelRef(none))
	MOVQ(U32(k.lanes), end)
	CMPQ(n, end)
	CMOVQGT(end, n)
	LEAQ(Mem{Base: i, Index: n, Scale: 1}, end)
}

// lineLoop emits the loop along a group of rows by whole cache lines, for vectors of half a line.
// Both halves of a line are written one after the other, because a non-temporal store of half a
// line that waits for the other half is slow. Less than a line remains of the rows.
func (k *loop) lineLoop(label string, i reg.Register, carry []reg.VecVirtual) {
	lines, writes := GP64(), GP64()
	MOVBQZX(param("writes"), writes)
	MOVQ(param("n"), lines)
	ANDQ(I8(-2*k.lanes), lines)
	JZ(LabelRef(label + "Rest"))

	Label(label + "Lines")
	half := k.bytes()
	above := Mem{Base: k.above, Index: i, Scale: uint8(k.sum.Bytes())}
	var over [2]reg.VecVirtual
	for v := range over {
		over[v] = loaded(k.isa, above.Offset(v*half))
	}
	for r := range group {
		pixels := Mem{Base: k.src[r], Index: i, Scale: uint8(k.pix.Bytes())}
		for v, s := range k.lineSums(k.op, pixels, carry[r]) {
			add(k.op, s, over[v], over[v])
		}
		row := fmt.Sprintf("%sRow%d", label, r)
		CMPQ(writes, Imm(writeMixed))
		if r%2 == 0 {
			JGE(LabelRef(row + "Beyond"))
		} else {
			JGT(LabelRef(row + "Beyond"))
		}
		PREFETCHT0(k.sums(r, i).Offset(aheadBytes))
		for v := range over {
			k.store(over[v], k.sums(r, i).Offset(v*half))
		}
		JMP(LabelRef(row + "Done"))
		Label(row + "Beyond")
		for v := range over {
			k.stream(over[v], k.sums(r, i).Offset(v*half))
		}
		Label(row + "Done")
	}
	for v := range over {
		k.store(over[v], above.Offset(v*half))
	}
	ADDQ(I8(2*k.lanes), i)
	CMPQ(i, lines)
	JLT(LabelRef(label + "Lines"))
	Label(label + "Rest")
}
