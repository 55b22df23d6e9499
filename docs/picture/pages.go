package main

import (
	"image"

	"golang.org/x/image/draw"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/page"
	"github.com/boxsum/boxsum/threshold"
)

// drawLit shows a page that is lit from one side, and the results of thresholds.
func drawLit() image.Image {
	return comparePages([]page.Kind{page.Lit}, 880, 250, []threshold.Rule{threshold.New(threshold.Otsu, 0), threshold.New(threshold.ISauvola, 75)}, false)
}

// drawPage is the page of the README's second task.
func drawPage() image.Image {
	p := must(page.Draw(page.Lit, 880, 250, 22))
	return &image.Gray{Pix: p.Gray.Pix, Stride: p.Gray.Width, Rect: image.Rect(0, 0, p.Gray.Width, p.Gray.Height)}
}

// drawPages shows pages with other damage, each next to the results of one or two methods.
func drawPages() image.Image {
	return comparePages([]page.Kind{page.Shadow, page.Stained, page.Faint, page.Bleed, page.Noisy}, 440, 170,
		[]threshold.Rule{threshold.New(threshold.Otsu, 0), threshold.New(threshold.Sauvola, 75), threshold.New(threshold.NICK, 75), threshold.New(threshold.Su, 0)}, true)
}

// comparePages shows pages with the results of rules, in rows or one below the other.
func comparePages(kinds []page.Kind, width, height int, rules []threshold.Rule, across bool) image.Image {
	const gap = 8
	columns, rows := 1, len(rules)+1
	if across {
		columns, rows = len(rules)+1, len(kinds)
	}
	canvas := image.NewGray(image.Rect(0, 0, columns*(width+gap)-gap, rows*(height+gap)-gap))
	draw.Draw(canvas, canvas.Bounds(), image.NewUniform(image.White), image.Point{}, draw.Src)
	put := func(column, row int, img boxsum.Image[uint8]) {
		at := image.Pt(column*(width+gap), row*(height+gap))
		m := &image.Gray{Pix: img.Pix, Stride: img.Stride, Rect: image.Rect(0, 0, width, height)}
		draw.Draw(canvas, m.Rect.Add(at), m, image.Point{}, draw.Src)
		outlineGray(canvas, m.Rect.Add(at))
	}
	for i, k := range kinds {
		p := must(page.Draw(k, width, height, 22))
		all := []boxsum.Image[uint8]{p.Gray}
		for _, r := range rules {
			all = append(all, must(threshold.Binarize(p.Gray, r, nil)))
		}
		for j, img := range all {
			if across {
				put(j, i, img)
			} else {
				put(0, j, img)
			}
		}
	}
	return canvas
}

// outlineGray draws a thin frame.
func outlineGray(m *image.Gray, r image.Rectangle) {
	for x := r.Min.X; x < r.Max.X; x++ {
		m.Pix[m.PixOffset(x, r.Min.Y)], m.Pix[m.PixOffset(x, r.Max.Y-1)] = 128, 128
	}
	for y := r.Min.Y; y < r.Max.Y; y++ {
		m.Pix[m.PixOffset(r.Min.X, y)], m.Pix[m.PixOffset(r.Max.X-1, y)] = 128, 128
	}
}
