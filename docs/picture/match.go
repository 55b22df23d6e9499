package main

import (
	"image"
	"image/color"

	"golang.org/x/image/draw"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/page"
	"github.com/boxsum/boxsum/match"
)

// letter is the letter of the page that is used as the template.
var letter = image.Rect(47, 26, 59, 46)

// drawMatch shows a page that is lit from one side, a letter of it and the other positions
// where it was found, and below it the score of every position.
func drawMatch() image.Image {
	const width, height = 880, 150
	p := must(page.Draw(page.Lit, width, height, 22))
	template := p.Gray
	template.Pix = p.Gray.Pix[letter.Min.Y*p.Gray.Stride+letter.Min.X:]
	template.Width, template.Height = letter.Dx(), letter.Dy()
	scores := must(match.Match(p.Gray, template, match.ZNCC, nil))
	peaks := must(match.Peaks(scores, match.ZNCC, 1000, image.Pt(letter.Dx()/2, letter.Dy()/2)))

	canvas := image.NewNRGBA(image.Rect(0, 0, width, 2*height+panelGap))
	draw.Draw(canvas, canvas.Bounds(), image.White, image.Point{}, draw.Src)
	gray := func(img boxsum.Image[uint8]) *image.Gray {
		return &image.Gray{Pix: img.Pix, Stride: img.Stride, Rect: image.Rect(0, 0, img.Width, img.Height)}
	}
	draw.Draw(canvas, image.Rect(0, 0, width, height), gray(p.Gray), image.Point{}, draw.Src)
	for _, peak := range peaks {
		if peak.Score > 0.85 {
			outline(canvas, letter.Sub(letter.Min).Add(image.Pt(peak.X, peak.Y)).Inset(-2), 2, bright)
		}
	}
	outline(canvas, letter.Inset(-3), 3, color.RGBA{0x20, 0x70, 0xe0, 0xff})
	draw.Draw(canvas, image.Rect(0, height+panelGap, width, 2*height+panelGap), image.Black, image.Point{}, draw.Src)
	shown := gray(stretched(scores, -0.2, 1))
	draw.Draw(canvas, shown.Rect.Add(image.Pt(letter.Dx()/2, height+panelGap+letter.Dy()/2)), shown, image.Point{}, draw.Src)
	return canvas
}
