package match_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/match"
)

// TestOutOfProportion tests the documented accuracy next to a step, and next to one large pixel.
func TestOutOfProportion(t *testing.T) {
	ref.SkipRace(t)
	rng := rand.New(rand.NewPCG(11, 12))
	const w, h, tw, th = 70, 60, 25, 20
	for _, step := range []float64{3e5, 1e8} {
		for _, one := range []bool{false, true} {
			img, _ := boxsum.NewImage[float64](w, h, 1)
			for i := range img.Pix {
				img.Pix[i] = rng.NormFloat64()
				if !one && i%w >= 35 {
					img.Pix[i] += step
				}
			}
			tmpl, _ := boxsum.NewImage[float64](tw, th, 1)
			for y := range th {
				copy(tmpl.Row(y), img.Row(30 + y)[40:][:tw])
			}
			if one {
				img.Pix[20*w+15] = step * step
			}
			got, err := match.Match(img, tmpl, match.ZNCC, nil)
			if err != nil {
				t.Fatal(err)
			}
			bad := 0
			for y := range got.Height {
				for x := range got.Width {
					want := zncc(img, tmpl, x, y)
					if d := math.Abs(float64(got.Row(y)[x]) - want); !(d < 1e-5) {
						if bad++; bad < 4 {
							t.Errorf("step %g, one %v: at %d,%d %v, want %v", step, one, x, y, got.Row(y)[x], want)
						}
					}
				}
			}
			if bad > 0 {
				t.Errorf("step %g, one %v: %d bad", step, one, bad)
			}
		}
	}
}

func zncc(img, tmpl boxsum.Image[float64], x, y int) float64 {
	n := float64(tmpl.Width * tmpl.Height)
	a0, b0 := img.Row(y)[x], tmpl.Pix[0]
	var ma, mb float64
	for j := range tmpl.Height {
		for i := range tmpl.Width {
			ma += (img.Row(y + j)[x+i] - a0) / n
			mb += (tmpl.Row(j)[i] - b0) / n
		}
	}
	var ab, aa, bb float64
	for j := range tmpl.Height {
		for i := range tmpl.Width {
			a, b := img.Row(y + j)[x+i]-a0-ma, tmpl.Row(j)[i]-b0-mb
			ab, aa, bb = ab+a*b, aa+a*a, bb+b*b
		}
	}
	return ab / math.Sqrt(aa) / math.Sqrt(bb)
}
