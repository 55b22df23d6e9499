package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The median of a 3×3 or 5×5 window is found from columns that are sorted once for all windows
// which share them. Of five sorted columns, only the largest two of the minima, the largest three
// of the next row, and so on can be the median: 13 pixels remain, with 6 smaller and 6 larger ones
// discarded.

// Floats are sorted as whole numbers in the same order, their keys, because the least of two
// floats depends on which comes first where one is NaN or both are zeros.

// sorter compares vectors of pixels, or of keys.
type sorter struct {
	set  isa
	elem elem
}

func (s *sorter) least(a, b, to reg.VecVirtual) {
	switch s.elem {
	case u8:
		VPMINUB(a, b, to)
	case u16:
		VPMINUW(a, b, to)
	default:
		VPMINSD(a, b, to)
	}
}

func (s *sorter) most(a, b, to reg.VecVirtual) {
	switch s.elem {
	case u8:
		VPMAXUB(a, b, to)
	case u16:
		VPMAXUW(a, b, to)
	default:
		VPMAXSD(a, b, to)
	}
}

// swap puts the lesser of two vectors first.
func (s *sorter) swap(v []reg.VecVirtual, i, j int) {
	t := s.set.vec()
	s.least(v[i], v[j], t)
	s.most(v[i], v[j], v[j])
	v[i] = t
}

// dropLeast discards the least vector, and dropMost the greatest.
func (s *sorter) dropLeast(v []reg.VecVirtual) []reg.VecVirtual {
	for i := 1; i < len(v)-1; i++ {
		s.swap(v, 0, i)
	}
	s.most(v[0], v[len(v)-1], v[len(v)-1])
	return v[1:]
}

func (s *sorter) dropMost(v []reg.VecVirtual) []reg.VecVirtual {
	last := len(v) - 1
	for i := last - 1; i > 0; i-- {
		s.swap(v, i, last)
	}
	s.least(v[0], v[last], v[0])
	return v[:last]
}

// dropBoth discards the least and the greatest vector.
func (s *sorter) dropBoth(v []reg.VecVirtual) []reg.VecVirtual {
	n := len(v)
	for i := range n / 2 { // the lesser ones go to the first half
		s.swap(v, i, n-1-i)
	}
	low, high := n/2, n/2
	if n%2 == 1 { // the middle may be either
		low++
	}
	for i := 1; i < low; i++ {
		s.swap(v, 0, i)
	}
	for i := high; i < n-1; i++ {
		s.swap(v, i, n-1)
	}
	return v[1 : n-1]
}

// medianLoop emits a loop over vectors of n pixels.
func medianLoop(set isa, e elem, body func(at func(base reg.Register) Mem)) {
	n, i := arg("n"), GP64()
	loopTo(i, n, I32(set.bytes()/e.Bytes()), func() {
		body(func(base reg.Register) Mem { return Mem{Base: base, Index: i, Scale: uint8(e.Bytes())} })
	})
	leave()
}

var medianNames = []string{"a", "b", "c", "d", "e"}

// sortColumns emits a kernel that sorts columns of three or five pixels.
func sortColumns(size int, e elem) func(set isa, name string) {
	networks := map[int][][2]int{
		3: {{0, 1}, {1, 2}, {0, 1}},
		5: {{0, 1}, {3, 4}, {2, 4}, {2, 3}, {1, 4}, {0, 3}, {0, 2}, {1, 3}, {1, 2}},
	}
	return func(set isa, name string) {
		signature := "func(dst *byte, plane int, "
		for _, r := range medianNames[:size] {
			signature += r + ", "
		}
		text(name, NOSPLIT, signature[:len(signature)-2]+" *byte, n int)",
			name+fmt.Sprintf(" sorts n columns, a multiple of %[3]d, of %[1]d %[2]v. The least elements are stored at dst, the next ones plane bytes further on, and so on.", size, e, set.bytes()/e.Bytes()))
		dst, plane := arg("dst"), arg("plane")
		rows := make([]reg.Register, size)
		for k := range rows {
			rows[k] = arg(medianNames[k])
		}
		s := &sorter{set, e}
		to := GP64()
		medianLoop(set, e, func(at func(base reg.Register) Mem) {
			v := make([]reg.VecVirtual, size)
			for k := range v {
				v[k] = loaded(set, at(rows[k]))
			}
			for _, c := range networks[size] {
				s.swap(v, c[0], c[1])
			}
			MOVQ(dst, to)
			for k := range v {
				set.store(v[k], at(to))
				if k < size-1 {
					ADDQ(plane, to)
				}
			}
		})
	}
}

// infinities returns a vector of the key of infinity. Only the key of NaN is greater.
func infinities(set isa) reg.VecVirtual {
	v := set.vec()
	set.ones(v)
	VPSRLD(Imm(24), v, v)
	VPSLLD(Imm(23), v, v)
	return v
}

// above returns ones in the lanes of v that are greater than inf. No lane of v is negative. The
// result overwrites inf.
func above(v, inf reg.VecVirtual) reg.VecVirtual {
	VPSUBD(v, inf, inf)
	VPSRAD(Imm(31), inf, inf)
	return inf
}

// flip turns floats into keys, and keys into floats: the lesser of two negative floats has the
// greater bits.
func flip(set isa, v reg.VecVirtual) {
	t := set.vec()
	VPSRAD(Imm(31), v, t)
	VPSRLD(Imm(1), t, t)
	xorBytes(set, t, v, v)
}

// keys emits the conversion of floats to keys.
func keys(set isa, name string) {
	text(name, NOSPLIT, "func(dst, src *byte, n int)", name+fmt.Sprintf(" is, for n a multiple of %d,", set.bytes()/4), "",
		"\tfor i := range n {", "\t\tbits := int32(math.Float32bits(src[i]))", "\t\tif src[i] != src[i] {", "\t\t\tbits = 0x7fc00000", "\t\t}",
		"\t\tdst[i] = bits ^ bits>>31&0x7fffffff", "\t}")
	dst, src := arg("dst"), arg("src")
	inf := infinities(set)
	medianLoop(set, f32, func(at func(base reg.Register) Mem) {
		v, size, limit := loaded(set, at(src)), set.vec(), set.vec()
		VPSLLD(Imm(1), v, size)
		VPSRLD(Imm(1), size, size)
		move(set, inf, limit)
		nan := above(size, limit)
		andNot(set, nan, v, v)
		VPSRLD(Imm(23), nan, nan)
		VPSLLD(Imm(22), nan, nan)
		VPADDD(nan, v, v)
		flip(set, v)
		set.store(v, at(dst))
	})
}

// medians emits the medians of windows over sorted columns, each step bytes from the next. Medians
// of keys are stored as floats, and as NaN if the window has one.
func medians(size int, e elem) func(set isa, name string) {
	return func(set isa, name string) {
		doc := fmt.Sprintf("%s computes the medians of %d sorted columns of %d %v each. n is a multiple of %d.", name, size, size, e, set.bytes()/e.Bytes())
		if e == i32 {
			doc += " The columns hold the keys of floats, and dst takes floats: NaN if a window has one."
		}
		text(name, NOSPLIT, "func(dst, src *byte, plane, step, n int)", doc)
		dst, src, plane, step := arg("dst"), arg("src"), arg("plane"), arg("step")
		s := &sorter{set, e}
		from := GP64()
		medianLoop(set, e, func(at func(base reg.Register) Mem) {
			row := func(k int) []reg.VecVirtual {
				MOVQ(src, from)
				for range k {
					ADDQ(plane, from)
				}
				v := make([]reg.VecVirtual, size)
				for j := range v {
					if j > 0 {
						ADDQ(step, from)
					}
					v[j] = loaded(set, at(from))
				}
				return v
			}
			var m reg.VecVirtual
			if size == 3 {
				m = s.of3(row)
			} else {
				m = s.of5(row)
			}
			if e == i32 {
				inf := infinities(set)
				most := row(size - 1)
				for _, v := range most[1:] {
					s.most(v, most[0], most[0])
				}
				s.most(inf, most[0], most[0])
				nan := above(most[0], inf)
				andNot(set, nan, m, m)
				andBytes(set, nan, most[0], nan)
				VPADDD(nan, m, m)
				flip(set, m)
			}
			set.store(m, at(dst))
		})
	}
}

// of3 returns the median of the greatest minimum, the median of the medians, and the least maximum.
func (s *sorter) of3(row func(k int) []reg.VecVirtual) reg.VecVirtual {
	low := row(0)
	s.most(low[0], low[1], low[0])
	s.most(low[0], low[2], low[0])
	high := row(2)
	s.least(high[0], high[1], high[0])
	s.least(high[0], high[2], high[0])
	return s.dropBoth([]reg.VecVirtual{low[0], s.dropBoth(row(1))[0], high[0]})[0]
}

func (s *sorter) of5(row func(k int) []reg.VecVirtual) reg.VecVirtual {
	left := s.dropBoth(row(2))
	left = append(left[:3:3], s.dropLeast(s.dropLeast(row(1)))...)
	four := s.dropMost(s.dropMost(row(3)))
	left = append(s.dropBoth(append(left[:6:6], four[:2]...)), four[2])
	left = s.dropBoth(left)
	for _, k := range []int{0, 4} {
		v := row(k)
		for range 3 {
			if k == 0 {
				v = s.dropLeast(v)
			} else {
				v = s.dropMost(v)
			}
		}
		for _, one := range v {
			left = s.dropBoth(append(left[:len(left):len(left)], one))
		}
	}
	return left[0]
}

// halve emits a kernel that averages 2×2 bytes.
func halve(set isa, name string) {
	lanes := set.bytes() / 2
	text(name, NOSPLIT, "func(dst, a, b *byte, n int)", name+fmt.Sprintf(" is, for n a multiple of %d,", lanes), "",
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
