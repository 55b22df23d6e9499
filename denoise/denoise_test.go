package denoise_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/denoise"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/ref"
)

// picture returns hills with noise.
func picture[P denoise.Pixel](rng *rand.Rand, width, height, channels int) boxsum.Image[P] {
	img := boxsum.Image[P]{Width: width, Height: height, Channels: channels, Stride: width*channels + rng.IntN(3)}
	img.Pix = make([]P, img.Stride*height)
	white := 255.0
	if raster.TypeOf[P]() == raster.U16 {
		white = 65535
	}
	noise := []float64{0.02, 0.1, 1}[rng.IntN(3)]
	for i := range img.Pix {
		x, y := i%img.Stride, i/img.Stride
		v := 0.5 + 0.3*math.Sin(float64(x)/5)*math.Cos(float64(y)/7) + noise*(rng.Float64()-0.5)
		img.Pix[i] = P(min(max(v, 0), 1) * white)
	}
	return img
}

// TestOpenCV compares 200 images with OpenCV's, to the bit.
func TestOpenCV(t *testing.T) {
	ref.SkipRace(t)
	py := ref.StartPython(t, "testdata/peers.py")
	rng := rand.New(rand.NewPCG(ref.Seed(t, 41), 20))
	for i := range 200 {
		if i%4 == 3 {
			compare[uint16](t, py, rng, i)
		} else {
			compare[uint8](t, py, rng, i)
		}
	}
}

func compare[P denoise.Pixel](t *testing.T, py ref.Script, rng *rand.Rand, i int) {
	t.Helper()
	channels := 1
	if i%2 == 1 {
		channels = 1 + rng.IntN(4)
	}
	width, height, count := 1+rng.IntN(60), 1+rng.IntN(50), 1
	if i%3 == 2 {
		count = 3
		width, height = 5+rng.IntN(40), 5+rng.IntN(30)
	}
	if i%10 == 0 {
		width, height = 1+rng.IntN(9), 100+rng.IntN(200) // several strips and bands
	}
	frames := make([]boxsum.Image[P], count)
	for k := range frames {
		frames[k] = picture[P](rng, width, height, channels)
	}
	index := count / 2
	wide := raster.TypeOf[P]() == raster.U16
	opt := &denoise.Options{
		Strength: []float64{0.5, 3, 10, 40}[rng.IntN(4)], Patch: 1 + rng.IntN(9), Search: 1 + rng.IntN(20), Absolute: wide || rng.IntN(3) == 0,
		Level: boxsum.Levels()[i%len(boxsum.Levels())], Workers: 1 + i%3,
	}
	if i%20 == 5 { // more offsets than process a row together
		opt.Search = 45
	}
	if wide {
		opt.Strength *= 257
	}
	if count > 1 { // OpenCV refuses even sides of several frames
		opt.Patch, opt.Search = opt.Patch|1, opt.Search|1
	}
	name := fmt.Sprintf("image %d: %d of %v %d×%d×%d, %+v", i, count, raster.TypeOf[P](), width, height, channels, *opt)
	dtype, absolute := "u1", 0
	if wide {
		dtype = "u2"
	}
	if opt.Absolute {
		absolute = 1
	}
	fmt.Fprintln(py.In, dtype, count, height, width, channels, index, opt.Strength, opt.Patch, opt.Search, absolute)
	for _, f := range frames {
		for y := range height {
			if err := binary.Write(py.In, binary.NativeEndian, f.Row(y)); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := make([]P, width*height*channels)
	if err := binary.Read(py.Out, binary.NativeEndian, want); err != nil {
		t.Fatal(name, err)
	}
	got, err := denoise.FramesNonLocalMeans(frames, index, opt)
	if err != nil {
		t.Fatal(name, err)
	}
	if err := denoise.FramesNonLocalMeansInto(frames[index], frames, index, opt); err != nil {
		t.Fatal(name, err)
	}
	for k, v := range want {
		x, y := k%(width*channels), k/(width*channels)
		if g, h := got.Row(y)[x], frames[index].Row(y)[x]; g != v || h != v {
			t.Fatalf("%s: %v at (%d, %d), in place %v, OpenCV has %v", name, g, x, y, h, v)
		}
	}
}

// TestPlain tests that flat images stay as they are, and that strength removes noise.
func TestPlain(t *testing.T) {
	flat, err := boxsum.NewImage[uint8](70, 40, 3)
	if err != nil {
		t.Fatal(err)
	}
	for i := range flat.Pix {
		flat.Pix[i] = uint8(50 * (1 + i%3))
	}
	got, err := denoise.NonLocalMeans(flat, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got.Pix {
		if v != flat.Pix[i] {
			t.Fatalf("element %d of a flat image is %d, want %d", i, v, flat.Pix[i])
		}
	}
	rng := rand.New(rand.NewPCG(41, 21))
	noisy, _ := boxsum.NewImage[uint8](90, 80, 1)
	for i := range noisy.Pix {
		noisy.Pix[i] = uint8(128 + 8*rng.NormFloat64())
	}
	clean, err := denoise.NonLocalMeans(noisy, &denoise.Options{Strength: 12})
	if err != nil {
		t.Fatal(err)
	}
	if before, after := deviation(noisy.Pix), deviation(clean.Pix); after > before/4 {
		t.Errorf("the deviation of noise is %v after denoising, %v before", after, before)
	}
}

func deviation(pixels []uint8) float64 {
	sum, squares := 0.0, 0.0
	for _, v := range pixels {
		sum += float64(v)
		squares += float64(v) * float64(v)
	}
	n := float64(len(pixels))
	return math.Sqrt(squares/n - sum/n*sum/n)
}

func TestProgress(t *testing.T) {
	img := picture[uint16](rand.New(rand.NewPCG(41, 22)), 40, 300, 1)
	last := 0.0
	opt := &denoise.Options{Workers: 1, Search: 5, Progress: func(done float64) {
		if done < last {
			t.Errorf("progress went from %v back to %v", last, done)
		}
		last = done
	}}
	if _, err := denoise.NonLocalMeans(img, opt); err != nil || last != 1 {
		t.Errorf("error %v, progress %v", err, last)
	}
	ctx, cancel := context.WithCancel(context.Background())
	opt = &denoise.Options{Workers: 1, Search: 5, Context: ctx, Progress: func(float64) { cancel() }}
	if _, err := denoise.NonLocalMeans(img, opt); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled context gives %v", err)
	}
	empty, _ := boxsum.NewImage[uint16](0, 5, 1)
	if _, err := denoise.NonLocalMeans(empty, nil); err != nil {
		t.Error(err)
	}
}

// TestFrames tests that frames may have zero channels and zero strides, which mean the same as one channel and no gaps.
func TestFrames(t *testing.T) {
	img, _ := boxsum.NewImage[uint8](9, 7, 1)
	short := boxsum.Image[uint8]{Pix: img.Pix, Width: 9, Height: 7}
	for _, frames := range [][]boxsum.Image[uint8]{{img, short}, {short, img}} {
		for index := range frames {
			if _, err := denoise.FramesNonLocalMeans(frames, index, nil); err != nil {
				t.Errorf("channels %d and %d, frame %d: %v", frames[0].Channels, frames[1].Channels, index, err)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	img, _ := boxsum.NewImage[uint8](9, 7, 1)
	other, _ := boxsum.NewImage[uint8](8, 7, 1)
	five, _ := boxsum.NewImage[uint8](9, 7, 5)
	cleaned := func(opt denoise.Options) error {
		_, err := denoise.NonLocalMeans(img, &opt)
		return err
	}
	frames := func(index int, frames ...boxsum.Image[uint8]) error {
		_, err := denoise.FramesNonLocalMeans(frames, index, nil)
		return err
	}
	for what, err := range map[string]error{
		"patch":             cleaned(denoise.Options{Patch: -1}),
		"large patch":       cleaned(denoise.Options{Patch: 500}),
		"search":            cleaned(denoise.Options{Search: -1}),
		"large search":      cleaned(denoise.Options{Search: 4000}),
		"strength":          cleaned(denoise.Options{Strength: -1}),
		"NaN":               cleaned(denoise.Options{Strength: math.NaN()}),
		"infinite strength": cleaned(denoise.Options{Strength: math.Inf(1)}),
		"workers":           cleaned(denoise.Options{Workers: -1}),
		"no frames":         frames(0),
		"index":             frames(1, img),
		"negative index":    frames(-1, img),
		"sizes":             frames(0, img, other),
		"channels":          frames(0, five),
		"short image":       frames(0, boxsum.Image[uint8]{Pix: img.Pix, Width: 9, Height: 8}),
		"destination":       denoise.NonLocalMeansInto(other, img, nil),
		"another frame":     denoise.FramesNonLocalMeansInto(img, []boxsum.Image[uint8]{{Pix: make([]uint8, 63), Width: 9, Height: 7}, img}, 0, nil),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}
