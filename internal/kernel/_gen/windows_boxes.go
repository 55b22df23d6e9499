package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// boxPixels is the number of pixels of a round of boxes, of which n is a multiple.
const boxPixels = 16

// boxes emits a loop that adds up weighted sums of boxes. The sums of the pixels of a round stay in registers while the boxes
// pass.
func boxes(sum, to elem) func(set isa, name string) {
	return func(set isa, name string) {
		text(name, NOSPLIT, "func(dst *byte, corners **byte, weights *byte, n, terms int)", name+fmt.Sprintf(" computes, for n a multiple of %d,", boxPixels), "",
			"\tfor i := range n {", "\t\tsum := 0.0", "\t\tfor k := range terms {", "\t\t\tc := corners[4*k:]",
			"\t\t\tsum += weights[k] * float64((c[0][i]-c[1][i])-(c[2][i]-c[3][i]))", "\t\t}", "\t\tdst[i] = sum", "\t}", "",
			"with signed sums of boxes.")
		dst, corners, weights, n := arg("dst"), arg("corners"), arg("weights"), arg("n")
		i, corner, weight, left, row := GP64(), GP64(), GP64(), GP64(), GP64()
		lanes := set.bytes() / 8 // of float64
		sums, times := make([]reg.VecVirtual, boxPixels/lanes), set.vec()
		loopTo(i, n, I32(boxPixels), func() {
			for v := range sums {
				sums[v] = set.vec()
				set.zero(sums[v])
			}
			MOVQ(corners, corner)
			MOVQ(weights, weight)
			MOVQ(param("terms"), left)
			Label("box")
			subtract := VPSUBD
			if sum == f64 {
				subtract = VSUBPD
			}
			// difference returns the differences of two corners, as vectors of the sums' own type.
			difference := func(first int) []reg.VecVirtual {
				all := make([]reg.VecVirtual, boxPixels*sum.Bytes()/set.bytes())
				for k := range 2 {
					MOVQ(Mem{Base: corner, Disp: 8 * (first + k)}, row)
					for v := range all {
						if m := (Mem{Base: row, Index: i, Scale: uint8(sum.Bytes()), Disp: v * set.bytes()}); k == 0 {
							all[v] = loaded(set, m)
						} else {
							subtract(m, all[v], all[v])
						}
					}
				}
				return all
			}
			below, above := difference(0), difference(2)
			for v := range below {
				subtract(above[v], below[v], below[v])
			}
			VBROADCASTSD(Mem{Base: weight}, times)
			for v, total := range sums {
				var number reg.VecVirtual
				if sum == f64 {
					number = below[v]
				} else {
					number = part64(set, below[v/2], v%2)
				}
				VMULPD(times, number, number)
				VADDPD(number, total, total)
			}
			ADDQ(Imm(32), corner)
			ADDQ(Imm(8), weight)
			DECQ(left)
			JNE(LabelRef("box"))
			for v, total := range sums {
				m := Mem{Base: dst, Index: i, Scale: uint8(to.Bytes()), Disp: v * lanes * to.Bytes()}
				if to == f64 {
					set.store(total, m)
				} else {
					singles(set, total, m)
				}
			}
		})
		leave()
	}
}
