//go:build cgo

package main

import (
	"github.com/boxsum/boxsum/internal/quality"
)

// compareImages scores the similarity of two images or volumes and writes the score to an array of one float64. Its
// arguments are what to compute (ssim, lncc, ms_ssim or mse), both images, a map or None, a mask or None, whether to
// skip NaN, 1 for volumes, the side of the window or 0, the standard deviation of its weights or 0, whether
// variances are of the population, the data range or 0, K1 and K2, whether LNCC has a sign, workers, and that array.
func compareImages(a arguments) any {
	axes := 2 + a.int(6)
	images := [2]view{a.array(1).mustView(axes), a.array(2).mustView(axes)}
	images[0].mustBe(filterable, "pixels of %v cannot be compared, want %s")
	if images[1].element != images[0].element {
		must(wrongTypes("the second image has type %v, want %v like the first", images[1].element, images[0].element))
	}
	solid := axes == 3
	j := quality.Job{
		A: images[0].pixels(images[0].typ(), solid), B: images[1].pixels(images[0].typ(), solid), Solid: solid,
		SkipNaN: a.int(5) != 0, Size: a.int(7), Sigma: a.float(8), Population: a.int(9) != 0, Range: a.float(10), K1: a.float(11), K2: a.float(12), Signed: a.int(13) != 0,
	}
	j.Options.Workers = a.int(14)
	if a.has(4) {
		mask := a.array(4).mustView(axes)
		if mask.element != u8 {
			must(wrongTypes("mask has type %v, want uint8 or bool", mask.element))
		}
		j.Mask = mask.pixels(mask.typ(), solid)
	}
	score := list[float64](a.toWrite(15), f64, "score", 1)
	switch name := a.text(0); name {
	case "mse":
		score[0] = got(quality.SquaredError(j))
		return nil
	case "ms_ssim":
		score[0] = got(quality.MultiScale(j))
		return nil
	case "lncc":
		j.Kind = quality.LNCC
	case "ssim":
	default:
		must(invalid("unknown comparison %q, want ssim, lncc, ms_ssim or mse", name))
	}
	must(j.Check())
	if a.has(3) {
		var m view
		to := a.array(3)
		to.mustWrite("out")
		if err := m.set(&to, axes); err != nil {
			must(invalid("out has an unsupported memory layout, want C order and native byte order (use numpy.ascontiguousarray)"))
		}
		m.mustBe(floats, "out has type %v, want %s")
		j.Map = m.pixels(m.typ(), solid)
	}
	score[0] = got(j.Run())
	return nil
}
