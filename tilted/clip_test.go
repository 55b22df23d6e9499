package tilted_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/tilted"
)

// TestClipped tests that every box about small images, including those that extend
// beyond it on any side, sums its pixels in the image.
func TestClipped(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	for width := range 6 {
		for height := range 6 {
			img := randomImage[uint8](rng, width, height, 1)
			table, err := tilted.Integrate[uint32](img, nil)
			if err != nil {
				t.Fatal(err)
			}
			floats, err := tilted.Integrate[float64](img, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 17 * 17 * 9 * 9 {
				b := tilted.Box{X: i%17 - 6, Y: i/17%17 - 6, W: i/17/17%9 - 1, H: i/17/17/9 - 1}
				var want uint32
				area := 0
				for y := range height {
					for x := range width {
						if inside(b, x, y) {
							want += uint32(img.Pix[y*img.Stride+x])
							area++
						}
					}
				}
				if got := table.Sum(b); got != want || floats.Sum(b) != float64(want) || table.Area(b) != area {
					t.Fatalf("%d×%d: %+v sums to %d and %v, want %d; its area is %d, want %d", width, height, b, got, floats.Sum(b), want, table.Area(b), area)
				}
			}
		}
	}
}

// TestFarBoxes tests boxes whose sides overflow an int when added to their corner.
func TestFarBoxes(t *testing.T) {
	img := boxsum.Image[uint8]{Pix: []uint8{1, 2, 3, 4, 5, 6}, Width: 3, Height: 2}
	table, err := tilted.Integrate[uint32](img, nil)
	if err != nil {
		t.Fatal(err)
	}
	const far = math.MaxInt
	for b, want := range map[tilted.Box]uint32{
		{X: 1, Y: -8, W: far, H: far}:                21,
		{X: 0, Y: -far / 2, W: far, H: far}:          21,
		{X: far, Y: far, W: far, H: far}:             0,
		{X: math.MinInt, Y: math.MinInt, W: 5}:       0,
		{X: 2, Y: math.MinInt, W: 3, H: far}:         0,
		{X: 1, Y: 0, W: far, H: 1}:                   1 + 4 + 5,
		{X: math.MinInt, Y: far, W: far, H: far}:     0,
		{X: far, Y: math.MinInt, W: far, H: far}:     2 + 3 + 6,
		{X: 1, Y: 0, W: math.MinInt, H: math.MinInt}: 0,
	} {
		if got := table.Sum(b); got != want {
			t.Errorf("%+v sums to %d, want %d", b, got, want)
		}
	}
}

// TestNoTable tests that sums of a nil table are zero.
func TestNoTable(t *testing.T) {
	all := tilted.Box{X: 2, W: 4, H: 4}
	for _, table := range []*tilted.Table[uint32]{nil, {}} {
		if table.Sum(all) != 0 || table.Mean(all, 0) != 0 || table.Area(all) != 0 || table.At(0, 0, 0) != 0 || table.SumBoxes(nil, nil) == nil {
			t.Error("a table without memory has sums")
		}
	}
}
