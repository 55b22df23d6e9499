package main

import (
	"fmt"
	"io"

	"github.com/boxsum/boxsum/tilted"
)

// The picture of tilted.md: what an entry of a 45° table covers, and a box with
// the four entries that give its sum.

const (
	pixelsX, pixelsY = 14, 10
	pixelSide        = 30
	entryX, entryY   = 8, 7
	panelGap         = 56
)

var tiltedBox = tilted.Box{X: 7, Y: 1, W: 5, H: 3}

// drawTilted writes the picture as SVG.
func drawTilted(w io.Writer) error {
	p := &svg{w: w}
	panel := pixelsX * pixelSide
	width, height := 2*margin+2*panel+panelGap, 2*margin+pixelsY*pixelSide+42
	p.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="Helvetica, Arial, sans-serif">`, width, height, width, height)
	p.printf(`<title>The pixels of an entry of a 45° table, and those of a box with the four entries that give its sum</title>`)
	p.printf(`<rect width="%d" height="%d" rx="10" fill="#ffffff"/>`, width, height)

	p.pixels(margin, func(x, y int) bool { return y < entryY && max(x-entryX+1, entryX-1-x) <= entryY-1-y })
	p.entry(margin, entryX, entryY, "#2f6fb7", "")
	p.caption(margin, fmt.Sprintf("Entry (%d, %d) is the sum of these pixels.", entryX, entryY))

	left := margin + panel + panelGap
	b := tiltedBox
	p.pixels(left, func(x, y int) bool {
		down, across := x+y-(b.X+b.Y-1), b.X-b.Y-1-(x-y)
		return down >= 0 && down < 2*b.W && across >= 0 && across < 2*b.H
	})
	p.side(left, b.X, b.Y, b.X+b.W, b.Y+b.W)
	p.side(left, b.X, b.Y, b.X-b.H, b.Y+b.H)
	p.side(left, b.X+b.W, b.Y+b.W, b.X+b.W-b.H, b.Y+b.W+b.H)
	p.side(left, b.X-b.H, b.Y+b.H, b.X+b.W-b.H, b.Y+b.W+b.H)
	p.entry(left, b.X, b.Y, "#b45f06", "+")
	p.entry(left, b.X-b.H, b.Y+b.H, "#b45f06", "−")
	p.entry(left, b.X+b.W, b.Y+b.W, "#b45f06", "−")
	p.entry(left, b.X+b.W-b.H, b.Y+b.W+b.H, "#b45f06", "+")
	p.caption(left, fmt.Sprintf("Box{X: %d, Y: %d, W: %d, H: %d}, %d pixels: four entries.", b.X, b.Y, b.W, b.H, b.Area()))
	p.printf(`</svg>`)
	return p.err
}

// pixels draws an image with some of its pixels filled.
func (p *svg) pixels(left int, filled func(x, y int) bool) {
	for y := range pixelsY {
		for x := range pixelsX {
			fill := fills[waiting]
			if filled(x, y) {
				fill = fills[aggregate]
			}
			p.printf(`<rect x="%d" y="%d" width="%d" height="%d" rx="3" fill="%s"/>`,
				left+x*pixelSide+1, margin+y*pixelSide+1, pixelSide-2, pixelSide-2, fill)
		}
	}
}

// place is where entry (x, y) lies: under the middle of the pixel at its tip.
func place(left, x, y int) (int, int) { return left + x*pixelSide - pixelSide/2, margin + y*pixelSide }

func (p *svg) entry(left, x, y int, fill, sign string) {
	cx, cy := place(left, x, y)
	if sign == "" {
		p.printf(`<circle cx="%d" cy="%d" r="7" fill="%s"/>`, cx, cy, fill)
		return
	}
	p.printf(`<circle cx="%d" cy="%d" r="11" fill="%s"/>`, cx, cy, fill)
	p.printf(`<text x="%d" y="%d" font-size="18" font-weight="bold" text-anchor="middle" fill="#ffffff">%s</text>`, cx, cy+6, sign)
}

// side is a line between two entries.
func (p *svg) side(left, x0, y0, x1, y1 int) {
	ax, ay := place(left, x0, y0)
	bx, by := place(left, x1, y1)
	p.printf(`<path d="M%d %dL%d %d" stroke="#b45f06" stroke-width="3"/>`, ax, ay, bx, by)
}

func (p *svg) caption(left int, text string) {
	p.printf(`<text x="%d" y="%d" font-size="16" fill="#24292f">%s</text>`, left+2, margin+pixelsY*pixelSide+34, text)
}
