package boxlets_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/boxlets"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/internal/window"
)

// picture returns an image of noise, with gaps between its rows.
func picture[P filter.Pixel](rng *rand.Rand, width, height, channels int, low, high float64) boxsum.Image[P] {
	img := boxsum.Image[P]{Width: width, Height: height, Channels: channels, Stride: width*channels + rng.IntN(3)}
	img.Pix = make([]P, img.Stride*height)
	for i := range img.Pix {
		img.Pix[i] = P(low + (high-low)*rng.Float64())
	}
	return img
}

// pixelAt returns a pixel, which may lie outside the image.
func pixelAt[P filter.Pixel](img *boxsum.Image[P], x, y, channel int, border filter.Border, value float64) float64 {
	b := window.Border(border)
	u, v := b.Index(x, img.Width), b.Index(y, img.Height)
	switch {
	case u >= 0 && v >= 0:
		return float64(img.Row(v)[u*img.Channels+channel])
	case border == filter.Constant:
		return value
	}
	return 0
}

// TestFilter compares kernels of several boxes with sums of all their pixels.
func TestFilter(t *testing.T) {
	rng := rand.New(rand.NewPCG(ref.Seed(t, 41), 31))
	for i := range 200 {
		testFilter[uint8](t, rng, i, 0, 256, 0)
		testFilter[uint16](t, rng, i, 0, 65536, 0)
		testFilter[float32](t, rng, i, -1, 1, 1e-13)
		testFilter[float64](t, rng, i, 9, 10, 1e-13)
	}
}

func testFilter[P filter.Pixel](t *testing.T, rng *rand.Rand, i int, low, high, tolerance float64) {
	t.Helper()
	img := picture[P](rng, 1+rng.IntN(60), 1+rng.IntN(40), 1+rng.IntN(3), low, high)
	if i%8 == 0 {
		img = picture[P](rng, 1+rng.IntN(9), 200+rng.IntN(200), 1, low, high)
	}
	reach, points, count := 1+rng.IntN(12), 10, 1+rng.IntN(9)
	if i%40 == 0 {
		reach, points, count = 300, 2, 2 // sums of 64 bits
	}
	var kernel []boxlets.Box
	for range count {
		x0, y0 := rng.IntN(2*reach)-reach, rng.IntN(2*reach)-reach
		r := image.Rect(x0, y0, x0+1+rng.IntN(reach), y0+1+rng.IntN(reach))
		kernel = append(kernel, boxlets.Box{Rectangle: r, Weight: float64(rng.IntN(21) - 10)})
	}
	opt := &boxlets.Options{
		Border: filter.Border(rng.IntN(6)), Value: 7, Workers: 1 + i%3, Level: boxsum.Levels()[i%len(boxsum.Levels())], Margin: max(0, rng.IntN(20)-15),
	}
	name := fmt.Sprintf("image %d: %v %d×%d×%d, %v, %+v", i, raster.TypeOf[P](), img.Width, img.Height, img.Channels, kernel, *opt)
	got, err := boxlets.Filter[float64](img, kernel, opt)
	if err != nil {
		t.Fatal(name, err)
	}
	single, err := boxsum.NewImage[float32](img.Width, img.Height, img.Channels)
	if err != nil {
		t.Fatal(err)
	}
	if err := boxlets.FilterInto(single, img, kernel, opt); err != nil {
		t.Fatal(name, err)
	}
	for range points {
		x, y, c := rng.IntN(img.Width), rng.IntN(img.Height), rng.IntN(img.Channels)
		want, size := 0.0, 0.0
		for _, b := range kernel {
			for v := b.Min.Y; v < b.Max.Y; v++ {
				for u := b.Min.X; u < b.Max.X; u++ {
					p := b.Weight * pixelAt(&img, x+u, y+v, c, opt.Border, opt.Value)
					want += p
					size += math.Abs(p)
				}
			}
		}
		if m := opt.Margin; x < m || y < m || x >= img.Width-m || y >= img.Height-m {
			want = 0
		}
		g := got.Row(y)[x*img.Channels+c]
		if !(math.Abs(g-want) <= tolerance*max(1, size)*1e3) {
			t.Fatalf("%s: %v at (%d, %d), want %v", name, g, x, y, want)
		}
		if s := single.Row(y)[x*img.Channels+c]; s != float32(g) {
			t.Fatalf("%s: %v as float32 and %v as float64", name, s, g)
		}
	}
}

// TestSame tests that results have the same bits with any number of workers and at every level.
func TestSame(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 32))
	img := picture[float32](rng, 333, 700, 1, 0, 1)
	kernel, err := boxlets.DifferenceOfBoxes(3)
	if err != nil {
		t.Fatal(err)
	}
	compute := func(opt *boxlets.Options) []float64 {
		a, err := boxlets.Filter[float64](img, kernel, opt)
		if err != nil {
			t.Fatal(err)
		}
		b, err := boxlets.Hessian[float64](img, 2.5, opt)
		if err != nil {
			t.Fatal(err)
		}
		return append(a.Pix, b.Pix...)
	}
	want := compute(&boxlets.Options{Workers: 1})
	for _, level := range boxsum.Levels() {
		for _, workers := range []int{1, 2, 7} {
			if got := compute(&boxlets.Options{Workers: workers, Level: level}); !slices.Equal(got, want) {
				t.Errorf("level %v with %d workers: other bits", level, workers)
			}
		}
	}
}

// TestScikitImage compares blob detectors with scikit-image's.
func TestScikitImage(t *testing.T) {
	ref.SkipRace(t)
	py := ref.StartPython(t, "testdata/peers.py")
	rng := rand.New(rand.NewPCG(ref.Seed(t, 41), 33))
	octagons := [][2][2]int{{{5, 2}, {3, 0}}, {{5, 3}, {3, 1}}, {{7, 3}, {3, 2}}, {{9, 4}, {5, 2}}, {{9, 7}, {5, 3}}}
	stars := [][2]int{{2, 1}, {4, 2}, {6, 3}, {8, 4}, {12, 6}} // of scikit-image's scales 1 to 5
	for i := range 200 {
		low, high := 0.0, 1.0
		if i%5 == 0 {
			low = -1
		}
		img := picture[float64](rng, 5+rng.IntN(60), 5+rng.IntN(60), 1, low, high)
		opt := &boxlets.Options{Border: filter.Reflect, Level: boxsum.Levels()[i%len(boxsum.Levels())], Workers: 1 + i%3}
		name, scale, sigma := []string{"dob", "octagon", "star", "hessian", "hessian"}[i%5], 1+rng.IntN(5), 0.0
		var got boxsum.Image[float64]
		var err error
		switch name {
		case "dob":
			kernel, err := boxlets.DifferenceOfBoxes(scale)
			if err != nil {
				t.Fatal(err)
			}
			opt.Margin = 2 * scale
			if min(img.Width, img.Height) <= 2*opt.Margin {
				continue // scikit-image reads outside of such images
			}
			got, err = boxlets.Filter[float64](img, kernel, opt)
		case "octagon":
			kernel, err := boxlets.Octagons(octagons[scale-1][0], octagons[scale-1][1])
			if err != nil {
				t.Fatal(err)
			}
			got, err = boxlets.Filter[float64](img, kernel, opt)
		case "star":
			kernel, err := boxlets.Stars(stars[scale-1][0], stars[scale-1][1])
			if err != nil {
				t.Fatal(err)
			}
			got, err = boxlets.Filter[float64](img, kernel, opt)
		default:
			sigma = 1 + 6*rng.Float64()
			got, err = boxlets.Hessian[float64](img, sigma, opt)
		}
		if err != nil {
			t.Fatal(err)
		}
		number := sigma
		if name != "hessian" {
			number = float64(scale)
		}
		fmt.Fprintln(py.In, name, img.Height, img.Width, number)
		for y := range img.Height {
			if err := binary.Write(py.In, binary.NativeEndian, img.Row(y)); err != nil {
				t.Fatal(err)
			}
		}
		want := make([]float64, img.Width*img.Height)
		if err := binary.Read(py.Out, binary.NativeEndian, want); err != nil {
			t.Fatal(name, err)
		}
		for k, v := range want {
			x, y := k%img.Width, k/img.Width
			if g := got.Row(y)[x]; !(math.Abs(g-v) <= 2e-13) {
				t.Fatalf("image %d, %d×%d: %s of %v or %v is %v at (%d, %d), scikit-image has %v", i, img.Width, img.Height, name, scale, sigma, g, x, y, v)
			}
		}
	}
}

// TestFromKernel tests that boxes add up to the kernel that they come from, and do not overlap.
func TestFromKernel(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 34))
	for range 100 {
		width, height := 1+rng.IntN(12), 1+rng.IntN(12)
		weights := make([]float64, width*height)
		for i := range weights {
			weights[i] = float64(rng.IntN(3) - 1)
		}
		weights[0] = 1
		anchor := image.Pt(rng.IntN(width), rng.IntN(height))
		kernel, err := boxlets.FromKernel(weights, width, height, anchor)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]float64, len(weights))
		for _, b := range kernel {
			for y := b.Min.Y; y < b.Max.Y; y++ {
				for x := b.Min.X; x < b.Max.X; x++ {
					got[(y+anchor.Y)*width+x+anchor.X] += b.Weight
				}
			}
		}
		if !slices.Equal(got, weights) {
			t.Fatalf("%v make %v, want %v", kernel, got, weights)
		}
	}
	flat := make([]float64, 20)
	for i := range flat {
		flat[i] = 3
	}
	if kernel, err := boxlets.FromKernel(flat, 5, 4, image.Pt(2, 2)); err != nil || len(kernel) != 1 || kernel[0].Rectangle != image.Rect(-2, -2, 3, 2) {
		t.Errorf("a flat kernel makes %v, error %v", kernel, err)
	}
}

// TestTargets compares the detector with its definition, and its rate of false alarms with the one asked for, at the edges too.
func TestTargets(t *testing.T) {
	rng := rand.New(rand.NewPCG(ref.Seed(t, 41), 35))
	for i := range 40 {
		img := picture[float64](rng, 1+rng.IntN(50), 1+rng.IntN(50), 1, 0, 0)
		for k := range img.Pix {
			img.Pix[k] = rng.ExpFloat64()
		}
		c := boxlets.Cells{Guard: rng.IntN(4), Train: 1 + rng.IntN(5), FalseAlarms: 0.1 * (rng.Float64() + 0.01), Amplitudes: i%2 == 0}
		got, err := boxlets.Targets(img, c, &boxlets.Options{Workers: 1 + i%3})
		if err != nil {
			t.Fatal(err)
		}
		for y := range img.Height {
			for x := range img.Width {
				sum, n, outer := 0.0, 0, c.Guard+c.Train
				for v := max(0, y-outer); v <= min(img.Height-1, y+outer); v++ {
					for u := max(0, x-outer); u <= min(img.Width-1, x+outer); u++ {
						if max(x-u, u-x, y-v, v-y) > c.Guard {
							sum, n = sum+img.Row(v)[u], n+1
						}
					}
				}
				factor := float64(n) * (math.Pow(c.FalseAlarms, -1/float64(n)) - 1)
				if c.Amplitudes {
					factor = math.Sqrt(factor)
				}
				excess := img.Row(y)[x] - factor*sum/float64(n)
				if want := n > 0 && excess > 0; got.Row(y)[x] == 1 != want && math.Abs(excess) > 1e-9 {
					t.Fatalf("%d×%d, %+v: %d at (%d, %d), want %v", img.Width, img.Height, c, got.Row(y)[x], x, y, want)
				}
			}
		}
	}
	img := picture[float32](rng, 400, 400, 1, 0, 0)
	for k := range img.Pix {
		img.Pix[k] = float32(rng.ExpFloat64())
	}
	found, err := boxlets.Targets(img, boxlets.Cells{Guard: 2, Train: 6, FalseAlarms: 0.01}, nil)
	if err != nil {
		t.Fatal(err)
	}
	edge, all := 0.0, 0.0
	for y := range 400 {
		for x, v := range found.Row(y) {
			all += float64(v)
			if min(x, y, 399-x, 399-y) < 8 {
				edge += float64(v)
			}
		}
	}
	if all /= 400 * 400; math.Abs(all-0.01) > 0.001 {
		t.Errorf("%v of all cells are false alarms, want 0.01", all)
	}
	if edge /= 400*400 - 384*384; math.Abs(edge-0.01) > 0.003 {
		t.Errorf("%v of the cells at the edges are false alarms, want 0.01", edge)
	}
}

// TestDespeckle compares the filters with their definitions, from all pixels of every window.
func TestDespeckle(t *testing.T) {
	rng := rand.New(rand.NewPCG(ref.Seed(t, 41), 37))
	for i := range 200 {
		testDespeckle[uint8](t, rng, i)
		testDespeckle[uint16](t, rng, i)
		testDespeckle[float32](t, rng, i)
	}
}

func testDespeckle[P filter.Pixel](t *testing.T, rng *rand.Rand, i int) {
	t.Helper()
	img := picture[P](rng, 1+rng.IntN(40), 1+rng.IntN(40), 1+rng.IntN(2), 0, 0)
	if i%20 == 0 {
		img = picture[P](rng, 1+rng.IntN(9), 200, 1, 0, 0)
	}
	for k := range img.Pix {
		img.Pix[k] = P(min(20*rng.ExpFloat64()*float64(1+k%7/5*4), 250))
	}
	s := boxlets.Speckle{Method: boxlets.Method(i % 4), Size: 3 + 2*rng.IntN(5), Looks: 0.5 + 4*rng.Float64(), Damping: 3 * rng.Float64()}
	got, err := boxlets.Despeckle[float64](img, s, &boxlets.Options{Workers: 1 + i%3, Level: boxsum.Levels()[i%len(boxsum.Levels())]})
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		x, y, c := rng.IntN(img.Width), rng.IntN(img.Height), rng.IntN(img.Channels)
		if want, g := despeckled(&img, s, x, y, c), got.Row(y)[x*img.Channels+c]; !(math.Abs(g-want) <= 1e-9*max(1, want)) {
			t.Fatalf("image %d: %v %d×%d, %+v: %v at (%d, %d), want %v", i, raster.TypeOf[P](), img.Width, img.Height, s, g, x, y, want)
		}
	}
}

// despeckled is the definition of the filters.
func despeckled[P filter.Pixel](img *boxsum.Image[P], s boxlets.Speckle, x, y, c int) float64 {
	r := s.Size / 2
	var all, distances []float64
	mean, variance := 0.0, 0.0
	for v := max(0, y-r); v <= min(img.Height-1, y+r); v++ {
		for u := max(0, x-r); u <= min(img.Width-1, x+r); u++ {
			all = append(all, float64(img.Row(v)[u*img.Channels+c]))
			distances = append(distances, float64(max(x-u, u-x, y-v, v-y)))
		}
	}
	for _, v := range all {
		mean += v / float64(len(all))
	}
	for _, v := range all {
		variance += (v - mean) * (v - mean) / float64(max(1, len(all)-1))
	}
	p := float64(img.Row(y)[x*img.Channels+c])
	if mean == 0 {
		return p
	}
	ci, cu := math.Sqrt(variance)/mean, math.Sqrt(1/s.Looks)
	w := 1 - cu*cu/(ci*ci)
	switch {
	case s.Method == boxlets.Frost:
		sum, weights := 0.0, 0.0
		for k, v := range all {
			weight := math.Exp(-s.Damping * ci * ci * distances[k])
			sum, weights = sum+weight*v, weights+weight
		}
		return sum / weights
	case ci <= cu:
		return mean
	case s.Method == boxlets.Lee:
		return p*w + mean*(1-w)
	case s.Method == boxlets.Kuan:
		w /= 1 + cu*cu
		return p*w + mean*(1-w)
	case ci >= math.Sqrt2*cu:
		return p
	}
	alpha := (1 + cu*cu) / (ci*ci - cu*cu)
	beta := alpha - s.Looks - 1
	return (beta*mean + math.Sqrt(mean*mean*beta*beta+4*alpha*s.Looks*mean*p)) / (2 * alpha)
}

func TestAgain(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 36))
	img := picture[uint8](rng, 300, 200, 1, 0, 256)
	dst, _ := boxsum.NewImage[float32](300, 200, 1)
	last := 0.0
	opt := &boxlets.Options{Workers: 1, Progress: func(done float64) { last = done }}
	if err := boxlets.HessianInto(dst, img, 3, opt); err != nil || last != 1 {
		t.Errorf("error %v, progress %v", err, last)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := boxlets.HessianInto(dst, img, 3, &boxlets.Options{Context: ctx}); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled context gives %v", err)
	}
	marks, _ := boxsum.NewImage[uint8](300, 200, 1)
	if err := boxlets.TargetsInto(marks, img, boxlets.Cells{Train: 3, FalseAlarms: 0.1}, nil); err != nil {
		t.Error(err)
	}
	empty, _ := boxsum.NewImage[uint8](0, 5, 1)
	if _, err := boxlets.Hessian[float32](empty, 2, nil); err != nil {
		t.Error(err)
	}
}

// TestNotFinite tests that NaNs are an error wherever the box is: one far above the pixel reaches
// them through the border, before the first row of the image.
func TestNotFinite(t *testing.T) {
	img, err := boxsum.NewImage[float64](5, 30, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range img.Pix {
		img.Pix[i] = math.NaN()
	}
	for top := -40; top < 40; top++ {
		for _, border := range []filter.Border{filter.Reflect101, filter.Reflect, filter.Replicate, filter.Wrap} {
			kernel := []boxlets.Box{{Rectangle: image.Rect(-1, top, 2, top+1), Weight: 1}}
			if got, err := boxlets.Filter[float64](img, kernel, &boxlets.Options{Border: border}); !errors.Is(err, boxsum.ErrInvalid) {
				t.Errorf("a box at %d, border %v: %v, error %v", top, border, got.Pix, err)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	img, _ := boxsum.NewImage[uint8](9, 7, 1)
	same, _ := boxsum.NewImage[float32](9, 7, 1)
	bad, _ := boxsum.NewImage[float32](9, 7, 1)
	bad.Pix[20] = float32(math.NaN())
	one := []boxlets.Box{{Rectangle: image.Rect(0, 0, 1, 1), Weight: 1}}
	box := func(r image.Rectangle, weight float64) error {
		_, err := boxlets.Filter[float32](img, []boxlets.Box{{Rectangle: r, Weight: weight}}, nil)
		return err
	}
	filtered := func(img boxsum.Image[uint8], kernel []boxlets.Box, opt boxlets.Options) error {
		_, err := boxlets.Filter[float32](img, kernel, &opt)
		return err
	}
	hessian := func(sigma float64) error { _, err := boxlets.Hessian[float32](img, sigma, nil); return err }
	targets := func(c boxlets.Cells) error { _, err := boxlets.Targets(img, c, nil); return err }
	kernel := func(_ []boxlets.Box, err error) error { return err }
	_, notFinite := boxlets.Filter[float32](bad, one, nil)
	despeckle := func(s boxlets.Speckle) error { _, err := boxlets.Despeckle[float32](img, s, nil); return err }
	bad.Pix[20] = -1
	_, negative := boxlets.Despeckle[float32](bad, boxlets.Speckle{}, nil)
	small, _ := boxsum.NewImage[float32](8, 7, 1)
	for what, err := range map[string]error{
		"no boxes":      filtered(img, nil, boxlets.Options{}),
		"empty box":     box(image.Rect(3, 3, 3, 9), 1),
		"far box":       box(image.Rect(0, 0, 1<<20, 1), 1),
		"weight":        box(image.Rect(0, 0, 1, 1), math.NaN()),
		"border":        filtered(img, one, boxlets.Options{Border: 77}),
		"value":         filtered(img, one, boxlets.Options{Border: filter.Constant, Value: 0.5}),
		"margin":        filtered(img, one, boxlets.Options{Margin: -1}),
		"workers":       filtered(img, one, boxlets.Options{Workers: -1}),
		"short image":   filtered(boxsum.Image[uint8]{Pix: img.Pix, Width: 9, Height: 8}, one, boxlets.Options{}),
		"NaN":           notFinite,
		"in place":      boxlets.FilterInto(same, same, one, nil),
		"size":          boxlets.FilterInto(small, img, one, nil),
		"small sigma":   hessian(0.5),
		"NaN sigma":     hessian(math.NaN()),
		"large sigma":   hessian(1e9),
		"no training":   targets(boxlets.Cells{Guard: 1, FalseAlarms: 0.1}),
		"guard":         targets(boxlets.Cells{Guard: -1, Train: 2, FalseAlarms: 0.1}),
		"rate":          targets(boxlets.Cells{Train: 2}),
		"even window":   despeckle(boxlets.Speckle{Size: 4}),
		"looks":         despeckle(boxlets.Speckle{Looks: -1}),
		"damping":       despeckle(boxlets.Speckle{Damping: math.NaN()}),
		"method":        despeckle(boxlets.Speckle{Method: 9}),
		"negative":      negative,
		"scale":         kernel(boxlets.DifferenceOfBoxes(0)),
		"large scale":   kernel(boxlets.DifferenceOfBoxes(1 << 20)),
		"even octagon":  kernel(boxlets.Octagons([2]int{4, 2}, [2]int{3, 0})),
		"same octagons": kernel(boxlets.Octagons([2]int{3, 2}, [2]int{3, 2})),
		"stars":         kernel(boxlets.Stars(2, 2)),
		"weights":       kernel(boxlets.FromKernel(make([]float64, 5), 2, 3, image.Pt(0, 0))),
		"zero kernel":   kernel(boxlets.FromKernel(make([]float64, 6), 2, 3, image.Pt(0, 0))),
		"NaN kernel":    kernel(boxlets.FromKernel([]float64{math.NaN()}, 1, 1, image.Pt(0, 0))),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}
