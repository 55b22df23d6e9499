package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// memory emits loops that fill memory with non-temporal stores, read it, do both at once, and copy
// it.
func memory(set isa) {
	fill(set)
	read(set)
	fillRead(set)
	streamCopy(set)
}

func fill(set isa) {
	text("fill"+set.name(), NOSPLIT, "func(dst *byte, n int)",
		"fill"+set.name()+" writes n bytes, a multiple of 256, with non-temporal stores. dst must be aligned to a cache line.")
	through("dst", set, set.ones, set.stream)
	SFENCE()
	leave()
}

func read(set isa) {
	text("read"+set.name(), NOSPLIT, "func(src *byte, n int)", "read"+set.name()+" reads n bytes, a multiple of 256.")
	through("src", set, set.zero, func(v reg.VecVirtual, m Mem) { set.orMem(m, v) })
	leave()
}

// through emits a loop over n bytes, starting at the address given by an argument. start
// initializes a register, and step uses it.
func through(name string, set isa, start func(reg.VecVirtual), step func(reg.VecVirtual, Mem)) {
	base, end := arg(name), arg("n")
	ADDQ(base, end)
	v := set.vec()
	start(v)
	Label("loop")
	for at := 0; at < 256; at += set.bytes() {
		step(v, Mem{Base: base, Disp: at})
	}
	ADDQ(I32(256), base)
	CMPQ(base, end)
	JLT(LabelRef("loop"))
}

func fillRead(set isa) {
	text("fillRead"+set.name(), NOSPLIT, "func(dst, src *byte, blocks, ratio int)",
		"fillRead"+set.name()+" reads blocks of 64 bytes and, for each, writes ratio blocks with non-temporal stores. dst must be aligned to a cache line.")
	dst, src, blocks, ratio := arg("dst"), arg("src"), arg("blocks"), arg("ratio")
	v, ones, left := set.vec(), set.vec(), GP64()
	set.ones(ones)
	set.zero(v)
	Label("loop")
	for at := 0; at < lineBytes; at += set.bytes() {
		set.orMem(Mem{Base: src, Disp: at}, v)
	}
	ADDQ(I8(lineBytes), src)
	MOVQ(ratio, left)
	Label("write")
	for at := 0; at < lineBytes; at += set.bytes() {
		set.stream(ones, Mem{Base: dst, Disp: at})
	}
	ADDQ(I8(lineBytes), dst)
	DECQ(left)
	JNZ(LabelRef("write"))
	DECQ(blocks)
	JNZ(LabelRef("loop"))
	SFENCE()
	leave()
}

func streamCopy(set isa) {
	name := "streamCopy" + set.name()
	text(name, NOSPLIT, "func(dst, src *byte, lines int)",
		name+" copies cache lines with non-temporal stores. dst must be aligned to a cache line. Others may read it after a fence.")
	dst, src, lines := arg("dst"), arg("src"), arg("lines")
	line := func(at int) {
		v := make([]reg.VecVirtual, lineBytes/set.bytes())
		for i := range v {
			v[i] = loaded(set, Mem{Base: src, Disp: at + i*set.bytes()})
		}
		for i := range v {
			set.stream(v[i], Mem{Base: dst, Disp: at + i*set.bytes()})
		}
	}
	loop := func(label, next string, count int) {
		Label(label)
		CMPQ(lines, Imm(uint64(count)))
		JLT(LabelRef(next))
		for i := range count {
			line(i * lineBytes)
		}
		ADDQ(I32(count*lineBytes), src)
		ADDQ(I32(count*lineBytes), dst)
		if count > 1 {
			SUBQ(Imm(uint64(count)), lines)
		} else {
			DECQ(lines)
		}
		JMP(LabelRef(label))
	}
	loop("lines", "line", 4)
	loop("line", "done", 1)
	Label("done")
	leave()
}

// processor emits the instructions that Go cannot express. All levels share them.
func processor(isa) {
	TEXT("storeFence", NOSPLIT, "func()")
	Doc("storeFence orders non-temporal stores before all later stores.")
	SFENCE()
	RET()

	TEXT("pause", NOSPLIT, "func()")
	Doc("pause tells the processor that the caller is polling.")
	PAUSE()
	RET()

	TEXT("cpuid", NOSPLIT, "func(leaf, sub uint32) (eax, ebx, ecx, edx uint32)")
	Doc("cpuid executes the CPUID instruction.")
	Load(Param("leaf"), reg.EAX)
	Load(Param("sub"), reg.ECX)
	CPUID()
	Store(reg.EAX, ReturnIndex(0))
	Store(reg.EBX, ReturnIndex(1))
	Store(reg.ECX, ReturnIndex(2))
	Store(reg.EDX, ReturnIndex(3))
	RET()
}
