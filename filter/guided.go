package filter

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/filters"
	"github.com/boxsum/boxsum/internal/raster"
)

// Guided applies the guided filter of He, Sun and Tang, which smooths img where the guide
// is smooth and keeps edges of the guide. In every window, it fits a linear function of the
// guide, a·I + b, to img; the result uses the averages of a and b over all windows that
// contain a pixel. epsilon is the variance of the guide up to which it counts as smooth, in
// squared pixel units: 100 to 1000 for 8 bits.
//
// The guide must have the size of img and one or three channels, gray or color; each
// channel of img is filtered with the whole guide. An image may be its own guide. Sums are
// float64. Integer results are rounded to nearest and clamped to the range of their type.
func Guided[P, G Pixel](img boxsum.Image[P], guide boxsum.Image[G], w Window, epsilon float64, opt *Options) (boxsum.Image[P], error) {
	j := filters.Job{Kind: filters.Guided, Epsilon: epsilon}
	setJob(&j, &img, w, opt)
	setImage(&j.Guide, &guide)
	dst, err := checkNew[P](&j)
	if err != nil {
		return dst, err
	}
	return raster.OrZero(dst, j.Run())
}

// GuidedInto is like [Guided] but writes the result to dst, which must have the size and
// the channels of img, and may be img or the guide itself. If it returns an error, the
// contents of dst are undefined. Repeated calls with images of the same type and size do
// not allocate.
func GuidedInto[P, G Pixel](dst, img boxsum.Image[P], guide boxsum.Image[G], w Window, epsilon float64, opt *Options) error {
	j := filters.Job{Kind: filters.Guided, Epsilon: epsilon}
	setJob(&j, &img, w, opt)
	setImage(&j.Guide, &guide)
	if err := checkInto(&j, &dst); err != nil {
		return err
	}
	return j.Run()
}
