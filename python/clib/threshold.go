//go:build cgo

package main

import (
	"image"
	"math"

	"github.com/boxsum/boxsum/internal/filters"
	"github.com/boxsum/boxsum/internal/thresholds"
	"github.com/boxsum/boxsum/internal/window"
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
	img.mustBe(filterable, "pixels of %v cannot be binarized, want %s")
	if rule.Method == thresholds.ISauvola || rule.Method == thresholds.Su {
		must(room(8 * float64(img.length))) // copies, contrasts and labels
	}
	j := thresholds.Job{Src: img.plane(), Rule: rule, Form: thresholds.AsMap}
	j.Options.Workers = a.int(8)
	switch out.element {
	case u8:
		j.Form = thresholds.AsBytes
	case f32, f64:
	default:
		must(wrongTypes("thresholds have type %v, want uint8 for black and white, float32 or float64 for a map", out.element))
	}
	must(j.Check())
	j.Dst = out.plane()
	must(j.Run())
	return nil
}

// ruleOf reads the method, width and height of the window, the border and its value, and the numbers,
// starting at an argument: see thresholdImage.
func ruleOf(a arguments, from int) thresholds.Rule {
	rule := thresholds.New(got(thresholds.ParseMethod(a.text(from))), 0)
	if w, h := a.int(from+1), a.int(from+2); w != 0 || h != 0 {
		// Even sizes have the extra pixel on the right and below; see [threshold.Square].
		rule.Window = filters.Window{Width: w, Height: h, Shift: image.Pt(1-w&1, 1-h&1)}
	}
	if name := a.text(from + 3); name != "" {
		rule.Border, rule.Value = got(window.ParseBorder(name)), a.float(from+4)
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
