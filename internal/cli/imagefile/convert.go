package imagefile

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/pixels"
)

// Converted returns an image of any type with its pixels converted by a function.
func Converted[D boxsum.Pixel](img any, by func(float64) D) (boxsum.Image[D], error) {
	src := pixels.Of(img)
	to, err := boxsum.NewImage[D](src.Width, src.Height, src.Channels)
	if err != nil {
		return to, err
	}
	var values []float64 // float64 represents every pixel exactly
	for y := range src.Height {
		row := to.Row(y)
		values = src.Floats(values[:0], y, 0, len(row), 1)
		for i, v := range values {
			row[i] = by(v)
		}
	}
	return to, nil
}

// Same returns its argument, for Converted.
func Same(v float64) float64 { return v }

// UpperByte returns the upper 8 bits of a 16-bit pixel.
func UpperByte(v float64) uint8 { return uint8(uint16(v) >> 8) }
