package main

import (
	"fmt"
	"slices"

	"github.com/boxsum/boxsum/internal/raster"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The kernels of integral histograms keep the running histogram of a row in registers, one block of
// bins at a time. At every pixel, they add it to the table row above.

// A binKind is one of the kernels that every sum type has.
type binKind struct {
	field  string // field of kernel.binRoutines
	name   string
	bytes  int  // size of a block of bins; 0 for a partial vector, under a mask
	stream bool // also write the row to the table, with non-temporal stores
}

var binKinds = []binKind{
	{"block", "Bins", 128, false},
	{"tail", "BinsTail", 0, false},
	{"stream", "BinsStream", 128, true},
	{"line", "BinsStreamLine", 64, true},
}

// binSums returns the sum types that have kernels. Signed sums use those of unsigned sums: the bits
// are the same.
func binSums() []elem {
	return slices.DeleteFunc(raster.SumTypes(), func(t elem) bool { return t.Bits() != t })
}

func histogram(set isa) {
	for _, sum := range binSums() {
		for _, kind := range binKinds {
			binsKernel(set, sum, kind)
		}
	}
}

func binsKernel(set isa, sum elem, kind binKind) {
	name := sum.Short() + kind.name + set.name()
	tail := kind.bytes == 0
	signature := "above *byte, pitch int, index *uint32, step int, weights *byte, weightStep int, run *byte, bins *uint32, n int"
	count, also, ending := fmt.Sprint(kind.bytes/sum.Bytes()), "", []string(nil)
	switch {
	case tail:
		signature += ", some *uint32"
		count, ending = "lanes", []string{"", "where lanes are the lanes of a vector that some selects."}
	case kind.stream:
		signature += ", dst *byte"
		also, ending = "dst[x*pitch+b] = above[x*pitch+b]", []string{"", "The bins of dst must be aligned to cache lines. Others may read them after a fence."}
	}
	text(name, NOSPLIT, "func("+signature+")", append(binsDoc(name, count, also), ending...)...)

	above, pitch, index, step := arg("above"), arg("pitch"), arg("index"), arg("step")
	weights, weightStep, run, bins, left := arg("weights"), arg("weightStep"), arg("run"), arg("bins"), arg("n")
	b := bins512(sum)
	if set.bytes() == 32 {
		b = bins256(sum)
	}
	load, store := set.load, set.store
	vectors := kind.bytes / set.bytes()
	var dst reg.Register
	if kind.stream {
		dst = arg("dst")
	}
	if tail {
		vectors = 1
		some := b.mask(loaded(set, Mem{Base: arg("some")}))
		load = func(m Mem, v reg.VecVirtual) { b.load(m, some, v) }
		store = func(v reg.VecVirtual, m Mem) { b.store(v, some, m) }
	}
	numbers, running := make([]reg.VecVirtual, vectors), make([]reg.VecVirtual, vectors)
	for v := range vectors {
		numbers[v], running[v] = set.vec(), set.vec()
		set.load(Mem{Base: bins, Disp: v * set.bytes()}, numbers[v])
		load(Mem{Base: run, Disp: v * set.bytes()}, running[v])
	}
	Label("loop")
	bin, weight := set.vec(), set.vec()
	VPBROADCASTD(Mem{Base: index}, bin)
	if sum.Bytes() == 4 {
		VPBROADCASTD(Mem{Base: weights}, weight)
	} else {
		VPBROADCASTQ(Mem{Base: weights}, weight)
	}
	for v := range vectors {
		b.count(bin, numbers[v], weight, running[v])
	}
	over := make([]reg.VecVirtual, vectors)
	for v := range vectors {
		over[v] = set.vec()
		load(Mem{Base: above, Disp: v * set.bytes()}, over[v])
		add(op{sum: sum}, running[v], over[v], over[v])
		store(over[v], Mem{Base: above, Disp: v * set.bytes()})
	}
	if kind.stream { // write the parts of a cache line one after the other
		for v := range vectors {
			set.stream(over[v], Mem{Base: dst, Disp: v * set.bytes()})
		}
		ADDQ(pitch, dst)
	}
	ADDQ(step, index)
	ADDQ(weightStep, weights)
	ADDQ(pitch, above)
	DECQ(left)
	JNZ(LabelRef("loop"))
	for v := range vectors {
		store(running[v], Mem{Base: run, Disp: v * set.bytes()})
	}
	leave()
}

// A binISA emits the instructions that differ between the two instruction sets.
type binISA struct {
	// mask converts a vector of lane masks to the operand that load and store accept.
	mask        func(v reg.VecVirtual) reg.Register
	load, store func(from, some, to Op)
	// count adds the weight to the lanes of running whose number equals bin.
	count func(bin, numbers, weight, running reg.VecVirtual)
}

func bins512(sum elem) binISA {
	toMask, load, move, equal := VPMOVD2M, VMOVDQU32_Z, VMOVDQU32, VPCMPEQD
	if sum.Bytes() == 8 {
		toMask, load, move, equal = VPMOVQ2M, VMOVDQU64_Z, VMOVDQU64, VPCMPEQQ
	}
	mask := func(from func(k Op)) reg.Register {
		k := K()
		from(k)
		return k
	}
	return binISA{
		mask:  func(v reg.VecVirtual) reg.Register { return mask(func(k Op) { toMask(v, k) }) },
		load:  load,
		store: func(v, some, m Op) { move(v, some, m) },
		count: func(bin, numbers, weight, running reg.VecVirtual) {
			add(op{sum: sum}, weight, running, mask(func(k Op) { equal(bin, numbers, k) }), running)
		},
	}
}

func bins256(sum elem) binISA {
	return binISA{
		mask:  func(v reg.VecVirtual) reg.Register { return v },
		load:  VPMASKMOVD,
		store: VPMASKMOVD,
		// The other lanes add zero, which changes no sum: none is ever -0.
		count: func(bin, numbers, weight, running reg.VecVirtual) {
			t := YMM()
			VPCMPEQD(bin, numbers, t)
			VPAND(t, weight, t)
			add(op{sum: sum}, t, running, running)
		},
	}
}
