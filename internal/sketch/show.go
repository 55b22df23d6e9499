package sketch

import (
	"image"
	"image/color"
	"math"

	"github.com/boxsum/boxsum/internal/raster"
)

// Show converts the pixels of an image to an image for display: 8-bit pixels are unchanged, and all others
// range from black for the smallest to white for the largest. Of three or more channels, the first three are red,
// green and blue.
func Show(src raster.Array) image.Image {
	low, high := 0.0, 255.0
	if src.Type != raster.U8 {
		low, high = Range(src)
	}
	return Paint(src, func(p float64) uint8 {
		if !(high > low) {
			return 0x80
		}
		// Halves keep the range of the largest floats finite.
		v := (p/2 - low/2) / (high/2 - low/2)
		if !(v > 0) { // also NaN
			return 0
		}
		return uint8(min(v, 1)*255 + 0.5)
	})
}

// Paint returns an image with a brightness computed for every pixel. Of three or more channels, the first three are
// red, green and blue.
func Paint(src raster.Array, level func(float64) uint8) image.Image {
	width, height, channels := src.Width, src.Height, src.Channels
	dst := image.NewRGBA(image.Rect(0, 0, width, height))
	var row []float64
	for y := range height {
		row = src.Floats(row[:0], y, 0, width*channels, 1)
		for x := range width {
			p := row[x*channels:][:channels]
			c := color.RGBA{level(p[0]), level(p[0]), level(p[0]), 0xff}
			if len(p) >= 3 {
				c.G, c.B = level(p[1]), level(p[2])
			}
			dst.SetRGBA(x, y, c)
		}
	}
	return dst
}

// Range returns the smallest and the largest finite pixel. low exceeds high if there is none.
func Range(src raster.Array) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	var row []float64
	for y := range src.Height {
		row = src.Floats(row[:0], y, 0, src.Width*src.Channels, 1)
		for _, v := range row {
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	return low, high
}
