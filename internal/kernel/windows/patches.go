package windows

import (
	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// Patches holds the loops of non-local means for pixels of one type: they compare the patches around the pixels of a row with
// those around others, at the same distance for a whole row. All sums wrap.
type Patches struct {
	level    processor.Level
	pixel    raster.Type
	channels int
	absolute bool

	a, b, c, d []byte      // rows of pixels, of which c and d may be nil
	pairs      [2][]uint32 // of bytes: those of a and c, and of b and d, in the lower and the upper halves
	prefix     []uint32
}

// Aim sets the type of the pixels, of 8 or 16 bits. Patches differ by the squares of the differences of their pixels, or by the
// absolute values.
func (p *Patches) Aim(level processor.Level, pixel raster.Type, channels int, absolute bool) {
	p.level, p.pixel, p.channels, p.absolute = level, pixel, channels, absolute
}

// Rows sets the rows that [Patches.Slide] compares: a with b, which patches come to include, and c with d, which they lose.
// These are nil if patches lose none.
func (p *Patches) Rows(a, b, c, d []byte) {
	p.a, p.b, p.c, p.d = a, b, c, d
	if !p.paired() {
		return
	}
	for i, rows := range [2][2][]byte{{a, c}, {b, d}} {
		n := len(rows[0])
		if cap(p.pairs[i]) < n {
			p.pairs[i] = make([]uint32, n)
		}
		p.pairs[i] = p.pairs[i][:n]
		pairPatches(p.level, p.pairs[i], rows[0], rows[1])
	}
}

// paired reports whether pixels are bytes of one channel, which have assembly.
func (p *Patches) paired() bool { return p.pixel == raster.U8 && p.channels == 1 && !p.absolute }

// pairPatches joins the bytes of two rows, or of one and zeros.
func pairPatches(level processor.Level, pairs []uint32, a, b []byte) {
	if b == nil {
		for i, v := range a {
			pairs[i] = uint32(v)
		}
		return
	}
	n := len(pairs)
	a, b = a[:n], b[:n]
	from := 0
	if asm := windowTable[level].pairPatches; asm != nil {
		from = n &^ (patchUnit - 1)
		asm(raster.First(pairs), raster.First(a), raster.First(b), from)
	}
	for i := from; i < n; i++ {
		pairs[i] = uint32(a[i]) | uint32(b[i])<<16
	}
}

// Slide adds the distances between pixels of the rows a, from pixel x on, and b, from pixel z on, to the sums of columns, a sum for all
// channels of a pixel, and subtracts those between pixels of c and d:
//
//	columns[i] += distance(a[x+i], b[z+i]) - distance(c[x+i], d[z+i])
func (p *Patches) Slide(columns []uint32, x, z int) {
	switch {
	case p.paired():
		slideBytes(p.level, columns, p.pairs[0][x:], p.pairs[1][z:])
	case p.pixel == raster.U16:
		slidePatches[uint16](p, columns, x, z)
	default:
		slidePatches[uint8](p, columns, x, z)
	}
}

func slidePatches[P uint8 | uint16](p *Patches, columns []uint32, x, z int) {
	x, z = x*p.channels, z*p.channels
	a, b := raster.Elems[P](p.a)[x:], raster.Elems[P](p.b)[z:]
	for i := range columns {
		columns[i] += distanceOf(a[i*p.channels:][:p.channels], b[i*p.channels:], p.absolute)
	}
	if p.c == nil {
		return
	}
	c, d := raster.Elems[P](p.c)[x:], raster.Elems[P](p.d)[z:]
	for i := range columns {
		columns[i] -= distanceOf(c[i*p.channels:][:p.channels], d[i*p.channels:], p.absolute)
	}
}

func distanceOf[P uint8 | uint16](a, b []P, absolute bool) (sum uint32) {
	b = b[:len(a)]
	for i, v := range a {
		d := int32(v) - int32(b[i])
		if absolute {
			sum += uint32(max(d, -d))
		} else {
			sum += uint32(d * d)
		}
	}
	return sum
}

func slideBytes(level processor.Level, columns, a, b []uint32) {
	n := len(columns)
	a, b = a[:n], b[:n]
	from := 0
	if asm := windowTable[level].slidePatches; asm != nil {
		from = n &^ (patchUnit - 1)
		asm(raster.First(columns), raster.First(a), raster.First(b), from)
	}
	for i := from; i < n; i++ {
		enter, leave := int32(a[i]&255)-int32(b[i]&255), int32(a[i]>>16)-int32(b[i]>>16)
		columns[i] += uint32(enter*enter - leave*leave)
	}
}

const (
	// patchUnit is a multiple of the number of elements of every level's vectors.
	patchUnit = 16
	// maxSpan is the greatest number of columns that are added up for each patch anew.
	maxSpan = 16
)

// Weigh computes the weights of patches of span columns from the sums of these. There are span-1 more columns than weights.
//
//	weights[i] = table[min((columns[i]+...+columns[i+span-1])>>shift, len(table)-1)]
func (p *Patches) Weigh(weights, columns []uint32, span int, shift uint, table []uint32) {
	n := len(weights)
	columns = columns[:n+span-1]
	if span > maxSpan {
		columns, span = p.spans(columns, span), 1
	}
	from := 0
	if asm := windowTable[p.level].weighPatches; asm != nil {
		from = n &^ (patchUnit - 1)
		asm(raster.First(weights), raster.First(columns), raster.First(table), from, span, uint32(shift), uint32(len(table)-1))
	}
	last := uint32(len(table) - 1)
	for i := from; i < n; i++ {
		sum := uint32(0)
		for _, v := range columns[i : i+span] {
			sum += v
		}
		weights[i] = table[min(sum>>shift, last)]
	}
}

// spans returns the sums of spans of columns.
func (p *Patches) spans(columns []uint32, span int) []uint32 {
	if cap(p.prefix) < len(columns) {
		p.prefix = make([]uint32, len(columns))
	}
	sums, sum := p.prefix[:len(columns)], uint32(0)
	for i, v := range columns {
		sum += v
		if i >= span {
			sum -= columns[i-span]
		}
		sums[i] = sum
	}
	return sums[span-1:]
}

// AddBytes adds weights to totals, and pixels of one channel times these to sums.
func (p *Patches) AddBytes(sums, totals, weights []uint32, pixels []byte) {
	n := len(weights)
	sums, totals, pixels = sums[:n], totals[:n], pixels[:n]
	from := 0
	if asm := windowTable[p.level].addPatches; asm != nil {
		from = n &^ (patchUnit - 1)
		asm(raster.First(sums), raster.First(totals), raster.First(weights), raster.First(pixels), from)
	}
	for i := from; i < n; i++ {
		w := weights[i]
		totals[i] += w
		sums[i] += w * uint32(pixels[i])
	}
}

// Add is like AddBytes for any number of channels and 16 bits: channels of pixels, of which there are as many as in sums for
// each weight, begin at the first.
func (p *Patches) Add(sums, totals []uint64, weights []uint32, pixels []byte) {
	if p.pixel == raster.U16 {
		addPatches[uint16](p.channels, sums, totals, weights, pixels)
	} else {
		addPatches[uint8](p.channels, sums, totals, weights, pixels)
	}
}

func addPatches[P uint8 | uint16](channels int, sums, totals []uint64, weights []uint32, pixels []byte) {
	all := raster.Elems[P](pixels)
	for i, w := range weights {
		totals[i] += uint64(w)
		to, from := sums[i*channels:][:channels], all[i*channels:][:channels]
		for c, v := range from {
			to[c] += uint64(w) * uint64(v)
		}
	}
}
