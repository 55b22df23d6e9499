package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// memory emits what the memory can do at best: a fill past the caches, a read, and
// both at once.
func memory(set isa) {
	fill(set)
	read(set)
	fillRead(set)
}

func fill(set isa) {
	TEXT("fill"+set.name(), NOSPLIT, "func(dst *byte, n int)")
	Doc("fill" + set.name() + " writes n bytes, a multiple of 256, from a cache line on, past the caches.")
	Pragma("noescape")
	dst := Load(Param("dst"), GP64())
	end := Load(Param("n"), GP64())
	ADDQ(dst, end)
	v := set.vec()
	set.ones(v)
	Label("loop")
	for at := 0; at < 256; at += set.bytes() {
		set.stream(v, Mem{Base: dst, Disp: at})
	}
	ADDQ(I32(256), dst)
	CMPQ(dst, end)
	JLT(LabelRef("loop"))
	SFENCE()
	VZEROUPPER()
	RET()
}

func read(set isa) {
	TEXT("read"+set.name(), NOSPLIT, "func(src *byte, n int)")
	Doc("read" + set.name() + " reads n bytes, a multiple of 256.")
	Pragma("noescape")
	src := Load(Param("src"), GP64())
	end := Load(Param("n"), GP64())
	ADDQ(src, end)
	v := set.vec()
	set.zero(v)
	Label("loop")
	for at := 0; at < 256; at += set.bytes() {
		set.orMem(Mem{Base: src, Disp: at}, v)
	}
	ADDQ(I32(256), src)
	CMPQ(src, end)
	JLT(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

func fillRead(set isa) {
	TEXT("fillRead"+set.name(), NOSPLIT, "func(dst, src *byte, blocks, ratio int)")
	Doc("fillRead" + set.name() + " reads that many blocks of 64 bytes and, for each, writes ratio blocks past the caches, from a cache line on.")
	Pragma("noescape")
	dst := Load(Param("dst"), GP64())
	src := Load(Param("src"), GP64())
	blocks := Load(Param("blocks"), GP64())
	ratio := Load(Param("ratio"), GP64())
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
	VZEROUPPER()
	RET()
}

// streamCopy emits a copy past the caches.
func streamCopy(set isa) {
	name := "streamCopy" + set.name()
	TEXT(name, NOSPLIT, "func(dst, src *byte, lines int)")
	Doc(name + " copies whole cache lines to where a line starts, past the caches. It takes a fence before others may read them.")
	Pragma("noescape")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	lines := Load(Param("lines"), GP64())
	line := func(at int) {
		v := make([]reg.VecVirtual, lineBytes/set.bytes())
		for i := range v {
			v[i] = set.vec()
			set.load(Mem{Base: src, Disp: at + i*set.bytes()}, v[i])
		}
		for i := range v {
			set.stream(v[i], Mem{Base: dst, Disp: at + i*set.bytes()})
		}
	}
	const unroll = 4
	Label("lines")
	CMPQ(lines, Imm(unroll))
	JLT(LabelRef("line"))
	for i := range unroll {
		line(i * lineBytes)
	}
	ADDQ(I32(unroll*lineBytes), src)
	ADDQ(I32(unroll*lineBytes), dst)
	SUBQ(Imm(unroll), lines)
	JMP(LabelRef("lines"))
	Label("line")
	CMPQ(lines, Imm(1))
	JLT(LabelRef("done"))
	line(0)
	ADDQ(I32(lineBytes), src)
	ADDQ(I32(lineBytes), dst)
	DECQ(lines)
	JMP(LabelRef("line"))
	Label("done")
	VZEROUPPER()
	RET()

	if set.bytes() == 32 {
		TEXT("storeFence", NOSPLIT, "func()")
		Doc("storeFence lets what was written past the caches arrive before anything that is written later.")
		SFENCE()
		RET()
	}
}

// processor emits what Go has no words for.
func processor() {
	TEXT("pause", NOSPLIT, "func()")
	Doc("pause tells the processor that the caller is polling.")
	PAUSE()
	RET()

	TEXT("cpuid", NOSPLIT, "func(leaf, sub uint32) (eax, ebx, ecx, edx uint32)")
	Doc("cpuid asks the processor about itself.")
	Load(Param("leaf"), reg.EAX)
	Load(Param("sub"), reg.ECX)
	CPUID()
	Store(reg.EAX, ReturnIndex(0))
	Store(reg.EBX, ReturnIndex(1))
	Store(reg.ECX, ReturnIndex(2))
	Store(reg.EDX, ReturnIndex(3))
	RET()
}
