package measure

import (
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/raster"
)

// randomImage returns an image whose sums are all exact in sumBits bits, see exactBits.
//
// Integers wrap, so their pixels use the whole range of the type. A float sum is exact, in any order
// of additions, if every partial sum is a multiple of the pixels' unit and below 2^24 (float32) or
// 2^53 (float64) of them. So for n pixels, float tables get pixels of 24-log2(n) or 53-log2(n)
// random bits. If that is less than one bit, pixels are sparse: the sum of 2^28 float32 pixels, each
// set with a probability of 1/32, stays near 2^23. Float pixels are then scaled into [0, 1).
//
// With the usual bound instead, (x+y)·2^-24 of the sum, whole pixels could be missing from a large
// float32 table without being noticed.
func randomImage(pixel raster.Type, sumBits int, size Size, channels int) (raster.Array, error) {
	img, err := raster.NewPixelArray(pixel, raster.PlaneExtent(size.Width, size.Height, channels, 0))
	if err != nil {
		return img, err
	}
	width := min(pixelBits(pixel), sumBits-bits.Len(uint(int(size.Pixels())-1)))
	unit := 1.0
	if pixel.Float() {
		unit = math.Ldexp(1, -max(width, 0))
	}
	_ = inBands(size.Height, func(from, to int) error {
		for y := from; y < to; y++ {
			// One generator per row makes the image independent of the number of cores.
			random := rand.NewPCG(uint64(size.Width), uint64(y))
			switch row := img.Row(y); pixel {
			case raster.U8:
				fillRandom(row, random, width, unit)
			case raster.U16:
				fillRandom(raster.Elems[uint16](row), random, width, unit)
			case raster.U32:
				fillRandom(raster.Elems[uint32](row), random, width, unit)
			case raster.I16:
				fillRandom(raster.Elems[int16](row), random, width, unit)
			case raster.I32:
				fillRandom(raster.Elems[int32](row), random, width, unit)
			case raster.F32:
				fillRandom(raster.Elems[float32](row), random, width, unit)
			case raster.F64:
				fillRandom(raster.Elems[float64](row), random, width, unit)
			}
		}
		return nil
	})
	return img, nil
}

// fillRandom fills a row with random numbers of width bits in units of unit. If width is less than
// one, few pixels are not zero.
func fillRandom[P boxsum.Pixel](row []P, random *rand.PCG, width int, unit float64) {
	if width < 1 {
		sparse := uint(1 - width)
		for i := range row {
			if random.Uint64()>>(64-sparse) == 0 {
				row[i] = 1
			}
		}
		return
	}
	shift := uint(64 - width)
	for i := range row {
		row[i] = P(random.Uint64()>>shift) * P(unit)
	}
}

// pixelBits returns the number of random bits that a pixel can hold; for floats that of float32.
func pixelBits(pixel raster.Type) int {
	if pixel.Float() {
		return 24
	}
	return 8 * pixel.Bytes()
}

// exactBits returns the number of bits up to which a sum is exact. Integers wrap and have no limit.
func exactBits(sum raster.Type) int {
	switch sum {
	case raster.F32:
		return 24
	case raster.F64:
		return 53
	}
	return 128
}
