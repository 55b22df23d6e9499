package hog

import (
	"math"

	"github.com/boxsum/boxsum/internal/kernel/gradients"
)

// blockPixels returns the pixels of a block in the order in which OpenCV adds them up: those
// with one cell come first, then those with two, then those with four; each of these column
// by column. A pixel contributes to the cells around it by bilinear interpolation, weighted
// by a Gaussian about the center of the block.
func blockPixels(c *Config) []gradients.Pixel {
	all := make([]gradients.Pixel, 0, c.Block.X*c.Block.Y)
	sigma := float32(c.Sigma)
	k := 1 / float32(float32(sigma*sigma)*2)
	cellsY := c.Block.Y / c.Cell.Y
	for n := int32(1); n <= 4; n *= 2 {
		for x := range c.Block.X {
			xs := sideOf(x, c.Cell.X, c.Block.X)
			dx := float32(x) - float32(c.Block.X)*0.5
			for y := range c.Block.Y {
				ys := sideOf(y, c.Cell.Y, c.Block.Y)
				if xs.n*ys.n != n {
					continue
				}
				dy := float32(y) - float32(c.Block.Y)*0.5
				gauss := expf(-float32(float32(dy*dy)+float32(dx*dx)) * k)
				p := gradients.Pixel{X: int32(x), Y: int32(y), N: n}
				i := 0
				for a := range xs.n {
					for b := range ys.n {
						p.Cells[i] = xs.cells[a]*int32(cellsY) + ys.cells[b]
						p.Weights[i] = gauss * float32(xs.weights[a]*ys.weights[b])
						if p.Cells[i] < gradients.BlockCells {
							p.Spread[p.Cells[i]] = p.Weights[i]
						}
						i++
					}
				}
				all = append(all, p)
			}
		}
	}
	return all
}

// A side holds the cells along one axis to which a pixel contributes.
type side struct {
	n       int32
	cells   [2]int32
	weights [2]float32
}

func sideOf(i, cell, block int) (s side) {
	u := float32((float32(i)+0.5)/float32(cell)) - 0.5
	first := float32(math.Floor(float64(u)))
	part := u - first
	for k, weight := range [2]float32{1 - part, part} {
		if at := int(first) + k; at >= 0 && at < block/cell {
			s.cells[s.n], s.weights[s.n] = int32(at), weight
			s.n++
		}
	}
	return s
}

// expf returns e^x for x ≤ 0 as glibc 2.27 and later round it: 2^(k/32) from a table times a
// polynomial in float64. The polynomial's coefficients are those published with the method
// (Arm, "Optimized Routines", exp2f). Rounding the exact value instead would change the
// weights of one pixel in 2500.
func expf(x float32) float32 {
	const (
		n  = 32
		c0 = 0x1.c6af84b912394p-5 / n / n / n
		c1 = 0x1.ebfce50fac4f3p-3 / n / n
		c2 = 0x1.62e42ff0c52d6p-1 / n
	)
	if x < -103.97 { // the smallest positive float32
		return 0
	}
	const perLog2 = 0x1.71547652b82fep+0 * n
	k := math.RoundToEven(perLog2 * float64(x))
	r := math.FMA(perLog2, float64(x), -k)
	low := math.Mod(k, n)
	scale := math.Ldexp(math.Exp2(low/n), int((k-low)/n))
	y := math.FMA(math.FMA(c0, r, c1), r*r, math.FMA(c2, r, 1))
	return float32(y * scale)
}
