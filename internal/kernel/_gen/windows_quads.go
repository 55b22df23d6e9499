package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Offsets in the Go struct windows.quadMemory: sums of even columns, sums of odd columns, and
// squares by the column's position in its group of four. Each stores as many bytes per vector as
// the vector has columns.
const (
	quadArray   = 3200
	quadOdd     = quadArray
	quadSquares = 2 * quadArray
)

// slideQuads emits a kernel that moves the columns down by a row.
func slideQuads(squares bool) func(set isa, name string) {
	return func(set isa, name string) {
		lines := []string{name + fmt.Sprintf(" computes, for n a multiple of %d, with sums and squares in the layout of quadMemory,", set.bytes()), "",
			"\tfor i := range n {", "\t\tsums[i] += add[i] - sub[i]"}
		if squares {
			lines = append(lines, "\t\tsquares[i] += add[i]*add[i] - sub[i]*sub[i]")
		}
		text(name, NOSPLIT, "func(memory, add, sub, next, out *byte, n int)", append(lines, "\t}", "", "and prefetches next and out.")...)
		memory, plus, minus, n, i := arg("memory"), arg("add"), arg("sub"), arg("n"), GP64()
		next, out := arg("next"), arg("out")
		low, word := set.vec(), set.vec() // masks of the low bytes of words, and of the low words of 32 bits
		set.ones(low)
		VPSRLD(Imm(16), low, word)
		VPSRLW(Imm(8), low, low)
		at := func(base reg.Register, offset int) Mem {
			return Mem{Base: base, Index: i, Scale: 1, Disp: offset}
		}
		XORQ(i, i)
		Label("loop")
		PREFETCHT0(at(next, 0))
		PREFETCHT0(at(out, 0))
		a, s := loaded(set, at(plus, 0)), loaded(set, at(minus, 0))
		for half := range 2 {
			x, y := set.vec(), set.vec()
			if half == 0 {
				andBytes(set, low, a, x)
				andBytes(set, low, s, y)
			} else {
				VPSRLW(Imm(8), a, x)
				VPSRLW(Imm(8), s, y)
			}
			d, sum := set.vec(), set.vec()
			VPSUBW(y, x, d)
			to := at(memory, half*quadOdd)
			VPADDW(to, d, sum)
			set.store(sum, to)
			if !squares {
				continue
			}
			VPADDW(y, x, x)
			for part := range 2 {
				one := set.vec()
				if part == 0 {
					andBytes(set, word, d, one)
				} else {
					andNot(set, word, d, one)
				}
				to := at(memory, quadSquares+(2*part+half)*quadArray)
				VPMADDWD(x, one, one)
				VPADDD(to, one, one)
				set.store(one, to)
			}
		}
		ADDQ(I32(set.bytes()), i)
		CMPQ(i, n)
		JLT(LabelRef("loop"))
		leave()
	}
}

// quadSums computes the sums of windows along a row, four neighboring pixels in each lane. The
// prefix sum along the row adds sums of four columns. The sums of the first three windows of a lane
// are computed from that of the last one.
type quadSums struct {
	runningSums
	memory  reg.Register
	odd     reg.Register    // columns that enter windows; hi has the even ones
	more    [4]reg.Register // the same for squares
	inverse reg.Register
}

const quadArguments = "dst, pix, memory, even, odd, first, second, third, fourth, inverse *byte, n int, lanes *uint32, scratch *byte"

func newQuadSums(set isa, squares bool, constants ...int) *quadSums {
	q := &quadSums{}
	q.set, q.scratch, q.i = set, arg("scratch"), GP64()
	if wide(set) {
		q.c = newScanner(set, u32, arg("lanes"))
	} else {
		q.c = &scanner{set: set, carry: []reg.VecVirtual{set.vec()}}
	}
	set.load(q.constant(sCarry), q.c.carry[0])
	q.memory, q.hi, q.odd, q.inverse = arg("memory"), arg("even"), arg("odd"), arg("inverse")
	if squares {
		c2 := *q.c
		c2.carry = []reg.VecVirtual{set.vec()}
		q.c2 = &c2
		set.load(q.constant(sCarry2), c2.carry[0])
		for i, name := range []string{"first", "second", "third", "fourth"} {
			q.more[i] = arg(name)
		}
	}
	XORQ(q.i, q.i)
	if wide(set) {
		q.held = map[int]reg.VecVirtual{}
		for _, k := range append(constants, kAbs, kMargin) {
			q.held[k] = loaded(set, Mem{Base: q.scratch, Disp: k})
		}
	}
	return q
}

// scan replaces a vector by its prefix sums and adds the carry.
func (q *quadSums) scan(c *scanner, v reg.VecVirtual) {
	if wide(q.set) {
		c.sum(v)
		return
	}
	t := q.set.vec()
	VPSLLDQ(Imm(4), v, t)
	VPADDD(t, v, v)
	VPSLLDQ(Imm(8), v, t)
	VPADDD(t, v, v)
	VPERM2I128(Imm(0x08), v, v, t) // the lower half, above zeros
	VPSHUFD(Imm(0xff), t, t)
	VPADDD(t, v, v)
	VPADDD(c.carry[0], v, v)
	VPERM2I128(Imm(0x11), v, v, t)
	VPSHUFD(Imm(0xff), t, c.carry[0])
}

func (q *quadSums) offset(base reg.Register, offset int) Mem {
	return Mem{Base: base, Index: q.i, Scale: 1, Disp: offset}
}

// pixel converts the pixel at a position in each group of four to floats.
func (q *quadSums) pixel(four reg.VecVirtual, place int) reg.VecVirtual {
	p := q.set.vec()
	switch {
	case place == 0:
		andBytes(q.set, q.k(kByte), four, p)
	case place == 3:
		VPSRLD(Imm(24), four, p)
	default:
		VPSHUFB(q.k(kSecond+(place-1)*lineBytes), four, p)
	}
	VCVTDQ2PS(p, p)
	return p
}

// slot returns where a sum is stored for the pixels that are in doubt.
func (q *quadSums) slot(array, place int) Mem {
	return Mem{Base: q.scratch, Index: q.i, Scale: 4, Disp: array + place*q.set.bytes()}
}

// loop emits the loop. compare sets f to the value whose sign decides the pixel's color.
func (q *quadSums) loop(squares bool, compare func(f, mean, variance reg.VecVirtual) reg.VecVirtual) {
	set := q.set
	dst, pix, n := arg("dst"), arg("pix"), arg("n")
	Label("loop")
	var d [2]reg.VecVirtual
	sum, t := set.vec(), set.vec()
	for half, hi := range []reg.Register{q.hi, q.odd} {
		d[half] = loaded(set, q.offset(hi, 0))
		VPSUBW(q.offset(q.memory, half*quadOdd), d[half], d[half])
	}
	VPMADDWD(q.k(kOnes), d[0], sum)
	VPMADDWD(q.k(kOnes), d[1], t)
	VPADDD(t, sum, sum)
	q.scan(q.c, sum)
	var square reg.VecVirtual
	var d2 [4]Op
	if squares {
		square = set.vec()
		for place := range 4 {
			v := square
			if place > 0 {
				v = set.vec()
			}
			set.load(q.offset(q.more[place], 0), v)
			VPSUBD(q.offset(q.memory, quadSquares+place*quadArray), v, v)
			if place == 0 {
				continue
			}
			VPADDD(v, square, square)
			if d2[place] = v; !wide(set) { // AVX2 runs out of registers
				set.store(v, q.slot(sSquares, place))
				d2[place] = q.slot(sSquares, place)
			}
		}
		q.scan(q.c2, square)
	}
	four := loaded(set, q.offset(pix, 0))
	var white [2]reg.VecVirtual // of the even pixels and of the odd ones
	for place := 3; place >= 0; place-- {
		mean, variance := set.vec(), reg.VecVirtual(nil)
		inverse := Mem{Base: q.inverse, Index: q.i, Scale: 4, Disp: place * set.bytes()}
		VCVTDQ2PS(sum, mean)
		VMULPS(inverse, mean, mean)
		set.store(sum, q.slot(sSums, place))
		if squares {
			variance = set.vec()
			VCVTDQ2PS(square, variance)
			VMULPS(inverse, variance, variance)
			if place > 0 {
				less := square
				square = set.vec()
				VPSUBD(d2[place], less, square)
				set.store(less, q.slot(sSquares, place))
			} else {
				set.store(square, q.slot(sSquares, place))
			}
		}
		if place > 0 {
			t := set.vec()
			switch place {
			case 3:
				VPSRAD(Imm(16), d[1], t)
			case 2:
				VPSRAD(Imm(16), d[0], t)
			case 1:
				VPMADDWD(q.k(kLow), d[1], t)
			}
			VPSUBD(t, sum, sum)
		}
		f := q.pixel(four, place)
		q.doubts(place, f, compare(f, mean, variance))
		if place >= 2 {
			white[place-2] = f
			continue
		}
		VPSRLD(Imm(16), f, f)
		white[place] = q.upper(white[place], f)
	}
	// The sign of the compared value is now in every word.
	VPSRLW(Imm(8), white[0], white[0])
	const choose = 0xca // bitwise: the second operand where the first is set, else the third
	if wide(set) {
		mask, k := set.vec(), K()
		set.ones(mask)
		VPSLLW(Imm(8), mask, mask)
		VPTERNLOGD(Imm(choose), white[0], white[1], mask)
		VPMOVB2M(mask, k)
		VPMOVM2B(k, mask)
		set.store(mask, q.offset(dst, 0))
	} else {
		zero := set.vec()
		set.zero(zero)
		VPSRLW(Imm(15), white[1], white[1])
		VPSLLW(Imm(15), white[1], white[1])
		VPOR(white[1], white[0], white[0])
		// The low bytes also hold other bits of the even pixels, but only their signs are used.
		VPCMPGTB(white[0], zero, zero)
		set.store(zero, q.offset(dst, 0))
	}
	ADDQ(I32(set.bytes()), q.i)
	CMPQ(q.i, n)
	JLT(LabelRef("loop"))
	q.leave()
}

// upper combines the upper words of a and the lower words of b in b.
func (q *quadSums) upper(a, b reg.VecVirtual) reg.VecVirtual {
	if wide(q.set) {
		const choose = 0xd8 // bitwise: the second operand where the third is set, else the first
		VPTERNLOGD(Imm(choose), q.k(kHigh), a, b)
	} else {
		VPBLENDW(Imm(0xaa), a, b, b)
	}
	return b
}

// doubts marks the pixels that are in doubt; see runningSums.verdict.
func (q *quadSums) doubts(place int, f, variance reg.VecVirtual) {
	set, at := q.set, GP64()
	abs := set.vec()
	VANDPS(q.k(kAbs), f, abs)
	MOVQ(q.i, at)
	SHRQ(Imm(3), at)
	to := Mem{Base: q.scratch, Index: at, Scale: 1, Disp: sDoubt + place*set.bytes()/32}
	const notGreater = 0x1a
	if wide(set) {
		near := K()
		VCMPPS(Imm(notGreater), q.k(kMargin), abs, near)
		if variance != nil {
			white, flat := K(), K()
			VPMOVD2M(f, white)
			VCMPPS(Imm(notGreater), q.k(kFlat), variance, flat)
			KANDNW(flat, white, flat)
			KORW(flat, near, near)
		}
		KMOVW(near, to)
		return
	}
	bits := GP32()
	VCMPPS(Imm(notGreater), q.k(kMargin), abs, abs)
	if variance != nil {
		VCMPPS(Imm(notGreater), q.k(kFlat), variance, variance)
		VANDNPS(variance, f, variance) // uses the sign only
		VORPS(variance, abs, abs)
	}
	VMOVMSKPS(abs, bits)
	MOVB(bits.As8(), to)
}

// quadStats is like decideStats for four pixels per lane.
func quadStats(form statsForm) func(set isa, name string) {
	return func(set isa, name string) {
		text(name, NOSPLIT, "func("+quadArguments+")", name+fmt.Sprintf(" is decide%s for a multiple of %d pixels and columns in the layout of quadMemory.", name[len("quad"):], set.bytes()))
		q := newQuadSums(set, true, form.constants()...)
		q.loop(true, func(f, mean, variance reg.VecVirtual) reg.VecVirtual { return q.compare(form, f, mean, variance) })
	}
}

// quadMeans is like decideMeans for four pixels per lane.
func quadMeans(singh bool) func(set isa, name string) {
	return func(set isa, name string) {
		text(name, NOSPLIT, "func("+quadArguments+")", name+fmt.Sprintf(" is decide%s for a multiple of %d pixels and columns in the layout of quadMemory.", name[len("quad"):], set.bytes()))
		q := newQuadSums(set, false, kAlpha, kGamma, kMost, kWhite)
		q.loop(false, func(f, mean, _ reg.VecVirtual) reg.VecVirtual {
			q.compareMean(singh, f, mean)
			return nil
		})
	}
}
