//go:build cgo

package main

import (
	"github.com/boxsum/boxsum/match"
)

// A search is one call of package match.
type search struct {
	image, template view
	method          match.Method
	options         match.Options
}

// newSearch reads the image, the template, a mask of uint8 or None, and, after the result, the method and
// workers.
func newSearch(a arguments) *search {
	s := &search{image: a.array(0).mustView(2), template: a.array(1).mustView(2), method: got(match.ParseMethod(a.text(4)))}
	s.options.Workers = a.int(5)
	if s.template.element != s.image.element {
		must(wrongTypes("template has type %v, want %v like the image", s.template.element, s.image.element))
	}
	if a.has(2) {
		mask := a.array(2).mustView(2)
		if mask.element != u8 {
			must(wrongTypes("mask has type %v, want uint8 or bool", mask.element))
		}
		s.options.Mask = imageOf[uint8](&mask)
	}
	return s
}

// matchTemplate scores every position of a template in an image. Its arguments are the image, the
// template, a mask or None, a float32 array for the scores, the method and workers.
func matchTemplate(a arguments) any {
	s := newSearch(a)
	var scores view
	scores.setResult(a.array(3), "out")
	if scores.element != f32 {
		must(wrongTypes("scores have type %v, want float32", scores.element))
	}
	known(map[element]func(*search, *view){
		u8: score[uint8], u16: score[uint16], f32: score[float32], f64: score[float64],
	}, s.image.element, "pixels of %v have no scores")(s, &scores)
	return nil
}

func score[P match.Pixel](s *search, scores *view) {
	must(match.MatchInto(imageOf[float32](scores), imageOf[P](&s.image), imageOf[P](&s.template), s.method, &s.options))
}

// findTemplate writes the best positions of a template to an array with rows of x, y, score, and x and y
// with subpixel accuracy, and returns their number. Its arguments are those of matchTemplate, with that
// array instead of the scores.
func findTemplate(a arguments) any {
	s := newSearch(a)
	peaks := list[[5]float64](a.toWrite(3), f64, "peaks", -1, 5)
	found := known(map[element]func(*search, int) []match.Peak{
		u8: peaksOf[uint8], u16: peaksOf[uint16], f32: peaksOf[float32], f64: peaksOf[float64],
	}, s.image.element, "pixels of %v have no scores")(s, len(peaks))
	for i, p := range found {
		peaks[i] = [5]float64{float64(p.X), float64(p.Y), float64(p.Score), p.SubX, p.SubY}
	}
	return len(found)
}

func peaksOf[P match.Pixel](s *search, k int) []match.Peak {
	must(room(4 * float64(max(0, s.image.width-s.template.width+1)) * float64(max(0, s.image.height-s.template.height+1))))
	return got(match.Find(imageOf[P](&s.image), imageOf[P](&s.template), s.method, k, &s.options))
}
