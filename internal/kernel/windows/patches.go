package windows

import (
	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// Patches holds the loops of non-local means for pixels of one type: they compare the patches around pixels with those
// around others, at the same distance for a whole row. All sums wrap.
type Patches struct {
	level    processor.Level
	pixel    raster.Type
	channels int
	absolute bool
}

// NewPatches returns the loops for pixels of 8 or 16 bits. Patches differ by the squares of the differences of their pixels,
// or by the absolute values.
func NewPatches(level processor.Level, pixel raster.Type, channels int, absolute bool) Patches {
	return Patches{level, pixel, channels, absolute}
}

// Slide adds the distances between the pixels of two rows to the sums of columns, a sum for all channels of a pixel, and
// subtracts those of two other rows, unless they are nil:
//
//	columns[i] += distance(a[i], b[i]) - distance(c[i], d[i])
func (p *Patches) Slide(columns []uint32, a, b, c, d []byte) {
	switch {
	case p.pixel == raster.U16:
		slidePatches[uint16](p, columns, a, b, c, d)
	case p.channels == 1 && !p.absolute && c == nil:
		slideBytes(p.level, columns, a, b, a, a)
	case p.channels == 1 && !p.absolute:
		slideBytes(p.level, columns, a, b, c, d)
	default:
		slidePatches[uint8](p, columns, a, b, c, d)
	}
}

func slidePatches[P uint8 | uint16](p *Patches, columns []uint32, a, b, c, d []byte) {
	enterA, enterB := raster.Elems[P](a), raster.Elems[P](b)
	for i := range columns {
		columns[i] += distanceOf(enterA[i*p.channels:][:p.channels], enterB[i*p.channels:], p.absolute)
	}
	if c == nil {
		return
	}
	leaveC, leaveD := raster.Elems[P](c), raster.Elems[P](d)
	for i := range columns {
		columns[i] -= distanceOf(leaveC[i*p.channels:][:p.channels], leaveD[i*p.channels:], p.absolute)
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

func slideBytes(level processor.Level, columns []uint32, a, b, c, d []byte) {
	n := len(columns)
	a, b, c, d = a[:n], b[:n], c[:n], d[:n]
	from := 0
	if asm := windowTable[level].slidePatches; asm != nil {
		from = n &^ (patchUnit - 1)
		asm(raster.First(columns), raster.First(a), raster.First(b), raster.First(c), raster.First(d), from)
	}
	for i := from; i < n; i++ {
		enter, leave := int32(a[i])-int32(b[i]), int32(c[i])-int32(d[i])
		columns[i] += uint32((enter - leave) * (enter + leave))
	}
}

// patchUnit is a multiple of the number of elements of every level's vectors.
const patchUnit = 16

// Weigh computes the weights of patches of span columns from the sums of columns before them:
//
//	weights[i] = table[min(prefix[i+span]-prefix[i]>>shift, len(table)-1)]
func (p *Patches) Weigh(weights, prefix []uint32, span int, shift uint, table []uint32) {
	n := len(weights)
	high, low := prefix[span:][:n], prefix[:n]
	from := 0
	if asm := windowTable[p.level].weighPatches; asm != nil {
		from = n &^ (patchUnit - 1)
		asm(raster.First(weights), raster.First(high), raster.First(low), raster.First(table), from, uint32(shift), uint32(len(table)-1))
	}
	last := uint32(len(table) - 1)
	for i := from; i < n; i++ {
		weights[i] = table[min((high[i]-low[i])>>shift, last)]
	}
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
