package main

import "fmt"

// If the order of additions does not matter, a prefix sum of a row can be computed as an earlier
// prefix sum, a whole number of pixels and of vectors to the left, plus the sum of the pixels in
// between, which is a window. So a vector of sums is an earlier vector plus a vector of windows.
// Windows are small numbers that fit narrow lanes, and sums never move between lanes.

// sliding reports whether a kernel adds windows in this way. It can if sums are integers below
// 2^53, because then float64 sums are exact too.
func (k *neonLine) sliding() bool {
	if k.sum == f64 {
		return k.pix == u8 || !k.square && k.pix.Bytes() == 2
	}
	return !k.sum.Float()
}

// window returns the width of the window in pixels: the smallest whose sums fill whole vectors.
func (k *neonLine) window() int {
	pixels := 1
	for k.channels*pixels*k.sum.Bytes()%16 != 0 {
		pixels *= 2
	}
	return pixels
}

// slots returns the number of vectors that the sums of a window occupy.
func (k *neonLine) slots() int { return k.channels * k.window() * k.sum.Bytes() / 16 }

// beginWindows loads the sums from which a row continues, repeated for each channel. Windows treat
// pixels to the left of the tile as zeros.
func (k *neonLine) beginWindows(r, at int) {
	c, size := k.takes(k.slots()), k.sum.Bytes()
	k.carry[r], k.pixels[r] = c, nil
	load := func(v vreg, at int) {
		k.emit("FMOVQ %d(%s), F%d", at, regCarry, v)
		if k.sum == f64 {
			k.word("fcvtzs", v, v)
		}
	}
	load(c[0], at)
	switch {
	case k.channels == 1:
		k.dup(size, c[0], c[0], 0)
	case k.channels == 2 && size == 4:
		k.dup(8, c[0], c[0], 0)
	case k.channels == 3 && size == 4:
		lane := func(d vreg, to int, n vreg, from int) { k.emit("VMOV V%d.S[%d], V%d.S[%d]", n, from, d, to) }
		lane(c[0], 3, c[0], 0)
		k.ext(c[1], c[0], c[0], 4)
		lane(c[1], 3, c[0], 1)
		k.ext(c[2], c[0], c[0], 8)
		lane(c[2], 2, c[0], 1)
		lane(c[2], 3, c[0], 2)
	case k.channels == 3:
		load(c[1], at+16)
		k.ext(c[2], c[0], c[1], 8)
		k.three("VZIP1", "D2", c[1], c[1], c[0])
	case k.channels == 4 && size == 8:
		load(c[1], at+16)
	}
	if k.window() > 1 {
		k.pixels[r] = append(k.pixels[r], k.take())
	}
	if k.window() > 2 {
		k.pixels[r] = append(k.pixels[r], k.takes(k.pairsBefore())...)
	}
	for _, v := range k.pixels[r] {
		k.zero(v)
	}
}

// endWindows stores the sums of the last pixel for the tile on the right.
func (k *neonLine) endWindows(r, at int) {
	c, size := k.carry[r], k.sum.Bytes()
	switch {
	case k.channels == 1:
		k.dup(size, c[0], c[0], 16/size-1)
	case k.channels == 2 && size == 4:
		k.dup(8, c[0], c[0], 1)
	case k.channels == 3 && size == 4:
		k.ext(c[0], c[2], c[2], 4)
	case k.channels == 3:
		k.ext(c[0], c[1], c[2], 8)
		k.ext(c[1], c[2], c[2], 8)
	}
	for slot := range (k.channels*size + 15) / 16 {
		if k.sum == f64 {
			k.convert(c[slot], c[slot])
		}
		k.emit("FMOVQ F%d, %d(%s)", c[slot], at+16*slot, regCarry)
	}
}

// windowSums adds one cache line of a row's sums to the row above. line is its number within an
// iteration.
func (k *neonLine) windowSums(r, line int) {
	bytes, made := k.lineLen()*k.pix.Bytes(), 0
	from := func(v vreg, i int) {
		if k.halfVector() {
			k.emit("FMOVD %d(%s), F%d", line*bytes, regSrcRows[r], v)
		} else {
			k.emit("FMOVQ %d(%s), F%d", line*bytes+16*i, regSrcRows[r], v)
		}
	}
	p := &pairSums{k: k, r: r}
	for i := range max(1, bytes/16) {
		x := k.take()
		from(x, i)
		if k.window() == 1 {
			all, size := []vreg{x}, k.pix.Bytes()
			if k.square {
				all, size = k.squares(x), 2*size
			}
			for _, v := range all {
				made = k.add(r, line, made, v, size)
			}
			continue
		}
		// The pixels one to the left, including one from the previous vector, which is loaded again
		// because x is about to change.
		left, before := k.take(), k.pixels[r][0]
		k.shiftIn(left, before, x)
		from(before, i)
		p.sums(x, left, func(v vreg, size int) {
			if k.window() > 2 {
				v = p.four(v, size)
			}
			made = k.add(r, line, made, v, size)
		})
	}
	k.release(p.temps...)
	if line == k.unit()-1 {
		k.emit("ADD $%d, %s, %s", k.unit()*bytes, regSrcRows[r], regSrcRows[r])
	}
}

// shiftIn sets d to the pixels that are one pixel to the left of those in x.
func (k *neonLine) shiftIn(d, before, x vreg) {
	pixel := k.channels * k.pix.Bytes()
	if !k.halfVector() {
		k.ext(d, before, x, 16-pixel)
		return
	}
	// Eight bytes of the previous vector followed by eight of this one.
	k.emit("VEXT $%d, %s, %s, %s", 8-pixel, x.arranged("B8"), before.arranged("B8"), d.arranged("B8"))
}

// add adds windows to the earlier sums, and the result to the row above. It consumes the register
// of the windows, and returns the number of vectors of the line that are complete.
func (k *neonLine) add(r, line, made int, v vreg, size int) int {
	sum, signed := k.sum.Bytes(), k.pix.Signed() && !k.square
	if 2*size < sum {
		if k.halfVector() && size == 1 {
			k.emit("VUXTL %s, %s", v.arranged("B8"), v.arranged("H8"))
			return k.add(r, line, made, v, 2)
		}
		for _, half := range k.wider(v, size, signed) {
			made = k.add(r, line, made, half, 2*size)
		}
		return made
	}
	for half := range sum / size {
		slot := k.carry[r][(line*vectors+made)%k.slots()]
		switch {
		case size == sum:
			k.three("VADD", lanes[size], slot, slot, v)
		case signed:
			k.word(fmt.Sprintf("saddw%s.%d", []string{"", "2"}[half], size), slot, slot, v)
		case half == 0:
			k.emit("VUADDW %s, %s, %s", v.arranged(halves[size]), slot.arranged(lanes[sum]), slot.arranged(lanes[sum]))
		default:
			k.emit("VUADDW2 %s, %s, %s", v.arranged(lanes[size]), slot.arranged(lanes[sum]), slot.arranged(lanes[sum]))
		}
		if k.sum == f64 {
			t := k.take()
			k.convert(t, slot)
			k.addAbove(made, t)
			k.release(t)
		} else {
			k.addAbove(made, slot)
		}
		made++
	}
	k.release(v)
	return made
}

// pairSums computes the sums of two neighboring pixels of a row, vector by vector.
type pairSums struct {
	k     *neonLine
	r     int
	made  []vreg // vectors of this line
	temps []vreg // the temporary ones among them
}

// sums adds two vectors of pixels, or of their squares, in lanes wide enough for the sums. It
// consumes their registers.
func (p *pairSums) sums(x, left vreg, each func(v vreg, size int)) {
	k, size, name := p.k, p.k.pix.Bytes(), "uaddl"
	a, b := []vreg{x}, []vreg{left}
	if k.square {
		a, b, size = k.squares(x), k.squares(left), 2*size
	} else if k.pix.Signed() {
		name = "saddl"
	}
	for i := range a {
		half := func(name string) { // one half after the other, because each may use a register of the next
			d := p.place(size)
			k.word(fmt.Sprintf("%s.%d", name, size), d, a[i], b[i])
			each(d, 2*size)
		}
		switch {
		case size == k.sum.Bytes():
			d := p.place(size)
			k.three("VADD", lanes[size], d, a[i], b[i])
			each(d, size)
		case k.halfVector() && !k.square:
			half(name)
		default:
			half(name)
			half(name + "2")
		}
	}
	k.release(a...)
	k.release(b...)
}

// place returns the register for the next vector: the one in which the next line expects it, or
// any.
func (p *pairSums) place(size int) vreg {
	k := p.k
	if k.window() == 2 {
		return k.take()
	}
	if size < k.sum.Bytes() {
		size *= 2
	}
	if after := k.lineLen()*size/16 - 1 - len(p.made); after < k.pairsBefore() {
		return k.pixels[p.r][1+after]
	}
	v := k.take()
	p.temps = append(p.temps, v)
	return v
}

// pairsBefore returns the number of vectors of pair sums that extend two pixels to the left of the
// first pixel.
func (k *neonLine) pairsBefore() int {
	size := k.pix.Bytes()
	if size < k.sum.Bytes() {
		size *= 2
	}
	return (2*k.channels*size + 15) / 16
}

// four returns the sums of four pixels, computed from sums of two pixels and those of the two
// pixels before.
func (p *pairSums) four(v vreg, size int) vreg {
	k, i := p.k, len(p.made)
	p.made = append(p.made, v)
	at := func(i int) vreg {
		if i < 0 { // of the previous line
			return k.pixels[p.r][-i]
		}
		return p.made[i]
	}
	back := 2 * k.channels * size
	t, far, some := k.take(), back/16, back%16
	if some == 0 {
		k.three("VADD", lanes[size], t, v, at(i-far))
	} else {
		k.ext(t, at(i-far-1), at(i-far), 16-some)
		k.three("VADD", lanes[size], t, t, v)
	}
	return t
}
