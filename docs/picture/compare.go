package main

import (
	"image"
	"math"
	"math/rand/v2"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/quality"
)

// drawCompare shows three damaged copies of a picture with the same mean squared error, and below them their
// similarity to it.
func drawCompare() image.Image {
	img := scene()
	const error = 12 // root mean square
	brighter := changed(img, func(_, _ int, v float64) float64 { return v + error })
	level := must(quality.MSE(img, brighter, nil))
	like := func(damage func(strength float64) boxsum.Image[uint8]) boxsum.Image[uint8] {
		low, high := 0.0, 40.0
		for range 30 {
			middle := (low + high) / 2
			if must(quality.MSE(img, damage(middle), nil)) < level {
				low = middle
			} else {
				high = middle
			}
		}
		return damage(low)
	}
	noise := like(func(s float64) boxsum.Image[uint8] {
		rng := rand.New(rand.NewPCG(5, 6))
		return changed(img, func(_, _ int, v float64) float64 { return v + s*rng.NormFloat64() })
	})
	blurred := like(func(s float64) boxsum.Image[uint8] {
		return must(filter.Gaussian(img, filter.Sigma{X: math.Sqrt(s), Y: math.Sqrt(s)}, nil))
	})
	all := []boxsum.Image[uint8]{brighter, noise, blurred}
	for _, damaged := range all[:3] {
		m, _, err := quality.SSIMMap[float32](img, damaged, nil)
		must(0, err)
		all = append(all, stretched(m, 0, 1))
	}
	return panels(3, all...)
}
