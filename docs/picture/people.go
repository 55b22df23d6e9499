package main

import (
	"image"
	"image/color"
	"math"
)

// The picture of faces.md: drawn people, because photographs of real ones need their consent.

// person is one of the drawn people.
type person struct {
	x, y, size             float64 // center of the face, and half of its height
	skin, hair, shirt, eye color.RGBA
	long                   bool // hair down to the shoulders
}

var people = []person{
	{150, 158, 92, color.RGBA{244, 206, 176, 255}, color.RGBA{110, 62, 34, 255}, color.RGBA{58, 124, 165, 255}, color.RGBA{62, 44, 36, 255}, false},
	{328, 178, 78, color.RGBA{222, 172, 130, 255}, color.RGBA{44, 32, 30, 255}, color.RGBA{214, 106, 84, 255}, color.RGBA{40, 28, 24, 255}, true},
	{500, 150, 86, color.RGBA{250, 216, 188, 255}, color.RGBA{196, 132, 60, 255}, color.RGBA{92, 148, 92, 255}, color.RGBA{50, 60, 70, 255}, true},
}

// drawPeople draws three smiling people whose faces OpenCV's cascades find.
func drawPeople() image.Image {
	const w, h = 640, 330
	picture := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			p := pixel{x: float64(x) + 0.5, y: float64(y) + 0.5}
			p.paint(color.RGBA{188, 214, 226, 255}, 1)
			p.paint(color.RGBA{232, 238, 234, 255}, float64(y)/h)
			for _, one := range people {
				one.draw(&p)
			}
			picture.SetRGBA(x, y, color.RGBA{uint8(p.r + 0.5), uint8(p.g + 0.5), uint8(p.b + 0.5), 255})
		}
	}
	return picture
}

// pixel is a position and the color painted there so far.
type pixel struct{ x, y, r, g, b float64 }

// paint covers the pixel with a color of the given opacity.
func (p *pixel) paint(c color.RGBA, opacity float64) {
	opacity = max(0, min(1, opacity))
	p.r += (float64(c.R) - p.r) * opacity
	p.g += (float64(c.G) - p.g) * opacity
	p.b += (float64(c.B) - p.b) * opacity
}

// oval returns 1 inside an ellipse and 0 outside, with a transition of soft pixels.
func (p *pixel) oval(x, y, rx, ry, soft float64) float64 {
	d := math.Hypot((p.x-x)/rx, (p.y-y)/ry)
	if d == 0 {
		return 1
	}
	inside := (1/d - 1) * math.Hypot(p.x-x, p.y-y) // distance to the edge, towards the center
	return max(0, min(1, inside/soft+0.5))
}

func shade(c color.RGBA, factor float64) color.RGBA {
	scale := func(v uint8) uint8 { return uint8(min(255, float64(v)*factor)) }
	return color.RGBA{scale(c.R), scale(c.G), scale(c.B), 255}
}

// draw paints what a pixel shows of a person, from back to front. Lengths are hundredths of
// the person's size.
func (one person) draw(p *pixel) {
	s := one.size / 100
	oval := func(x, y, rx, ry, soft float64) float64 {
		return p.oval(one.x+x*s, one.y+y*s, rx*s, ry*s, soft*s)
	}
	sides := []float64{-1, 1}

	// Hair behind the shoulders, shirt, neck, hair around the head, ears.
	if one.long {
		p.paint(shade(one.hair, 0.8), oval(0, 20, 94, 122, 3))
	}
	p.paint(one.shirt, oval(0, 200, 120, 96, 2))
	p.paint(shade(one.skin, 0.82), oval(0, 106, 30, 44, 3))
	p.paint(one.hair, oval(0, -34, 84, 84, 2))
	for _, side := range sides {
		if !one.long {
			p.paint(shade(one.skin, 0.86), oval(side*75, 6, 12, 19, 2))
		}
	}

	// Head, darker towards its edge, with a fringe and red cheeks.
	head := max(oval(0, -6, 75, 88, 2), oval(0, 26, 66, 76, 2))
	p.paint(one.skin, head)
	p.paint(shade(one.skin, 0.88), 0.8*head*(1-oval(0, -4, 60, 94, 40)))
	aboveEyes := max(0, min(1, (one.y+10*s-p.y)/(30*s)+0.5))
	p.paint(one.hair, oval(0, -34, 84, 84, 2)*(1-oval(14, 26, 84, 88, 3))*aboveEyes)
	for _, side := range sides {
		p.paint(color.RGBA{236, 128, 112, 255}, 0.35*oval(side*42, 30, 20, 15, 22))
	}

	// Eyes: shaded sockets, brows, whites, irises, a reflection, lashes. Cascades look for
	// the dark band of the eyes above bright cheeks.
	for _, side := range sides {
		x := side * 32
		p.paint(shade(one.skin, 0.62), 0.75*oval(x, -14, 26, 15, 18))
		p.paint(shade(one.hair, 0.8), oval(x+side, -36, 23, 9, 4)*(1-oval(x-side, -27, 26, 10, 4)))
		white := oval(x, -10, 17, 10.5, 2)
		p.paint(color.RGBA{250, 250, 248, 255}, white)
		p.paint(one.eye, white*oval(x, -11, 9.5, 10.5, 2))
		p.paint(color.RGBA{255, 255, 255, 255}, oval(x+3.5, -15, 3, 3, 2))
		p.paint(shade(one.eye, 0.7), 0.95*oval(x, -10, 20, 13.5, 2)*(1-oval(x, -6.5, 20.5, 13.5, 2)))
	}

	// Nose, and a smile: the part of an oval that another does not cover.
	p.paint(shade(one.skin, 1.06), 0.8*oval(0, 6, 8, 26, 12))
	for _, side := range sides {
		p.paint(shade(one.skin, 0.66), 0.8*oval(side*7, 30, 5, 3.2, 4))
	}
	p.paint(color.RGBA{178, 62, 66, 255}, oval(0, 44, 31, 24, 2.5)*(1-oval(0, 36, 36, 19, 2.5)))
	p.paint(color.RGBA{252, 248, 244, 255}, 0.95*oval(0, 42, 25, 20, 2)*(1-oval(0, 35, 34, 19.5, 2)))
}
