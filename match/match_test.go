package match_test

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/match"
)

// score computes a score by its definition, in float64.
func score[P match.Pixel](img, template boxsum.Image[P], mask boxsum.Image[uint8], m match.Method, x, y int) float64 {
	c := max(1, template.Channels)
	var both, energy, energyT float64
	for ch := range c {
		var a, b []float64
		for j := range template.Height {
			for i := range template.Width {
				if mask.Pix == nil || mask.Row(j)[i] != 0 {
					a = append(a, float64(img.Row(y + j)[(x+i)*c+ch]))
					b = append(b, float64(template.Row(j)[i*c+ch]))
				}
			}
		}
		flat := true
		for _, v := range a {
			flat = flat && v == a[0]
		}
		if m == match.ZNCC {
			less(a)
			less(b)
			if flat {
				clear(a)
			}
		}
		for i := range a {
			if m == match.SSD {
				energy += (a[i] - b[i]) * (a[i] - b[i])
				continue
			}
			both += a[i] * b[i]
			energy += a[i] * a[i]
			energyT += b[i] * b[i]
		}
	}
	if m == match.SSD {
		return energy
	}
	if energy == 0 {
		return 0
	}
	return both / math.Sqrt(energy) / math.Sqrt(energyT)
}

// less subtracts the mean.
func less(v []float64) {
	sum := 0.0
	for _, x := range v {
		sum += x - v[0]
	}
	mean := v[0] + sum/float64(len(v))
	for i := range v {
		v[i] -= mean
	}
}

// picture returns an image of a kind: noise, noise in parts of it, hills, or two levels.
func picture[P match.Pixel](rng *rand.Rand, width, height, channels, kind int) boxsum.Image[P] {
	stride := width*channels + rng.IntN(5)
	img := boxsum.Image[P]{Pix: make([]P, stride*height+7), Width: width, Height: height, Channels: channels, Stride: stride}
	scale, offset := 1.0, 0.0
	switch any(*new(P)).(type) {
	case uint16:
		scale = 257
	case float32, float64:
		scale, offset = math.Exp(rng.NormFloat64()*3), rng.NormFloat64()*100
	}
	for y := range height {
		for x := range width * channels {
			var v float64
			switch kind {
			case 0:
				v = float64(rng.IntN(256))
			case 1: // mostly flat
				v = 100
				if (x/channels/9+y/7)%3 == 0 {
					v = float64(rng.IntN(256))
				} else if rng.IntN(40) == 0 {
					v = 101
				}
			case 2:
				v = math.Round(127 + 100*math.Sin(float64(x)/17)*math.Cos(float64(y)/11) + float64(rng.IntN(5)))
			case 3:
				v = float64(rng.IntN(2) * 255)
			case 4:
				v = 255 - float64(rng.IntN(2))
			}
			img.Pix[y*stride+x] = P(offset + v*scale)
		}
	}
	return img
}

// check compares all scores with their definition.
func check[P match.Pixel](t *testing.T, what string, img, template boxsum.Image[P], m match.Method, opt *match.Options, every int) {
	t.Helper()
	scores, err := match.Match(img, template, m, opt)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if scores.Width != img.Width-template.Width+1 || scores.Height != img.Height-template.Height+1 {
		t.Fatalf("%s: %d×%d scores", what, scores.Width, scores.Height)
	}
	worst := 0.0
	for at := 0; at < scores.Width*scores.Height; at += every {
		x, y := at%scores.Width, at/scores.Width
		got, want := float64(scores.Row(y)[x]), score(img, template, opt.Mask, m, x, y)
		off := math.Abs(got - want)
		if m == match.SSD {
			off /= max(want, 1e-30)
			if want == 0 {
				off = got
			}
		} else if got < -1 || got > 1 {
			t.Fatalf("%s: %v at (%d, %d)", what, got, x, y)
		}
		if math.IsNaN(want) != math.IsNaN(got) || off > 1e-5 {
			t.Fatalf("%s: %v at (%d, %d), want %v", what, got, x, y, want)
		}
		worst = max(worst, off)
	}
	t.Logf("%s: off by %.1e", what, worst)
}

func TestDefinition(t *testing.T) {
	ref.SkipRace(t)
	t.Run("uint8", definition[uint8])
	t.Run("uint16", definition[uint16])
	t.Run("float32", definition[float32])
	t.Run("float64", definition[float64])
}

func definition[P match.Pixel](t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	n := 60
	if testing.Short() || ref.Race {
		n = 15
	}
	for i := range n {
		m := match.Method(i % 3)
		c := 1 + i/3%4
		if rng.IntN(2) == 0 {
			c = 1
		}
		w, h := 1+rng.IntN(24), 1+rng.IntN(24)
		if w*h*c == 1 {
			w = 2
		}
		img := picture[P](rng, w+rng.IntN(90), h+rng.IntN(70), c, i%5)
		template := picture[P](rng, w, h, c, rng.IntN(3))
		if rng.IntN(2) == 0 { // one of the image itself
			x, y := rng.IntN(img.Width-w+1), rng.IntN(img.Height-h+1)
			template = part(img, x, y, w, h)
		}
		opt := &match.Options{Workers: 1 + rng.IntN(3)}
		if i%2 == 1 {
			opt.Mask = boxsum.Image[uint8]{Pix: make([]uint8, w*h), Width: w, Height: h}
			for k := range opt.Mask.Pix {
				opt.Mask.Pix[k] = uint8(rng.IntN(3))
			}
			opt.Mask.Pix[rng.IntN(w*h)] = 1
		}
		if _, err := match.Match(template, template, m, opt); err != nil {
			if !errors.Is(err, boxsum.ErrInvalid) || m == match.SSD {
				t.Error(err)
			}
			continue // flat
		}
		check(t, fmt.Sprintf("%d: %v, %d×%d×%d in %d×%d, mask %t", i, m, w, h, c, img.Width, img.Height, i%2 == 1), img, template, m, opt, 1+img.Width*img.Height*w*h/100_000)
	}
}

func part[P match.Pixel](img boxsum.Image[P], x, y, w, h int) boxsum.Image[P] {
	img.Pix = img.Pix[y*img.Stride+x*img.Channels:]
	img.Width, img.Height = w, h
	return img
}

// TestLarge tests large templates, and windows of very low contrast next to high contrast.
func TestLarge(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	img := picture[uint8](rng, 500, 400, 1, 1)
	for _, size := range []image.Point{{32, 32}, {128, 128}, {300, 40}, {5, 200}} {
		for m := match.ZNCC; m <= match.SSD; m++ {
			for kind := range 4 {
				if testing.Short() && kind != (size.X+int(m))%4 {
					continue
				}
				check(t, fmt.Sprintf("%v %v %d", size, m, kind), img, picture[uint8](rng, size.X, size.Y, 1, kind), m, &match.Options{}, 5003)
			}
		}
	}
}

// TestSame tests that scores are bit-identical at every level and with any number of workers, and that nothing is
// written between rows.
func TestSame(t *testing.T) {
	t.Run("uint8", same[uint8])
	t.Run("uint16", same[uint16])
	t.Run("float32", same[float32])
	t.Run("float64", same[float64])
}

func same[P match.Pixel](t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for i, size := range []image.Point{{3, 2}, {8, 8}, {13, 16}, {32, 31}, {70, 40}, {1, 3}, {16, 15}, {5, 9}, {7, 7}, {40, 17}} {
		for m := match.ZNCC; m <= match.SSD; m++ {
			if testing.Short() && (i+int(m))%3 != 0 {
				continue
			}
			c := 1 + i%3
			img := picture[P](rng, 191, 150, c, (i+int(m))%3)
			template := picture[P](rng, size.X, size.Y, c, 0)
			var mask boxsum.Image[uint8]
			if i%2 == 1 {
				mask = boxsum.Image[uint8]{Pix: make([]uint8, size.X*size.Y), Width: size.X, Height: size.Y}
				for k := range mask.Pix {
					mask.Pix[k] = uint8(k % 3)
				}
			}
			var want boxsum.Image[float32]
			for _, level := range boxsum.Levels() {
				for _, workers := range []int{1, 2, 5} {
					w, h := 192-size.X, 151-size.Y
					got := boxsum.Image[float32]{Pix: make([]float32, (w+3)*h), Width: w, Height: h, Stride: w + 3}
					for k := range got.Pix {
						got.Pix[k] = 77
					}
					if err := match.MatchInto(got, img, template, m, &match.Options{Level: level, Workers: workers, Mask: mask}); err != nil {
						t.Fatal(err)
					}
					for k, v := range got.Pix {
						if k%(w+3) >= w && v != 77 {
							t.Fatalf("%v of %v: wrote between rows", m, size)
						}
						if want.Pix != nil && math.Float32bits(v) != math.Float32bits(want.Pix[k]) {
							t.Fatalf("%v of %v at level %v with %d workers: %v at %d, want %v", m, size, level, workers, v, k, want.Pix[k])
						}
					}
					if want.Pix == nil {
						want = got
					}
				}
			}
		}
	}
}

// TestAgain tests bytes in which some windows have very low contrast next to high contrast. Float32 transforms are not
// accurate enough for them, and they are recomputed in integers.
func TestAgain(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	img := picture[uint8](rng, 300, 211, 1, 0)
	for y := range img.Height {
		for x, row := 0, img.Row(y); x < img.Width; x++ {
			if x+y > 150 { // a smooth part
				row[x] = uint8((x + y) / 9)
				if rng.IntN(300) == 0 {
					row[x]++
				}
			}
		}
	}
	for _, size := range []image.Point{{20, 20}, {33, 31}, {64, 17}, {100, 90}} {
		if testing.Short() && size.Y > 20 {
			continue
		}
		for m := match.ZNCC; m <= match.NCC; m++ {
			img := img
			if size.X > 64 { // large templates take long to recompute
				img = part(img, 0, 0, 200, 150)
			}
			template := part(img, 5, 3, size.X, size.Y)
			check(t, fmt.Sprint(size, m), img, template, m, &match.Options{}, 17)
			var want boxsum.Image[float32]
			for _, level := range boxsum.Levels() {
				got, err := match.Match(img, template, m, &match.Options{Level: level, Workers: 3})
				if err != nil {
					t.Fatal(err)
				}
				if want.Pix == nil {
					want = got
				}
				for k, v := range got.Pix {
					if v != want.Pix[k] {
						t.Fatalf("%v of %v at level %v: %v at %d, want %v", m, size, level, v, k, want.Pix[k])
					}
				}
			}
		}
	}
}

// FuzzMatch compares some scores of bytes with their definition, for templates of any size.
func FuzzMatch(f *testing.F) {
	f.Add([]byte("a template in an image, and some more of it"), uint8(7), uint8(3), uint8(2), uint8(0))
	f.Add([]byte{0, 0, 0, 0, 255, 255, 0, 0, 0, 1, 0, 0}, uint8(70), uint8(31), uint8(9), uint8(1))
	f.Fuzz(func(t *testing.T, pix []byte, width, w, h, method uint8) {
		if len(pix) == 0 {
			return
		}
		img := boxsum.Image[uint8]{Width: 1 + int(width), Height: 90}
		for len(img.Pix) < img.Width*img.Height { // repeat the bytes
			img.Pix = append(img.Pix, pix...)
		}
		x, y := int(pix[0])%img.Width, int(pix[len(pix)-1])%img.Height
		template := boxsum.Image[uint8]{Pix: img.Pix[y*img.Width+x:], Width: int(w), Height: int(h), Stride: img.Width}
		m := match.Method(method % 3)
		scores, err := match.Match(img, template, m, &match.Options{Workers: 2})
		if err != nil {
			if !errors.Is(err, boxsum.ErrInvalid) {
				t.Fatal(err)
			}
			return
		}
		for k := 0; k < len(scores.Pix); k += 1 + len(scores.Pix)/7 {
			x, y := k%scores.Width, k/scores.Width
			want := score(img, template, boxsum.Image[uint8]{}, m, x, y)
			if got := float64(scores.Pix[k]); math.Abs(got-want) > 1e-5*max(1, want) || m != match.SSD && math.Abs(got) > 1 {
				t.Fatalf("%v of %d×%d in %d×%d: %v at (%d, %d), want %v", m, w, h, img.Width, img.Height, got, x, y, want)
			}
		}
	})
}

// TestAllocates tests that the second call does not allocate.
func TestAllocates(t *testing.T) {
	runtime.GC() // empty pools that other tests filled with other types
	runtime.GC()
	rng := rand.New(rand.NewPCG(7, 8))
	img := picture[uint8](rng, 150, 100, 1, 0)
	for m := match.ZNCC; m <= match.SSD; m++ {
		for _, size := range []int{8, 40} {
			template := picture[uint8](rng, size, size, 1, 0)
			scores, err := match.Match(img, template, m, nil)
			if err != nil {
				t.Fatal(err)
			}
			mask := boxsum.Image[uint8]{Pix: make([]uint8, size*size), Width: size, Height: size}
			mask.Pix[1], mask.Pix[2] = 1, 1
			for _, opt := range []*match.Options{nil, {Workers: 1}, {Mask: mask}} {
				ref.AllocatesNothing(t, fmt.Sprintf("%v of %d", m, size), func() error { return match.MatchInto(scores, img, template, m, opt) })
			}
		}
	}
}

// TestNotFinite tests that pixels that are not finite affect only their own windows.
func TestNotFinite(t *testing.T) {
	ref.SkipRace(t)
	rng := rand.New(rand.NewPCG(9, 10))
	for m := match.ZNCC; m <= match.SSD; m++ {
		for i := range 6 {
			c := 1 + i%2
			img := picture[float32](rng, 70, 50, c, i%3)
			for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
				img.Row(rng.IntN(50))[rng.IntN(70*c)] = float32(v)
			}
			template := picture[float32](rng, 9, 7, c, 0)
			opt := &match.Options{}
			if i >= 3 {
				opt.Mask = boxsum.Image[uint8]{Pix: make([]uint8, 63), Width: 9, Height: 7}
				for k := range opt.Mask.Pix {
					opt.Mask.Pix[k] = uint8(k % 2)
				}
			}
			scores, err := match.Match(img, template, m, opt)
			if err != nil {
				t.Fatal(err)
			}
			for y := range scores.Height {
				for x, got := range scores.Row(y) {
					bad := false
					for j := range 7 {
						for k := range 9 {
							for _, v := range img.Row(y + j)[(x+k)*c:][:c] {
								bad = bad || v-v != 0 && (i < 3 || opt.Mask.Row(j)[k] != 0)
							}
						}
					}
					if bad != (got != got) {
						t.Fatalf("%v, case %d: %v at (%d, %d)", m, i, got, x, y)
					}
					if want := score(img, template, opt.Mask, m, x, y); !bad && math.Abs(want-float64(got)) > 1e-5*max(1, want) {
						t.Fatalf("%v, case %d: %v at (%d, %d), want %v", m, i, got, x, y, want)
					}
				}
			}
		}
	}
}

func TestErrors(t *testing.T) {
	img := boxsum.Image[uint8]{Pix: make([]uint8, 100), Width: 10, Height: 10}
	template := boxsum.Image[uint8]{Pix: []uint8{1, 2, 3, 4}, Width: 2, Height: 2}
	scores, _ := boxsum.NewImage[float32](9, 9, 1)
	done, cancel := context.WithCancel(context.Background())
	cancel()
	for _, test := range []struct {
		name          string
		scores        boxsum.Image[float32]
		img, template boxsum.Image[uint8]
		method        match.Method
		opt           *match.Options
		want          error
	}{
		{"no template", scores, img, boxsum.Image[uint8]{}, match.SSD, nil, boxsum.ErrInvalid},
		{"no image", scores, boxsum.Image[uint8]{}, template, match.SSD, nil, boxsum.ErrInvalid},
		{"too large", scores, template, img, match.SSD, nil, boxsum.ErrInvalid},
		{"channels", scores, img, boxsum.Image[uint8]{Pix: make([]uint8, 12), Width: 2, Height: 2, Channels: 3}, match.SSD, nil, boxsum.ErrInvalid},
		{"five channels", scores, boxsum.Image[uint8]{Pix: make([]uint8, 500), Width: 10, Height: 10, Channels: 5}, boxsum.Image[uint8]{Pix: make([]uint8, 12), Width: 1, Height: 1, Channels: 5}, match.SSD, nil, boxsum.ErrInvalid},
		{"short", scores, boxsum.Image[uint8]{Pix: make([]uint8, 99), Width: 10, Height: 10}, template, match.SSD, nil, boxsum.ErrInvalid},
		{"method", scores, img, template, 9, nil, boxsum.ErrInvalid},
		{"flat", scores, img, boxsum.Image[uint8]{Pix: []uint8{5, 5, 5, 5}, Width: 2, Height: 2}, match.ZNCC, nil, boxsum.ErrInvalid},
		{"zero", scores, img, boxsum.Image[uint8]{Pix: make([]uint8, 4), Width: 2, Height: 2}, match.NCC, nil, boxsum.ErrInvalid},
		{"mask size", scores, img, template, match.NCC, &match.Options{Mask: boxsum.Image[uint8]{Pix: make([]uint8, 9), Width: 3, Height: 3}}, boxsum.ErrInvalid},
		{"mask of nothing", scores, img, template, match.NCC, &match.Options{Mask: boxsum.Image[uint8]{Pix: make([]uint8, 4), Width: 2, Height: 2}}, boxsum.ErrInvalid},
		{"mask is broken", scores, img, template, match.NCC, &match.Options{Mask: boxsum.Image[uint8]{Width: 2, Height: 2}}, boxsum.ErrInvalid},
		{"scores", boxsum.Image[float32]{Pix: make([]float32, 100), Width: 10, Height: 10}, img, template, match.NCC, nil, boxsum.ErrInvalid},
		{"workers", scores, img, template, match.NCC, &match.Options{Workers: -1}, boxsum.ErrInvalid},
		{"done", scores, img, template, match.NCC, &match.Options{Context: done}, context.Canceled},
	} {
		if err := match.MatchInto(test.scores, test.img, test.template, test.method, test.opt); !errors.Is(err, test.want) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	f := boxsum.Image[float32]{Pix: make([]float32, 100), Width: 10, Height: 10}
	bad := boxsum.Image[float32]{Pix: []float32{1, float32(math.NaN())}, Width: 2, Height: 1}
	if _, err := match.Match(f, bad, match.SSD, nil); !errors.Is(err, boxsum.ErrInvalid) {
		t.Errorf("a NaN in the template: %v", err)
	}
	same := boxsum.Image[float32]{Pix: f.Pix, Width: 9, Height: 10}
	if err := match.MatchInto(same, f, boxsum.Image[float32]{Pix: []float32{1, 2}, Width: 2, Height: 1}, match.SSD, nil); !errors.Is(err, boxsum.ErrOverlap) {
		t.Errorf("scores over the image: %v", err)
	}
}
