package boxlets

import (
	"image"

	"github.com/boxsum/boxsum/internal/boxlets"
)

// DifferenceOfBoxes returns the kernel of CenSurE's fastest detector at scale n, from 1 to 4096.
// Its response is the mean of a square ring less the mean of the square inside it. The inner square
// has 2n+1 pixels a side, and the ring is n pixels wide. The response is positive in dark blobs of
// the size of the inner square. scikit-image's CENSURE sets responses closer than 2n to the edge to
// 0; set [Options.Margin] to 2n to do the same.
func DifferenceOfBoxes(n int) ([]Box, error) { return public(boxlets.DifferenceOfBoxes(n)) }

// Octagons returns the kernel of CenSurE's octagons. Its response is the mean of the ring between
// an outer and an inner octagon, less the mean of the inner octagon. An octagon {m, n} is m+2n
// pixels wide and high, and its horizontal and vertical sides have m pixels, where m is odd.
// Octagons returns an error if m or n is out of range, or if the outer octagon does not contain the
// inner one.
func Octagons(outer, inner [2]int) ([]Box, error) { return public(boxlets.Octagons(outer, inner)) }

// Stars returns the kernel of CenSurE's stars. Its response is the mean of the ring between an
// outer and an inner star, less the mean of the inner star. A star of scale n is the union of a
// square of 2n+1 pixels a side and the same square rotated by 45°. Scales are from 1 to 256, and
// outer must be greater than inner.
func Stars(outer, inner int) ([]Box, error) { return public(boxlets.Stars(outer, inner)) }

// FromKernel returns boxes that add up to a kernel of width×height weights, given row by row.
// anchor is the position in the kernel of the pixel whose result is computed. The kernel is not
// flipped. FromKernel returns an error if a weight is not finite, if all weights are 0, or if it
// would return more than 4096 boxes.
//
// Each box starts at the first weight other than 0 that no earlier box covers. It extends to the
// right and then down as long as weights are equal, so kernels with large flat regions need few
// boxes.
func FromKernel(weights []float64, width, height int, anchor image.Point) ([]Box, error) {
	return public(boxlets.FromKernel(weights, width, height, anchor))
}

// public converts a kernel.
func public(all []boxlets.Box, err error) ([]Box, error) {
	var kernel []Box
	for _, b := range all {
		kernel = append(kernel, Box(b))
	}
	return kernel, err
}
