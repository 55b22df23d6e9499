package tables

import (
	"fmt"
	"image"
	"image/color"
	"math"

	"github.com/boxsum/boxsum/internal/cli/display"
	"golang.org/x/image/draw"
	"golang.org/x/image/font"
	"golang.org/x/image/font/inconsolata"
	"golang.org/x/image/math/fixed"
)

// The picture shows the image with colored boxes on the left and, on the right, a plot for each box
// in the same color.
const (
	plotMargin  = 24
	plotWidth   = 420 // including the margin
	plotHeight  = 148 // minimum height of a plot
	panelWidth  = 800 // maximum width of the image
	panelHeight = 600
	plotsAtMost = 12
	textHeight  = 16
)

var (
	paper = color.RGBA{0xff, 0xff, 0xff, 0xff}
	ink   = color.RGBA{0x24, 0x29, 0x2f, 0xff}
	faint = color.RGBA{0xd5, 0xda, 0xe0, 0xff}
	// boxColors are distinguishable for most people, including color-blind ones (Okabe and Ito).
	boxColors = []color.RGBA{
		{0x00, 0x72, 0xb2, 0xff}, {0xe6, 0x9f, 0x00, 0xff}, {0x00, 0x9e, 0x73, 0xff}, {0xd5, 0x5e, 0x00, 0xff},
		{0xcc, 0x79, 0xa7, 0xff}, {0x56, 0xb4, 0xe9, 0xff}, {0x80, 0x6a, 0x00, 0xff}, {0x55, 0x55, 0x55, 0xff},
	}
	// channelColors are used for images that keep their color.
	channelColors = []color.RGBA{{0xc6, 0x28, 0x28, 0xff}, {0x2e, 0x7d, 0x32, 0xff}, {0x15, 0x65, 0xc0, 0xff}, {0x55, 0x55, 0x55, 0xff}}
)

// drawHistograms draws an image with its boxes and their histograms.
func drawHistograms(img image.Image, work *histogramWork, boxes []boxHistogram) image.Image {
	boxes = boxes[:min(len(boxes), plotsAtMost)]
	size := img.Bounds().Size()
	scale := min(panelWidth/float64(max(size.X, 1)), panelHeight/float64(max(size.Y, 1)))
	if scale > 1 {
		scale = math.Floor(scale) // whole factors keep pixels square and sharp
	}
	panel := image.Rect(0, 0, max(1, int(float64(size.X)*scale)), max(1, int(float64(size.Y)*scale))).Add(image.Pt(plotMargin, plotMargin))
	perColumn := max(1, max(panel.Dy(), 2*plotHeight)/plotHeight)
	perColumn = min(perColumn, max(1, len(boxes)))
	columns := (len(boxes) + perColumn - 1) / perColumn
	height := max(panel.Dy(), perColumn*plotHeight)
	canvas := image.NewRGBA(image.Rect(0, 0, panel.Max.X+plotMargin+columns*plotWidth, height+2*plotMargin))
	draw.Draw(canvas, canvas.Rect, image.NewUniform(paper), image.Point{}, draw.Src)
	var scaler draw.Scaler = draw.CatmullRom
	if scale >= 1 {
		scaler = draw.NearestNeighbor
	}
	scaler.Scale(canvas, panel, img, img.Bounds(), draw.Src, nil)
	for i, b := range boxes {
		hue := boxColors[i%len(boxColors)]
		clipped := b.Box.rectangle().Intersect(image.Rect(0, 0, size.X, size.Y))
		place := func(p image.Point) image.Point {
			return image.Pt(int(float64(p.X)*scale), int(float64(p.Y)*scale)).Add(panel.Min)
		}
		if !clipped.Empty() {
			frame(canvas, image.Rectangle{place(clipped.Min), place(clipped.Max)}, 3, hue)
		}
		cell := height / perColumn
		at := image.Pt(panel.Max.X+plotMargin+i/perColumn*plotWidth, plotMargin+i%perColumn*cell)
		drawPlot(canvas, image.Rectangle{at, at.Add(image.Pt(plotWidth-plotMargin, cell))}, work, b, hue)
	}
	return canvas
}

// drawPlot draws the histograms of one box, as bars for a single channel and as lines for several.
func drawPlot(m *image.RGBA, r image.Rectangle, work *histogramWork, b boxHistogram, hue color.RGBA) {
	bins := work.bins
	label(m, r.Min.X, r.Min.Y, fmt.Sprintf("%v: %s", b.Box, display.Count(b.Area, "pixel")), hue)
	area := image.Rect(r.Min.X, r.Min.Y+textHeight+6, r.Max.X, r.Max.Y-textHeight-14)
	low, high := fmt.Sprintf("%.6g", bins.Low), fmt.Sprintf("%.6g", bins.High)
	label(m, area.Min.X, area.Max.Y+4, low, ink)
	label(m, area.Max.X-8*len(high), area.Max.Y+4, high, ink)
	most, middle := 0.0, "highest 0"
	for _, h := range b.channels {
		for i, n := range h.sizes {
			if n > most {
				most, middle = n, "highest "+h.texts[i]
			}
		}
	}
	switch {
	case most == 0:
		most = 1 // all bins are empty
	case most != math.Trunc(most):
		middle = fmt.Sprintf("highest %.6g", most)
	}
	label(m, (area.Min.X+area.Max.X)/2-4*len(middle), area.Max.Y+4, middle, ink)
	for quarter := range 4 {
		y := area.Min.Y + area.Dy()*quarter/4
		fill(m, image.Rect(area.Min.X, y, area.Max.X, y+1), faint)
	}
	for c, h := range b.channels {
		if len(b.channels) > 1 {
			hue = channelColors[c%len(channelColors)]
		}
		before := area.Max.Y
		for i, n := range h.sizes {
			x0, x1 := area.Min.X+area.Dx()*i/len(h.sizes), area.Min.X+area.Dx()*(i+1)/len(h.sizes)
			share := max(n, 0) / most
			if math.IsNaN(share) {
				share = 1 // the sum overflows a float64
			}
			y := area.Max.Y - int(math.Round(float64(area.Dy())*share))
			if len(b.channels) == 1 {
				gap := min(1, (x1-x0)/3)
				fill(m, image.Rect(x0, y, x1-gap, area.Max.Y), hue)
				continue
			}
			fill(m, image.Rect(x0, y-1, x1+1, y+1), hue)
			fill(m, image.Rect(x0, min(before, y), x0+2, max(before, y)), hue)
			before = y
		}
	}
	fill(m, image.Rect(area.Min.X, area.Max.Y, area.Max.X, area.Max.Y+1), ink)
}

func fill(m *image.RGBA, r image.Rectangle, c color.RGBA) {
	draw.Draw(m, r, image.NewUniform(c), image.Point{}, draw.Src)
}

// frame draws the outline of a rectangle and a thin light outline around it, which is visible on
// dark images.
func frame(m *image.RGBA, r image.Rectangle, thick int, c color.RGBA) {
	for _, ring := range []struct {
		out, in int
		c       color.RGBA
	}{{1, thick + 1, paper}, {0, thick, c}} {
		outer, inner := r.Inset(-ring.out), r.Inset(ring.in)
		for y := outer.Min.Y; y < outer.Max.Y; y++ {
			for x := outer.Min.X; x < outer.Max.X; x++ {
				if !image.Pt(x, y).In(inner) {
					m.SetRGBA(x, y, ring.c)
				}
			}
		}
	}
}

// label draws text with its top left corner at (x, y).
func label(m *image.RGBA, x, y int, text string, c color.RGBA) {
	d := font.Drawer{Dst: m, Src: image.NewUniform(c), Face: inconsolata.Regular8x16, Dot: fixed.P(x, y+13)}
	d.DrawString(text)
}
