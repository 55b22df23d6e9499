package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tiltedGroup emits a function for four rows at once, each a vector further to the left than the
// row above. So a row finds the part of the row above that it needs in registers: the last two
// vectors of sums and of diagonals, from which one permutation selects the neighbors of a vector.
// Only the rows above and below the four are in memory. At the edges of the image, the rows start
// and stop one after the other, under masks.
func tiltedGroup(a *avx512, o op) {
	name := o.name() + "Tilted" + a.name()
	text(name, 0, "func(dst *byte, dstStride int, src *byte, srcStride int, sums, diagonals, edge *byte, n int, lanes *uint32, channels int, masks *uint16, before, after int, writes uint8)",
		tiltedGroupDoc(name, o)...)
	g := newTiltedFour(a, o)

	CMPQ(param("before"), Imm(0))
	JEQ(LabelRef("main"))
	Label("edge")
	g.edgeStep()
	g.advance()
	ADDQ(I8(2*4*group), g.masks)
	DECQ(param("before"))
	JNZ(LabelRef("edge"))

	Label("main")
	CMPQ(g.sums, g.end)
	JGE(LabelRef("last"))
	Label("loop")
	g.step(param("writes"))
	g.advance()
	CMPQ(g.sums, g.end)
	JLT(LabelRef("loop"))

	Label("last")
	steps := Load(Param("after"), GP64())
	MOVQ(steps, param("before"))
	MOVQ(I32(0), param("after"))
	TESTQ(steps, steps)
	JNZ(LabelRef("edge"))
	g.finish()
	leave()
}

// A tiltedFour is the state of the kernel of four rows while it is emitted.
type tiltedFour struct {
	*avx512
	op
	vector               int // size of a vector's pixels in bytes
	dst, src             func(row int) Mem
	dstFirst, srcFirst   reg.Register
	sums, diagonals, end reg.Register
	rightward            Mem          // the diagonals one pixel to the right
	ahead                reg.Register // the sums one pixel to the left, a vector ahead
	masks                reg.Register
	left, right, zero    reg.VecVirtual // permutations that find a lane's neighbors in two vectors

	over      [group]reg.VecVirtual // sums of the row above, one pixel to the left
	sum, down [group]reg.VecVirtual // last vectors of the row above: sums and diagonals; those of row 0 are in memory
}

func newTiltedFour(a *avx512, o op) *tiltedFour {
	g := &tiltedFour{avx512: a, op: o, vector: a.bytes() / o.sum.Bytes() * o.pix.Bytes()}
	rows := func(base, stride string, size, back int) (at func(r int) Mem, first reg.Register) {
		first, one, three := arg(base), arg(stride), GP64()
		SHLQ(Imm(log2(size)), one)
		SUBQ(I8(back), one)
		LEAQ(Mem{Base: one, Index: one, Scale: 2}, three)
		return func(r int) Mem {
			return []Mem{{Base: first}, {Base: first, Index: one, Scale: 1}, {Base: first, Index: one, Scale: 2}, {Base: first, Index: three, Scale: 1}}[r]
		}, first
	}
	g.dst, g.dstFirst = rows("dst", "dstStride", o.sum.Bytes(), lineBytes)
	g.src, g.srcFirst = rows("src", "srcStride", o.pix.Bytes(), g.vector)
	g.sums, g.diagonals, g.end = arg("sums"), arg("diagonals"), arg("n")
	SHLQ(Imm(log2(o.sum.Bytes())), g.end)
	ADDQ(g.sums, g.end)
	g.masks = arg("masks")
	lanes := arg("lanes")
	for i, v := range []*reg.VecVirtual{&g.left, &g.right, &g.zero} {
		*v = loaded(a, Mem{Base: lanes, Disp: i * lineBytes})
	}
	pixel := arg("channels")
	SHLQ(Imm(log2(o.sum.Bytes())), pixel)
	g.rightward = Mem{Base: g.diagonals, Index: pixel, Scale: 1}
	g.ahead = GP64()
	MOVQ(g.sums, g.ahead)
	SUBQ(pixel, g.ahead)
	slot := g.slots()
	for r := range group {
		g.over[r] = loaded(a, slot(r))
		if r > 0 {
			g.sum[r], g.down[r] = loaded(a, Mem{Base: g.sums, Disp: -r * lineBytes}), loaded(a, Mem{Base: g.diagonals, Disp: -r * lineBytes})
		}
	}
	return g
}

func (g *tiltedFour) slots() func(r int) Mem {
	edge := arg("edge")
	return func(r int) Mem { return Mem{Base: edge, Disp: r * carryLen * g.op.sum.Bytes()} }
}

func (g *tiltedFour) step(writes Mem) {
	var sums [group]reg.VecVirtual
	var newSum, newDown reg.VecVirtual
	for r := range group {
		d, s := g.pixels(g.op, g.src(r), false), ZMM()
		if r == 0 {
			add(g.op, g.rightward, d, d)
			add(g.op, d, g.over[0], s)
			add(g.op, Mem{Base: g.diagonals}, s, s)
			g.load(Mem{Base: g.ahead, Disp: lineBytes}, g.over[0])
		} else {
			add(g.op, d, g.permuted(g.right, g.down[r], newDown), d)
			add(g.op, d, g.over[r], s)
			add(g.op, s, g.down[r], s)
			g.moveOn(r, newSum, newDown)
		}
		newSum, newDown, sums[r] = s, d, s
	}
	g.store(newSum, g.lowest(g.sums))
	g.store(newDown, g.lowest(g.diagonals))
	CMPB(writes, Imm(writeMixed))
	JAE(LabelRef("beyond"))
	storeRows(g.avx512, sums[:], g.dst, 0)
	JMP(LabelRef("next"))
	Label("beyond")
	JHI(LabelRef("streams"))
	storeRows(g.avx512, sums[:], g.dst, 2)
	JMP(LabelRef("next"))
	Label("streams")
	storeRows(g.avx512, sums[:], g.dst, 1)
	Label("next")
}

// edgeStep is like step, with four masks for each row: the lanes that have pixels, the lanes that
// are stored (which in the vector before the first include column 0), the lanes of the first pixel,
// and the lanes of the last pixel.
func (g *tiltedFour) edgeStep() {
	var newSum, newDown reg.VecVirtual
	float := g.op.sum == f32 || g.op.sum == f64
	for r := range group {
		mask := func(i int) reg.Register {
			k := K()
			KMOVW(Mem{Base: g.masks, Disp: 2 * (4*r + i)}, k)
			return k
		}
		some := mask(0)
		g.avx512.some = some
		v := g.pixels(g.op, g.src(r), true)
		next := g.next(r, newDown)
		d, s := ZMM(), ZMM()
		VMOVDQA64(g.zero, d)
		add(g.op, v, next, some, d)
		add(g.op, d, g.over[r], s)
		add(g.op, append(g.above(r, g.diagonals, g.down[r], s), s)...)
		if float { // at the edges, floats are added in another order
			t := ZMM()
			add(g.op, append(g.above(r, g.sums, g.sum[r], v), t)...)
			add(g.op, t, next, mask(2), s)
			add(g.op, append(g.above(r, g.diagonals, g.down[r], v), t)...)
			add(g.op, t, g.over[r], mask(3), s)
		}
		if r == 0 {
			g.load(Mem{Base: g.ahead, Disp: lineBytes}, g.over[0])
		} else {
			// The sums to the left of the image equal those of its first pixel one row further up.
			none := K()
			KNOTW(some, none)
			moveSome(g.op.sum.Bytes(), g.permuted(g.right, g.sum[r], newSum), none, s)
			g.moveOn(r, newSum, newDown)
		}
		stored := mask(1)
		moveSome(g.op.sum.Bytes(), s, stored, g.dst(r))
		if r == group-1 {
			moveSome(g.op.sum.Bytes(), s, stored, g.lowest(g.sums))
			moveSome(g.op.sum.Bytes(), d, some, g.lowest(g.diagonals))
		}
		newSum, newDown = s, d
	}
}

// next returns the diagonals of the row above, one pixel to the right.
func (g *tiltedFour) next(r int, newDown reg.VecVirtual) reg.VecVirtual {
	if r == 0 {
		return loaded(g.avx512, g.rightward)
	}
	return g.permuted(g.right, g.down[r], newDown)
}

// above returns the operands that add v to the row above, which for row 0 is in memory.
func (g *tiltedFour) above(r int, memory reg.Register, last, v reg.VecVirtual) []Op {
	if r == 0 {
		return []Op{Mem{Base: memory}, v}
	}
	return []Op{v, last}
}

// permuted returns a vector whose lanes are selected from two.
func (g *tiltedFour) permuted(lanes, first, second reg.VecVirtual) reg.VecVirtual {
	v := ZMM()
	VMOVDQA64(lanes, v)
	VPERMI2D(second, first, v)
	return v
}

// moveOn shifts in the next vectors of the row above.
func (g *tiltedFour) moveOn(r int, newSum, newDown reg.VecVirtual) {
	VMOVDQA64(g.left, g.over[r])
	VPERMI2D(newSum, g.sum[r], g.over[r])
	VMOVDQA64(newDown, g.down[r])
	VMOVDQA64(newSum, g.sum[r])
}

// lowest returns the address of the last of the rows.
func (g *tiltedFour) lowest(base reg.Register) Mem {
	return Mem{Base: base, Disp: -(group - 1) * lineBytes}
}

func (g *tiltedFour) advance() {
	ADDQ(I8(lineBytes), g.dstFirst)
	ADDQ(I8(g.vector), g.srcFirst)
	ADDQ(I8(lineBytes), g.diagonals)
	ADDQ(I8(lineBytes), g.ahead)
	ADDQ(I8(lineBytes), g.sums)
}

// finish stores the state for the tile on the right.
func (g *tiltedFour) finish() {
	slot := g.slots()
	for r := range group {
		g.store(g.over[r], slot(r))
	}
	CMPQ(g.sums, g.end)
	JGT(LabelRef("done")) // nothing to store
	for r := 1; r < group; r++ {
		g.store(g.sum[r], Mem{Base: g.sums, Disp: -r * lineBytes})
		g.store(g.down[r], Mem{Base: g.diagonals, Disp: -r * lineBytes})
	}
	Label("done")
}
