package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Medians of 3×3 and 5×5 windows are computed for two rows at a time, which share the comparisons
// of pixels that belong to both windows.

// Floats are compared as they are unless one is NaN or -0, for which the result of a comparison
// depends on the order of the operands. Rows with such floats are converted to keys, which are
// integers in the order of the floats.

// keyOf returns the type of the keys of floats.
var keyOf = map[elem]elem{f32: i32, f64: i64}

// shifts holds the instructions for the elements of a size.
type shifts struct{ left, right, add, sub func(...Op) }

func shiftsOf(e elem) shifts {
	if e.Bytes() == 8 {
		return shifts{VPSLLQ, VPSRLQ, VPADDQ, VPSUBQ}
	}
	return shifts{VPSLLD, VPSRLD, VPADDD, VPSUBD}
}

// floatBits returns the bits of infinity, of Go's NaN and of -0.
func floatBits(e elem) (inf, nan, zero uint64) {
	if e.Bytes() == 8 {
		return math.Float64bits(math.Inf(1)), math.Float64bits(math.NaN()), 1 << 63
	}
	return uint64(math.Float32bits(float32(math.Inf(1)))), uint64(math.Float32bits(float32(math.NaN()))), 1 << 31
}

// inAll returns a vector that has a number of e's size in all lanes.
func inAll(set isa, e elem, bits uint64) reg.VecVirtual {
	if e.Bytes() == 4 {
		return bitsInAll(set, uint32(bits))
	}
	t, x, v := GP64(), XMM(), set.vec()
	MOVQ(U64(bits), t)
	VMOVQ(t, x)
	VPBROADCASTQ(x, v)
	return v
}

// signs sets each lane of to to the sign bit of the same lane of v.
func signs(set isa, e elem, v, to reg.VecVirtual) {
	switch {
	case e.Bytes() == 4:
		VPSRAD(Imm(31), v, to)
	case wide(set):
		VPSRAQ(Imm(63), v, to)
	default:
		zero := set.vec()
		VPXOR(zero, zero, zero)
		VPCMPGTQ(v, zero, to)
	}
}

// above compares the lanes of v that are not negative with inf. It sets lanes of inf to all ones
// where v is greater, and to zero elsewhere.
func above(set isa, e elem, v, inf reg.VecVirtual) {
	shiftsOf(e).sub(v, inf, inf)
	signs(set, e, inf, inf)
}

// flip converts floats to keys, and keys to floats. It inverts the lower bits of negative numbers,
// because of two negative floats the lesser one has the greater bits.
func flip(set isa, e elem, v reg.VecVirtual) {
	t := set.vec()
	signs(set, e, v, t)
	shiftsOf(e).right(Imm(1), t, t)
	xorBytes(set, t, v, v)
}

// keys emits the conversion of floats to keys.
func keys(e elem) func(set isa, name string) {
	return func(set isa, name string) {
		infBits, nanBits, _ := floatBits(e)
		size := 8 * e.Bytes()
		text(name, NOSPLIT, "func(dst, src *byte, n int)", name+fmt.Sprintf(" computes, for n a multiple of %d,", set.bytes()), "",
			fmt.Sprintf("\tfor i := range n / %d {", e.Bytes()), fmt.Sprintf("\t\tbits := int%d(math.Float%[1]dbits(src[i]))", size), "\t\tif src[i] != src[i] {",
			fmt.Sprintf("\t\t\tbits = %#x", nanBits), "\t\t}", fmt.Sprintf("\t\tdst[i] = bits ^ bits>>%d&math.MaxInt%d", size-1, size), "\t}")
		dst, src, n, i, s := arg("dst"), arg("src"), arg("n"), GP64(), shiftsOf(e)
		inf, nan := inAll(set, e, infBits), inAll(set, e, nanBits)
		loopTo(i, n, I32(set.bytes()), func() {
			v, magnitude, is := loaded(set, Mem{Base: src, Index: i, Scale: 1}), set.vec(), set.vec()
			s.left(Imm(1), v, magnitude)
			s.right(Imm(1), magnitude, magnitude)
			move(set, inf, is)
			above(set, e, magnitude, is)
			andNot(set, is, v, v)
			andBytes(set, nan, is, is)
			s.add(is, v, v)
			flip(set, e, v)
			set.store(v, Mem{Base: dst, Index: i, Scale: 1})
		})
		leave()
	}
}

// medians emits the medians of windows of size×size pixels, of two rows at once. If e is a type of keys, they are converted back to floats.
func medians(size int, e elem) func(set isa, name string) {
	return func(set isa, name string) {
		doc := []string{fmt.Sprintf("%s computes the medians of two rows of windows of %d×%[2]d %v, in n bytes each, at least %d. Row i starts with row i of the first window. Pixels are step bytes apart. The last two rows of the next call are srcAhead bytes after those of this one, and its dst and next dstAhead bytes.", name, size, e, set.bytes())}
		switch {
		case e.Float():
			doc = append(doc, "It returns 0, or another number if a pixel in the middle column of a window is NaN or -0.")
		case e == i32 || e == i64:
			doc = append(doc, "The pixels are keys of floats, and dst and next take floats: NaN if a window has one.")
		}
		text(name, NOSPLIT, "func(dst, next *byte, rows *[]byte, step, n, srcAhead, dstAhead int) (special int)", doc...)
		dst, next, pointers := arg("dst"), arg("next"), arg("rows")
		rows, columns := make([]reg.Register, size+1), make([]reg.Register, size)
		for k := range rows {
			rows[k] = GP64()
			MOVQ(Mem{Base: pointers, Disp: 24 * k}, rows[k]) // the slice's pointer
		}
		for j := range columns {
			columns[j] = GP64()
		}
		found := newSpecials(set, e)
		overlapping(set, columns[0], dst, param("n"), func() {
			ahead := columns[size-1] // free until that column is used
			MOVQ(param("dstAhead"), ahead)
			ADDQ(columns[0], ahead)
			for _, r := range []reg.Register{dst, next} {
				PREFETCHT0(Mem{Base: r, Index: ahead, Scale: 1})
			}
			MOVQ(param("srcAhead"), ahead)
			ADDQ(columns[0], ahead)
			for _, r := range rows[size-1:] {
				PREFETCHT0(Mem{Base: r, Index: ahead, Scale: 1})
			}
			for j := 1; j < size; j++ {
				MOVQ(param("step"), columns[j])
				ADDQ(columns[j-1], columns[j])
			}
			w := &windowPair{network: network{set: set, elem: e}, pixels: make([][]wire, size+1)}
			for k := range w.pixels {
				for j := range size {
					w.pixels[k] = append(w.pixels[k], w.load(Mem{Base: rows[k], Index: columns[j], Scale: 1}))
				}
			}
			for k := 0; k <= size && e.Float(); k += 2 {
				w.do(found.examine, w.pixels[k][size/2], w.pixels[k+1][size/2])
			}
			for i, m := range w.medians() {
				to := Mem{Base: []reg.Register{dst, next}[i], Index: columns[0], Scale: 1}
				if e == i32 || e == i64 {
					w.do(func(in []reg.VecVirtual) { set.store(fromKeys(set, e, in[0], in[1]), to) }, m.median, m.most)
				} else {
					w.do(func(in []reg.VecVirtual) { set.store(in[0], to) }, m.median)
				}
			}
			w.emit(medianRegisters(set, e))
		})
		found.leave()
	}
}

// overlapping emits a loop over vectors that cover n bytes. All vectors except the first and the
// last are aligned at dst. The first and the last may overlap their neighbors.
func overlapping(set isa, i, dst reg.Register, n Op, body func()) {
	last, over := GP64(), GP64()
	XORQ(i, i)
	Label("loop")
	body()
	ADDQ(I32(set.bytes()), i)
	CMPQ(i, n)
	JGE(LabelRef("done"))
	LEAQ(Mem{Base: dst, Index: i, Scale: 1}, over)
	ANDQ(I32(set.bytes()-1), over)
	SUBQ(over, i)
	MOVQ(n, last)
	SUBQ(I32(set.bytes()), last)
	CMPQ(i, last)
	CMOVQGT(last, i)
	JMP(LabelRef("loop"))
	Label("done")
}

// medianRegisters returns the number of registers for pixels. The others are for the search for
// special values and the conversion of keys.
func medianRegisters(set isa, e elem) int {
	all := 16
	if wide(set) {
		all = 32
	}
	switch e {
	case f32, f64:
		return all - 3
	case i32, i64:
		return all - 5
	}
	return all
}

// A windowPair computes the medians of a window and of the one below it.
type windowPair struct {
	network
	pixels [][]wire // by row and column
}

// A windowMedian is the median of a window and its greatest pixel.
type windowMedian struct{ median, most wire }

func (w *windowPair) medians() [2]windowMedian {
	if len(w.pixels) == 4 {
		return w.median3()
	}
	return w.median5()
}

// median3 sorts columns. The median of the window is the median of three values: the greatest
// minimum, the median of the medians, and the least maximum.
func (w *windowPair) median3() (m [2]windowMedian) {
	var low, high [2]wire
	var medians [2][]wire
	for j := range 3 {
		both := w.sort(w.pixels[1][j], w.pixels[2][j])
		for i := range m {
			v := w.insert(both, w.pixels[3*i][j])
			medians[i] = append(medians[i], v[1])
			if j == 0 {
				low[i], high[i], m[i].most = v[0], v[2], v[2]
			} else {
				low[i], high[i], m[i].most = w.most(low[i], v[0]), w.least(high[i], v[2]), w.most(m[i].most, v[2])
			}
		}
	}
	middle := func(a, b, c wire) wire { return w.most(w.least(a, b), w.least(w.most(a, b), c)) }
	for i := range m {
		m[i].median = middle(low[i], middle(medians[i][0], medians[i][1], medians[i][2]), high[i])
	}
	return m
}

// median5 sorts the 20 pixels that both windows contain. Depending on a window's other five pixels,
// its median is any of the middle six, and no other.
func (w *windowPair) median5() (m [2]windowMedian) {
	columns := make([][]wire, 5)
	for j := range columns {
		columns[j] = w.sort(w.pixels[1][j], w.pixels[2][j], w.pixels[3][j], w.pixels[4][j])
	}
	sixteen := w.merge(w.merge(columns[0], columns[1]), w.merge(columns[2], columns[3]))
	middle := w.merge(sixteen[3:13], columns[4])[4:10] // four more pixels cannot move the others into the middle
	most := w.most(sixteen[15], columns[4][3])
	for i := range m {
		row := w.sort(w.pixels[5*i]...)
		m[i] = windowMedian{w.between(middle, row, 6), w.most(most, row[4])}
	}
	return m
}

// fromKeys converts the medians of keys to floats. The median is NaN if most is.
func fromKeys(set isa, e elem, median, most reg.VecVirtual) reg.VecVirtual {
	infBits, _, _ := floatBits(e)
	negative, nan, s := set.vec(), inAll(set, e, infBits), shiftsOf(e)
	signs(set, e, most, negative)
	above(set, e, most, nan)
	andNot(set, negative, nan, nan)
	andNot(set, nan, median, median)
	andBytes(set, nan, most, nan)
	s.add(nan, median, median)
	flip(set, e, median)
	return median
}

// specials searches for floats that are NaN or -0.
type specials struct {
	set   isa
	elem  elem
	found reg.Register   // all ones if there was one: a mask, or a vector with AVX2
	zero  reg.VecVirtual // -0, with AVX2
}

func newSpecials(set isa, e elem) *specials {
	s := &specials{set: set, elem: e}
	switch {
	case !e.Float():
	case wide(set):
		s.found = K()
		KXORW(s.found, s.found, s.found)
	default:
		v := set.vec()
		set.zero(v)
		_, _, zero := floatBits(e)
		s.found, s.zero = v, inAll(set, e, zero)
	}
	return s
}

// examine searches two vectors.
func (s *specials) examine(in []reg.VecVirtual) {
	const nanOrNegativeZero = 1<<0 | 1<<2 | 1<<7 // quiet NaN, -0, signaling NaN
	const unordered = 3
	switch {
	case wide(s.set):
		classify := map[elem]func(...Op){f32: VFPCLASSPSZ, f64: VFPCLASSPDZ}[s.elem]
		for _, v := range in {
			k := K()
			classify(Imm(nanOrNegativeZero), v, k)
			KORW(k, s.found, s.found)
		}
	default:
		t := s.set.vec()
		compare, equal := VCMPPS, VPCMPEQD
		if s.elem == f64 {
			compare, equal = VCMPPD, VPCMPEQQ
		}
		compare(Imm(unordered), in[0], in[1], t)
		VPOR(t, s.found, s.found)
		for _, v := range in {
			equal(s.zero, v, t)
			VPOR(t, s.found, s.found)
		}
	}
}

// leave ends the kernel, which returns whether there were any special values.
func (s *specials) leave() {
	result := GP64() // upper bits are cleared
	switch {
	case s.found == nil:
		XORL(result.As32(), result.As32())
	case wide(s.set):
		KMOVW(s.found, result.As32())
	default:
		VMOVMSKPS(s.found, result.As32())
	}
	Store(result, ReturnIndex(0))
	leave()
}

// halve emits a kernel that averages 2×2 bytes.
func halve(set isa, name string) {
	lanes := set.bytes() / 2
	text(name, NOSPLIT, "func(dst, a, b *byte, n int)", name+fmt.Sprintf(" computes, for n a multiple of %d,", lanes), "",
		"\tfor i := range n {", "\t\tdst[i] = (a[2*i] + a[2*i+1] + b[2*i] + b[2*i+1] + 2) >> 2", "\t}")
	dst, a, b, n, i := arg("dst"), arg("a"), arg("b"), arg("n"), GP64()
	ones, two := set.vec(), set.vec()
	set.ones(ones)
	VPSRLW(Imm(15), ones, two)
	VPADDW(two, two, two)
	VPABSB(ones, ones)
	loopTo(i, n, I32(lanes), func() {
		v, w := loaded(set, Mem{Base: a, Index: i, Scale: 2}), loaded(set, Mem{Base: b, Index: i, Scale: 2})
		VPMADDUBSW(ones, v, v)
		VPMADDUBSW(ones, w, w)
		VPADDW(w, v, v)
		VPADDW(two, v, v)
		VPSRLW(Imm(2), v, v)
		narrowWords(set, v, Mem{Base: dst, Index: i, Scale: 1})
	})
	leave()
}
