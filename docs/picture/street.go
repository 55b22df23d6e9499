package main

import (
	"image"
	"image/color"
	"math"
)

// The picture of people.md: drawn people in a street, seen whole, as detectors of pedestrians know them.

// walker is a person in the street.
type walker struct {
	x, y, size               float64 // of the feet's middle, and height
	skin, hair, coat, legs   color.RGBA
	stride, swing, lean, hem float64 // of the legs, of the arms, of the head, and where the coat ends, in hundredths of the height
}

var walkers = []walker{
	{112, 308, 196, color.RGBA{232, 190, 160, 255}, color.RGBA{60, 40, 30, 255}, color.RGBA{46, 62, 84, 255}, color.RGBA{38, 40, 48, 255}, 7, 4, 0, 50},
	{262, 296, 168, color.RGBA{190, 140, 104, 255}, color.RGBA{30, 24, 22, 255}, color.RGBA{128, 44, 48, 255}, color.RGBA{44, 46, 60, 255}, 4, 3, 0, 45},
	{408, 312, 206, color.RGBA{240, 204, 178, 255}, color.RGBA{120, 80, 44, 255}, color.RGBA{58, 74, 56, 255}, color.RGBA{52, 44, 40, 255}, 9, 5, 1, 48},
	{556, 290, 150, color.RGBA{222, 176, 140, 255}, color.RGBA{44, 34, 30, 255}, color.RGBA{70, 60, 92, 255}, color.RGBA{40, 42, 50, 255}, 5, 3, 0, 47},
}

// drawStreet draws four people in front of houses.
func drawStreet() image.Image {
	const w, h, curb = 640, 330, 262
	picture := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			p := pixel{x: float64(x) + 0.5, y: float64(y) + 0.5}
			p.paint(color.RGBA{206, 200, 190, 255}, 1)
			if house := x / 214; house%2 == 1 {
				p.paint(color.RGBA{216, 206, 184, 255}, 1)
			}
			for row := range 2 { // windows
				for column := range 6 {
					p.paint(color.RGBA{176, 186, 194, 255}, p.slab(float64(40+column*107), float64(30+row*84), float64(84+column*107), float64(84+row*84), 1.5))
				}
			}
			p.paint(color.RGBA{178, 176, 172, 255}, p.y-curb)
			for joint := 0.0; joint < w; joint += 80 { // of the pavement
				p.paint(color.RGBA{166, 164, 160, 255}, p.slab(joint, curb, joint+1.5, h, 1.5))
			}
			for i := range walkers {
				walkers[i].draw(&p)
			}
			picture.SetRGBA(x, y, color.RGBA{uint8(p.r + 0.5), uint8(p.g + 0.5), uint8(p.b + 0.5), 255})
		}
	}
	return picture
}

// slab returns 1 inside a rectangle and 0 outside, with a transition of soft pixels.
func (p *pixel) slab(x0, y0, x1, y1, soft float64) float64 {
	inside := min(p.x-x0, x1-p.x, p.y-y0, y1-p.y)
	return max(0, min(1, inside/soft+0.5))
}

// limb returns 1 inside a line that is thick at its start and thin at its end, and 0 outside.
func (p *pixel) limb(x0, y0, x1, y1, thick, thin float64) float64 {
	dx, dy := x1-x0, y1-y0
	t := max(0, min(1, ((p.x-x0)*dx+(p.y-y0)*dy)/(dx*dx+dy*dy)))
	away := math.Hypot(p.x-x0-t*dx, p.y-y0-t*dy)
	return max(0, min(1, thick+(thin-thick)*t-away+0.5))
}

// draw paints what a pixel shows of a person, from back to front. Lengths are hundredths of
// the person's height, up from the feet.
func (w *walker) draw(p *pixel) {
	s := w.size / 100
	limb := func(x0, y0, x1, y1, thick, thin float64) float64 {
		return p.limb(w.x+x0*s, w.y-y0*s, w.x+x1*s, w.y-y1*s, thick*s, thin*s)
	}
	p.paint(color.RGBA{120, 118, 116, 255}, 0.6*p.oval(w.x, w.y+s, 16*s, 3*s, 3*s)) // shadow
	shoe := shade(w.legs, 0.5)
	for _, side := range []float64{-1, 1} {
		dark := 1 - 0.14*(side+1)/2
		p.paint(shoe, limb(side*w.stride, 2, side*(w.stride+3), 1.4, 2.2, 1.6))
		p.paint(shade(w.legs, dark), limb(side*3.6, 50, side*(4+w.stride)/1.4, 26, 5.4, 4.2))
		p.paint(shade(w.legs, dark), limb(side*(4+w.stride)/1.4, 26, side*w.stride, 4, 4.2, 2.8))
		// Arms: from the shoulders to the elbows to the hands.
		p.paint(w.skin, limb(side*(14+w.swing/2), 47, side*(13.4+w.swing/2), 44, 2.2, 1.8))
		p.paint(shade(w.coat, 0.82), limb(side*11, 78, side*(14+w.swing/2), 62, 3.7, 3.2))
		p.paint(shade(w.coat, 0.82), limb(side*(14+w.swing/2), 62, side*(13.6+w.swing/2), 48, 3.2, 2.5))
	}
	p.paint(w.skin, limb(w.lean, 88, 0, 81, 3, 3.4)) // neck
	for _, side := range []float64{-1, 1} {
		p.paint(w.coat, limb(side*6.6, 78, side*4.4, w.hem, 5.6, 6))
	}
	p.paint(w.coat, limb(0, 77, 0, w.hem, 8, 7))
	p.paint(shade(w.coat, 0.7), limb(0, 79, 0, w.hem-2, 0.5, 0.5)) // the coat's edge
	p.paint(w.hair, p.oval(w.x+w.lean*s, w.y-93.4*s, 6.4*s, 7.2*s, 1.5))
	p.paint(w.skin, p.oval(w.x+w.lean*s, w.y-91.8*s, 5.2*s, 6.6*s, 1.5))
	p.paint(w.hair, p.oval(w.x+w.lean*s, w.y-96.8*s, 6*s, 4*s, 1.5))
}
