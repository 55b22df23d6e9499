//go:build cgo

package main

import (
	"image"
	"math"

	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/threshold"
)

// thresholdImage binarizes an image, or computes a map of its thresholds if out has floats. Its arguments
// are the image, out, the method, the width and height of the window (0 for the method's default), the
// border (empty for the method's default) and its value, the numbers K, R, White, P, Q, T, C and MinN (NaN
// for the method's default), and workers.
func thresholdImage(a arguments) any {
	img := a.array(0).mustView(2)
	var out view
	out.setResult(a.array(1), "out")
	rule := ruleOf(a, 2)
	run := known(map[element]func(img, out *view, r threshold.Rule, opt *threshold.Options){
		u8: binarize[uint8], u16: binarize[uint16], f32: binarize[float32], f64: binarize[float64],
	}, img.element, "pixels of %v have no threshold")
	run(&img, &out, rule, &threshold.Options{Workers: a.int(8)})
	return nil
}

func binarize[P filter.Pixel](img, out *view, r threshold.Rule, opt *threshold.Options) {
	if r.Method == threshold.ISauvola || r.Method == threshold.Su {
		must(room(8 * float64(img.length))) // copies, contrasts and labels
	}
	src := imageOf[P](img)
	switch out.element {
	case u8:
		must(threshold.BinarizeInto(imageOf[uint8](out), src, r, opt))
	case f32:
		must(threshold.MapInto(imageOf[float32](out), src, r, opt))
	case f64:
		must(threshold.MapInto(imageOf[float64](out), src, r, opt))
	default:
		must(wrongTypes("thresholds have type %v, want uint8 for black and white, float32 or float64 for a map", out.element))
	}
}

// ruleOf reads the method, width and height of the window, the border and its value, and the numbers,
// starting at an argument: see thresholdImage.
func ruleOf(a arguments, from int) threshold.Rule {
	rule := threshold.New(got(threshold.ParseMethod(a.text(from))), 0)
	if w, h := a.int(from+1), a.int(from+2); w != 0 || h != 0 {
		// Even sizes have the extra pixel on the right and below, see [threshold.Square].
		rule.Window = filter.Window{Width: w, Height: h, Shift: image.Pt(1-w&1, 1-h&1)}
	}
	if name := a.text(from + 3); name != "" {
		rule.Border, rule.Value = got(filter.ParseBorder(name)), a.float(from+4)
	}
	numbers := list[float64](a.array(from+5), f64, "numbers", 8)
	for i, to := range []*float64{&rule.K, &rule.R, &rule.White, &rule.P, &rule.Q, &rule.T, &rule.C} {
		if !math.IsNaN(numbers[i]) {
			*to = numbers[i]
		}
	}
	if n := numbers[7]; !math.IsNaN(n) {
		rule.MinN = int(n)
	}
	return rule
}
