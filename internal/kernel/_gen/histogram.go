package main

import (
	"fmt"
	"slices"

	"github.com/boxsum/boxsum/internal/pairs"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The kernels of integral histograms keep the running histogram of a row in
// registers, a block of bins at a time, and add it to the table row above at
// every pixel.

// A binKind is one of the kernels of a type of sums.
type binKind struct {
	name   string
	bytes  int  // of bins that it takes at a time; 0 for some lanes of a vector, under a mask
	stream bool // it also writes the row to the table, past the caches
}

var binKinds = []binKind{
	{"Bins", 128, false},
	{"BinsTail", 0, false},
	{"BinsStream", 128, true},
	{"BinsStreamLine", 64, true},
}

// binSums is the types of sums that have kernels: signed ones are the same bits.
func binSums() []elem {
	return slices.DeleteFunc(pairs.Accumulators(), func(t elem) bool { return t.Bits() != t })
}

func histogram(set isa) {
	for _, sum := range binSums() {
		for _, kind := range binKinds {
			binsKernel(set, sum, kind)
		}
	}
	streamCopy(set)
}

func binsKernel(set isa, sum elem, kind binKind) {
	name := sum.Short() + kind.name + set.name()
	tail := kind.bytes == 0
	signature := fmt.Sprintf("above *%[1]s, pitch int, index *uint32, step int, weights *%[1]s, weightStep int, run *%[1]s, bins *uint32, n int", sum.String())
	count, also, ending := fmt.Sprint(kind.bytes/sum.Bytes()), "", []string(nil)
	switch {
	case tail:
		signature += ", some *uint32"
		count, ending = "lanes", []string{"", "where lanes are those of a vector that some says."}
	case kind.stream:
		signature += fmt.Sprintf(", dst *%s", sum.String())
		also, ending = "dst[x*pitch+b] = above[x*pitch+b]", []string{"", "Bins of dst start a cache line. It takes a fence before others may read them."}
	}
	lines := []string{
		name + " is, for the bins that are numbered from bins on, with distances in bytes,",
		"",
		"\tfor x := range n {",
		"\t\trun[index[x*step]] += weights[x*weightStep]",
		"\t\tfor b := range " + count + " {",
		"\t\t\tabove[x*pitch+b] += run[b]",
	}
	if also != "" {
		lines = append(lines, "\t\t\t"+also)
	}
	lines = append(lines, "\t\t}", "\t}")
	text(name, NOSPLIT, "func("+signature+")", append(lines, ending...)...)

	above, pitch, index, step := arg("above"), arg("pitch"), arg("index"), arg("step")
	weights, weightStep, run, bins, left := arg("weights"), arg("weightStep"), arg("run"), arg("bins"), arg("n")
	var b binISA = bins512{sum}
	if set.bytes() == 32 {
		b = &bins256{sum: sum}
	}
	vectors := kind.bytes / set.bytes()
	var some, dst reg.Register
	if kind.stream {
		dst = arg("dst")
	}
	if tail {
		vectors = 1
		some = b.mask(Mem{Base: arg("some")})
	}
	numbers, running := make([]reg.VecVirtual, vectors), make([]reg.VecVirtual, vectors)
	for v := range vectors {
		numbers[v], running[v] = set.vec(), set.vec()
		set.load(Mem{Base: bins, Disp: v * set.bytes()}, numbers[v])
		b.load(Mem{Base: run, Disp: v * set.bytes()}, some, running[v])
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
		b.load(Mem{Base: above, Disp: v * set.bytes()}, some, over[v])
		add(op{sum: sum}, running[v], over[v], over[v])
		b.store(over[v], some, Mem{Base: above, Disp: v * set.bytes()})
	}
	if kind.stream { // a line's parts one after the other
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
		b.store(running[v], some, Mem{Base: run, Disp: v * set.bytes()})
	}
	leave()
}

// A binISA emits what the two instruction sets do differently. A mask is nil
// where all lanes are meant.
type binISA interface {
	mask(m Mem) reg.Register
	load(m Mem, some reg.Register, v reg.VecVirtual)
	store(v reg.VecVirtual, some reg.Register, m Mem)
	// count adds the weight to the lane whose number is in all of bin.
	count(bin, numbers, weight, running reg.VecVirtual)
}

type bins512 struct{ sum elem }

func (b bins512) mask(m Mem) reg.Register {
	v, k := ZMM(), K()
	VMOVDQU32(m, v)
	if b.sum.Bytes() == 4 {
		VPMOVD2M(v, k)
	} else {
		VPMOVQ2M(v, k)
	}
	return k
}

func (b bins512) load(m Mem, some reg.Register, v reg.VecVirtual) {
	switch {
	case some == nil:
		VMOVDQU32(m, v)
	case b.sum.Bytes() == 4:
		VMOVDQU32_Z(m, some, v)
	default:
		VMOVDQU64_Z(m, some, v)
	}
}

func (b bins512) store(v reg.VecVirtual, some reg.Register, m Mem) {
	switch {
	case some == nil:
		VMOVDQU32(v, m)
	case b.sum.Bytes() == 4:
		VMOVDQU32(v, some, m)
	default:
		VMOVDQU64(v, some, m)
	}
}

func (b bins512) count(bin, numbers, weight, running reg.VecVirtual) {
	k := K()
	if b.sum.Bytes() == 4 {
		VPCMPEQD(bin, numbers, k)
	} else {
		VPCMPEQQ(bin, numbers, k)
	}
	add(op{sum: b.sum}, weight, running, k, running)
}

type bins256 struct{ sum elem }

func (*bins256) mask(m Mem) reg.Register {
	v := YMM()
	VMOVDQU(m, v)
	return v
}

func (*bins256) load(m Mem, some reg.Register, v reg.VecVirtual) {
	if some == nil {
		VMOVDQU(m, v)
	} else {
		VPMASKMOVD(m, some, v)
	}
}

func (*bins256) store(v reg.VecVirtual, some reg.Register, m Mem) {
	if some == nil {
		VMOVDQU(v, m)
	} else {
		VPMASKMOVD(v, some, m)
	}
}

// count adds zero to the other lanes, which no sum can tell: none is ever -0.
func (b *bins256) count(bin, numbers, weight, running reg.VecVirtual) {
	t := YMM()
	VPCMPEQD(bin, numbers, t)
	VPAND(t, weight, t)
	add(op{sum: b.sum}, t, running, running)
}
