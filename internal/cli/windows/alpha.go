package windows

import (
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
)

// hasAlpha reports whether the last channel of a picture is alpha.
func hasAlpha(src *imagefile.Source) bool {
	c := imagefile.ExtentOf(src.Image).Channels
	return src.Format != "npy" && (c == 2 || c == 4)
}

// throughAlpha filters a picture with pixels weighted by their opacity: it multiplies colors by
// alpha before filtering and divides by the filtered alpha afterwards.
func throughAlpha(img any, by func(any) (any, error)) (any, error) {
	switch img := img.(type) {
	case boxsum.Image[uint8]: // products of bytes fit in 16 bits
		return byOpacity(img, by, 255, func(v float64) uint16 { return uint16(v) })
	case boxsum.Image[uint16]:
		return byOpacity(img, by, 65535, func(v float64) float32 { return float32(v / 65535) })
	}
	return by(img)
}

func byOpacity[P uint8 | uint16, W uint16 | float32](img boxsum.Image[P], by func(any) (any, error), opaque float64, product func(float64) W) (any, error) {
	c := img.Channels
	products, err := boxsum.NewImage[W](img.Width, img.Height, c)
	if err != nil {
		return nil, err
	}
	for y := range img.Height {
		from, to := img.Row(y), products.Row(y)
		for i := 0; i < len(from); i += c {
			a := float64(from[i+c-1])
			for k := range c - 1 {
				to[i+k] = product(float64(from[i+k]) * a)
			}
			to[i+c-1] = product(a * opaque)
		}
	}
	made, err := by(products)
	if err != nil {
		return nil, err
	}
	products = made.(boxsum.Image[W])
	out, err := boxsum.NewImage[P](img.Width, img.Height, c)
	if err != nil {
		return nil, err
	}
	full := float64(product(opaque * opaque))
	for y := range img.Height {
		from, to := products.Row(y), out.Row(y)
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
