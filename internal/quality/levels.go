package quality

import (
	"math"

	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
)

// levelWeights are the exponents of the scales of MS-SSIM, from the full size on (Wang, Simoncelli and Bovik, 2003).
var levelWeights = [...]float64{0.0448, 0.2856, 0.3001, 0.2363, 0.1333}

// The size and the deviation of the window of MS-SSIM.
const (
	levelWindow = 11
	levelSigma  = 1.5
)

// MultiScale returns the MS-SSIM of the images of a job, which holds nothing else but the range and the options.
func MultiScale(j Job) (float64, error) {
	j.Kind, j.Size, j.Sigma, j.Population, j.contrasts = SSIM, 0, levelSigma, true, true
	if err := j.Check(); err != nil {
		return 0, err
	}
	if j.counting {
		return 0, raster.Unsupported("masks and skipped NaN are not supported by MS-SSIM, which also compares reduced images")
	}
	least := (levelWindow-1)<<(len(levelWeights)-1) + 1
	if j.A.Width < least || j.A.Height < least || j.Solid {
		return 0, raster.Invalid("the images are %v, want sides of at least %d pixels for %d scales", j.A.Extent, least, len(levelWeights))
	}
	j.set = j.set.Quiet()
	products := make([]float64, j.A.Channels)
	for i := range products {
		products[i] = 1
	}
	for level, weight := range levelWeights {
		scores, contrasts, err := j.run()
		if err != nil {
			return 0, err
		}
		if level == len(levelWeights)-1 {
			contrasts = scores
		}
		for c, v := range contrasts {
			products[c] *= math.Pow(max(v, 0), weight)
		}
		if level == len(levelWeights)-1 {
			break
		}
		if j.A, err = halved(&j.A); err != nil {
			return 0, err
		}
		if j.B, err = halved(&j.B); err != nil {
			return 0, err
		}
	}
	return meanOf(products), nil
}

// halved returns an image of the means of blocks of 2×2 pixels, as float64. The last row or column of an odd number
// is repeated.
func halved(a *raster.Array) (raster.Array, error) {
	h, err := raster.NewPixelArray(raster.F64, raster.PlaneExtent((a.Width+1)/2, (a.Height+1)/2, a.Channels, 0))
	if err != nil {
		return h, err
	}
	c := a.Channels
	rows := [2][]float64{make([]float64, a.Width*c), make([]float64, a.Width*c)}
	for y := range h.Height {
		for k, row := range rows {
			windows.Floats(a.Type, row, a.Span(0, min(2*y+k, a.Height-1), a.Width))
		}
		dst := raster.Elems[float64](h.Span(0, y, h.Width))
		for x := range h.Width {
			left, right := 2*x*c, min(2*x+1, a.Width-1)*c
			for ch := range c {
				dst[x*c+ch] = (rows[0][left+ch] + rows[0][right+ch] + rows[1][left+ch] + rows[1][right+ch]) / 4
			}
		}
	}
	return h, nil
}
