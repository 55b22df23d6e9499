package filter_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/internal/window"
)

// TestValid compares windows of valid pixels with the definition, for all types, borders and masks.
func TestValid(t *testing.T) {
	rng := rand.New(rand.NewPCG(ref.Seed(t, 22), 18))
	for range ref.Trials(t, 40) {
		testValid[uint8](t, rng)
		testValid[uint16](t, rng)
		testValid[float32](t, rng)
		testValid[float64](t, rng)
	}
}

func testValid[P filter.Pixel](t *testing.T, rng *rand.Rand) {
	t.Helper()
	img := random[P](rng, 1+rng.IntN(40), 1+rng.IntN(40), 1+rng.IntN(3))
	var one P = 1
	float, nan := one/2 != 0, math.NaN()
	opt := randomOptions(rng)
	opt.Valid.SkipNaN = rng.IntN(3) > 0
	if rng.IntN(2) == 0 {
		opt.Valid.Mask = random[uint8](rng, img.Width, img.Height, 1+rng.IntN(2)*(img.Channels-1))
		for i := range opt.Valid.Mask.Pix {
			opt.Valid.Mask.Pix[i] &= 1
		}
	}
	for i := range img.Pix {
		if float && opt.Valid.SkipNaN && rng.IntN(4) == 0 {
			img.Pix[i] = P(nan)
		}
	}
	w := filter.Window{Width: 1 + rng.IntN(9), Height: 1 + rng.IntN(9)}
	name := fmt.Sprintf("%T %d×%d×%d %v %v mask %v", *new(P), img.Width, img.Height, img.Channels, w, opt.Border, opt.Valid.Mask.Channels)
	means, devs, err := filter.MeanStdDev[float64](img, w, opt)
	if err != nil {
		t.Fatal(err)
	}
	boxes := must[P](t, name)(filter.Box(img, w, opt))
	sums := must64(t, name)(filter.Sum[float64](img, w, opt))
	variances := must64(t, name)(filter.Variance[float64](img, w, opt))
	contrasts := must64(t, name)(filter.Normalize[float64](img, w, 1, opt))
	border := window.Border(opt.Border)
	get := func(x, y, c int) (float64, bool) {
		u, v := border.Index(x, img.Width), border.Index(y, img.Height)
		if u < 0 || v < 0 {
			return opt.Value, border == window.Constant
		}
		p, m := float64(img.Row(v)[u*img.Channels+c]), &opt.Valid.Mask
		if m.Pix != nil && m.Row(v)[u*m.Channels+min(c, m.Channels-1)] == 0 {
			return p, false
		}
		return p, p == p || !opt.Valid.SkipNaN
	}
	for y := range img.Height {
		for x := range img.Width {
			for c := range img.Channels {
				var sum, n, energy float64
				each := func(visit func(p float64)) {
					for j := y - w.Height/2; j < y-w.Height/2+w.Height; j++ {
						for i := x - w.Width/2; i < x-w.Width/2+w.Width; i++ {
							if p, ok := get(i, j, c); ok {
								visit(p)
							}
						}
					}
				}
				each(func(p float64) { sum += p; n++ })
				mean := sum / n
				each(func(p float64) { energy += (p - mean) * (p - mean) })
				at := x*img.Channels + c
				check := func(what string, got, want, eps float64) {
					t.Helper()
					if !(math.Abs(got-want) <= eps) && (got == got || want == want) {
						t.Fatalf("%s: %s at %d, %d, %d is %v, want %v", name, what, x, y, c, got, want)
					}
				}
				check("sum", sums.Row(y)[at], sum, 1e-7*(1+math.Abs(sum)))
				check("mean", means.Row(y)[at], mean, 1e-9*(1+math.Abs(mean)))
				check("variance", variances.Row(y)[at], energy/n, 1e-6*(1+energy/n))
				check("deviation", devs.Row(y)[at], math.Sqrt(energy/n), 1e-4*(1+math.Sqrt(energy/n)))
				want, got, eps := mean, float64(boxes.Row(y)[at]), 0.0
				switch {
				case float:
					eps = 1e-4 * (1 + math.Abs(mean))
				case n == 0:
					want = 0
				default:
					want = math.Floor((sum + math.Floor(n/2)) / n)
				}
				check("box", got, want, eps)
				want = nan
				if p, ok := get(x, y, c); ok {
					want = (p - mean) / max(math.Sqrt(energy/n), 1)
				}
				check("contrast", contrasts.Row(y)[at], want, 1e-3*(1+math.Abs(want)))
			}
		}
	}
	for _, level := range boxsum.Levels() {
		o := *opt
		o.Level, o.Workers = level, 1+rng.IntN(4)
		same(t, name+" "+level.String(), must64(t, name)(filter.Variance[float64](img, w, &o)), variances)
	}
	if opt.Valid.Mask.Pix != nil {
		return
	}
	if err := filter.BoxInto(img, img, w, opt); err != nil {
		t.Fatal(err)
	}
	same(t, name+" in place", img, boxes)
}

// TestLongSums tests sums of every type that holds them, including 64-bit integers.
func TestLongSums(t *testing.T) {
	img := random[uint16](rand.New(rand.NewPCG(24, 18)), 40, 30, 1)
	for _, w := range []filter.Window{filter.Square(5), filter.Square(1 << 21)} {
		want := must64(t, "")(filter.Sum[float64](img, w, nil))
		long, err := filter.Sum[uint64](img, w, nil)
		if err != nil {
			t.Fatal(err)
		}
		signed, err := filter.Sum[int64](img, w, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range want.Pix {
			if float64(long.Pix[i]) != v || float64(signed.Pix[i]) != v {
				t.Fatalf("%v: sum %d is %d and %d, want %v", w, i, long.Pix[i], signed.Pix[i], v)
			}
		}
	}
}

// TestValidErrors tests that filters without support for valid pixels return errors, and so do masks of other sizes.
func TestValidErrors(t *testing.T) {
	img := random[float32](rand.New(rand.NewPCG(23, 18)), 20, 30, 2)
	opt := &filter.Options{Valid: boxsum.Valid{SkipNaN: true}}
	w := filter.Square(3)
	_, median := filter.Median(img, w, opt)
	_, gauss := filter.Gaussian(img, filter.Sigma{X: 1, Y: 1}, opt)
	_, stream := filter.NewBoxStream[float32](20, 2, w, opt)
	_, best := filter.Brightest(img, 3, 3, 1, opt)
	for i, err := range []error{median, gauss, stream, best} {
		if !errors.Is(err, boxsum.ErrTypes) {
			t.Errorf("filter %d with Valid: %v", i, err)
		}
	}
	mask := random[uint8](rand.New(rand.NewPCG(23, 18)), 20, 29, 1)
	if _, err := filter.Box(img, w, &filter.Options{Valid: boxsum.Valid{Mask: mask}}); !errors.Is(err, boxsum.ErrInvalid) {
		t.Errorf("a mask of another size: %v", err)
	}
	dst := random[float32](rand.New(rand.NewPCG(23, 18)), 20, 30, 2)
	ref.AllocatesNothing(t, "BoxInto", func() error { return filter.BoxInto(dst, img, w, opt) })
}

// TestValidContrast tests that the contrast of a window of equal valid pixels is 0 even without a minimum deviation.
func TestValidContrast(t *testing.T) {
	img := boxsum.Image[float32]{Pix: make([]float32, 30), Stride: 6, Width: 6, Height: 5, Channels: 1}
	for i := range img.Pix {
		img.Pix[i] = 7
	}
	img.Pix[8] = float32(math.NaN())
	mask := boxsum.Image[uint8]{Pix: make([]uint8, 30), Stride: 6, Width: 6, Height: 5, Channels: 1}
	for i := range mask.Pix {
		mask.Pix[i] = 1
	}
	for name, valid := range map[string]boxsum.Valid{"NaN": {SkipNaN: true}, "both": {SkipNaN: true, Mask: mask}} {
		got, err := filter.Normalize[float32](img, filter.Square(3), 0, &filter.Options{Valid: valid})
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range got.Pix {
			if i == 8 && v == v || i != 8 && v != 0 {
				t.Errorf("%s: pixel %d has a contrast of %v", name, i, v)
			}
		}
	}
}
