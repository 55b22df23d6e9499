package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A windowKernel is one of the kernels of sums in windows: see kernel/window.go for what
// each is.
type windowKernel struct {
	name string
	emit func(set isa, name string)
}

var windowKernels = []windowKernel{
	{"columnsU8U16", columns(u8, u16)},
	{"columnsU8U32", columns(u8, u32)},
	{"columnsU16U32", columns(u16, u32)},
	{"columnsU32U32", columns(u32, u32)},
	{"columnsF32F64", columns(f32, f64)},
	{"columnsF64F64", columns(f64, f64)},
	{"squaresU8U32", squareColumns(u8)},
	{"squaresF32F64", squareColumns(f32)},
	{"bothU8U32", bothColumns},
	{"prefixU32", prefix(u32)},
	{"prefixF64", prefix(f64)},
	{"boxU8", boxBytes(false)},
	{"boxOneU8", boxBytes(true)},
	{"boxSmallU8", boxSmall},
	{"box3U8", box3},
	{"boxU16", boxWords(false)},
	{"boxOneU16", boxWords(true)},
	{"scaledU8", scaledMeans(u8)},
	{"scaledU16", scaledMeans(u16)},
	{"boxPairsU8", boxPairs(false)},
	{"boxTallU8", boxPairs(true)},
	{"addU16", addWords},
	{"boxTermsU8", boxTerms},
	{"meansU32F32", floatMeans(u32)},
	{"meansF64F32", floatMeans(f64)},
	{"variancesU32F32", variances},
	{"boxStats", boxStats(false)},
	{"boxStatsOne", boxStats(true)},
	{"guidedProducts", guidedProducts},
	{"guidedFit", guidedFit},
	{"guidedPixels", guidedPixels},
	{"guidedLines", guidedLines(false)},
	{"guidedOwnLines", guidedLines(true)},
	{"guidedBytes", guidedBytes},
	{"tripleDown", tripleDown},
	{"productsU8", products},
	{"sort3U8", sortColumns(3, u8)},
	{"sort5U8", sortColumns(5, u8)},
	{"sort3U16", sortColumns(3, u16)},
	{"sort5U16", sortColumns(5, u16)},
	{"median3U8", medians(3, u8)},
	{"median5U8", medians(5, u8)},
	{"median3U16", medians(3, u16)},
	{"median5U16", medians(5, u16)},
	{"halveU8", halve},
	{"roundU8", roundMeans(u8)},
	{"roundU16", roundMeans(u16)},
}

func windows(set isa) {
	for _, k := range windowKernels {
		k.emit(set, k.name+set.name())
	}
}

// wide reports whether vectors are those of AVX-512.
func wide(set isa) bool { return set.bytes() == lineBytes }

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

// plus and minus are of sums.
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
	// columnsUnroll is how many vectors a turn of the loop has.
	columnsUnroll = 2
	// columnsAhead is how many bytes further on pixels are asked for: beyond a page, where
	// the processor does not look by itself.
	columnsAhead = 4096
)

func columns(pix, sum elem) func(set isa, name string) {
	return func(set isa, name string) {
		lanes := set.bytes() / sum.Bytes()
		text(name, NOSPLIT, "func(cols, add, sub *byte, n int)",
			name+fmt.Sprintf(" is, for a multiple of %d", lanes), "", "\tfor i := range n {",
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

// squareColumns multiplies bytes by pairs of 16 bits, of which the upper ones of one are
// zero: (a-b)·(a+b).
func squareColumns(pix elem) func(set isa, name string) {
	return func(set isa, name string) {
		sum := u32
		if pix == f32 {
			sum = f64
		}
		lanes := set.bytes() / sum.Bytes()
		text(name, NOSPLIT, "func(cols, add, sub *byte, n int, offset float64)",
			name+fmt.Sprintf(" is, for a multiple of %d", lanes), "", "\tfor i := range n {",
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

// bothColumns is columns and squareColumns of bytes at once, which read the rows once.
func bothColumns(set isa, name string) {
	lanes := set.bytes() / 4
	text(name, NOSPLIT, "func(cols, squares, add, sub *byte, n int)", name+fmt.Sprintf(" is, for a multiple of %d", 2*lanes), "",
		"\tfor i := range n {", "\t\ta, b := uint32(add[i]), uint32(sub[i])", "\t\tcols[i] += a - b", "\t\tsquares[i] += a*a - b*b", "\t}")
	cols, squares, plusRow, minusRow, n, i := arg("cols"), arg("squares"), arg("add"), arg("sub"), arg("n"), GP64()
	XORQ(i, i)
	Label("loop")
	CMPQ(i, n)
	JGE(LabelRef("done"))
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
	ADDQ(I32(2*lanes), i)
	JMP(LabelRef("loop"))
	Label("done")
	leave()
}

// A scanner sums along a row, a vector at a time, or for floats of AVX2 two: 64 bytes of
// floats are two blocks as in tables, the second of which goes on from the first, and both
// then from what came before. So little waits for the vector before.
type scanner struct {
	set   isa
	op    op
	step  []reg.VecVirtual
	keep  []Op // masks of AVX-512, or memory
	low   reg.VecVirtual
	upper reg.Register
	next  []reg.VecVirtual // for each vector
	carry []reg.VecVirtual
}

func newScanner(set isa, sum elem, lanes reg.Register) *scanner {
	c := &scanner{set: set, op: op{pix: sum, sum: sum, plain: true}}
	at := func(offset int) reg.VecVirtual { return loaded(set, Mem{Base: lanes, Disp: offset}) }
	for s := range steps(c.op) {
		c.step = append(c.step, at(lanesStep+64*s))
		keep := Mem{Base: lanes, Disp: lanesKeep + 64*s}
		if !wide(set) {
			c.keep = append(c.keep, keep)
			continue
		}
		k := K()
		VPMOVD2M(loaded(set, keep), k)
		c.keep = append(c.keep, k)
	}
	if wide(set) {
		c.low, c.upper = at(lanesLow), K()
		bits := GP32()
		MOVL(U32(0xff00), bits)
		KMOVW(bits, c.upper)
		c.next = append(c.next, at(lanesNext))
	} else {
		c.low = at(lanesLow + 32)
		if c.next = append(c.next, c.low); c.vectors() == 2 {
			c.next = []reg.VecVirtual{at(lanesNext), at(lanesNext + 32)}
		}
	}
	for range c.vectors() {
		v := set.vec()
		set.zero(v)
		c.carry = append(c.carry, v)
	}
	return c
}

// vectors is how many are summed at a time.
func (c *scanner) vectors() int {
	if !wide(c.set) && c.op.sum == f64 {
		return 2
	}
	return 1
}

// sum sums vectors in place.
func (c *scanner) sum(all ...reg.VecVirtual) {
	t := c.set.vec()
	for _, v := range all {
		for s, step := range c.step {
			if wide(c.set) {
				VPERMD_Z(v, step, c.keep[s], t)
			} else {
				VPERMD(v, step, t)
				VPAND(c.keep[s], t, t)
			}
			add(c.op, v, t, v)
		}
	}
	last := all[len(all)-1]
	if wide(c.set) {
		VPERMD_Z(last, c.low, c.upper, t)
		add(c.op, last, t, last)
	} else if len(all) == 2 {
		VPERMD(all[0], c.low, t)
		add(c.op, last, t, last)
	}
	for i, v := range all {
		add(c.op, v, c.carry[i], v)
	}
	for i := range all { // the channels may lie in other lanes there
		VPERMD(last, c.next[i], c.carry[i])
	}
}

func prefix(sum elem) func(set isa, name string) {
	return func(set isa, name string) {
		text(name, NOSPLIT, "func(dst, src *byte, n int, lanes *uint32)",
			name+fmt.Sprintf(" is, for a multiple of %d and in the summation order of floatPrefix,", 64/sum.Bytes()), "", "\tfor i := range n {",
			"\t\tsum[i%channels] += src[i]", "\t\tdst[i] = sum[i%channels]", "\t}")
		c := newScanner(set, sum, arg("lanes"))
		dst, src, n := arg("dst"), arg("src"), arg("n")
		i := GP64()
		XORQ(i, i)
		Label("loop")
		CMPQ(i, n)
		JGE(LabelRef("done"))
		var all []reg.VecVirtual
		for v := range c.vectors() {
			all = append(all, loaded(set, Mem{Base: src, Index: i, Scale: uint8(sum.Bytes()), Disp: v * set.bytes()}))
		}
		c.sum(all...)
		for v := range all {
			set.store(all[v], Mem{Base: dst, Index: i, Scale: uint8(sum.Bytes()), Disp: v * set.bytes()})
		}
		ADDQ(I32(c.vectors()*set.bytes()/sum.Bytes()), i)
		JMP(LabelRef("loop"))
		Label("done")
		leave()
	}
}

// windowWord is an argument of 32 bits in a vector.
func windowWord(name string) reg.VecVirtual {
	v := XMM()
	VMOVD(Load(Param(name), GP32()), v)
	return v
}

// A divider divides vectors of 32 bits: by a product with a multiplier of 32 bits, of
// which the upper half is shifted.
type divider struct {
	set         isa
	times, half reg.VecVirtual
	shift       reg.VecVirtual
	odd         reg.Register // mask of the odd lanes
}

// newDivider loads the constants from arguments.
func newDivider(set isa) *divider {
	d := &divider{set: set, times: set.vec(), half: set.vec()}
	VPBROADCASTD(windowWord("multiplier"), d.times)
	VPBROADCASTD(windowWord("half"), d.half)
	d.shift = windowWord("shift")
	if wide(set) {
		d.odd = K()
		bits := GP32()
		MOVL(U32(0xaaaa), bits)
		KMOVW(bits, d.odd)
	}
	return d
}

// divide is (v + half) * times >> 32 >> shift, in place.
func (d *divider) divide(v reg.VecVirtual) {
	odd := d.set.vec()
	VPADDD(d.half, v, v)
	VPSRLQ(Imm(32), v, odd)
	VPMULUDQ(d.times, v, v)
	VPMULUDQ(d.times, odd, odd)
	VPSHUFD(Imm(0xf5), v, v)
	if wide(d.set) {
		VMOVDQA32(odd, d.odd, v)
	} else {
		VPBLENDD(Imm(0xaa), odd, v, v)
	}
	VPSRLD(d.shift, v, v)
}

// narrow writes a vector of small numbers of 32 bits as elements of 8 or 16.
func narrow(set isa, to elem, v reg.VecVirtual, m Mem) {
	switch {
	case wide(set) && to == u8:
		VPMOVDB(v, m)
	case wide(set):
		VPMOVDW(v, m)
	default:
		high := XMM()
		VEXTRACTI128(Imm(1), v, high)
		VPACKUSDW(high, v.AsX(), high)
		if to == u8 {
			VPACKUSWB(high, high, high)
			VMOVQ(high, m)
		} else {
			VMOVDQU(high, m)
		}
	}
}

func roundMeans(to elem) func(set isa, name string) {
	return func(set isa, name string) {
		lanes := set.bytes() / 4
		text(name, NOSPLIT, "func(dst, hi, lo *byte, n int, scale, half, multiplier, shift uint32)",
			name+fmt.Sprintf(" is, for a multiple of %d", lanes), "", "\tfor i := range n {",
			fmt.Sprintf("\t\tdst[i] = %v(uint64((hi[i]-lo[i])<<scale+half) * uint64(multiplier) >> 32 >> shift)", to), "\t}")
		d := newDivider(set)
		scale := windowWord("scale")
		dst, hi, lo, n, i := arg("dst"), arg("hi"), arg("lo"), arg("n"), GP64()
		XORQ(i, i)
		Label("loop")
		CMPQ(i, n)
		JGE(LabelRef("done"))
		v := loaded(set, Mem{Base: hi, Index: i, Scale: 4})
		VPSUBD(Mem{Base: lo, Index: i, Scale: 4}, v, v)
		VPSLLD(scale, v, v)
		d.divide(v)
		narrow(set, to, v, Mem{Base: dst, Index: i, Scale: uint8(to.Bytes())})
		ADDQ(I32(lanes), i)
		JMP(LabelRef("loop"))
		Label("done")
		leave()
	}
}

// oneScan is a scan of one channel, or of as many as lanes says.
func oneScan(set isa, one bool) *rowScan {
	if one {
		return rowScans(set, "lanes", 1)[0]
	}
	c := newScanner(set, u32, arg("lanes"))
	return &rowScan{set: set, by: c, carry: c.carry[0]}
}

// boxBytes goes along the columns of a row once: the sum of a window is that of the one
// before it and a difference of two columns. Where windows have few pixels it divides in
// floats, which is exact there and takes less.
func boxBytes(one bool) func(set isa, name string) {
	return func(set isa, name string) {
		lanes := set.bytes() / 4
		text(name, NOSPLIT, "func(dst, hi, lo *byte, n int, carry, lanes *uint32, half, multiplier, shift uint32, inverse, bias float32)",
			name+fmt.Sprintf(" is, for a multiple of %d", lanes), "", "\tfor i := range n {",
			"\t\tsum[i%channels] += hi[i] - lo[i]", "\t\tdst[i] = uint8(uint64(sum[i%channels]+half) * uint64(multiplier) >> 32 >> shift)", "\t}", "",
			"with carry for the sums before and after, and where the inverse is not zero", "",
			"\tdst[i] = uint8(float32(sum[i%channels])*inverse + bias)", "", "or, where the bias is zero, rounded to nearest, ties to even.")
		c := oneScan(set, one)
		sums := arg("carry")
		carry := c.carry
		set.load(Mem{Base: sums}, carry)
		dst, hi, lo, n, i := arg("dst"), arg("hi"), arg("lo"), arg("n"), GP64()
		XORQ(i, i)
		loop := func(label string, divide func(v reg.VecVirtual)) {
			Label(label)
			CMPQ(i, n)
			JGE(LabelRef("done"))
			v := loaded(set, Mem{Base: hi, Index: i, Scale: 4})
			VPSUBD(Mem{Base: lo, Index: i, Scale: 4}, v, v)
			c.sum(v)
			divide(v)
			narrow(set, u8, v, Mem{Base: dst, Index: i, Scale: 1})
			ADDQ(I32(lanes), i)
			JMP(LabelRef(label))
		}
		scaledOrNot(set, loop)
		byFloatsOrWords(set, loop)
		Label("done")
		set.store(carry, Mem{Base: sums})
		leave()
	}
}

// boxWords is boxBytes with results of 16 bits, of which some stand for one: they are rounded
// in floats.
func boxWords(one bool) func(set isa, name string) {
	return func(set isa, name string) {
		lanes := set.bytes() / 4
		text(name, NOSPLIT, "func(dst, hi, lo *byte, n int, carry, lanes *uint32, factor float32)",
			name+fmt.Sprintf(" is, for a multiple of %d", lanes), "", "\tfor i := range n {",
			"\t\tsum[i%channels] += hi[i] - lo[i]", "\t\tdst[i] = uint16(roundToEven(float32(sum[i%channels]) * factor))", "\t}", "",
			"with carry for the sums before and after.")
		c := oneScan(set, one)
		sums := arg("carry")
		set.load(Mem{Base: sums}, c.carry)
		factor := set.vec()
		VBROADCASTSS(param("factor"), factor)
		dst, hi, lo, n, i := arg("dst"), arg("hi"), arg("lo"), arg("n"), GP64()
		XORQ(i, i)
		Label("loop")
		CMPQ(i, n)
		JGE(LabelRef("done"))
		v := loaded(set, Mem{Base: hi, Index: i, Scale: 4})
		VPSUBD(Mem{Base: lo, Index: i, Scale: 4}, v, v)
		c.sum(v)
		VCVTDQ2PS(v, v)
		VMULPS(factor, v, v)
		VCVTPS2DQ(v, v)
		narrow(set, u16, v, Mem{Base: dst, Index: i, Scale: 2})
		ADDQ(I32(lanes), i)
		JMP(LabelRef("loop"))
		Label("done")
		set.store(c.carry, Mem{Base: sums})
		leave()
	}
}

func scaledMeans(to elem) func(set isa, name string) {
	return func(set isa, name string) {
		lanes := set.bytes() / 4
		text(name, NOSPLIT, "func(dst, hi, lo *byte, n int, factor float32)",
			name+fmt.Sprintf(" is, for a multiple of %d", lanes), "", "\tfor i := range n {",
			fmt.Sprintf("\t\tdst[i] = %v(roundToEven(float32(hi[i]-lo[i]) * factor))", to), "\t}")
		factor := set.vec()
		VBROADCASTSS(param("factor"), factor)
		dst, hi, lo, n, i := arg("dst"), arg("hi"), arg("lo"), arg("n"), GP64()
		XORQ(i, i)
		Label("loop")
		CMPQ(i, n)
		JGE(LabelRef("done"))
		v := loaded(set, Mem{Base: hi, Index: i, Scale: 4})
		VPSUBD(Mem{Base: lo, Index: i, Scale: 4}, v, v)
		VCVTDQ2PS(v, v)
		VMULPS(factor, v, v)
		VCVTPS2DQ(v, v)
		narrow(set, to, v, Mem{Base: dst, Index: i, Scale: uint8(to.Bytes())})
		ADDQ(I32(lanes), i)
		JMP(LabelRef("loop"))
		Label("done")
		leave()
	}
}

// scaledOrNot emits the loop for a bias of zero: a product, rounded.
func scaledOrNot(set isa, loop func(label string, divide func(v reg.VecVirtual))) {
	zero := GP32()
	MOVL(param("bias"), zero)
	TESTL(zero, zero)
	JNZ(LabelRef("biased"))
	MOVL(param("inverse"), zero)
	TESTL(zero, zero)
	JZ(LabelRef("biased"))
	factor := set.vec()
	VBROADCASTSS(param("inverse"), factor)
	loop("scaled", func(v reg.VecVirtual) {
		VCVTDQ2PS(v, v)
		VMULPS(factor, v, v)
		VCVTPS2DQ(v, v)
	})
	Label("biased")
}

// byFloatsOrWords emits a loop twice: with means by floats where the inverse is not zero,
// and by a divider.
func byFloatsOrWords(set isa, loop func(label string, divide func(v reg.VecVirtual))) {
	zero := GP32()
	MOVL(param("inverse"), zero)
	TESTL(zero, zero)
	JZ(LabelRef("integers"))
	inverse, bias := set.vec(), set.vec()
	VBROADCASTSS(param("inverse"), inverse)
	VBROADCASTSS(param("bias"), bias)
	loop("floats", func(v reg.VecVirtual) {
		VCVTDQ2PS(v, v)
		if wide(set) {
			VFMADD213PS(bias, inverse, v)
		} else { // which may have no such instruction
			VMULPS(inverse, v, v)
			VADDPS(bias, v, v)
		}
		VCVTTPS2DQ(v, v)
	})
	Label("integers")
	loop("words", newDivider(set).divide)
}

// boxPairs is boxBytes for one channel and columns of 16 bits: differences are summed by
// pairs first, so that a vector of sums does for two of pixels. Where columns are tall they
// take all 16 bits: then each is summed before the difference.
func boxPairs(tall bool) func(set isa, name string) {
	return func(set isa, name string) {
		lanes := set.bytes() / 2
		text(name, NOSPLIT, "func(dst, hi, lo *byte, n int, carry, lanes *uint32, half, multiplier, shift uint32, inverse, bias float32)",
			name+fmt.Sprintf(" is, for a multiple of %d", lanes), "", "\tfor i := range n {",
			"\t\tsum += uint32(hi[i]) - uint32(lo[i])", "\t\tdst[i] = uint8(uint64(sum+half) * uint64(multiplier) >> 32 >> shift)", "\t}", "",
			"with columns of 15 bits, or 16 where they are tall, and the rest as in boxU8.")
		c := oneScan(set, true)
		sums := arg("carry")
		set.load(Mem{Base: sums}, c.carry)
		dst, hi, lo, n, i := arg("dst"), arg("hi"), arg("lo"), arg("n"), GP64()
		XORQ(i, i)
		ones, top := set.vec(), set.vec()
		set.ones(ones)
		VPSLLW(Imm(15), ones, top)
		VPSRLW(Imm(15), ones, ones)
		byFloatsOrWords(set, func(label string, divide func(v reg.VecVirtual)) {
			Label(label)
			CMPQ(i, n)
			JGE(LabelRef("done"))
			d := loaded(set, Mem{Base: hi, Index: i, Scale: 2})
			odd := set.vec()
			if tall {
				less := loaded(set, Mem{Base: lo, Index: i, Scale: 2})
				signed, signedLess := set.vec(), set.vec()
				VPSUBW(top, d, signed)
				VPSUBW(top, less, signedLess)
				VPMADDWD(ones, signed, odd)
				VPMADDWD(ones, signedLess, signedLess)
				VPSUBD(signedLess, odd, odd)
				VPSRLD(Imm(16), d, d)
				VPSRLD(Imm(16), less, less)
				VPSUBD(less, d, d)
			} else {
				VPSUBW(Mem{Base: lo, Index: i, Scale: 2}, d, d)
				VPMADDWD(ones, d, odd)
				VPSRAD(Imm(16), d, d)
			}
			c.sum(odd)
			VPSUBD(d, odd, d) // the even ones
			divide(odd)
			divide(d)
			VPSLLD(Imm(16), odd, odd)
			if wide(set) {
				VPORD(odd, d, d)
			} else {
				VPOR(odd, d, d)
			}
			narrowWords(set, d, Mem{Base: dst, Index: i, Scale: 1})
			ADDQ(I32(lanes), i)
			JMP(LabelRef(label))
		})
		Label("done")
		set.store(c.carry, Mem{Base: sums})
		leave()
	}
}

// narrowWords writes a vector of small numbers of 16 bits as bytes.
func narrowWords(set isa, v reg.VecVirtual, m Mem) {
	if wide(set) {
		VPMOVWB(v, m)
		return
	}
	high := XMM()
	VEXTRACTI128(Imm(1), v, high)
	VPACKUSWB(high, v.AsX(), high)
	VMOVDQU(high, m)
}

func addWords(set isa, name string) {
	lanes := set.bytes() / 2
	text(name, NOSPLIT, "func(dst, a, b *byte, n int)", name+fmt.Sprintf(" is, for a multiple of %d", lanes), "",
		"\tfor i := range n {", "\t\tdst[i] = a[i] + b[i]", "\t}")
	dst, a, b, n, i := arg("dst"), arg("a"), arg("b"), arg("n"), GP64()
	XORQ(i, i)
	Label("loop")
	CMPQ(i, n)
	JGE(LabelRef("done"))
	v := loaded(set, Mem{Base: a, Index: i, Scale: 2})
	VPADDW(Mem{Base: b, Index: i, Scale: 2}, v, v)
	set.store(v, Mem{Base: dst, Index: i, Scale: 2})
	ADDQ(I32(lanes), i)
	JMP(LabelRef("loop"))
	Label("done")
	leave()
}

func products(set isa, name string) {
	lanes := set.bytes() / 2
	text(name, NOSPLIT, "func(dst, a, b *byte, n int)", name+fmt.Sprintf(" is, for a multiple of %d", lanes), "",
		"\tfor i := range n {", "\t\tdst[i] = uint16(a[i]) * uint16(b[i])", "\t}")
	dst, a, b, n, i := arg("dst"), arg("a"), arg("b"), arg("n"), GP64()
	XORQ(i, i)
	Label("loop")
	CMPQ(i, n)
	JGE(LabelRef("done"))
	v, w := set.vec(), set.vec()
	VPMOVZXBW(Mem{Base: a, Index: i, Scale: 1}, v)
	VPMOVZXBW(Mem{Base: b, Index: i, Scale: 1}, w)
	VPMULLW(w, v, v)
	set.store(v, Mem{Base: dst, Index: i, Scale: 2})
	ADDQ(I32(lanes), i)
	JMP(LabelRef("loop"))
	Label("done")
	leave()
}

// maxTerms is how many sums of columns make a window.
const maxTerms = 4

func boxTerms(set isa, name string) {
	lanes := set.bytes() / 2
	text(name, NOSPLIT, "func(dst, a, b, c, d *byte, n, terms int, half, multiplier, shift uint32)",
		name+fmt.Sprintf(" is, for a multiple of %d and as many terms, 1 to %d", lanes, maxTerms), "", "\tfor i := range n {",
		"\t\tdst[i] = uint8(uint32(a[i]+b[i]+c[i]+d[i]+half) * multiplier >> 16 >> shift)", "\t}")
	times, bias, shift := set.vec(), set.vec(), windowWord("shift")
	VPBROADCASTW(windowWord("multiplier"), times)
	VPBROADCASTW(windowWord("half"), bias)
	dst, n, terms, i := arg("dst"), arg("n"), arg("terms"), GP64()
	at := []reg.GPVirtual{arg("a"), arg("b"), arg("c"), arg("d")}
	XORQ(i, i)
	for k := 2; k <= maxTerms; k++ {
		CMPQ(terms, Imm(uint64(k)))
		JEQ(LabelRef(fmt.Sprint("terms", k)))
	}
	for k := 1; k <= maxTerms; k++ {
		label := fmt.Sprint("terms", k)
		Label(label)
		CMPQ(i, n)
		JGE(LabelRef("done"))
		v := loaded(set, Mem{Base: at[0], Index: i, Scale: 2})
		for j := 1; j < k; j++ {
			VPADDW(Mem{Base: at[j], Index: i, Scale: 2}, v, v)
		}
		VPADDW(bias, v, v)
		VPMULHUW(times, v, v)
		VPSRLW(shift, v, v)
		narrowWords(set, v, Mem{Base: dst, Index: i, Scale: 1})
		ADDQ(I32(lanes), i)
		JMP(LabelRef(label))
	}
	Label("done")
	leave()
}

// statsAhead is how many bytes further on results are asked for.
const statsAhead = 1024

// boxStats goes along the columns of a row and their squares once. one is for one channel.
func boxStats(one bool) func(set isa, name string) {
	return func(set isa, name string) {
		lanes := set.bytes() / 4
		text(name, NOSPLIT, "func(mean, dev, hi, lo, hi2, lo2 *byte, n int, carry, carry2, lanes *uint32, count uint32, inverse, inverse2 float32, small, past int)",
			name+fmt.Sprintf(" is, for a multiple of %d", lanes), "", "\tfor i := range n {",
			"\t\tsum[i%channels] += hi[i] - lo[i]", "\t\tsquares[i%channels] += hi2[i] - lo2[i]",
			"\t\tmean[i] = float32(sum[i%channels]) / float32(count)",
			"\t\tdev[i] = sqrt(variance(sum[i%channels], squares[i%channels])) // as in Go", "\t}", "",
			"with carries for the sums before and after, small as [Variances] has it, and past the caches if",
			"that is asked for: results then start lines.")
		var scans []*rowScan
		if one {
			scans = rowScans(set, "lanes", 2)
		} else {
			by := newScanner(set, u32, arg("lanes"))
			for range 2 {
				c := *by
				c.carry = []reg.VecVirtual{set.vec()}
				scans = append(scans, &rowScan{set: set, by: &c, carry: c.carry[0]})
			}
		}
		set.load(Mem{Base: arg("carry")}, scans[0].carry)
		set.load(Mem{Base: arg("carry2")}, scans[1].carry)
		mean, dev, n, i := arg("mean"), arg("dev"), arg("n"), GP64()
		hi, lo, hi2, lo2 := arg("hi"), arg("lo"), arg("hi2"), arg("lo2")
		XORQ(i, i)
		at := func(base reg.Register) Mem { return Mem{Base: base, Index: i, Scale: 4} }
		v := newVariance(set)
		loop := func(label string, variance func(sum, mean, squares reg.VecVirtual) reg.VecVirtual) {
			Label(label)
			CMPQ(i, n)
			JGE(LabelRef("done"))
			sums := loaded(set, at(hi))
			VPSUBD(at(lo), sums, sums)
			scans[0].sum(sums)
			squares := loaded(set, at(hi2))
			VPSUBD(at(lo2), squares, squares)
			scans[1].sum(squares)
			m := set.vec()
			VCVTDQ2PS(sums, m)
			v.divide(m)
			d := variance(sums, m, squares)
			VSQRTPS(d, d)
			CMPQ(param("past"), Imm(0))
			JNE(LabelRef(label + "Past"))
			PREFETCHT0(at(mean).Offset(statsAhead))
			PREFETCHT0(at(dev).Offset(statsAhead))
			set.store(m, at(mean))
			set.store(d, at(dev))
			JMP(LabelRef(label + "Next"))
			Label(label + "Past")
			set.stream(m, at(mean))
			set.stream(d, at(dev))
			Label(label + "Next")
			ADDQ(I32(lanes), i)
			JMP(LabelRef(label))
		}
		CMPQ(arg("small"), Imm(0))
		JEQ(LabelRef("centered"))
		loop("whole", v.small)
		Label("centered")
		loop("rounded", v.centered)
		Label("done")
		set.store(scans[0].carry, Mem{Base: arg("carry")})
		set.store(scans[1].carry, Mem{Base: arg("carry2")})
		leave()
	}
}

// A varianceOf makes variances of windows from whole numbers.
type varianceOf struct {
	set     isa
	count   reg.VecVirtual
	divisor reg.VecVirtual // as floats, where there is a register for it
}

func newVariance(set isa) *varianceOf {
	v := &varianceOf{set: set, count: set.vec()}
	VPBROADCASTD(windowWord("count"), v.count)
	if wide(set) {
		v.divisor = set.vec()
		VCVTDQ2PS(v.count, v.divisor)
	}
	return v
}

// single is a constant in all lanes.
func (v *varianceOf) single(name string) reg.VecVirtual {
	c := v.set.vec()
	VBROADCASTSS(param(name), c)
	return c
}

// divide is the quotient by the count, rounded once: a product with the inverse, and what is
// left times the inverse once more, are that too (Markstein).
func (v *varianceOf) divide(m reg.VecVirtual) {
	if wide(v.set) {
		inverse, q := v.single("inverse"), v.set.vec()
		VMULPS(inverse, m, q)
		VFNMADD231PS(v.divisor, q, m)
		VFMADD231PS(inverse, m, q)
		VMOVAPS(q, m)
		return
	}
	n := v.set.vec()
	VCVTDQ2PS(v.count, n)
	VDIVPS(n, m, m)
}

// small is (count·squares − sum²)·inverse2, which is a whole number below 2^31 before.
func (v *varianceOf) small(sum, _, squares reg.VecVirtual) reg.VecVirtual {
	VPMULLD(v.count, squares, squares)
	VPMULLD(sum, sum, sum)
	VPSUBD(sum, squares, squares)
	VCVTDQ2PS(squares, squares)
	VMULPS(v.single("inverse2"), squares, squares)
	return squares
}

// centered is the same from squared distances to the rounded mean.
func (v *varianceOf) centered(sum, mean, squares reg.VecVirtual) reg.VecVirtual {
	set := v.set
	m, most := set.vec(), set.vec()
	VCVTPS2DQ(mean, m)
	VPMULLD(v.count, m, most)
	VPSUBD(most, sum, most) // how much the sum is more than the rounded mean says
	VPADDD(most, sum, sum)
	VPMULLD(m, sum, sum)
	VPSUBD(sum, squares, squares)
	VCVTDQ2PS(squares, squares)
	VCVTDQ2PS(most, most)
	inverse := v.single("inverse")
	VMULPS(inverse, squares, squares)
	VMULPS(inverse, most, most)
	VMULPS(most, most, most)
	VSUBPS(most, squares, squares)
	return squares
}

// part64 is the lower or the upper half of a vector of numbers of 32 bits as floats of 64.
func part64(set isa, v reg.VecVirtual, part int) reg.VecVirtual {
	to := set.vec()
	switch {
	case wide(set) && part == 0:
		VCVTDQ2PD(v.AsY(), to)
	case wide(set):
		half := YMM()
		VEXTRACTI64X4(Imm(1), v, half)
		VCVTDQ2PD(half, to)
	case part == 0:
		VCVTDQ2PD(v.AsX(), to)
	default:
		half := XMM()
		VEXTRACTI128(Imm(1), v, half)
		VCVTDQ2PD(half, to)
	}
	return to
}

// toSingles is a vector of 64 bits as floats of 32.
func toSingles(set isa, v reg.VecVirtual) reg.VecVirtual {
	if wide(set) {
		half := YMM()
		VCVTPD2PS(v, half)
		return half
	}
	half := XMM()
	VCVTPD2PSY(v, half)
	return half
}

// broadcast is an argument of 64 bits in all lanes.
func broadcast(set isa, name string) reg.VecVirtual {
	v := set.vec()
	VBROADCASTSD(param(name), v)
	return v
}

// doubles is half a vector of numbers of 32 bits below 2^31 as floats of 64.
func doubles(set isa, m Mem, less *Mem) reg.VecVirtual {
	v := set.vec()
	if wide(set) {
		half := YMM()
		VMOVDQU(m, half)
		VPSUBD(*less, half, half)
		VCVTDQ2PD(half, v)
	} else {
		half := XMM()
		VMOVDQU(m, half)
		VPSUBD(*less, half, half)
		VCVTDQ2PD(half, v)
	}
	return v
}

// singles writes a vector of 64 bits as floats of 32.
func singles(set isa, v reg.VecVirtual, m Mem) { VMOVDQU(toSingles(set, v), m) }

func floatMeans(sum elem) func(set isa, name string) {
	return func(set isa, name string) {
		lanes := set.bytes() / 8
		text(name, NOSPLIT, "func(dst, hi, lo *byte, n int, inverse, offset float64)", name+fmt.Sprintf(" is, for a multiple of %d", lanes), "",
			"\tfor i := range n {", "\t\tdst[i] = float32(float64(hi[i]-lo[i])*inverse + offset)", "\t}", "", "rounded after each, of integers below 2^31 and without the offset.")
		inverse, offset := broadcast(set, "inverse"), broadcast(set, "offset")
		dst, hi, lo, n, i := arg("dst"), arg("hi"), arg("lo"), arg("n"), GP64()
		XORQ(i, i)
		Label("loop")
		CMPQ(i, n)
		JGE(LabelRef("done"))
		from, less := Mem{Base: hi, Index: i, Scale: uint8(sum.Bytes())}, Mem{Base: lo, Index: i, Scale: uint8(sum.Bytes())}
		var v reg.VecVirtual
		if sum == f64 {
			v = loaded(set, from)
			VSUBPD(less, v, v)
		} else {
			v = doubles(set, from, &less)
		}
		VMULPD(inverse, v, v)
		if sum == f64 {
			VADDPD(offset, v, v)
		}
		singles(set, v, Mem{Base: dst, Index: i, Scale: 4})
		ADDQ(I32(lanes), i)
		JMP(LabelRef("loop"))
		Label("done")
		leave()
	}
}

func variances(set isa, name string) {
	lanes := set.bytes() / 4
	text(name, NOSPLIT, "func(dst, hi, lo, hi2, lo2 *byte, n int, count uint32, inverse, inverse2 float32, small, root int)", name+fmt.Sprintf(" is, for a multiple of %d", lanes), "",
		"\tfor i := range n {", "\t\tdst[i] = variance(hi[i]-lo[i], hi2[i]-lo2[i]) // as in Go", "\t}", "", "and the root of that where it is asked for, with small as [Variances] has it.")
	dst, hi, lo, n, i := arg("dst"), arg("hi"), arg("lo"), arg("n"), GP64()
	hi2, lo2, root := arg("hi2"), arg("lo2"), arg("root")
	XORQ(i, i)
	v := newVariance(set)
	body := func(label string, variance func(sum, mean, squares reg.VecVirtual) reg.VecVirtual, mean bool) {
		Label(label)
		CMPQ(i, n)
		JGE(LabelRef("done"))
		at := func(base reg.Register) Mem { return Mem{Base: base, Index: i, Scale: 4} }
		s, q, m := loaded(set, at(hi)), loaded(set, at(hi2)), set.vec()
		VPSUBD(at(lo), s, s)
		VPSUBD(at(lo2), q, q)
		if mean {
			VCVTDQ2PS(s, m)
			v.divide(m)
		}
		d := variance(s, m, q)
		TESTQ(root, root)
		JZ(LabelRef(label + "Plain"))
		VSQRTPS(d, d)
		Label(label + "Plain")
		set.store(d, at(dst))
		ADDQ(I32(lanes), i)
		JMP(LabelRef(label))
	}
	CMPQ(arg("small"), Imm(0))
	JEQ(LabelRef("centered"))
	body("whole", v.small, false)
	Label("centered")
	body("rounded", v.centered, true)
	Label("done")
	leave()
}

// maxSmall is how many columns the windows of boxSmall have at most.
const maxSmall = 8

// boxSmall adds the few columns of a window in 16 bits.
func boxSmall(set isa, name string) {
	lanes := set.bytes() / 2
	text(name, NOSPLIT, "func(dst, cols *byte, n, step, span int, half, multiplier, shift uint32)",
		name+fmt.Sprintf(" is, for a multiple of %d and a span of 1 to %d", lanes, maxSmall), "", "\tfor i := range n {",
		"\t\tvar sum uint16", "\t\tfor j := range span {", "\t\t\tsum += cols[i+j*step/2]", "\t\t}",
		"\t\tdst[i] = uint8(uint32(sum+half) * multiplier >> 16 >> shift)", "\t}")
	times, bias, shift := set.vec(), set.vec(), windowWord("shift")
	VPBROADCASTW(windowWord("multiplier"), times)
	VPBROADCASTW(windowWord("half"), bias)
	dst, n, span, step, i := arg("dst"), arg("n"), arg("span"), arg("step"), GP64()
	at := make([]reg.GPVirtual, maxSmall)
	at[0] = arg("cols")
	XORQ(i, i)
	for k := 2; k <= maxSmall; k++ {
		CMPQ(span, Imm(uint64(k)))
		JEQ(LabelRef(fmt.Sprint("span", k)))
	}
	for k := 1; k <= maxSmall; k++ {
		label := fmt.Sprint("span", k)
		Label(label)
		for j := 1; j < k; j++ {
			at[j] = GP64()
			LEAQ(Mem{Base: at[j-1], Index: step, Scale: 1}, at[j])
		}
		Label(label + "Loop")
		CMPQ(i, n)
		JGE(LabelRef("done"))
		v := loaded(set, Mem{Base: at[0], Index: i, Scale: 2})
		for j := 1; j < k; j++ {
			VPADDW(Mem{Base: at[j], Index: i, Scale: 2}, v, v)
		}
		VPADDW(bias, v, v)
		VPMULHUW(times, v, v)
		VPSRLW(shift, v, v)
		to := Mem{Base: dst, Index: i, Scale: 1}
		PREFETCHT0(to.Offset(columnsAhead))
		if wide(set) {
			VPMOVWB(v, to)
		} else {
			high := XMM()
			VEXTRACTI128(Imm(1), v, high)
			VPACKUSWB(high, v.AsX(), high)
			VMOVDQU(high, to)
		}
		ADDQ(I32(lanes), i)
		JMP(LabelRef(label + "Loop"))
	}
	Label("done")
	leave()
}

// box3 sums 3×3 bytes of three rows. A lane of 16 bits has an even pixel and the odd one after it, which both
// have in their windows; beside them is one more on the left, or on the right.
func box3(set isa, name string) {
	text(name, NOSPLIT, "func(dst, a, b, c *byte, n int, half, multiplier uint32)",
		name+fmt.Sprintf(" is, for a multiple of %d", set.bytes()), "", "\tfor i := range n {",
		"\t\tvar sum uint16", "\t\tfor j := i - 1; j <= i+1; j++ {", "\t\t\tsum += a[j] + b[j] + c[j]", "\t\t}",
		"\t\tdst[i] = uint8(uint32(sum+half) * multiplier >> 16)", "\t}")
	times, bias, ones, low := set.vec(), set.vec(), set.vec(), set.vec()
	VPBROADCASTW(windowWord("multiplier"), times)
	VPBROADCASTW(windowWord("half"), bias)
	set.ones(ones)
	VPSRLW(Imm(8), ones, low)
	VPABSB(ones, ones)
	dst, n, i := arg("dst"), arg("n"), GP64()
	rows := []reg.GPVirtual{arg("a"), arg("b"), arg("c")}
	XORQ(i, i)
	Label("loop")
	CMPQ(i, n)
	JGE(LabelRef("done"))
	var both, left, right reg.VecVirtual
	sum := func(to *reg.VecVirtual, v reg.VecVirtual) {
		if *to == nil {
			*to = v
			return
		}
		VPADDW(v, *to, *to)
	}
	for _, row := range rows {
		at := Mem{Base: row, Index: i, Scale: 1}
		v, w, u := loaded(set, at), loaded(set, at.Offset(-1)), loaded(set, at.Offset(1))
		VPMADDUBSW(ones, v, v)
		if wide(set) {
			VPANDD(low, w, w)
		} else {
			VPAND(low, w, w)
		}
		VPSRLW(Imm(8), u, u)
		sum(&both, v)
		sum(&left, w)
		sum(&right, u)
	}
	VPADDW(bias, both, both)
	VPADDW(both, left, left)
	VPADDW(both, right, right)
	VPMULHUW(times, left, left)
	VPMULHUW(times, right, right)
	VPSLLW(Imm(8), right, right)
	if wide(set) {
		VPORD(right, left, left)
	} else {
		VPOR(right, left, left)
	}
	to := Mem{Base: dst, Index: i, Scale: 1}
	PREFETCHT0(to.Offset(columnsAhead))
	set.store(left, to)
	ADDQ(I32(set.bytes()), i)
	JMP(LabelRef("loop"))
	Label("done")
	leave()
}
