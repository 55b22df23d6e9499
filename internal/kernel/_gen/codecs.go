package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// shuffleSizes lists the element sizes, in bytes, that assembly shuffles.
var shuffleSizes = []int{2, 4, 8}

// shuffles emits the byte shuffle of compressed chunks and its inverse. Vectors have 32 bytes at
// every level because memory is the bottleneck.
func shuffles(set isa) {
	for _, size := range shuffleSizes {
		shuffle(fmt.Sprintf("shuffle%d%s", size, set.name()), size)
		unshuffle(fmt.Sprintf("unshuffle%d%s", size, set.name()), size)
	}
}

// rotate interleaves the bytes of the first half of the vectors with those of the second half. Each
// time, the index of a byte within the lower (or upper) halves of all vectors is rotated left by
// one bit.
func rotate(v []reg.VecVirtual, times int) []reg.VecVirtual {
	for range times {
		w := make([]reg.VecVirtual, len(v))
		for r := range len(v) / 2 {
			w[2*r], w[2*r+1] = interleaved(VPUNPCKLBW, VPUNPCKHBW, v[r], v[r+len(v)/2])
		}
		v = w
	}
	return v
}

// streamsOf returns the addresses of the streams of a shuffle, which are step bytes apart.
func streamsOf(base, step reg.GPVirtual, size int) func(k int) Mem {
	triple, upper := GP64(), GP64()
	LEAQ(Mem{Base: step, Index: step, Scale: 2}, triple)
	LEAQ(Mem{Base: base, Index: step, Scale: 4}, upper)
	return func(k int) Mem {
		from := base
		if k >= 4 {
			from = upper
		}
		switch k % 4 {
		case 1:
			return Mem{Base: from, Index: step, Scale: 1}
		case 2:
			return Mem{Base: from, Index: step, Scale: 2}
		case 3:
			return Mem{Base: from, Index: triple, Scale: 1}
		}
		if k == 4 { // the caller advances this pointer
			return Mem{Base: upper}
		}
		return Mem{Base: base}
	}
}

func shuffle(name string, size int) {
	text(name, NOSPLIT, "func(dst, src *byte, n, step int)", name+" computes, for n a multiple of 32,", "",
		"\tfor i := range n {", fmt.Sprintf("\t\tfor k := range %d {", size), fmt.Sprintf("\t\t\tdst[k*step+i] = src[%d*i+k]", size), "\t\t}", "\t}")
	dst, src, n, step := arg("dst"), arg("src"), arg("n"), arg("step")
	stream := streamsOf(dst, step, size)
	Label("loop")
	v := make([]reg.VecVirtual, size)
	for r := range v { // 16 elements of each half
		v[r] = pairOf(Mem{Base: src, Disp: 16 * r}, Mem{Base: src, Disp: 16 * (r + size)})
	}
	for k, w := range rotate(v, 4) { // rotate past the four bits that number the elements
		VMOVDQU(w, stream(k))
	}
	ADDQ(I32(32*size), src)
	ADDQ(Imm(32), dst)
	if size == 8 {
		ADDQ(Imm(32), stream(4).Base)
	}
	SUBQ(Imm(32), n)
	JG(LabelRef("loop"))
	leave()
}

func unshuffle(name string, size int) {
	text(name, NOSPLIT, "func(dst, src *byte, n, step int)", name+" computes, for n a multiple of 32,", "",
		"\tfor i := range n {", fmt.Sprintf("\t\tfor k := range %d {", size), fmt.Sprintf("\t\t\tdst[%d*i+k] = src[k*step+i]", size), "\t\t}", "\t}")
	dst, src, n, step := arg("dst"), arg("src"), arg("n"), arg("step")
	stream := streamsOf(src, step, size)
	Label("loop")
	v := make([]reg.VecVirtual, size)
	for k := range v {
		v[k] = YMM()
		VMOVDQU(stream(k), v[k])
	}
	bits := map[int]int{2: 1, 4: 2, 8: 3}[size]
	for r, w := range rotate(v, bits) { // rotate past the bits that number the bytes of an element
		VMOVDQU(w.AsX(), Mem{Base: dst, Disp: 16 * r})
		VEXTRACTI128(Imm(1), w, Mem{Base: dst, Disp: 16 * (r + size)})
	}
	ADDQ(I32(32*size), dst)
	ADDQ(Imm(32), src)
	if size == 8 {
		ADDQ(Imm(32), stream(4).Base)
	}
	SUBQ(Imm(32), n)
	JG(LabelRef("loop"))
	leave()
}
