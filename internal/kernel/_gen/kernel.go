package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// group is how many rows share one read of the row above.
const group = 4

// How a kernel writes: writeMixed is kernel.Mixed; below it is kernel.Ahead, above
// it kernel.Stream. In the last vector of a row writeSome is added: only some of
// its sums are stored.
const (
	writeMixed = 1
	writeSome  = 4
)

// aheadBytes is how far ahead of its stores a row asks for lines.
const aheadBytes = 128

// lineBytes is a cache line.
const lineBytes = 64

// carryLen is kernel.CarryLen for up to four channels.
const carryLen = 16

// Offsets in the Go struct kernel.lanes.
const (
	lanesStep = 0
	lanesKeep = 3 * 64
	lanesLow  = 6 * 64
	lanesLast = 7 * 64
)

// An isa emits the parts of the loop that depend on the instruction set. A
// vector holds bytes() of sums.
type isa interface {
	name() string
	bytes() int

	// setup loads the constants of a kernel; lanes points at the Go struct.
	setup(o op, lanes reg.Register, offset Mem)
	// tail prepares for a vector of only some elements, the last of them before end.
	tail(o op, elements, end reg.Register)
	// folds reports whether tails go through the code of whole vectors, under a
	// mask, and not through code of their own.
	folds(o op) bool
	// whole prepares such code for whole vectors.
	whole()

	vec() reg.VecVirtual
	load(m Mem, v reg.VecVirtual)
	store(v reg.VecVirtual, m Mem)
	stream(v reg.VecVirtual, m Mem)
	storeTail(v reg.VecVirtual, m Mem)
	// keepTail makes zeros of the lanes that storeTail leaves out.
	keepTail(o op, v reg.VecVirtual)
	add(o op, a, b, sum reg.VecVirtual)
	addMem(o op, m Mem, b, sum reg.VecVirtual)
	// pixels is a vector of pixels as sums, squared if the kernel squares.
	pixels(o op, m Mem, partial bool) reg.VecVirtual

	// rowSums is a vector of a row's sums, from the pixels at m and the carry,
	// which it moves on.
	rowSums(o op, m Mem, partial bool, carry reg.VecVirtual) reg.VecVirtual
	// lineSums is the same for a whole line of sums, in as many vectors.
	lineSums(o op, m Mem, carry reg.VecVirtual) []reg.VecVirtual

	fill(dst, end reg.Register)
	read(src, end reg.Register)
	fillRead(dst, src, blocks, ratio reg.Register)
}

// kernel emits one function.
func kernel(set isa, o op) {
	name := o.name() + set.name()
	lanes := set.bytes() / o.sum.Bytes()
	TEXT(name, 0, fmt.Sprintf("func(dst *%[1]s, dstStride int, src *%[2]s, srcStride int, above, carry *%[1]s, rows, n int, lanes *uint32, offset float32, writes uint8)",
		o.sum.String(), o.pix.String()))
	Doc(doc(name, o)...)
	Pragma("noescape")

	param := func(name string) Mem {
		b, err := Param(name).Resolve()
		if err != nil {
			panic(err)
		}
		return b.Addr
	}
	k := &loop{isa: set, op: o, lanes: lanes, param: param}
	lanesPtr := Load(Param("lanes"), GP64())
	set.setup(o, lanesPtr, param("offset"))
	k.above = Load(Param("above"), GP64())
	k.src[0] = Load(Param("src"), GP64())
	k.dst[0] = Load(Param("dst"), GP64())

	Label("groups")
	if groupsOnly(set.bytes(), o) { // there is one at least
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
	VZEROUPPER()
	RET()
}

// groupsOnly reports whether a kernel leaves rows that are no group to the level
// below. One row of floats, which wait for each other, takes no longer there.
func groupsOnly(vector int, o op) bool { return vector == lineBytes && o.sum.Float() && !o.dot }

// loop is the state of a kernel while it is emitted.
type loop struct {
	isa
	op
	lanes    int // sums in a vector
	param    func(string) Mem
	above    reg.Register
	src, dst [group]reg.Register
}

// rows emits the loop along that many rows, and moves on to the rows below.
func (k *loop) rows(label string, rows int) {
	k.fanOut(&k.src, "srcStride", rows)
	k.fanOut(&k.dst, "dstStride", rows)
	carryPtr := Load(Param("carry"), GP64())
	carry := make([]reg.VecVirtual, rows)
	slot := carryLen * k.sum.Bytes()
	for r := range carry {
		carry[r] = k.vec()
		k.load(Mem{Base: carryPtr, Disp: r * slot}, carry[r])
	}

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
	carryPtr = Load(Param("carry"), GP64())
	for r := range carry {
		k.store(carry[r], Mem{Base: carryPtr, Disp: r * slot})
	}
	ADDQ(I32(rows*slot), k.param("carry"))
	ADDQ(k.param("srcStride"), k.src[rows-1])
	ADDQ(k.param("dstStride"), k.dst[rows-1])
	if rows > 1 {
		MOVQ(k.src[rows-1], k.src[0])
		MOVQ(k.dst[rows-1], k.dst[0])
	}
}

// vectorLoop emits the loop along a group of rows for vectors of a line.
func (k *loop) vectorLoop(label string, i, n, end reg.Register, carry []reg.VecVirtual) {
	folds := k.folds(k.op)
	if folds {
		k.whole()
	}
	MOVQ(k.param("n"), end)
	ANDQ(I8(-k.lanes), end)
	JZ(LabelRef(label + "Tail"))

	Label(label + "Loop")
	p := k.body(i, folds, carry)
	CMPB(k.param("writes"), Imm(writeMixed))
	JAE(LabelRef(label + "Beyond"))
	for r := range p {
		k.storeAhead(p[r], k.sums(r, i))
	}
	Label(label + "Next")
	ADDQ(I8(k.lanes), i)
	CMPQ(i, end)
	JLT(LabelRef(label + "Loop"))

	Label(label + "Tail")
	MOVQ(k.param("n"), n)
	SUBQ(i, n)
	JZ(LabelRef(label + "End"))
	k.tail(k.op, n, end)
	if folds {
		ORB(Imm(writeSome), k.param("writes"))
		JMP(LabelRef(label + "Loop"))
	} else {
		for r, s := range k.body(i, true, carry) {
			k.storeTail(s, k.sums(r, i))
		}
		JMP(LabelRef(label + "End"))
	}

	Label(label + "Beyond")         // the caches
	JHI(LabelRef(label + "Stream")) // still of the comparison above
	for r := range p {
		if r%2 == 0 {
			k.stream(p[r], k.sums(r, i))
		} else {
			k.storeAhead(p[r], k.sums(r, i))
		}
	}
	JMP(LabelRef(label + "Next"))
	Label(label + "Stream")
	if folds {
		TESTB(Imm(writeSome), k.param("writes"))
		JNZ(LabelRef(label + "Some"))
	}
	for r := range p {
		k.stream(p[r], k.sums(r, i))
	}
	JMP(LabelRef(label + "Next"))
	if folds {
		Label(label + "Some")
		for r := range p {
			k.storeTail(p[r], k.sums(r, i))
		}
		ANDB(Imm(writeSome-1), k.param("writes"))
	}
}

// rowLoop emits the loop along one row.
func (k *loop) rowLoop(label string, i, n, end reg.Register, carry []reg.VecVirtual) {
	folds, store := k.folds(k.op), k.store
	if folds {
		k.whole()
		store = k.storeTail
	}
	MOVQ(k.param("n"), end)
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
	MOVQ(k.param("n"), n)
	SUBQ(i, n)
	JLE(LabelRef(label + "End"))
	if !folds {
		MOVQ(k.param("n"), end)
	}
	k.tail(k.op, n, end)
	if folds {
		JMP(LabelRef(label + "Loop"))
		return
	}
	k.storeTail(k.body(i, true, carry)[0], k.sums(0, i))
}

// tailLoop emits what is left of rows after whole lines or vectors: a vector at a
// time, under masks.
func (k *loop) tailLoop(label string, i, n, end reg.Register, carry []reg.VecVirtual) {
	Label(label + "Tail")
	k.some(i, n, end)
	JZ(LabelRef(label + "End"))
	k.tail(k.op, n, end)
	for r, s := range k.body(i, true, carry) {
		k.storeTail(s, k.sums(r, i))
	}
	ADDQ(I8(k.lanes), i)
	CMPQ(i, k.param("n"))
	JLT(LabelRef(label + "Tail"))
}

// some makes n the elements from i on, up to a vector of them, and end where they
// end. There are none if it is zero.
func (k *loop) some(i, n, end reg.Register) {
	MOVQ(k.param("n"), n)
	MOVQ(U32(k.lanes), end)
	SUBQ(i, n)
	CMPQ(n, end)
	CMOVQGT(end, n)
	MOVQ(i, end)
	ADDQ(n, end)
	TESTQ(n, n)
}

// lineLoop emits the loop along a group of rows for vectors of half a line, by
// whole lines: both halves of a line are written one after the other, because
// past the caches a half that waits for the other is slow. What is left of the
// rows is less than a line.
func (k *loop) lineLoop(label string, i reg.Register, carry []reg.VecVirtual) {
	lines, writes := GP64(), GP64()
	MOVBQZX(k.param("writes"), writes)
	MOVQ(k.param("n"), lines)
	ANDQ(I8(-2*k.lanes), lines)
	JZ(LabelRef(label + "Rest"))

	Label(label + "Lines")
	half := k.bytes()
	above := Mem{Base: k.above, Index: i, Scale: uint8(k.sum.Bytes())}
	var over [2]reg.VecVirtual
	for v := range over {
		over[v] = k.vec()
		k.load(above.Offset(v*half), over[v])
	}
	for r := range group {
		pixels := Mem{Base: k.src[r], Index: i, Scale: uint8(k.pix.Bytes())}
		for v, s := range k.lineSums(k.op, pixels, carry[r]) {
			k.add(k.op, s, over[v], over[v])
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

// sums is where the vector at i goes in a row of the table.
func (k *loop) sums(row int, i reg.Register) Mem {
	return Mem{Base: k.dst[row], Index: i, Scale: uint8(k.sum.Bytes())}
}

// storeAhead stores through the caches and asks for the lines to come.
func (k *loop) storeAhead(v reg.VecVirtual, m Mem) {
	PREFETCHT0(m.Offset(aheadBytes))
	k.store(v, m)
}

// fanOut points at the first pixel or sum of each row.
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

// body emits one vector of every row, each laid on the row above it.
func (k *loop) body(i reg.Register, partial bool, carry []reg.VecVirtual) []reg.VecVirtual {
	p := make([]reg.VecVirtual, len(carry))
	over := k.vec()
	k.load(Mem{Base: k.above, Index: i, Scale: uint8(k.sum.Bytes())}, over)
	for r := range p {
		s := k.rowSums(k.op, Mem{Base: k.src[r], Index: i, Scale: uint8(k.pix.Bytes())}, partial, carry[r])
		k.add(k.op, s, over, s)
		p[r], over = s, s
	}
	k.store(over, Mem{Base: k.above, Index: i, Scale: uint8(k.sum.Bytes())})
	return p
}

// limits emits what the memory can do at best: a fill past the caches and a read.
func limits(set isa) {
	TEXT("fill"+set.name(), NOSPLIT, "func(dst *byte, n int)")
	Doc("fill" + set.name() + " writes n bytes, a multiple of 256, from a cache line on, past the caches.")
	Pragma("noescape")
	dst := Load(Param("dst"), GP64())
	end := Load(Param("n"), GP64())
	ADDQ(dst, end)
	set.fill(dst, end)
	SFENCE()
	VZEROUPPER()
	RET()

	TEXT("read"+set.name(), NOSPLIT, "func(src *byte, n int)")
	Doc("read" + set.name() + " reads n bytes, a multiple of 256.")
	Pragma("noescape")
	src := Load(Param("src"), GP64())
	end = Load(Param("n"), GP64())
	ADDQ(src, end)
	set.read(src, end)
	VZEROUPPER()
	RET()

	TEXT("fillRead"+set.name(), NOSPLIT, "func(dst, src *byte, blocks, ratio int)")
	Doc("fillRead" + set.name() + " reads that many blocks of 64 bytes and, for each, writes ratio blocks past the caches, from a cache line on.")
	Pragma("noescape")
	dst = Load(Param("dst"), GP64())
	src = Load(Param("src"), GP64())
	blocks := Load(Param("blocks"), GP64())
	ratio := Load(Param("ratio"), GP64())
	set.fillRead(dst, src, blocks, ratio)
	SFENCE()
	VZEROUPPER()
	RET()
}

func log2(size int) uint64 {
	switch size {
	case 1:
		return 0
	case 2:
		return 1
	case 4:
		return 2
	}
	return 3
}
