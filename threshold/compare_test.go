package threshold_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/threshold"
)

// TestCompareDoxa compares scores with Doxa's.
func TestCompareDoxa(t *testing.T) {
	py := ref.StartDoxa(t, "testdata/doxa.py")
	rng := rand.New(rand.NewPCG(18, 11))
	for i := range 60 {
		truth := drawn(rng, 8+rng.IntN(90), 8+rng.IntN(60), 2)
		for j := range truth.Pix {
			truth.Pix[j] = 0
			if rng.IntN(1+i%7) > 0 || j%16 == 7 {
				truth.Pix[j] = 255
			}
		}
		img := truth
		img.Pix = append([]uint8(nil), truth.Pix...)
		for range len(img.Pix) / 9 {
			img.Pix[rng.IntN(len(img.Pix))] ^= 255
		}
		got, err := threshold.Compare(truth, img)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(py.In, "performance", truth.Height, truth.Width)
		py.In.Write(truth.Pix)
		py.In.Write(img.Pix)
		line, err := py.Out.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		var fm, psnr, drd, recall, precision float64
		fmt.Sscan(line, &fm, &psnr, &drd, &recall, &precision)
		for _, v := range [][2]float64{{got.FMeasure, fm}, {got.PSNR, psnr}, {got.DRD, drd}, {got.Recall, recall}, {got.Precision, precision}} {
			if math.Abs(v[0]-v[1]) > 1e-6*(1+math.Abs(v[1])) && v[0] != v[1] {
				t.Fatalf("round %d: %+v, Doxa has %s", i, got, line)
			}
		}
	}
}

func TestCompare(t *testing.T) {
	a := drawn(rand.New(rand.NewPCG(1, 2)), 30, 20, 0)
	s, err := threshold.Compare(a, a)
	if err != nil || s.FMeasure != 100 || !math.IsInf(s.PSNR, 1) || s.DRD != 0 {
		t.Errorf("an image and itself: %+v, %v", s, err)
	}
	white := boxsum.Image[uint8]{Pix: make([]uint8, 600), Width: 30, Height: 20}
	for i := range white.Pix {
		white.Pix[i] = 255
	}
	if s, err := threshold.Compare(white, a); err != nil || s.Recall != 0 || !math.IsInf(s.DRD, 1) {
		t.Errorf("noise for white: %+v, %v", s, err)
	}
	if s, err := threshold.Compare(boxsum.Image[uint8]{}, boxsum.Image[uint8]{}); err != nil || s.FMeasure != 100 {
		t.Errorf("nothing: %+v, %v", s, err)
	}
	for _, other := range []boxsum.Image[uint8]{{Width: 29, Height: 20, Pix: a.Pix}, {Width: 30, Height: 20}, {Width: 10, Height: 20, Channels: 3, Pix: a.Pix}, {Width: -1, Height: 2}} {
		if _, err := threshold.Compare(a, other); !errors.Is(err, boxsum.ErrInvalid) {
			t.Errorf("%d×%d: %v", other.Width, other.Height, err)
		}
	}
}
