package thresholds

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// contrastRow computes the contrast of pixels [x, x+len(dst)) of a row. above, row and
// below are whole rows. Pixels outside the image repeat the edge, which changes neither the
// minimum nor the maximum.
func contrastRow(level processor.Level, dst, above, row, below []uint8, x int) {
	n, width := len(dst), len(row)
	from, to := x, x+n // pixels with neighbors on both sides
	if x == 0 {
		dst[0] = edgeContrast(above, row, below, 0)
		from++
	}
	if to == width && to > from {
		dst[n-1] = edgeContrast(above, row, below, width-1)
		to--
	}
	if to > from {
		windows.Contrast(level, dst[from-x:to-x], above[from-1:to+1], row[from-1:to+1], below[from-1:to+1])
	}
}

// edgeContrast returns the contrast of the first or last pixel of a row.
func edgeContrast(above, row, below []uint8, x int) uint8 {
	least, most := row[x], row[x]
	for i := max(0, x-1); i <= min(len(row)-1, x+1); i++ {
		least, most = min(least, above[i], row[i], below[i]), max(most, above[i], row[i], below[i])
	}
	return windows.ContrastOf(least, most)
}

// contrasted computes the contrast of an image, one whole row at a time.
type contrasted struct {
	src   *raster.Array
	level processor.Level
}

func (c *contrasted) pixels(y int) []uint8 { return c.src.Span(0, y, c.src.Width) }

// row computes the contrast of row y.
func (c *contrasted) row(dst []uint8, y int) {
	contrastRow(c.level, dst, c.pixels(max(0, y-1)), c.pixels(y), c.pixels(min(y+1, c.src.Height-1)), 0)
}

// maskedRows yields the rows of an image with low-contrast pixels set to 0. It computes
// rows on demand and keeps as many as a window is high.
type maskedRows struct {
	src     raster.Array
	level   processor.Level
	above   uint8 // contrast greater than this is high
	up      int   // rows that windows reach above their pixel
	size    int   // number of rows kept
	next    int   // next row to compute
	values  []uint8
	masks   []uint8 // 1 where contrast is high
	nothing []uint8
}

func (m *maskedRows) aim(src raster.Array, f *window.Frame, above uint8) {
	m.src, m.level, m.above, m.up = src, f.Level, above, f.Up
	m.size = min(f.Height, f.Shape.Height()+1)
	m.values = engine.AtLeast(m.values, m.size*f.Width)
	m.masks = engine.AtLeast(m.masks, m.size*f.Width)
	m.nothing = engine.Zeros(m.nothing, f.Width)
}

// start prepares for windows of row y and below.
func (m *maskedRows) start(y int) { m.next = max(0, y-m.up-1) }

// Row implements [window.Rows].
func (m *maskedRows) Row(place int) []uint8 { return m.kept(m.values, place) }

// kept returns a row of values or of masks, whichever from holds.
func (m *maskedRows) kept(from []uint8, place int) []uint8 {
	if uint(place) >= uint(m.src.Height) {
		return m.nothing
	}
	n := m.src.Width
	for ; m.next <= place; m.next++ {
		at := m.next % m.size * n
		c := contrasted{&m.src, m.level}
		mask := m.masks[at:][:n]
		c.row(mask, m.next)
		windows.Mask(m.level, m.values[at:][:n], mask, c.pixels(m.next), m.above)
	}
	return from[place%m.size*n:][:n]
}

// maskRows yields the masks of a maskedRows.
type maskRows struct{ rows *maskedRows }

// Row implements [window.Rows].
func (m *maskRows) Row(place int) []uint8 { return m.rows.kept(m.rows.masks, place) }
