package filter

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/filters"
	"github.com/boxsum/boxsum/internal/raster"
)

// A Sigma is the standard deviation of a Gaussian along each axis, in pixels. Zero leaves
// that axis unfiltered.
type Sigma struct {
	X, Y float64

	// Passes is the number of boxes that approximate the Gaussian, 1 to 6. Four boxes are more
	// accurate than three and take a third longer. Zero means exact Gaussian weights along axes
	// with a standard deviation below 2, or below 6 for pixels other than bytes, and three
	// boxes along other axes.
	Passes int
}

// Boxes returns the sizes of the boxes that, applied one after another, best approximate a
// Gaussian with standard deviation sigma, after Kovesi. passes is the number of boxes, or 0
// for three. Sizes are odd, and smaller ones come first. Boxes returns nil if an argument is
// out of range.
func Boxes(sigma float64, passes int) []int {
	if passes < 1 || passes > filters.MaxPasses || !(sigma >= 0) || sigma > filters.MaxSigma {
		return nil
	}
	all := filters.Boxes(sigma, passes)
	return append([]int(nil), all[:passes]...)
}

// Gaussian blurs an image by a Gaussian with the given standard deviations.
//
// If both deviations are below 2, or below 6 for pixels other than uint8, Gaussian uses
// Gaussian weights, truncated at four deviations. The result then matches SciPy's
// gaussian_filter up to the rounding of float32, or of float64 for float64 pixels. Otherwise,
// Gaussian applies several box filters that together approximate a Gaussian, in a time that
// does not depend on sigma; docs/reference/filters.md says how closely. 8-bit pixels keep
// additional bits between the box filters. They are rounded to 8 bits at the end, and once
// more in between if only one of the two deviations is below the limit.
//
// With the border [Clip], weights outside the image do not count, and the others are scaled to
// add up to 1. With [Replicate] and [Constant], Gaussian returns an error if the box filters
// together reach beyond the image by more than 4096 pixels and more than twice its size.
func Gaussian[P Pixel](img boxsum.Image[P], sigma Sigma, opt *Options) (boxsum.Image[P], error) {
	j := filters.Job{Kind: filters.Gaussian, Sigma: filters.Sigma(sigma)}
	setJob(&j, &img, Window{}, opt)
	dst, err := checkNew[P](&j)
	if err != nil {
		return dst, err
	}
	return raster.OrZero(dst, j.Run())
}

// GaussianInto is like [Gaussian] but writes the result to dst, which must have the size
// and the channels of img, and may be img itself. If it returns an error, the contents of
// dst are undefined. Repeated calls with images of the same type and size do not
// allocate.
func GaussianInto[P Pixel](dst, img boxsum.Image[P], sigma Sigma, opt *Options) error {
	j := filters.Job{Kind: filters.Gaussian, Sigma: filters.Sigma(sigma)}
	setJob(&j, &img, Window{}, opt)
	if err := checkInto(&j, &dst); err != nil {
		return err
	}
	return j.Run()
}
