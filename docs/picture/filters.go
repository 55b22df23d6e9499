package main

import (
	"image"
	"image/draw"
	"math"
	"math/rand/v2"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/imgio"
)

// The pictures of filters.md are panels, side by side, of a part of the demo picture.
const (
	panelWidth, panelHeight = 300, 225
	panelGap                = 6
)

// scene returns the sun over the hills, reduced to a third.
func scene() boxsum.Image[uint8] {
	small := must(filter.Downsample(imgio.Demo(width, height), 3, 3, nil))
	const x, y = 270, 70
	small.Pix = small.Pix[y*small.Stride+x:]
	small.Width, small.Height = panelWidth, panelHeight
	return copied(small)
}

// copied returns an image in its own memory.
func copied(img boxsum.Image[uint8]) boxsum.Image[uint8] {
	to := must(boxsum.NewImage[uint8](img.Width, img.Height, 1))
	for y := range img.Height {
		copy(to.Row(y), img.Row(y))
	}
	return to
}

// changed returns an image with a function applied to each pixel.
func changed(img boxsum.Image[uint8], by func(x, y int, v float64) float64) boxsum.Image[uint8] {
	to := copied(img)
	for y := range to.Height {
		row := to.Row(y)
		for x, v := range row {
			row[x] = uint8(math.Round(min(max(by(x, y, float64(v)), 0), 255)))
		}
	}
	return to
}

// noisy adds the noise of a camera in the dark.
func noisy(img boxsum.Image[uint8]) boxsum.Image[uint8] {
	rng := rand.New(rand.NewPCG(1, 2))
	return changed(img, func(_, _ int, v float64) float64 { return v + rng.NormFloat64()*22 })
}

// peppered adds black and white pixels.
func peppered(img boxsum.Image[uint8]) boxsum.Image[uint8] {
	rng := rand.New(rand.NewPCG(3, 4))
	return changed(img, func(_, _ int, v float64) float64 {
		switch rng.IntN(16) {
		case 0:
			return 0
		case 1:
			return 255
		}
		return v
	})
}

// shaded returns an image lit from the left only.
func shaded(img boxsum.Image[uint8]) boxsum.Image[uint8] {
	return changed(img, func(x, _ int, v float64) float64 { return v * (1 - 0.9*float64(x)/panelWidth) })
}

// stretched displays floats from low as black to high as white.
func stretched(img boxsum.Image[float32], low, high float64) boxsum.Image[uint8] {
	to := must(boxsum.NewImage[uint8](img.Width, img.Height, 1))
	for i, v := range img.Pix {
		to.Pix[i] = uint8(math.Round(min(max((float64(v)-low)/(high-low), 0), 1) * 255))
	}
	return to
}

// panels lays images out side by side, across of them per row.
func panels(across int, all ...boxsum.Image[uint8]) image.Image {
	down := (len(all) + across - 1) / across
	canvas := image.NewGray(image.Rect(0, 0, across*(panelWidth+panelGap)-panelGap, down*(panelHeight+panelGap)-panelGap))
	draw.Draw(canvas, canvas.Bounds(), image.White, image.Point{}, draw.Src)
	for i, img := range all {
		at := image.Pt(i%across*(panelWidth+panelGap), i/across*(panelHeight+panelGap))
		m := must(imgio.ToImage(img))
		draw.Draw(canvas, m.Bounds().Add(at), m, image.Point{}, draw.Src)
	}
	return canvas
}

// drawBlurs shows noise, a box blur, a Gaussian blur and the guided filter.
func drawBlurs() image.Image {
	img := noisy(scene())
	return panels(2, img, must(filter.Box(img, filter.Radius(4), nil)),
		must(filter.Gaussian(img, filter.Sigma{X: 2.6, Y: 2.6, Passes: 4}, nil)),
		must(filter.Guided(img, img, filter.Radius(6), 2500, nil)))
}

// drawMedians shows salt-and-pepper noise, a box blur and a median filter.
func drawMedians() image.Image {
	img := peppered(scene())
	return panels(3, img, must(filter.Box(img, filter.Square(3), nil)), must(filter.Median(img, filter.Square(3), nil)))
}

// drawContrast shows a scene lit from one side, with its local mean, deviation and contrast.
func drawContrast() image.Image {
	img := shaded(scene())
	w := filter.Square(41)
	mean, dev, err := filter.MeanStdDev[float32](img, w, nil)
	must(0, err)
	return panels(2, img, stretched(mean, 0, 255), stretched(dev, 0, 60), stretched(must(filter.Normalize[float32](img, w, 3, nil)), -3, 3))
}

// drawFocus shows a blur that grows with the distance from the sun.
func drawFocus() image.Image {
	img := scene()
	radii := must(boxsum.NewImage[uint8](img.Width, img.Height, 1))
	for y := range img.Height {
		for x := range img.Width {
			radii.Pix[y*radii.Stride+x] = uint8(min(max(math.Hypot(float64(x)-126, float64(y)-73)-45, 0)/8, 14))
		}
	}
	return panels(2, img, must(filter.BoxRadii(img, radii, nil)))
}
