package boxlets

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// A table holds the rows of an integral image that the boxes around one row of pixels need. It moves down with them: each row
// of the image is read once, and the rows of the table stay in the cache.
type table struct {
	image       *window.Image
	value       float64 // of the Constant border
	level       processor.Level
	columns     windows.Columns
	sum         raster.Type
	left, right int // columns beyond the image
	width       int // columns, with these
	sums        []byte
	pixels      []byte // a row of the image and what is beyond it
	nothing     []byte
	ring        []byte
	stride      int // bytes of a row of the ring
	size        int // rows of the ring
	next        int // the last row that has been computed
	infinite    bool
}

// aim prepares the table for an image and for boxes that reach over the given number of rows.
func (t *table) aim(m *window.Image, j *Job, left, right, rows int) {
	t.image, t.value, t.sum, t.left, t.right = m, j.Value, j.sum, left, right
	src := &m.Src
	t.level = j.set.Level
	t.columns = windows.NewColumns(j.set.Level, src.Type, j.sum, 0)
	t.width = src.Width + left + right
	n := t.width * src.Channels
	t.sums = engine.AtLeast(t.sums, (n+windows.Slack)*j.sum.Bytes())
	t.pixels, t.nothing = engine.AtLeast(t.pixels, n*src.Type.Bytes()), engine.Zeros(t.nothing, n*src.Type.Bytes())
	t.stride, t.size = (n+src.Channels+windows.Slack)*j.sum.Bytes(), rows+1
	t.ring = engine.AtLeast(t.ring, t.stride*t.size)
}

// start begins with sums that are 0 at row y.
func (t *table) start(y int) {
	t.next, t.infinite = y, false
	clear(t.sums)
	clear(t.at(y))
}

// at returns the memory of a row.
func (t *table) at(y int) []byte {
	i := y % t.size
	if i < 0 {
		i += t.size
	}
	return t.ring[i*t.stride:][:t.stride]
}

// row returns the entries of a row, the sums of the rows above it, which it computes if it is below the last one. Entry left
// is that of the first pixel.
func (t *table) row(y int) []byte {
	channels := t.image.Src.Channels
	for ; t.next < y; t.next++ {
		t.columns.Slide(t.sums, nil, t.extended(t.next), t.nothing, 0)
		to := t.at(t.next + 1)
		clear(to[:channels*t.sum.Bytes()])
		windows.Prefix(t.level, t.sum, to, t.sums, channels)
		if t.sum.Float() {
			for _, v := range raster.Elems[float64](to)[t.width*channels:][:channels] {
				t.infinite = t.infinite || v-v != 0
			}
		}
	}
	return t.at(y)
}

// extended returns a row of the image with the pixels beyond its ends.
func (t *table) extended(y int) []byte {
	src := &t.image.Src
	row := t.image.Row(y)
	pixel := src.Channels * src.Type.Bytes()
	copy(t.pixels[t.left*pixel:], row)
	t.extend(t.pixels[:t.left*pixel], row, -t.left)
	t.extend(t.pixels[t.left*pixel+len(row):], row, src.Width)
	return t.pixels
}

// extend sets pixels beyond a row, the first of which is in column x.
func (t *table) extend(to, row []byte, x int) {
	src := &t.image.Src
	pixel := src.Channels * src.Type.Bytes()
	for i := 0; i < len(to); i, x = i+pixel, x+1 {
		if at := t.image.Border.Index(x, src.Width); at >= 0 {
			copy(to[i:i+pixel], row[at*pixel:])
		} else if t.image.Border == window.Constant {
			windows.Fill(src.Type, to[i:i+pixel], t.value)
		} else {
			clear(to[i : i+pixel])
		}
	}
}

// forget drops the image. It returns the size of the memory that the table keeps.
func (t *table) forget() int {
	t.image = nil
	return cap(t.sums) + cap(t.pixels) + cap(t.nothing) + cap(t.ring)
}
