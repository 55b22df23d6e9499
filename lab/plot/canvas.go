package plot

import (
	"image/color"
	"math"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
)

type point struct{ x, y float64 }

// round is a circle of radius 1.
var round = func() []point {
	points := make([]point, 24)
	for i := range points {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(len(points)))
		points[i] = point{cos, sin}
	}
	return points
}()

// A canvas is a surface that figures draw on: vector graphics or pixels.
type canvas interface {
	// line draws a line through points.
	line(points []point, width float64, dash []float64, c color.RGBA)
	// area fills an outline. If width is positive, it draws the outline in c and fills it with white.
	area(points []point, width float64, c color.RGBA)
	// text writes a line of text with its baseline at at.y. anchor is the part of the text, from 0 to
	// 1, that is at at.x.
	text(at point, anchor float64, s string, f face, c color.RGBA)
}

// A face is the size and weight of text.
type face struct {
	size float64
	bold bool
}

var (
	titleFace = face{17, true}
	nameFace  = face{14.5, false}
	tickFace  = face{13.5, false}
)

// fontFace returns a face of the Go fonts, scaled.
func fontFace(f face, scale float64) font.Face {
	data := goregular.TTF
	if f.bold {
		data = gobold.TTF
	}
	parsed, err := opentype.Parse(data)
	if err != nil {
		panic(err) // the font is embedded in the program
	}
	made, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: f.size * scale, DPI: 72, Hinting: font.HintingNone})
	if err != nil {
		panic(err)
	}
	return made
}

var (
	measuring sync.Mutex
	measured  = map[face]font.Face{}
)

// widthOf returns the width to reserve for a text. Browsers may use wider fonts than the one that is
// measured.
func widthOf(s string, f face) float64 {
	measuring.Lock()
	defer measuring.Unlock()
	m, ok := measured[f]
	if !ok {
		m = fontFace(f, 1)
		measured[f] = m
	}
	return float64(font.MeasureString(m, s)) / 64 * 1.06
}

// box returns the corners of a rectangle.
func box(x0, y0, x1, y1 float64) []point {
	return []point{{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}}
}
