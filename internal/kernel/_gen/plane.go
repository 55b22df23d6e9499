package main

import (
	"github.com/boxsum/boxsum/internal/raster"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// plane emits the kernels of plane tables.
func plane(set isa) {
	for _, o := range ops(raster.Upright) {
		kernel(set, o)
	}
}

func kernel(set isa, o op) {
	name := o.name() + set.name()
	lanes := set.bytes() / o.sum.Bytes()
	text(name, 0, "func(dst *byte, dstStride int, src *byte, srcStride int, above, carry *byte, rows, n int, lanes *uint32, offset float32, writes uint8)",
		doc(name, o)...)

	k := &loop{isa: set, op: o, lanes: lanes}
	set.setup(o, arg("lanes"), param("offset"))
	k.above, k.src[0], k.dst[0] = arg("above"), arg("src"), arg("dst")

	Label("groups")
	if groupsOnly(set.bytes(), o) { // the caller passes at least one group
		k.rows("group", group)
		SUBQ(Imm(group), param("rows"))
		JNZ(LabelRef("groups"))
	} else {
		CMPQ(param("rows"), Imm(group))
		JLT(LabelRef("rows"))
		k.rows("group", group)
		SUBQ(Imm(group), param("rows"))
		JMP(LabelRef("groups"))

		Label("rows")
		CMPQ(param("rows"), Imm(1))
		JLT(LabelRef("done"))
		k.rows("row", 1)
		SUBQ(Imm(1), param("rows"))
		JMP(LabelRef("rows"))
		Label("done")
	}
	SFENCE()
	leave()
}

// groupsOnly reports whether a kernel leaves rows that do not fill a group to the level below. A
// single row of float sums is no slower there, because each sum waits for the previous one.
func groupsOnly(vector int, o op) bool { return vector == lineBytes && o.sum.Float() && !o.dot }

// loop is the state of a kernel while it is emitted.
type loop struct {
	isa
	op
	lanes    int // sums in a vector
	above    reg.Register
	src, dst [group]reg.Register
}

func (k *loop) rows(label string, rows int) {
	carry := k.begin(rows)
	i, n, end := GP64(), GP64(), GP64()
	XORQ(i, i)
	switch {
	case rows == 1:
		k.rowLoop(label, i, n, end, carry)
	case k.bytes() == lineBytes:
		k.vectorLoop(label, i, n, end, carry)
	default:
		k.lineLoop(label, i, carry)
		k.tailLoop(label, i, n, end, carry)
	}

	Label(label + "End")
	k.end(carry)
}

// begin points at the rows of a group and loads their carries.
func (k *loop) begin(rows int) []reg.VecVirtual {
	k.fanOut(&k.src, "srcStride", rows)
	k.fanOut(&k.dst, "dstStride", rows)
	carryPtr := arg("carry")
	carry := make([]reg.VecVirtual, rows)
	for r := range carry {
		carry[r] = loaded(k.isa, k.slot(carryPtr, r))
	}
	return carry
}

func (k *loop) slot(carries reg.Register, row int) Mem {
	return Mem{Base: carries, Disp: row * carryLen * k.sum.Bytes()}
}

// end stores the carries for the tile on the right, and advances to the rows below.
func (k *loop) end(carry []reg.VecVirtual) {
	rows := len(carry)
	carryPtr := arg("carry")
	for r := range carry {
		k.store(carry[r], k.slot(carryPtr, r))
	}
	ADDQ(I32(k.slot(nil, rows).Disp), param("carry"))
	ADDQ(param("srcStride"), k.src[rows-1])
	ADDQ(param("dstStride"), k.dst[rows-1])
	if rows > 1 {
		MOVQ(k.src[rows-1], k.src[0])
		MOVQ(k.dst[rows-1], k.dst[0])
	}
}

func (k *loop) vectorLoop(label string, i, n, end reg.Register, carry []reg.VecVirtual) {
	folds := k.folds(k.op)
	if folds {
		k.whole()
	}
	MOVQ(param("n"), end)
	ANDQ(I8(-k.lanes), end)
	JZ(LabelRef(label + "Tail"))

	Label(label + "Loop")
	p := k.body(i, folds, carry)
	CMPB(param("writes"), Imm(writeMixed))
	JAE(LabelRef(label + "Beyond"))
	to := func(r int) Mem { return k.sums(r, i) }
	storeRows(k.isa, p, to, 0)
	Label(label + "Next")
	ADDQ(I8(k.lanes), i)
	CMPQ(i, end)
	JLT(LabelRef(label + "Loop"))

	Label(label + "Tail")
	MOVQ(param("n"), n)
	SUBQ(i, n)
	JZ(LabelRef(label + "End"))
	k.tail(k.op, n, end)
	if folds {
		ORB(Imm(writeSome), param("writes"))
		JMP(LabelRef(label + "Loop"))
	} else {
		for r, s := range k.body(i, true, carry) {
			k.storeTail(s, k.sums(r, i))
		}
		JMP(LabelRef(label + "End"))
	}

	Label(label + "Beyond")         // bypass the caches
	JHI(LabelRef(label + "Stream")) // uses the flags of the comparison with writeMixed
	storeRows(k.isa, p, to, 2)
	JMP(LabelRef(label + "Next"))
	Label(label + "Stream")
	if folds {
		TESTB(Imm(writeSome), param("writes"))
		JNZ(LabelRef(label + "Some"))
	}
	storeRows(k.isa, p, to, 1)
	JMP(LabelRef(label + "Next"))
	if folds {
		Label(label + "Some")
		for r := range p {
			k.storeTail(p[r], k.sums(r, i))
		}
		ANDB(Imm(writeSome-1), param("writes"))
	}
}

func (k *loop) rowLoop(label string, i, n, end reg.Register, carry []reg.VecVirtual) {
	folds, store := k.folds(k.op), k.store
	if folds {
		k.whole()
		store = k.storeTail
	}
	MOVQ(param("n"), end)
	ANDQ(I8(-k.lanes), end)
	JZ(LabelRef(label + "Rest"))
	Label(label + "Loop")
	s := k.body(i, folds, carry)[0]
	PREFETCHT0(k.sums(0, i).Offset(aheadBytes))
	store(s, k.sums(0, i))
	ADDQ(I8(k.lanes), i)
	CMPQ(i, end)
	JLT(LabelRef(label + "Loop"))
	Label(label + "Rest")
	MOVQ(param("n"), n)
	SUBQ(i, n)
	JLE(LabelRef(label + "End"))
	if !folds {
		MOVQ(param("n"), end)
	}
	k.tail(k.op, n, end)
	if folds {
		JMP(LabelRef(label + "Loop"))
		return
	}
	k.storeTail(k.body(i, true, carry)[0], k.sums(0, i))
}

// sums returns the operand for the sums at i in a row of the table.
func (k *loop) sums(row int, i reg.Register) Mem {
	return Mem{Base: k.dst[row], Index: i, Scale: uint8(k.sum.Bytes())}
}

// storeRows stores a vector of every row. If it stores through the caches, it also prefetches the
// lines that will be stored next. past selects the rows that bypass the caches: none if 0, all if
// 1, every other row if 2.
func storeRows(set isa, rows []reg.VecVirtual, to func(row int) Mem, past int) {
	for r, v := range rows {
		if past > 0 && r%past == 0 {
			set.stream(v, to(r))
		} else {
			PREFETCHT0(to(r).Offset(aheadBytes))
			set.store(v, to(r))
		}
	}
}

// fanOut computes the addresses of the first pixel or sum of each row.
func (k *loop) fanOut(p *[group]reg.Register, stride string, rows int) {
	if rows == 1 {
		return
	}
	step := Load(Param(stride), GP64())
	for r := 1; r < rows; r++ {
		p[r] = GP64()
		LEAQ(Mem{Base: p[r-1], Index: step, Scale: 1}, p[r])
	}
}

// body emits one vector of prefix sums of every row, each added to the row above it.
func (k *loop) body(i reg.Register, partial bool, carry []reg.VecVirtual) []reg.VecVirtual {
	p := make([]reg.VecVirtual, len(carry))
	above := Mem{Base: k.above, Index: i, Scale: uint8(k.sum.Bytes())}
	over := loaded(k.isa, above)
	for r := range p {
		s := k.rowSums(k.op, Mem{Base: k.src[r], Index: i, Scale: uint8(k.pix.Bytes())}, partial, carry[r])
		add(k.op, s, over, s)
		p[r], over = s, s
	}
	k.store(over, above)
	return p
}
