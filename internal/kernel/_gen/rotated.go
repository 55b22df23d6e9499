package main

import (
	"github.com/boxsum/boxsum/internal/raster"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Offsets in the Go struct kernel.rotatedArgs.
const (
	argDst = 8 * iota
	argSrc
	argOver
	argKeep
	argRows
	argAbove
	argEmpty
	argCarry
	argVector
	argFirst
	argStep
	argEnd
	argNextVector
	argOwn
	argShape
)

// Bits of the shape of a line, above the number of doubling steps for its runs. They say whether
// the line has empty cells, and whether it is written with non-temporal stores.
const (
	shapeEmpty  = 1 << 8
	shapeStream = 1 << 9
)

// Offsets in the Go struct kernel.rotatedVector.
const (
	vectorPattern = 0
	vectorAbove   = 8
	vectorStarts  = 12
)

// Rows of a pattern, as in package kernel.
const (
	rowSteps   = 0
	rowWeights = 0
	rowBeyond  = 4
	rowStarts  = 5
	rowEmpty   = 6
	rowInner   = 7
	rowOuter   = 8
	rowCarried = 7
	rowCarries = 8
	rowKeep    = 9
	rowFilled  = 13
)

// rotated emits the kernels of rotated tables for every pair of types. A vector is summed within
// the runs it holds by the shuffles or dot products that a pattern describes, so one kernel serves
// every rotation, both directions of rows, and every number of channels.
func rotated(set isa) {
	for _, o := range ops(raster.Rotated) {
		o.plain = true
		rotatedLine(set, o)
	}
}

// A pattern locates the rows of a shuffle pattern, each of which is a vector long.
type pattern struct {
	at    reg.Register
	bytes int // of a row
}

func (p pattern) row(row int) Mem { return Mem{Base: p.at, Disp: p.bytes * row} }

// rotatedISA emits what differs between the instruction sets.
type rotatedISA interface {
	// step adds, within runs and blocks, the sum 2^s pixels away.
	step(s int, v reg.VecVirtual, pattern pattern)
	// dots does all steps at once by dot products with ones and zeros.
	dots(src Mem, pattern pattern) reg.VecVirtual
	// beyond adds the sums from which the runs continue: those of the line above, or of the
	// previous vector.
	beyond(v, before reg.VecVirtual, above Mem, pattern pattern)
	// addEmpty adds the rows of the line above to the first pixels of runs.
	addEmpty(v reg.VecVirtual, above Mem, pattern pattern)
}

func rotatedLine(set isa, o op) {
	name := o.name() + "Rotated" + set.name()
	text(name, 0, "func(args *byte)", name+" computes a stretch of a line, as specified by RotatedLine, with sums of type "+o.sum.String(),
		"from pixels of type "+o.pix.String()+".")
	k := &rotatedLoop{isa: set, op: o, args: arg("args")}
	if set.bytes() == 64 {
		r := &rotated512{set: set.(*avx512), op: o, zero: ZMM()}
		VPXORD(r.zero, r.zero, r.zero)
		k.rotatedISA = r
	} else {
		r := &rotated256{set: set.(*avx2), op: o}
		if o.dot {
			r.ones = YMM()
			VMOVDQU(r.set.constants.ones(), r.ones)
		}
		k.rotatedISA = r
	}
	k.dst, k.over, k.keep = k.arg(argDst), k.arg(argOver), k.arg(argKeep)
	k.src, k.rows, k.above = k.arg(argSrc), k.arg(argRows), k.arg(argAbove)
	k.shape = k.arg(argShape)
	k.i, k.vector, k.next = k.arg(argFirst), k.arg(argVector), k.arg(argStep)
	k.before = loaded(set, Mem{Base: k.arg(argCarry)})

	k.loops()

	Label("end")
	set.store(k.before, Mem{Base: k.arg(argCarry)})
	leave()
}

// rotatedLoop is the state of a kernel while it is emitted.
type rotatedLoop struct {
	isa
	rotatedISA
	op
	args, dst, over, keep, src, rows, above, i, vector, next reg.Register
	shape                                                    reg.GPVirtual
	before                                                   reg.VecVirtual // the row sums of the previous vector
}

func (k *rotatedLoop) mem(offset int) Mem { return Mem{Base: k.args, Disp: offset} }

func (k *rotatedLoop) arg(offset int) reg.GPVirtual {
	r := GP64()
	MOVQ(k.mem(offset), r)
	return r
}

func (k *rotatedLoop) at(base, index reg.Register) Mem {
	return Mem{Base: base, Index: index, Scale: uint8(k.sum.Bytes())}
}

// A lineKind holds the properties of a line that are known when its loop is emitted.
type lineKind struct {
	label                string
	filled, empty        bool // whether the line may have no empty cells, and whether it may have some
	throughCache, pastIt bool // how the line may be written
}

// loops emits a loop for every kind of line for the most common pair of types, and a single loop
// for all others, for which several would not be faster.
func (k *rotatedLoop) loops() {
	kinds := []lineKind{{"any", true, true, true, true}}
	if k.pix == u8 && k.sum == u32 {
		kinds = []lineKind{
			{"ahead", true, false, true, false},
			{"aheadEmpty", false, true, true, false},
			{"stream", true, false, false, true},
			{"streamEmpty", false, true, false, true},
		}
		TESTL(U32(shapeStream), k.shape.As32())
		JNZ(LabelRef("past"))
		TESTL(U32(shapeEmpty), k.shape.As32())
		JNZ(LabelRef("aheadEmptyLoop"))
		JMP(LabelRef("aheadLoop"))
		Label("past")
		TESTL(U32(shapeEmpty), k.shape.As32())
		JNZ(LabelRef("streamEmptyLoop"))
		JMP(LabelRef("streamLoop"))
	}
	for _, kind := range kinds {
		k.loop(kind)
	}
}

// loop emits the loop along a run of vectors of a line. Few lines have empty cells, so the code for
// these is placed outside the loop.
func (k *rotatedLoop) loop(kind lineKind) {
	Label(kind.label + "Loop")
	pattern, at, starts := pattern{GP64(), k.bytes()}, GP64(), GP64()
	MOVQ(Mem{Base: k.vector, Disp: vectorPattern}, pattern.at)
	MOVLQSX(Mem{Base: k.vector, Disp: vectorAbove}, at)
	MOVLQSX(Mem{Base: k.vector, Disp: vectorStarts}, starts)
	v := k.runSums(kind.label, pattern)
	k.beyond(v, k.before, k.at(k.above, at), pattern)
	lanes, t := loaded(k.isa, pattern.row(rowStarts)), k.vec()
	VPERMD(v, lanes, t)
	k.store(t, k.at(k.rows, starts))
	if kind.filled && kind.empty {
		TESTL(U32(shapeEmpty), k.shape.As32())
		JNZ(LabelRef(kind.label + "Empty"))
	}
	if kind.filled {
		add(k.op, k.at(k.over, k.i), v, t)
	} else {
		k.addCells(v, t, lanes, at, starts, pattern)
	}
	Label(kind.label + "Made")
	k.store(t, k.at(k.keep, k.i))
	dst := k.at(k.dst, k.i)
	if kind.throughCache && kind.pastIt {
		TESTL(U32(shapeStream), k.shape.As32())
		JNZ(LabelRef(kind.label + "Stream"))
	}
	if kind.throughCache {
		PREFETCHT0(dst.Offset(-aheadBytes)) // the next lines are on either side
		PREFETCHT0(dst.Offset(aheadBytes))
		k.store(t, dst)
		k.advance(kind.label)
	}
	if kind.pastIt {
		Label(kind.label + "Stream")
		k.isa.stream(t, dst)
		k.advance(kind.label)
	}
	if kind.filled && kind.empty {
		Label(kind.label + "Empty")
		k.addCells(v, t, lanes, at, starts, pattern)
		JMP(LabelRef(kind.label + "Made"))
	}
}

// runSums returns a vector of pixels, summed within the runs it holds.
func (k *rotatedLoop) runSums(label string, pattern pattern) reg.VecVirtual {
	src := Mem{Base: k.src, Index: k.i, Scale: uint8(k.pix.Bytes())}
	if k.dot {
		return k.dots(src, pattern)
	}
	v := k.pixels(k.op, src, false)
	for s := range rotatedSteps(k.isa, k.op) {
		CMPB(k.shape.As8(), Imm(uint64(s)))
		JE(LabelRef(label + "Summed"))
		k.step(s, v, pattern)
	}
	Label(label + "Summed")
	return v
}

// addCells adds the sums v to those of empty cells, which it returns in t and stores.
func (k *rotatedLoop) addCells(v, t, lanes reg.VecVirtual, at, starts reg.Register, pattern pattern) {
	k.load(k.at(k.over, k.i), t)
	ADDQ(k.mem(argOwn), at)
	k.addEmpty(t, k.at(k.above, at), pattern)
	VPERMD(t, lanes, lanes)
	cells := k.arg(argEmpty)
	k.store(lanes, k.at(cells, starts))
	add(k.op, v, t, t)
}

func (k *rotatedLoop) advance(label string) {
	ADDQ(k.next, k.i)
	ADDQ(k.mem(argNextVector), k.vector)
	CMPQ(k.i, k.mem(argEnd))
	JNE(LabelRef(label + "Loop"))
	JMP(LabelRef("end"))
}

// rotatedSteps returns the number of doubling steps that sum a vector, or for floats a block.
func rotatedSteps(set isa, o op) int {
	n := steps(o)
	if set.bytes() == 64 && !o.sum.Float() {
		n++
	}
	return n
}
