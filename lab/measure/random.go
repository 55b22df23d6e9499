package measure

import (
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/raster"
)

// randomImage draws an image whose sums are all exact in so many bits, see exactBits.
//
// Integers wrap, so their pixels take the whole range of the type. A float has
// no rounding error, in any order of additions, as long as every partial sum
// is a multiple of the pixels' unit and below 2^24 (float32) or 2^53 (float64)
// of them. So with n pixels, float tables get pixels of 24-log2(n) or
// 53-log2(n) random bits, and where that is less than one bit, sparse ones:
// the sum of 2^28 float32 ones, each there with a chance of 1/32, stays near
// 2^23. Float pixels are then scaled into [0, 1).
//
// The usual bound instead, (x+y)·2^-24 of the sum, would let whole pixels go
// missing from a large float32 table.
func randomImage(pixel raster.Type, sumBits int, size Size, channels int) (any, error) {
	img, err := raster.NewPixelArray(pixel, raster.PlaneExtent(size.Width, size.Height, channels, 0))
	if err != nil {
		return nil, err
	}
	width := min(pixelBits(pixel), sumBits-bits.Len(uint(int(size.Pixels())-1)))
	unit := 1.0
	if pixel.Float() {
		unit = math.Ldexp(1, -max(width, 0))
	}
	_ = inBands(size.Height, func(from, to int) error {
		for y := from; y < to; y++ {
			// A generator for each row makes the same image with any number of cores.
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
	return pixels.Image(img)
}

// fillRandom fills a row with random bits of a unit each, or, for less
// than one bit, with few ones.
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

// pixelBits is how many random bits a pixel can hold: of a float what float32 has.
func pixelBits(pixel raster.Type) int {
	if pixel.Float() {
		return 24
	}
	return 8 * pixel.Bytes()
}

// exactBits is how many bits a sum may grow to and stay exact. Integers wrap: no limit.
func exactBits(sum raster.Type) int {
	switch sum {
	case raster.F32:
		return 24
	case raster.F64:
		return 53
	}
	return 128
}
