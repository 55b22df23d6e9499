package filter_test

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/internal/window"
)

// TestSameBits tests that results are bit-identical in place, in strips, in bands of several workers, at every level and
// in a stream.
func TestSameBits(t *testing.T) {
	t.Run("uint8", testSameBits[uint8])
	t.Run("uint16", testSameBits[uint16])
	t.Run("float32", testSameBits[float32])
	t.Run("float64", testSameBits[float64])
}

func testSameBits[P filter.Pixel](t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 18))
	for i, size := range []struct{ w, h, c, window int }{{2100, 100, 1, 9}, {100, 300, 3, 40}, {5000, 70, 1, 60}, {1300, 60, 2, 7}, {30, 300, 4, 31}, {200, 80, 1, 101}} {
		if (ref.Race || testing.Short()) && i%3 != 0 {
			continue // a third of the cases suffices where tests are slow
		}
		img := random[P](rng, size.w, size.h, size.c)
		w := filter.Window{Width: 1 + rng.IntN(size.window), Height: size.window}
		sigma := filter.Sigma{X: 3, Y: float64(size.window) / 9, Passes: 3}
		opt := filter.Options{Border: borders[i%len(borders)], Workers: 1, Level: boxsum.Levels()[0]}
		name := fmt.Sprintf("%T %+v %v %v", *new(P), size, w, opt.Border)
		box := must[P](t, name)(filter.Box(img, w, &opt))
		dev := must32(t, name)(filter.StdDev[float32](img, w, &opt))
		blur := must[P](t, name)(filter.Gaussian(img, sigma, &opt))
		smooth := must[P](t, name)(filter.Guided(img, boxsum.Image[P]{Pix: img.Pix[:], Stride: img.Stride, Width: img.Width, Height: img.Height, Channels: 1}, w, 100, &opt))
		for _, opt.Workers = range []int{1, 2, 5} {
			for _, opt.Level = range boxsum.Levels() {
				if opt.Workers == 2 && opt.Level != boxsum.Levels()[0] {
					continue
				}
				name := fmt.Sprintf("%s, %d workers, %v", name, opt.Workers, opt.Level)
				same(t, name, must[P](t, name)(filter.Box(img, w, &opt)), box)
				same(t, name, must32(t, name)(filter.StdDev[float32](img, w, &opt)), dev)
				same(t, name, must[P](t, name)(filter.Gaussian(img, sigma, &opt)), blur)
				guide := img
				guide.Channels = 1
				same(t, name+" guided", must[P](t, name)(filter.Guided(img, guide, w, 100, &opt)), smooth)
				mean, both, err := filter.MeanStdDev[float32](img, w, &opt)
				if err != nil {
					t.Fatal(name, err)
				}
				same(t, name+" with the mean", both, dev)
				same(t, name, mean, must32(t, name)(filter.Mean[float32](img, w, &filter.Options{Border: opt.Border, Level: boxsum.Levels()[0]})))
				over := img
				over.Pix = slices.Clone(img.Pix)
				if err := filter.BoxInto(over, over, w, &opt); err != nil {
					t.Fatal(name, err)
				}
				same(t, name+" in place", over, box)
				over.Pix = slices.Clone(img.Pix)
				if err := filter.GaussianInto(over, over, sigma, &opt); err != nil {
					t.Fatal(name, err)
				}
				same(t, name+" Gaussian in place", over, blur)
			}
			if opt.Workers > 1 {
				over := img
				over.Pix = slices.Clone(img.Pix)
				guide := over
				guide.Channels = 1
				if err := filter.GuidedInto(over, over, guide, w, 100, &opt); size.c == 1 && err != nil {
					t.Fatal(name, err)
				} else if size.c == 1 {
					same(t, name+" guided in place", over, smooth)
				}
			}
		}
		if opt.Border == filter.Wrap {
			continue
		}
		s, err := filter.NewBoxStream[P](img.Width, img.Channels, w, &opt)
		if err != nil {
			t.Fatal(name, err)
		}
		streamed(t, name+" stream", s, img, box)
		d, err := filter.NewStdDevStream[float32, P](img.Width, img.Channels, w, &opt)
		if err != nil {
			t.Fatal(name, err)
		}
		streamed(t, name+" stream", d, img, dev)
	}
}

func streamed[D boxsum.Pixel, P filter.Pixel](t *testing.T, name string, s *filter.Stream[D, P], img boxsum.Image[P], want boxsum.Image[D]) {
	t.Helper()
	y := 0
	check := func(row []D, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(name, err)
		}
		if row == nil {
			return
		}
		if !slices.Equal(row, want.Row(y)) {
			t.Fatalf("%s: row %d differs", name, y)
		}
		y++
	}
	for y := range img.Height {
		check(s.Push(img.Row(y)))
	}
	for {
		row, err := s.End()
		check(row, err)
		if row == nil {
			break
		}
	}
	if y != img.Height {
		t.Fatalf("%s: %d rows of %d", name, y, img.Height)
	}
}

func same[P boxsum.Pixel](t *testing.T, name string, got, want boxsum.Image[P]) {
	t.Helper()
	for y := range want.Height {
		g, w := got.Row(y), want.Row(y)
		for i := range w {
			if g[i] != w[i] && (g[i] == g[i] || w[i] == w[i]) {
				t.Fatalf("%s: element %d of row %d is %v, want %v", name, i, y, g[i], w[i])
			}
		}
	}
}

// TestStream compares streams of every shape, of small images, with the whole image.
func TestStream(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 18))
	for range 300 {
		img := random[uint8](rng, 1+rng.IntN(9), 1+rng.IntN(20), 1+rng.IntN(3))
		w, opt := randomWindow(rng, 1+rng.IntN(30)), randomOptions(rng)
		if opt.Border == filter.Wrap {
			opt.Border = filter.Reflect
		}
		name := fmt.Sprintf("%d×%d, %v, %v", img.Width, img.Height, w, opt.Border)
		s, err := filter.NewBoxStream[uint8](img.Width, img.Channels, w, opt)
		if err != nil {
			t.Fatal(err)
		}
		streamed(t, name, s, img, must[uint8](t, name)(filter.Box(img, w, opt)))
	}
}

// TestGaussian compares a Gaussian with its boxes applied in turn in float64, and along narrow axes, unless Passes is
// set, with its weights.
func TestGaussian(t *testing.T) {
	rng := rand.New(rand.NewPCG(ref.Seed(t, 4), 18))
	for range ref.Trials(t, 60) {
		testGaussian[uint8](t, rng, 0.52)
		testGaussian[uint16](t, rng, 0.52)
		testGaussian[float32](t, rng, 1e-4)
		testGaussian[float64](t, rng, 1e-10)
	}
}

func testGaussian[P filter.Pixel](t *testing.T, rng *rand.Rand, eps float64) {
	t.Helper()
	img := random[P](rng, 1+rng.IntN(40), 1+rng.IntN(30), 1+rng.IntN(4))
	opt := randomOptions(rng)
	sigma := filter.Sigma{X: rng.Float64() * 8, Y: rng.Float64() * 8, Passes: rng.IntN(7)}
	name := fmt.Sprintf("%T %d×%d×%d %+v %v", *new(P), img.Width, img.Height, img.Channels, sigma, opt.Border)
	got := must[P](t, name)(filter.Gaussian(img, sigma, opt))
	narrow, passes := [2]float64{}, sigma.Passes // along x and y
	if passes == 0 {
		passes = 3
		limit := 6.0
		if _, ok := any(img.Pix).([]uint8); ok {
			limit = 2
		}
		if sigma.X < limit {
			narrow[0] = sigma.X
		}
		if sigma.Y < limit {
			narrow[1] = sigma.Y
		}
		if (sigma.X < limit) != (sigma.Y < limit) && eps > 0.5 { // rounded once more
			eps++
		}
	}
	x, y := filter.Boxes(sigma.X, passes), filter.Boxes(sigma.Y, passes)
	for i := range passes {
		if narrow[0] > 0 {
			x[i] = 1
		}
		if narrow[1] > 0 {
			y[i] = 1
		}
	}
	want := boxsum.Image[float64]{Pix: make([]float64, img.Width*img.Height*img.Channels), Stride: img.Width * img.Channels, Width: img.Width, Height: img.Height, Channels: img.Channels}
	for r := range img.Height {
		for i, v := range img.Row(r) {
			want.Pix[r*want.Stride+i] = float64(v)
		}
	}
	if narrow[0] > 0 || narrow[1] > 0 {
		want = weighed(want, narrow, opt)
	}
	reachX, reachY := 0, 0
	if opt.Border == filter.Replicate || opt.Border == filter.Constant { // the image is extended, not the result of each box
		for i := range x {
			reachX, reachY = reachX+x[i]/2, reachY+y[i]/2
		}
		want = extended(want, reachX, reachY, opt)
	}
	for i := range x {
		want = must64(t, name)(filter.Mean[float64](want, filter.Window{Width: x[i], Height: y[i]}, opt))
	}
	for y := range img.Height {
		row := want.Row(y + reachY)[reachX*img.Channels:][:img.Width*img.Channels]
		for i, v := range got.Row(y) {
			if math.Abs(float64(v)-row[i]) > eps {
				t.Fatalf("%s: element %d of row %d is %v, want %v", name, i, y, v, row[i])
			}
		}
	}
	if narrow[0] > 0 || narrow[1] > 0 {
		return
	}
	for _, all := range [][]int{x, y} {
		var variance float64
		for _, k := range all {
			if k%2 == 0 {
				t.Errorf("boxes of %v", all)
			}
			variance += float64(k*k-1) / 12
		}
		if s := []float64{sigma.X, sigma.Y}; !slices.ContainsFunc(s, func(s float64) bool { return math.Abs(math.Sqrt(variance)-s) < 0.6 }) {
			t.Errorf("boxes %v have a deviation of %v for %v", all, math.Sqrt(variance), s)
		}
	}
}

// extended returns an image with pixels added on each side, as determined by the border.
func extended(img boxsum.Image[float64], x, y int, opt *filter.Options) boxsum.Image[float64] {
	w, h := img.Width+2*x, img.Height+2*y
	out := boxsum.Image[float64]{Pix: make([]float64, w*h*img.Channels), Stride: w * img.Channels, Width: w, Height: h, Channels: img.Channels}
	border := window.Border(opt.Border)
	for i := range out.Pix {
		u, v := border.Index(i/img.Channels%w-x, img.Width), border.Index(i/out.Stride-y, img.Height)
		if out.Pix[i] = opt.Value; u >= 0 && v >= 0 {
			out.Pix[i] = img.Row(v)[u*img.Channels+i%img.Channels]
		}
	}
	return out
}

// weighed computes a Gaussian by its definition, truncated at four deviations and divided by the sum of the weights of
// the pixels that count.
func weighed(img boxsum.Image[float64], sigma [2]float64, opt *filter.Options) boxsum.Image[float64] {
	weight := func(d int, sigma float64) float64 {
		if sigma == 0 {
			return 1
		}
		return math.Exp(-float64(d*d) / (2 * sigma * sigma))
	}
	border := window.Border(opt.Border)
	out := img
	out.Pix = make([]float64, len(img.Pix))
	rx, ry := int(4*sigma[0]+0.5), int(4*sigma[1]+0.5)
	for y := range img.Height {
		for x := range img.Width {
			for c := range img.Channels {
				var sum, all float64
				for j := -ry; j <= ry; j++ {
					for i := -rx; i <= rx; i++ {
						w := weight(i, sigma[0]) * weight(j, sigma[1])
						u, v := border.Index(x+i, img.Width), border.Index(y+j, img.Height)
						switch {
						case u >= 0 && v >= 0:
							sum += w * img.Pix[v*img.Stride+u*img.Channels+c]
						case border == window.Constant:
							sum += w * opt.Value
						default:
							continue
						}
						all += w
					}
				}
				out.Pix[y*img.Stride+x*img.Channels+c] = sum / all
			}
		}
	}
	return out
}

// TestGuided compares the guided filter with its definition, using means of this package.
func TestGuided(t *testing.T) {
	rng := rand.New(rand.NewPCG(ref.Seed(t, 5), 18))
	for i := range ref.Trials(t, 60) {
		testGuided[uint8](t, rng, 1+i%2*2, 0.5001)
		testGuided[float32](t, rng, 1+i%2*2, 1e-3)
	}
}

func testGuided[P filter.Pixel](t *testing.T, rng *rand.Rand, channels int, eps float64) {
	t.Helper()
	img := random[P](rng, 1+rng.IntN(20), 1+rng.IntN(20), 1+rng.IntN(6))
	guide := random[P](rng, img.Width, img.Height, channels)
	w, opt := randomWindow(rng, 9), randomOptions(rng)
	if opt.Border == filter.Constant {
		opt.Border = filter.Clip
	}
	const epsilon = 50
	name := fmt.Sprintf("%T %d×%d×%d by %d, %v %v", *new(P), img.Width, img.Height, img.Channels, channels, w, opt.Border)
	got := must[P](t, name)(filter.Guided(img, guide, w, epsilon, opt))
	plane := func(f func(x, y int) float64) boxsum.Image[float64] {
		p := boxsum.Image[float64]{Pix: make([]float64, img.Width*img.Height), Width: img.Width, Height: img.Height, Channels: 1, Stride: img.Width}
		for i := range p.Pix {
			p.Pix[i] = f(i%img.Width, i/img.Width)
		}
		return p
	}
	mean := func(f func(x, y int) float64) []float64 {
		return must64(t, name)(filter.Mean[float64](plane(f), w, opt)).Pix
	}
	I := func(c int) func(x, y int) float64 {
		return func(x, y int) float64 { return float64(guide.Pix[y*guide.Stride+x*channels+c]) }
	}
	n := img.Width * img.Height
	for c := range img.Channels {
		p := func(x, y int) float64 { return float64(img.Pix[y*img.Stride+x*img.Channels+c]) }
		mp := mean(p)
		mI, cov := make([][]float64, channels), make([][]float64, channels)
		varI := make([][][]float64, channels)
		for i := range channels {
			mI[i] = mean(I(i))
			cov[i] = mean(func(x, y int) float64 { return I(i)(x, y) * p(x, y) })
			varI[i] = make([][]float64, channels)
			for j := range channels {
				varI[i][j] = mean(func(x, y int) float64 { return I(i)(x, y) * I(j)(x, y) })
			}
		}
		a, b := make([][]float64, channels), make([]float64, n)
		for i := range a {
			a[i] = make([]float64, n)
		}
		for k := range n {
			m := make([][]float64, channels) // the last column is the right-hand side
			for i := range m {
				m[i] = make([]float64, channels+1)
				for j := range channels {
					m[i][j] = varI[i][j][k] - mI[i][k]*mI[j][k]
				}
				m[i][i] += epsilon
				m[i][channels] = cov[i][k] - mI[i][k]*mp[k]
			}
			for i := range m { // positive definite: no pivots
				for j := range m {
					if j != i {
						f := m[j][i] / m[i][i]
						for l := range m[j] {
							m[j][l] -= f * m[i][l]
						}
					}
				}
			}
			b[k] = mp[k]
			for i := range m {
				a[i][k] = m[i][channels] / m[i][i]
				b[k] -= a[i][k] * mI[i][k]
			}
		}
		want := mean(func(x, y int) float64 { return b[y*img.Width+x] })
		for i := range channels {
			ma := mean(func(x, y int) float64 { return a[i][y*img.Width+x] })
			for k := range n {
				want[k] += ma[k] * I(i)(k%img.Width, k/img.Width)
			}
		}
		for k := range n {
			v := want[k]
			if eps == 0.5001 {
				v = min(max(v, 0), 255)
			}
			if g := float64(got.Pix[k*img.Channels+c]); math.Abs(g-v) > eps {
				t.Fatalf("%s: pixel %d of channel %d is %v, want %v", name, k, c, g, v)
			}
		}
	}
}

// TestMedianEntropy compares medians and entropies with sorted values and counts.
func TestMedianEntropy(t *testing.T) {
	rng := rand.New(rand.NewPCG(ref.Seed(t, 6), 18))
	for range ref.Trials(t, 40) {
		testMedian[uint8](t, rng)
		testMedian[uint16](t, rng)
		testMedian[float32](t, rng)
		testMedian[float64](t, rng)
	}
}

func testMedian[P filter.Pixel](t *testing.T, rng *rand.Rand) {
	t.Helper()
	img := random[P](rng, 1+rng.IntN(20), 1+rng.IntN(20), 1+rng.IntN(3))
	w, opt := randomWindow(rng, 12), randomOptions(rng)
	name := fmt.Sprintf("%T %d×%d×%d %v %v", *new(P), img.Width, img.Height, img.Channels, w, opt.Border)
	got := must[P](t, name)(filter.Median(img, w, opt))
	bins := histogram.Bins{N: 7, Low: 0, High: 200}
	entropy := must64(t, name)(filter.Entropy[float64](img, w, bins, opt))
	var v []float64
	for y := range img.Height {
		for x := range img.Width {
			for c := range img.Channels {
				v = values(v, img, w, opt, x, y, c)
				i := (y*img.Width+x)*img.Channels + c
				over, _ := histogram.Over[P](bins)
				counts := make([]uint32, 7)
				for _, p := range v {
					if b := over.Index(p); b >= 0 {
						counts[b]++
					}
				}
				want := 0.0
				if slices.Max(counts) > 0 {
					want = histogram.Entropy(counts)
				}
				if math.Abs(entropy.Pix[i]-want) > 2e-6 {
					t.Fatalf("%s: entropy of (%d, %d) is %v, want %v", name, x, y, entropy.Pix[i], want)
				}
				slices.Sort(v)
				if m := v[(len(v)-1)/2]; float64(got.Pix[i]) != m {
					t.Fatalf("%s: median of (%d, %d) is %v, want %v", name, x, y, got.Pix[i], m)
				}
			}
		}
	}
	over := img
	over.Pix = slices.Clone(img.Pix)
	if err := filter.MedianInto(over, over, w, opt); err != nil {
		t.Fatal(err)
	}
	same(t, name+" in place", over, got)
}

func TestDownsample(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 18))
	for range 100 {
		img := random[uint8](rng, 1+rng.IntN(40), 1+rng.IntN(40), 1+rng.IntN(4))
		fx, fy := 1+rng.IntN(9), 1+rng.IntN(9)
		got := must[uint8](t, "")(filter.Downsample(img, fx, fy, nil))
		for y := range got.Height {
			for i, v := range got.Row(y) {
				x, c := i/img.Channels, i%img.Channels
				sum, n := 0, 0
				for j := y * fy; j < min((y+1)*fy, img.Height); j++ {
					for k := x * fx; k < min((x+1)*fx, img.Width); k++ {
						sum += int(img.Pix[j*img.Stride+k*img.Channels+c])
						n++
					}
				}
				if int(v) != (sum+n/2)/n {
					t.Fatalf("block (%d, %d) of %d×%d is %d, want %d/%d", x, y, fx, fy, v, sum, n)
				}
			}
		}
	}
}

func TestBest(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 18))
	for range 100 {
		img := random[uint8](rng, 1+rng.IntN(30), 1+rng.IntN(30), 1+rng.IntN(2))
		w, h, k := 1+rng.IntN(8), 1+rng.IntN(8), 1+rng.IntN(6)
		for _, sign := range []float64{1, -1} {
			find := filter.Brightest[uint8]
			if sign < 0 {
				find = filter.Darkest[uint8]
			}
			got, err := find(img, w, h, k, nil)
			if err != nil {
				t.Fatal(err)
			}
			var want []filter.Found
			for range k {
				best := filter.Found{Mean: math.Inf(-1)}
				for y := 0; y+h <= img.Height; y++ {
				places:
					for x := 0; x+w <= img.Width; x++ {
						box := image.Rect(x, y, x+w, y+h)
						for _, f := range want {
							if f.Box.Overlaps(box) {
								continue places
							}
						}
						sum := 0
						for j := y; j < y+h; j++ {
							for _, v := range img.Row(j)[x*img.Channels : (x+w)*img.Channels] {
								sum += int(v)
							}
						}
						if m := sign * float64(sum); m > best.Mean {
							best = filter.Found{Box: box, Mean: m}
						}
					}
				}
				if best.Box.Empty() {
					break
				}
				want = append(want, best)
			}
			for i := range want {
				want[i].Mean *= sign / float64(w*h*img.Channels)
			}
			if len(got) != len(want) {
				t.Fatalf("%d×%d of %d×%d: %d windows, want %d", w, h, img.Width, img.Height, len(got), len(want))
			}
			for i := range want {
				if got[i].Box != want[i].Box || math.Abs(got[i].Mean-want[i].Mean) > 1e-9 {
					t.Fatalf("%d×%d of %d×%d: window %d is %v, want %v", w, h, img.Width, img.Height, i, got[i], want[i])
				}
			}
		}
	}
}

// TestNotFinite tests that a pixel that is not finite affects only its own windows, and leaves no rounding error in others.
func TestNotFinite(t *testing.T) {
	ref.SkipRace(t)
	t.Run("float32", testNotFinite[float32])
	t.Run("float64", testNotFinite[float64])
}

func testNotFinite[P filter.Pixel](t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 18))
	bad := []float64{math.NaN(), math.Inf(1), math.Inf(-1)}
	var v []float64
	for range 100 {
		img := random[P](rng, 1+rng.IntN(30), 1+rng.IntN(90), 1+rng.IntN(3))
		for range 1 + rng.IntN(4) {
			img.Pix[rng.IntN(len(img.Pix))] = P(bad[rng.IntN(3)])
		}
		w, opt := randomWindow(rng, 1+rng.IntN(12)), randomOptions(rng)
		name := fmt.Sprintf("%T %d×%d×%d %v %v", *new(P), img.Width, img.Height, img.Channels, w, opt.Border)
		mean := must64(t, name)(filter.Mean[float64](img, w, opt))
		dev := must64(t, name)(filter.StdDev[float64](img, w, opt))
		median := must[P](t, name)(filter.Median(img, w, opt))
		for y := range img.Height {
			for x := range img.Width {
				for c := range img.Channels {
					v = values(v, img, w, opt, x, y, c)
					i := (y*img.Width+x)*img.Channels + c
					_, m, vr := moments(v)
					if got := mean.Pix[i]; got != m && !(math.IsNaN(m) && math.IsNaN(got)) && !(math.Abs(got-m) < 1e-9) {
						t.Fatalf("%s: mean of (%d, %d) is %v, want %v", name, x, y, got, m)
					}
					if got, want := dev.Pix[i], math.Sqrt(vr); math.IsNaN(got) != math.IsNaN(want) || math.Abs(got-want) > 1e-5 {
						t.Fatalf("%s: deviation of (%d, %d) is %v, want %v", name, x, y, got, want)
					}
					if got := float64(median.Pix[i]); math.IsNaN(got) != slices.ContainsFunc(v, math.IsNaN) {
						t.Fatalf("%s: median of (%d, %d) is %v", name, x, y, got)
					}
				}
			}
		}
	}
}

func TestAllocatesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 18))
	img := random[uint8](rng, 300, 200, 1)
	floats := random[float32](rng, 300, 200, 3)
	dst, _ := boxsum.NewImage[uint8](300, 200, 1)
	fdst, _ := boxsum.NewImage[float32](300, 200, 3)
	dev, _ := boxsum.NewImage[float32](300, 200, 1)
	mean, _ := boxsum.NewImage[float32](300, 200, 1)
	small, _ := boxsum.NewImage[uint8](43, 29, 1)
	for _, workers := range []int{1, 2} {
		opt := &filter.Options{Workers: workers}
		w := filter.Radius(7)
		ref.AllocatesNothing(t, "BoxInto", func() error { return filter.BoxInto(dst, img, w, opt) })
		ref.AllocatesNothing(t, "BoxInto in place", func() error { return filter.BoxInto(img, img, w, opt) })
		ref.AllocatesNothing(t, "BoxInto of floats", func() error { return filter.BoxInto(fdst, floats, w, opt) })
		ref.AllocatesNothing(t, "MeanStdDevInto", func() error { return filter.MeanStdDevInto(mean, dev, img, w, opt) })
		ref.AllocatesNothing(t, "NormalizeInto", func() error { return filter.NormalizeInto(dev, img, w, 1, opt) })
		ref.AllocatesNothing(t, "GaussianInto", func() error { return filter.GaussianInto(dst, img, filter.Sigma{X: 5, Y: 5}, opt) })
		ref.AllocatesNothing(t, "GuidedInto", func() error { return filter.GuidedInto(dst, img, img, w, 100, opt) })
		ref.AllocatesNothing(t, "MedianInto", func() error { return filter.MedianInto(dst, img, filter.Square(3), opt) })
		ref.AllocatesNothing(t, "DownsampleInto", func() error { return filter.DownsampleInto(small, img, 7, 7, opt) })
	}
	s, err := filter.NewBoxStream[uint8](300, 1, filter.Radius(3), nil)
	if err != nil {
		t.Fatal(err)
	}
	row := img.Row(0)
	for range 20 {
		s.Push(row)
	}
	ref.AllocatesNothing(t, "Push", func() error { _, err := s.Push(row); return err })
}

// TestErrors tests that invalid arguments return errors with useful texts, without a panic.
func TestErrors(t *testing.T) {
	img, _ := boxsum.NewImage[uint8](10, 10, 1)
	other, _ := boxsum.NewImage[uint8](9, 10, 1)
	done, cancel := context.WithCancel(context.Background())
	cancel()
	box := func(dst, src boxsum.Image[uint8], w filter.Window, opt *filter.Options) error {
		return filter.BoxInto(dst, src, w, opt)
	}
	part := img
	part.Pix, part.Stride, part.Width, part.Height = img.Pix[5:], 10, 5, 9
	whole := img
	whole.Width, whole.Height = 5, 9
	two, _ := boxsum.NewImage[uint8](10, 10, 2)
	_, wrap := filter.NewBoxStream[uint8](10, 1, filter.Square(3), &filter.Options{Border: filter.Wrap})
	_, short := filter.Sum[uint8](img, filter.Square(3), nil)
	_, ints := filter.Sum[int32](boxsum.Image[float32]{}, filter.Square(3), nil)
	_, floor := filter.Normalize[float32](img, filter.Square(3), math.NaN(), nil)
	_, sigma := filter.Gaussian(img, filter.Sigma{X: -1}, nil)
	_, passes := filter.Gaussian(img, filter.Sigma{Passes: 7}, nil)
	_, guide := filter.Guided(img, two, filter.Square(3), 1, nil)
	_, epsilon := filter.Guided(img, img, filter.Square(3), -1, nil)
	_, factor := filter.Downsample(img, 0, 1, nil)
	_, count := filter.Brightest(img, 1, 1, -1, nil)
	_, side := filter.Brightest(img, 0, 1, 1, nil)
	_, bins := filter.Entropy[float32](boxsum.Image[float32]{}, filter.Square(3), histogram.Bins{}, nil)
	_, huge := filter.Box(img, filter.Square(1<<30-1), nil)
	_, hugeCount := filter.Median(img, filter.Square(1<<20), nil)
	_, border := filter.ParseBorder("mirror")
	var none *filter.Stream[uint8, uint8]
	_, push := none.Push(nil)
	_, end := none.End()
	for name, test := range map[string]struct{ got, want error }{
		"window 0":          {box(img, img, filter.Window{}, nil), boxsum.ErrInvalid},
		"negative window":   {box(img, img, filter.Square(-3), nil), boxsum.ErrInvalid},
		"giant window":      {box(img, img, filter.Square(math.MaxInt), nil), boxsum.ErrInvalid},
		"sums too large":    {huge, boxsum.ErrInvalid},
		"too many to count": {hugeCount, boxsum.ErrInvalid},
		"shift":             {box(img, img, filter.Window{Width: 3, Height: 3, Shift: image.Pt(2, 0)}, nil), boxsum.ErrInvalid},
		"border":            {box(img, img, filter.Square(3), &filter.Options{Border: 77}), boxsum.ErrInvalid},
		"value":             {box(img, img, filter.Square(3), &filter.Options{Border: filter.Constant, Value: 0.5}), boxsum.ErrInvalid},
		"NaN value":         {box(img, img, filter.Square(3), &filter.Options{Border: filter.Constant, Value: math.NaN()}), boxsum.ErrInvalid},
		"workers":           {box(img, img, filter.Square(3), &filter.Options{Workers: -1}), boxsum.ErrInvalid},
		"size":              {box(other, img, filter.Square(3), nil), boxsum.ErrInvalid},
		"overlap":           {box(part, whole, filter.Square(3), nil), boxsum.ErrOverlap},
		"short buffer":      {box(img, boxsum.Image[uint8]{Width: 10, Height: 10}, filter.Square(3), nil), boxsum.ErrInvalid},
		"done":              {box(img, img, filter.Square(3), &filter.Options{Context: done}), context.Canceled},
		"wrapped stream":    {wrap, boxsum.ErrInvalid},
		"small sums":        {short, boxsum.ErrTypes},
		"sums of floats":    {ints, boxsum.ErrTypes},
		"floor":             {floor, boxsum.ErrInvalid},
		"sigma":             {sigma, boxsum.ErrInvalid},
		"passes":            {passes, boxsum.ErrInvalid},
		"guide":             {guide, boxsum.ErrInvalid},
		"epsilon":           {epsilon, boxsum.ErrInvalid},
		"factor":            {factor, boxsum.ErrInvalid},
		"count":             {count, boxsum.ErrInvalid},
		"side":              {side, boxsum.ErrInvalid},
		"bins":              {bins, boxsum.ErrInvalid},
		"name":              {border, boxsum.ErrInvalid},
		"no stream":         {push, boxsum.ErrInvalid},
		"no stream's end":   {end, boxsum.ErrInvalid},
	} {
		if !errors.Is(test.got, test.want) {
			t.Errorf("%s: %v, want %v", name, test.got, test.want)
		}
	}
	// An empty image is not an error.
	if _, err := filter.Box(boxsum.Image[uint8]{}, filter.Square(3), nil); err != nil {
		t.Error(err)
	}
	if _, err := filter.Gaussian(boxsum.Image[uint8]{Width: 3}, filter.Sigma{X: 1}, nil); err != nil {
		t.Error(err)
	}
	if _, err := filter.Median(boxsum.Image[float32]{Height: 3}, filter.Square(3), nil); err != nil {
		t.Error(err)
	}
	if got, err := filter.BoxImage(nil, filter.Square(3), nil); err != nil || !got.Bounds().Empty() {
		t.Error(got, err)
	}
}

// TestHugeWindows tests that windows far larger than the image have the defined results and take no longer, or are an
// error where they would.
func TestHugeWindows(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 18))
	const k = 1<<20 + 1
	for _, border := range borders {
		opt := &filter.Options{Border: border}
		img, floats := random[uint8](rng, 30, 20, 3), random[float32](rng, 30, 20, 1)
		name := fmt.Sprint("windows of 2^20, ", border)
		box := must[uint8](t, name)(filter.Box(img, filter.Square(k), opt))
		mean := must64(t, name)(filter.Mean[float64](img, filter.Square(k), opt))
		for i := range box.Pix {
			if math.Abs(float64(box.Pix[i])-mean.Pix[i]) > 0.5 || mean.Pix[i] < 0 || mean.Pix[i] > 255 {
				t.Fatalf("%s: %v and %v", name, box.Pix[i], mean.Pix[i])
			}
		}
		must64(t, name)(filter.Variance[float64](floats, filter.Square(k), opt))
		_, err := filter.Gaussian(img, filter.Sigma{X: 1e5, Y: 1e5}, opt)
		_, err2 := filter.Guided(floats, floats, filter.Window{Width: 1<<19 + 1, Height: 1<<19 + 1}, 1, opt)
		wraps := border == filter.Wrap // several windows would have to compute rows far beyond the image
		extends := wraps || border == filter.Replicate || border == filter.Constant
		if errors.Is(err, boxsum.ErrInvalid) != extends || errors.Is(err2, boxsum.ErrInvalid) != wraps {
			t.Fatalf("%s: %v, %v", name, err, err2)
		}
		s, err := filter.NewBoxStream[uint8](30, 3, filter.Square(k), opt)
		if border != filter.Wrap {
			if err != nil {
				t.Fatal(err)
			}
			streamed(t, name, s, img, box)
		}
	}
}

// TestProgress tests that the context stops work that has begun, and that progress ends with 1.
func TestProgress(t *testing.T) {
	img, _ := boxsum.NewImage[uint8](2000, 2000, 1)
	ctx, cancel := context.WithCancel(context.Background())
	last := 0.0
	opt := &filter.Options{Workers: 1, Progress: func(done float64) { last = done }}
	if err := filter.BoxInto(img, img, filter.Square(9), opt); err != nil || last != 1 {
		t.Error(err, last)
	}
	opt = &filter.Options{Workers: 1, Context: ctx, Progress: func(float64) { cancel() }}
	dst, _ := boxsum.NewImage[uint8](2000, 2000, 1)
	if err := filter.BoxInto(dst, img, filter.Square(9), opt); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestImages tests that results have the type and the bounds of an image of package image.
func TestImages(t *testing.T) {
	b := image.Rect(-3, 5, 20, 30)
	paint := func(set func(x, y int, c color.Color)) {
		for y := b.Min.Y; y < b.Max.Y; y++ {
			for x := b.Min.X; x < b.Max.X; x++ {
				set(x, y, color.NRGBA64{uint16(x * 1000), uint16(y * 2000), uint16(x * y * 99), uint16(60000 - y*100)})
			}
		}
	}
	gray, gray16, rgba, nrgba, rgba64 := image.NewGray(b), image.NewGray16(b), image.NewRGBA(b), image.NewNRGBA(b), image.NewRGBA64(b)
	for _, m := range []interface{ Set(x, y int, c color.Color) }{gray, gray16, rgba, nrgba, rgba64} {
		paint(m.Set)
	}
	for _, img := range []image.Image{gray, gray16, rgba, nrgba, rgba64, image.NewYCbCr(b, image.YCbCrSubsampleRatio420)} {
		for name, f := range map[string]func() (image.Image, error){
			"box":        func() (image.Image, error) { return filter.BoxImage(img, filter.Square(1), nil) },
			"gaussian":   func() (image.Image, error) { return filter.GaussianImage(img, filter.Sigma{}, nil) },
			"median":     func() (image.Image, error) { return filter.MedianImage(img, filter.Square(1), nil) },
			"downsample": func() (image.Image, error) { return filter.DownsampleImage(img, 1, 1, nil) },
			"guided":     func() (image.Image, error) { return filter.GuidedImage(img, filter.Square(1), 0, nil) },
		} {
			got, err := f()
			if err != nil {
				t.Fatalf("%s of %T: %v", name, img, err)
			}
			if got.Bounds() != b {
				t.Errorf("%s of %T has bounds %v", name, img, got.Bounds())
			}
			for y := b.Min.Y; y < b.Max.Y; y++ {
				for x := b.Min.X; x < b.Max.X; x++ {
					r, g, bl, a := img.At(x, y).RGBA()
					R, G, B, A := got.At(x, y).RGBA()
					const near = 300
					if diff(r, R) > near || diff(g, G) > near || diff(bl, B) > near || diff(a, A) > near {
						t.Fatalf("%s of %T: (%d, %d) is %v, want %v", name, img, x, y, got.At(x, y), img.At(x, y))
					}
				}
			}
			switch img.(type) {
			case *image.Gray, *image.Gray16, *image.RGBA, *image.RGBA64:
				if fmt.Sprintf("%T", got) != fmt.Sprintf("%T", img) {
					t.Errorf("%s of %T is %T", name, img, got)
				}
			}
		}
	}
}

func diff(a, b uint32) uint32 { return max(a, b) - min(a, b) }

// FuzzBox compares windows and borders of every shape with the definition.
func FuzzBox(f *testing.F) {
	f.Add(uint8(5), uint8(7), uint8(1), uint8(3), uint8(4), int8(0), int8(0), uint8(0), []byte("some pixels"))
	f.Add(uint8(1), uint8(1), uint8(3), uint8(200), uint8(90), int8(-3), int8(5), uint8(3), []byte{255})
	f.Add(uint8(33), uint8(2), uint8(0), uint8(2), uint8(255), int8(1), int8(-127), uint8(4), []byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, width, height, channels, kx, ky uint8, shiftX, shiftY int8, border uint8, pix []byte) {
		img, _ := boxsum.NewImage[uint8](int(width)%48, int(height)%24, 1+int(channels)%4)
		for i := range img.Pix {
			if len(pix) > 0 {
				img.Pix[i] = pix[i%len(pix)] + uint8(i/len(pix)*7)
			}
		}
		w := filter.Window{Width: int(kx) % 96, Height: int(ky) % 64, Shift: image.Pt(int(shiftX), int(shiftY))}
		opt := &filter.Options{Border: borders[int(border)%len(borders)], Workers: 2}
		got, err := filter.Box(img, w, opt)
		left, up := w.Width/2-w.Shift.X, w.Height/2-w.Shift.Y
		if bad := w.Width < 1 || w.Height < 1 || left < 0 || left >= w.Width || up < 0 || up >= w.Height; bad != (err != nil) {
			t.Fatalf("%v: %v", w, err)
		}
		if err != nil {
			return
		}
		var v []float64
		for y := range img.Height {
			for x := range img.Width {
				for c := range img.Channels {
					v = values(v, img, w, opt, x, y, c)
					s, _, _ := moments(v)
					n := uint64(len(v))
					if g, want := got.Pix[(y*img.Width+x)*img.Channels+c], (uint64(s)+n/2)/n; uint64(g) != want {
						t.Fatalf("%d×%d×%d, %v, %v: (%d, %d) is %d, want %d", img.Width, img.Height, img.Channels, w, opt.Border, x, y, g, want)
					}
				}
			}
		}
	})
}

// TestStatisticsInPlace tests results in place, including filters that read the pixel again.
func TestStatisticsInPlace(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 18))
	for i := range 60 {
		inPlace[float32](t, rng, i)
		inPlace[float64](t, rng, i)
	}
}

func inPlace[P filter.Float](t *testing.T, rng *rand.Rand, i int) {
	t.Helper()
	img, _ := boxsum.NewImage[P](1+rng.IntN(200), 1+rng.IntN(40), 1+i%4)
	for k := range img.Pix {
		img.Pix[k] = P(rng.IntN(256))
	}
	w := filter.Window{Width: 1 + rng.IntN(20), Height: 1 + rng.IntN(20)}
	opt := &filter.Options{Border: borders[i%len(borders)], Workers: 1 + i%3, Level: boxsum.Levels()[i%len(boxsum.Levels())]}
	for name, into := range map[string]func(dst, src boxsum.Image[P]) error{
		"mean":      func(dst, src boxsum.Image[P]) error { return filter.MeanInto(dst, src, w, opt) },
		"sum":       func(dst, src boxsum.Image[P]) error { return filter.SumInto(dst, src, w, opt) },
		"variance":  func(dst, src boxsum.Image[P]) error { return filter.VarianceInto(dst, src, w, opt) },
		"deviation": func(dst, src boxsum.Image[P]) error { return filter.StdDevInto(dst, src, w, opt) },
		"normalize": func(dst, src boxsum.Image[P]) error { return filter.NormalizeInto(dst, src, w, 0.5, opt) },
	} {
		want, _ := boxsum.NewImage[P](img.Width, img.Height, img.Channels)
		if err := into(want, img); err != nil {
			t.Fatal(name, err)
		}
		got := img
		got.Pix = slices.Clone(img.Pix)
		if err := into(got, got); err != nil {
			t.Fatal(name, err)
		}
		if !slices.Equal(got.Pix, want.Pix) {
			t.Errorf("%s of %d×%d×%d %T, %v, %v in place is not what it is beside", name, img.Width, img.Height, img.Channels, img.Pix[0], w, opt.Border)
		}
	}
}

// TestGuidedFewColors tests that a guide with three equal channels acts like a gray guide with a third of epsilon. Its
// covariance matrix is singular without epsilon.
func TestGuidedFewColors(t *testing.T) {
	rng := rand.New(rand.NewPCG(43, 18))
	for _, epsilon := range []float64{0.03, 3, 3000} {
		img, _ := boxsum.NewImage[uint16](40, 30, 1)
		gray, _ := boxsum.NewImage[uint16](40, 30, 1)
		colors, _ := boxsum.NewImage[uint16](40, 30, 3)
		for i := range gray.Pix {
			img.Pix[i], gray.Pix[i] = uint16(rng.IntN(1<<16)), uint16(rng.IntN(1<<16))
			for c := range 3 {
				colors.Pix[3*i+c] = gray.Pix[i]
			}
		}
		want, err := filter.Guided(img, gray, filter.Square(5), epsilon/3, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := filter.Guided(img, colors, filter.Square(5), epsilon, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range want.Pix {
			if d := int(got.Pix[i]) - int(v); d < -1 || d > 1 {
				t.Fatalf("epsilon %v: pixel %d is %d, want %d", epsilon, i, got.Pix[i], v)
			}
		}
	}
}
