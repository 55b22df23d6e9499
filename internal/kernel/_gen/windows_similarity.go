package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// distances emits a loop over the absolute differences of elements.
func distances(of elem) func(set isa, name string) {
	return func(set isa, name string) {
		text(name, NOSPLIT, "func(dst, a, b *byte, n int)", name+fmt.Sprintf(" computes, for n bytes, a multiple of %d,", set.bytes()), "",
			"\tfor i := range n {", "\t\tdst[i] = max(a[i], b[i]) - min(a[i], b[i])", "\t}")
		less, more, subtract := VPMINUB, VPMAXUB, VPSUBB
		if of == u16 {
			less, more, subtract = VPMINUW, VPMAXUW, VPSUBW
		}
		dst, a, b, n, i := arg("dst"), arg("a"), arg("b"), arg("n"), GP64()
		loopTo(i, n, I32(set.bytes()), func() {
			v, least, m := loaded(set, Mem{Base: a, Index: i, Scale: 1}), set.vec(), Mem{Base: b, Index: i, Scale: 1}
			less(m, v, least)
			more(m, v, v)
			subtract(least, v, v)
			set.store(v, Mem{Base: dst, Index: i, Scale: 1})
		})
		leave()
	}
}

// similarityUnit is the number of windows of a round.
const similarityUnit = 16

// windowSums emits a loop over the sums of windows: of x, y, x², y² and (x-y)². score computes what is stored of half a vector, from x*y,
// covariances and variances, which it finds as 32-bit integers that make makes.
func windowSums(set isa, signature string, doc []string, name string, make func(n reg.VecVirtual, sums []reg.VecVirtual) []reg.VecVirtual, constants []string,
	score func(constants []reg.VecVirtual, numbers []reg.VecVirtual) reg.VecVirtual) {
	text(name, NOSPLIT, signature, append([]string{name + fmt.Sprintf(" computes, for n a multiple of %d,", similarityUnit), ""}, doc...)...)
	scores, sums, n, i, row := arg("scores"), arg("sums"), arg("n"), GP64(), GP64()
	count := set.vec()
	VPBROADCASTD(wordArg("count"), count)
	var numbers []reg.VecVirtual
	for _, c := range constants {
		numbers = append(numbers, broadcast(set, c))
	}
	loopTo(i, n, I32(similarityUnit), func() {
		for at := 0; at < 4*similarityUnit; at += set.bytes() {
			var fields []reg.VecVirtual
			for f := range 5 {
				v := set.vec()
				MOVQ(Mem{Base: sums, Disp: 16 * f}, row)
				set.load(Mem{Base: row, Index: i, Scale: 4, Disp: at}, v)
				MOVQ(Mem{Base: sums, Disp: 16*f + 8}, row)
				VPSUBD(Mem{Base: row, Index: i, Scale: 4, Disp: at}, v, v)
				fields = append(fields, v)
			}
			integers := make(count, fields)
			for half := range 2 {
				var floats []reg.VecVirtual
				for _, v := range integers {
					floats = append(floats, part64(set, v, half))
				}
				set.store(score(numbers, floats), Mem{Base: scores, Index: i, Scale: 8, Disp: 2*at + half*set.bytes()})
			}
		}
	})
	leave()
}

// compareSums computes SSIM.
func compareSums(set isa, name string) {
	windowSums(set, "func(scores *byte, sums **byte, n int, count uint32, c1, c2, factor float64)", []string{
		"\tfor i := range n {", "\t\tx, y, xx, yy, dd := sums[0][i]-sums[1][i], ..., sums[8][i]-sums[9][i]",
		"\t\tcovariance, variances := count*(xx+yy-dd)-2*x*y, count*(xx+yy)-x*x-y*y",
		"\t\tscores[i] = (2*x*y + c1) * (factor*covariance + c2) / ((x*x + y*y + c1) * (factor*variances + c2))", "\t}", "",
		"with sums and products that fit in 31 bits."}, name,
		func(count reg.VecVirtual, v []reg.VecVirtual) []reg.VecVirtual {
			x, y, squares, dd := v[0], v[1], v[2], v[4]
			VPADDD(v[3], squares, squares)
			VPSUBD(dd, squares, dd)
			VPMULLD(count, squares, squares)
			VPMULLD(count, dd, dd)
			product := v[3]
			VPMULLD(x, y, product)
			VPMULLD(x, x, x)
			VPMULLD(y, y, y)
			VPADDD(product, product, product)
			VPADDD(x, y, y)
			VPSUBD(product, dd, dd)
			VPSUBD(y, squares, squares)
			return []reg.VecVirtual{product, y, dd, squares}
		}, []string{"c1", "c2", "factor"},
		func(c, v []reg.VecVirtual) reg.VecVirtual {
			for k := range 2 { // top and bottom
				VADDPD(c[0], v[k], v[k])
				VMULPD(c[2], v[2+k], v[2+k])
				VADDPD(c[1], v[2+k], v[2+k])
				VMULPD(v[2+k], v[k], v[k])
			}
			VDIVPD(v[1], v[0], v[0])
			return v[0]
		})
}

// correlateSums computes LNCC.
func correlateSums(set isa, name string) {
	windowSums(set, "func(scores *byte, sums **byte, n int, count uint32, inverse, half, least float64)", []string{
		"\tfor i := range n {", "\t\tx, y, xx, yy, dd := sums[0][i]-sums[1][i], ..., sums[8][i]-sums[9][i]",
		"\t\tc := max((count*(xx+yy-dd)-2*x*y)*half, least)",
		"\t\ta, b := max((count*xx-x*x)*inverse, least), max((count*yy-y*y)*inverse, least)",
		"\t\tscores[i] = (c / a) * (c / b)", "\t}", "", "with sums and products that fit in 31 bits."}, name,
		func(count reg.VecVirtual, v []reg.VecVirtual) []reg.VecVirtual {
			x, y, xx, yy, dd := v[0], v[1], v[2], v[3], v[4]
			product := set.vec()
			VPSUBD(dd, xx, dd)
			VPADDD(yy, dd, dd)
			VPMULLD(count, dd, dd)
			VPMULLD(x, y, product)
			VPADDD(product, product, product)
			VPSUBD(product, dd, dd)
			VPMULLD(count, xx, xx)
			VPMULLD(count, yy, yy)
			VPMULLD(x, x, x)
			VPMULLD(y, y, y)
			VPSUBD(x, xx, xx)
			VPSUBD(y, yy, yy)
			return []reg.VecVirtual{dd, xx, yy}
		}, []string{"inverse", "half", "least"},
		func(c, v []reg.VecVirtual) reg.VecVirtual {
			VMULPD(c[1], v[0], v[0])
			for k, number := range v {
				if k > 0 {
					VMULPD(c[0], number, number)
				}
				VMAXPD(c[2], number, number)
			}
			VDIVPD(v[1], v[0], v[1])
			VDIVPD(v[2], v[0], v[2])
			VMULPD(v[2], v[1], v[1])
			return v[1]
		})
}
