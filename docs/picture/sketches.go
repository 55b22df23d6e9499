package main

import (
	"fmt"
	"image"
	"image/color"
	"math"

	"github.com/boxsum/boxsum/haar"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/sketch"
	"github.com/boxsum/boxsum/rotated"
	"golang.org/x/image/draw"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

var ink = color.RGBA{0x16, 0x1a, 0x20, 0xff}

// drawRotations shows boxes of the same size along six ratios, with the directions of c and r.
func drawRotations() image.Image {
	const side, scale, captionHeight = 20, 16, 34
	sheet := newSheet(3, 2, side*scale+1, side*scale+1+captionHeight, 28)
	for i, rot := range []rotated.Rotation{{A: 1, B: 2}, {A: 1, B: 1}, {A: 2, B: 1}, {A: -1, B: 2}, {A: -1, B: 1}, {A: -2, B: 1}} {
		lattice := must(rotated.NewLattice(side, side, rot))
		box := must(lattice.FromRectangle(rotated.Rectangle{X: side / 2, Y: side / 2, Width: 10, Height: 5, Degrees: rot.Degrees()}))
		sheet.put(i, boxed(lattice, box, scale), fmt.Sprintf("%v: %.2f°", rot, rot.Degrees()))
	}
	return sheet.canvas
}

// drawHalf draws one large box along 1/2.
func drawHalf() image.Image {
	lattice := must(rotated.NewLattice(24, 14, rotated.Rotation{A: 1, B: 2}))
	return boxed(lattice, rotated.Box{C0: 4, R0: 8, C1: 16, R1: 15}, 36)
}

// boxed draws one box, with arrows in the directions of c and r.
func boxed(lattice *rotated.Lattice, box rotated.Box, scale int) image.Image {
	picture := must(sketch.Draw(sketch.Figure{Lattice: lattice, Scale: scale, Boxes: []sketch.Box{{Box: box, Weight: 1}}}))
	corners := sketch.Corners(lattice, box)
	arrow(picture, corners[0], corners[1], corners[3], "c", float64(scale))
	arrow(picture, corners[0], corners[3], corners[1], "r", float64(scale))
	return picture
}

// drawFeatures shows every kind of feature, upright, at 45° and along 1/2, as in figures 1, 2 and
// 4 of Messom and Barczak.
func drawFeatures() image.Image {
	const side, scale, captionHeight = 18, 8, 24
	rotations := []rotated.Rotation{{A: 0, B: 1}, {A: 1, B: 1}, {A: 1, B: 2}}
	kinds := haar.Kinds()
	sheet := newSheet(len(kinds), len(rotations), side*scale+1, side*scale+1+captionHeight, 12)
	for i, rot := range rotations {
		lattice := must(rotated.NewLattice(side, side, rot))
		for j, kind := range kinds {
			across, down := kind.Cells()
			lines := []int{12, 16, 12}[i] // lines are closest at 45°
			f := must(haar.New(kind, image.Rect(0, 0, lines/across*across, lines/down*down)))
			at := sketch.Middle(lattice, f.Bounds())
			picture := must(sketch.Draw(sketch.Figure{Lattice: lattice, Scale: scale, Boxes: sketch.Feature(lattice, f, at)}))
			sheet.put(i*len(kinds)+j, picture, fmt.Sprintf("%v %v", kind, rot))
		}
	}
	return sheet.canvas
}

// drawEdge draws a feature over a slope in the README's picture, at low resolution.
func drawEdge() image.Image {
	demo := imgio.Demo(64, 36)
	lattice := must(rotated.NewLattice(demo.Width, demo.Height, rotated.Rotation{A: -1, B: 1}))
	f := must(haar.New(haar.EdgeY, image.Rect(0, 0, 10, 8)))
	return must(sketch.Draw(sketch.Figure{
		Lattice: lattice, Image: sketch.Show(pixels.Of(demo)), Scale: 30, View: image.Rect(0, 8, 30, 26),
		Boxes: sketch.Feature(lattice, f, image.Pt(7, 13)),
	}))
}

// A sheet holds pictures of the same size, each with its caption below.
type sheet struct {
	canvas        *image.RGBA
	columns, gap  int
	width, height int // of a picture and its caption
}

func newSheet(columns, rows, width, height, gap int) *sheet {
	s := &sheet{columns: columns, gap: gap, width: width, height: height}
	s.canvas = image.NewRGBA(image.Rect(0, 0, columns*(width+gap)+gap, rows*(height+gap)+gap))
	draw.Draw(s.canvas, s.canvas.Rect, image.White, image.Point{}, draw.Src)
	return s
}

func (s *sheet) put(i int, picture image.Image, caption string) {
	at := image.Pt(s.gap+i%s.columns*(s.width+s.gap), s.gap+i/s.columns*(s.height+s.gap))
	draw.Draw(s.canvas, picture.Bounds().Add(at), picture, image.Point{}, draw.Src)
	large := 1
	if s.width > 250 {
		large = 2
	}
	text(s.canvas, at.Add(image.Pt(s.width/2, picture.Bounds().Dy()+8)), caption, large)
}

// text writes centered letters below a point, enlarged by an integer factor.
func text(m draw.Image, at image.Point, words string, large int) {
	regular := must(opentype.Parse(goregular.TTF))
	face := must(opentype.NewFace(regular, &opentype.FaceOptions{Size: float64(12 * large), DPI: 72, Hinting: font.HintingFull}))
	d := font.Drawer{Dst: m, Src: image.NewUniform(ink), Face: face}
	d.Dot = fixed.P(at.X, at.Y+face.Metrics().Ascent.Ceil())
	d.Dot.X -= d.MeasureString(words) / 2
	d.DrawString(words)
}

// arrow draws an arrow along the edge of a box from one corner to another, on the side away from
// a third. Its letter is at the tip.
func arrow(m *image.RGBA, from, to, away sketch.Point, letter string, scale float64) {
	dx, dy := to.X-from.X, to.Y-from.Y
	length := math.Hypot(dx, dy)
	dx, dy = dx/length, dy/length
	ox, oy := away.X-from.X, away.Y-from.Y
	out := math.Hypot(ox, oy)
	ox, oy = -ox/out, -oy/out
	const off, tip = 0.9, 0.9 // in pixels of the image
	at := func(along, aside float64) (float32, float32) {
		x := from.X + dx*along + ox*(off+aside)
		y := from.Y + dy*along + oy*(off+aside)
		return float32(x * scale), float32(y * scale)
	}
	end := min(length, 5)
	shape := [][2]float64{{0, -0.09}, {end - tip, -0.09}, {end - tip, -0.4}, {end, 0}, {end - tip, 0.4}, {end - tip, 0.09}, {0, 0.09}}
	polygon(m, shape, at, ink)
	x, y := at(end+0.8, 0)
	large := 1 + int(scale)/16
	text(m, image.Pt(int(x), int(y)-7*large), letter, large)
}
