// Package plot draws charts that a paper could print, as SVG and as PNG, from
// the same drawing code.
//
// A line has a colour, a marker and a dash of its own, so that it is told from
// the others by most eyes and in grey too. What it is called stands to the right
// of the data, beside its end. The label of the y-axis lies over it, where it
// can be read without turning one's head.
package plot

import (
	"fmt"
	"image/png"
	"io"
	"math"
)

// A Figure is something that can be drawn.
type Figure interface {
	// Size is how large it is, in pixels of the SVG.
	Size() (width, height float64)
	draw(canvas)
	title() string
}

// A Chart is lines over two axes.
type Chart struct {
	Title  string
	X, Y   Axis
	Series []Series
}

// An Axis says how values become positions. Its range is that of the data.
type Axis struct {
	Label string // with the unit
	Log   bool
	Zero  bool   // a linear axis that starts at 0
	Ticks []Tick // nil means round numbers
}

// A Tick is a named position on an axis.
type Tick struct {
	At    float64
	Label string
}

// A Series is one line of a chart. Points are joined in their order.
type Series struct {
	Name   string
	Points []Point
	Style  Style
}

// A Point is a value, and if High is not zero the range that it was found in.
type Point struct{ X, Y, Low, High float64 }

// A Style is how a series looks. Series that belong together share a Hue.
type Style struct {
	Hue    int  // which of the colours, and with it the marker
	Dash   int  // 0 is a solid line, and 1 to 3 are dashes that grow shorter
	Hollow bool // markers are outlines
	Heavy  bool // a thicker line
	Bare   bool // no markers: for limits and ideals
}

// Check says what cannot be drawn.
func (c *Chart) Check() error {
	n := 0
	for _, s := range c.Series {
		for _, p := range s.Points {
			n++
			if !fits(c.X, p.X) || !fits(c.Y, p.Y) || p.High != 0 && (!fits(c.Y, p.Low) || !fits(c.Y, p.High)) {
				return fmt.Errorf("plot: %s: (%v, %v) of %q has no place on its axes", c.Title, p.X, p.Y, s.Name)
			}
		}
	}
	if n == 0 {
		return fmt.Errorf("plot: %s: there is nothing to draw", c.Title)
	}
	return nil
}

// fits leaves out what is no number, and numbers so large or small that the axes
// about them would not be.
func fits(a Axis, v float64) bool {
	if v == 0 {
		return !a.Log
	}
	return math.Abs(v) > 1e-100 && math.Abs(v) < 1e100 && (v > 0 || !a.Log)
}

// SVG writes a figure as a document that needs nothing else. It can also stand
// inside of an HTML page.
func SVG(w io.Writer, f Figure) error {
	width, height := f.Size()
	c := newSVG(width, height, f.title())
	f.draw(c)
	return c.write(w)
}

// pngScale is how many pixels of a PNG one of the SVG is: print and sharp
// screens want two.
const pngScale = 2

// PNG writes a figure as a picture of twice the pixels.
func PNG(w io.Writer, f Figure) error {
	width, height := f.Size()
	c := newRaster(width, height)
	f.draw(c)
	return png.Encode(w, c.image)
}
