package main

import (
	"image"
	"math/rand/v2"

	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/rank"
)

// drawRanked shows a dim picture with specks, its equalization around every pixel, and the most frequent levels.
func drawRanked() image.Image {
	rng := rand.New(rand.NewPCG(9, 10))
	dim := changed(scene(), func(x, _ int, v float64) float64 {
		v = (150 + v/6) * (1 - 0.7*float64(x)/panelWidth)
		if rng.IntN(40) == 0 {
			v += 60 * (rng.Float64() - 0.5)
		}
		return v
	})
	return panels(3, dim, must(rank.Filter(dim, rank.Equalize, filter.Square(61), nil)), must(rank.Filter(dim, rank.Majority, filter.Square(5), nil)))
}
