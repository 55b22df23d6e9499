package filter

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/filters"
	"github.com/boxsum/boxsum/internal/raster"
)

// Distance is a constraint that permits the types of the radii of [BoxRadii].
type Distance interface{ uint8 | uint16 | uint32 }

// BoxRadii returns the mean of the window around every pixel, in the pixel type of img.
// Each pixel has a window of its own size. radii is an image of the size of img, with one
// or two channels. With one channel, it holds a radius r for every pixel, and the window
// of the pixel has 2·r+1 pixels a side. With two channels, r and s, the window is 2·r+1
// pixels wide and 2·s+1 high. This allows, for example, a blur that grows with the
// distance from the focus.
//
// Means of integers are exact before they are rounded to nearest, ties up. Means of floats
// have the rounding error of a table, about 2^-52 of the sum of all pixels. BoxRadii
// computes a table of the image and of its border, as far as the largest radius reaches.
// The table takes 4 or 8 bytes per value.
func BoxRadii[P Pixel, R Distance](img boxsum.Image[P], radii boxsum.Image[R], opt *Options) (boxsum.Image[P], error) {
	j := filters.Job{Kind: filters.BoxRadii}
	setJob(&j, &img, Window{}, opt)
	setImage(&j.Radii, &radii)
	dst, err := checkNew[P](&j)
	if err != nil {
		return dst, err
	}
	return raster.OrZero(dst, j.Run())
}

// BoxRadiiInto is like [BoxRadii] but writes the result to dst, which must have the size
// and the channels of img, and may be img itself. If it returns an error, the contents
// of dst are undefined.
func BoxRadiiInto[P Pixel, R Distance](dst, img boxsum.Image[P], radii boxsum.Image[R], opt *Options) error {
	j := filters.Job{Kind: filters.BoxRadii}
	setJob(&j, &img, Window{}, opt)
	setImage(&j.Radii, &radii)
	if err := checkInto(&j, &dst); err != nil {
		return err
	}
	return j.Run()
}
