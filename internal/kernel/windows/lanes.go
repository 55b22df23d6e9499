package windows

import (
	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

const (
	// LanePixels is the number of windows whose histograms [Lanes] holds.
	LanePixels = 32
	// Ignored is the level of pixels that do not count.
	Ignored = 256
)

// Lanes holds the histograms of the windows around 32 pixels beside each other, level by level, so that a loop over levels computes a
// statistic of all of them.
type Lanes struct {
	level  processor.Level
	counts [Ignored + 1][LanePixels]uint16
	ramp   []uint16 // ones for the windows that a column is in, between zeros
	span   int
	list   [2*256 + LanePixels]uint32 // scratch memory
}

// HasLanes reports whether a level has assembly for [Lanes].
func HasLanes(level processor.Level) bool { return windowTable[level].slideLanes != nil }

// Aim empties the windows, and sets their width.
func (l *Lanes) Aim(level processor.Level, span int) {
	l.level = level
	clear(l.counts[:])
	if l.span != span {
		l.span = span
		l.ramp = append(l.ramp[:0], make([]uint16, 2*(LanePixels-1)+span)...)
		for i := range span {
			l.ramp[LanePixels-1+i] = 1
		}
	}
}

// Columns returns the number of columns that the windows have together.
func (l *Lanes) Columns() int { return l.span + LanePixels - 1 }

// Slide replaces a row of levels in the windows by another. The first is in column k of all windows together. All pixels that windows
// have at first are ignored ones.
func (l *Lanes) Slide(in, out []uint16, k int) {
	n := len(in)
	out = out[:n]
	ramp := l.ramp[l.Columns()-n-k:] // of the last column, from the first window on
	if asm := windowTable[l.level].slideLanes; asm != nil && n > 0 {
		asm(raster.First(l.counts[:]), raster.First(in), raster.First(out), raster.First(ramp[n-1:]), n)
		return
	}
	for i := range in {
		part := ramp[n-1-i:][:LanePixels]
		for x, one := range part {
			l.counts[in[i]][x] += one
			l.counts[out[i]][x] -= one
		}
	}
}

// Numbers returns the number of pixels in each window that count: as many as have replaced ignored ones.
func (l *Lanes) Numbers() (n [LanePixels]uint16) {
	for x, ignored := range l.counts[Ignored] {
		n[x] = -ignored
	}
	return n
}

// Majority writes the lowest of the most frequent levels of each window.
func (l *Lanes) Majority(dst *[LanePixels]uint8) {
	if asm := windowTable[l.level].majorityLanes; asm != nil {
		asm(raster.First(dst[:]), raster.First(l.counts[:]))
		return
	}
	for x := range dst {
		dst[x] = 0
		for i := range Ignored {
			if l.counts[i][x] > l.counts[dst[x]][x] {
				dst[x] = uint8(i)
			}
		}
	}
}

// UpTo counts the pixels of each window with a level of at most that in most.
func (l *Lanes) UpTo(sums, most *[LanePixels]uint16) {
	levels := 1
	for _, v := range most {
		levels = max(levels, int(v)+1)
	}
	if asm := windowTable[l.level].upToLanes; asm != nil && levels <= Ignored {
		asm(raster.First(sums[:]), raster.First(l.counts[:]), raster.First(most[:]), levels)
		return
	}
	for x, v := range most {
		sums[x] = 0
		for i := range int(v) + 1 {
			sums[x] += l.counts[i][x]
		}
	}
}

// Percentile writes the lowest level of each window up to which there are more pixels than its limit, which must be less than their
// number.
func (l *Lanes) Percentile(dst *[LanePixels]uint8, limits *[LanePixels]uint16) {
	if asm := windowTable[l.level].percentileLanes; asm != nil {
		asm(raster.First(dst[:]), raster.First(l.counts[:]), raster.First(limits[:]))
		return
	}
	for x := range dst {
		level, n := 0, l.counts[0][x]
		for n <= limits[x] && level < Ignored-1 {
			level++
			n += l.counts[level][x]
		}
		dst[x] = uint8(level)
	}
}

// OtsuPixels is the greatest number of pixels in a window for [Lanes.Otsu], whose assembly has all numerators in float32.
const OtsuPixels = 255

// Otsu writes the level of each window that separates its pixels into two classes with the greatest variance between them: the lowest
// of several. It is 0 if the pixels have one level, or only that and 0.
func (l *Lanes) Otsu(dst *[LanePixels]uint8) {
	if asm := windowTable[l.level].otsuLanes; asm != nil {
		asm(raster.First(dst[:]), raster.First(l.counts[:]), raster.First(l.list[:]))
		return
	}
	for x := range dst {
		n, sum := 0, 0
		for i := range Ignored {
			n += int(l.counts[i][x])
			sum += i * int(l.counts[i][x])
		}
		level, best, q, m := 0, 0.0, int(l.counts[0][x]), 0
		for i := 1; i < Ignored && q < n; i++ {
			h := int(l.counts[i][x])
			q, m = q+h, m+i*h
			if h == 0 || q == n {
				continue
			}
			t := float64(n*m - sum*q)
			if v := float64(t*t) / float64(q*(n-q)); v > best {
				level, best = i, v
			}
		}
		dst[x] = uint8(level)
	}
}

// Lesser replaces elements of dst, of type uint8 or uint16, by those of src if these are less, in this order: src may be a later part
// of dst.
func Lesser(level processor.Level, pixel raster.Type, dst, src []byte) {
	w := &windowTable[level]
	if pixel == raster.U16 {
		pick(raster.Elems[uint16](dst), raster.Elems[uint16](src), w.lesserU16, func(a, b uint16) uint16 { return min(a, b) })
	} else {
		pick(dst, src, w.lesserU8, func(a, b uint8) uint8 { return min(a, b) })
	}
}

// Greater is like [Lesser] for the greater elements.
func Greater(level processor.Level, pixel raster.Type, dst, src []byte) {
	w := &windowTable[level]
	if pixel == raster.U16 {
		pick(raster.Elems[uint16](dst), raster.Elems[uint16](src), w.greaterU16, func(a, b uint16) uint16 { return max(a, b) })
	} else {
		pick(dst, src, w.greaterU8, func(a, b uint8) uint8 { return max(a, b) })
	}
}

func pick[P uint8 | uint16](dst, src []P, asm func(dst, src *byte, n int), extreme func(a, b P) P) {
	src = src[:len(dst)]
	from := 0
	if asm != nil {
		size := raster.SizeOf[P]()
		from = len(dst) * size &^ (raster.LineBytes - 1) / size
		asm(raster.First(dst), raster.First(src), from*size)
	}
	for i := from; i < len(dst); i++ {
		dst[i] = extreme(dst[i], src[i])
	}
}
