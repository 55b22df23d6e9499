// Command picture draws the raster pictures of the documentation: for the README, an image
// with a box, and its table with the four entries that give the sum of the box; for
// rotated.md and haar.md, boxes and features at angles; for histogram.md and moments.md,
// regions and their properties; for filters.md, filtered images; for threshold.md, damaged
// pages; for the README, a page to binarize; for match.md, a page with a letter found; for faces.md, people; and for people.md,
// a street. The SVG diagrams next to them are edited by hand. Generating needs OpenCV's
// cascades (Debian's opencv-data) and a Python with OpenCV's coefficients of people.
//
//	go run ./docs/picture docs/images
package main

//go:generate go run . ../images
//go:generate go run ../../cmd/boxsum detect ../images/people.png --cascade frontalface_alt2 -o ../images/faces.png
//go:generate go run ../../cmd/boxsum detect ../images/people.png --cascade frontalface_alt2 --blur -o ../images/hidden.png
//go:generate go run ../../cmd/boxsum detect ../images/street.png --hog people --padding 16 -o ../images/pedestrians.png
//go:generate go run ../../cmd/boxsum histogram --demo --bins 64 --box 1050,290,1330,570 --box 1100,760,1270,1060 --box 100,100,700,400 -o ../images/histogram.png

import (
	"image"
	"image/color"
	"image/png"
	"io"
	"log"
	"math"
	"os"
	"path/filepath"

	"golang.org/x/image/draw"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/imgio"
)

const (
	width, height = 1920, 1080
	scale         = 2.4 // from the image to a panel
	gap           = 24
)

var (
	box    = image.Rect(1050, 290, 1330, 570) // the sun
	bright = color.RGBA{0xff, 0xb0, 0x30, 0xff}
)

// pictures maps file names to functions that draw the pictures.
var pictures = map[string]func() image.Image{
	"boxsum.png":    drawTable,
	"rotations.png": drawRotations,
	"half.png":      drawHalf,
	"features.png":  drawFeatures,
	"edge.png":      drawEdge,
	"local.png":     drawLocal,
	"moments.png":   drawMoments,

	"page.png":             drawPage,
	"threshold-lit.png":    drawLit,
	"threshold-pages.png":  drawPages,
	"filters-blur.png":     drawBlurs,
	"filters-median.png":   drawMedians,
	"filters-contrast.png": drawContrast,
	"filters-focus.png":    drawFocus,
	"match.png":            drawMatch,
	"compare.png":          drawCompare,
	"equalize.png":         drawEqualized,
	"rank.png":             drawRanked,
	"kernels.png":          drawKernels,
	"denoise.png":          drawDenoised,
	"people.png":           drawPeople,
	"street.png":           drawStreet,
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("picture: name the folder to write to, such as docs")
	}
	best := png.Encoder{CompressionLevel: png.BestCompression}
	for name, draw := range pictures {
		picture := draw()
		write := func(w io.Writer) error { return best.Encode(w, picture) }
		if err := imgio.WriteFile(filepath.Join(os.Args[1], name), write); err != nil {
			log.Fatal("picture: ", err)
		}
	}
}

// must returns value, or ends the program if there is an error.
func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal("picture: ", err)
	}
	return value
}

// drawTable shows an image and its table side by side.
func drawTable() image.Image {
	demo := imgio.Demo(width, height)
	table := must(boxsum.Integrate[uint32](demo, nil))
	panel := image.Rect(0, 0, int(width/scale), int(height/scale))
	right := panel.Add(image.Pt(panel.Dx()+gap, 0))
	canvas := image.NewNRGBA(image.Rect(0, 0, right.Max.X, right.Max.Y))
	shrink := func(to image.Rectangle, from image.Image) {
		draw.CatmullRom.Scale(canvas, to, from, from.Bounds(), draw.Src, nil)
	}
	shrink(panel, &image.Gray{Pix: demo.Pix, Stride: demo.Stride, Rect: image.Rect(0, 0, width, height)})
	shrink(right, imgio.HeatMap(table.Exclusive()))
	at := func(x, y int) image.Point { return image.Pt(int(float64(x)/scale), int(float64(y)/scale)) }
	outline(canvas, image.Rectangle{at(box.Min.X, box.Min.Y), at(box.Max.X, box.Max.Y)}, 3, bright)
	for _, corner := range []struct {
		x, y int
		plus bool
	}{
		{box.Max.X, box.Max.Y, true}, {box.Min.X, box.Max.Y, false}, {box.Max.X, box.Min.Y, false}, {box.Min.X, box.Min.Y, true},
	} {
		sign(canvas, at(corner.x, corner.y).Add(right.Min), corner.plus)
	}
	return canvas
}

// outline draws a frame of the given thickness inside a rectangle.
func outline(m draw.Image, r image.Rectangle, thick int, c color.Color) {
	inner := r.Inset(thick)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			if !image.Pt(x, y).In(inner) {
				m.Set(x, y, c)
			}
		}
	}
}

// sign draws a disc with a plus or a minus, with smooth edges.
func sign(m *image.NRGBA, center image.Point, plus bool) {
	const radius, arm, half = 13, 7, 1.5
	for y := -radius - 1; y <= radius+1; y++ {
		for x := -radius - 1; x <= radius+1; x++ {
			p := center.Add(image.Pt(x, y))
			dx, dy := math.Abs(float64(x)), math.Abs(float64(y))
			cover := math.Min(math.Max(radius+0.5-math.Hypot(dx, dy), 0), 1)
			ink := color.NRGBA{bright.R, bright.G, bright.B, 0xff}
			if dx <= arm && dy <= half || plus && dy <= arm && dx <= half {
				ink = color.NRGBA{0x10, 0x10, 0x18, 0xff}
			}
			under := m.NRGBAAt(p.X, p.Y)
			mix := func(a, b uint8) uint8 { return uint8(math.Round(cover*float64(a) + (1-cover)*float64(b))) }
			m.SetNRGBA(p.X, p.Y, color.NRGBA{mix(ink.R, under.R), mix(ink.G, under.G), mix(ink.B, under.B), 0xff})
		}
	}
}
