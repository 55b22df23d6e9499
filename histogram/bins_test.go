package histogram_test

import (
	"math"
	"testing"

	"github.com/boxsum/boxsum/histogram"
)

// TestIndexWithoutRange tests that no value is in bins without a valid range.
func TestIndexWithoutRange(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	table, err := histogram.NewTable[uint32](3, 2, 1, histogram.Bins{N: 32})
	if err != nil {
		t.Fatal(err)
	}
	for _, bins := range []histogram.Bins{
		table.Bins, {}, {N: 32}, {N: 32, Clamp: true}, {N: 2, Low: 5, High: 5}, {N: 2, Low: 5, High: 4}, {N: 0, Low: 0, High: 1}, {N: -3, Low: 0, High: 1},
		{N: math.MaxInt, Low: 0, High: 1}, {N: 4, Low: nan, High: 1}, {N: 4, Low: 0, High: nan}, {N: 4, Low: -inf, High: inf}, {N: 4, Low: 0, High: inf},
		{N: 4, Low: -math.MaxFloat64, High: math.MaxFloat64},
	} {
		for _, v := range []float64{0, 5, -1, 1, 0.5, inf, -inf, nan, math.MaxFloat64} {
			if got := bins.Index(v); got != -1 {
				t.Errorf("%v is in bin %d of %+v", v, got, bins)
			}
		}
	}
	if got := (histogram.Bins{N: 4, Low: 1, High: math.Nextafter(1, 2)}).Index(1); got < -1 || got > 3 {
		t.Errorf("bins of no width have a bin %d", got)
	}
}

// TestSingleEdges tests that edges for float32 pixels are float32 values unless
// those are equal, and that edges for other pixels are float64 again.
func TestSingleEdges(t *testing.T) {
	bins, err := histogram.Over[float32](histogram.Bins{N: 10, Low: 0, High: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	if got := bins.Edge(10); got != float64(float32(0.1)) || bins.Index(got) != 9 || bins.Index(float64(float32(0.01))) != 1 {
		t.Errorf("the last edge is %v, in bin %d", got, bins.Index(got))
	}
	if bins, err = histogram.Over[float64](bins); err != nil || bins.Edge(10) != 0.1 {
		t.Errorf("the last edge is %v, %v", bins.Edge(10), err)
	}
	for _, r := range [][2]float64{{1 << 24, 1<<24 + 2}, {0, 1e39}} {
		bins, err := histogram.Over[float32](histogram.Bins{N: 10, Low: r[0], High: r[1]})
		if err != nil || bins.Edge(10) != r[1] || bins.Edge(1) == bins.Edge(2) {
			t.Errorf("edges from %v: %v, %v", r, bins.Edge(1), err)
		}
	}
}
