package window

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
)

// An Image provides the rows of an image that is not overwritten meanwhile.
type Image struct {
	Src     raster.Array
	Border  Border
	Outside []byte // the row outside the image, for the borders Constant and Clip
}

// Row implements [Rows].
func (m *Image) Row(place int) []byte {
	i := m.Border.Index(place, m.Src.Height)
	if i == outside {
		return m.Outside
	}
	return m.Src.Span(0, i, m.Src.Width)
}

// A Wide provides the rows of an image extended by Pad pixels on each side according to
// the border, which is Replicate or Constant. A row is valid until the next but one is
// requested.
type Wide struct {
	Image *Image
	Pad   int
	Value float64 // of the Constant border
	rows  [2][]byte
}

// Row implements [Rows].
func (w *Wide) Row(place int) []byte {
	src := w.Image.Row(place)
	pixel := w.Image.Src.Channels * w.Image.Src.Type.Bytes()
	row := engine.AtLeast(w.rows[1], len(src)+2*w.Pad*pixel)
	w.rows[0], w.rows[1] = row, w.rows[0]
	n := copy(row[w.Pad*pixel:], src)
	left, right := row[:w.Pad*pixel], row[w.Pad*pixel+n:]
	if w.Image.Border == Constant {
		windows.Fill(w.Image.Src.Type, left, w.Value)
		windows.Fill(w.Image.Src.Type, right, w.Value)
	} else {
		windows.Repeat(left, src[:pixel])
		windows.Repeat(right, src[len(src)-pixel:])
	}
	return row
}

// Forget drops references to the image. It returns the size of the memory that w keeps.
func (w *Wide) Forget() int {
	w.Image = nil
	return engine.Bytes(w.rows[0]) + engine.Bytes(w.rows[1])
}

// OutsideRow returns the row outside the image for borders that do not repeat its pixels:
// a row of the constant, or of pixels that add nothing to a sum.
func OutsideRow(have []byte, f *Frame) []byte {
	v := f.Offset
	switch f.Border {
	case Clip:
	case Constant:
		v = f.Value
	default:
		return have[:0]
	}
	return fill(have, f.Pixel, f.Width*f.Channels, v)
}

// fill returns n elements of the given value, reusing the memory of have if it suffices.
func fill(have []byte, t raster.Type, n int, v float64) []byte {
	have = engine.AtLeast(have, n*t.Bytes())
	windows.Fill(t, have, v)
	return have
}

// CopyTo copies the pixels to memory of their own, reusing have if it suffices, and makes
// the array refer to the copy. It returns the memory.
func CopyTo(have []byte, a *raster.Array) []byte {
	n := a.Width * a.Channels * a.Type.Bytes()
	have = engine.AtLeast(have, n*a.Height)
	for y := range a.Height {
		copy(have[y*n:][:n], a.Span(0, y, a.Width))
	}
	a.Data, a.Stride = have, a.Width*a.Channels
	return have
}

// ownRows provides the rows that a band reads if the whole image is being overwritten:
// the band by its own worker, the rest by others. Rows outside the band were copied
// before the work began. Rows of the band that have been overwritten are kept in a ring
// buffer.
type ownRows struct {
	image    *Image
	from, to int // the rows of the band
	y        int // the next row to be overwritten
	n        int // size of a row in bytes
	above    int // number of saved rows above the band

	saved []byte // the rows above and below the band
	ring  []byte
	size  int // number of rows in the ring buffer
}

// save copies the rows above and below the band, which other workers will overwrite.
func (o *ownRows) save(image *Image, from, to, above, below int) {
	n := image.Src.Width * image.Src.Channels * image.Src.Type.Bytes()
	o.image, o.from, o.to, o.y, o.n, o.above, o.size = image, from, to, from, n, above, above+1
	o.saved = engine.AtLeast(o.saved, (above+below)*n)
	o.ring = engine.AtLeast(o.ring, o.size*n)
	for i := range above {
		copy(o.saved[i*n:][:n], image.Row(from-above+i))
	}
	for i := range below {
		copy(o.saved[(above+i)*n:][:n], image.Row(to+i))
	}
}

// Row implements [Rows].
func (o *ownRows) Row(place int) []byte {
	switch {
	case place < o.from:
		return o.saved[(place-o.from+o.above)*o.n:][:o.n]
	case place >= o.to:
		return o.saved[(place-o.to+o.above)*o.n:][:o.n]
	case place < o.y:
		return o.ring[place%o.size*o.n:][:o.n]
	}
	return o.image.Src.Span(0, place, o.image.Src.Width)
}

// Keep copies row y, which is about to be overwritten.
func (o *ownRows) Keep() {
	copy(o.ring[o.y%o.size*o.n:][:o.n], o.image.Src.Span(0, o.y, o.image.Src.Width))
	o.y++
}
