package match_test

import (
	"errors"
	"image"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/match"
)

// TestPeaks compares peaks with all positions that are no worse than their neighbors, by brute force.
func TestPeaks(t *testing.T) {
	ref.SkipRace(t)
	rng := rand.New(rand.NewPCG(1, 3))
	for i := range 60 {
		m := match.Method(i % 3)
		w, h := 1+rng.IntN(40), 1+rng.IntN(40)
		scores := boxsum.Image[float32]{Pix: make([]float32, (w+2)*h), Width: w, Height: h, Stride: w + 2}
		for k := range scores.Pix {
			scores.Pix[k] = float32(rng.IntN(1 + 20*(i%7)))
			if rng.IntN(50) == 0 {
				scores.Pix[k] = float32(math.NaN())
			}
		}
		k, apart := rng.IntN(300), image.Pt(rng.IntN(5), rng.IntN(5))
		got, err := match.Peaks(scores, m, k, apart)
		if err != nil {
			t.Fatal(err)
		}
		taken := map[image.Point]bool{}
		for n := range got {
			var best *image.Point
			for y := range h {
				for x := range w {
					at := image.Pt(x, y)
					if !isPeak(scores, m, at) {
						continue
					}
					for other := range taken {
						d := at.Sub(other)
						if d == (image.Point{}) || max(d.X, -d.X) < apart.X && max(d.Y, -d.Y) < apart.Y {
							at.X = -1
						}
					}
					if at.X >= 0 && (best == nil || m.Better(scores.Row(y)[x], scores.Row(best.Y)[best.X])) {
						best = &at
					}
				}
			}
			if best == nil || got[n].X != best.X || got[n].Y != best.Y || got[n].Score != scores.Row(best.Y)[best.X] {
				t.Fatalf("%d: peak %d is %+v, want %v", i, n, got[n], best)
			}
			if math.Abs(got[n].SubX-float64(best.X)) > 0.5 || math.Abs(got[n].SubY-float64(best.Y)) > 0.5 {
				t.Fatalf("%+v is too far from itself", got[n])
			}
			taken[*best] = true
		}
	}
}

func isPeak(scores boxsum.Image[float32], m match.Method, at image.Point) bool {
	v := scores.Row(at.Y)[at.X]
	for j := -1; j <= 1; j++ {
		for i := -1; i <= 1; i++ {
			p := at.Add(image.Pt(i, j))
			if !p.In(image.Rect(0, 0, scores.Width, scores.Height)) {
				continue
			}
			n := scores.Row(p.Y)[p.X]
			if m.Better(n, v) || n == v && (j < 0 || j == 0 && i < 0) {
				return false
			}
		}
	}
	return v == v
}

// TestSubpixel tests that the vertex of a parabola is found.
func TestSubpixel(t *testing.T) {
	scores := boxsum.Image[float32]{Pix: make([]float32, 81), Width: 9, Height: 9}
	for y := range 9 {
		for x := range 9 {
			dx, dy := float64(x)-4.25, float64(y)-3.875
			scores.Pix[y*9+x] = float32(1 - dx*dx/100 - dy*dy/50)
		}
	}
	got, err := match.Peaks(scores, match.ZNCC, 1, image.Pt(1, 1))
	if err != nil || len(got) != 1 || math.Abs(got[0].SubX-4.25) > 1e-5 || math.Abs(got[0].SubY-3.875) > 1e-5 {
		t.Fatal(got, err)
	}
}

// TestFind tests that a template is found where it was cut out, also after a change of light.
func TestFind(t *testing.T) {
	img := picture[uint8](rand.New(rand.NewPCG(4, 4)), 300, 200, 1, 0)
	template, _ := boxsum.NewImage[uint8](20, 12, 1)
	for y := range 12 {
		for x := range 20 {
			template.Row(y)[x] = img.Row(50 + y)[110+x]/2 + 30
		}
	}
	got, err := match.Find(img, template, match.ZNCC, 3, nil)
	if err != nil || len(got) != 3 || got[0].X != 110 || got[0].Y != 50 || got[0].Score < 0.999 {
		t.Fatal(got, err)
	}
	for _, err := range []error{
		second(match.Find(img, template, match.ZNCC, -1, nil)),
		second(match.Peaks(boxsum.Image[float32]{}, match.Method(3), 1, image.Point{})),
		second(match.Peaks(boxsum.Image[float32]{Width: 2, Height: 2}, match.SSD, 1, image.Point{})),
		second(match.Peaks(boxsum.Image[float32]{}, match.SSD, 1, image.Pt(-1, 0))),
	} {
		if !errors.Is(err, boxsum.ErrInvalid) {
			t.Error(err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestAbsurd tests that absurd images, templates, masks and numbers give errors or defined results, and never a panic.
func TestAbsurd(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 18))
	failed := 0
	for range 500 {
		failed += absurd[uint8](rng)
		failed += absurd[float32](rng)
	}
	if failed < 500 {
		t.Errorf("only %d of the calls failed", failed)
	}
}

func absurd[P match.Pixel](rng *rand.Rand) int {
	pick := func(of ...int) int { return of[rng.IntN(len(of))] }
	size := func() int { return pick(0, 1, 2, 7, 30, -1, math.MinInt, math.MaxInt, math.MaxInt32) }
	img := boxsum.Image[P]{Pix: make([]P, pick(0, 3, 900, 4000)), Width: 30, Height: 30, Channels: pick(0, 1, 1, 3, 4)}
	template := boxsum.Image[P]{Pix: make([]P, pick(0, 40, 400)), Width: pick(1, 4, 6), Height: pick(1, 4, 6), Channels: img.Channels}
	opt := &match.Options{Workers: 1}
	m := match.Method(rng.IntN(3))
	switch rng.IntN(8) {
	case 0:
		img.Width, img.Height = size(), size()
	case 1:
		img.Stride, template.Channels = pick(-1, 1, math.MaxInt), pick(-1, 1, math.MaxInt)
	case 2:
		template.Width, template.Height = size(), size()
	case 3:
		template.Stride = pick(-1, 1, math.MaxInt)
	case 4:
		m = match.Method(pick(3, 200))
	case 5:
		opt.Mask = boxsum.Image[uint8]{Pix: make([]uint8, pick(0, 36)), Width: size(), Height: size(), Channels: pick(0, 1, -1)}
	case 6:
		opt.Workers = pick(-1, 1<<20)
	}
	for i := range img.Pix {
		img.Pix[i] = P(rng.IntN(256))
	}
	for i := range template.Pix {
		template.Pix[i] = P(rng.IntN(256))
	}
	if P(1)/2 != 0 && len(img.Pix) > 0 && len(template.Pix) > 0 {
		img.Pix[rng.IntN(len(img.Pix))] = P(math.NaN())
		template.Pix[rng.IntN(len(template.Pix))] = P(math.Inf(pick(-1, 1)))
	}
	if _, err := match.Find(img, template, m, pick(0, 1, 5, -1), opt); err != nil {
		return 1
	}
	return 0
}
