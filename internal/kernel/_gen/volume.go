package main

import (
	"fmt"

	"github.com/boxsum/boxsum/internal/pairs"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// volume emits the kernels of volumes: those of planes, but that every sum is
// laid on that of the slice over it before it is written. The slice over the
// tile lies in the order in which the kernel comes by: vector for vector, those
// of a group's rows side by side.
func volume(set isa) {
	for _, o := range ops(pairs.Volume) {
		volumeKernel(set, o)
	}
}

// How a kernel of volumes writes: through the caches, or in groups of rows past
// them; and then also what lies between two rows, see kernel.VolumeTile.Whole.
const (
	volumeBeyond = 1
	volumeWhole  = 2
)

func volumeKernel(set isa, o op) {
	name := o.name() + "Volume" + set.name()
	TEXT(name, 0, fmt.Sprintf("func(dst *%[1]s, dstStride int, src *%[2]s, srcStride int, above, carry, over *%[1]s, rows, n, ahead, along int, lanes *uint32, offset float32, writes uint8)",
		o.sum.String(), o.pix.String()))
	Doc(volumeDoc(name, o)...)
	Pragma("noescape")

	param := func(name string) Mem {
		b, err := Param(name).Resolve()
		if err != nil {
			panic(err)
		}
		return b.Addr
	}
	k := &volumeLoop{loop: loop{isa: set, op: o, lanes: set.bytes() / o.sum.Bytes(), param: param}}
	set.setup(o, Load(Param("lanes"), GP64()), param("offset"))
	if o.pix.Bytes() > 1 {
		SHLQ(Imm(log2(o.pix.Bytes())), param("srcStride"))
	}
	SHLQ(Imm(log2(o.sum.Bytes())), param("dstStride"))
	ANDQ(I32(k.lineOfPixels()), param("along"))
	k.above = Load(Param("above"), GP64())
	k.src[0] = Load(Param("src"), GP64())
	k.dst[0] = Load(Param("dst"), GP64())

	Label("groups")
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
	SFENCE()
	VZEROUPPER()
	RET()
}

// volumeDoc is the Go loop that a kernel replaces.
func volumeDoc(name string, o op) []string {
	lines := doc(name, o)
	for i, line := range lines {
		if line == "\t\t\tdst[r*dstStride+i] = above[i]" {
			lines[i] = "\t\t\tover[r][i] += above[i]"
			lines = append(lines[:i+1:i+1], append([]string{"\t\t\tdst[r*dstStride+i] = over[r][i]"}, lines[i+1:]...)...)
			break
		}
	}
	return lines
}

// volumeLoop is the state of a kernel while it is emitted.
type volumeLoop struct {
	loop
	over reg.Register
	next reg.Register // the pixels to ask for
}

// lineOfPixels is the bytes of the pixels of a line of sums in each row of a
// group, and so how fast it asks for those to come.
func (k *volumeLoop) lineOfPixels() int { return group * lineBytes / k.sum.Bytes() * k.pix.Bytes() }

// rows emits the loop along that many rows, and moves on to the rows below.
func (k *volumeLoop) rows(label string, rows int) {
	k.fanOut(&k.src, "srcStride", rows)
	k.fanOut(&k.dst, "dstStride", rows)
	carryPtr := Load(Param("carry"), GP64())
	carry := make([]reg.VecVirtual, rows)
	slot := carryLen * k.sum.Bytes()
	for r := range carry {
		carry[r] = k.vec()
		k.load(Mem{Base: carryPtr, Disp: r * slot}, carry[r])
	}
	k.over = Load(Param("over"), GP64())
	i, end := GP64(), GP64()
	XORQ(i, i)
	if rows == group {
		k.next = Load(Param("ahead"), GP64())
		ADDQ(k.src[0], k.next)
	}
	along := func(label string, vectors, beyond int) {
		MOVQ(k.param("n"), end)
		ANDQ(I8(-vectors*k.lanes), end)
		CMPQ(i, end)
		JGE(LabelRef(label + "End"))
		Label(label)
		k.step(label, vectors, i, carry, beyond)
		ADDQ(I8(vectors*k.lanes), i)
		CMPQ(i, end)
		JLT(LabelRef(label))
		Label(label + "End")
	}
	if line := lineBytes / k.bytes(); rows == group {
		// By whole lines, which is what goes past the caches well.
		along(label+"Lines", line, volumeBeyond)
		if line > 1 {
			along(label+"Vectors", 1, volumeWhole)
		}
	} else {
		along(label+"Vectors", 1, volumeWhole)
	}

	MOVQ(k.over, k.param("over")) // which leaves a register to the tail
	n := GP64()
	MOVQ(k.param("n"), n)
	SUBQ(i, n)
	JZ(LabelRef(label + "Sums"))
	MOVQ(k.param("n"), end)
	k.tail(k.op, n, end)
	k.last(label, i, carry)
	ADDQ(I8(k.lanes), i)

	Label(label + "Sums")
	CMPB(k.param("writes"), Imm(volumeWhole))
	JNE(LabelRef(label + "Done"))
	k.zeros(label, i, rows)
	Label(label + "Done")
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

// step emits so many vectors of every row. They go past the caches where the
// caller's way of writing is beyond or more.
func (k *volumeLoop) step(label string, vectors int, i reg.Register, carry []reg.VecVirtual, beyond int) {
	above := Mem{Base: k.above, Index: i, Scale: uint8(k.sum.Bytes())}
	plane := make([]reg.VecVirtual, vectors)
	for v := range plane {
		plane[v] = k.vec()
		k.load(above.Offset(v*k.bytes()), plane[v])
	}
	if beyond == volumeBeyond {
		for line := 0; line < k.lineOfPixels(); line += lineBytes {
			PREFETCHT0(Mem{Base: k.next, Disp: line})
		}
		ADDQ(k.param("along"), k.next)
	}
	for r := range carry {
		pixels := Mem{Base: k.src[r], Index: i, Scale: uint8(k.pix.Bytes())}
		var sums []reg.VecVirtual
		if vectors == 1 {
			sums = []reg.VecVirtual{k.rowSums(k.op, pixels, false, carry[r])}
		} else {
			sums = k.lineSums(k.op, pixels, carry[r])
		}
		for v, s := range sums {
			over := Mem{Base: k.over, Disp: (r*vectors + v) * k.bytes()}
			k.add(k.op, s, plane[v], plane[v])
			k.addMem(k.op, over, plane[v], s)
			k.store(s, over)
		}
		k.write(fmt.Sprintf("%sRow%d", label, r), beyond, sums, k.sums(r, i))
	}
	for v := range plane {
		k.store(plane[v], above.Offset(v*k.bytes()))
	}
	ADDQ(I32(len(carry)*vectors*k.bytes()), k.over)
}

// write emits the stores of vectors side by side.
func (k *volumeLoop) write(label string, beyond int, sums []reg.VecVirtual, to Mem) {
	CMPB(k.param("writes"), Imm(uint64(beyond)))
	JAE(LabelRef(label + "Beyond"))
	PREFETCHT0(to.Offset(aheadBytes))
	for v, s := range sums {
		k.store(s, to.Offset(v*k.bytes()))
	}
	JMP(LabelRef(label + "Written"))
	Label(label + "Beyond")
	for v, s := range sums {
		k.stream(s, to.Offset(v*k.bytes()))
	}
	Label(label + "Written")
}

// last emits a vector of every row of which only some lanes count. The others
// are zero where they are written.
func (k *volumeLoop) last(label string, i reg.Register, carry []reg.VecVirtual) {
	sums := k.body(len(carry), i, true, carry)
	k.over = Load(Param("over"), GP64())
	for r, s := range sums {
		over := Mem{Base: k.over, Disp: r * k.bytes()}
		k.addMem(k.op, over, s, s)
		k.store(s, over)
	}
	ADDQ(I32(len(carry)*k.bytes()), k.param("over"))
	CMPB(k.param("writes"), Imm(volumeWhole))
	JEQ(LabelRef(label + "TailWhole"))
	for r, s := range sums {
		k.storeTail(s, k.sums(r, i))
	}
	JMP(LabelRef(label + "TailWritten"))
	Label(label + "TailWhole")
	for r, s := range sums {
		k.keepTail(k.op, s)
		k.stream(s, k.sums(r, i))
	}
	Label(label + "TailWritten")
}

// zeros emits vectors of zeros from element i of the rows up to the next ones.
func (k *volumeLoop) zeros(label string, i reg.Register, rows int) {
	zero := k.vec()
	if k.bytes() == lineBytes {
		VPXORD(zero, zero, zero)
	} else {
		VPXOR(zero, zero, zero)
	}
	SHLQ(Imm(log2(k.sum.Bytes())), i)
	CMPQ(i, k.param("dstStride"))
	JGE(LabelRef(label + "Done"))
	Label(label + "Zeros")
	for r := range rows {
		k.stream(zero, Mem{Base: k.dst[r], Index: i, Scale: 1})
	}
	ADDQ(I8(k.bytes()), i)
	CMPQ(i, k.param("dstStride"))
	JLT(LabelRef(label + "Zeros"))
}
