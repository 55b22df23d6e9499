package rotated_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/rotated"
)

// TestSquares compares deviations along a rotation with those of the pixels in the
// box.
func TestSquares(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	img, _ := boxsum.NewImage[uint16](31, 23, 2)
	for i := range img.Pix {
		img.Pix[i] = uint16(rng.Uint32())
	}
	rot := rotated.Rotation{A: 1, B: 3}
	table, err := rotated.IntegrateSquares[uint64, uint64](img, rot, nil)
	if err != nil {
		t.Fatal(err)
	}
	floats, err := rotated.IntegrateSquares[uint64, float64](img, rot, nil)
	if err != nil {
		t.Fatal(err)
	}
	all := table.Sum.Bounds()
	for range 200 {
		c, r := all.C0+rng.IntN(all.C1-all.C0), all.R0+rng.IntN(all.R1-all.R0)
		box := rotated.Box{C0: c, R0: r, C1: c + rng.IntN(20), R1: r + rng.IntN(20)}
		channel := rng.IntN(2)
		var pixels []float64
		for y := range img.Height {
			for x := range img.Width {
				if c, r := table.Sum.Cell(x, y); c >= box.C0 && c < box.C1 && r >= box.R0 && r < box.R1 {
					pixels = append(pixels, float64(img.Pix[y*img.Stride+x*2+channel]))
				}
			}
		}
		mean, variance := 0.0, 0.0
		for _, p := range pixels {
			mean += p / float64(len(pixels))
		}
		for _, p := range pixels {
			variance += (p - mean) * (p - mean) / float64(len(pixels))
		}
		want := math.Sqrt(variance)
		for _, got := range []float64{table.StdDev(box, channel), floats.StdDev(box, channel)} {
			if math.Abs(got-want) > 1e-6 || math.Abs(table.Mean(box, channel)-mean) > 1e-6 {
				t.Fatalf("%v: deviation %v, want %v", box, got, want)
			}
		}
	}
	boxes := []rotated.Box{all, {C0: 3, R0: 4, C1: 9, R1: 11}, {}}
	means, variances, deviations := make([]float64, 6), make([]float64, 6), make([]float64, 6)
	if err := errors.Join(table.MeanBoxes(means, boxes), table.VarianceBoxes(variances, boxes), table.StdDevBoxes(deviations, boxes)); err != nil {
		t.Fatal(err)
	}
	for i := range means {
		box, channel := boxes[i/2], i%2
		if means[i] != table.Mean(box, channel) || variances[i] != table.Variance(box, channel) || deviations[i] != table.StdDev(box, channel) {
			t.Errorf("%v, channel %d: %v, %v, %v of several boxes", box, channel, means[i], variances[i], deviations[i])
		}
	}
	other, err := rotated.NewTable[uint64](31, 23, 2, rotated.Rotation{A: 1, B: 2})
	if err != nil {
		t.Fatal(err)
	}
	var nothing *rotated.SquaredTable[uint64, uint64]
	for name, err := range map[string]error{
		"few means":      table.MeanBoxes(means[:5], boxes),
		"few variances":  table.VarianceBoxes(means[:5], boxes),
		"no squares":     (&rotated.SquaredTable[uint64, uint64]{Sum: table.Sum}).StdDevBoxes(means, boxes),
		"other rotation": (&rotated.SquaredTable[uint64, uint64]{Sum: table.Sum, Squares: other}).StdDevBoxes(means, boxes),
		"nil means":      nothing.MeanBoxes(nil, nil),
		"nil deviations": nothing.StdDevBoxes(nil, nil),
	} {
		if !errors.Is(err, boxsum.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := rotated.IntegrateSquares[int64, uint64](boxsum.Image[int32]{}, rot, nil); err == nil {
		t.Error("no error for squares of int32 in uint64")
	}
	var none *rotated.SquaredTable[uint32, uint64]
	if none.Mean(all, 0) != 0 || none.StdDev(all, 0) != 0 || (&rotated.SquaredTable[uint32, uint64]{}).StdDev(all, 0) != 0 {
		t.Error("no table has a deviation")
	}
}
