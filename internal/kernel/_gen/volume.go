package main

import (
	"fmt"

	"github.com/boxsum/boxsum/internal/raster"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// volume emits the kernels of volumes. They are like those of planes, except that the sum of the
// previous slice is added to every sum before it is written. The previous slice's sums of the tile
// are stored in the order in which the kernel reads them: vector by vector, and within a group row
// by row. Other code computes rows that do not fill a group.
func volume(set isa) {
	for _, o := range ops(raster.Volume) {
		volumeKernel(set, o)
	}
	for _, sum := range raster.SumTypes() {
		layKernel(set, sum)
	}
}

// layKernel emits a kernel that adds the previous slice to one row of a plane.
func layKernel(set isa, sum elem) {
	name := sum.Short() + "Lay" + set.name()
	text(name, NOSPLIT, "func(dst, over *byte, n int)", layDoc(name)...)
	dst, over, n, i := arg("dst"), arg("over"), arg("n"), GP64()
	XORQ(i, i)
	Label("loop")
	for at := 0; at < lineBytes; at += set.bytes() {
		to := Mem{Base: dst, Index: i, Scale: uint8(sum.Bytes()), Disp: at}
		under := Mem{Base: over, Index: i, Scale: uint8(sum.Bytes()), Disp: at}
		v := loaded(set, to)
		add(op{sum: sum}, under, v, v)
		set.store(v, under)
		set.store(v, to)
	}
	ADDQ(I8(lineBytes/sum.Bytes()), i)
	CMPQ(i, n)
	JLT(LabelRef("loop"))
	leave()
}

// How a kernel of volumes writes: through the caches by default, past them in groups of rows, or
// past them with zeros between the rows; see kernel.VolumeTile.Whole.
const (
	volumeBeyond = 1
	volumeWhole  = 2
)

func volumeKernel(set isa, o op) {
	name := o.name() + "Volume" + set.name()
	text(name, 0, "func(dst *byte, dstStride int, src *byte, srcStride int, above, carry, over *byte, rows, n, ahead, along int, lanes *uint32, offset float32, writes uint8)",
		volumeDoc(name, o)...)
	k := &volumeLoop{loop: loop{isa: set, op: o, lanes: set.bytes() / o.sum.Bytes()}}
	set.setup(o, arg("lanes"), param("offset"))
	ANDQ(I32(k.lineOfPixels()), param("along"))
	k.above, k.src[0], k.dst[0] = arg("above"), arg("src"), arg("dst")

	Label("groups") // the caller passes at least one group
	k.group()
	SUBQ(Imm(group), param("rows"))
	JNZ(LabelRef("groups"))
	SFENCE()
	leave()
}

// volumeLoop is the state of a kernel while it is emitted.
type volumeLoop struct {
	loop
	over   reg.Register
	next   reg.Register     // the pixels to prefetch
	sumsOf []reg.VecVirtual // the current vector of every row
}

// lineOfPixels returns the size in bytes of the pixels of a line of sums in all rows of a group,
// which is how much is prefetched for each line.
func (k *volumeLoop) lineOfPixels() int { return group * lineBytes / k.sum.Bytes() * k.pix.Bytes() }

// group emits the loop along four rows, and advances to the rows below.
func (k *volumeLoop) group() {
	carry := k.begin(group)
	k.over = arg("over")
	i, n, end := GP64(), GP64(), GP64()
	XORQ(i, i)
	k.next = arg("ahead")
	ADDQ(k.src[0], k.next)
	folds := k.folds(k.op)
	if folds {
		k.whole()
	}

	// By whole cache lines, for which non-temporal stores are fast.
	vectors := lineBytes / k.bytes()
	MOVQ(param("n"), end)
	ANDQ(I8(-vectors*k.lanes), end)
	JZ(LabelRef("linesEnd"))
	Label("lines")
	if vectors == 1 {
		k.vector(i, folds, carry)
	} else {
		k.line(vectors, i, carry)
	}
	Label("next")
	ADDQ(I8(vectors*k.lanes), i)
	CMPQ(i, end)
	JLT(LabelRef("lines"))
	Label("linesEnd")

	if !folds {
		MOVQ(k.over, param("over")) // frees a register for the tail
	}
	Label("tail")
	k.remaining(i, n, end, "sums")
	k.tail(k.op, n, end)
	if folds {
		ORB(Imm(writeSome), param("writes"))
		JMP(LabelRef("lines"))
		Label("some")
		ANDB(Imm(writeSome-1), param("writes"))
	} else {
		k.last(i, carry)
	}
	k.lastWrites(i)
	ADDQ(I8(k.lanes), i)
	if vectors > 1 {
		CMPQ(i, param("n"))
		JLT(LabelRef("tail"))
	}

	Label("sums")
	if folds {
		MOVQ(k.over, param("over"))
	}
	CMPB(param("writes"), Imm(volumeWhole))
	JNE(LabelRef("rowsDone"))
	k.zeros(i)
	Label("rowsDone")
	k.end(carry)
}

func (k *volumeLoop) prefetch() {
	for line := 0; line < k.lineOfPixels(); line += lineBytes {
		PREFETCHT0(Mem{Base: k.next, Disp: line})
	}
	ADDQ(param("along"), k.next)
}

func (k *volumeLoop) vector(i reg.Register, partial bool, carry []reg.VecVirtual) {
	k.prefetch()
	k.sumsOf = k.body(i, partial, carry)
	k.addOver()
	ADDQ(I32(group*k.bytes()), k.over)
	CMPB(param("writes"), Imm(volumeBeyond))
	JAE(LabelRef("beyond"))
	to := func(r int) Mem { return k.sums(r, i) }
	storeRows(k.isa, k.sumsOf, to, 0)
	JMP(LabelRef("next"))
	Label("beyond")
	if partial {
		TESTB(Imm(writeSome), param("writes"))
		JNZ(LabelRef("some"))
	}
	storeRows(k.isa, k.sumsOf, to, 1)
}

func (k *volumeLoop) addOver() {
	for r, s := range k.sumsOf {
		over := Mem{Base: k.over, Disp: r * k.bytes()}
		add(k.op, over, s, s)
		k.store(s, over)
	}
}

func (k *volumeLoop) line(vectors int, i reg.Register, carry []reg.VecVirtual) {
	above := Mem{Base: k.above, Index: i, Scale: uint8(k.sum.Bytes())}
	plane := make([]reg.VecVirtual, vectors)
	for v := range plane {
		plane[v] = loaded(k.isa, above.Offset(v*k.bytes()))
	}
	k.prefetch()
	for r := 0; r < group; r += 2 { // registers hold two rows
		var sums []reg.VecVirtual
		for row := r; row < r+2; row++ {
			for v, s := range k.lineSums(k.op, Mem{Base: k.src[row], Index: i, Scale: uint8(k.pix.Bytes())}, carry[row]) {
				over := Mem{Base: k.over, Disp: (row*vectors + v) * k.bytes()}
				add(k.op, s, plane[v], plane[v])
				add(k.op, over, plane[v], s)
				k.store(s, over)
				sums = append(sums, s)
			}
		}
		k.write(fmt.Sprint("row", r), sums, k.sums(r, i), k.sums(r+1, i))
	}
	for v := range plane {
		k.store(plane[v], above.Offset(v*k.bytes()))
	}
	ADDQ(I32(len(carry)*vectors*k.bytes()), k.over)
}

func (k *volumeLoop) write(label string, sums []reg.VecVirtual, lines ...Mem) {
	vectors := len(sums) / len(lines)
	CMPB(param("writes"), Imm(volumeBeyond))
	JAE(LabelRef(label + "Beyond"))
	for _, m := range lines {
		PREFETCHT0(m.Offset(aheadBytes))
	}
	for v, s := range sums {
		k.store(s, lines[v/vectors].Offset(v%vectors*k.bytes()))
	}
	JMP(LabelRef(label + "Written"))
	Label(label + "Beyond")
	for v, s := range sums {
		k.stream(s, lines[v/vectors].Offset(v%vectors*k.bytes()))
	}
	Label(label + "Written")
}

// last emits the partial vector at the end of every row.
func (k *volumeLoop) last(i reg.Register, carry []reg.VecVirtual) {
	k.sumsOf = k.body(i, true, carry)
	k.over = arg("over")
	k.addOver()
	ADDQ(I32(group*k.bytes()), param("over"))
}

// lastWrites emits the stores of a partial vector. Lanes after the end are written as zeros, if at
// all.
func (k *volumeLoop) lastWrites(i reg.Register) {
	CMPB(param("writes"), Imm(volumeWhole))
	JEQ(LabelRef("tailWhole"))
	for r, s := range k.sumsOf {
		k.storeTail(s, k.sums(r, i))
	}
	JMP(LabelRef("tailWritten"))
	Label("tailWhole")
	for r, s := range k.sumsOf {
		k.keepTail(k.op, s)
		k.stream(s, k.sums(r, i))
	}
	Label("tailWritten")
}

// zeros emits vectors of zeros from element i of each row up to the next row.
func (k *volumeLoop) zeros(i reg.Register) {
	zero := k.vec()
	k.zero(zero)
	SHLQ(Imm(log2(k.sum.Bytes())), i)
	CMPQ(i, param("dstStride"))
	JGE(LabelRef("rowsDone"))
	Label("zeros")
	for r := range group {
		k.stream(zero, Mem{Base: k.dst[r], Index: i, Scale: 1})
	}
	ADDQ(I8(k.bytes()), i)
	CMPQ(i, param("dstStride"))
	JLT(LabelRef("zeros"))
}
