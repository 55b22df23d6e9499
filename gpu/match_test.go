package gpu

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/match"
)

// definition returns a score computed from exact sums.
func definition(img, template boxsum.Image[uint8], m match.Method, x, y int) float32 {
	var both, sum, squares, sumT, squaresT int64
	for j := range template.Height {
		for i := range template.Width {
			p, q := int64(img.Pix[(y+j)*img.Width+x+i]), int64(template.Pix[j*template.Width+i])
			both, sum, squares, sumT, squaresT = both+p*q, sum+p, squares+p*p, sumT+q, squaresT+q*q
		}
	}
	n, score := int64(template.Width*template.Height), 0.0
	switch v := n*squares - sum*sum; {
	case m == match.SSD:
		return float32(squares - 2*both + squaresT)
	case m == match.ZNCC && v != 0:
		score = float64(n*both-sum*sumT) / float64(math.Sqrt(float64(v))*math.Sqrt(float64(n*squaresT-sumT*sumT)))
	case m == match.NCC && squares != 0:
		score = float64(both) / float64(math.Sqrt(float64(squares))*math.Sqrt(float64(squaresT)))
	}
	return float32(max(-1, min(1, score)))
}

// TestMatch compares scores with those from exact sums, and with those of package match.
func TestMatch(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		rng := rand.New(rand.NewPCG(3, 8))
		for range 24 {
			c := filterCase{width: 1 + rng.IntN(120), height: 1 + rng.IntN(60), channels: 1, count: 1 + rng.IntN(2), gap: rng.IntN(6), contrast: 2 + rng.IntN(255), seed: rng.Uint64()}
			images := filterImages[uint8](c)
			src := guardedImages[uint8](t, d, c.width, c.height, 1, c.count, c.gap)
			for i, im := range images {
				if err := src.view.Set(i, im); err != nil {
					t.Fatal(err)
				}
			}
			w, h := 1+rng.IntN(min(c.width, 40)), 1+rng.IntN(min(c.height, 30))
			template, _ := boxsum.NewImage[uint8](w, h, 1)
			x0, y0 := rng.IntN(c.width-w+1), rng.IntN(c.height-h+1)
			for i := range template.Pix {
				template.Pix[i] = images[0].Pix[(y0+i/w)*c.width+x0+i%w]
			}
			m := match.Method(rng.IntN(3))
			want := make([]boxsum.Image[float32], c.count)
			flat := false
			for i, im := range images {
				cpu, err := match.Match(im, template, m, nil)
				if flat = err != nil; flat {
					break
				}
				want[i], _ = boxsum.NewImage[float32](c.width-w+1, c.height-h+1, 1)
				for k := range want[i].Pix {
					want[i].Pix[k] = definition(im, template, m, k%want[i].Width, k/want[i].Width)
					if far := math.Abs(float64(want[i].Pix[k] - cpu.Pix[k])); m != match.SSD && far > 1e-5 {
						t.Fatalf("package match has %v, the definition %v", cpu.Pix[k], want[i].Pix[k])
					}
				}
			}
			got := guardedImages[float32](t, d, c.width-w+1, c.height-h+1, 1, c.count, 4*c.gap)
			err := MatchInto(got.view, src.view, template, m, nil)
			if flat {
				if !errors.Is(err, boxsum.ErrInvalid) {
					t.Fatalf("a flat template: %v", err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if !got.check(t, m.String(), want) {
				t.Fatalf("template %d×%d, %+v", w, h, c)
			}
		}
	})
}

func TestMatchErrors(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		img := filterImages[uint8](filterCase{width: 300, height: 290, channels: 1, count: 1, contrast: 99})[0]
		src, err := Upload(d, img)
		if err != nil {
			t.Fatal(err)
		}
		held := len(d.mem().Held)
		part := func(w, h int) boxsum.Image[uint8] {
			return boxsum.Image[uint8]{Pix: img.Pix, Stride: img.Width, Width: w, Height: h, Channels: 1}
		}
		flat, _ := boxsum.NewImage[uint8](5, 5, 1)
		for i, c := range []struct {
			template boxsum.Image[uint8]
			method   match.Method
			opt      *match.Options
			want     error
		}{
			{part(0, 5), match.ZNCC, nil, boxsum.ErrInvalid},
			{part(301, 5), match.ZNCC, nil, boxsum.ErrInvalid},
			{part(5, 291), match.ZNCC, nil, boxsum.ErrInvalid},
			{part(280, 280), match.ZNCC, nil, boxsum.ErrInvalid},
			{flat, match.ZNCC, nil, boxsum.ErrInvalid},
			{flat, match.NCC, nil, boxsum.ErrInvalid},
			{part(5, 5), 77, nil, boxsum.ErrInvalid},
			{part(5, 5), match.ZNCC, &match.Options{Mask: part(5, 5)}, boxsum.ErrTypes},
		} {
			if _, err := Match(src, c.template, c.method, c.opt); !errors.Is(err, c.want) {
				t.Errorf("%d: %v, want %v", i, err, c.want)
			}
		}
		if _, err := Match(nil, flat, match.SSD, nil); !errors.Is(err, boxsum.ErrInvalid) {
			t.Errorf("no image: %v", err)
		}
		if len(d.mem().Held) != held {
			t.Errorf("%d arrays are left on the device", len(d.mem().Held)-held)
		}
		if s, err := Match(src, flat, match.SSD, nil); err != nil || s.Width() != 296 {
			t.Errorf("SSD of a flat template: %v, %v", s, err)
		}
	})
}
