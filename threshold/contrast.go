package threshold

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/window"
)

// contrastRow is the contrast of pixels [x, x+len(dst)) of a row, of which the rows above
// and below are whole rows too. Beyond the edge of the image it goes on with the pixels
// there, which changes neither the least nor the greatest.
func contrastRow(level kernel.Level, dst, above, row, below []uint8, x int) {
	n, width := len(dst), len(row)
	from, to := x, x+n // of those that have neighbours on both sides
	if x == 0 {
		dst[0] = edgeContrast(above, row, below, 0)
		from++
	}
	if to == width && to > from {
		dst[n-1] = edgeContrast(above, row, below, width-1)
		to--
	}
	if to > from {
		kernel.Contrast(level, dst[from-x:to-x], above[from-1:to+1], row[from-1:to+1], below[from-1:to+1])
	}
}

// edgeContrast is that of the first or the last pixel of a row.
func edgeContrast(above, row, below []uint8, x int) uint8 {
	least, most := row[x], row[x]
	for i := max(0, x-1); i <= min(len(row)-1, x+1); i++ {
		least, most = min(least, above[i], row[i], below[i]), max(most, above[i], row[i], below[i])
	}
	return kernel.ContrastOf(least, most)
}

// contrasted is an image whose contrast is asked for, whole rows at a time.
type contrasted struct {
	src   *window.Pixels
	level kernel.Level
}

func (c *contrasted) pixels(y int) []uint8 { return c.src.Row(0, y, c.src.Width) }

// row is the contrast of row y.
func (c *contrasted) row(dst []uint8, y int) {
	contrastRow(c.level, dst, c.pixels(max(0, y-1)), c.pixels(y), c.pixels(min(y+1, c.src.Height-1)), 0)
}

// maskedRows are the rows of an image of which pixels with little contrast are 0. It makes
// each when it is asked for, and keeps as many as a window has.
type maskedRows struct {
	src     window.Pixels
	level   kernel.Level
	above   uint8 // contrast that is more than this is high
	up      int   // how far windows reach
	size    int   // rows that are kept
	next    int   // the row to make next
	values  []uint8
	masks   []uint8 // 1 where there is contrast
	nothing []uint8
}

func (m *maskedRows) aim(src window.Pixels, f *window.Frame, above uint8) {
	m.src, m.level, m.above, m.up = src, f.Level, above, f.Up
	m.size = min(f.Height, f.Shape.Height()+1)
	m.values = engine.AtLeast(m.values, m.size*f.Width)
	m.masks = engine.AtLeast(m.masks, m.size*f.Width)
	m.nothing = engine.Zeros(m.nothing, f.Width)
}

// start is for windows of row y.
func (m *maskedRows) start(y int) { m.next = max(0, y-m.up-1) }

// Row implements [window.Rows].
func (m *maskedRows) Row(place int) []uint8 { return m.kept(m.values, place) }

// kept is a row of values or of masks.
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
		kernel.Mask(m.level, m.values[at:][:n], mask, c.pixels(m.next), m.above)
	}
	return from[place%m.size*n:][:n]
}

// maskOf are the masks of such rows.
type maskOf struct{ rows *maskedRows }

// Row implements [window.Rows].
func (m *maskOf) Row(place int) []uint8 { return m.rows.kept(m.rows.masks, place) }
