package main

import (
	"image"
	"math"
	"math/rand/v2"

	"github.com/boxsum/boxsum/boxlets"
)

// drawKernels shows bright and dark cells in a shaded picture, its differences of boxes, and the determinants of its Hessian.
func drawKernels() image.Image {
	rng := rand.New(rand.NewPCG(15, 16))
	type cell struct{ x, y, radius, height float64 }
	var cells []cell
	for i := range 24 {
		x, y := (float64(i%6)+0.3+0.4*rng.Float64())*panelWidth/6, (float64(i/6)+0.3+0.4*rng.Float64())*panelHeight/4
		cells = append(cells, cell{x, y, 5 + 3*rng.Float64(), 90 * float64(1-i%3/2*2)})
	}
	photo := changed(scene(), func(x, y int, _ float64) float64 {
		v := 90 + 80*float64(x)/panelWidth + 8*rng.NormFloat64()
		for _, c := range cells {
			v += c.height / (1 + math.Exp(math.Hypot(float64(x)-c.x, float64(y)-c.y)-c.radius))
		}
		return v
	})
	dark := must(boxlets.Filter[float32](photo, must(boxlets.DifferenceOfBoxes(5)), nil))
	blobs := must(boxlets.Hessian[float32](photo, 8, nil))
	return panels(3, photo, stretched(dark, -70, 70), stretched(blobs, 0, 900))
}
