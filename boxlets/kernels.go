package boxlets

import (
	"image"

	"github.com/boxsum/boxsum/internal/boxlets"
)

// DifferenceOfBoxes returns the kernel of CenSurE's fastest detector at scale n. Its result is the
// mean of a square ring less the mean of the square inside it; the inner square has 2n+1 pixels a
// side and the outer one 4n+1. It is positive in dark blobs of the size of the inner square.
// scikit-image's CENSURE sets responses closer than 2n to the edge to 0; set [Options.Margin] to 2n
// to do the same.
func DifferenceOfBoxes(n int) ([]Box, error) { return public(boxlets.DifferenceOfBoxes(n)) }

// Octagons returns the kernel of CenSurE's octagons: the mean of the ring between an outer and an
// inner octagon, less the mean of the inner one. An octagon {m, n} has horizontal and vertical
// sides of m pixels, where m is odd, and is m+2n pixels wide and high.
func Octagons(outer, inner [2]int) ([]Box, error) { return public(boxlets.Octagons(outer, inner)) }

// Stars returns the kernel of CenSurE's stars: the mean of the ring between an outer and an inner
// star, less the mean of the inner one. A star of scale n is the union of a square of 2n+1 pixels a
// side and the same square rotated by 45°.
func Stars(outer, inner int) ([]Box, error) { return public(boxlets.Stars(outer, inner)) }

// FromKernel returns boxes that add up to a kernel of width×height weights, given row by row.
// anchor is the position in the kernel of the pixel whose result is computed. The kernel is not
// flipped. Weights of 0 need no box. Each box starts at the first weight that no earlier box covers
// and extends to the right and then down as long as weights are equal, so kernels with large flat
// regions need few boxes.
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
