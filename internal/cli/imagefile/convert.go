package imagefile

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/raster"
)

// Converted returns an image with its pixels converted by a function.
func Converted[D raster.Number](src raster.Array, by func(float64) D) (raster.Array, error) {
	to, err := raster.NewPixelArray(raster.TypeOf[D](), raster.PlaneExtent(src.Width, src.Height, src.Channels, 0))
	if err != nil {
		return to, err
	}
	var values []float64 // float64 represents every pixel exactly
	for y := range src.Height {
		row := raster.Elems[D](to.Row(y))
		values = src.Floats(values[:0], y, 0, len(row), 1)
		for i, v := range values {
			row[i] = by(v)
		}
	}
	return to, nil
}

// Same returns its argument, for Converted.
func Same(v float64) float64 { return v }

// Byte returns the value of an 8-bit pixel, for Converted.
func Byte(v float64) uint8 { return uint8(v) }

// UpperByte returns the upper 8 bits of a 16-bit pixel.
func UpperByte(v float64) uint8 { return uint8(uint16(v) >> 8) }

// ImageOf returns an image, whose pixels must have type P, as a boxsum.Image that shares its memory.
func ImageOf[P boxsum.Pixel](a raster.Array) boxsum.Image[P] {
	return boxsum.Image[P]{Pix: raster.Elems[P](a.Data), Stride: a.Stride, Width: a.Width, Height: a.Height, Channels: a.Channels}
}

// Encodable returns an image, or the error of making it, in the form that package imgio encodes.
func Encodable(a raster.Array, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return pixels.Image(a)
}
