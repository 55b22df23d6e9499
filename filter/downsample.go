package filter

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/filters"
	"github.com/boxsum/boxsum/internal/raster"
)

// Downsample returns the mean of every block of factorX×factorY pixels. This is area
// averaging, which uses all pixels and avoids aliasing patterns. If a block extends beyond
// the image, its mean covers the part inside, so the result has
// ⌈Width/factorX⌉×⌈Height/factorY⌉ pixels. Means of integers are exact before they are
// rounded to nearest, ties up. Both factors must be 1 or more.
func Downsample[P Pixel](img boxsum.Image[P], factorX, factorY int, opt *Options) (boxsum.Image[P], error) {
	j := filters.Job{Kind: filters.Downsampled, FactorX: factorX, FactorY: factorY}
	setJob(&j, &img, Window{}, opt)
	dst, err := checkNew[P](&j)
	if err != nil {
		return dst, err
	}
	return raster.OrZero(dst, j.Run())
}

// DownsampleInto is like [Downsample] but writes the result to dst, which must have the
// size that Downsample would return. If it returns an error, the contents of dst are
// undefined. Repeated calls with images of the same type and size do not allocate.
func DownsampleInto[P Pixel](dst, img boxsum.Image[P], factorX, factorY int, opt *Options) error {
	j := filters.Job{Kind: filters.Downsampled, FactorX: factorX, FactorY: factorY}
	setJob(&j, &img, Window{}, opt)
	if err := checkInto(&j, &dst); err != nil {
		return err
	}
	return j.Run()
}
