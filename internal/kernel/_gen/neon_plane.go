package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/boxsum/boxsum/internal/raster"
)

// A NEON vector has 16 bytes. The kernels compute one cache line of sums, four vectors, at a time,
// either for four rows that share one read of the row above or for one row. The distance of a lane
// shift is part of the instruction, so there is a kernel for every number of channels. Portable
// code computes the end of a row after its last whole line.

// neonParts maps each assembly file to the function that emits it.
var neonParts = map[string]func(*armFile){
	"plane":     neonPlane,
	"volume":    neonVolume,
	"tilted":    neonTilted,
	"histogram": neonHistogram,
	"cascade":   neonCascade,
	"memory":    neonMemory,
}

func neonPlane(f *armFile) {
	for _, o := range neonOps(raster.Upright) {
		for channels := range neonChannels {
			neonKernel(f, o, channels+1, false)
		}
	}
}

// neonChannels is the value of kernel.FastChannels.
const neonChannels = 4

// neonOps returns the kernels for a kind of table. It omits dot products, which not every processor
// with NEON supports, and 64-bit integers, because their vectors hold too few pixels to shift by
// three channels; portable loops sum those.
func neonOps(kind raster.Kinds) []op {
	return slices.DeleteFunc(ops(kind), func(o op) bool { return o.dot || wideInteger(o.pix) })
}

func wideInteger(t raster.Type) bool { return t.Bytes() == 8 && !t.Float() }

func neonName(o op, channels int, volume bool) string {
	name := fmt.Sprintf("%sx%d", o.name(), channels)
	if volume {
		name += "Volume"
	}
	return name + "NEON"
}

// neonFields returns the fields of a pair's assembly in the dispatch table.
func neonFields(p raster.Pair, square bool) string {
	o := op{pix: p.Pixel, sum: p.Sum, square: square}
	field := func(field, routine string, volume bool) string {
		var names []string
		for channels := range neonChannels {
			names = append(names, neonName(o, channels+1, volume))
		}
		return fmt.Sprintf("%s: [FastChannels]%s{%s}", field, routine, strings.Join(names, ", "))
	}
	if wideInteger(p.Pixel) {
		return ""
	}
	fields := []string{field("lines", "lineRoutine", false)}
	if p.Kinds&raster.Volume != 0 {
		fields = append(fields, fmt.Sprintf("lay: %sLayNEON", p.Sum.Short()))
		if neonFused(o) {
			fields = append(fields, field("volumeLines", "lineVolume", true))
		}
	}
	if p.Kinds&raster.Tilted != 0 {
		fields = append(fields, fmt.Sprintf("tilted: %sTiltedNEON", o.name()))
	}
	return strings.Join(fields, ", ")
}

// neonLine is the state of a kernel while it is emitted.
type neonLine struct {
	*armFunc
	op
	channels int
	volume   bool
	prefix   string // of labels

	null    vreg          // zeros
	fixed   []vreg        // registers that never change
	offset  vreg          // of float32 sums
	one     vreg          // 1 in each lane of floats
	phases  []vreg        // shuffles that find the last three sums of a 32-bit block
	carry   [group][]vreg // the sums from which each row continues
	pixels  [group][]vreg // pixels of the previous line that windows need
	over    []vreg        // the row above
	outside []func()      // rarely taken branches, emitted after the loop
}

// Registers for the first row of dst and src, and for the rows of a group.
const (
	regDst, regSrc             = "R0", "R1"
	regRows, regUnits, regLeft = "R10", "R11", "R12"
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

// vectors is the number of vectors in a line of sums.
const vectors = lineBytes / 16

// lineLen returns the number of sums in a cache line.
func (o op) lineLen() int { return lineBytes / o.sum.Bytes() }

func neonKernel(f *armFile, o op, channels int, volume bool) {
	name := neonName(o, channels, volume)
	args := []armArg{{"dst", "*byte"}, {"dstStride", "int"}, {"src", "*byte"}, {"srcStride", "int"}, {"above", "*byte"}, {"carry", "*byte"}}
	lines := doc(name, o)
	if volume {
		args = append(args, armArg{"over", "*byte"}, armArg{"overStride", "int"})
		lines = volumeDoc(name, o)
	}
	args = append(args, armArg{"rows", "int"}, armArg{"n", "int"}, armArg{"offset", "float32"})
	k := &neonLine{op: o, channels: channels, volume: volume}
	lines[len(lines)-1] = fmt.Sprintf("for %d channels, n a multiple of %d, and strides in bytes.", channels, k.unit()*k.lineLen())
	f.function(name, lines, args, func(fn *armFunc) {
		k.armFunc = fn
		k.setup()
		k.label("groups")
		k.emit("CMP $%d, %s", k.group(), regRows)
		k.emit("BLT rows")
		k.band("group", k.group())
		k.emit("B groups")
		k.label("rows")
		k.emit("CBZ %s, done", regRows)
		k.band("row", 1)
		k.emit("B rows")
		for _, emit := range k.outside {
			emit()
		}
		k.label("done")
		k.release(k.fixed...)
	})
}

// group returns how many rows share one read of the row above, limited by the number of registers.
func (k *neonLine) group() int {
	if k.sliding() && k.window() > 2 && k.pairsBefore() > 1 {
		return group / 2
	}
	return group
}

// unit returns the number of lines that one iteration of the loop computes. With three channels it
// takes three lines to hold whole pixels.
func (k *neonLine) unit() int {
	if k.channels == 3 && k.sliding() {
		return 3
	}
	return 1
}

func (k *neonLine) setup() {
	k.arg("dst", regDst)
	k.arg("src", regSrc)
	k.arg("dstStride", regDstStride)
	k.arg("srcStride", regSrcStride)
	k.arg("above", regAbove)
	k.arg("carry", regCarry)
	k.arg("rows", regRows)
	k.arg("n", regUnits) // the loop subtracts the elements of each iteration
	if k.volume {
		k.arg("over", regOver)
		k.arg("overStride", regOverStride)
	}
	k.over = k.takes(vectors)
	k.fixed = slices.Clone(k.over)
	if !k.sliding() {
		k.setupBlocks()
	}
}

// band emits the loop along some rows, and advances to the rows below.
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
	k.emit("MOVD %s, %s", regUnits, regLeft)
	for r := range rows {
		at := r * carryLen * k.sum.Bytes()
		if k.sliding() {
			k.beginWindows(r, at)
		} else {
			k.beginBlocks(r, at)
		}
	}

	k.label(label + "Loop")
	for line := range k.unit() {
		k.emit("FLDPQ (%s), (F%d, F%d)", regAboveAt, k.over[0], k.over[1])
		k.emit("FLDPQ 32(%s), (F%d, F%d)", regAboveAt, k.over[2], k.over[3])
		for r := range rows {
			if k.sliding() {
				k.windowSums(r, line)
			} else {
				k.blockSums(r)
			}
			k.write(r)
		}
		k.store(regAboveAt, k.over)
	}
	k.emit("SUB $%d, %s, %s", k.unit()*k.lineLen(), regLeft, regLeft)
	k.emit("CBNZ %s, %sLoop", regLeft, label)

	for r := range rows {
		at := r * carryLen * k.sum.Bytes()
		if k.sliding() {
			k.endWindows(r, at)
		} else {
			k.endBlocks(r, at)
		}
		k.release(k.carry[r]...)
		k.release(k.pixels[r]...)
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

// addAbove adds vector v of a row's sums to the row above.
func (k *neonLine) addAbove(v int, s vreg) { k.addVectors(k.sum, k.over[v], k.over[v], s) }

// write stores a line to a row of the table.
func (k *neonLine) write(r int) {
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
	k.release(t...)
}

// convert converts integers to floats.
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

// wider widens the lanes of v to twice their size and returns two vectors; the second reuses v's
// register.
func (k *neonLine) wider(v vreg, size int, signed bool) []vreg {
	low := k.take()
	if signed {
		k.word(fmt.Sprintf("sxtl.%d", size), low, v)
		k.word(fmt.Sprintf("sxtl2.%d", size), v, v)
	} else {
		k.emit("VUXTL %s, %s", v.arranged(halves[size]), low.arranged(lanes[2*size]))
		k.emit("VUXTL2 %s, %s", v.arranged(lanes[size]), v.arranged(lanes[2*size]))
	}
	return []vreg{low, v}
}

// squares returns the squares of integers in lanes of twice the size; the second vector reuses v's
// register. Half a vector of pixels has only one.
func (k *neonLine) squares(v vreg) []vreg {
	size, name := k.pix.Bytes(), "umull"
	if k.pix.Signed() {
		name = "smull"
	}
	if k.halfVector() {
		k.word(fmt.Sprintf("%s.%d", name, size), v, v, v)
		return []vreg{v}
	}
	low := k.take()
	k.word(fmt.Sprintf("%s.%d", name, size), low, v, v)
	k.word(fmt.Sprintf("%s2.%d", name, size), v, v, v)
	return []vreg{low, v}
}

// halfVector reports whether the pixels of a line fill only half a vector.
func (k *neonLine) halfVector() bool { return k.lineLen()*k.pix.Bytes() == 8 }
