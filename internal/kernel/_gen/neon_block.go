package main

import (
	"fmt"
	"slices"
)

// Floats are added in the order of the portable loop: each block of 32 bytes is summed by doubling
// shifts, and then the sum of the previous blocks is added. A cache line contains two blocks.

// shifted reports whether an offset is subtracted from the pixels.
func (k *neonLine) shifted() bool { return k.sum == f32 && !k.plain }

// fused reports whether a row's sum is added by a fused multiply-add with the factor 1, which reads
// the sum from a lane of a vector. It is rounded like an addition.
func (k *neonLine) fused() bool { return k.channels == 1 }

func (k *neonLine) setupBlocks() {
	fix := func() vreg {
		v := k.take()
		k.fixed = append(k.fixed, v)
		return v
	}
	k.null = fix()
	k.zero(k.null)
	if k.fused() {
		k.one = fix()
		if k.sum == f32 {
			k.emit("MOVD $0x3f800000, R2")
		} else {
			k.emit("MOVD $0x3ff0000000000000, R2")
		}
		k.emit("VDUP R2, %s", k.one.arranged(lanes[k.sum.Bytes()]))
	}
	if k.shifted() {
		k.offset = fix()
		k.emit("MOVWU %s, %s", k.at["offset"], regOffset)
		k.emit("VDUP %s, %s", regOffset, k.offset.arranged("S4"))
	}
	if k.channels == 3 && k.sum == f32 {
		// These shuffle indices find, among the last four sums, those from which the next eight
		// lanes continue.
		for first := range 2 {
			v, words := fix(), [2]uint64{}
			for lane := range 4 {
				from := uint64(4 * (1 + (first+lane)%3))
				words[lane/2] |= (from | (from+1)<<8 | (from+2)<<16 | (from+3)<<24) << (32 * (lane % 2))
			}
			k.emit("VMOVQ $0x%016x, $0x%016x, V%d", words[0], words[1], v)
			k.phases = append(k.phases, v)
		}
	}
}

// beginBlocks loads the sums from which a row continues: one vector for both halves of a block, or
// one for each half.
func (k *neonLine) beginBlocks(r, at int) {
	size := k.sum.Bytes()
	c := k.takes(1)
	if k.channels == 3 || k.channels*size == 32 {
		c = append(c, k.take())
	}
	k.carry[r] = c
	k.emit("FMOVQ %d(%s), F%d", at, regCarry, c[0])
	switch {
	case k.channels == 1:
		k.dup(size, c[0], c[0], 0)
	case k.channels == 2 && size == 4:
		k.dup(8, c[0], c[0], 0)
	case k.channels == 3 && size == 4:
		t := k.take()
		k.ext(t, c[0], c[0], 12)
		k.lastThree(c, t)
		k.release(t)
	case k.channels == 3:
		k.emit("FMOVQ %d(%s), F%d", at+16, regCarry, c[1])
		k.three("VZIP1", "D2", c[1], c[1], c[0])
	case k.channels*size == 32:
		k.emit("FMOVQ %d(%s), F%d", at+16, regCarry, c[1])
	}
}

// endBlocks stores the carry for the tile on the right.
func (k *neonLine) endBlocks(r, at int) {
	c, size := k.carry[r], k.sum.Bytes()
	if k.fused() {
		k.dup(size, c[0], c[0], 16/size-1)
	}
	for slot := range (k.channels*size + 15) / 16 {
		k.emit("FMOVQ F%d, %d(%s)", c[slot], at+16*slot, regCarry)
	}
}

// lastThree sets c to the vectors from which a block of three channels continues, given the last
// four sums.
func (k *neonLine) lastThree(c []vreg, last vreg) {
	for i, phase := range k.phases {
		k.emit("VTBL %s, [%s], %s", phase.arranged("B16"), last.arranged("B16"), c[i].arranged("B16"))
	}
}

// blockSums adds one cache line of a row's sums to the row above.
func (k *neonLine) blockSums(r int) {
	p, c, wide := k.values(r), k.carry[r], k.sum.Bytes()
	last := c[0] // of the previous block
	for b := 0; b < vectors; b += 2 {
		low, high := p[b], p[b+1]
		add := func(d, n, m vreg) { k.addVectors(k.sum, d, n, m) }
		if !k.fused() {
			k.doubling(high, low, high)
		}
		switch {
		case k.fused():
			to, name := high, "fmla.s3"
			if wide == 8 {
				name = "fmla.d1"
			}
			if b > 0 { // the next line expects its carry in c[0]
				to = c[0]
			}
			k.doubling(to, low, high)
			k.word(name, low, k.one, last)
			k.word(name, to, k.one, last)
			high, last = to, to
		case k.channels*wide == 16: // the next block continues from these sums as they are
			add(low, low, c[0])
			add(c[0], high, c[0])
			high = c[0]
		case k.channels*wide == 32:
			add(c[0], low, c[0])
			add(c[1], high, c[1])
			low, high = c[0], c[1]
		case k.channels == 3:
			add(low, low, c[0])
			add(high, high, c[1])
			if wide == 4 {
				k.lastThree(c, high)
			} else {
				k.ext(c[0], low, high, 8)
				k.three("VZIP2", "D2", c[1], high, low)
			}
		default: // two channels of 4 bytes
			add(low, low, c[0])
			add(high, high, c[0])
			k.dup(8, c[0], high, 1)
		}
		k.addAbove(b, low)
		k.addAbove(b+1, high)
	}
	k.release(p...)
}

// doubling sums a block by doubling shifts. The last step leaves the upper half in register to.
func (k *neonLine) doubling(to, low, high vreg) {
	t, size := k.take(), k.sum.Bytes()
	for shift := k.channels * size; shift < 32; shift *= 2 {
		d := high
		if 2*shift >= 32 {
			d = to
		}
		switch {
		case shift < 16:
			k.ext(t, low, high, 16-shift)
			k.addVectors(k.sum, d, high, t)
			k.ext(t, k.null, low, 16-shift)
			k.addVectors(k.sum, low, low, t)
		case shift == 16:
			k.addVectors(k.sum, d, high, low)
		default:
			k.ext(t, k.null, low, 32-shift)
			k.addVectors(k.sum, d, high, t)
		}
	}
	k.release(t)
}

// values loads a line of pixels, converts them to sums, squared if the kernel sums squares, and
// advances src to the next line.
func (k *neonLine) values(r int) (p []vreg) {
	bytes := k.lineLen() * k.pix.Bytes()
	x := k.takes(max(1, bytes/16))
	if k.halfVector() {
		k.emit("FMOVD.P 8(%s), F%d", regSrcRows[r], x[0])
	} else {
		k.load(regSrcRows[r], x...)
	}
	squared := false
	switch {
	case k.pix == k.sum:
		p = x
	case k.pix == f32: // to float64
		for _, v := range x {
			low := k.take()
			k.word("fcvtl", low, v)
			k.word("fcvtl2", v, v)
			p = append(p, low, v)
		}
	default:
		p, squared = k.numbers(x)
		for _, v := range p {
			if k.sum.Float() {
				k.convert(v, v)
			}
		}
	}
	if k.square && !squared {
		for _, v := range p {
			k.word("fmul.2d", v, v, v)
		}
	}
	if k.shifted() {
		k.takeOffset(r, p)
	}
	return p
}

// numbers returns the pixels p as integers in lanes of the size of sums. It squares them if the
// squares are exact.
func (k *neonLine) numbers(p []vreg) (wide []vreg, squared bool) {
	size, signed := k.pix.Bytes(), k.pix.Signed()
	if squared = k.square && (size <= 2 || !k.sum.Float()); squared {
		for _, v := range p {
			wide = append(wide, k.squares(v)...)
		}
		p, wide, size, signed = wide, nil, 2*size, false
	}
	for ; size < k.sum.Bytes(); size *= 2 {
		for _, v := range p {
			if size == 1 && k.halfVector() {
				k.emit("VUXTL %s, %s", v.arranged("B8"), v.arranged("H8"))
				wide = append(wide, v)
				continue
			}
			wide = append(wide, k.wider(v, size, signed)...)
		}
		p, wide = wide, nil
	}
	return p, squared
}

// takeOffset subtracts the offset from the pixels, unless it is zero.
func (k *neonLine) takeOffset(r int, p []vreg) {
	there, back := fmt.Sprintf("%sOffset%d", k.prefix, r), fmt.Sprintf("%sPlain%d", k.prefix, r)
	k.emit("CBNZ %s, %s", regOffset, there)
	k.label(back)
	pixels := slices.Clone(p)
	k.outside = append(k.outside, func() {
		k.label(there)
		for _, v := range pixels {
			k.word("fsub.4s", v, v, k.offset)
		}
		k.emit("B %s", back)
	})
}
