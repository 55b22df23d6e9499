package filter

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/filters"
	"github.com/boxsum/boxsum/internal/raster"
)

// Downsample returns the mean of every block of factorX×factorY pixels (area averaging),
// which uses all pixels and avoids aliasing patterns. Blocks that extend beyond the image
// are the mean of their part in the image, so the result has
// ⌈Width/factorX⌉×⌈Height/factorY⌉ pixels. Integers are exact and rounded to nearest, ties
// up.
func Downsample[P Pixel](img boxsum.Image[P], factorX, factorY int, opt *Options) (boxsum.Image[P], error) {
	j := filters.Job{Kind: filters.Downsampled, FactorX: factorX, FactorY: factorY}
	setJob(&j, &img, Window{}, opt)
	dst, err := checkNew[P](&j)
	if err != nil {
		return dst, err
	}
	return raster.OrZero(dst, j.Run())
}

// DownsampleInto is like [Downsample] but writes to dst, which must have that size. It
// allocates nothing after the first image of a type and size.
func DownsampleInto[P Pixel](dst, img boxsum.Image[P], factorX, factorY int, opt *Options) error {
	j := filters.Job{Kind: filters.Downsampled, FactorX: factorX, FactorY: factorY}
	setJob(&j, &img, Window{}, opt)
	if err := checkInto(&j, &dst); err != nil {
		return err
	}
	return j.Run()
}
