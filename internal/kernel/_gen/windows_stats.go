package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// statsAhead is the prefetch distance of results in bytes.
const statsAhead = 1024

// boxStats emits a loop along the column sums of a row and those of squares. If one is set, it
// supports only one channel.
func boxStats(one bool) func(set isa, name string) {
	return func(set isa, name string) {
		lanes := set.bytes() / 4
		text(name, NOSPLIT, "func(mean, dev, hi, lo, hi2, lo2 *byte, n int, carry, carry2, lanes *uint32, count uint32, inverse, inverse2 float32, small, past int)",
			name+fmt.Sprintf(" computes, for n a multiple of %d,", lanes), "", "\tfor i := range n {",
			"\t\tsum[i%channels] += hi[i] - lo[i]", "\t\tsquares[i%channels] += hi2[i] - lo2[i]",
			"\t\tmean[i] = float32(sum[i%channels]) / float32(count)",
			"\t\tdev[i] = sqrt(variance(sum[i%channels], squares[i%channels])) // as in Go", "\t}", "",
			"with the carries holding the sums before and after and small as in [Variances]. If past is set, the stores are",
			"non-temporal, and mean and dev must be aligned to cache lines.")
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

// A varianceOf computes variances of windows from integers.
type varianceOf struct {
	set     isa
	count   reg.VecVirtual
	divisor reg.VecVirtual // the count as float, if there is a register for it
}

func newVariance(set isa) *varianceOf {
	v := &varianceOf{set: set, count: set.vec()}
	VPBROADCASTD(wordArg("count"), v.count)
	if wide(set) {
		v.divisor = set.vec()
		VCVTDQ2PS(v.count, v.divisor)
	}
	return v
}

// single loads a float argument into all lanes.
func (v *varianceOf) single(name string) reg.VecVirtual {
	c := v.set.vec()
	VBROADCASTSS(param(name), c)
	return c
}

// divide divides by the count with a single rounding: it multiplies by the inverse and corrects by
// the remainder times the inverse (Markstein).
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

// small computes (count·squares − sum²)·inverse2 where the difference is an integer below 2^31.
func (v *varianceOf) small(sum, _, squares reg.VecVirtual) reg.VecVirtual {
	VPMULLD(v.count, squares, squares)
	VPMULLD(sum, sum, sum)
	VPSUBD(sum, squares, squares)
	VCVTDQ2PS(squares, squares)
	VMULPS(v.single("inverse2"), squares, squares)
	return squares
}

// centered computes the variance from squared distances to the rounded mean.
func (v *varianceOf) centered(sum, mean, squares reg.VecVirtual) reg.VecVirtual {
	set := v.set
	m, most := set.vec(), set.vec()
	VCVTPS2DQ(mean, m)
	VPMULLD(v.count, m, most)
	VPSUBD(most, sum, most) // the amount by which the sum exceeds that of the rounded mean
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

// doubles converts half a vector of 32-bit integers below 2^31 to float64.
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

func floatMeans(sum elem) func(set isa, name string) {
	return func(set isa, name string) {
		lanes := set.bytes() / 8
		text(name, NOSPLIT, "func(dst, hi, lo *byte, n int, inverse, offset float64)", name+fmt.Sprintf(" computes, for n a multiple of %d,", lanes), "",
			"\tfor i := range n {", "\t\tdst[i] = float32(float64(hi[i]-lo[i])*inverse + offset)", "\t}", "", "rounded after each operation. Integers must be below 2^31, and have no offset.")
		inverse, offset := broadcast(set, "inverse"), broadcast(set, "offset")
		dst, hi, lo, n, i := arg("dst"), arg("hi"), arg("lo"), arg("n"), GP64()
		loopTo(i, n, I32(lanes), func() {
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
		})
		leave()
	}
}

// validMeans emits a loop that divides the sums of valid pixels by their numbers.
func validMeans(to elem) func(set isa, name string) {
	return func(set isa, name string) {
		lanes := set.bytes() / 8
		text(name, NOSPLIT, "func(dst, hi, lo, hiCount, loCount *byte, n int, offset, nan float64)", name+fmt.Sprintf(" computes, for n a multiple of %d,", lanes), "",
			"\tfor i := range n {", "\t\tdst[i] = nan", "\t\tif count := hiCount[i] - loCount[i]; count != 0 {",
			fmt.Sprintf("\t\t\tdst[i] = %v((hi[i]-lo[i])/float64(count) + offset)", to), "\t\t}", "\t}", "", "rounded after each operation. Counts must be below 2^31.")
		offset, nan, zero := broadcast(set, "offset"), broadcast(set, "nan"), zeroed(set)
		dst, hi, lo, n, i := arg("dst"), arg("hi"), arg("lo"), arg("n"), GP64()
		hiCount, loCount := arg("hiCount"), arg("loCount")
		loopTo(i, n, I32(lanes), func() {
			v, less := loaded(set, Mem{Base: hi, Index: i, Scale: 8}), Mem{Base: loCount, Index: i, Scale: 4}
			VSUBPD(Mem{Base: lo, Index: i, Scale: 8}, v, v)
			count := doubles(set, Mem{Base: hiCount, Index: i, Scale: 4}, &less)
			VDIVPD(count, v, v)
			VADDPD(offset, v, v)
			const equal = 0
			if wide(set) {
				none := K()
				VCMPPD(Imm(equal), zero, count, none)
				VMOVAPD(nan, none, v)
			} else {
				VCMPPD(Imm(equal), zero, count, count)
				VBLENDVPD(count, nan, v, v)
			}
			if m := (Mem{Base: dst, Index: i, Scale: uint8(to.Bytes())}); to == f64 {
				set.store(v, m)
			} else {
				singles(set, v, m)
			}
		})
		leave()
	}
}

func variances(set isa, name string) {
	lanes := set.bytes() / 4
	text(name, NOSPLIT, "func(dst, hi, lo, hi2, lo2 *byte, n int, count uint32, inverse, inverse2 float32, small, root int)", name+fmt.Sprintf(" computes, for n a multiple of %d,", lanes), "",
		"\tfor i := range n {", "\t\tdst[i] = variance(hi[i]-lo[i], hi2[i]-lo2[i]) // as in Go", "\t}", "", "or its square root if root is set, with small as in [Variances].")
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
