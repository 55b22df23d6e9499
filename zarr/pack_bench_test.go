package zarr

import (
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum/internal/raster"
)

// BenchmarkPack compresses a block of the table of a large image of noise.
func BenchmarkPack(b *testing.B) {
	const side = 1024
	random := rand.New(rand.NewPCG(1, 1))
	table := make([]uint64, side*side)
	column := make([]uint64, side) // sums of the pixels above
	for i := range column {
		column[i] = 8000*128 + uint64(random.IntN(1<<12))
	}
	for y := range side {
		sum := uint64(8000*128) * uint64(y+8000)
		for x := range side {
			column[x] += uint64(random.IntN(256))
			sum += column[x]
			table[y*side+x] = sum
		}
	}
	data := raster.Bytes(table)
	p := &bloscPack{"zstd", 1, "shuffle", 8, 0}
	b.SetBytes(int64(len(data)))
	var buf []byte
	for b.Loop() {
		out, err := p.pack(buf, data)
		if err != nil {
			b.Fatal(err)
		}
		buf = out[:0]
		b.ReportMetric(float64(len(out))/float64(len(table)), "bytes/entry")
	}
}
