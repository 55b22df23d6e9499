package filter_test

import (
	"image"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/histogram"
)

// TestAbsurd tests that absurd images, windows and numbers give errors or defined results,
// and never a panic. Results have the size of the image.
func TestAbsurd(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 18))
	failed := 0
	count := 600
	if testing.Short() {
		count = 100
	}
	for range count {
		failed += absurd[uint8](t, rng)
		failed += absurd[float32](t, rng)
	}
	if failed < count*5/6 {
		t.Errorf("only %d of the calls failed", failed)
	}
}

func absurd[P filter.Pixel](t *testing.T, rng *rand.Rand) (failed int) {
	t.Helper()
	pick := func(of ...int) int { return of[rng.IntN(len(of))] }
	size := func() int { return pick(0, 1, 2, 7, 70, 70, 70, -1, math.MinInt, math.MaxInt, math.MaxInt32) }
	good := func() int { return pick(1, 3, 5, 8, 70) }
	img := boxsum.Image[P]{Pix: make([]P, pick(0, 3, 5000, 20000)), Width: good(), Height: good(), Channels: pick(0, 1, 1, 3, 4)}
	w := filter.Window{Width: good(), Height: good()}
	opt := &filter.Options{Border: filter.Border(pick(0, 1, 2, 3, 4, 5)), Workers: 1}
	switch rng.IntN(8) { // one thing is wrong, or none
	case 0:
		img.Width, img.Height = size(), size()
	case 1:
		img.Stride, img.Channels = pick(-1, 1, math.MaxInt), pick(-1, 1, math.MaxInt)
	case 2:
		w.Width, w.Height = size(), size()
	case 3:
		w.Shift = image.Pt(pick(0, -9, math.MaxInt, math.MinInt), pick(0, 9))
	case 4:
		opt.Border = filter.Border(pick(6, 200))
	case 5:
		opt.Border, opt.Value = filter.Constant, []float64{math.NaN(), math.Inf(1), -1, 1e300, 0.5}[rng.IntN(5)]
	case 6:
		opt.Workers = pick(-1, 1<<20)
	}
	for i := range img.Pix {
		img.Pix[i] = P(rng.IntN(256))
	}
	if P(1)/2 != 0 && len(img.Pix) > 0 {
		img.Pix[rng.IntN(len(img.Pix))] = P(math.NaN())
		img.Pix[rng.IntN(len(img.Pix))] = P(math.Inf(1))
	}
	sigma := filter.Sigma{X: []float64{1, -1, math.NaN(), 1e9}[rng.IntN(4)], Y: 2, Passes: pick(0, 3, 4, -1, 7)}
	number := []float64{1, 0, -1, math.NaN(), math.Inf(1)}[rng.IntN(5)]
	radii := boxsum.Image[uint16]{Pix: make([]uint16, 5000), Width: img.Width, Height: img.Height, Channels: pick(1, 1, 2, 3)}
	for i := range radii.Pix {
		radii.Pix[i] = uint16(rng.IntN(200))
	}
	count := func(name string, width, height int, err error) {
		if err != nil {
			failed++
		} else if width != img.Width || height != img.Height {
			t.Errorf("%s of %d×%d is %d×%d", name, img.Width, img.Height, width, height)
		}
	}
	same := func(name string, out boxsum.Image[P], err error) { count(name, out.Width, out.Height, err) }
	floats := func(name string, out boxsum.Image[float32], err error) { count(name, out.Width, out.Height, err) }
	out, err := filter.Box(img, w, opt)
	same("box", out, err)
	out, err = filter.Gaussian(img, sigma, opt)
	same("gaussian", out, err)
	out, err = filter.Median(img, w, opt)
	same("median", out, err)
	out, err = filter.Guided(img, img, w, number, opt)
	same("guided", out, err)
	out, err = filter.BoxRadii(img, radii, opt)
	same("radii", out, err)
	f, err := filter.StdDev[float32](img, w, opt)
	floats("deviation", f, err)
	f, err = filter.Normalize[float32](img, w, number, opt)
	floats("normalize", f, err)
	f, err = filter.Entropy[float32](img, w, histogram.Bins{N: pick(0, 2, 256, 257, -1), Low: 0, High: number}, opt)
	floats("entropy", f, err)
	if _, err = filter.Downsample(img, pick(1, 2, 0, -1, math.MaxInt), pick(1, 2, 100), opt); err != nil {
		failed++
	}
	if _, err = filter.Brightest(img, pick(1, 3, 0, -1, math.MaxInt), 2, pick(1, 0, -1, 1000), opt); err != nil {
		failed++
	}
	if s, err := filter.NewBoxStream[P](img.Width, img.Channels, w, opt); err != nil {
		failed++
	} else if _, err := s.Push(img.Pix[:min(len(img.Pix), 7)]); err != nil {
		failed++
	}
	return failed
}

// TestBrokenImages tests that images of package image with less memory than their bounds need are errors.
func TestBrokenImages(t *testing.T) {
	b := image.Rect(0, 0, 5, 5)
	for _, img := range []image.Image{&image.Gray{Rect: b}, &image.RGBA{Rect: b, Stride: 20}, &image.NRGBA{Rect: b, Stride: 20}, &image.Gray16{Rect: b, Stride: 10},
		&image.RGBA64{Rect: b, Stride: 40}, &image.Paletted{Rect: b, Stride: 5}, &image.Gray{Rect: b, Stride: 3, Pix: make([]uint8, 100)}} {
		for name, f := range map[string]func() (image.Image, error){
			"box":        func() (image.Image, error) { return filter.BoxImage(img, filter.Square(3), nil) },
			"gaussian":   func() (image.Image, error) { return filter.GaussianImage(img, filter.Sigma{X: 1, Y: 1}, nil) },
			"median":     func() (image.Image, error) { return filter.MedianImage(img, filter.Square(3), nil) },
			"downsample": func() (image.Image, error) { return filter.DownsampleImage(img, 2, 2, nil) },
			"guided":     func() (image.Image, error) { return filter.GuidedImage(img, filter.Square(3), 1, nil) },
		} {
			if got, err := f(); err == nil || got != nil {
				t.Errorf("%s of a broken %T: %v, %v", name, img, got, err)
			}
		}
	}
}

// TestGuidedAlpha tests that premultiplied colors never exceed their alpha, even though the guided filter is not a mean.
func TestGuidedAlpha(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 18))
	eight, sixteen := image.NewNRGBA(image.Rect(2, 3, 42, 33)), image.NewNRGBA64(image.Rect(2, 3, 42, 33))
	for i := range eight.Pix {
		eight.Pix[i] = uint8(rng.IntN(2) * 255)
	}
	for i := range sixteen.Pix {
		sixteen.Pix[i] = uint8(rng.IntN(2) * 255)
	}
	for _, img := range []image.Image{eight, sixteen} {
		got, err := filter.GuidedImage(img, filter.Square(5), 10, nil)
		if err != nil {
			t.Fatal(err)
		}
		for y := 3; y < 33; y++ {
			for x := 2; x < 42; x++ {
				if r, g, b, a := got.At(x, y).RGBA(); max(r, g, b) > a {
					t.Fatalf("%T: (%d, %d) is %v", img, x, y, got.At(x, y))
				}
			}
		}
	}
}
