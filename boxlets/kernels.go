package boxlets

import (
	"image"

	"github.com/boxsum/boxsum/internal/boxlets"
)

// DifferenceOfBoxes returns the kernel of CenSurE's fastest detector at scale n: the mean of the ring between squares of 4n+1 and 2n+1
// pixels a side, less the mean of the smaller square. It is positive in dark blobs of the size of that square. scikit-image's CENSURE sets
// responses closer than 2n to the edge to 0, for which see [Options.Margin].
func DifferenceOfBoxes(n int) ([]Box, error) { return public(boxlets.DifferenceOfBoxes(n)) }

// Octagons returns the kernel of CenSurE's octagons: the mean of the ring between an outer and an inner octagon, less the mean of the inner
// one. An octagon has horizontal and vertical sides of the first number of pixels, which is odd, and is higher and wider by twice the second.
func Octagons(outer, inner [2]int) ([]Box, error) { return public(boxlets.Octagons(outer, inner)) }

// Stars returns the kernel of CenSurE's stars: the mean of the ring between an outer and an inner star, less the mean of the inner one. A
// star of scale n is a square of 2n+1 pixels a side together with the same square after it is turned by 45°.
func Stars(outer, inner int) ([]Box, error) { return public(boxlets.Stars(outer, inner)) }

// FromKernel returns boxes that add up to a kernel of width×height weights, which are given row by row. The anchor is the position of the
// pixel for which the kernel computes a result. The kernel is not flipped. Weights of 0 have no box. Each box begins at the first weight that
// no other box has and extends to the right and then down as far as weights are equal, so that flat regions become few boxes.
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
