package filter_test

import (
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/internal/ref"
)

var borders = []filter.Border{filter.Reflect101, filter.Reflect, filter.Replicate, filter.Constant, filter.Wrap, filter.Clip}

// index computes Border.Index by its definition, one step at a time.
func index(b filter.Border, i, n int) int {
	for i < 0 || i >= n {
		switch b {
		case filter.Constant, filter.Clip:
			return -1
		case filter.Replicate:
			i = min(max(i, 0), n-1)
		case filter.Wrap:
			if i < 0 {
				i += n
			} else {
				i -= n
			}
		case filter.Reflect:
			if i < 0 {
				i = -1 - i
			} else {
				i = 2*n - 1 - i
			}
		case filter.Reflect101:
			if n == 1 {
				return 0
			}
			if i < 0 {
				i = -i
			} else {
				i = 2*n - 2 - i
			}
		}
	}
	return i
}

// values returns the pixels of a channel in the window of (x, y), by the definition.
func values[P filter.Pixel](dst []float64, img boxsum.Image[P], w filter.Window, opt *filter.Options, x, y, channel int) []float64 {
	left, up := w.Width/2-w.Shift.X, w.Height/2-w.Shift.Y
	dst = dst[:0]
	for j := y - up; j < y-up+w.Height; j++ {
		for i := x - left; i < x-left+w.Width; i++ {
			at, row := index(opt.Border, i, img.Width), index(opt.Border, j, img.Height)
			switch {
			case at >= 0 && row >= 0:
				dst = append(dst, float64(img.Pix[row*img.Stride+at*img.Channels+channel]))
			case opt.Border == filter.Constant:
				dst = append(dst, opt.Value)
			}
		}
	}
	return dst
}

func moments(v []float64) (sum, mean, variance float64) {
	for _, p := range v {
		sum += p
	}
	mean = sum / float64(len(v))
	for _, p := range v {
		variance += (p - mean) * (p - mean)
	}
	return sum, mean, variance / float64(len(v))
}

// random returns an image with a gap after each row.
func random[P filter.Pixel](rng *rand.Rand, width, height, channels int) boxsum.Image[P] {
	stride := width*channels + rng.IntN(3)
	img := boxsum.Image[P]{Pix: make([]P, stride*height), Stride: stride, Width: width, Height: height, Channels: channels}
	flat := rng.IntN(8) == 0
	for i := range img.Pix {
		v := rng.Float64()
		if flat {
			v = 0.999
		}
		switch pix := any(img.Pix).(type) {
		case []uint8:
			pix[i] = uint8(v * 256)
		case []uint16:
			pix[i] = uint16(v * 65536)
		case []float32:
			pix[i] = float32(v*200 - 50)
		case []float64:
			pix[i] = v*200 - 50
		}
	}
	return img
}

func randomWindow(rng *rand.Rand, most int) filter.Window {
	w := filter.Window{Width: 1 + rng.IntN(most), Height: 1 + rng.IntN(most)}
	if rng.IntN(2) == 0 {
		w.Shift = image.Pt(w.Width/2-rng.IntN(w.Width), w.Height/2-rng.IntN(w.Height))
	}
	return w
}

func randomOptions(rng *rand.Rand) *filter.Options {
	opt := &filter.Options{Border: borders[rng.IntN(len(borders))], Workers: 1 + rng.IntN(3)}
	if opt.Border == filter.Constant {
		opt.Value = float64(rng.IntN(256))
	}
	all := boxsum.Levels()
	opt.Level = all[rng.IntN(len(all))]
	return opt
}

// TestDefinition compares every local statistic of every type with its definition.
func TestDefinition(t *testing.T) {
	ref.SkipRace(t)
	t.Run("uint8", testDefinition[uint8])
	t.Run("uint16", testDefinition[uint16])
	t.Run("float32", testDefinition[float32])
	t.Run("float64", testDefinition[float64])
}

func testDefinition[P filter.Pixel](t *testing.T) {
	rng := rand.New(rand.NewPCG(ref.Seed(t, 1), 18))
	integers := P(1)/2 == 0
	var v []float64
	for range ref.Trials(t, 60) {
		img := random[P](rng, 1+rng.IntN(24), 1+rng.IntN(12), 1+rng.IntN(4))
		w, opt := randomWindow(rng, 1+rng.IntN(40)), randomOptions(rng)
		name := fmt.Sprintf("%T %d×%d×%d, window %v, %v %v, %v, %d workers", *new(P), img.Width, img.Height, img.Channels, w, opt.Border, opt.Value, opt.Level, opt.Workers)
		box := must[P](t, name)(filter.Box(img, w, opt))
		sum := must64(t, name)(filter.Sum[float64](img, w, opt))
		mean := must64(t, name)(filter.Mean[float64](img, w, opt))
		mean32 := must32(t, name)(filter.Mean[float32](img, w, opt))
		variance := must64(t, name)(filter.Variance[float64](img, w, opt))
		dev32 := must32(t, name)(filter.StdDev[float32](img, w, opt))
		normal := must64(t, name)(filter.Normalize[float64](img, w, 0.5, opt))
		m, d, err := filter.MeanStdDev[float32](img, w, opt)
		if err != nil {
			t.Fatal(name, err)
		}
		if !slices.Equal(m.Pix, mean32.Pix) || !slices.Equal(d.Pix, dev32.Pix) {
			t.Fatalf("%s: the mean and the deviation at once differ from each alone", name)
		}
		for y := range img.Height {
			for x := range img.Width {
				for c := range img.Channels {
					v = values(v, img, w, opt, x, y, c)
					s, mu, vr := moments(v)
					i := (y*img.Width+x)*img.Channels + c
					at := fmt.Sprintf("%s: (%d, %d) channel %d", name, x, y, c)
					largest := 0.0
					for _, p := range v {
						largest = max(largest, math.Abs(p))
					}
					near := func(what string, got, want, eps float64) {
						t.Helper()
						if !(math.Abs(got-want) <= eps) {
							t.Fatalf("%s: %s %v, want %v", at, what, got, want)
						}
					}
					if integers {
						n := uint64(len(v))
						if want := (uint64(s) + n/2) / n; uint64(box.Pix[i]) != want {
							t.Fatalf("%s: box %v, want %v", at, box.Pix[i], want)
						}
						if sum.Pix[i] != s || mean.Pix[i] != s/float64(n) {
							t.Fatalf("%s: sum %v and mean %v, want %v and %v", at, sum.Pix[i], mean.Pix[i], s, s/float64(n))
						}
						near("variance", variance.Pix[i], vr, 1e-12*largest*largest)
					} else {
						near("box", float64(box.Pix[i]), mu, 1e-4)
						near("sum", sum.Pix[i], s, 1e-8)
						near("mean", mean.Pix[i], mu, 1e-11)
						near("variance", variance.Pix[i], vr, 1e-9)
					}
					near("mean of 32 bits", float64(mean32.Pix[i]), mu, 1e-7*largest)
					near("deviation", float64(dev32.Pix[i]), math.Sqrt(vr), 1e-6*largest+1e-5)
					p := float64(img.Pix[y*img.Stride+x*img.Channels+c])
					near("normal", normal.Pix[i], (p-mu)/max(math.Sqrt(vr), 0.5), 1e-6*(1+math.Abs(normal.Pix[i])))
				}
			}
		}
	}
}

func must[P filter.Pixel](t *testing.T, name string) func(boxsum.Image[P], error) boxsum.Image[P] {
	return func(img boxsum.Image[P], err error) boxsum.Image[P] {
		t.Helper()
		if err != nil {
			t.Fatal(name, err)
		}
		return img
	}
}

func must32(t *testing.T, name string) func(boxsum.Image[float32], error) boxsum.Image[float32] {
	return must[float32](t, name)
}

func must64(t *testing.T, name string) func(boxsum.Image[float64], error) boxsum.Image[float64] {
	return must[float64](t, name)
}
