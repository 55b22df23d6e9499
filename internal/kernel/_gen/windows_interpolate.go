package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// interpolate maps bytes by four tables at once, whose entries are the bytes of 32-bit words.
func interpolate(set isa, name string) {
	lanes := set.bytes() / 4
	text(name, NOSPLIT, "func(dst, src, table, across *byte, n int, down, up, one float32)",
		name+fmt.Sprintf(" computes, for n a multiple of %d, with all operations in float32,", lanes), "", "\tfor i := range n {",
		"\t\tv, right := table[src[i]], across[i]", "\t\tleft := one - right",
		"\t\tabove := (v&255)*left + (v>>8&255)*right", "\t\tbelow := (v>>16&255)*left + (v>>24)*right",
		"\t\tdst[i] = round(above*up + below*down)", "\t}")
	dst, src, table, across, n, i := arg("dst"), arg("src"), arg("table"), arg("across"), arg("n"), GP64()
	single := func(name string) reg.VecVirtual {
		v := set.vec()
		VBROADCASTSS(param(name), v)
		return v
	}
	down, up, one := single("down"), single("up"), single("one")
	loopTo(i, n, I32(lanes), func() {
		index, words := set.vec(), set.vec()
		VPMOVZXBD(Mem{Base: src, Index: i, Scale: 1}, index)
		at := Mem{Base: table, Index: index, Scale: 4}
		all := set.vec()
		if wide(set) {
			k := K()
			KXNORW(k, k, k)
			VPGATHERDD(at, k, words)
		} else {
			VPCMPEQD(all, all, all)
			VPGATHERDD(all, at, words)
		}
		// entry returns a byte of the words as float32.
		entry := func(k int) reg.VecVirtual {
			v := words
			if k < 3 {
				v = set.vec()
				VPSLLD(Imm(uint64(24-8*k)), words, v)
			}
			to := set.vec()
			VPSRLD(Imm(24), v, to)
			VCVTDQ2PS(to, to)
			return to
		}
		right, left := loaded(set, Mem{Base: across, Index: i, Scale: 4}), set.vec()
		VSUBPS(right, one, left)
		between := func(a, b, x, y reg.VecVirtual) reg.VecVirtual {
			VMULPS(x, a, a)
			VMULPS(y, b, b)
			VADDPS(b, a, a)
			return a
		}
		above, below := between(entry(0), entry(1), left, right), between(entry(2), entry(3), left, right)
		v := between(above, below, up, down)
		VCVTPS2DQ(v, v)
		narrow(set, u8, v, Mem{Base: dst, Index: i, Scale: 1})
	})
	leave()
}
