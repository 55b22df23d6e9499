package main

import (
	"log"
	"math/bits"

	"github.com/mmcloughlin/avo/attr"
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

// Offsets in the Go struct processor.lanes.
const (
	lanesStep = 0
	lanesKeep = 3 * 64
	lanesLow  = 6 * 64
	lanesLast = 7 * 64
	lanesNext = 8 * 64
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
	// pixels is a vector of pixels as sums, squared if the kernel squares.
	pixels(o op, m Mem, partial bool) reg.VecVirtual

	// rowSums is a vector of a row's sums, from the pixels at m and the carry,
	// which it moves on.
	rowSums(o op, m Mem, partial bool, carry reg.VecVirtual) reg.VecVirtual
	// lineSums is the same for a whole line of sums, in as many vectors.
	lineSums(o op, m Mem, carry reg.VecVirtual) []reg.VecVirtual

	zero(v reg.VecVirtual)
	ones(v reg.VecVirtual)
	orMem(m Mem, v reg.VecVirtual)
}

// loaded is a vector from memory.
func loaded(set isa, m Mem) reg.VecVirtual {
	v := set.vec()
	set.load(m, v)
	return v
}

func log2(size int) uint64 { return uint64(bits.TrailingZeros(uint(size))) }

// text starts a kernel.
func text(name string, attributes attr.Attribute, signature string, doc ...string) {
	TEXT(name, attributes, signature)
	Doc(doc...)
	Pragma("noescape")
}

// leave ends a kernel.
func leave() {
	VZEROUPPER()
	RET()
}

// arg loads an argument.
func arg(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }

func param(name string) Mem {
	b, err := Param(name).Resolve()
	if err != nil {
		log.Fatal(err)
	}
	return b.Addr
}

// add adds two vectors, or one and memory, into a third, under a mask if there is one
// before it.
func add(o op, operands ...Op) {
	switch o.sum.Bits() {
	case f32:
		VADDPS(operands...)
	case f64:
		VADDPD(operands...)
	case u32:
		VPADDD(operands...)
	default:
		VPADDQ(operands...)
	}
}
