package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// All levels share the kernels that select valid pixels, because these take little time compared
// with the sums.

// A selectVariant is one of the kernels (see kernel.selectKind) for pixels of a given size.
type selectVariant struct {
	bytes     int // of a pixel
	mask, nan bool
}

var selectVariants = []selectVariant{
	{1, true, false}, {2, true, false}, {4, true, false}, {8, true, false},
	{4, false, true}, {8, false, true}, {4, true, true}, {8, true, true},
}

func (k selectVariant) name() string {
	name := fmt.Sprintf("select%d", 8*k.bytes)
	if k.mask {
		name += "Mask"
	}
	if k.nan {
		name += "NaN"
	}
	return name
}

// pixels returns the number of pixels that the kernel takes at a time.
func (k selectVariant) pixels() int { return map[int]int{1: 32, 2: 16, 4: 32, 8: 8}[k.bytes] }

func valid(set isa) {
	for _, k := range selectVariants {
		selectKernel(set, k)
	}
}

func selectKernel(set isa, k selectVariant) {
	name := k.name() + set.name()
	condition := map[[2]bool]string{
		{true, false}: "mask[i] != 0", {false, true}: "from[i] == from[i]", {true, true}: "mask[i] != 0 && from[i] == from[i]",
	}[[2]bool{k.mask, k.nan}]
	text(name, NOSPLIT, "func(to, valid, from, mask, fill *byte, n, ahead, maskAhead int)",
		name+fmt.Sprintf(" computes, for %d-bit pixels and n a multiple of %d,", 8*k.bytes, k.pixels()),
		"",
		"\tfor i := range n {",
		"\t\tto[i], valid[i] = *fill, 0",
		"\t\tif "+condition+" {",
		"\t\t\tto[i], valid[i] = from[i], 1",
		"\t\t}",
		"\t}",
		"",
		"and prefetches pixels and mask at the distances ahead and maskAhead in bytes.")
	to, valid, from, left := arg("to"), arg("valid"), arg("from"), arg("n")
	ahead := arg("ahead")
	var mask, maskAhead reg.Register
	if k.mask {
		mask, maskAhead = arg("mask"), arg("maskAhead")
	}
	zero, one, fill := YMM(), YMM(), YMM()
	filling := Mem{Base: arg("fill")}
	VPXOR(zero, zero, zero)
	VPCMPEQB(one, one, one)
	VPABSB(one, one)
	switch k.bytes {
	case 1:
		VPBROADCASTB(filling, fill)
	case 2:
		VPBROADCASTW(filling, fill)
	case 4:
		VPBROADCASTD(filling, fill)
	case 8:
		VPBROADCASTQ(filling, fill)
	}
	var inOrder reg.VecVirtual
	if k.bytes == 4 {
		inOrder = YMM()
		VMOVDQU(constants{}.mem(name+"Order", 4<<32, 5<<32|1, 6<<32|2, 7<<32|3), inOrder)
	}
	Label("loop")
	var invalid []reg.VecVirtual // all ones in the lanes of invalid pixels
	for v := range k.pixels() * k.bytes / 32 {
		p, bad := YMM(), YMM()
		VMOVDQU(Mem{Base: from, Disp: 32 * v}, p)
		if v%2 == 0 { // once per cache line, or twice
			PREFETCHT0(Mem{Base: from, Disp: 32 * v, Index: ahead, Scale: 1})
		}
		if k.mask && v == 0 {
			PREFETCHT0(Mem{Base: mask, Index: maskAhead, Scale: 1})
		}
		if k.mask {
			k.masked(Mem{Base: mask, Disp: v * 32 / k.bytes}, zero, bad)
		}
		if k.nan {
			nan := bad
			if k.mask {
				nan = YMM()
			}
			const unordered = 3
			if k.bytes == 4 {
				VCMPPS(Imm(unordered), p, p, nan)
			} else {
				VCMPPD(Imm(unordered), p, p, nan)
			}
			if k.mask {
				VPOR(nan, bad, bad)
			}
		}
		VPBLENDVB(bad, fill, p, p)
		VMOVDQU(p, Mem{Base: to, Disp: 32 * v})
		invalid = append(invalid, bad)
	}
	k.storeValid(invalid, one, inOrder, Mem{Base: valid})
	ADDQ(I8(k.pixels()), valid)
	if k.mask {
		ADDQ(I8(k.pixels()), mask)
	}
	ADDQ(I32(k.pixels()*k.bytes), from)
	ADDQ(I32(k.pixels()*k.bytes), to)
	SUBQ(I8(k.pixels()), left)
	JNZ(LabelRef("loop"))
	leave()
}

// masked sets the lanes of bad to all ones where the pixel's byte of the mask is zero.
func (k selectVariant) masked(m Mem, zero, bad reg.VecVirtual) {
	switch k.bytes {
	case 1:
		VPCMPEQB(m, zero, bad)
	case 2:
		VPMOVZXBW(m, bad)
		VPCMPEQW(bad, zero, bad)
	case 4:
		VPMOVZXBD(m, bad)
		VPCMPEQD(bad, zero, bad)
	case 8:
		VPMOVZXBQ(m, bad)
		VPCMPEQQ(bad, zero, bad)
	}
}

// storeValid writes a byte of 0 for every lane that is all ones, and a byte of 1 for the others. It
// adds 1 to the lanes, which are -1 or 0.
func (k selectVariant) storeValid(bad []reg.VecVirtual, one, inOrder reg.VecVirtual, m Mem) {
	all := bad[0]
	switch k.bytes {
	case 1:
		VPADDB(all, one, all)
		VMOVDQU(all, m)
		return
	case 4:
		VPACKSSDW(bad[1], all, all)
		VPACKSSDW(bad[3], bad[2], bad[2])
		VPACKSSWB(bad[2], all, all)
		VPERMD(all, inOrder, all)
		VPADDB(all, one, all)
		VMOVDQU(all, m)
		return
	}
	half := func(v reg.VecVirtual) (low, high reg.VecVirtual) {
		high = XMM()
		VEXTRACTI128(Imm(1), v, high)
		return v.AsX().(reg.VecVirtual), high
	}
	low, high := half(all)
	if k.bytes == 2 {
		VPACKSSWB(high, low, low)
		VPADDB(low, one.AsX(), low)
		VMOVDQU(low, m)
		return
	}
	low2, high2 := half(bad[1])
	VSHUFPS(Imm(0x88), high, low, low) // one dword of each pixel
	VSHUFPS(Imm(0x88), high2, low2, low2)
	VPACKSSDW(low2, low, low)
	VPACKSSWB(low, low, low)
	VPADDB(low, one.AsX(), low)
	VMOVQ(low, m)
}
