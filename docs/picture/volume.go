package main

import (
	"fmt"
	"io"
	"strings"
)

// The picture of volume.md: a box in a volume with the eight entries that give
// its sum, and how a table of a volume is made.

// A view shows a volume from its front, a little from the right and above.
type view struct{ left, top int }

const (
	voxelSide = 38
	depthX    = 21 // how much a slice lies further right, and further up
	depthY    = 17
)

// at is where the corner (x, y, z) lies.
func (v view) at(x, y, z int) (int, int) {
	return v.left + x*voxelSide + z*depthX, v.top + y*voxelSide - z*depthY
}

// face is a polygon between corners.
func (v view) face(p *svg, style string, corners ...[3]int) {
	var points []string
	for _, c := range corners {
		x, y := v.at(c[0], c[1], c[2])
		points = append(points, fmt.Sprintf("%d,%d", x, y))
	}
	p.printf(`<polygon points="%s" %s/>`, strings.Join(points, " "), style)
}

// faces are the three faces of a box that the viewer sees.
func (v view) faces(p *svg, front, top, side string, x0, y0, z0, x1, y1, z1 int) {
	v.face(p, top, [3]int{x0, y0, z0}, [3]int{x1, y0, z0}, [3]int{x1, y0, z1}, [3]int{x0, y0, z1})
	v.face(p, side, [3]int{x1, y0, z0}, [3]int{x1, y1, z0}, [3]int{x1, y1, z1}, [3]int{x1, y0, z1})
	v.face(p, front, [3]int{x0, y0, z0}, [3]int{x1, y0, z0}, [3]int{x1, y1, z0}, [3]int{x0, y1, z0})
}

// edges are the three edges of a box that the viewer does not see.
func (v view) edges(p *svg, style string, x0, y0, z0, x1, y1, z1 int) {
	for _, end := range [][3]int{{x1, y1, z1}, {x0, y0, z1}, {x0, y1, z0}} {
		ax, ay := v.at(x0, y1, z1)
		bx, by := v.at(end[0], end[1], end[2])
		p.printf(`<path d="M%d %dL%d %d" %s/>`, ax, ay, bx, by, style)
	}
}

// drawVolume writes the picture as SVG.
func drawVolume(w io.Writer) error {
	const wide, high, deep = 9, 7, 7
	p := &svg{w: w}
	panel := wide*voxelSide + deep*depthX
	top := margin + deep*depthY + 8
	width, height := 2*margin+2*panel+panelGap, top+high*voxelSide+52
	p.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="Helvetica, Arial, sans-serif">`, width, height, width, height)
	p.printf(`<title>A box in a volume with the eight entries that give its sum, and a band of rows that goes through all slices</title>`)
	p.printf(`<rect width="%d" height="%d" rx="10" fill="#ffffff"/>`, width, height)
	text := func(left int, text string) {
		p.printf(`<text x="%d" y="%d" font-size="16" fill="#24292f">%s</text>`, left, top+high*voxelSide+34, text)
	}

	const pale, line = `fill="#eef1f5" stroke="#c2c9d2"`, `stroke="#c2c9d2" stroke-dasharray="4 4"`
	left := view{margin, top}
	left.faces(p, pale, pale, pale, 0, 0, 0, wide, high, deep)
	left.edges(p, line, 0, 0, 0, wide, high, deep)
	const x0, y0, z0, x1, y1, z1 = 2, 2, 2, 6, 6, 6
	left.faces(p, `fill="#a9cdf5" stroke="#2f6fb7" stroke-width="2"`, `fill="#cfe3fa" stroke="#2f6fb7" stroke-width="2"`, `fill="#85b4ea" stroke="#2f6fb7" stroke-width="2"`,
		x0, y0, z0, x1, y1, z1)
	left.edges(p, `stroke="#2f6fb7" stroke-dasharray="4 4"`, x0, y0, z0, x1, y1, z1)
	for corner := range 8 {
		at, low := [3]int{x1, y1, z1}, 0
		for axis, first := range [3]int{x0, y0, z0} {
			if corner>>axis&1 == 1 {
				at[axis] = first
				low++
			}
		}
		x, y := left.at(at[0], at[1], at[2])
		p.printf(`<circle cx="%d" cy="%d" r="11" fill="#b45f06"/>`, x, y)
		p.printf(`<text x="%d" y="%d" font-size="18" font-weight="bold" text-anchor="middle" fill="#ffffff">%s</text>`, x, y+6, []string{"+", "−"}[low%2])
	}
	text(margin, "The sum of a box: eight entries.")

	right := view{margin + panel + panelGap, top}
	bands := []struct {
		y0, y1           int
		front, top, side string
	}{ // what is lower and further back comes first
		{5, high, "#eef1f5", "#f6f8fa", "#dde2e9"},
		{2, 5, "#a9cdf5", "#cfe3fa", "#85b4ea"},
		{0, 2, "#eef1f5", "#f6f8fa", "#dde2e9"},
	}
	style := func(fill string) string { return fmt.Sprintf(`fill="%s" stroke="#ffffff" stroke-width="2"`, fill) }
	for z := deep - 1; z >= 0; z-- {
		for _, b := range bands {
			right.faces(p, style(b.front), style(b.top), style(b.side), 0, b.y0, z, wide, b.y1, z+1)
		}
	}
	text(right.left, "A worker takes a band of rows through all slices.")
	p.printf(`</svg>`)
	return p.err
}
