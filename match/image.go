package match

import (
	"image"

	"github.com/boxsum/boxsum"
)

// MatchImage is like [Match] but accepts images of package image, which it converts
// as [boxsum.Gray] does.
func MatchImage(img, template image.Image, m Method, opt *Options) (boxsum.Image[float32], error) {
	return Match(boxsum.Gray(img), boxsum.Gray(template), m, opt)
}

// FindImage is like [Find] but accepts images of package image, which it converts
// as [boxsum.Gray] does. Positions are relative to the top left pixel of img.
func FindImage(img, template image.Image, m Method, k int, opt *Options) ([]Peak, error) {
	peaks, err := Find(boxsum.Gray(img), boxsum.Gray(template), m, k, opt)
	if err != nil {
		return nil, err
	}
	for i := range peaks {
		from, p := img.Bounds().Min, &peaks[i]
		p.X, p.Y = p.X+from.X, p.Y+from.Y
		p.SubX, p.SubY = p.SubX+float64(from.X), p.SubY+float64(from.Y)
	}
	return peaks, nil
}
