//go:build cgo

package main

import (
	"image"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/matching"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/match"
)

// newMatching reads the image, the template, a mask of uint8 or None, and, after the result, the method and
// workers.
func newMatching(a arguments) *matching.Job {
	img, template := a.array(0).mustView(2), a.array(1).mustView(2)
	j := &matching.Job{Method: got(matching.ParseMethod(a.text(4)))}
	j.Options.Workers = a.int(5)
	if template.element != img.element {
		must(wrongTypes("template has type %v, want %v like the image", template.element, img.element))
	}
	j.Mask = a.mask(2)
	img.mustBe(filterable, "pixels of %v cannot be matched, want %s")
	j.Src, j.Template = img.plane(), template.plane()
	return j
}

// matchTemplate scores every position of a template in an image. Its arguments are the image, the
// template, a mask or None, a float32 array for the scores, the method and workers.
func matchTemplate(a arguments) any {
	j := newMatching(a)
	var scores view
	scores.setResult(a.array(3), "out")
	if scores.element != f32 {
		must(wrongTypes("scores have type %v, want float32", scores.element))
	}
	must(j.Check())
	j.Scores = scores.plane()
	must(j.Run())
	return nil
}

// findTemplate writes the best positions of a template to an array with rows of x, y, score, and x and y
// with subpixel accuracy, and returns their number. Its arguments are those of matchTemplate, with that
// array instead of the scores.
func findTemplate(a arguments) any {
	j := newMatching(a)
	peaks := list[[5]float64](a.toWrite(3), f64, "peaks", -1, 5)
	must(j.Check())
	width, height := j.Size()
	must(room(4 * float64(width) * float64(height)))
	scores := got(boxsum.NewImage[float32](width, height, 1))
	raster.SetPlane(&j.Scores, scores.Pix, width, height, 1, scores.Stride)
	must(j.Run())
	apart := image.Pt(max(1, j.Template.Width/2), max(1, j.Template.Height/2))
	found := got(match.Peaks(scores, match.Method(j.Method), len(peaks), apart))
	for i, p := range found {
		peaks[i] = [5]float64{float64(p.X), float64(p.Y), float64(p.Score), p.SubX, p.SubY}
	}
	return len(found)
}
