// Package plot draws charts in print quality, as SVG and as PNG, with the same drawing code.
//
// Each line has its own color, marker and dash pattern, so that most people can distinguish lines,
// even in gray. Its name is to the right of the data, next to the line's end. The label of the y-axis
// is above the axis, where it can be read without rotating it.
package plot

import (
	"fmt"
	"image/png"
	"io"
	"math"
)

// A Figure is a chart that can be drawn.
type Figure interface {
	// Size returns its size in pixels of the SVG.
	Size() (width, height float64)
	draw(canvas)
	title() string
}

// A Chart has lines over two axes.
type Chart struct {
	Title  string
	X, Y   Axis
	Series []Series
}

// An Axis maps values to positions. Its range is the range of the data.
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

// A Point is a value. If High is not zero, Low and High are the range of the measurements.
type Point struct{ X, Y, Low, High float64 }

// A Style is the appearance of a series. Related series share a Hue.
type Style struct {
	Hue    int  // index of the color and the marker
	Dash   int  // 0 is solid; 1 to 3 are increasingly short dashes
	Hollow bool // markers are outlines
	Heavy  bool // a thicker line
	Bare   bool // without markers, for limits and ideals
}

// Check returns an error if the chart cannot be drawn.
func (c *Chart) Check() error {
	n := 0
	for _, s := range c.Series {
		for _, p := range s.Points {
			n++
			if !fits(c.X, p.X) || !fits(c.Y, p.Y) || p.High != 0 && (!fits(c.Y, p.Low) || !fits(c.Y, p.High)) {
				return fmt.Errorf("%s: point (%v, %v) of %q does not fit on the axes", c.Title, p.X, p.Y, s.Name)
			}
		}
	}
	if n == 0 {
		return fmt.Errorf("%s: the chart has no points", c.Title)
	}
	return nil
}

// fits reports whether an axis can show a value: it excludes NaN, infinities, and numbers so large or
// small that the axis would overflow.
func fits(a Axis, v float64) bool {
	if v == 0 {
		return !a.Log
	}
	return math.Abs(v) > 1e-100 && math.Abs(v) < 1e100 && (v > 0 || !a.Log)
}

// SVG writes a figure as a self-contained document, which can also be included in an HTML page.
func SVG(w io.Writer, f Figure) error {
	width, height := f.Size()
	c := newSVG(width, height, f.title())
	f.draw(c)
	return c.write(w)
}

// pngScale is the number of PNG pixels per SVG pixel: print and high-resolution screens need two.
const pngScale = 2

// PNG writes a figure as a PNG of twice the SVG's size in pixels.
func PNG(w io.Writer, f Figure) error {
	width, height := f.Size()
	c := newRaster(width, height)
	f.draw(c)
	return png.Encode(w, c.image)
}
