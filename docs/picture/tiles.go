package main

import (
	"fmt"
	"io"
)

// The picture of docs/gpu.md: tiles in the order in which blocks draw them, and
// one of them that looks back.

const (
	tilesX, tilesY = 9, 6
	tileW, tileH   = 62, 46
	margin         = 18
	drawn          = 38 // tickets that are out
	lookerX        = 5
	lookerY        = 3
)

// How far a tile has come.
const (
	waiting   = iota // nobody has drawn it
	aggregate        // its own sums are public
	prefix           // so is everything before it
	looking
)

var fills = [...]string{waiting: "#eef1f5", aggregate: "#a9cdf5", prefix: "#2f6fb7", looking: "#ffb030"}
var inks = [...]string{waiting: "#9aa5b1", aggregate: "#1d3f66", prefix: "#ffffff", looking: "#3a2500"}

// drawTiles writes the picture as SVG.
func drawTiles(w io.Writer) error {
	p := &svg{w: w}
	width, height := 2*margin+tilesX*tileW+330, 2*margin+tilesY*tileH
	p.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="Helvetica, Arial, sans-serif">`, width, height, width, height)
	p.printf(`<title>Tiles of an image in the order in which they are drawn, and one that looks back along its row and its column</title>`)
	p.printf(`<rect width="%d" height="%d" rx="10" fill="#ffffff"/>`, width, height)
	for y := range tilesY {
		for x := range tilesX {
			p.tile(x, y)
		}
	}
	// Hops: along the row, up the column, until something dark is met.
	for _, hop := range [][4]int{
		{lookerX, lookerY, lookerX - 1, lookerY}, {lookerX - 1, lookerY, lookerX - 2, lookerY},
		{lookerX, lookerY, lookerX, lookerY - 1}, {lookerX, lookerY - 1, lookerX, lookerY - 2},
	} {
		p.hop(hop[0], hop[1], hop[2], hop[3])
	}
	p.legend(2*margin + tilesX*tileW)
	p.printf(`</svg>`)
	return p.err
}

// ticket is when the tile's turn comes: diagonal by diagonal, each from its top.
func ticket(x, y int) int {
	n := 0
	for ty := range tilesY {
		for tx := range tilesX {
			if tx+ty < x+y || tx+ty == x+y && ty < y {
				n++
			}
		}
	}
	return n
}

func stateOf(x, y int) int {
	n := ticket(x, y)
	switch {
	case x == lookerX && y == lookerY:
		return looking
	case n >= drawn:
		return waiting
	case x == lookerX-1 && y == lookerY, x == lookerX && y == lookerY-1, x+y >= lookerX+lookerY:
		return aggregate
	}
	return prefix
}

type svg struct {
	w   io.Writer
	err error
}

func (p *svg) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

func (p *svg) tile(x, y int) {
	left, top, state := margin+x*tileW, margin+y*tileH, stateOf(x, y)
	p.printf(`<rect x="%d" y="%d" width="%d" height="%d" rx="4" fill="%s"/>`, left+2, top+2, tileW-4, tileH-4, fills[state])
	p.printf(`<text x="%d" y="%d" font-size="12" fill="%s">%d</text>`, left+8, top+17, inks[state], ticket(x, y)+1)
}

// hop is an arrow from one tile to the one left of it or above it.
func (p *svg) hop(x0, y0, x1, y1 int) {
	const from, to, tip = 9, 3, 9 // how far from the centres the arrow begins and ends, and the length of its head
	dx, dy := x1-x0, y1-y0
	ax, ay := margin+x0*tileW+tileW/2+6+dx*from, margin+y0*tileH+tileH/2+6+dy*from
	bx, by := margin+x1*tileW+tileW/2+6-dx*to, margin+y1*tileH+tileH/2+6-dy*to
	p.printf(`<path d="M%d %dL%d %d" stroke="#b45f06" stroke-width="3"/>`, ax, ay, bx-dx*tip, by-dy*tip)
	p.printf(`<path d="M%d %dL%d %dL%d %dz" fill="#b45f06"/>`, bx, by,
		bx-dx*tip-dy*tip/2, by-dy*tip-dx*tip/2, bx-dx*tip+dy*tip/2, by-dy*tip+dx*tip/2)
}

func (p *svg) legend(left int) {
	top := margin + 6
	for _, entry := range []struct {
		state int
		lines []string
	}{
		{prefix, []string{"written; the sums from the image's", "edge to here are public (a prefix)"}},
		{aggregate, []string{"read; the sums of its own rows and", "columns are public (an aggregate)"}},
		{looking, []string{"looks back, left for its rows and up", "for its columns: adds aggregates", "until it meets a prefix, then writes"}},
		{waiting, []string{"nobody has drawn it yet"}},
	} {
		p.printf(`<rect x="%d" y="%d" width="22" height="16" rx="3" fill="%s"/>`, left, top, fills[entry.state])
		for _, line := range entry.lines {
			p.printf(`<text x="%d" y="%d" font-size="14" fill="#24292f">%s</text>`, left+32, top+13, line)
			top += 19
		}
		top += 14
	}
	p.printf(`<text x="%d" y="%d" font-size="14" fill="#57606a">Numbers are tickets: blocks draw them in</text>`, left, top+16)
	p.printf(`<text x="%d" y="%d" font-size="14" fill="#57606a">turn and wait for lower ones only, so no</text>`, left, top+35)
	p.printf(`<text x="%d" y="%d" font-size="14" fill="#57606a">launch can hang.</text>`, left, top+54)
}
