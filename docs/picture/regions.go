package main

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"math/rand/v2"

	"golang.org/x/image/draw"
	"golang.org/x/image/vector"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/moments"
)

// The pictures of histogram.md and moments.md: statistics of local histograms, and shapes with
// the ellipses of their moments.

// drawLocal shows a noisy picture and four maps of it, each made by one call of
// histogram.Local.
func drawLocal() image.Image {
	const w, h, radius = 480, 270, 5
	clean := imgio.Demo(w, h)
	noisy := boxsum.Image[uint8]{Pix: make([]uint8, w*h), Width: w, Height: h}
	rng := rand.New(rand.NewPCG(1, 2))
	for i, p := range clean.Pix {
		switch noisy.Pix[i] = p; rng.IntN(8) {
		case 0:
			noisy.Pix[i] = 0
		case 1:
			noisy.Pix[i] = 255
		}
	}
	fine := must(histogram.Integrate(noisy, histogram.Bins{N: 256}, nil))
	coarse := must(histogram.Integrate(clean, histogram.Bins{N: 32}, nil))
	path := image.Rect(280, 195, 310, 260) // the sun's reflection on the lake
	model := coarse.Histogram(nil, path, 0)
	gray := func(img boxsum.Image[uint8]) *image.RGBA {
		out := image.NewRGBA(image.Rect(0, 0, w, h))
		draw.Draw(out, out.Rect, &image.Gray{Pix: img.Pix, Stride: w, Rect: out.Rect}, image.Point{}, draw.Src)
		return out
	}
	sheet := newSheet(2, 3, w, h+30, 20)
	boxed := gray(clean)
	outline(boxed, path, 2, bright)
	sheet.put(0, boxed, "the image, and a box")
	sheet.put(1, gray(noisy), "with a quarter of the pixels lost")
	for i, panel := range []struct {
		caption string
		table   *histogram.Table[uint32]
		radius  int
		value   func(h []uint32) float64 // at most 1
	}{
		{"local median, 11 × 11", fine, radius, func(h []uint32) float64 { return float64(histogram.Median(h)) / 255 }},
		{"local mode, 11 × 11", coarse, radius, func(h []uint32) float64 { return float64(histogram.Mode(h)) / 31 }},
		{"local entropy, 11 × 11", coarse, radius, func(h []uint32) float64 { return histogram.Entropy(h) / 5 }},
		{"similarity to the box, 31 × 31", coarse, 15, func(h []uint32) float64 { return 1 - histogram.Bhattacharyya(h, model) }},
	} {
		shade := func(h []uint32) uint8 { return uint8(math.Round(255 * min(1, panel.value(h)))) }
		sheet.put(2+i, gray(must(histogram.Local(panel.table, panel.radius, 0, shade, nil))), panel.caption)
	}
	return sheet.canvas
}

// drawMoments shows shapes in their boxes, moved, rotated and scaled, each with its ellipse and
// first invariants.
func drawMoments() image.Image {
	const cell, columns = 190, 4
	arrowHead := [][2]float64{{-50, -12}, {10, -12}, {10, -32}, {50, 0}, {10, 32}, {10, 12}, {-50, 12}}
	corner := [][2]float64{{-40, -45}, {-15, -45}, {-15, 20}, {40, 20}, {40, 45}, {-40, 45}}
	img := image.NewGray(image.Rect(0, 0, cell*columns, 2*cell))
	for i, angle := range []float64{0, 0.5, 1.9, -2.4} {
		size := []float64{1, 0.8, 1.35, 0.6}[i]
		center := [2]float64{float64(cell*i + cell/2), cell / 2}
		fillShape(img, arrowHead, center, angle, size)
		center[1] += cell
		fillShape(img, corner, center, angle, size)
	}
	pixels := boxsum.Image[uint8]{Pix: img.Pix, Stride: img.Stride, Width: img.Rect.Dx(), Height: img.Rect.Dy()}
	table := must(moments.Integrate(pixels, nil))
	const caption = 44
	canvas := image.NewRGBA(image.Rect(0, 0, img.Rect.Dx(), 2*(cell+caption)))
	draw.Draw(canvas, canvas.Rect, image.White, image.Point{}, draw.Src)
	for row := range 2 {
		for column := range columns {
			box := image.Rect(column*cell, row*cell, (column+1)*cell, (row+1)*cell)
			at := image.Pt(column*cell, row*(cell+caption))
			panel := image.Rectangle{at, at.Add(box.Size())}.Inset(4)
			draw.Draw(canvas, panel, img, box.Min.Add(image.Pt(4, 4)), draw.Src)
			m := table.Moments(box, 0)
			x, y := m.Centroid()
			major, minor, angle := m.Ellipse()
			ring(canvas, float64(at.X)+x, float64(at.Y)+y, major, minor, angle)
			// A pixel counts 255 in these moments, but once in those of a shape.
			hu := m.Hu()
			text(canvas, image.Pt(at.X+cell/2, at.Y+cell+2), fmt.Sprintf("%.4f", hu[0]*255), 2)
		}
	}
	return canvas
}

// fillShape fills a polygon that is rotated and scaled about its origin.
func fillShape(m *image.Gray, shape [][2]float64, center [2]float64, angle, size float64) {
	sin, cos := math.Sincos(angle)
	polygon(m, shape, func(x, y float64) (float32, float32) {
		return float32(center[0] + size*(x*cos-y*sin)), float32(center[1] + size*(x*sin+y*cos))
	}, color.White)
}

// polygon fills a shape whose corners are positioned by a function.
func polygon(m draw.Image, shape [][2]float64, place func(x, y float64) (float32, float32), c color.Color) {
	z := vector.NewRasterizer(m.Bounds().Dx(), m.Bounds().Dy())
	for i, p := range shape {
		if x, y := place(p[0], p[1]); i == 0 {
			z.MoveTo(x, y)
		} else {
			z.LineTo(x, y)
		}
	}
	z.ClosePath()
	z.Draw(m, m.Bounds(), image.NewUniform(c), image.Point{})
}

// ring draws an ellipse with its longer axis.
func ring(m *image.RGBA, x, y, major, minor, angle float64) {
	sin, cos := math.Sincos(angle)
	dot := func(u, v float64) {
		at := image.Pt(int(math.Round(x+u*cos-v*sin)), int(math.Round(y+u*sin+v*cos)))
		draw.Draw(m, image.Rectangle{at.Sub(image.Pt(1, 1)), at.Add(image.Pt(1, 1))}, image.NewUniform(bright), image.Point{}, draw.Src)
	}
	for step := range 2000 {
		s, c := math.Sincos(float64(step) / 2000 * 2 * math.Pi)
		dot(major*c, minor*s)
		dot(major*(float64(step)/1000-1), 0)
	}
}
