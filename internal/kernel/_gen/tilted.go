package main

import (
	"github.com/boxsum/boxsum/internal/raster"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func tilted(set isa) {
	for _, o := range ops(raster.Tilted) {
		o.plain = true
		if wide, ok := set.(*avx512); ok {
			tiltedGroup(wide, o)
		} else {
			tiltedRow(set, o)
		}
	}
}

// tiltedRow emits a function that computes a row, one line of sums at a time. A sum depends on the
// row above one pixel to the left and one to the right, which are plain loads at a distance that
// depends on the number of channels. The row is updated in place, so sums are read one step before
// they are overwritten.
func tiltedRow(set isa, o op) {
	name := o.name() + "Tilted" + set.name()
	text(name, 0, "func(dst, src, sums, diagonals, edge *byte, n, channels int, writes uint8)", tiltedDoc(name, o)...)
	dst, src, sums, diagonals := arg("dst"), arg("src"), arg("sums"), arg("diagonals")
	n, pixel, writes := arg("n"), arg("channels"), arg("writes")
	SHLQ(Imm(log2(o.sum.Bytes())), pixel)
	over := loaded(set, Mem{Base: arg("edge")}) // the sums of the row above, one pixel to the left
	left, right := GP64(), GP64()
	MOVQ(sums, left)
	SUBQ(pixel, left)
	MOVQ(diagonals, right)
	ADDQ(pixel, right)

	at := func(base, i reg.Register) Mem { return Mem{Base: base, Index: i, Scale: uint8(o.sum.Bytes())} }
	lanes, vectors := set.bytes()/o.sum.Bytes(), lineBytes/set.bytes()
	i := GP64()
	XORQ(i, i)

	line := func(write func(v reg.VecVirtual, m Mem)) {
		made := make([]reg.VecVirtual, vectors)
		for v := range vectors {
			skip := v * set.bytes()
			down := set.pixels(o, Mem{Base: src, Index: i, Scale: uint8(o.pix.Bytes()), Disp: v * lanes * o.pix.Bytes()}, false)
			add(o, at(right, i).Offset(skip), down, down)
			sum := set.vec()
			add(o, down, over, sum)
			add(o, at(diagonals, i).Offset(skip), sum, sum)
			set.load(at(left, i).Offset(skip+set.bytes()), over)
			set.store(sum, at(sums, i).Offset(skip))
			set.store(down, at(diagonals, i).Offset(skip))
			made[v] = sum
		}
		for v := range vectors {
			write(made[v], at(dst, i).Offset(v*set.bytes()))
		}
		ADDQ(I8(vectors*lanes), i)
		CMPQ(i, n)
	}

	// Mixing cached and non-temporal stores is only faster if rows are written side by side.
	CMPQ(writes, Imm(writeMixed))
	JGE(LabelRef("stream"))

	Label("ahead")
	PREFETCHT0(at(dst, i).Offset(aheadBytes))
	line(set.store)
	JLT(LabelRef("ahead"))
	JMP(LabelRef("done"))

	Label("stream")
	line(set.stream)
	JLT(LabelRef("stream"))

	Label("done")
	leave()
}
