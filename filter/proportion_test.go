package filter_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
)

// TestOneLargePixel tests that one pixel, however large, does not change windows that do not contain it.
func TestOneLargePixel(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const w, h = 60, 150
	for _, large := range []float64{1e7, 1e9, -1e20, 1e38, math.NaN(), math.Inf(1)} {
		for _, border := range []filter.Border{filter.Clip, filter.Reflect101, filter.Replicate, filter.Constant, filter.Wrap} {
			for _, side := range []int{3, 41, 5, 20, 60} { // in turn, reusing memory
				plain, _ := boxsum.NewImage[float64](w, h, 1)
				for i := range plain.Pix {
					plain.Pix[i] = rng.Float64()
				}
				marked := plain
				marked.Pix = append([]float64(nil), plain.Pix...)
				px, py := rng.IntN(w), rng.IntN(h)
				marked.Pix[py*w+px] = large
				opt := &filter.Options{Border: border}
				win := filter.Square(side)
				mean, dev, err := filter.MeanStdDev[float64](plain, win, opt)
				if err != nil {
					t.Fatal(err)
				}
				mean2, dev2, err := filter.MeanStdDev[float64](marked, win, opt)
				if err != nil {
					t.Fatal(err)
				}
				if box, err := filter.Box(marked, win, opt); err != nil || math.Abs(box.Pix[0]-mean2.Pix[0]) > 1e-9*math.Abs(box.Pix[0]) {
					t.Fatalf("a box of %v, want %v, %v", box.Pix[0], mean2.Pix[0], err)
				}
				for y := range h {
					for x := range w {
						if has(x, px, side, w, border) && has(y, py, side, h, border) {
							continue
						}
						i := y*w + x
						if math.Abs(mean.Pix[i]-mean2.Pix[i]) > 1e-6 || math.Abs(dev.Pix[i]-dev2.Pix[i]) > 1e-6 {
							t.Fatalf("%v at %d,%d, %v, windows of %d: at %d,%d mean %v and deviation %v, want %v and %v",
								large, px, py, border, side, x, y, mean2.Pix[i], dev2.Pix[i], mean.Pix[i], dev.Pix[i])
						}
					}
				}
			}
		}
	}
}

// has reports whether the window of x contains pixel p, directly or through the border.
func has(x, p, side, n int, border filter.Border) bool {
	for j := x - side/2; j < x-side/2+side; j++ {
		k := j
		switch border {
		case filter.Clip, filter.Constant:
		case filter.Replicate:
			k = min(max(j, 0), n-1)
		case filter.Wrap:
			k = ((j % n) + n) % n
		default:
			if k < 0 {
				k = -k
			}
			if k >= n {
				k = 2*n - 2 - k
			}
		}
		if k == p {
			return true
		}
	}
	return false
}

// TestTwoLevels tests that deviations are those of the window's pixels, however far from the rest of the image they are.
func TestTwoLevels(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const w, h, side = 50, 40, 7
	for _, step := range []float64{1, 1e4, 1e6, 1e7, 1e8, 1e12} {
		img, _ := boxsum.NewImage[float64](w, h, 1)
		for i := range img.Pix {
			img.Pix[i] = rng.NormFloat64()
			if i%w >= w/2 {
				img.Pix[i] += step
			}
			if i%w >= w-12 {
				img.Pix[i] = step // flat
			}
		}
		got, err := filter.StdDev[float64](img, filter.Square(side), &filter.Options{Border: filter.Clip})
		if err != nil {
			t.Fatal(err)
		}
		for y := range h {
			for x := range w {
				var values []float64
				for j := max(0, y-side/2); j <= min(h-1, y+side/2); j++ {
					values = append(values, img.Pix[j*w+max(0, x-side/2):j*w+min(w, x+side/2+1)]...)
				}
				mean, sum := 0.0, 0.0
				for _, v := range values {
					mean += (v - values[0]) / float64(len(values))
				}
				for _, v := range values {
					sum += (v - values[0] - mean) * (v - values[0] - mean)
				}
				want := math.Sqrt(sum / float64(len(values)))
				if v := got.Pix[y*w+x]; math.Abs(v-want) > 1e-4*want {
					t.Fatalf("a step of %g: at %d,%d the deviation is %v, want %v", step, x, y, v, want)
				}
			}
		}
	}
}

// TestOneLargePixelPasses is like TestOneLargePixel for filters of several passes and the best windows.
func TestOneLargePixelPasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	const w, h, px, py = 90, 200, 40, 100
	plain, _ := boxsum.NewImage[float32](w, h, 1)
	for i := range plain.Pix {
		plain.Pix[i] = rng.Float32()
	}
	marked := plain
	marked.Pix = append([]float32(nil), plain.Pix...)
	marked.Pix[py*w+px] = -math.MaxFloat32 // a marker for missing data
	for name, f := range map[string]func(img boxsum.Image[float32]) (boxsum.Image[float32], error){
		"Gaussian": func(img boxsum.Image[float32]) (boxsum.Image[float32], error) {
			return filter.Gaussian(img, filter.Sigma{X: 3, Y: 3}, nil)
		},
		"Guided": func(img boxsum.Image[float32]) (boxsum.Image[float32], error) {
			return filter.Guided(img, img, filter.Radius(4), 0.01, nil)
		},
		"Normalize": func(img boxsum.Image[float32]) (boxsum.Image[float32], error) {
			return filter.Normalize[float32](img, filter.Radius(4), 0, nil)
		},
	} {
		want, err := f(plain)
		if err != nil {
			t.Fatal(name, err)
		}
		got, err := f(marked)
		if err != nil {
			t.Fatal(name, err)
		}
		for y := range h {
			for x := range w {
				if max(x-px, px-x, y-py, py-y) <= 12 {
					continue
				}
				if a, b := float64(got.Pix[y*w+x]), float64(want.Pix[y*w+x]); !(math.Abs(a-b) < 1e-4) {
					t.Fatalf("%s at %d,%d: %v, want %v", name, x, y, a, b)
				}
			}
		}
	}
	brightest, err := filter.Brightest(plain, 5, 5, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := filter.Brightest(marked, 5, 5, 1, nil)
	if err != nil || again[0] != brightest[0] {
		t.Errorf("%v, want %v, %v", again, brightest, err)
	}
}

// TestNoData tests that means beside and below missing data are accurate, in whatever pattern it appears.
func TestNoData(t *testing.T) {
	const w, h, none = 40, 150, -3.4e38
	for name, draw := range map[string]func(x, y int) float64{
		"rows at the start of a block": func(x, y int) float64 {
			if y >= 60 && y <= 66 {
				return none
			}
			return 5
		},
		"the first row": func(x, y int) float64 {
			if y == 0 {
				return none
			}
			return float64(x%7) / 7
		},
		"after a margin of zeros": func(x, y int) float64 {
			switch {
			case y < 80:
				return 0
			case y == 80 && x == 10:
				return 1e20
			}
			return 1
		},
		"alone among zeros": func(x, y int) float64 {
			switch {
			case y == 64 && x == 10:
				return 1e20
			case y < 67:
				return 0
			}
			return 1
		},
		"beside zero columns": func(x, y int) float64 {
			switch {
			case x < 8:
				return 0
			case y == 70 && x == 20:
				return 1e20
			}
			return float64((x*y)%11) / 11
		},
	} {
		img, _ := boxsum.NewImage[float64](w, h, 1)
		for i := range img.Pix {
			img.Pix[i] = draw(i%w, i/w)
		}
		for _, side := range []int{3, 17} {
			mean, dev, err := filter.MeanStdDev[float64](img, filter.Square(side), &filter.Options{Border: filter.Clip})
			if err != nil {
				t.Fatal(err)
			}
			box, err := filter.Box(img, filter.Square(side), &filter.Options{Border: filter.Clip})
			if err != nil {
				t.Fatal(err)
			}
			for y := range h {
				for x := range w {
					var sum, size, n float64
					for j := max(0, y-side/2); j <= min(h-1, y+side/2); j++ {
						for _, v := range img.Row(j)[max(0, x-side/2):min(w, x+side/2+1)] {
							sum, size, n = sum+v, size+math.Abs(v), n+1
						}
					}
					i := y*w + x
					if a, b := math.Abs(mean.Pix[i]-sum/n), math.Abs(box.Pix[i]-sum/n); !(a <= 1e-7*size/n && b <= 1e-7*size/n) {
						t.Fatalf("%s, windows of %d: at %d,%d means of %v and %v, want %v", name, side, x, y, mean.Pix[i], box.Pix[i], sum/n)
					}
					if size/n < 10 && !(dev.Pix[i] <= 10) {
						t.Fatalf("%s, windows of %d: at %d,%d a deviation of %v", name, side, x, y, dev.Pix[i])
					}
				}
			}
		}
	}
}

// TestHighWindows tests that the highest possible window takes no longer, and that a stream with a window of one pixel
// returns the pixels.
func TestHighWindows(t *testing.T) {
	img, _ := boxsum.NewImage[float64](5, 9, 1)
	for i := range img.Pix {
		img.Pix[i] = 1000 + float64(i%5)
	}
	for _, border := range []filter.Border{filter.Replicate, filter.Constant, filter.Reflect} {
		if _, err := filter.StdDev[float64](img, filter.Window{Width: 1, Height: 1<<20 - 1}, &filter.Options{Border: border}); err != nil {
			t.Fatal(err)
		}
	}
	s, err := filter.NewBoxStream[float64](5, 1, filter.Square(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range [][]float64{{1000, 1000, 1000, 1000, 1000}, {0.1, 1e-30, 3, 4, 5}} {
		got, err := s.Push(row)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range got {
			if v != row[i] {
				t.Errorf("%v became %v", row[i], v)
			}
		}
	}
}
