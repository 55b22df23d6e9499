// Package moment makes tables of the moments of images. The type of pixels is data.
package moment

import (
	"image"
	"math"

	"github.com/boxsum/boxsum/internal/raster"
)

// A Table holds the sums of x^p·y^q·I for p+q ≤ 3, from which the moments of any box follow.
type Table struct {
	Width, Height int // of the image
	Channels      int

	wide  bool     // sums have two words, the lower first
	words []uint64 // entry (x, y) of channel c starts at ((y·(Width+1)+x)·Channels+c)·orders sums

	peak float64 // upper bound of the pixels' magnitudes, in units
	unit float64 // a power of two; 1 for integers
}

// isWide reports whether the sums of pixels have 128 bits.
func isWide(pixel raster.Type) bool { return pixel.Bytes() > 2 }

// maxSide ensures that coordinates and their squares fit a word.
const maxSide = 1 << 30

// Bytes returns the memory size of the table of an image. Zero channels means one.
func Bytes(pixel raster.Type, width, height, channels int) (int64, error) {
	e := raster.PlaneExtent(width, height, channels, 0)
	if err := e.CheckSize(); err != nil {
		return 0, err
	}
	if width > maxSide || height > maxSide {
		return 0, raster.Invalid("image is %v, want sides of 0 to %d", e, maxSide)
	}
	entry := orders * 8
	if isWide(pixel) {
		entry *= 2
	}
	bytes := float64(width+1) * float64(height+1) * float64(e.Channels) * float64(entry)
	if bytes > math.MaxInt/2 { // leaves room for overhead
		return 0, raster.Invalid("a table of %v needs %.3g bytes, which do not fit in memory", e, bytes)
	}
	return int64(width+1) * int64(height+1) * int64(e.Channels) * int64(entry), nil
}

// New allocates a table for images of the given size and pixel type. Zero channels means one.
func New(pixel raster.Type, width, height, channels int) (*Table, error) {
	if addRow[pixel] == nil {
		return nil, noMoments(pixel)
	}
	bytes, err := Bytes(pixel, width, height, channels)
	if err != nil {
		return nil, err
	}
	t := &Table{Width: width, Height: height, Channels: max(1, channels), wide: isWide(pixel), unit: 1}
	if t.words, err = raster.Make[uint64](int(bytes / 8)); err != nil {
		return nil, raster.OutOfMemory("a table of %d×%d pixels in %d channels: %w: use parts of the image", width, height, t.Channels, err)
	}
	return t, nil
}

// noMoments returns the error for a pixel type without moments.
func noMoments(pixel raster.Type) error {
	return raster.Unsupported("moments of %v pixels are not supported, want integers of at most 32 bits or floats", pixel)
}

// perEntry returns the number of words of the ten sums of a channel.
func (t *Table) perEntry() int {
	if t.wide {
		return 2 * orders
	}
	return orders
}

// box returns the ten sums of a box that is not empty, about the image's origin: modulo 2^128 or, in a narrow
// table, modulo 2^64.
func (t *Table) box(box image.Rectangle, channel int) (s sums) {
	n := t.perEntry()
	at := func(x, y int) []uint64 { return t.words[((y*(t.Width+1)+x)*t.Channels+channel)*n:][:n] }
	a, b := at(box.Min.X, box.Min.Y), at(box.Max.X, box.Min.Y)
	c, d := at(box.Min.X, box.Max.Y), at(box.Max.X, box.Max.Y)
	if !t.wide {
		for i := range s {
			s[i].lo = d[i] - c[i] - b[i] + a[i]
		}
		return s
	}
	for i := range s {
		s[i] = pair(d, i).sub(pair(c, i)).sub(pair(b, i)).add(pair(a, i))
	}
	return s
}

func pair(words []uint64, i int) wide { return wide{lo: words[2*i], hi: words[2*i+1]} }

// exact returns the ten sums of a box that is not empty about (x, y).
func (t *Table) exact(box image.Rectangle, channel, x, y int) sums {
	middle := box.Min.Add(box.Max).Div(2)
	if !t.fits(box, middle) {
		a, b := box, box
		if box.Dx() > box.Dy() {
			a.Max.X, b.Min.X = middle.X, middle.X
		} else {
			a.Max.Y, b.Min.Y = middle.Y, middle.Y
		}
		s, rest := t.exact(a, channel, x, y), t.exact(b, channel, x, y)
		s.add(&rest)
		return s
	}
	s := t.box(box, channel)
	if t.wide {
		return s.about(x, y)
	}
	// About the center of the box the sums fit 64 bits, so their lower words are their values.
	s = s.about(middle.X, middle.Y)
	for i := range s {
		s[i] = widen(int64(s[i].lo))
	}
	return s.about(x-middle.X, y-middle.Y)
}

// fits reports whether the sums of a box about its center fit the table's words. Those of wide tables always
// do, as [Table.Integrate] ensures.
func (t *Table) fits(box image.Rectangle, middle image.Point) bool {
	return t.wide || largest(t.peak, middle.X-box.Min.X, box.Max.X-1-middle.X, middle.Y-box.Min.Y, box.Max.Y-1-middle.Y) < math.MaxInt64
}
