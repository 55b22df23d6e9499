package sketch

import (
	"image"
	"image/color"
	"math"

	"github.com/boxsum/boxsum"
)

// Show is an image of any pixels as one to look at: 8-bit pixels are as they
// are, and all others go from black for the least to white for the greatest. Of
// three channels or more, the first three are red, green and blue.
func Show[P boxsum.Pixel](img boxsum.Image[P]) image.Image {
	low, high := 0.0, 255.0
	if _, bytes := any(img).(boxsum.Image[uint8]); !bytes {
		low, high = Range(img)
	}
	return Paint(img, func(p P) uint8 {
		if !(high > low) {
			return 0x80
		}
		// Halves keep the range of the largest floats finite.
		v := (float64(p)/2 - low/2) / (high/2 - low/2)
		if !(v > 0) { // or NaN
			return 0
		}
		return uint8(min(v, 1)*255 + 0.5)
	})
}

// Paint is an image with a brightness for every pixel. Of three channels or more, the first
// three are red, green and blue.
func Paint[P boxsum.Pixel](img boxsum.Image[P], level func(P) uint8) image.Image {
	dst := image.NewRGBA(image.Rect(0, 0, img.Width, img.Height))
	for y := range img.Height {
		row := img.Row(y)
		for x := range img.Width {
			p := row[x*img.Channels:][:img.Channels]
			c := color.RGBA{level(p[0]), level(p[0]), level(p[0]), 0xff}
			if len(p) >= 3 {
				c.G, c.B = level(p[1]), level(p[2])
			}
			dst.SetRGBA(x, y, c)
		}
	}
	return dst
}

// Range is the least and the greatest finite pixel, the other way round where there is none.
func Range[P boxsum.Pixel](img boxsum.Image[P]) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for y := range img.Height {
		for _, p := range img.Row(y) {
			if v := float64(p); !math.IsNaN(v) && !math.IsInf(v, 0) {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	return low, high
}
