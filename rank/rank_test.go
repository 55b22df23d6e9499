package rank_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/rank"
)

// peers holds the names of statistics in scikit-image.
var peers = map[rank.Statistic]string{
	rank.Minimum: "minimum", rank.Maximum: "maximum", rank.Gradient: "gradient", rank.Mean: "mean", rank.Sum: "sum",
	rank.SubtractMean: "subtract_mean", rank.Threshold: "threshold", rank.Percentile: "percentile", rank.Majority: "majority",
	rank.Autolevel: "autolevel", rank.Equalize: "equalize", rank.Otsu: "otsu", rank.BilateralMean: "mean_bilateral",
}

// A trial is a random image with a random window, of footprint and mask or not.
type trial[P rank.Pixel] struct {
	img    boxsum.Image[P]
	window filter.Window
	opt    rank.Options
}

func newTrial[P rank.Pixel](rng *rand.Rand) trial[P] {
	img := boxsum.Image[P]{Width: 1 + rng.IntN(60), Height: 1 + rng.IntN(40), Channels: 1}
	img.Stride = img.Width + rng.IntN(3)
	img.Pix = make([]P, img.Stride*img.Height)
	most := []int{2, 20, 256}[rng.IntN(3)]
	if raster.TypeOf[P]() == raster.U16 {
		most = []int{3, 100, 1000, 1 << 16}[rng.IntN(4)]
	}
	base := rng.IntN(most)
	for i := range img.Pix {
		switch {
		case most <= 20 || rng.IntN(8) == 0:
			img.Pix[i] = P(rng.IntN(most))
		default: // close to each other
			img.Pix[i] = P(min(most-1, base+rng.IntN(1+most/16)))
		}
	}
	w := filter.Window{Width: 1 + rng.IntN(12), Height: 1 + rng.IntN(12)}
	if rng.IntN(8) == 0 {
		w.Width = 1 + rng.IntN(100)
	}
	if rng.IntN(8) == 0 {
		w.Height = 1 + rng.IntN(100)
	}
	if rng.IntN(3) == 0 {
		w.Shift = image.Pt(w.Width/2-rng.IntN(w.Width), w.Height/2-rng.IntN(w.Height))
	}
	t := trial[P]{img: img, window: w}
	t.opt = rank.Options{Fraction: []float64{0, 0.1, 0.5, 0.77, 1}[rng.IntN(5)], Below: rng.IntN(most), Above: rng.IntN(most), Workers: 1 + rng.IntN(3)}
	t.opt.Level = boxsum.Levels()[rng.IntN(len(boxsum.Levels()))]
	if rng.IntN(3) == 0 {
		t.opt.Footprint = make([]uint8, w.Width*w.Height)
		for i := range t.opt.Footprint {
			t.opt.Footprint[i] = uint8(rng.IntN(2))
		}
	}
	if rng.IntN(3) == 0 {
		share := 1 + rng.IntN(9)
		m, err := boxsum.NewImage[uint8](img.Width, img.Height, 1)
		if err != nil {
			panic(err)
		}
		for i := range m.Pix {
			if rng.IntN(share) > 0 {
				m.Pix[i] = uint8(1 + rng.IntN(255))
			}
		}
		t.opt.Mask = m
	}
	return t
}

func (t *trial[P]) String() string {
	return fmt.Sprintf("%v %d×%d, window %v, footprint %v, mask %v, options %v %v %v", raster.TypeOf[P](), t.img.Width, t.img.Height, t.window,
		t.opt.Footprint != nil, t.opt.Mask.Pix != nil, t.opt.Fraction, t.opt.Below, t.opt.Above)
}

// around calls f with the pixels that count in the window of a pixel.
func (t *trial[P]) around(x, y int, f func(v int)) {
	left, up := t.window.Width/2-t.window.Shift.X, t.window.Height/2-t.window.Shift.Y
	for i := range t.window.Height {
		for k := range t.window.Width {
			px, py := x-left+k, y-up+i
			switch {
			case px < 0 || py < 0 || px >= t.img.Width || py >= t.img.Height:
			case t.opt.Footprint != nil && t.opt.Footprint[i*t.window.Width+k] == 0:
			case t.opt.Mask.Pix != nil && t.opt.Mask.Row(py)[px] == 0:
			default:
				f(int(t.img.Row(py)[px]))
			}
		}
	}
}

// levels returns the number of levels of the image.
func (t *trial[P]) levels() int {
	if raster.TypeOf[P]() == raster.U8 {
		return 256
	}
	most := 3
	for y := range t.img.Height {
		for _, v := range t.img.Row(y) {
			most = max(most, int(v))
		}
	}
	return most + 1
}

// want computes a pixel from the definition of a statistic.
func (t *trial[P]) want(s rank.Statistic, levels, x, y int) P {
	h := map[int]int{}
	g, n, sum, low, high, upTo := int(t.img.Row(y)[x]), 0, 0, levels, -1, 0
	t.around(x, y, func(v int) {
		h[v]++
		n, sum, low, high = n+1, sum+v, min(low, v), max(high, v)
		if v <= g {
			upTo++
		}
	})
	if n == 0 {
		return 0
	}
	switch s {
	case rank.Minimum:
		return P(low)
	case rank.Maximum:
		return P(high)
	case rank.Gradient:
		return P(high - low)
	case rank.Mean:
		return P(sum / n)
	case rank.Sum:
		return P(sum)
	case rank.SubtractMean:
		return P(int((float64(g)-float64(sum)/float64(n))/2 + float64(levels/2-1)))
	case rank.Threshold:
		if float64(g) > float64(sum)/float64(n) {
			return 1
		}
		return 0
	case rank.Percentile:
		below := 0
		for _, v := range slices.Sorted(maps.Keys(h)) {
			if below += h[v]; float64(below) > t.opt.Fraction*float64(n) {
				return P(v)
			}
		}
		return P(high)
	case rank.Majority:
		best := low
		for v, k := range h {
			if k > h[best] || k == h[best] && v < best {
				best = v
			}
		}
		return P(best)
	case rank.Autolevel:
		if low == high {
			return 0
		}
		return P(min(max((levels-1)*(g-low)/(high-low), 0), levels-1))
	case rank.Equalize:
		return P((levels - 1) * upTo / n)
	case rank.Otsu:
		best, at, q, m := 0.0, 0, 0, 0
		for _, v := range slices.Sorted(maps.Keys(h)) {
			if q, m = q+h[v], m+v*h[v]; v == 0 || q == n {
				continue
			}
			d := float64((n-q)*m - (sum-m)*q)
			if between := d * d / float64(q*(n-q)); between > best {
				best, at = between, v
			}
		}
		return P(at)
	}
	n, sum = 0, 0
	for v, k := range h {
		if v > g-t.opt.Below && v < g+t.opt.Above {
			n, sum = n+k, sum+v*k
		}
	}
	if n == 0 {
		return 0
	}
	return P(sum / n)
}

func TestDefinitions(t *testing.T) {
	rng := rand.New(rand.NewPCG(ref.Seed(t, 41), 1))
	for range ref.Trials(t, 40) {
		for s := range peers {
			define[uint8](t, rng, s)
			define[uint16](t, rng, s)
		}
	}
}

func define[P rank.Pixel](t *testing.T, rng *rand.Rand, s rank.Statistic) {
	t.Helper()
	trial := newTrial[P](rng)
	levels := trial.levels()
	if rng.IntN(3) == 0 && raster.TypeOf[P]() == raster.U16 {
		levels += rng.IntN(1<<16 - levels + 1)
		trial.opt.Levels = levels
	}
	got, err := rank.Filter(trial.img, s, trial.window, &trial.opt)
	if err != nil {
		t.Fatalf("%v of %v: %v", s, &trial, err)
	}
	for y := range got.Height {
		for x, v := range got.Row(y) {
			if want := trial.want(s, levels, x, y); v != want {
				t.Fatalf("%v of %v: %v at (%d, %d), want %v", s, &trial, v, x, y, want)
			}
		}
	}
	if err := rank.FilterInto(trial.img, trial.img, s, trial.window, &trial.opt); err != nil {
		t.Fatalf("%v of %v in place: %v", s, &trial, err)
	}
	for y := range got.Height {
		for x, v := range trial.img.Row(y) {
			if want := got.Row(y)[x]; v != want {
				t.Fatalf("%v of %v in place: %v at (%d, %d), want %v", s, &trial, v, x, y, want)
			}
		}
	}
}

// TestPeers compares 200 images for each statistic with scikit-image's.
func TestPeers(t *testing.T) {
	ref.SkipRace(t)
	py := ref.StartPython(t, "testdata/peers.py")
	rng := rand.New(rand.NewPCG(ref.Seed(t, 41), 2))
	for i := range 200 {
		for s := range rank.BilateralMean + 1 {
			if i%3 > 0 {
				comparePeer[uint8](t, py, rng, s)
			} else {
				comparePeer[uint16](t, py, rng, s)
			}
		}
		compareFloats[uint8](t, py, rng)
	}
}

// ask sends a trial to scikit-image.
func (t *trial[P]) ask(test *testing.T, py ref.Script, name string, above int) {
	test.Helper()
	dtype := map[raster.Type]string{raster.U8: "u1", raster.U16: "u2"}[raster.TypeOf[P]()]
	// scikit-image shifts footprints the other way.
	fmt.Fprintln(py.In, name, dtype, t.img.Height, t.img.Width, t.window.Height, t.window.Width, -t.window.Shift.X, -t.window.Shift.Y, t.opt.Fraction, t.opt.Below, above)
	for y := range t.img.Height {
		if err := binary.Write(py.In, binary.NativeEndian, t.img.Row(y)); err != nil {
			test.Fatal(err)
		}
	}
	bytes := t.opt.Footprint
	if bytes == nil {
		bytes = ones(t.window.Width * t.window.Height)
	}
	mask := t.opt.Mask.Pix
	if mask == nil {
		mask = ones(t.img.Width * t.img.Height)
	}
	if err := errors.Join(binary.Write(py.In, binary.NativeEndian, bytes), binary.Write(py.In, binary.NativeEndian, mask)); err != nil {
		test.Fatal(err)
	}
}

func ones(n int) []uint8 {
	all := make([]uint8, n)
	for i := range all {
		all[i] = 1
	}
	return all
}

func comparePeer[P rank.Pixel](t *testing.T, py ref.Script, rng *rand.Rand, s rank.Statistic) {
	t.Helper()
	trial := newTrial[P](rng)
	if s == rank.Autolevel { // its pixels that do not count wrap
		trial.opt.Mask, trial.opt.Footprint = boxsum.Image[uint8]{}, nil
	}
	trial.ask(t, py, peers[s], trial.opt.Above)
	want := make([]P, trial.img.Width*trial.img.Height)
	if err := binary.Read(py.Out, binary.NativeEndian, want); err != nil {
		t.Fatal(s, err)
	}
	got, err := rank.Filter(trial.img, s, trial.window, &trial.opt)
	if err != nil {
		t.Fatalf("%v of %v: %v", s, &trial, err)
	}
	for k, v := range want {
		x, y := k%trial.img.Width, k/trial.img.Width
		if g := got.Row(y)[x]; g != v {
			t.Fatalf("%v of %v: %v at (%d, %d), scikit-image has %v", s, &trial, g, x, y, v)
		}
	}
}

// compareFloats compares entropies and histograms.
func compareFloats[P rank.Pixel](t *testing.T, py ref.Script, rng *rand.Rand) {
	t.Helper()
	trial := newTrial[P](rng)
	bins := 1 + rng.IntN(256)
	compare := func(name string, got boxsum.Image[float64], err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s of %v: %v", name, &trial, err)
		}
		trial.ask(t, py, name, bins)
		want := make([]float64, len(got.Pix))
		if err := binary.Read(py.Out, binary.NativeEndian, want); err != nil {
			t.Fatal(name, err)
		}
		for i, v := range got.Pix {
			if !(math.Abs(v-want[i]) <= 1e-12) {
				t.Fatalf("%s of %v: element %d is %v, scikit-image has %v", name, &trial, i, v, want[i])
			}
		}
	}
	got, err := rank.Entropies[float64](trial.img, trial.window, &trial.opt)
	compare("entropy", got, err)
	got, err = rank.Histograms[float64](trial.img, trial.window, bins, &trial.opt)
	compare("windowed_histogram", got, err)
}

// TestChannels tests that each channel is an image of its own, with the same mask or with one of its own.
func TestChannels(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 3))
	plane := func(of boxsum.Image[uint8], c int) boxsum.Image[uint8] {
		one, err := boxsum.NewImage[uint8](of.Width, of.Height, 1)
		if err != nil {
			t.Fatal(err)
		}
		for i := range one.Pix {
			one.Pix[i] = of.Pix[i*of.Channels+c]
		}
		return one
	}
	color, mask := boxsum.Image[uint8]{}, boxsum.Image[uint8]{}
	for _, img := range []*boxsum.Image[uint8]{&color, &mask} {
		var err error
		if *img, err = boxsum.NewImage[uint8](31, 17, 3); err != nil {
			t.Fatal(err)
		}
		for i := range img.Pix {
			img.Pix[i] = uint8(rng.IntN(5) * 60)
		}
	}
	for s := range rank.BilateralMean + 1 {
		for _, m := range []boxsum.Image[uint8]{{}, mask, plane(mask, 1)} {
			opt := &rank.Options{Mask: m, Fraction: 0.3, Below: 100, Above: 50}
			got, err := rank.Filter(color, s, filter.Square(6), opt)
			if err != nil {
				t.Fatal(err)
			}
			for c := range 3 {
				if m.Channels == 3 {
					opt.Mask = plane(m, c)
				}
				want, err := rank.Filter(plane(color, c), s, filter.Square(6), opt)
				if err != nil {
					t.Fatal(err)
				}
				for i, v := range want.Pix {
					if g := got.Pix[i*3+c]; g != v {
						t.Fatalf("%v: channel %d of pixel %d is %d, alone it is %d", s, c, i, g, v)
					}
				}
			}
		}
	}
	h, err := rank.Histograms[float32](color, filter.Square(3), 241, nil)
	if err != nil {
		t.Fatal(err)
	}
	one, err := rank.Histograms[float32](plane(color, 2), filter.Square(3), 241, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range one.Pix {
		if g := h.Pix[i/241*3*241+2*241+i%241]; g != v {
			t.Fatalf("the histogram of channel 2 has %v at %d, alone it has %v", g, i, v)
		}
	}
}

// TestLarge tests windows whose sums do not fit in 32 bits, of an image that all of them hold.
func TestLarge(t *testing.T) {
	img, err := boxsum.NewImage[uint16](300, 250, 1)
	if err != nil {
		t.Fatal(err)
	}
	sum, total := uint16(0), 0
	for i := range img.Pix {
		img.Pix[i] = uint16(65000 + i%500)
		sum += img.Pix[i]
		total += int(img.Pix[i])
	}
	for s, want := range map[rank.Statistic]uint16{rank.Sum: sum, rank.Mean: uint16(total / len(img.Pix)), rank.Minimum: 65000, rank.Gradient: 499} {
		got, err := rank.Filter(img, s, filter.Square(1<<30-1), nil)
		if err != nil {
			t.Fatal(s, err)
		}
		for i, v := range got.Pix {
			if v != want {
				t.Fatalf("%v is %d at %d, want %d", s, v, i, want)
			}
		}
	}
}

func TestEmpty(t *testing.T) {
	for _, size := range []image.Point{{}, {X: 5}, {Y: 5}} {
		img, err := boxsum.NewImage[uint16](size.X, size.Y, 1)
		if err != nil {
			t.Fatal(err)
		}
		done := 0.0
		for s := range rank.BilateralMean + 1 {
			if _, err := rank.Filter(img, s, filter.Square(3), &rank.Options{Progress: func(d float64) { done = d }}); err != nil || done != 1 {
				t.Errorf("%v of an image of %v: %v, progress %v", s, size, err, done)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	img, err := boxsum.NewImage[uint16](9, 7, 1)
	if err != nil {
		t.Fatal(err)
	}
	img.Pix[20] = 500
	mask, _ := boxsum.NewImage[uint8](9, 8, 1)
	other, _ := boxsum.NewImage[uint16](8, 7, 1)
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	w := filter.Square(3)
	for what, err := range map[string]error{
		"empty window":        filtered(img, rank.Minimum, filter.Window{}, nil),
		"huge window":         filtered(img, rank.Minimum, filter.Square(1<<30), nil),
		"shift out of window": filtered(img, rank.Mean, filter.Window{Width: 3, Height: 3, Shift: image.Pt(2, 0)}, nil),
		"statistic":           filtered(img, rank.BilateralMean+1, w, nil),
		"unknown statistic 200, want one of minimum, maximum": filtered(img, 200, w, nil),
		"fraction":             filtered(img, rank.Percentile, w, &rank.Options{Fraction: 1.1}),
		"NaN":                  filtered(img, rank.Percentile, w, &rank.Options{Fraction: math.NaN()}),
		"range":                filtered(img, rank.BilateralMean, w, &rank.Options{Below: -1}),
		"levels":               filtered(img, rank.Equalize, w, &rank.Options{Levels: -1}),
		"too few levels":       filtered(img, rank.Equalize, w, &rank.Options{Levels: 500}),
		"too many levels":      filtered(img, rank.Equalize, w, &rank.Options{Levels: 1<<16 + 1}),
		"footprint":            filtered(img, rank.Equalize, w, &rank.Options{Footprint: make([]uint8, 8)}),
		"mask":                 filtered(img, rank.Equalize, w, &rank.Options{Mask: mask}),
		"canceled":             filtered(img, rank.Equalize, w, &rank.Options{Context: canceled}),
		"workers":              filtered(img, rank.Equalize, w, &rank.Options{Workers: -1}),
		"destination":          rank.FilterInto(other, img, rank.Mean, w, nil),
		"part of memory":       rank.FilterInto(boxsum.Image[uint16]{Pix: img.Pix[1:], Width: 8, Height: 7, Stride: 9}, boxsum.Image[uint16]{Pix: img.Pix, Width: 8, Height: 7, Stride: 9}, rank.Mean, w, nil),
		"short image":          filtered(boxsum.Image[uint16]{Pix: img.Pix, Width: 9, Height: 8}, rank.Mean, w, nil),
		"negative width":       filtered(boxsum.Image[uint16]{Width: -1, Height: 8}, rank.Mean, w, nil),
		"bins":                 histograms(img, 0),
		"too many bins":        histograms(img, 1<<16+1),
		"name":                 parsed("mean-of-all"),
		"name of other result": parsed("entropy"),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	if err := filtered(img, rank.Minimum, filter.Square(0), nil); !errors.Is(err, boxsum.ErrInvalid) {
		t.Errorf("an empty window is %v, want ErrInvalid", err)
	}
	if err := filtered(img, rank.Equalize, w, &rank.Options{Context: canceled}); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled context gives %v", err)
	}
}

func filtered(img boxsum.Image[uint16], s rank.Statistic, w filter.Window, opt *rank.Options) error {
	_, err := rank.Filter(img, s, w, opt)
	return err
}

func histograms(img boxsum.Image[uint16], bins int) error {
	_, err := rank.Histograms[float32](img, filter.Square(3), bins, nil)
	return err
}

func parsed(name string) error {
	_, err := rank.ParseStatistic(name)
	return err
}

func TestNames(t *testing.T) {
	for s := range rank.BilateralMean + 1 {
		if got, err := rank.ParseStatistic(s.String()); got != s || err != nil {
			t.Errorf("%v is read as %v, %v", s, got, err)
		}
	}
}

// TestTiles compares images of several tiles and bands with the portable loops, which count the pixels of one window at a time.
func TestTiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 35))
	img, _ := boxsum.NewImage[uint8](530, 290, 1)
	for i := range img.Pix {
		img.Pix[i] = uint8(i%img.Width/4 + i/img.Stride/7 + rng.IntN(12))
	}
	mask, _ := boxsum.NewImage[uint8](530, 290, 1)
	for i := range mask.Pix {
		mask.Pix[i] = uint8(rng.IntN(3))
	}
	want, _ := boxsum.NewImage[uint8](530, 290, 1)
	got, _ := boxsum.NewImage[uint8](530, 290, 1)
	for _, s := range []rank.Statistic{rank.Gradient, rank.Percentile, rank.Majority, rank.Equalize, rank.Otsu} {
		for i, w := range []filter.Window{filter.Square(15), {Width: 41, Height: 3}, {Width: 5, Height: 60}} {
			opt := rank.Options{Fraction: 0.3, Level: boxsum.Levels()[0]}
			if i == 2 {
				opt.Mask = mask
			}
			if err := rank.FilterInto(want, img, s, w, &opt); err != nil {
				t.Fatal(err)
			}
			for k, level := range boxsum.Levels() {
				opt.Level, opt.Workers = level, 1+2*k
				if err := rank.FilterInto(got, img, s, w, &opt); err != nil || !slices.Equal(got.Pix, want.Pix) {
					t.Errorf("%v of %v at level %v differs, error %v", s, w, level, err)
				}
			}
		}
	}
}
