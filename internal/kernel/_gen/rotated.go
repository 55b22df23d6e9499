package main

import (
	"github.com/boxsum/boxsum/internal/pairs"
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
	argSteps
	argStream
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

// rotated emits the kernels of rotated tables, of every pair of types. A
// vector is summed within the runs it holds by shuffles or dot products that a
// pattern describes, so that one kernel serves every rotation, both ways that
// rows run and every number of channels.
func rotated(set isa) {
	for _, o := range ops(pairs.Rotated) {
		o.plain = true
		rotatedLine(set, o)
	}
}

// rotatedISA emits what differs between the instruction sets. Pattern rows are
// at pattern, each a vector long.
type rotatedISA interface {
	// step adds up, within runs and blocks, what is 2^s pixels apart.
	step(s int, v reg.VecVirtual, pattern reg.Register)
	// dots is all steps at once, by dot products with ones and zeros.
	dots(src Mem, pattern reg.Register) reg.VecVirtual
	// beyond adds what the runs go on from: the rows of the line above, or the
	// vector before.
	beyond(v, before reg.VecVirtual, above Mem, pattern reg.Register)
	// starts is which lanes have the sums of whole runs.
	starts(pattern reg.Register) reg.VecVirtual
	// addEmpty adds the rows of the line above to the first pixels of runs.
	addEmpty(v reg.VecVirtual, above Mem, pattern reg.Register)
}

func rotatedLine(set isa, o op) {
	name := o.name() + "Rotated" + set.name()
	TEXT(name, 0, "func(args *uintptr)")
	Doc(name+" makes a stretch of a line as RotatedLine says, for sums of type "+o.sum.String(),
		"from pixels of type "+o.pix.String()+".")
	Pragma("noescape")
	k := &rotatedLoop{isa: set, op: o, args: Load(Param("args"), GP64())}
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
	k.steps = k.arg(argSteps)
	k.i, k.vector, k.next = k.arg(argFirst), k.arg(argVector), k.arg(argStep)
	k.before = set.vec()
	pattern := k.arg(argCarry)
	set.load(Mem{Base: pattern}, k.before)

	CMPQ(k.mem(argStream), Imm(0))
	JNE(LabelRef("stream"))
	CMPQ(k.mem(argEmpty), Imm(0))
	JNE(LabelRef("aheadEmpty"))
	k.loop("ahead", k.storeAhead, false)
	k.loop("aheadEmpty", k.storeAhead, true)
	Label("stream")
	CMPQ(k.mem(argEmpty), Imm(0))
	JNE(LabelRef("streamEmpty"))
	k.loop("streamFilled", set.stream, false)
	k.loop("streamEmpty", set.stream, true)

	Label("end")
	pattern = k.arg(argCarry)
	set.store(k.before, Mem{Base: pattern})
	VZEROUPPER()
	RET()
}

// rotatedLoop is the state of a kernel while it is emitted.
type rotatedLoop struct {
	isa
	rotatedISA
	op
	args, dst, over, keep, src, steps, rows, above, i, vector, next reg.Register
	before                                                          reg.VecVirtual // the row sums of the vector before
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

// storeAhead stores through the caches and asks for the lines to come, which
// are on either side.
func (k *rotatedLoop) storeAhead(v reg.VecVirtual, m Mem) {
	PREFETCHT0(m.Offset(-aheadBytes))
	PREFETCHT0(m.Offset(aheadBytes))
	k.store(v, m)
}

// loop emits the loop along a stretch, with or without empty cells.
func (k *rotatedLoop) loop(label string, write func(v reg.VecVirtual, m Mem), empty bool) {
	var cells reg.GPVirtual
	if empty {
		Label(label)
		cells = k.arg(argEmpty)
	}
	Label(label + "Loop")
	pattern, at, starts := GP64(), GP64(), GP64()
	MOVQ(Mem{Base: k.vector, Disp: vectorPattern}, pattern)
	MOVLQSX(Mem{Base: k.vector, Disp: vectorAbove}, at)
	MOVLQSX(Mem{Base: k.vector, Disp: vectorStarts}, starts)
	src := Mem{Base: k.src, Index: k.i, Scale: uint8(k.pix.Bytes())}
	var v reg.VecVirtual
	if k.dot {
		v = k.dots(src, pattern)
	} else {
		v = k.pixels(k.op, src, false)
		for s := range rotatedSteps(k.isa, k.op) {
			CMPQ(k.steps, Imm(uint64(s)))
			JE(LabelRef(label + "Summed"))
			k.step(s, v, pattern)
		}
		Label(label + "Summed")
	}
	k.beyond(v, k.before, k.at(k.above, at), pattern)
	lanes, t := k.starts(pattern), k.vec()
	VPERMD(v, lanes, t)
	k.store(t, k.at(k.rows, starts))
	if empty {
		t = k.vec()
		k.load(k.at(k.over, k.i), t)
		ADDQ(k.mem(argOwn), at)
		k.addEmpty(t, k.at(k.above, at), pattern)
		VPERMD(t, lanes, lanes)
		k.store(lanes, k.at(cells, starts))
		k.add(k.op, v, t, t)
	} else {
		k.addMem(k.op, k.at(k.over, k.i), v, t)
	}
	k.store(t, k.at(k.keep, k.i))
	write(t, k.at(k.dst, k.i))
	ADDQ(k.next, k.i)
	ADDQ(k.mem(argNextVector), k.vector)
	CMPQ(k.i, k.mem(argEnd))
	JNE(LabelRef(label + "Loop"))
	JMP(LabelRef("end"))
}

// rotatedSteps is how many doublings sum a vector, or a block of it in floats.
func rotatedSteps(set isa, o op) int {
	n := steps(o)
	if set.bytes() == 64 && !o.sum.Float() {
		n++
	}
	return n
}

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
	r.set.add(r.op, v, r.pick(v, r.zero, r.row(pattern, rowSteps+s)), v)
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
		r.set.add(r.op, v, more, v)
		more = r.pick(v, r.zero, r.row(pattern, rowInner))
	}
	r.set.add(r.op, v, more, v)
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
	r.set.add(r.op, v, r.pick(rows, r.zero, r.row(pattern, rowEmpty)), v)
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
	r.set.add(r.op, v, t, v)
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
	r.set.add(r.op, v, rows, v)
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
	r.set.add(r.op, v, rows, v)
}
