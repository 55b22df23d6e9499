package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// loadNumbers loads a vector of pixels as sums.
func loadNumbers(set isa, pix, sum elem, m Mem) reg.VecVirtual {
	v := set.vec()
	switch {
	case pix == u8 && sum == u16:
		VPMOVZXBW(m, v)
	case pix == u8 && sum == u32:
		VPMOVZXBD(m, v)
	case pix == u16 && sum == u32:
		VPMOVZXWD(m, v)
	case pix == f32:
		VCVTPS2PD(m, v)
	default:
		set.load(m, v)
	}
	return v
}

// plus and minus add and subtract sums.
func plus(sum elem, ops ...Op) {
	switch sum {
	case u16:
		VPADDW(ops...)
	case f64:
		VADDPD(ops...)
	default:
		VPADDD(ops...)
	}
}

func minus(sum elem, ops ...Op) {
	switch sum {
	case u16:
		VPSUBW(ops...)
	case f64:
		VSUBPD(ops...)
	default:
		VPSUBD(ops...)
	}
}

const (
	// columnsUnroll is the number of vectors in an iteration.
	columnsUnroll = 2
	// columnsAhead is the prefetch distance in bytes: beyond a page, where the hardware does not
	// prefetch.
	columnsAhead = 4096
)

func columns(pix, sum elem) func(set isa, name string) {
	return func(set isa, name string) {
		lanes := set.bytes() / sum.Bytes()
		text(name, NOSPLIT, "func(cols, add, sub *byte, n int)",
			name+fmt.Sprintf(" computes, for n a multiple of %d,", lanes), "", "\tfor i := range n {",
			fmt.Sprintf("\t\tcols[i] += %v(add[i]) - %v(sub[i])", sum, sum), "\t}")
		cols, plusRow, minusRow, n := arg("cols"), arg("add"), arg("sub"), arg("n")
		i, last := GP64(), GP64()
		XORQ(i, i)
		LEAQ(Mem{Base: n, Disp: -columnsUnroll * lanes}, last)
		body := func(v int) {
			at := func(base reg.Register, size int) Mem {
				return Mem{Base: base, Index: i, Scale: uint8(size), Disp: v * lanes * size}
			}
			a, b := loadNumbers(set, pix, sum, at(plusRow, pix.Bytes())), loadNumbers(set, pix, sum, at(minusRow, pix.Bytes()))
			minus(sum, b, a, a)
			plus(sum, at(cols, sum.Bytes()), a, a)
			set.store(a, at(cols, sum.Bytes()))
		}
		Label("loop")
		CMPQ(i, last)
		JGT(LabelRef("rest"))
		PREFETCHT0(Mem{Base: plusRow, Index: i, Scale: uint8(pix.Bytes()), Disp: columnsAhead})
		for v := range columnsUnroll {
			body(v)
		}
		ADDQ(I32(columnsUnroll*lanes), i)
		JMP(LabelRef("loop"))
		Label("rest")
		CMPQ(i, n)
		JGE(LabelRef("done"))
		body(0)
		ADDQ(I32(lanes), i)
		JMP(LabelRef("rest"))
		Label("done")
		leave()
	}
}

// squareColumns computes a²-b² of bytes as (a-b)·(a+b) with a multiplication of pairs of 16-bit
// words; the upper word of a+b is zero.
func squareColumns(pix elem) func(set isa, name string) {
	return func(set isa, name string) {
		sum := u32
		if pix == f32 {
			sum = f64
		}
		lanes := set.bytes() / sum.Bytes()
		text(name, NOSPLIT, "func(cols, add, sub *byte, n int, offset float64)",
			name+fmt.Sprintf(" computes, for n a multiple of %d,", lanes), "", "\tfor i := range n {",
			fmt.Sprintf("\t\ta, b := %v(add[i])-offset, %v(sub[i])-offset", sum, sum), "\t\tcols[i] += a*a - b*b", "\t}")
		cols, plusRow, minusRow, n := arg("cols"), arg("add"), arg("sub"), arg("n")
		i := GP64()
		XORQ(i, i)
		offset := set.vec()
		if pix == f32 {
			VBROADCASTSD(param("offset"), offset)
		}
		Label("loop")
		CMPQ(i, n)
		JGE(LabelRef("done"))
		at := func(base reg.Register, size int) Mem { return Mem{Base: base, Index: i, Scale: uint8(size)} }
		a, b := loadNumbers(set, pix, sum, at(plusRow, pix.Bytes())), loadNumbers(set, pix, sum, at(minusRow, pix.Bytes()))
		if pix == f32 {
			VSUBPD(offset, a, a)
			VSUBPD(offset, b, b)
			VMULPD(a, a, a)
			VMULPD(b, b, b)
			VSUBPD(b, a, a)
		} else {
			e := set.vec()
			VPADDD(a, b, e)
			VPSUBD(b, a, a)
			VPMADDWD(e, a, a)
		}
		plus(sum, at(cols, sum.Bytes()), a, a)
		set.store(a, at(cols, sum.Bytes()))
		ADDQ(I32(lanes), i)
		JMP(LabelRef("loop"))
		Label("done")
		leave()
	}
}

// bothColumns is columns and squareColumns of bytes in one pass over the rows.
func bothColumns(set isa, name string) {
	lanes := set.bytes() / 4
	text(name, NOSPLIT, "func(cols, squares, add, sub *byte, n int)", name+fmt.Sprintf(" computes, for n a multiple of %d,", 2*lanes), "",
		"\tfor i := range n {", "\t\ta, b := uint32(add[i]), uint32(sub[i])", "\t\tcols[i] += a - b", "\t\tsquares[i] += a*a - b*b", "\t}")
	cols, squares, plusRow, minusRow, n, i := arg("cols"), arg("squares"), arg("add"), arg("sub"), arg("n"), GP64()
	loopTo(i, n, I32(2*lanes), func() {
		PREFETCHT0(Mem{Base: plusRow, Index: i, Scale: 1, Disp: columnsAhead})
		for v := range 2 {
			at := func(base reg.Register, size int) Mem {
				return Mem{Base: base, Index: i, Scale: uint8(size), Disp: v * lanes * size}
			}
			a, b := loadNumbers(set, u8, u32, at(plusRow, 1)), loadNumbers(set, u8, u32, at(minusRow, 1))
			both := set.vec()
			VPADDD(a, b, both)
			VPSUBD(b, a, a)
			VPMADDWD(both, a, both)
			VPADDD(at(cols, 4), a, a)
			VPADDD(at(squares, 4), both, both)
			set.store(a, at(cols, 4))
			set.store(both, at(squares, 4))
		}
	})
	leave()
}

// prefix emits a loop that computes prefix sums along a row. If one is set, it supports only one channel.
func prefix(sum elem, one bool) func(set isa, name string) {
	return func(set isa, name string) {
		text(name, NOSPLIT, "func(dst, src *byte, n int, lanes *uint32)",
			name+fmt.Sprintf(" computes, for n a multiple of %d and in the summation order of floatPrefix,", 64/sum.Bytes()), "", "\tfor i := range n {",
			"\t\tsum[i%channels] += src[i]", "\t\tdst[i] = sum[i%channels]", "\t}")
		c := newScanner(set, sum, arg("lanes"))
		c.one = one
		dst, src, n := arg("dst"), arg("src"), arg("n")
		i := GP64()
		loopTo(i, n, I32(c.vectors()*set.bytes()/sum.Bytes()), func() {
			var all []reg.VecVirtual
			for v := range c.vectors() {
				all = append(all, loaded(set, Mem{Base: src, Index: i, Scale: uint8(sum.Bytes()), Disp: v * set.bytes()}))
			}
			c.sum(all...)
			for v := range all {
				set.store(all[v], Mem{Base: dst, Index: i, Scale: uint8(sum.Bytes()), Disp: v * set.bytes()})
			}
		})
		leave()
	}
}

// addRowsUnit is the number of columns whose sums stay in registers while rows are added to them.
const addRowsUnit = 32

// addRows emits a loop that adds several rows of floats to column sums, or the squares of these rows.
func addRows(pix elem, square bool) func(set isa, name string) {
	return func(set isa, name string) {
		add := "\t\t\tcols[i] += d"
		if square {
			add = "\t\t\tcols[i] += d * d"
		}
		text(name, NOSPLIT, "func(cols *byte, rows *[]byte, n, count int, offset float64)", name+fmt.Sprintf(" computes, for n a multiple of %d,", addRowsUnit), "",
			"\tfor i := range n {", "\t\tfor _, row := range rows[:count] {", "\t\t\td := float64(row[i]) - offset", add, "\t\t}", "\t}")
		offset := broadcast(set, "offset")
		cols, rows, n, count := arg("cols"), arg("rows"), arg("n"), arg("count")
		i, next, left, row := GP64(), GP64(), GP64(), GP64()
		lanes := set.bytes() / 8
		sums := make([]reg.VecVirtual, addRowsUnit/lanes)
		at := func(base reg.Register, size, v int) Mem {
			return Mem{Base: base, Index: i, Scale: uint8(size), Disp: v * lanes * size}
		}
		loopTo(i, n, I32(addRowsUnit), func() {
			for v := range sums {
				sums[v] = loaded(set, at(cols, 8, v))
			}
			MOVQ(rows, next)
			MOVQ(count, left)
			Label("row")
			MOVQ(Mem{Base: next}, row)
			for v, sum := range sums {
				d := loadNumbers(set, pix, f64, at(row, pix.Bytes(), v))
				VSUBPD(offset, d, d)
				if square {
					VMULPD(d, d, d)
				}
				VADDPD(d, sum, sum)
			}
			ADDQ(Imm(24), next) // a slice
			DECQ(left)
			JNE(LabelRef("row"))
			for v, sum := range sums {
				set.store(sum, at(cols, 8, v))
			}
		})
		leave()
	}
}
