package threshold_test

import (
	"errors"
	"image"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/threshold"
)

// TestPointwise compares thresholds from a table with Binarize, pixel by pixel.
func TestPointwise(t *testing.T) {
	img := imgio.Demo(240, 135)
	table, err := boxsum.IntegrateSquares[uint32, uint64](img, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range threshold.Methods() {
		rule := threshold.New(m, 21)
		rule.Border = filter.Clip
		at, err := threshold.Pointwise[uint8](rule)
		switch m {
		case threshold.Wolf, threshold.ISauvola, threshold.Su, threshold.Otsu:
			if !errors.Is(err, boxsum.ErrInvalid) {
				t.Errorf("%v: %v", m, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		want, err := threshold.Binarize(img, rule, nil)
		if err != nil {
			t.Fatal(err)
		}
		for y := range img.Height {
			for x := range img.Width {
				box := image.Rect(x-10, y-10, x+11, y+11).Intersect(image.Rect(0, 0, img.Width, img.Height))
				n := float64(box.Dx() * box.Dy())
				mean := float64(table.Sum.Sum(box)) / n
				variance := float64(table.Squares.Sum(box))/n - mean*mean
				got := uint8(255)
				if p := float64(img.Pix[y*img.Stride+x]); p <= at(p, mean, variance) {
					got = 0
				}
				if got != want.Pix[y*want.Stride+x] {
					t.Fatalf("%v at %d, %d: %d, want %d", m, x, y, got, want.Pix[y*want.Stride+x])
				}
			}
		}
	}
	if _, err := threshold.Pointwise[uint8](threshold.Rule{Method: 99}); !errors.Is(err, boxsum.ErrInvalid) {
		t.Errorf("an unknown method: %v", err)
	}
}
