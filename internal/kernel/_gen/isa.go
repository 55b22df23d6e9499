package main

import (
	"log"
	"math/bits"

	"github.com/boxsum/boxsum/internal/raster"
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// group is the number of rows that share one read of the row above.
const group = 4

// Values of the writes argument: values below writeMixed mean kernel.Ahead, values above it
// kernel.Stream. For the last vector of a row, writeSome is added, because only some of its sums
// are stored.
const (
	writeMixed = 1
	writeSome  = 4
)

// aheadBytes is the distance at which a row prefetches the lines that it is going to store to.
const aheadBytes = 128

// lineBytes is the size of a cache line.
const lineBytes = raster.LineBytes

// carryLen is the value of kernel.CarryLen for up to four channels.
const carryLen = 16

// Offsets in the Go struct processor.lanes.
const (
	lanesStep = 0
	lanesKeep = 3 * 64
	lanesLow  = 6 * 64
	lanesLast = 7 * 64
	lanesNext = 8 * 64
)

// An isa emits the parts of the loop that depend on the instruction set. A vector holds bytes()
// bytes of sums.
type isa interface {
	name() string
	bytes() int

	// setup loads the constants of a kernel; lanes points to a processor.lanes.
	setup(o op, lanes reg.Register, offset Mem)
	// tail prepares for a partial vector of the given number of elements, the last of which
	// precedes end.
	tail(o op, elements, end reg.Register)
	// folds reports whether tails use the code of whole vectors, under a mask, instead of separate
	// code.
	folds(o op) bool
	// whole sets the mask for whole vectors, if tails use the same code.
	whole()

	vec() reg.VecVirtual
	load(m Mem, v reg.VecVirtual)
	store(v reg.VecVirtual, m Mem)
	stream(v reg.VecVirtual, m Mem)
	storeTail(v reg.VecVirtual, m Mem)
	// keepTail clears the lanes that storeTail does not store.
	keepTail(o op, v reg.VecVirtual)
	// pixels loads a vector of pixels and converts them to sums, squared if the kernel sums
	// squares.
	pixels(o op, m Mem, partial bool) reg.VecVirtual

	// rowSums returns a vector of a row's prefix sums, from the pixels at m and the carry, which it
	// updates.
	rowSums(o op, m Mem, partial bool, carry reg.VecVirtual) reg.VecVirtual
	// lineSums is rowSums for a whole cache line of sums, in one or more vectors.
	lineSums(o op, m Mem, carry reg.VecVirtual) []reg.VecVirtual

	zero(v reg.VecVirtual)
	ones(v reg.VecVirtual)
	orMem(m Mem, v reg.VecVirtual)
}

// loaded loads a vector from memory into a new register.
func loaded(set isa, m Mem) reg.VecVirtual {
	v := set.vec()
	set.load(m, v)
	return v
}

func log2(size int) uint64 { return uint64(bits.TrailingZeros(uint(size))) }

// text begins a kernel with the given name and signature.
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

// arg loads an argument into a register.
func arg(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }

func param(name string) Mem {
	b, err := Param(name).Resolve()
	if err != nil {
		log.Fatal(err)
	}
	return b.Addr
}

// add adds two vectors, or memory and a vector, into a third; a mask may precede the destination.
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
