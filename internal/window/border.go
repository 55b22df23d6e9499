// Package window gives the sums of the pixels, and of their squares, in the window
// round every pixel of an image, row by row and without a table: one running sum for
// each column, one prefix along the row, and the difference of two places of it. Filters
// and thresholds stand on it:
//
//	func (l *layer) Row(worker, x, y, n int, pix []uint8, s *window.Sums) {
//		r := s.Windows()
//		var p window.Part
//		for x := 0; x < n; { // the pixels of the row, from column x on
//			r.Cut(&p, x)
//			p.Sums.Means(...)
//			x = p.To
//		}
//	}
//
// where a layer embeds [Layer], of which the sink is the layer itself, and engine.Run fills
// it. Types are data: [Frame] says what pixels and sums are. Sums of 8-bit pixels fit uint32
// up to 2^24 pixels in a window and those of their squares up to 66051; larger windows take
// uint64.
package window

import (
	"fmt"

	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/raster"
)

// A Border says what lies outside of an image.
type Border uint8

const (
	// Reflect101 mirrors the image at the middle of its outermost pixels: dcb|abcd|cba.
	Reflect101 Border = iota
	// Reflect mirrors it at its edge: cba|abcd|dcb.
	Reflect
	// Replicate goes on with the outermost pixels: aaa|abcd|ddd.
	Replicate
	// Constant is one value everywhere.
	Constant
	// Wrap is the image again: bcd|abcd|abc.
	Wrap
	// Clip is nothing: windows end at the edge.
	Clip
	borders
)

var borderNames = [borders]string{"reflect101", "reflect", "replicate", "constant", "wrap", "clip"}

// String is the border's name in lower case.
func (b Border) String() string {
	if b < borders {
		return borderNames[b]
	}
	return fmt.Sprintf("border %d", uint8(b))
}

// ParseBorder is the border of that name.
func ParseBorder(name string) (Border, error) {
	for b, n := range borderNames {
		if n == name {
			return Border(b), nil
		}
	}
	return 0, raster.Invalid("unknown border %q: use one of %v", name, borderNames)
}

// Check is an error for a border that there is not.
func (b Border) Check() error {
	if b >= borders {
		return raster.Invalid("unknown %v: use one of %v", b, borderNames)
	}
	return nil
}

// outside is the place of what the image does not have.
const outside = -1

// Index is which of n pixels, one or more, stands at place i, and outside where that is
// none of them.
func (b Border) Index(i, n int) int {
	if uint(i) < uint(n) {
		return i
	}
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

// period is after how many places the image comes again.
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

// A Shape is a window: how far it reaches from its pixel on each side, 0 or more, and
// what it finds outside of the image.
type Shape struct {
	Left, Right, Up, Down int
	Border                Border
	Value                 float64 // of Constant
}

// Width and Height are the pixels of a window across and down.
func (s *Shape) Width() int  { return s.Left + s.Right + 1 }
func (s *Shape) Height() int { return s.Up + s.Down + 1 }

// OnDevice returns the window for a job of a device.
func (s *Shape) OnDevice() device.Window {
	return device.Window{Left: s.Left, Right: s.Right, Up: s.Up, Down: s.Down, Border: uint8(s.Border), Value: s.Value}
}

// OfDevice returns the window of a job of a device.
func OfDevice(w device.Window) Shape {
	return Shape{Left: w.Left, Right: w.Right, Up: w.Up, Down: w.Down, Border: Border(w.Border), Value: w.Value}
}

// An axis is a window along one side of an image, less what is the same for all pixels:
// whole periods of the image, and what lies beyond the reach of the farthest pixel. So
// it is never much larger than the image.
type axis struct {
	n, before, after int // as they were asked for
	border           Border

	start, span int // the window of place x is [x-start, x-start+span)
	periods     int // that every window has besides
	low, high   int // how often every window has the first and the last place besides
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

// count is how many places of the window of x the image has, where windows are clipped.
func (a *axis) count(x int) int { return min(x+a.after+1, a.n) - max(x-a.before, 0) }

// weight is how often the window of y has place i of the image.
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
	// Places that are i, and those that are its mirror image, each once a period.
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

// upTo is how many numbers below end are i modulo p, counted from far enough below.
func upTo(end, i, p int) int {
	d := end - 1 - i
	if d < 0 {
		return -((-d + p - 1) / p) + 1
	}
	return d/p + 1
}

// outsideCount is how many places of the window of y the image does not have.
func (a *axis) outsideCount(y int) int { return a.before + a.after + 1 - max(0, a.count(y)) }
