// Package window computes the sums of the pixels, and of their squares, in the window
// around every pixel of an image, row by row and without a table: it keeps a running sum
// for each column, computes one prefix sum along the row, and subtracts two entries of it.
// Filters and thresholds are built on it:
//
//	func (l *layer) Tile(worker, x, y, n, rows int) {
//		s, src := l.Start(worker, x, y, n)
//		for end := y + rows; y < end; y++ {
//			s.Down(src, y)
//			r := s.Windows()
//			var p window.Part
//			for i := 0; i < n; { // the pixels of the row
//				r.Cut(&p, i)
//				p.Sums.Means(...)
//				i = p.To
//			}
//		}
//	}
//
// Here the layer embeds [Layer] and is run by an [engine.Engine].
// Types are data: [Frame] holds the types of pixels and sums. Sums of 8-bit pixels fit
// uint32 for windows of up to 2^24 pixels, and sums of their squares for windows of up to
// 66051; larger windows need uint64.
package window

import (
	"fmt"
	"image"
	"math"
	"strings"

	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
)

// A Border determines the pixels outside an image.
type Border uint8

const (
	// Reflect101 mirrors the image at the centers of its outermost pixels: dcb|abcd|cba.
	Reflect101 Border = iota
	// Reflect mirrors the image at its edge: cba|abcd|dcb.
	Reflect
	// Replicate repeats the outermost pixels: aaa|abcd|ddd.
	Replicate
	// Constant uses one value for all pixels outside.
	Constant
	// Wrap repeats the whole image: bcd|abcd|abc.
	Wrap
	// Clip ends windows at the edge of the image.
	Clip
	borders
)

var borderNames = [borders]string{"reflect101", "reflect", "replicate", "constant", "wrap", "clip"}

// String returns the border's name in lower case.
func (b Border) String() string {
	if b < borders {
		return borderNames[b]
	}
	return fmt.Sprintf("border %d", uint8(b))
}

// ParseBorder returns the border with the given name.
func ParseBorder(name string) (Border, error) {
	return raster.ParseName[Border]("border", name, borderNames[:])
}

// Check returns an error if b is not one of the borders.
func (b Border) Check() error {
	if b >= borders {
		return raster.Invalid("unknown %v, want one of %s", b, strings.Join(borderNames[:], ", "))
	}
	return nil
}

// outside is the index of pixels outside the image.
const outside = -1

// Index returns the index of the pixel, out of n (at least one), that appears at position
// i, or outside if there is none. It is short enough to be inlined where the rows of an image are
// looked up.
func (b Border) Index(i, n int) int {
	if uint(i) < uint(n) {
		return i
	}
	return b.indexBeyond(i, n)
}

// indexBeyond is Index for positions beyond the image.
func (b Border) indexBeyond(i, n int) int {
	switch b {
	case Constant, Clip:
		return outside
	case Replicate:
		return min(max(i, 0), n-1)
	}
	p := b.period(n)
	if i %= p; i < 0 {
		i += p
	}
	if i < n {
		return i
	}
	if b == Reflect101 {
		return p - i
	}
	return p - 1 - i
}

// AppendColumns appends, for each of columns [from, to), the indices of the elements of a
// row of the given width that appear there, or -1 where no pixel appears.
func (b Border) AppendColumns(elems []int, from, to, width, channels int) []int {
	for x := from; x < to; x++ {
		at := b.Index(x, width)
		for c := range channels {
			if at == outside {
				elems = append(elems, outside)
			} else {
				elems = append(elems, at*channels+c)
			}
		}
	}
	return elems
}

// period returns the number of positions after which the extended image repeats.
func (b Border) period(n int) int {
	switch {
	case b == Wrap:
		return n
	case b == Reflect:
		return 2 * n
	}
	return max(1, 2*n-2)
}

func (b Border) periodic() bool { return b == Reflect101 || b == Reflect || b == Wrap }

// A Shape is a window: the number of pixels by which it extends on each side of its
// center, at least 0, and the border of the image.
type Shape struct {
	Left, Right, Up, Down int
	Border                Border
	Value                 float64 // the value of the Constant border
}

// maxSide is the largest side of a window: the sum of two sides fits in 32 bits.
const maxSide = 1<<30 - 1

// ShapeOf returns the window of a size, which is shifted from the center of its pixel, and a border with a value for
// pixels of type t.
func ShapeOf(width, height int, shift image.Point, border Border, value float64, t raster.Type) (s Shape, err error) {
	if width <= 0 || height <= 0 || width > maxSide || height > maxSide {
		return s, raster.Invalid("window is %d×%d, want sides of 1 to %d", width, height, maxSide)
	}
	s.Left, s.Up = width/2-shift.X, height/2-shift.Y
	s.Right, s.Down = width-1-s.Left, height-1-s.Up
	if s.Left < 0 || s.Right < 0 || s.Up < 0 || s.Down < 0 {
		return s, raster.Invalid("window is %d×%d shifted by %v, want a shift that keeps the pixel inside the window", width, height, shift)
	}
	if s.Border = border; border != Constant {
		return s, border.Check()
	}
	if err := CheckValue(value, t); err != nil {
		return s, err
	}
	if s.Value = value; t == raster.F32 {
		s.Value = float64(float32(value))
	}
	return s, nil
}

// CheckValue returns an error if pixels of type t cannot have a value.
func CheckValue(v float64, t raster.Type) error {
	if v-v != 0 || math.Abs(v) > t.Max() || !t.Float() && (v < 0 || v != math.Trunc(v)) {
		return raster.Invalid("border value is %v, want one that fits in %v", v, t)
	}
	return nil
}

// Width and Height return the size of the window in pixels.
func (s *Shape) Width() int  { return s.Left + s.Right + 1 }
func (s *Shape) Height() int { return s.Up + s.Down + 1 }

// OnDevice returns the window in the form that device jobs use.
func (s *Shape) OnDevice() device.Window {
	return device.Window{Left: s.Left, Right: s.Right, Up: s.Up, Down: s.Down, Border: uint8(s.Border), Value: s.Value}
}

// OfDevice returns the window of a device job.
func OfDevice(w device.Window) Shape {
	return Shape{Left: w.Left, Right: w.Right, Up: w.Up, Down: w.Down, Border: Border(w.Border), Value: w.Value}
}

// Columns returns where in a row the pixels are that the windows of a row of the image cover, in elements: one for each
// column from Left before the first pixel to Right after the last. It is negative outside the image. Columns reuses the
// memory of to.
func (s *Shape) Columns(to []int, width, channels int) []int {
	to = engine.AtLeast(to, width+s.Width()-1)
	for i := range to {
		if to[i] = s.Border.Index(i-s.Left, width); to[i] >= 0 {
			to[i] *= channels
		}
	}
	return to
}

// An axis describes windows along one side of the image: the range of positions that
// differs between pixels. Whole periods of the image, and positions outside the image for
// all pixels, are omitted from the range, so it is never much larger than the image.
type axis struct {
	n, before, after int // length of the image, and extent of the window before and after its center
	border           Border

	start, span int // the window of position x is [x-start, x-start+span)
	periods     int // number of whole periods that every window contains in addition
	low, high   int // number of times that every window contains the first and the last pixel in addition
}

func newAxis(n, before, after int, b Border) axis {
	a := axis{n: n, before: before, after: after, border: b, start: before, span: before + after + 1}
	if n == 0 {
		return a
	}
	if b.periodic() {
		if p := b.period(n); a.span > p {
			a.periods = (a.span - 1) / p
			a.span -= a.periods * p
			a.start %= p
		}
		return a
	}
	a.low, a.high = max(0, before-n), max(0, after-n)
	a.start -= a.low
	a.span -= a.low + a.high
	if b == Clip {
		a.low, a.high = 0, 0
	}
	return a
}

// count returns the number of positions inside the image in the window of x.
func (a *axis) count(x int) int { return min(x+a.after+1, a.n) - max(x-a.before, 0) }

// weight returns the number of times that pixel i of the image appears in the window of
// y.
func (a *axis) weight(y, i int) int {
	from, to := y-a.before, y+a.after+1
	if !a.border.periodic() {
		w := 0
		if i >= from && i < to {
			w = 1
		}
		if a.border == Replicate && i == 0 {
			w += max(0, min(0, to)-from)
		}
		if a.border == Replicate && i == a.n-1 {
			w += max(0, to-max(a.n, from))
		}
		return w
	}
	// Count the positions equal to i and, once per period, those equal to its mirror
	// image.
	p := a.border.period(a.n)
	w := upTo(to, i, p) - upTo(from, i, p)
	mirror := p - i
	if a.border == Reflect {
		mirror--
	}
	if a.border == Wrap || a.border == Reflect101 && (i == 0 || i == a.n-1) {
		return w
	}
	return w + upTo(to, mirror, p) - upTo(from, mirror, p)
}

// upTo returns the number of integers below end that are congruent to i modulo p, counted
// from a fixed start that is far enough below.
func upTo(end, i, p int) int {
	d := end - 1 - i
	if d < 0 {
		return -((-d + p - 1) / p) + 1
	}
	return d/p + 1
}

// outsideCount returns the number of positions outside the image in the window of y.
func (a *axis) outsideCount(y int) int { return a.before + a.after + 1 - max(0, a.count(y)) }
