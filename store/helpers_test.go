package store

import (
	"math/rand/v2"

	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/zarr"
)

// noise returns bytes many of which are equal; bools are 0 and 1.
func noise(n int, t zarr.Type, seed uint64) []byte {
	random := rand.New(rand.NewPCG(seed, 5))
	b := raster.Aligned(n)
	for i := range b {
		if b[i] = byte(random.Uint32()); i > n/2 {
			b[i] &= 1
		}
		if t == zarr.Bool {
			b[i] &= 1
		}
	}
	return b
}
