package window

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel"
)

// An Image is the rows of an image that nobody writes to meanwhile.
type Image[P kernel.Pixel] struct {
	Src     engine.Source[P]
	Border  Border
	Outside []P // the row beyond the image, where there is one
}

// Row implements [Rows].
func (m *Image[P]) Row(place int) []P {
	i := m.Border.Index(place, m.Src.Height)
	if i == outside {
		return m.Outside
	}
	return m.Src.Pix[i*m.Src.Stride:][:m.Src.Width*m.Src.Channels]
}

// outsideRow is a row of what lies outside: the constant, or pixels that add nothing.
func outsideRow[P kernel.Pixel](have []P, f *Frame) []P {
	if f.Border != Constant && f.Border != Clip {
		return have[:0]
	}
	v := P(f.Offset)
	if f.Border == Constant {
		v = P(f.Value)
	}
	have = engine.AtLeast(have, f.Width*f.Channels)
	for i := range have {
		have[i] = v
	}
	return have
}

// ownRows are those of a band of an image that its worker writes over, while others write
// over the rest. Those beyond the band were copied before all began, and those that have
// been written over since are in a ring.
type ownRows[P kernel.Pixel] struct {
	image    *Image[P]
	from, to int // the band
	y        int // the row that is written next
	n        int // elements of a row
	above    int // how many rows before the band are saved

	saved []P // the rows before the band and after it
	ring  []P
	size  int // rows of the ring
}

// save copies what others will write over: as many rows above the band and below it.
func (o *ownRows[P]) save(image *Image[P], from, to, above, below int) {
	n := image.Src.Width * image.Src.Channels
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
func (o *ownRows[P]) Row(place int) []P {
	switch {
	case place < o.from:
		return o.saved[(place-o.from+o.above)*o.n:][:o.n]
	case place >= o.to:
		return o.saved[(place-o.to+o.above)*o.n:][:o.n]
	case place < o.y:
		return o.ring[place%o.size*o.n:][:o.n]
	}
	return o.image.Src.Pix[place*o.image.Src.Stride:][:o.n]
}

// Keep copies row y, which is about to be written over.
func (o *ownRows[P]) Keep() {
	copy(o.ring[o.y%o.size*o.n:][:o.n], o.image.Src.Pix[o.y*o.image.Src.Stride:][:o.n])
	o.y++
}
