package plot

import (
	"bufio"
	"bytes"
	"compress/flate"
	_ "embed"
	"encoding/binary"
	"image"
	"image/draw"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

//go:generate go run ./letters letters.bin

// packedLetters is the outlines of the Go fonts. A tenth of the fonts is enough: what reads them would be as much again.
//
//go:embed letters.bin
var packedLetters []byte

// letters are a font: glyphs in its units, of which so many are the size of a letter.
type letters struct {
	units  int
	glyphs []glyph
	index  map[rune]int
}

type glyph struct {
	advance  int
	segments []segment
}

// A segment of an outline goes to the last of its points; the first of two bends it. A move begins another outline.
type segment struct {
	move   bool
	points [][2]int
}

// bothLetters is the regular and the bold font.
var bothLetters = sync.OnceValue(func() (both [2]letters) {
	r := bufio.NewReader(flate.NewReader(bytes.NewReader(packedLetters)))
	number := func() int {
		n, err := binary.ReadVarint(r)
		if err != nil {
			panic(err) // the fonts are part of the program
		}
		return int(n)
	}
	const move, bend = 0, 2 // as package sfnt numbers them
	for i := range both {
		l := letters{units: number(), glyphs: make([]glyph, number()), index: map[rune]int{}}
		for i := range l.glyphs {
			g := glyph{number(), make([]segment, number())}
			var last [2]int
			for i := range g.segments {
				op, points := number(), 1
				if op == bend {
					points = 2
				}
				s := segment{move: op == move}
				for range points {
					last[0] += number()
					last[1] += number()
					s.points = append(s.points, last)
				}
				g.segments[i] = s
			}
			l.glyphs[i] = g
		}
		last := rune(0)
		for range number() {
			last += rune(number())
			l.index[last] = number()
		}
		both[i] = l
	}
	return both
})

// letterFace is letters of a size, and not for several goroutines at a time.
type letterFace struct {
	letters
	size fixed.Int26_6
	rast vector.Rasterizer
}

// scale is units of the font in parts of pixels, to the nearest.
func (f *letterFace) scale(units int) fixed.Int26_6 {
	n, half := units*int(f.size), f.units/2
	if n < 0 {
		half = -half
	}
	return fixed.Int26_6((n + half) / f.units)
}

// find is the glyph of a rune, or the one for those that have none.
func (f *letterFace) find(r rune) (g glyph, ok bool) {
	i, ok := f.index[r]
	return f.glyphs[i], ok
}

func (f *letterFace) outline(g glyph) (segments []fixedSegment, bounds fixed.Rectangle26_6) {
	for i, s := range g.segments {
		to := fixedSegment{move: s.move}
		for j, p := range s.points {
			at := fixed.Point26_6{X: f.scale(p[0]), Y: f.scale(p[1])}
			if i == 0 && j == 0 {
				bounds = fixed.Rectangle26_6{Min: at, Max: at}
			}
			bounds.Min = fixed.Point26_6{X: min(bounds.Min.X, at.X), Y: min(bounds.Min.Y, at.Y)}
			bounds.Max = fixed.Point26_6{X: max(bounds.Max.X, at.X), Y: max(bounds.Max.Y, at.Y)}
			to.points = append(to.points, at)
		}
		segments = append(segments, to)
	}
	return segments, bounds
}

type fixedSegment struct {
	move   bool
	points []fixed.Point26_6
}

// Glyph draws one, as [font.Face] says.
func (f *letterFace) Glyph(dot fixed.Point26_6, r rune) (dr image.Rectangle, mask image.Image, maskp image.Point, advance fixed.Int26_6, ok bool) {
	g, ok := f.find(r)
	segments, bounds := f.outline(g)
	bounds = bounds.Add(dot)
	dr = image.Rect(bounds.Min.X.Floor(), bounds.Min.Y.Floor(), bounds.Max.X.Ceil(), bounds.Max.Y.Ceil())
	f.rast.Reset(dr.Dx(), dr.Dy())
	f.rast.DrawOp = draw.Src
	origin := fixed.Point26_6{X: dot.X - fixed.I(dr.Min.X), Y: dot.Y - fixed.I(dr.Min.Y)}
	for _, s := range segments {
		var at [2][2]float32
		for i, p := range s.points {
			p = p.Add(origin)
			at[i] = [2]float32{float32(p.X) / 64, float32(p.Y) / 64}
		}
		switch {
		case s.move:
			f.rast.MoveTo(at[0][0], at[0][1])
		case len(s.points) == 1:
			f.rast.LineTo(at[0][0], at[0][1])
		default:
			f.rast.QuadTo(at[0][0], at[0][1], at[1][0], at[1][1])
		}
	}
	alpha := image.NewAlpha(image.Rect(0, 0, dr.Dx(), dr.Dy()))
	f.rast.Draw(alpha, alpha.Rect, image.Opaque, image.Point{})
	return dr, alpha, image.Point{}, f.scale(g.advance), ok
}

// GlyphBounds is how much room one takes.
func (f *letterFace) GlyphBounds(r rune) (fixed.Rectangle26_6, fixed.Int26_6, bool) {
	g, ok := f.find(r)
	_, bounds := f.outline(g)
	return bounds, f.scale(g.advance), ok
}

// GlyphAdvance is how far the next one is.
func (f *letterFace) GlyphAdvance(r rune) (fixed.Int26_6, bool) {
	g, ok := f.find(r)
	return f.scale(g.advance), ok
}

// Kern is nothing: these fonts have none. Nobody asks for metrics of lines.
func (f *letterFace) Kern(rune, rune) fixed.Int26_6 { return 0 }
func (f *letterFace) Metrics() font.Metrics         { return font.Metrics{} }
func (f *letterFace) Close() error                  { return nil }
