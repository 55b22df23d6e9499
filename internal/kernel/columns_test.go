package kernel_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/raster"
)

// TestColumnSums compares the column sums of every level with a plain loop, and checks that nothing
// else is written.
func TestColumnSums(t *testing.T) {
	testColumnSums[uint8, uint32](t)
	testColumnSums[uint8, uint64](t)
	testColumnSums[uint16, uint64](t)
	testColumnSums[int16, int64](t)
	testColumnSums[int32, int64](t)
	testColumnSums[int32, uint64](t)
	testColumnSums[uint32, uint32](t)
	testColumnSums[uint32, uint64](t)
	testColumnSums[uint16, uint32](t)
}

func testColumnSums[P kernel.Pixel, S kernel.Sum](t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, level := range kernel.Levels() {
		for _, squares := range []bool{false, true} {
			columns := kernel.ColumnsOf(raster.TypeOf[P](), raster.TypeOf[S](), level, squares)
			if columns.Sum == nil {
				continue
			}
			t.Run(fmt.Sprintf("%T to %T at %v squares=%t", *new(P), *new(S), level, squares), func(t *testing.T) {
				for range 100 {
					n, rows := rng.IntN(100), rng.IntN(20)
					if rng.IntN(20) == 0 {
						rows += 600 // sums of bytes overflow 16 bits
					}
					stride := n + rng.IntN(9)
					src := make([]P, max(0, rows*stride-(stride-n)))
					for i := range src {
						src[i] = P(rng.Uint64())
						if rows > 600 {
							src[i] = P(255 - rng.IntN(2))
						}
					}
					got := make([]S, n+20)
					for i := range got {
						got[i] = S(rng.IntN(1000))
					}
					want := slices.Clone(got)
					for r := range rows {
						for i := range n {
							v := S(src[r*stride+i])
							if squares {
								v *= v
							}
							want[i] += v
						}
					}
					if columns.Sum(raster.Bytes(got[:n]), raster.Bytes(src), stride, rows); !slices.Equal(got, want) {
						t.Fatalf("%d columns of %d rows:\n%v\n%v", n, rows, got, want)
					}
				}
			})
		}
	}
}
