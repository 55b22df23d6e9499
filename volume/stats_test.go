package volume_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum/volume"
)

// TestStatistics tests deviations of voxels far from zero, and means of boxes whose
// sums do not fit their type.
func TestStatistics(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	v, _ := volume.New[float64](41, 33, 27, 1)
	for i := range v.Pix {
		v.Pix[i] = 1e7 + rng.NormFloat64()
	}
	table, err := volume.IntegrateSquares[float64, float64](v, nil)
	if err != nil {
		t.Fatal(err)
	}
	boxes := []volume.Box{{}, volume.NewBox(3, 4, 5, 9, 9, 9), volume.NewBox(-5, 0, 0, 99, 99, 99), volume.NewBox(40, 32, 26, 41, 33, 27)}
	means, deviations, variances := make([]float64, 4), make([]float64, 4), make([]float64, 4)
	for _, err := range []error{table.MeanBoxes(means, boxes), table.StdDevBoxes(deviations, boxes), table.VarianceBoxes(variances, boxes)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, box := range boxes {
		mean, variance, n := 0.0, 0.0, 0.0
		box = box.Intersect(v.Bounds())
		each := func(f func(p float64)) {
			for z := box.Z0; z < box.Z1; z++ {
				for y := box.Y0; y < box.Y1; y++ {
					for x := box.X0; x < box.X1; x++ {
						f(v.Pix[(z*v.Height+y)*v.Width+x] - 1e7)
					}
				}
			}
		}
		each(func(p float64) { mean, n = mean+p, n+1 })
		mean /= max(1, n)
		each(func(p float64) { variance += (p - mean) * (p - mean) / n })
		if n > 0 {
			mean += 1e7
		}
		if math.Abs(means[i]-mean) > 1e-6 || math.Abs(deviations[i]-math.Sqrt(variance)) > 1e-6 || math.Abs(variances[i]-variance) > 1e-6 {
			t.Errorf("%v: %v, %v and %v, want %v and %v", box, means[i], deviations[i], variances[i], mean, variance)
		}
	}

	u, _ := volume.New[uint32](5, 4, 3, 1)
	for i := range u.Pix {
		u.Pix[i] = math.MaxUint32 - uint32(i%2)*2
	}
	wrapped, err := volume.IntegrateSquares[uint32, uint64](u, nil)
	if err != nil {
		t.Fatal(err)
	}
	if mean, std := wrapped.Mean(u.Bounds(), 0), wrapped.StdDev(u.Bounds(), 0); mean != math.MaxUint32-1 || std != 1 {
		t.Errorf("mean %v, deviation %v", mean, std)
	}
}
