package window

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
)

// An Image is the rows of an image that nobody writes to meanwhile.
type Image struct {
	Src     raster.Array
	Border  Border
	Outside []byte // the row beyond the image, where there is one
}

// Row implements [Rows].
func (m *Image) Row(place int) []byte {
	i := m.Border.Index(place, m.Src.Height)
	if i == outside {
		return m.Outside
	}
	return m.Src.Span(0, i, m.Src.Width)
}

// OutsideRow is a row of what lies outside, if that is not made of the image's pixels: the constant, or pixels that add
// nothing.
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

// fill returns n elements of a value, in the memory of have or of more.
func fill(have []byte, t raster.Type, n int, v float64) []byte {
	have = engine.AtLeast(have, n*t.Bytes())
	windows.Fill(t, have, v)
	return have
}

// CopyTo copies pixels to memory of their own, that of have if it is enough, and points
// the array there.
func CopyTo(have []byte, a *raster.Array) []byte {
	n := a.Width * a.Channels * a.Type.Bytes()
	have = engine.AtLeast(have, n*a.Height)
	for y := range a.Height {
		copy(have[y*n:][:n], a.Span(0, y, a.Width))
	}
	a.Data, a.Stride = have, a.Width*a.Channels
	return have
}

// ownRows are those of a band of an image that its worker writes over, while others write
// over the rest. Those beyond the band were copied before all began, and those that have
// been written over since are in a ring.
type ownRows struct {
	image    *Image
	from, to int // the band
	y        int // the row that is written next
	n        int // bytes of a row
	above    int // how many rows before the band are saved

	saved []byte // the rows before the band and after it
	ring  []byte
	size  int // rows of the ring
}

// save copies what others will write over: as many rows above the band and below it.
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

// Keep copies row y, which is about to be written over.
func (o *ownRows) Keep() {
	copy(o.ring[o.y%o.size*o.n:][:o.n], o.image.Src.Span(0, o.y, o.image.Src.Width))
	o.y++
}
