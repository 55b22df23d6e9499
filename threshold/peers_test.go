package threshold_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/threshold"
)

// doxaOf returns Doxa's result for an image.
func doxaOf(t *testing.T, py ref.Script, img boxsum.Image[uint8], r threshold.Rule) []uint8 {
	t.Helper()
	fmt.Fprintf(py.In, "%v %d %d", r.Method, img.Height, img.Width)
	if w := r.Window.Width; w > 0 && r.Method != threshold.Otsu {
		fmt.Fprintf(py.In, " window=%d", w)
	}
	switch r.Method {
	case threshold.Phansalkar:
		fmt.Fprintf(py.In, " p=%v q=%v k=%v", r.P, r.Q, r.K)
	case threshold.Bradley:
		fmt.Fprintf(py.In, " t=%v", r.T)
	case threshold.Su:
		if r.MinN > 0 {
			fmt.Fprintf(py.In, " minN=%d", r.MinN)
		}
	case threshold.Otsu:
	default:
		fmt.Fprintf(py.In, " k=%v", r.K)
	}
	fmt.Fprintln(py.In)
	if _, err := py.In.Write(img.Pix); err != nil {
		t.Fatal(err)
	}
	out := make([]uint8, img.Width*img.Height)
	if _, err := io.ReadFull(py.Out, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestDoxa compares every decision with Doxa's, at every level.
func TestDoxa(t *testing.T) {
	py := ref.StartDoxa(t, "testdata/doxa.py")
	rng := rand.New(rand.NewPCG(ref.Seed(t, 18), 2))
	levels := boxsum.Levels()
	for i := range ref.Trials(t, 400) {
		img := drawn(rng, side(rng, i, 130), side(rng, i+1, 90), i)
		opt := &threshold.Options{Level: levels[i%len(levels)], Workers: 1 + i%3}
		for _, m := range threshold.Methods() {
			if m == threshold.MeanC || i%4 != int(m)%4 {
				continue
			}
			size := 1 + rng.IntN(80)
			switch {
			case i%17 == 0:
				size = 200 + rng.IntN(400)
			case i%5 == 0 && (m == threshold.Su || m == threshold.Bradley):
				size = 0
			}
			r := ruleFor(rng, m, size)
			if m == threshold.Su && i%3 == 0 { // Doxa ignores MinN without a window
				r.MinN = 1 + rng.IntN(9)
			}
			name := fmt.Sprintf("image %d, %v, %d×%d, window %d, k %v, t %v, level %v", i, m, img.Width, img.Height, size, r.K, r.T, opt.Level)
			got, err := threshold.Binarize(img, r, opt)
			if err != nil {
				t.Fatal(name, err)
			}
			same(t, name, got, doxaOf(t, py, img, r))
		}
	}
}

// side returns a random side length of an image, occasionally one pixel.
func side(rng *rand.Rand, i, most int) int {
	if i%19 == 0 {
		return 1
	}
	return 1 + rng.IntN(most)
}

// TestDoxaLarge tests large images, which are cut into strips and bands.
func TestDoxaLarge(t *testing.T) {
	ref.SkipRace(t)
	py := ref.StartDoxa(t, "testdata/doxa.py")
	rng := rand.New(rand.NewPCG(18, 3))
	for i, m := range threshold.Methods() {
		if m == threshold.MeanC {
			continue
		}
		img := drawn(rng, 900+i, 420, 3*(i%2)+i%2*1)
		if i%3 == 0 {
			img = drawn(rng, 5200+i, 130, 4)
		}
		for _, size := range []int{25, 256, 301, 0} {
			r := threshold.New(m, size)
			got, err := threshold.Binarize(img, r, nil)
			if err != nil {
				t.Fatal(err)
			}
			same(t, fmt.Sprint(m, img.Width, size), got, doxaOf(t, py, img, r))
		}
	}
}

// TestOpenCV compares MeanC with cv2.adaptiveThreshold, and maps with those of scikit-image.
func TestOpenCV(t *testing.T) {
	py := ref.StartPython(t, "testdata/opencv.py")
	rng := rand.New(rand.NewPCG(ref.Seed(t, 18), 4))
	levels := boxsum.Levels()
	for i := range ref.Trials(t, 200) {
		img := drawn(rng, 2+rng.IntN(120), 2+rng.IntN(80), i)
		opt := &threshold.Options{Level: levels[i%len(levels)]}
		r := threshold.New(threshold.MeanC, 3+2*rng.IntN(30))
		r.C = float64(rng.IntN(81)-40) / 4
		name := fmt.Sprintf("image %d, %d×%d, window %d, c %v", i, img.Width, img.Height, r.Window.Width, r.C)
		got, err := threshold.Binarize(img, r, opt)
		if err != nil {
			t.Fatal(name, err)
		}
		fmt.Fprintln(py.In, "adaptive", img.Height, img.Width, r.Window.Width, r.C)
		py.In.Write(img.Pix)
		want := make([]uint8, len(img.Pix))
		if _, err := io.ReadFull(py.Out, want); err != nil {
			t.Fatal(err)
		}
		same(t, "cv2.adaptiveThreshold "+name, got, want)

		m := []threshold.Method{threshold.Sauvola, threshold.Niblack}[i%2]
		// The border of the peer reflects only once.
		r = threshold.New(m, 1+2*rng.IntN(1+min(20, (min(img.Width, img.Height)-1)/2)))
		r.Border, r.K, r.R = filter.Reflect101, 0.2+float64(i%3)/10, 127.5
		fmt.Fprintln(py.In, m, img.Height, img.Width, r.Window.Width, r.K)
		py.In.Write(img.Pix)
		if m == threshold.Niblack {
			r.K = -r.K
		}
		near(t, fmt.Sprintf("skimage.filters.threshold_%v, image %d, %d×%d, window %d", m, i, img.Width, img.Height, r.Window.Width), img, r, opt, py)
	}
}

// near compares a map with the peer's, which is rounded in another order.
func near(t *testing.T, name string, img boxsum.Image[uint8], r threshold.Rule, opt *threshold.Options, py ref.Script) {
	t.Helper()
	want := make([]float64, len(img.Pix))
	if err := binary.Read(py.Out, binary.NativeEndian, want); err != nil {
		t.Fatal(err)
	}
	got, err := threshold.Map[float64](img, r, opt)
	if err != nil {
		t.Fatal(name, err)
	}
	for i, v := range got.Pix {
		if math.Abs(v-want[i]) > 1e-5*math.Abs(want[i])+1e-3 { // the peer's deviation of a flat window is the root of a rounding error
			t.Fatalf("%s: pixel %d is %v, want %v", name, i, v, want[i])
		}
	}
}
