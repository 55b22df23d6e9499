package plot

import "image/color"

var (
	paper  = color.RGBA{0xff, 0xff, 0xff, 0xff}
	ink    = color.RGBA{0x1f, 0x24, 0x2b, 0xff}
	soft   = color.RGBA{0x57, 0x5f, 0x6a, 0xff}
	rule   = color.RGBA{0xe3, 0xe6, 0xea, 0xff}
	leader = color.RGBA{0xc2, 0xc8, 0xd0, 0xff}
	faint  = color.RGBA{0xf1, 0xf3, 0xf5, 0xff}
	// hues are those of Okabe and Ito that are visible on white, darkened if they would be faint, and a
	// gray. Adjacent hues also differ in lightness.
	hues = []color.RGBA{
		{0x00, 0x5f, 0x9e, 0xff}, // blue
		{0xd8, 0x8a, 0x00, 0xff}, // orange
		{0x00, 0x7a, 0x5a, 0xff}, // green
		{0xc4, 0x4e, 0x8f, 0xff}, // purple
		{0xc2, 0x41, 0x0c, 0xff}, // vermilion
		{0x3f, 0xa7, 0xe0, 0xff}, // sky
		{0x6b, 0x5b, 0x00, 0xff}, // olive
		{0x8a, 0x90, 0x99, 0xff}, // gray
	}
	dashes = [][]float64{nil, {9, 5}, {5, 4}, {1.5, 4}}
)

// Gray is the hue for limits and ideals.
const Gray = 7

func (s Style) color() color.RGBA { return hues[s.Hue%len(hues)] }
func (s Style) dash() []float64   { return dashes[s.Dash%len(dashes)] }
func (s Style) width() float64 {
	if s.Heavy {
		return 3.2
	}
	return 1.8
}

// marker returns the outline of this style's marker around a point.
func (s Style) marker(at point) []point {
	r := 4.4
	if s.Heavy {
		r = 5.2
	}
	shapes := [][]point{
		round, {{-.9, -.9}, {.9, -.9}, {.9, .9}, {-.9, .9}}, {{0, -1.2}, {1.15, .85}, {-1.15, .85}},
		{{0, -1.3}, {1.3, 0}, {0, 1.3}, {-1.3, 0}}, {{0, 1.2}, {-1.15, -.85}, {1.15, -.85}},
		{{-.4, -1.2}, {.4, -1.2}, {.4, -.4}, {1.2, -.4}, {1.2, .4}, {.4, .4}, {.4, 1.2}, {-.4, 1.2}, {-.4, .4}, {-1.2, .4}, {-1.2, -.4}, {-.4, -.4}},
		{{-1.2, -.7}, {1.2, -.7}, {1.2, .7}, {-1.2, .7}}, round,
	}
	return placeShape(at, r, shapes[s.Hue%len(shapes)])
}

// placeShape returns a shape of radius 1, scaled and moved.
func placeShape(at point, r float64, shape []point) []point {
	out := make([]point, len(shape))
	for i, p := range shape {
		out[i] = point{at.x + r*p.x, at.y + r*p.y}
	}
	return out
}
