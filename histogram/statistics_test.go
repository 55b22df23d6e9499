package histogram_test

import (
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/boxsum/boxsum/histogram"
	"pgregory.net/rapid"
)

// TestEdges compares the bin of a value, and its neighbors, with the edges.
func TestEdges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Float64Range(-1e6, 1e6).Draw(t, "low")
		b := histogram.Bins{N: rapid.IntRange(2, 256).Draw(t, "n"), Low: low, High: low + rapid.Float64Range(1e-3, 1e6).Draw(t, "width")}
		i := rapid.IntRange(0, b.N).Draw(t, "i")
		edge := b.Edge(i)
		if got := b.Index(math.Nextafter(edge, math.Inf(-1))); got != i-1 {
			t.Fatalf("just below edge %d of %+v is bin %d", i, b, got)
		}
		if got := b.Index(edge); got != min(i, b.N-1) {
			t.Fatalf("edge %d of %+v is bin %d", i, b, got)
		}
		if i < b.N {
			if got := b.Index(b.Center(i)); got != i {
				t.Fatalf("the middle of bin %d of %+v is bin %d", i, b, got)
			}
		} else if got := b.Index(math.Nextafter(edge, math.Inf(1))); got != -1 {
			t.Fatalf("beyond the range of %+v is bin %d", b, got)
		}
	})
}

func TestStatistics(t *testing.T) {
	for _, test := range []struct {
		h                  []uint32
		median, mode       int
		entropy            float64
		first, last, third int // quantiles 0, 1 and 0.75
	}{
		{[]uint32{0, 0, 0}, -1, -1, 0, -1, -1, -1},
		{nil, -1, -1, 0, -1, -1, -1},
		{[]uint32{0, 5, 0}, 1, 1, 0, 1, 1, 1},
		{[]uint32{1, 1, 1, 1}, 1, 0, 2, 0, 3, 2},
		{[]uint32{3, 0, 3, 0}, 0, 0, 1, 0, 2, 2},
		{[]uint32{1, 0, 2, 1}, 2, 2, 1.5, 0, 3, 2},
	} {
		got := []int{histogram.Median(test.h), histogram.Mode(test.h), histogram.Quantile(test.h, 0), histogram.Quantile(test.h, 1), histogram.Quantile(test.h, 0.75)}
		if want := []int{test.median, test.mode, test.first, test.last, test.third}; !slices.Equal(got, want) {
			t.Errorf("%v: median, mode and quantiles are %v, want %v", test.h, got, want)
		}
		if got := histogram.Entropy(test.h); got != test.entropy || math.Signbit(got) {
			t.Errorf("%v: entropy %v, want %v", test.h, got, test.entropy)
		}
	}
	if got := histogram.Median([]float64{-1e-9, math.NaN(), 0.5, 0.4}); got != 2 {
		t.Errorf("rounded weights have their median at %d", got)
	}
}

func TestDistances(t *testing.T) {
	type distances [3]float64 // Bhattacharyya, ChiSquare, EarthMover
	for _, test := range []struct {
		a, b []uint32
		want distances
	}{
		{[]uint32{1, 2, 3}, []uint32{2, 4, 6}, distances{0, 0, 0}},
		{[]uint32{1, 0, 0}, []uint32{0, 0, 7}, distances{1, 1, 2}},
		{[]uint32{1, 0, 0}, []uint32{0, 7, 0}, distances{1, 1, 1}},
		{[]uint32{1, 1}, []uint32{1, 0}, distances{math.Sqrt(1 - math.Sqrt(0.5)), (0.25/1.5 + 0.5) / 2, 0.5}},
		{[]uint32{1, 1}, []uint32{1}, distances{math.Sqrt(1 - math.Sqrt(0.5)), (0.25/1.5 + 0.5) / 2, 0.5}},
		{[]uint32{0, 0, 0}, []uint32{0, 7, 0}, distances{1, 1, 2}},
		{[]uint32{0, 0, 0}, []uint32{0, 0, 0}, distances{0, 0, 0}},
		{nil, nil, distances{0, 0, 0}},
	} {
		for range 2 {
			got := distances{histogram.Bhattacharyya(test.a, test.b), histogram.ChiSquare(test.a, test.b), histogram.EarthMover(test.a, test.b)}
			for i := range got {
				if math.Abs(got[i]-test.want[i]) > 1e-12 {
					t.Errorf("%v and %v: distances %v, want %v", test.a, test.b, got, test.want)
				}
			}
			test.a, test.b = test.b, test.a
		}
	}
}

// TestLocal compares a median filter with sorting.
func TestLocal(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	img := random[uint8](rng, 23, 17, 2)
	table, err := histogram.Integrate(img, histogram.Bins{N: 256}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, radius := range []int{0, 1, 3, 100, math.MaxInt} {
		got, err := histogram.Local(table, radius, 1, func(h []uint32) uint8 { return uint8(histogram.Median(h)) }, &histogram.Options{Workers: 3})
		if err != nil {
			t.Fatal(err)
		}
		for y := range img.Height {
			for x := range img.Width {
				r := min(radius, 100)
				box := image.Rect(x-r, y-r, x+r+1, y+r+1).Intersect(table.Bounds())
				var values []uint8
				for v := box.Min.Y; v < box.Max.Y; v++ {
					for u := box.Min.X; u < box.Max.X; u++ {
						values = append(values, img.Pix[v*img.Stride+u*2+1])
					}
				}
				slices.Sort(values)
				if want := values[(len(values)-1)/2]; got.Row(y)[x] != want {
					t.Fatalf("radius %d: the median at (%d,%d) is %d, want %d", radius, x, y, got.Row(y)[x], want)
				}
			}
		}
	}
}
