package main

import (
	"image"
	"math/rand/v2"

	"github.com/boxsum/boxsum/denoise"
	"github.com/boxsum/boxsum/filter"
)

// drawDenoised shows a noisy picture, blurred by a Gaussian and denoised by non-local means.
func drawDenoised() image.Image {
	rng := rand.New(rand.NewPCG(11, 12))
	noisy := changed(scene(), func(_, _ int, v float64) float64 { return v + 12*rng.NormFloat64() })
	return panels(3, noisy, must(filter.Gaussian(noisy, filter.Sigma{X: 1.6, Y: 1.6}, nil)), must(denoise.NonLocalMeans(noisy, &denoise.Options{Strength: 13})))
}
