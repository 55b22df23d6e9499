package windows

import (
	"math"

	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/raster"
)

// hasAlpha reports whether the last channel of a picture is alpha.
func hasAlpha(src *imagefile.Source) bool {
	c := imagefile.ExtentOf(src.Image).Channels
	return src.Format != "npy" && (c == 2 || c == 4)
}

// throughAlpha filters a picture with pixels weighted by their opacity: it multiplies colors by
// alpha before filtering and divides by the filtered alpha afterwards.
func throughAlpha(img raster.Array, by func(raster.Array) (raster.Array, error)) (raster.Array, error) {
	switch img.Type {
	case raster.U8: // products of bytes fit in 16 bits
		return byOpacity[uint8](img, by, 255, func(v float64) uint16 { return uint16(v) })
	case raster.U16:
		return byOpacity[uint16](img, by, 65535, func(v float64) float32 { return float32(v / 65535) })
	}
	return by(img)
}

func byOpacity[P uint8 | uint16, W uint16 | float32](img raster.Array, by func(raster.Array) (raster.Array, error), opaque float64, product func(float64) W) (out raster.Array, err error) {
	c, e := img.Channels, raster.PlaneExtent(img.Width, img.Height, img.Channels, 0)
	products, err := raster.NewPixelArray(raster.TypeOf[W](), e)
	if err != nil {
		return out, err
	}
	for y := range img.Height {
		from, to := raster.Elems[P](img.Row(y)), raster.Elems[W](products.Row(y))
		for i := 0; i < len(from); i += c {
			a := float64(from[i+c-1])
			for k := range c - 1 {
				to[i+k] = product(float64(from[i+k]) * a)
			}
			to[i+c-1] = product(a * opaque)
		}
	}
	if products, err = by(products); err != nil {
		return out, err
	}
	if out, err = raster.NewPixelArray(img.Type, e); err != nil {
		return out, err
	}
	full := float64(product(opaque * opaque))
	for y := range img.Height {
		from, to := raster.Elems[W](products.Row(y)), raster.Elems[P](out.Row(y))
		for i := 0; i < len(from); i += c {
			a := float64(from[i+c-1])
			for k := range c - 1 {
				if a > 0 {
					to[i+k] = P(min(opaque, math.Floor(float64(from[i+k])/a*opaque+0.5)))
				}
			}
			to[i+c-1] = P(math.Floor(a/full*opaque + 0.5))
		}
	}
	return out, nil
}
