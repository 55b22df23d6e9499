package boxsum

import (
	"math"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/exact"
	"github.com/boxsum/boxsum/internal/grid"
)

// An Image64 is an image of 64-bit integers, laid out as an [Image]. It has a table of
// sums, see [Integrate64]. Other tables take pixels of up to 32 bits, and float64.
type Image64[T int64 | uint64] struct {
	Pix           []T
	Stride        int // elements from one row to the next
	Width, Height int
	Channels      int
}

// Row is the pixels of row y, Width*Channels of them, and nil for a row that
// the image does not have.
func (im Image64[T]) Row(y int) []T {
	e, err := im.checked()
	if n := e.Width * e.Channels; err == nil && y >= 0 && y < e.Height && n > 0 {
		return im.Pix[y*e.Stride:][:n:n]
	}
	return nil
}

// checked is the extent with its defaults, and what is wrong with it.
func (im *Image64[T]) checked() (grid.Extent, error) {
	e := grid.Plane(im.Width, im.Height, im.Channels, im.Stride)
	return e, e.Pixels(len(im.Pix))
}

// Integrate64 makes the table of an image of 64-bit integers. Sums wrap modulo 2^64: a
// box whose own sum fits the type is exact, and means are right for every box. Workers
// and Level are for nothing here: one goroutine writes as fast as memory takes it.
func Integrate64[T int64 | uint64](src Image64[T], opt *Options) (*Table[T], error) {
	set, err := check64(&src, opt)
	if err != nil {
		return nil, err
	}
	t, err := NewTable[T](src.Width, src.Height, src.Channels)
	if err == nil {
		err = fill64(t, src, &set, opt)
	}
	return grid.OrNil(t, err)
}

// Integrate64Into is [Integrate64] in dst, as [IntegrateInto] is [Integrate].
func Integrate64Into[T int64 | uint64](dst *Table[T], src Image64[T], opt *Options) error {
	set, err := check64(&src, opt)
	if err != nil {
		return err
	}
	if dst == nil {
		return grid.NoTable()
	}
	from, to := grid.Plane(src.Width, src.Height, src.Channels, src.Stride), dst.extent()
	if err := to.Accept(&from, len(dst.Sums)); err != nil {
		return err
	}
	if err := grid.Overlap(src.Pix, dst.Sums); err != nil {
		return err
	}
	dst.Channels, dst.Stride = to.Channels, to.Stride
	return fill64(dst, src, &set, opt)
}

// check64 fills in the defaults of an image.
func check64[T int64 | uint64](src *Image64[T], opt *Options) (engine.Settings, error) {
	set, err := engineOptions(opt).Check()
	if err != nil {
		return set, err
	}
	if opt != nil && opt.Offset != 0 {
		return set, grid.Types("an offset is for floats, and not for %T pixels", *new(T))
	}
	e, err := src.checked()
	src.Channels, src.Stride = e.Channels, e.Stride
	return set, err
}

// fill64 makes the table of an image that was found good.
func fill64[T int64 | uint64](dst *Table[T], src Image64[T], set *engine.Settings, opt *Options) error {
	const report = 64 // rows
	progress := func(float64) {}
	if opt != nil && opt.Progress != nil {
		progress = opt.Progress
	}
	n, channels := src.Width*src.Channels, src.Channels
	clear(dst.Sums[:n+channels])
	above, bits := dst.Sums[:n+channels], uint64(0)
	for y := range src.Height {
		if y%report == 0 {
			if err := set.Stopped(); err != nil {
				return err
			}
			progress(float64(y) / float64(src.Height))
		}
		row := dst.Sums[(y+1)*dst.Stride:][:n+channels]
		bits |= sum64(row, above, src.Row(y), channels)
		above = row
	}
	dst.Offset, dst.first, dst.valid, dst.pixels = 0, nil, nil, pixels64[T](bits)
	progress(1)
	return nil
}

// sum64 writes a row of a table below another. It returns the bits that the magnitudes
// of the pixels have.
func sum64[T int64 | uint64](dst, above, pixels []T, channels int) (bits uint64) {
	clear(dst[:channels])
	left, above, dst := dst, above[channels:][:len(pixels)], dst[channels:][:len(pixels)]
	if channels == 1 {
		var sum T
		for i, p := range pixels {
			sum += p
			dst[i] = above[i] + sum
			bits |= magnitude(p)
		}
		return bits
	}
	// What a row adds is the entry on the left, less what is above that.
	corner := above
	for i, p := range pixels {
		bits |= magnitude(p)
		if dst[i] = above[i] + p; i >= channels {
			dst[i] += left[i] - corner[i-channels]
		}
	}
	return bits
}

// magnitude has the bits of a number, or of one more than it if it is negative.
func magnitude[T int64 | uint64](p T) uint64 {
	if p < 0 {
		p = ^p
	}
	return uint64(p)
}

// pixels64 is what a table knows of pixels whose magnitudes have these bits.
func pixels64[T int64 | uint64](bits uint64) exact.Pixels {
	bound := uint64(math.MaxUint64) // all bits below the highest, and one more for negative ones
	for bound>>1 >= bits && bound > 0 {
		bound >>= 1
	}
	if *new(T)-1 < 0 && bound < math.MaxUint64 {
		bound++
	}
	return exact.Pixels{Most: max(1, exact.MostOf[T](bound, false))}
}

// A Stream64 makes the table of an image of 64-bit integers row by row, as a [Stream]
// does of others.
type Stream64[T int64 | uint64] struct {
	rows     [2][]T
	channels int
	pushed   int
}

// NewStream64 starts a table for rows of this many pixels and channels.
func NewStream64[T int64 | uint64](width, channels int) (*Stream64[T], error) {
	e := grid.Plane(width, 0, channels, 0)
	if err := e.Pixels(0); err != nil {
		return nil, err
	}
	s := &Stream64[T]{channels: e.Channels}
	for i := range s.rows {
		row, err := grid.Make[T]((width + 1) * e.Channels)
		if err != nil {
			return nil, err
		}
		s.rows[i] = row
	}
	return s, nil
}

// Push takes the next row of pixels and gives the next row of the table, which is valid
// until the next Push.
func (s *Stream64[T]) Push(row []T) ([]T, error) {
	if s == nil || s.channels == 0 {
		return nil, grid.Invalid("a stream that was not made by its constructor")
	}
	if n := len(s.rows[0]) - s.channels; len(row) != n {
		return nil, grid.Invalid("a row of %d values, the stream takes %d", len(row), n)
	}
	s.pushed++
	dst := s.rows[s.pushed%2]
	sum64(dst, s.rows[1-s.pushed%2], row, s.channels)
	return dst, nil
}
