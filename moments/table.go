package moments

import (
	"image"
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/pairs"
)

//go:generate go run github.com/boxsum/boxsum/internal/pairs/expand -out options.go -template ../internal/kinds/options.tmpl -with moments

// A Table holds the sums of x^p·y^q·I for p+q ≤ 3 from which the moments of any
// box come. It comes from [NewTable] or [Integrate], and its fields are for
// reading. It is safe for use by several goroutines as long as none integrates
// into it.
type Table struct {
	Width, Height int // of the image
	Channels      int

	wide  bool     // two words a sum, the lower first
	words []uint64 // entry (x, y) of channel c starts at ((y·(Width+1)+x)·Channels+c)·orders sums

	peak float64 // no pixel is larger, in units
	unit float64 // a power of two; 1 for integers
}

// isWide reports whether the sums of these pixels take 128 bits.
func isWide(of pairs.Type) bool { return of.Bytes() > 2 }

// maxSide keeps coordinates and their squares in a word.
const maxSide = 1 << 30

// Bytes is how much memory the table of an image takes. Zero channels stand
// for one.
func Bytes[P boxsum.Pixel](width, height, channels int) (int64, error) {
	return bytesOf(pairs.TypeOf[P](), width, height, channels)
}

func bytesOf(of pairs.Type, width, height, channels int) (int64, error) {
	e := grid.Plane(width, height, channels, 0)
	if err := e.Sized(); err != nil {
		return 0, err
	}
	if width > maxSide || height > maxSide {
		return 0, grid.Invalid("%v: sides are 0 to %d", e, maxSide)
	}
	entry := orders * 8
	if isWide(of) {
		entry *= 2
	}
	bytes := float64(width+1) * float64(height+1) * float64(e.Channels) * float64(entry)
	if bytes > math.MaxInt/2 { // which leaves room for what is round it
		return 0, grid.Invalid("a table of %v would take %.3g bytes, more than memory can hold", e, bytes)
	}
	return int64(width+1) * int64(height+1) * int64(e.Channels) * int64(entry), nil
}

// NewTable allocates a table for images of this size and type of pixels. Zero
// channels stand for one.
func NewTable[P boxsum.Pixel](width, height, channels int) (*Table, error) {
	return newTable(pairs.TypeOf[P](), width, height, channels)
}

func newTable(of pairs.Type, width, height, channels int) (*Table, error) {
	bytes, err := bytesOf(of, width, height, channels)
	if err != nil {
		return nil, err
	}
	t := &Table{Width: width, Height: height, Channels: max(1, channels), wide: isWide(of), unit: 1}
	if t.words, err = grid.Make[uint64](int(bytes / 8)); err != nil {
		return nil, grid.OutOfMemory("a table of %d×%d pixels in %d channels: %w: use parts of the image", width, height, t.Channels, err)
	}
	return t, nil
}

// Bounds is that of the image, from (0, 0) on.
func (t *Table) Bounds() image.Rectangle {
	if t == nil {
		return image.Rectangle{}
	}
	return image.Rect(0, 0, t.Width, t.Height)
}

// perEntry is how many words the ten sums of a channel take.
func (t *Table) perEntry() int {
	if t.wide {
		return 2 * orders
	}
	return orders
}

// box is the ten sums of a box that is not empty, about the image's origin:
// modulo 2^128, or 2^64 where the table is narrow.
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

// exact is the ten sums of a box that is not empty about (x, y), exact.
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
	// About the middle of the box the sums fit 64 bits: there they are what
	// their lower words say.
	s = s.about(middle.X, middle.Y)
	for i := range s {
		s[i] = widen(int64(s[i].lo))
	}
	return s.about(x-middle.X, y-middle.Y)
}

// fits reports whether the sums of a box about its middle fit the table's words.
// Those of wide tables always do: [Integrate] sees to it.
func (t *Table) fits(box image.Rectangle, middle image.Point) bool {
	return t.wide || largest(t.peak, middle.X-box.Min.X, box.Max.X-1-middle.X, middle.Y-box.Min.Y, box.Max.Y-1-middle.Y) < math.MaxInt64
}
