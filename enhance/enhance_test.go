package enhance_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/enhance"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/ref"
)

// picture returns an image of noise, of hills, or flat but for a few pixels.
func picture[P enhance.Pixel](rng *rand.Rand, width, height, kind int) boxsum.Image[P] {
	img := boxsum.Image[P]{Width: width, Height: height, Channels: 1, Stride: width + rng.IntN(3)}
	img.Pix = make([]P, img.Stride*height)
	most := 256
	if raster.TypeOf[P]() == raster.U16 {
		most = 1 << 16
	}
	for i := range img.Pix {
		switch kind {
		case 0:
			img.Pix[i] = P(rng.IntN(most))
		case 1:
			x, y := i%img.Stride, i/img.Stride
			img.Pix[i] = P(float64(most) * (0.5 + 0.3*math.Sin(float64(x)/17)*math.Cos(float64(y)/11) + 0.1*rng.Float64()))
		default:
			img.Pix[i] = P(most / 3)
			if rng.IntN(30) == 0 {
				img.Pix[i] = P(rng.IntN(most))
			}
		}
	}
	return img
}

// TestOpenCV compares 200 images with OpenCV's, to the bit.
func TestOpenCV(t *testing.T) {
	ref.SkipRace(t)
	py := ref.StartPython(t, "testdata/peers.py")
	rng := rand.New(rand.NewPCG(ref.Seed(t, 41), 6))
	for i := range 200 {
		if i%4 == 3 {
			compareOpenCV[uint16](t, py, rng, i)
		} else {
			compareOpenCV[uint8](t, py, rng, i)
		}
	}
}

func compareOpenCV[P enhance.Pixel](t *testing.T, py ref.Script, rng *rand.Rand, i int) {
	t.Helper()
	img := picture[P](rng, 1+rng.IntN(400), 1+rng.IntN(300), i%3)
	if i%10 == 9 {
		img = picture[P](rng, 1+rng.IntN(9), 1+rng.IntN(9), i%3)
	}
	levels := boxsum.Levels()
	opt := &enhance.Options{Across: 1 + rng.IntN(12), Down: 1 + rng.IntN(12), Clip: []float64{-1, 0.5, 2, 3.7, 40, 1e9}[rng.IntN(6)], Level: levels[i%len(levels)], Workers: 1 + i%3}
	if i%5 == 0 {
		opt.Across, opt.Down = 0, 0
	}
	across, down := opt.Across, opt.Down
	if across == 0 {
		across, down = 8, 8
	}
	name := fmt.Sprintf("image %d: %v %d×%d, tiles %d×%d, clip %v", i, raster.TypeOf[P](), img.Width, img.Height, across, down, opt.Clip)
	dtype := map[raster.Type]string{raster.U8: "u1", raster.U16: "u2"}[raster.TypeOf[P]()]
	fmt.Fprintln(py.In, dtype, img.Height, img.Width, across, down, min(opt.Clip, 1e6))
	for y := range img.Height {
		if err := binary.Write(py.In, binary.NativeEndian, img.Row(y)); err != nil {
			t.Fatal(err)
		}
	}
	want := make([]P, img.Width*img.Height)
	if err := binary.Read(py.Out, binary.NativeEndian, want); err != nil {
		t.Fatal(name, err)
	}
	got, err := enhance.CLAHE(img, opt)
	if err != nil {
		t.Fatal(name, err)
	}
	if i%2 == 0 { // in place
		if err := enhance.CLAHEInto(img, img, opt); err != nil {
			t.Fatal(name, err)
		}
	}
	for k, v := range want {
		x, y := k%img.Width, k/img.Width
		if g := got.Row(y)[x]; g != v {
			t.Fatalf("%s: %v at (%d, %d), OpenCV has %v", name, g, x, y, v)
		}
		if g := img.Row(y)[x]; i%2 == 0 && g != v {
			t.Fatalf("%s: %v at (%d, %d) in place, OpenCV has %v", name, g, x, y, v)
		}
	}
}

// TestChannels tests that channels are equalized one by one.
func TestChannels(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 7))
	img := picture[uint8](rng, 3*70, 50, 1)
	color := boxsum.Image[uint8]{Pix: img.Pix, Width: 70, Height: 50, Channels: 3, Stride: img.Stride}
	got, err := enhance.CLAHE(color, &enhance.Options{Clip: 3})
	if err != nil {
		t.Fatal(err)
	}
	for c := range 3 {
		one, _ := boxsum.NewImage[uint8](70, 50, 1)
		for y := range 50 {
			for x := range 70 {
				one.Row(y)[x] = color.Row(y)[3*x+c]
			}
		}
		if err := enhance.CLAHEInto(one, one, &enhance.Options{Clip: 3}); err != nil {
			t.Fatal(err)
		}
		for y := range 50 {
			for x := range 70 {
				if g := got.Row(y)[3*x+c]; g != one.Row(y)[x] {
					t.Fatalf("%v at %d,%d,%d, want %v", g, x, y, c, one.Row(y)[x])
				}
			}
		}
	}
}

// TestColor tests that colors keep their proportions.
func TestColor(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 9))
	img := picture[uint16](rng, 4*70, 50, 1)
	color := boxsum.Image[uint16]{Pix: img.Pix, Width: 70, Height: 50, Channels: 4, Stride: img.Stride}
	clear(color.Row(0)[:4])
	values, _ := boxsum.NewImage[uint16](70, 50, 1)
	for y := range 50 {
		for x := range 70 {
			p := color.Row(y)[4*x:]
			values.Row(y)[x] = max(p[0], p[1], p[2])
		}
	}
	opt := &enhance.Options{Clip: 3, Color: true}
	got, err := enhance.CLAHE(color, opt)
	if err != nil {
		t.Fatal(err)
	}
	want, err := enhance.CLAHE(values, opt)
	if err != nil {
		t.Fatal(err)
	}
	for y := range 50 {
		for x := range 70 {
			p, q, v := color.Row(y)[4*x:], got.Row(y)[4*x:], float64(values.Row(y)[x])
			for c := range 3 {
				if w := float64(want.Row(y)[x]); v > 0 && math.Abs(float64(q[c])-float64(p[c])*w/v) > 0.5 || v == 0 && float64(q[c]) != w {
					t.Fatalf("%v at %d,%d,%d for %v, %v → %v", q[c], x, y, c, p[c], v, w)
				}
			}
			if q[3] != p[3] {
				t.Fatal("alpha changed")
			}
		}
	}
	if err := enhance.CLAHEInto(color, color, opt); err != nil || color.Row(20)[7] != got.Row(20)[7] {
		t.Error("in place", err)
	}
}

// TestSame tests that results have the same bits at every level and with any number of workers, and that nothing is
// written between rows.
func TestSame(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 8))
	img := picture[uint8](rng, 1203, 600, 1)
	var want []uint8
	for _, level := range boxsum.Levels() {
		for _, workers := range []int{1, 2, 5} {
			dst := boxsum.Image[uint8]{Pix: make([]uint8, 1210*600), Width: 1203, Height: 600, Stride: 1210}
			for i := range dst.Pix {
				dst.Pix[i] = 77
			}
			if err := enhance.CLAHEInto(dst, img, &enhance.Options{Level: level, Workers: workers, Clip: 2}); err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = dst.Pix
			}
			for i, v := range dst.Pix {
				if v != want[i] || i%1210 >= 1203 && v != 77 {
					t.Fatalf("level %v with %d workers: %v at %d, want %v", level, workers, v, i, want[i])
				}
			}
		}
	}
}

func TestErrors(t *testing.T) {
	img, _ := boxsum.NewImage[uint8](20, 10, 1)
	small, _ := boxsum.NewImage[uint8](19, 10, 1)
	inside := img
	inside.Pix, inside.Width = img.Pix[1:], 19
	part := img
	part.Width = 19
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	clahe := func(dst boxsum.Image[uint8], opt *enhance.Options) error { return enhance.CLAHEInto(dst, img, opt) }
	for name, c := range map[string]struct{ err, want error }{
		"size":     {clahe(small, nil), boxsum.ErrInvalid},
		"tiles":    {clahe(img, &enhance.Options{Across: -1}), boxsum.ErrInvalid},
		"many":     {clahe(img, &enhance.Options{Down: math.MaxInt}), boxsum.ErrInvalid},
		"clip":     {clahe(img, &enhance.Options{Clip: math.NaN()}), boxsum.ErrInvalid},
		"workers":  {clahe(img, &enhance.Options{Workers: -1}), boxsum.ErrInvalid},
		"context":  {clahe(img, &enhance.Options{Context: ctx}), context.Canceled},
		"overlap":  {enhance.CLAHEInto(inside, part, nil), boxsum.ErrOverlap},
		"short":    {enhance.CLAHEInto(img, boxsum.Image[uint8]{Width: 20, Height: 10}, nil), boxsum.ErrInvalid},
		"negative": {enhance.CLAHEInto(img, boxsum.Image[uint8]{Width: -20, Height: 10}, nil), boxsum.ErrInvalid},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", name, c.err, c.want)
		}
	}
	if _, err := enhance.CLAHE(boxsum.Image[uint16]{}, nil); err != nil {
		t.Error(err)
	}
}

func BenchmarkCLAHE(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	b.Run("uint8", func(b *testing.B) { benchmark[uint8](b, rng) })
	b.Run("uint16", func(b *testing.B) { benchmark[uint16](b, rng) })
}

func benchmark[P enhance.Pixel](b *testing.B, rng *rand.Rand) {
	img := picture[P](rng, 1920, 1080, 1)
	dst, _ := boxsum.NewImage[P](1920, 1080, 1)
	opt := &enhance.Options{Workers: 1}
	b.SetBytes(1920 * 1080)
	for b.Loop() {
		if err := enhance.CLAHEInto(dst, img, opt); err != nil {
			b.Fatal(err)
		}
	}
}
