package filter_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/internal/ref"
)

// asked returns the result of a peer for an image.
func asked[D, P boxsum.Pixel](t *testing.T, py ref.Script, what, border string, img boxsum.Image[P], kx, ky, n int) []D {
	t.Helper()
	fmt.Fprintln(py.In, what, reflect.TypeFor[P](), border, img.Height, img.Width, img.Channels, kx, ky)
	for y := range img.Height {
		if err := binary.Write(py.In, binary.NativeEndian, img.Row(y)); err != nil {
			t.Fatal(err)
		}
	}
	out := make([]D, n)
	if err := binary.Read(py.Out, binary.NativeEndian, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestPeers compares means, sums, deviations, medians and block means with OpenCV and SciPy.
func TestPeers(t *testing.T) {
	ref.SkipRace(t)
	py := ref.StartPython(t, "testdata/opencv.py")
	rng := rand.New(rand.NewPCG(ref.Seed(t, 11), 18))
	for i := range ref.Trials(t, 60) {
		img := random[uint8](rng, 1+rng.IntN(90), 1+rng.IntN(60), 1+rng.IntN(4))
		floats := random[float32](rng, img.Width, img.Height, 1)
		gray := random[uint8](rng, img.Width, img.Height, 1)
		words := random[uint16](rng, img.Width, img.Height, 1)
		n, c := img.Width*img.Height, img.Channels
		// cv2.blur is exact for odd windows only, and reflects only once.
		w := filter.Window{Width: 1 + 2*rng.IntN(1+min(20, (img.Width-1)/2)), Height: 1 + 2*rng.IntN(1+min(20, (img.Height-1)/2))}
		opt := &filter.Options{Border: borders[i%4]}
		name := fmt.Sprintf("%d×%d×%d %v %v", img.Width, img.Height, c, w, opt.Border)
		for k, want := range asked[uint8](t, py, "blur", opt.Border.String(), img, w.Width, w.Height, n*c) {
			if k == 0 {
				got := must[uint8](t, name)(filter.Box(img, w, opt))
				img = got
			}
			if img.Pix[k] != want {
				t.Fatalf("%s: element %d is %d, cv2.blur has %d", name, k, img.Pix[k], want)
			}
		}
		near(t, name+" boxFilter", must64(t, name)(filter.Sum[float64](gray, w, opt)), asked[float64](t, py, "sum", opt.Border.String(), gray, w.Width, w.Height, n), 1e-9)
		near(t, name+" sqrBoxFilter", must64(t, name)(filter.StdDev[float64](gray, w, opt)), asked[float64](t, py, "std", opt.Border.String(), gray, w.Width, w.Height, n), 1e-5)
		opt.Border = borders[i%5]
		w = filter.Window{Width: 1 + rng.IntN(30), Height: 1 + rng.IntN(30)}
		name = fmt.Sprintf("%d×%d %v %v", img.Width, img.Height, w, opt.Border)
		near(t, name+" uniform_filter", must64(t, name)(filter.Mean[float64](floats, w, opt)), asked[float64](t, py, "uniform", opt.Border.String(), floats, w.Width, w.Height, n), 1e-7)
		near(t, name+" uniform_filter", must64(t, name)(filter.Mean[float64](words, w, opt)), asked[float64](t, py, "uniform", opt.Border.String(), words, w.Width, w.Height, n), 1e-7)
		w = filter.Window{Width: 1 + 2*rng.IntN(5), Height: 1 + 2*rng.IntN(5)}
		near(t, name+" median_filter", must[uint16](t, name)(filter.Median(words, w, opt)), asked[uint16](t, py, "median", opt.Border.String(), words, w.Width, w.Height, n), 0)
		fx, fy := 1+rng.IntN(4), 1+rng.IntN(4)
		if img.Width%fx == 0 && img.Height%fy == 0 {
			near(t, name+" INTER_AREA", must[uint8](t, name)(filter.Downsample(gray, fx, fy, nil)), asked[float64](t, py, "area", "none", gray, fx, fy, n/fx/fy), 0.5001)
		}
	}
	// Compare a Gaussian of four boxes with the true one, as stated in docs/reference/filters.md.
	img := random[uint8](rng, 200, 160, 1)
	for _, sigma := range []int{5, 10, 20} {
		got := must[uint8](t, "")(filter.Gaussian(img, filter.Sigma{X: float64(sigma), Y: float64(sigma), Passes: 4}, nil))
		near(t, "gaussian_filter", got, asked[float64](t, py, "gaussian", "reflect101", img, sigma, sigma, len(got.Pix)), 2)
	}
}

// TestGaussianSciPy compares Gaussians of all widths with SciPy's: below a deviation of 2 they are equal except for
// rounding, and above as close as docs/reference/filters.md states.
func TestGaussianSciPy(t *testing.T) {
	ref.SkipRace(t)
	py := ref.StartPython(t, "testdata/opencv.py")
	rng := rand.New(rand.NewPCG(12, 18))
	const w, h = 160, 120
	floats, err := boxsum.NewImage[float64](w, h, 1)
	if err != nil {
		t.Fatal(err)
	}
	bytes, words, singles := boxsum.Image[uint8]{Pix: make([]uint8, w*h), Width: w, Height: h}, boxsum.Image[uint16]{Pix: make([]uint16, w*h), Width: w, Height: h}, boxsum.Image[float32]{Pix: make([]float32, w*h), Width: w, Height: h}
	for i := range floats.Pix { // noise with hard edges of 180 levels
		v := rng.IntN(60)
		if (i%w/23+i/w/17)%2 > 0 {
			v += 180
		}
		floats.Pix[i], bytes.Pix[i], words.Pix[i], singles.Pix[i] = float64(v), uint8(v), uint16(v*256), float32(v)
	}
	for i, c := range []struct {
		sigma, most, mean  float64 // largest and mean difference in gray levels, in addition to rounding
		mostEdge, meanEdge float64 // with the borders Replicate and Constant, which add edges to the image
	}{
		{sigma: 0.3}, {sigma: 0.4}, {sigma: 0.5}, {sigma: 0.6}, {sigma: 0.8}, {sigma: 1}, {sigma: 1.25}, {sigma: 1.5}, {sigma: 1.75}, {sigma: 1.999},
		{2, 6.2, 1.42, 6.6, 1.5}, {3, 3.7, 1.2, 3.9, 1.2}, {4, 4.1, 1, 4.3, 1.01}, {5, 3.7, 0.8, 4, 0.81}, {7, 3.1, 0.35, 3.1, 0.35},
		{10, 3, 0.9, 3.3, 0.93}, {20, 1.92, 0.35, 2, 0.6}, {50, 0.4, 0.11, 1.6, 0.93}, {100, 0.051, 0.02, 2.3, 1.51},
	} {
		borders := []filter.Border{filter.Reflect101, filter.Reflect, filter.Wrap, filter.Replicate, filter.Constant}
		if c.most == 0 {
			borders = borders[i%5:][:1]
		}
		sigma := filter.Sigma{X: c.sigma, Y: c.sigma}
		milli := int(math.Round(1000 * c.sigma))
		for _, border := range borders {
			opt := &filter.Options{Border: border}
			most, mean := c.most, c.mean
			if border == filter.Replicate || border == filter.Constant {
				most, mean = c.mostEdge, c.meanEdge
			}
			want := asked[float64](t, py, "gaussian4", border.String(), floats, milli, milli, w*h)
			name := fmt.Sprintf("sigma %v, %v", c.sigma, border)
			compare := func(what string, got []float64, scale, rounding float64) {
				most, mean := most, mean
				if what != "uint8" && c.sigma < 6 { // weights instead of boxes
					most, mean = 0, 0
				}
				largest, sum := 0.0, 0.0
				for i, v := range want {
					d := math.Abs(got[i]/scale - v)
					largest, sum = max(largest, d), sum+d
				}
				if largest > most+rounding || sum/(w*h) > mean+rounding {
					t.Errorf("%s: %s differs by up to %.4g, by %.4g in the mean, want %v and %v", name, what, largest, sum/(w*h), most, mean)
				}
			}
			compare("float64", must[float64](t, name)(filter.Gaussian(floats, sigma, opt)).Pix, 1, 1e-11)
			compare("float32", float64s(must[float32](t, name)(filter.Gaussian(singles, sigma, opt))), 1, 1e-4)
			compare("uint8", float64s(must[uint8](t, name)(filter.Gaussian(bytes, sigma, opt))), 1, 0.5001)
			compare("uint16", float64s(must[uint16](t, name)(filter.Gaussian(words, sigma, opt))), 256, 0.0021)
		}
	}
}

func float64s[P boxsum.Pixel](img boxsum.Image[P]) []float64 {
	all := make([]float64, len(img.Pix))
	for i, v := range img.Pix {
		all[i] = float64(v)
	}
	return all
}

func near[A, B boxsum.Pixel](t *testing.T, name string, got boxsum.Image[A], want []B, eps float64) {
	t.Helper()
	for i, v := range want {
		if d := float64(got.Pix[i]) - float64(v); math.Abs(d) > eps {
			t.Fatalf("%s: element %d is %v, want %v", name, i, got.Pix[i], v)
		}
	}
}
