package kernel_test

import (
	"testing"

	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/pairs"
)

//go:generate go run github.com/boxsum/boxsum/internal/pairs/expand -out sums_test.go -before "package kernel_test\n\nvar sumTests = []pairTest{" -line "sumTest[{{.Pixel}}, {{.Sum}}]()," -after "}"
//go:generate go run github.com/boxsum/boxsum/internal/pairs/expand -out squares_test.go -list squares -before "package kernel_test\n\nvar squareTests = []pairTest{" -line "squareTest[{{.Pixel}}, {{.Sum}}]()," -after "}"

// A pairTest is the tests of one pair of types.
type pairTest struct {
	pair                           pairs.Pair
	plane, volume, tilted, rotated func(*testing.T)
}

func sumTest[P kernel.Pixel, S kernel.Sum]() pairTest {
	return pairTest{
		pairOf[P, S](pairs.Sums),
		func(t *testing.T) { testKernel[P](t, of[P](kernel.Plane[S], false), false) },
		func(t *testing.T) { testVolume[P](t, of[P](kernel.Volume[S], false), of[P](kernel.Plane[S], false)) },
		func(t *testing.T) { testTilted[P](t, of[P](kernel.Tilted[S], false)) },
		func(t *testing.T) { testRotated[P, S](t) },
	}
}

func squareTest[P kernel.Pixel, S kernel.Sum]() pairTest {
	return pairTest{
		pairOf[P, S](pairs.Squares),
		func(t *testing.T) { testKernel[P](t, of[P](kernel.Plane[S], true), true) },
		func(t *testing.T) { testVolume[P](t, of[P](kernel.Volume[S], true), of[P](kernel.Plane[S], true)) },
		func(t *testing.T) { testTilted[P](t, of[P](kernel.Tilted[S], true)) },
		nil,
	}
}

func pairOf[P kernel.Pixel, S kernel.Sum](list pairs.List) pairs.Pair {
	for _, p := range list {
		if p.Pixel == pairs.Of[P]() && p.Sum == pairs.Of[S]() {
			return p
		}
	}
	panic("a pair that is not in the list")
}

// testPairs runs the tests of a kind of tables for all pairs that have it.
func testPairs(t *testing.T, tests []pairTest, kind pairs.Kinds, test func(pairTest) func(*testing.T)) {
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

func TestSums(t *testing.T)          { testPairs(t, sumTests, pairs.Upright, planeTest) }
func TestSquares(t *testing.T)       { testPairs(t, squareTests, pairs.Upright, planeTest) }
func TestVolumes(t *testing.T)       { testPairs(t, sumTests, pairs.Volume, volumeTest) }
func TestVolumeSquares(t *testing.T) { testPairs(t, squareTests, pairs.Volume, volumeTest) }
func TestTilted(t *testing.T)        { testPairs(t, sumTests, pairs.Tilted, tiltedTest) }
func TestTiltedSquares(t *testing.T) { testPairs(t, squareTests, pairs.Tilted, tiltedTest) }
func TestRotated(t *testing.T)       { testPairs(t, sumTests, pairs.Rotated, rotatedTest) }

// A pair that makes no table has no kernel.
func TestNoPair(t *testing.T) {
	runs := kernel.RotatedRuns{Run: []int32{0}, Channels: 1}
	if kernel.Plane[uint32](pairs.F64, kernel.Portable, false) != nil || kernel.Plane[float32](pairs.U8, kernel.Best(), true) != nil ||
		kernel.NewRotatedKernel[uint32](pairs.F64, kernel.Portable, runs) != nil {
		t.Error("there is a kernel for float64 in uint32, or for squares in float32")
	}
	if kernel.Volume[uint64](pairs.F32, kernel.Best(), true) != nil || kernel.Tilted[uint64](pairs.F32, kernel.Best(), true) != nil {
		t.Error("volumes and 45° tables have squares of float32 in uint64")
	}
}

// of is the kernels of sums or of squares, by level.
func of[P kernel.Pixel, F any](kernels func(pairs.Type, kernel.Level, bool) F, squares bool) func(kernel.Level) F {
	return func(level kernel.Level) F { return kernels(pairs.TypeOf[P](), level, squares) }
}
