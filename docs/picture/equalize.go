package main

import (
	"image"
	"math/rand/v2"

	"github.com/boxsum/boxsum/enhance"
)

// drawEqualized shows a foggy picture that grows darker to the right, equalized with and without a limit.
func drawEqualized() image.Image {
	rng := rand.New(rand.NewPCG(7, 8))
	fog := changed(scene(), func(x, _ int, v float64) float64 {
		return (150+v/6)*(1-0.7*float64(x)/panelWidth) + 0.8*rng.NormFloat64()
	})
	return panels(3, fog, must(enhance.CLAHE(fog, &enhance.Options{Clip: 4})), must(enhance.CLAHE(fog, &enhance.Options{Clip: -1})))
}
