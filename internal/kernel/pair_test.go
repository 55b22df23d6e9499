package kernel_test

import (
	"testing"

	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/raster"
)

// A pairTest holds the tests of one pair of types.
type pairTest struct {
	pair                           raster.Pair
	plane, volume, tilted, rotated func(*testing.T)
}

func sumTest[P kernel.Pixel, S kernel.Sum]() pairTest {
	return pairTest{
		pairOf[P, S](raster.SumPairs),
		func(t *testing.T) { testKernel[P, S](t, byLevel[P, S](kernel.Plane, false), false) },
		func(t *testing.T) {
			testVolume[P, S](t, byLevel[P, S](kernel.Volume, false), byLevel[P, S](kernel.Plane, false))
		},
		func(t *testing.T) { testTilted[P, S](t, byLevel[P, S](kernel.Tilted, false)) },
		func(t *testing.T) { testRotated[P, S](t) },
	}
}

func squareTest[P kernel.Pixel, S kernel.Sum]() pairTest {
	return pairTest{
		pairOf[P, S](raster.SquarePairs),
		func(t *testing.T) { testKernel[P, S](t, byLevel[P, S](kernel.Plane, true), true) },
		func(t *testing.T) {
			testVolume[P, S](t, byLevel[P, S](kernel.Volume, true), byLevel[P, S](kernel.Plane, true))
		},
		func(t *testing.T) { testTilted[P, S](t, byLevel[P, S](kernel.Tilted, true)) },
		nil,
	}
}

func pairOf[P kernel.Pixel, S kernel.Sum](list raster.PairList) raster.Pair {
	for _, p := range list {
		if p.Pixel == raster.TypeNamed[P]() && p.Sum == raster.TypeNamed[S]() {
			return p
		}
	}
	panic("a pair that is not in the list")
}

// testPairs runs the tests of one kind of tables for all pairs that support it.
func testPairs(t *testing.T, tests []pairTest, kind raster.Kinds, test func(pairTest) func(*testing.T)) {
	for _, p := range tests {
		if p.pair.Kinds&kind != 0 {
			t.Run(p.pair.String(), test(p))
		}
	}
}

func planeTest(p pairTest) func(*testing.T)   { return p.plane }
func volumeTest(p pairTest) func(*testing.T)  { return p.volume }
func tiltedTest(p pairTest) func(*testing.T)  { return p.tilted }
func rotatedTest(p pairTest) func(*testing.T) { return p.rotated }

func TestSums(t *testing.T)          { testPairs(t, sumTests, raster.Upright, planeTest) }
func TestSquares(t *testing.T)       { testPairs(t, squareTests, raster.Upright, planeTest) }
func TestVolumes(t *testing.T)       { testPairs(t, sumTests, raster.Volume, volumeTest) }
func TestVolumeSquares(t *testing.T) { testPairs(t, squareTests, raster.Volume, volumeTest) }
func TestTilted(t *testing.T)        { testPairs(t, sumTests, raster.Tilted, tiltedTest) }
func TestTiltedSquares(t *testing.T) { testPairs(t, squareTests, raster.Tilted, tiltedTest) }
func TestRotated(t *testing.T)       { testPairs(t, sumTests, raster.Rotated, rotatedTest) }

// TestNoPair checks that pairs of types without tables have no kernels.
func TestNoPair(t *testing.T) {
	runs := kernel.RotatedRuns{Run: []int32{0}, Channels: 1}
	if kernel.Plane(raster.F64, raster.U32, kernel.Portable, false) != nil || kernel.Plane(raster.U8, raster.F32, kernel.Best(), true) != nil ||
		kernel.NewRotatedKernel(raster.F64, raster.U32, kernel.Portable, runs) != nil {
		t.Error("there is a kernel for float64 in uint32, or for squares in float32")
	}
	if kernel.Volume(raster.F32, raster.U64, kernel.Best(), true) != nil || kernel.Tilted(raster.F32, raster.U64, kernel.Best(), true) != nil {
		t.Error("volumes and 45° tables have squares of float32 in uint64")
	}
}

// byLevel returns the kernels of sums, or of squares, by level.
func byLevel[P kernel.Pixel, S kernel.Sum, F any](kernels func(pixel, sum raster.Type, level kernel.Level, squares bool) F, squares bool) func(kernel.Level) F {
	return func(level kernel.Level) F { return kernels(raster.TypeOf[P](), raster.TypeOf[S](), level, squares) }
}
