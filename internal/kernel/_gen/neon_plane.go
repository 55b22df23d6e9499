package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/boxsum/boxsum/internal/pairs"
)

// A vector of NEON has 16 bytes. The kernels make a line of sums at a time, four
// vectors, of four rows that share one read of the row above, or of one row. Shifts
// by lanes are part of an instruction, so there is a kernel for every number of
// channels. What is left of a row after whole lines is not theirs.

// neonParts is what the level has a file of each.
var neonParts = map[string]func(*armFile){
	"plane": neonPlane,
}

func neonPlane(f *armFile) {
	for _, o := range neonOps(pairs.Upright) {
		for channels := range neonChannels {
			neonKernel(f, o, channels+1, false)
		}
	}
}

// neonChannels is kernel.FastChannels.
const neonChannels = 4

// neonOps is the kernels of a kind of tables: no instruction of all NEON has dot
// products.
func neonOps(kind pairs.Kinds) []op {
	return slices.DeleteFunc(ops(kind), func(o op) bool { return o.dot })
}

func neonName(o op, channels int, volume bool) string {
	name := fmt.Sprintf("%sx%d", o.name(), channels)
	if volume {
		name += "Volume"
	}
	return name + "NEON"
}

// neonLine is the state of a kernel while it is emitted.
type neonLine struct {
	*armFunc
	op
	channels int
	volume   bool
	prefix   string // of labels

	null    vreg          // zeros
	offset  vreg          // of float32 sums
	one     vreg          // of floats
	phases  []vreg        // how TBL finds the last three sums of 32 bits
	carry   [group][]vreg // what a row's sums go on from, see slots
	over    []vreg        // the row above
	outside []func()      // what is rarely done, emitted after the loop
}

// Registers: the first row of dst and src, and all rows while they are gone through.
const (
	regDst, regSrc             = "R0", "R1"
	regRows, regLines, regLeft = "R10", "R11", "R12"
	regDstStride, regSrcStride = "R13", "R14"
	regAbove, regAboveAt       = "R15", "R16"
	regCarry                   = "R17"
	regOver, regOverStride     = "R23", "R24"
	regOffset                  = "R25"
)

var (
	regDstRows  = [group]string{"R2", "R3", "R4", "R5"}
	regSrcRows  = [group]string{"R6", "R7", "R8", "R9"}
	regOverRows = [group]string{"R19", "R20", "R21", "R22"}
)

func neonKernel(f *armFile, o op, channels int, volume bool) {
	name := neonName(o, channels, volume)
	sum, pix := "*"+o.sum.String(), "*"+o.pix.String()
	args := []armArg{{"dst", sum}, {"dstStride", "int"}, {"src", pix}, {"srcStride", "int"}, {"above", sum}, {"carry", sum}}
	lines := doc(name, o)
	if volume {
		args = append(args, armArg{"over", sum}, armArg{"overStride", "int"})
		lines = volumeDoc(name, o)
	}
	args = append(args, armArg{"rows", "int"}, armArg{"n", "int"}, armArg{"offset", "float32"})
	lines[len(lines)-1] = fmt.Sprintf("for whole cache lines of sums, with %d as channels and strides in bytes.", channels)
	f.function(name, lines, args, func(fn *armFunc) {
		k := &neonLine{armFunc: fn, op: o, channels: channels, volume: volume}
		k.setup()
		k.label("groups")
		k.emit("CMP $%d, %s", group, regRows)
		k.emit("BLT rows")
		k.band("group", group)
		k.emit("B groups")
		k.label("rows")
		k.emit("CBZ %s, done", regRows)
		k.band("row", 1)
		k.emit("B rows")
		for _, emit := range k.outside {
			emit()
		}
		k.label("done")
		k.give(k.over...)
		k.give(k.phases...)
		k.give(k.null)
		if k.fused() {
			k.give(k.one)
		}
		if k.shifted() {
			k.give(k.offset)
		}
	})
}

func (k *neonLine) setup() {
	k.arg("dst", regDst)
	k.arg("src", regSrc)
	k.arg("dstStride", regDstStride)
	k.arg("srcStride", regSrcStride)
	k.arg("above", regAbove)
	k.arg("carry", regCarry)
	k.arg("rows", regRows)
	k.arg("n", regLines)
	k.emit("LSR $%d, %s, %s", log2(k.lineLen()), regLines, regLines)
	if k.volume {
		k.arg("over", regOver)
		k.arg("overStride", regOverStride)
	}
	k.null = k.take()
	k.zero(k.null)
	k.over = k.takes(vectors)
	if k.fused() {
		k.one = k.take()
		if k.sum == f32 {
			k.emit("MOVD $0x3f800000, R2")
		} else {
			k.emit("MOVD $0x3ff0000000000000, R2")
		}
		k.emit("VDUP R2, %s", k.one.as(lanes[k.sum.Bytes()]))
	}
	if k.shifted() {
		k.offset = k.take()
		k.emit("MOVWU %s, %s", k.at["offset"], regOffset)
		k.emit("VDUP %s, %s", regOffset, k.offset.as("S4"))
		k.emit("LSLW $1, %s, %s", regOffset, regOffset) // −0 too takes nothing away
	}
	if k.channels == 3 && k.sum.Bytes() == 4 {
		// Which lanes of the last four sums come next, from the first, second
		// and third element on.
		for _, first := range []int{1, 2, 3}[:k.slots()] {
			v, words := k.take(), [2]uint64{}
			for lane := range 4 {
				from := uint64(4 * ((first-1+lane)%3 + 1))
				words[lane/2] |= (from | (from+1)<<8 | (from+2)<<16 | (from+3)<<24) << (32 * (lane % 2))
			}
			k.emit("VMOVQ $0x%016x, $0x%016x, V%d", words[0], words[1], v)
			k.phases = append(k.phases, v)
		}
	}
}

// vectors is how many a line of sums has.
const vectors = lineBytes / 16

// lineLen is how many sums.
func (o op) lineLen() int { return lineBytes / o.sum.Bytes() }

// shifted reports whether pixels have an offset.
func (k *neonLine) shifted() bool { return k.sum == f32 && !k.plain }

// fused reports whether a row's sum is added by a fused multiplication by one, which
// takes it from a lane of a vector. It rounds as an addition does.
func (k *neonLine) fused() bool { return k.sum.Float() && k.narrow() == 0 && k.channels == 1 }

// narrow is the bytes of lanes that are half as wide as sums, or less, and hold all
// sums of a line by itself; 0 where there are none, or where their order counts. Such
// sums are whole numbers of less than 2^53, so that float64 too is exact.
func (k *neonLine) narrow() int {
	bits := 0
	switch {
	case k.sum == f32 || k.square && k.pix != u8:
		return 0
	case k.pix == u8 && k.square, k.pix == u16, k.pix == i16:
		bits = 16
	case k.pix == u8:
		bits = 8
	default:
		return 0
	}
	for _, size := range []int{2, 4} {
		if bits+int(log2(k.lineLen())) <= 8*size && size < k.sum.Bytes() {
			return size
		}
	}
	return 0
}

// whole is the type that a row's sums are added up in: that of whole numbers where
// order does not count.
func (k *neonLine) whole() elem {
	if k.narrow() != 0 && k.sum == f64 {
		return u64
	}
	return k.sum
}

// slots is how many vectors of sums that rows go on from there are.
func (k *neonLine) slots() int {
	switch {
	case k.channels == 3 && k.narrow() != 0:
		return 3
	case k.channels == 3, k.channels == 4 && k.sum.Bytes() == 8:
		return 2
	}
	return 1
}

// band emits the loop along some rows, and moves on to the rows below.
func (k *neonLine) band(label string, rows int) {
	k.prefix = label
	fan := func(regs [group]string, first, stride string) {
		k.emit("MOVD %s, %s", first, regs[0])
		for r := 1; r < rows; r++ {
			k.emit("ADD %s, %s, %s", stride, regs[r-1], regs[r])
		}
	}
	fan(regDstRows, regDst, regDstStride)
	fan(regSrcRows, regSrc, regSrcStride)
	if k.volume {
		fan(regOverRows, regOver, regOverStride)
	}
	k.emit("MOVD %s, %s", regAbove, regAboveAt)
	k.emit("MOVD %s, %s", regLines, regLeft)
	for r := range rows {
		k.begin(r)
	}

	k.label(label + "Loop")
	k.emit("FLDPQ (%s), (F%d, F%d)", regAboveAt, k.over[0], k.over[1])
	k.emit("FLDPQ 32(%s), (F%d, F%d)", regAboveAt, k.over[2], k.over[3])
	for r := range rows {
		k.row(r)
	}
	k.store(regAboveAt, k.over)
	k.emit("SUB $1, %s, %s", regLeft, regLeft)
	k.emit("CBNZ %s, %sLoop", regLeft, label)

	for r := range rows {
		k.end(r)
	}
	next := func(first, stride string) {
		if rows == 1 {
			k.emit("ADD %s, %s, %s", stride, first, first)
		} else {
			k.emit("ADD %s<<%d, %s, %s", stride, log2(rows), first, first)
		}
	}
	next(regDst, regDstStride)
	next(regSrc, regSrcStride)
	if k.volume {
		next(regOver, regOverStride)
	}
	k.emit("ADD $%d, %s, %s", rows*carryLen*k.sum.Bytes(), regCarry, regCarry)
	k.emit("SUB $%d, %s, %s", rows, regRows, regRows)
}

// begin loads what a row goes on from.
func (k *neonLine) begin(r int) {
	c, size, at := k.takes(k.slots()), k.sum.Bytes(), r*carryLen*k.sum.Bytes()
	k.carry[r] = c
	k.emit("FMOVQ %d(%s), F%d", at, regCarry, c[0])
	exact := func(v vreg) {
		if k.whole() != k.sum {
			k.word("fcvtzs", v, v)
		}
	}
	exact(c[0])
	switch {
	case k.channels == 1:
		k.dup(size, c[0], c[0], 0)
	case k.channels == 2 && size == 4:
		k.dup(8, c[0], c[0], 0)
	case k.channels == 3 && size == 4:
		t := k.take()
		k.ext(t, c[0], c[0], 12)
		k.next(c, t)
		k.give(t)
	case k.channels == 3:
		t := k.take()
		k.emit("FMOVQ %d(%s), F%d", at+16, regCarry, t)
		exact(t)
		if len(c) == 3 {
			k.ext(c[2], c[0], t, 8)
		}
		k.three("VZIP1", "D2", c[1], t, c[0])
		k.give(t)
	case k.channels == 4 && size == 8:
		k.emit("FMOVQ %d(%s), F%d", at+16, regCarry, c[1])
		exact(c[1])
	}
}

// end stores it for the tile on the right.
func (k *neonLine) end(r int) {
	c, size, at := k.carry[r], k.sum.Bytes(), r*carryLen*k.sum.Bytes()
	if k.fused() {
		k.dup(size, c[0], c[0], 16/size-1)
	}
	for slot := range (k.channels*size + 15) / 16 {
		if k.whole() != k.sum {
			k.convert(c[slot], c[slot])
		}
		k.emit("FMOVQ F%d, %d(%s)", c[slot], at+16*slot, regCarry)
	}
	k.give(c...)
}

// convert makes floats of whole numbers.
func (k *neonLine) convert(d, n vreg) {
	name := "ucvtf"
	if k.pix.Signed() {
		name = "scvtf"
	}
	if k.sum == f32 {
		k.word(name+".4s", d, n)
	} else {
		k.word(name+".2d", d, n)
	}
}

// next makes the vectors of the last three sums, in the order in which they are added,
// from one of four.
func (k *neonLine) next(c []vreg, last vreg) {
	for i, phase := range k.phases {
		k.emit("VTBL %s, [%s], %s", phase.as("B16"), last.as("B16"), c[i].as("B16"))
	}
}

// row emits a line of a row, laid on the row above.
func (k *neonLine) row(r int) {
	if k.narrow() != 0 {
		k.narrowSums(r)
	} else {
		k.blockSums(r)
	}
	if !k.volume {
		k.store(regDstRows[r], k.over)
		return
	}
	t := k.takes(vectors)
	k.emit("FLDPQ (%s), (F%d, F%d)", regOverRows[r], t[0], t[1])
	k.emit("FLDPQ 32(%s), (F%d, F%d)", regOverRows[r], t[2], t[3])
	for v := range t {
		k.addVectors(k.sum, t[v], t[v], k.over[v])
	}
	k.store(regOverRows[r], t)
	k.store(regDstRows[r], t)
	k.give(t...)
}

// lay lays a vector of a row's sums on the row above.
func (k *neonLine) lay(v int, s vreg) { k.addVectors(k.sum, k.over[v], k.over[v], s) }

// narrowSums lays a line of a row's sums on the row above, added up in narrow lanes
// first.
func (k *neonLine) narrowSums(r int) {
	size := k.narrow()
	var p []vreg
	if k.pix == u8 && k.lineLen() == 16 && k.channels == 1 {
		p = k.pairSums(r)
	} else {
		p = k.widened(r, size)
		k.doubling(p, size, u64)
	}
	if size == 2 && k.sum.Bytes() == 8 {
		p, size = k.wider(p, 2, false), 4
	}

	// Every vector of sums goes on from a slot; the last ones are written where
	// they stay for the next line.
	c, wide := k.carry[r], k.sum.Bytes()
	sums, temps := []vreg{-1, -1, -1, -1}, []vreg(nil)
	switch { // sums that are what the next line goes on from
	case k.channels*wide == 16:
		sums[3] = c[0]
	case k.channels*wide == 32:
		sums[2], sums[3] = c[0], c[1]
	case k.channels == 3 && wide == 8:
		sums[3] = c[2]
	}
	for v := range sums {
		if sums[v] < 0 {
			sums[v] = k.take()
			temps = append(temps, sums[v])
		}
		k.addWide(size, sums[v], c[v%len(c)], p[v/2], v%2 == 1)
	}
	k.give(p...)
	switch {
	case k.channels == 1:
		k.dup(wide, c[0], sums[3], 16/wide-1)
	case k.channels == 2 && wide == 4:
		k.dup(8, c[0], sums[3], 1)
	case k.channels == 3 && wide == 4:
		k.next(c, sums[3])
	case k.channels == 3:
		k.ext(c[0], sums[2], sums[3], 8)
		k.three("VZIP2", "D2", c[1], sums[3], sums[2])
	}
	if k.whole() != k.sum {
		for v, s := range sums {
			if slices.Contains(c, s) {
				sums[v] = k.take()
				temps = append(temps, sums[v])
			}
			k.convert(sums[v], s)
		}
	}
	for v, s := range sums {
		k.lay(v, s)
	}
	k.give(temps...)
}

// pairSums is two vectors of the sums of 16 bytes of one channel, in 16 bits. Sums up
// to every other byte come from those of pairs, and the rest by taking bytes away.
func (k *neonLine) pairSums(r int) []vreg {
	x := k.take()
	k.load(regSrcRows[r], x)
	p := k.takes(2)
	even, odd := p[0], p[1]
	k.word("uaddlp", odd, x)
	k.doubling([]vreg{odd}, 2, u64)
	k.emit("VUSHR $8, %s, %s", x.as("H8"), x.as("H8"))
	k.three("VSUB", "H8", x, odd, x)
	k.three("VZIP1", "H8", even, x, odd)
	k.three("VZIP2", "H8", odd, x, odd)
	k.give(x)
	return p
}

// doubling adds up vectors of these lanes by doubling shifts, each over all of them.
func (k *neonLine) doubling(p []vreg, size int, sum elem) {
	k.doublingTo(p[len(p)-1], p, size, sum)
}

// doublingTo is the same with the last vector in another place in the end.
func (k *neonLine) doublingTo(to vreg, p []vreg, size int, sum elem) {
	t, perVector, last := k.take(), 16/size, len(p)-1
	for shift := k.channels; shift < len(p)*perVector; shift *= 2 {
		add := func(v int, m vreg) {
			d := p[v]
			if v == last && 2*shift >= len(p)*perVector {
				d = to
			}
			if sum.Float() {
				k.addVectors(sum, d, p[v], m)
			} else {
				k.three("VADD", lanes[size], d, p[v], m)
			}
		}
		for v := len(p) - 1; v >= 0; v-- {
			from := v*perVector - shift
			if from <= -perVector {
				continue
			}
			q := (from + perVector) / perVector // of the second of two vectors
			in := func(v int) vreg {
				if v < 0 {
					return k.null
				}
				return p[v]
			}
			if from%perVector == 0 {
				add(v, p[q-1])
				continue
			}
			k.ext(t, in(q-1), in(q), (from+perVector)%perVector*size)
			add(v, t)
		}
	}
	k.give(t)
}

// addWide is a vector of sums: the carry and half of the lanes of a narrow vector.
func (k *neonLine) addWide(size int, d, carry, p vreg, upper bool) {
	two, from := "", halves[size]
	if upper {
		two, from = "2", lanes[size]
	}
	if k.pix.Signed() {
		k.word(fmt.Sprintf("saddw%s.%d", two, size), d, carry, p)
		return
	}
	k.emit("VUADDW%s %s, %s, %s", two, p.as(from), carry.as(lanes[2*size]), d.as(lanes[2*size]))
}

// wider is the vectors of twice as many bytes for each lane.
func (k *neonLine) wider(p []vreg, size int, signed bool) (all []vreg) {
	for _, v := range p {
		low := k.take()
		if signed {
			k.word(fmt.Sprintf("sxtl.%d", size), low, v)
			k.word(fmt.Sprintf("sxtl2.%d", size), v, v)
		} else {
			k.emit("VUXTL %s, %s", v.as(halves[size]), low.as(lanes[2*size]))
			k.emit("VUXTL2 %s, %s", v.as(lanes[size]), v.as(lanes[2*size]))
		}
		all = append(all, low, v)
	}
	return all
}

// widened is a line of pixels, or of their squares, as whole numbers of this many
// bytes.
func (k *neonLine) widened(r, size int) []vreg {
	p, now, signed := k.loaded(r), k.pix.Bytes(), k.pix.Signed()
	if k.square && k.narrow() != 0 || k.square && k.pix.Bytes() == 2 || k.square && k.sum == u64 {
		p, now = k.squared(p)
		signed = false
	}
	for ; now < size; now *= 2 {
		if now == 1 && k.lineLen() == 8 { // half a vector
			k.emit("VUXTL %s, %s", p[0].as("B8"), p[0].as("H8"))
			continue
		}
		p = k.wider(p, now, signed)
	}
	return p
}

// loaded is a line of pixels as they are.
func (k *neonLine) loaded(r int) []vreg {
	bytes := k.lineLen() * k.pix.Bytes()
	if bytes == 8 {
		p := k.takes(1)
		k.emit("FMOVD.P 8(%s), F%d", regSrcRows[r], p[0])
		return p
	}
	p := k.takes(bytes / 16)
	k.load(regSrcRows[r], p...)
	return p
}

// squared is the squares of whole numbers, in twice as many bytes.
func (k *neonLine) squared(p []vreg) (all []vreg, size int) {
	size = k.pix.Bytes()
	name := "umull"
	if k.pix.Signed() {
		name = "smull"
	}
	for _, v := range p {
		if size == 1 { // half a vector
			k.word("umull.1", v, v, v)
			all = append(all, v)
			continue
		}
		low := k.take()
		k.word(fmt.Sprintf("%s.%d", name, size), low, v, v)
		k.word(fmt.Sprintf("%s2.%d", name, size), v, v, v)
		all = append(all, low, v)
	}
	return all, 2 * size
}

// values is a line of pixels as sums, squared if the kernel squares.
func (k *neonLine) values(r int) (p []vreg) {
	switch {
	case k.pix == k.sum:
		p = k.loaded(r)
	case k.pix == f32: // in float64
		for _, v := range k.loaded(r) {
			low := k.take()
			k.word("fcvtl", low, v)
			k.word("fcvtl2", v, v)
			p = append(p, low, v)
		}
	default:
		p = k.widened(r, k.sum.Bytes())
		if k.sum.Float() {
			for _, v := range p {
				k.convert(v, v)
			}
		}
	}
	if k.square && k.sum == f64 && k.pix.Bytes() > 2 {
		for _, v := range p {
			k.word("fmul.2d", v, v, v)
		}
	}
	if k.shifted() {
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
	return p
}

// blockSums lays a line of a row's sums on the row above, in the order of the portable
// loop: two blocks of 32 bytes, each by itself and then with what comes before it.
func (k *neonLine) blockSums(r int) {
	p, c, wide := k.values(r), k.carry[r], k.sum.Bytes()
	last := c[0] // of the block before
	for b := 0; b < vectors; b += 2 {
		low, high := p[b], p[b+1]
		add := func(d, n, m vreg) { k.addVectors(k.sum, d, n, m) }
		if !k.fused() {
			k.doubling(p[b:b+2], wide, k.sum)
		}
		switch {
		case k.fused():
			to, name := high, "fmla.s3"
			if wide == 8 {
				name = "fmla.d1"
			}
			if b > 0 { // what the next line goes on from has its place
				to = c[0]
			}
			k.doublingTo(to, p[b:b+2], wide, k.sum)
			k.word(name, low, k.one, last)
			k.word(name, to, k.one, last)
			high, last = to, to
		case k.channels*wide == 16: // the sums are what comes before the next block
			add(low, low, c[0])
			add(c[0], high, c[0])
			high = c[0]
		case k.channels*wide == 32:
			add(c[0], low, c[0])
			add(c[1], high, c[1])
			low, high = c[0], c[1]
		case k.channels == 3 && wide == 8:
			add(low, low, c[0])
			add(high, high, c[1])
			k.ext(c[0], low, high, 8)
			k.three("VZIP2", "D2", c[1], high, low)
		case k.channels == 3:
			add(low, low, c[0])
			add(high, high, c[1])
			k.next(c, high)
		default:
			add(low, low, c[0])
			add(high, high, c[0])
			if k.channels == 1 {
				k.dup(wide, c[0], high, 16/wide-1)
			} else {
				k.dup(8, c[0], high, 1)
			}
		}
		k.lay(b, low)
		k.lay(b+1, high)
	}
	k.give(p...)
}

// neonFields is the fields of a pair's assembly.
func neonFields(p pairs.Pair, square bool) string {
	o := op{pix: p.Pixel, sum: p.Sum, square: square}
	var names []string
	for channels := range neonChannels {
		names = append(names, neonName(o, channels+1, false))
	}
	return fmt.Sprintf("lines: [FastChannels]lineRoutine[%v, %v]{%s}", p.Pixel, p.Sum, strings.Join(names, ", "))
}
