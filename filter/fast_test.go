package filter_test

import (
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/internal/ref"
)

// TestMedianVectors tests medians of images wide enough for the kernels that sort vectors.
func TestMedianVectors(t *testing.T) {
	rng := rand.New(rand.NewPCG(ref.Seed(t, 9), 18))
	for range ref.Trials(t, 10) {
		testMedianVectors[uint8](t, rng)
		testMedianVectors[uint16](t, rng)
		testMedianVectors[float32](t, rng)
	}
}

func testMedianVectors[P filter.Pixel](t *testing.T, rng *rand.Rand) {
	t.Helper()
	img := random[P](rng, 64+rng.IntN(100), 1+rng.IntN(12), 1+rng.IntN(4))
	w, opt := filter.Square(3+2*rng.IntN(2)), randomOptions(rng)
	if rng.IntN(3) == 0 {
		w.Shift = image.Pt(1-rng.IntN(3), 1-rng.IntN(3))
	}
	name := fmt.Sprintf("%T %d×%d×%d %v %v %v", *new(P), img.Width, img.Height, img.Channels, w, opt.Border, opt.Level)
	got := must[P](t, name)(filter.Median(img, w, opt))
	var v []float64
	for y := range img.Height {
		for x := range img.Width {
			for c := range img.Channels {
				v = values(v, img, w, opt, x, y, c)
				slices.Sort(v)
				if m, have := v[(len(v)-1)/2], float64(got.Pix[(y*img.Width+x)*img.Channels+c]); have != m {
					t.Fatalf("%s: median of (%d, %d) is %v, want %v", name, x, y, have, m)
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

// TestMedianLarge compares medians in larger windows, of images of several tiles, with sorted pixels.
func TestMedianLarge(t *testing.T) {
	rng := rand.New(rand.NewPCG(ref.Seed(t, 11), 18))
	for range ref.Trials(t, 15) {
		testMedianLarge[uint8](t, rng)
		testMedianLarge[uint8](t, rng)
		testMedianLarge[uint16](t, rng)
		testMedianLarge[float32](t, rng)
	}
}

func testMedianLarge[P filter.Pixel](t *testing.T, rng *rand.Rand) {
	t.Helper()
	img := random[P](rng, 1+rng.IntN(700), 1+rng.IntN(160), 1+rng.IntN(3))
	w, opt := randomWindow(rng, 60), randomOptions(rng)
	opt.Workers, opt.Value = 1+rng.IntN(3), float64(rng.IntN(256))
	if rng.IntN(4) == 0 { // few values
		for i := range img.Pix {
			img.Pix[i] = P(int(img.Pix[i]) >> 7 * 200)
		}
	}
	name := fmt.Sprintf("%T %d×%d×%d %v %v %v", *new(P), img.Width, img.Height, img.Channels, w, opt.Border, opt.Level)
	got := must[P](t, name)(filter.Median(img, w, opt))
	var v []float64
	for range 300 {
		x, y, c := rng.IntN(img.Width), rng.IntN(img.Height), rng.IntN(img.Channels)
		v = values(v, img, w, opt, x, y, c)
		slices.Sort(v)
		if m, have := v[(len(v)-1)/2], float64(got.Pix[y*got.Stride+x*img.Channels+c]); have != m {
			t.Fatalf("%s: median of (%d, %d) is %v, want %v", name, x, y, have, m)
		}
	}
	over := img
	over.Pix = slices.Clone(img.Pix)
	if err := filter.MedianInto(over, over, w, opt); err != nil {
		t.Fatal(err)
	}
	same(t, name+" in place", over, got)
}

// Medians of floats have the same bits at every level, whatever does them: the pixel in the middle
// of an order in which -0 comes before 0, or NaN.
func TestMedianBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(ref.Seed(t, 10), 18))
	for range ref.Trials(t, 30) {
		testMedianBits(t, rng, math.Float32bits)
		testMedianBits(t, rng, math.Float64bits)
	}
}

func testMedianBits[P float32 | float64, B uint32 | uint64](t *testing.T, rng *rand.Rand, bits func(P) B) {
	t.Helper()
	img := random[P](rng, 1+rng.IntN(220), 1+rng.IntN(130), 1+rng.IntN(3))
	wide := rng.IntN(5) == 0 // windows too wide to sort their pixels
	if wide {
		img = random[P](rng, 1+rng.IntN(20), 1+rng.IntN(10), 1+rng.IntN(3))
	}
	some := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), 1, -1, math.NaN(), math.Copysign(math.NaN(), -1)}
	nans := rng.IntN(3) // none, few or many
	for i := range img.Pix {
		if rng.IntN(2) == 0 {
			img.Pix[i] = P(some[rng.IntN(6)])
		}
		if nans > 0 && rng.IntN([]int{0, 2000, 20}[nans]) == 0 {
			img.Pix[i] = P(some[6+rng.IntN(2)])
		}
	}
	w, opt := filter.Square(3+2*rng.IntN(2)), randomOptions(rng)
	if rng.IntN(2) == 0 {
		w = randomWindow(rng, 9)
	}
	if wide {
		w.Width += 400
	}
	opt.Value = some[[]int{0, 1, 4, 5}[rng.IntN(4)]]
	order := func(a, b P) int {
		switch {
		case a < b:
			return -1
		case a > b:
			return 1
		}
		return int(bits(b)>>(unsafe.Sizeof(a)*8-1)) - int(bits(a)>>(unsafe.Sizeof(a)*8-1)) // of zeros
	}
	for _, level := range boxsum.Levels() {
		opt.Level, opt.Workers = level, 1+rng.IntN(2)
		name := fmt.Sprintf("%T %d×%d×%d %v %v %v", *new(P), img.Width, img.Height, img.Channels, w, opt.Border, opt.Level)
		got := must[P](t, name)(filter.Median(img, w, opt))
		var v []float64
		var pixels []P
		for i, have := range got.Pix {
			if i%7 > 0 && min(i, len(got.Pix)-i) > 200 { // a part of large images
				continue
			}
			x, y := i/img.Channels%img.Width, i/img.Channels/img.Width
			v = values(v, img, w, opt, x, y, i%img.Channels)
			want := P(math.NaN())
			if !slices.ContainsFunc(v, math.IsNaN) {
				pixels = pixels[:0]
				for _, p := range v {
					pixels = append(pixels, P(p))
				}
				slices.SortFunc(pixels, order)
				want = pixels[(len(pixels)-1)/2]
			}
			if bits(have) != bits(want) {
				t.Fatalf("%s: median of (%d, %d) is %v (%#x), want %v (%#x)", name, x, y, have, bits(have), want, bits(want))
			}
		}
	}
}

// TestMedianEdges tests images with a single NaN or -0 near their left or right edge, where other
// code looks for them than inside the image.
func TestMedianEdges(t *testing.T) {
	rng := rand.New(rand.NewPCG(ref.Seed(t, 12), 18))
	for range ref.Trials(t, 20) {
		testMedianEdges[float32](t, rng)
		testMedianEdges[float64](t, rng)
	}
}

func testMedianEdges[P float32 | float64](t *testing.T, rng *rand.Rand) {
	t.Helper()
	img := random[P](rng, 60+rng.IntN(100), 1+rng.IntN(70), 1+rng.IntN(3))
	for i := range img.Pix {
		img.Pix[i] = P(rng.IntN(3))
	}
	special := []float64{math.NaN(), math.Copysign(0, -1)}[rng.IntN(2)]
	side, row := rng.IntN(2*img.Channels), rng.IntN(img.Height)
	if rng.IntN(2) == 0 {
		side = img.Width*img.Channels - 1 - side
	}
	img.Pix[row*img.Stride+side] = P(special)
	w, opt := filter.Square(3+2*rng.IntN(2)), randomOptions(rng)
	opt.Level = boxsum.Levels()[0]
	name := fmt.Sprintf("%T %d×%d×%d, %v at element %d of row %d, %v %v", *new(P), img.Width, img.Height, img.Channels, special, side, row, w, opt.Border)
	want := must[P](t, name)(filter.Median(img, w, opt))
	for _, level := range boxsum.Levels()[1:] {
		opt.Level = level
		got := must[P](t, name)(filter.Median(img, w, opt))
		for i := range want.Pix {
			if !ref.Same(got.Pix[i], want.Pix[i]) {
				t.Fatalf("%s %v: element %d of row %d is %v, want %v", name, level, i%want.Stride, i/want.Stride, got.Pix[i], want.Pix[i])
			}
		}
	}
}

// TestBoxBytes tests means of bytes with the method for small images, and with those for larger ones, of
// which that for 3×3 pixels computes no column sums.
func TestBoxBytes(t *testing.T) {
	rng := rand.New(rand.NewPCG(ref.Seed(t, 3), 18))
	for i := range ref.Trials(t, 40) {
		img := random[uint8](rng, 60+rng.IntN(150), 1+rng.IntN(140), 1)
		if i%2 == 0 {
			img = random[uint8](rng, 400+rng.IntN(150), 100+rng.IntN(70), 1+rng.IntN(4))
		}
		w, opt := filter.Square(3), randomOptions(rng)
		if rng.IntN(2) == 0 {
			w = randomWindow(rng, 40)
		}
		opt.Workers = 1 + rng.IntN(3)
		name := fmt.Sprintf("%d×%d×%d, window %v, %v %v", img.Width, img.Height, img.Channels, w, opt.Border, opt.Level)
		got := must[uint8](t, name)(filter.Box(img, w, opt))
		var v []float64
		check := func(x, y, c int) {
			v = values(v, img, w, opt, x, y, c)
			sum := 0
			for _, p := range v {
				sum += int(p)
			}
			if want := (sum + len(v)/2) / len(v); int(got.Pix[(y*img.Width+x)*img.Channels+c]) != want {
				t.Fatalf("%s: mean of (%d, %d), channel %d is %d, want %d", name, x, y, c, got.Pix[(y*img.Width+x)*img.Channels+c], want)
			}
		}
		for range 500 {
			check(rng.IntN(img.Width), rng.IntN(img.Height), rng.IntN(img.Channels))
		}
		for y := range img.Height {
			check(0, y, 0)
			check(img.Width-1, y, img.Channels-1)
		}
		for x := range img.Width {
			check(x, 0, 0)
			check(x, img.Height-1, img.Channels-1)
		}
		over := img
		over.Pix = slices.Clone(img.Pix)
		if err := filter.BoxInto(over, over, w, opt); err != nil {
			t.Fatal(err)
		}
		same(t, name+" in place", over, got)
	}
}

// TestGuidedBytes tests that the integer guided filter is within 1/512 of that in float64, before both are rounded, and
// gives the same bits at every level and number of workers.
func TestGuidedBytes(t *testing.T) {
	rng := rand.New(rand.NewPCG(ref.Seed(t, 10), 18))
	worst := 0.0
	for i := range ref.Trials(t, 16) {
		img := random[uint8](rng, 1+rng.IntN(150), 1+rng.IntN(90), 1)
		if i == 0 { // wide enough for strips
			img = random[uint8](rng, 5000, 70, 1)
		}
		guide := img
		if i%2 == 0 {
			guide = random[uint8](rng, img.Width, img.Height, 1)
		}
		w := randomWindow(rng, 1+rng.IntN(45))
		epsilon := math.Exp(rng.Float64() * 9)
		border := borders[rng.IntN(3)]
		name := fmt.Sprintf("%d×%d %v, epsilon %.1f, %v, own guide %v", img.Width, img.Height, w, epsilon, border, i%2 == 1)
		opt := &filter.Options{Border: border, Workers: 1}
		got := must[uint8](t, name)(filter.Guided(img, guide, w, epsilon, opt))
		want := must64(t, name)(filter.Guided(floats(img), floats(guide), w, epsilon, opt))
		for k, v := range want.Pix {
			d := math.Abs(float64(got.Pix[k])-min(max(v, 0), 255)) - 0.5
			if worst = max(worst, d); d > 1.0/512 {
				t.Fatalf("%s: pixel %d is %d, want %v", name, k, got.Pix[k], v)
			}
		}
		for _, opt.Level = range boxsum.Levels() {
			for opt.Workers = 1; opt.Workers < 4; opt.Workers++ {
				same(t, fmt.Sprint(name, opt.Level, opt.Workers), must[uint8](t, name)(filter.Guided(img, guide, w, epsilon, opt)), got)
			}
		}
		over := copyOf(img)
		if i%2 == 1 {
			guide = over
		}
		if err := filter.GuidedInto(over, over, guide, w, epsilon, opt); err != nil {
			t.Fatal(err)
		}
		same(t, name+" in place", over, got)
	}
	t.Logf("at most %.6f off", worst)
}

// floats converts an image to float64.
func floats(img boxsum.Image[uint8]) boxsum.Image[float64] {
	to := boxsum.Image[float64]{Pix: make([]float64, img.Width*img.Height), Width: img.Width, Height: img.Height, Channels: 1, Stride: img.Width}
	for y := range img.Height {
		for x, v := range img.Row(y) {
			to.Pix[y*to.Stride+x] = float64(v)
		}
	}
	return to
}

// copyOf returns a copy of an image without gaps between rows.
func copyOf(img boxsum.Image[uint8]) boxsum.Image[uint8] {
	to := img
	to.Pix, to.Stride = nil, img.Width
	for y := range img.Height {
		to.Pix = append(to.Pix, img.Row(y)...)
	}
	return to
}

// TestTallWindows tests windows of bytes whose column sums take all of 16 bits, and sizes around those.
func TestTallWindows(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 18))
	img := random[uint8](rng, 90, 300, 1)
	for i := range img.Pix {
		img.Pix[i] |= 0xf0
	}
	var v []float64
	for _, height := range []int{128, 129, 200, 256, 257, 258, 300} {
		for _, level := range boxsum.Levels() {
			w, opt := filter.Window{Width: 40, Height: height}, &filter.Options{Level: level}
			got := must[uint8](t, "")(filter.Box(img, w, opt))
			for range 200 {
				x, y := rng.IntN(img.Width), rng.IntN(img.Height)
				v = values(v, img, w, opt, x, y, 0)
				s, _, _ := moments(v)
				n := uint64(len(v))
				if want := (uint64(s) + n/2) / n; uint64(got.Pix[y*got.Stride+x]) != want {
					t.Fatalf("%v at %v: (%d, %d) is %d, want %d", w, level, x, y, got.Pix[y*got.Stride+x], want)
				}
			}
		}
	}
}
