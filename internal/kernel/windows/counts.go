package windows

import (
	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// Counts finds medians of bytes in time that does not depend on the size of the window. It holds a
// histogram of each column, as high as a window (Perreault and Hébert 2007), with cumulative
// counts.
type Counts struct {
	level           processor.Level
	columns, height int     // number of histograms, and of pixels in each
	coarse          []uint8 // for each column and each value of the upper four bits, the number of pixels up to that value
	fine            []uint8 // for each value of the upper four bits, the same counts of the lower ones
	state           []uint8 // of the assembly
}

// HasCounts reports whether a level supports [Counts] for windows of this size. Counts of columns
// have 8 bits, and those of windows 16.
func HasCounts(level processor.Level, width, height int) bool {
	return windowTable[level].countMedians != nil && height <= 255 && width <= (1<<16-1)/height
}

// Bytes returns the size of the memory that c keeps.
func (c *Counts) Bytes() int { return cap(c.coarse) + cap(c.fine) + cap(c.state) }

// Aim sets the number of columns and their height, and fills the columns with zeros.
func (c *Counts) Aim(level processor.Level, columns, height int) {
	if cap(c.coarse) < 16*columns {
		c.coarse, c.fine = make([]uint8, 16*columns), make([]uint8, 256*columns)
	}
	if c.state == nil {
		c.state = make([]uint8, 1024)
	}
	c.level, c.columns, c.height = level, columns, height
	c.coarse, c.fine = c.coarse[:16*columns], c.fine[:256*columns]
	clear(c.fine[16*columns:])
	Repeat(c.coarse, []uint8{uint8(height)})
	copy(c.fine, c.coarse)
}

// Slide adds a pixel to every column and removes another one, which must be in the histogram.
// Initially, the histograms contain zeros.
func (c *Counts) Slide(in, out []uint8) {
	in, out = in[:c.columns], out[:c.columns]
	windowTable[c.level].countColumns(raster.First(c.coarse), raster.First(c.fine), 16*c.columns, raster.First(in), raster.First(out), c.columns)
}

// Medians writes the medians of windows of the given number of columns. The median of an even
// number of pixels is the lower one of two.
func (c *Counts) Medians(dst []uint8, columns int) {
	_ = c.coarse[16*(len(dst)+columns-1)-1]
	windowTable[c.level].countMedians(raster.First(dst), raster.First(c.coarse), raster.First(c.fine), raster.First(c.state), 16*c.columns, len(dst), columns, (columns*c.height-1)/2)
}

// UpTo counts, in windows of the given number of columns, the pixels of at most the window's level.
func (c *Counts) UpTo(sums []uint16, levels []uint8, columns int) {
	n := len(sums)
	_, levels = c.coarse[16*(n+columns-1)-1], levels[:n]
	windowTable[c.level].countUpTo(raster.First(sums), raster.First(c.coarse), raster.First(c.fine), raster.First(c.state), 16*c.columns, n, columns, raster.First(levels))
}
