package windows

import (
	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// Levels is the histogram of a window of bytes.
type Levels struct {
	Counts  [256]uint16
	Present [4]uint64 // a bit for each level that was counted
}

// HasLevels reports whether a level has assembly for [Levels.Slide] and [CountNotAbove].
func HasLevels(level processor.Level) bool { return windowTable[level].slideLevels != nil }

// Slide adds a column of pixels to the window, and removes another: histograms of 256 levels.
func (l *Levels) Slide(level processor.Level, in, out []uint16) {
	in, out = in[:256], out[:256]
	if asm := windowTable[level].slideLevels; asm != nil {
		asm(raster.First(l.Counts[:]), raster.First(in), raster.First(out), raster.First(l.Present[:]))
		return
	}
	l.Present = [4]uint64{}
	for i := range l.Counts {
		l.Counts[i] += in[i] - out[i]
		if l.Counts[i] != 0 {
			l.Present[i/64] |= 1 << (i % 64)
		}
	}
}

// NotAboveUnit is a multiple of the number of bytes of every level's vectors.
const NotAboveUnit = 64

// CountNotAbove adds to each count how many bytes of src are at most that of center: span of them, beginning at the
// same position. The number of counts is a multiple of NotAboveUnit.
func CountNotAbove(level processor.Level, counts, center, src []uint8, span int) {
	n := len(counts)
	center, src = center[:n], src[:n+span-1]
	if asm := windowTable[level].countNotAbove; asm != nil && n%NotAboveUnit == 0 && span > 0 {
		asm(raster.First(counts), raster.First(center), raster.First(src), n, span)
		return
	}
	for i, g := range center {
		for _, v := range src[i : i+span] {
			if v <= g {
				counts[i]++
			}
		}
	}
}
