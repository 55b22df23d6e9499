package denoise_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/denoise"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/volume"
)

// hills returns a volume of hills with noise.
func hills[P denoise.Float](rng *rand.Rand, width, height, depth, channels int) volume.Volume[P] {
	v := volume.Volume[P]{Width: width, Height: height, Depth: depth, Channels: channels, Stride: width*channels + rng.IntN(3)}
	v.SliceStride = v.Stride*height + rng.IntN(3)
	v.Pix = make([]P, v.SliceStride*depth)
	for i := range v.Pix {
		x, y := i%v.Stride, i/v.Stride
		v.Pix[i] = P(0.5 + 0.3*math.Sin(float64(x)/5)*math.Cos(float64(y)/7) + 0.2*(rng.Float64()-0.5))
	}
	return v
}

// TestScikitImage compares images and volumes with scikit-image's.
func TestScikitImage(t *testing.T) {
	ref.SkipRace(t)
	py := ref.StartPython(t, "testdata/floats.py")
	rng := rand.New(rand.NewPCG(ref.Seed(t, 41), 40))
	for i := range 200 {
		if i%5 == 4 {
			compareFloats[float32](t, py, rng, i, 2e-6)
		} else {
			compareFloats[float64](t, py, rng, i, 1e-9)
		}
	}
}

func compareFloats[P denoise.Float](t *testing.T, py ref.Script, rng *rand.Rand, i int, tolerance float64) {
	t.Helper()
	width, height, depth, channels := 1+rng.IntN(40), 1+rng.IntN(40), 1, 1
	opt := &denoise.FloatOptions{
		Strength: 0.02 + 0.2*rng.Float64(), Patch: 1 + rng.IntN(8), Search: 1 + 2*rng.IntN(5), Shifted: true, Noise: 0.05 * float64(rng.IntN(2)),
		Level: boxsum.Levels()[i%len(boxsum.Levels())], Workers: 1 + i%3,
	}
	if i%2 == 1 {
		channels = 1 + rng.IntN(4)
	}
	solid := i%3 == 2
	if solid {
		width, height, depth = 1+rng.IntN(12), 1+rng.IntN(12), 1+rng.IntN(12)
		opt.Patch, opt.Search = 1+rng.IntN(5), 1+2*rng.IntN(3)
	}
	if i%10 == 0 {
		height = 100 + rng.IntN(150) // several strips
	}
	v := hills[P](rng, width, height, depth, channels)
	name := fmt.Sprintf("image %d: %v %d×%d×%d×%d, %+v", i, raster.TypeOf[P](), width, height, depth, channels, *opt)
	slices := 0
	if solid {
		slices = depth
	}
	dtype := "f8"
	if raster.TypeOf[P]() == raster.F32 {
		dtype = "f4"
	}
	fmt.Fprintln(py.In, dtype, slices, height, width, channels, opt.Patch, opt.Search/2, opt.Strength, opt.Noise)
	for z := range depth {
		for y := range height {
			if err := binary.Write(py.In, binary.NativeEndian, v.Pix[z*v.SliceStride+y*v.Stride:][:width*channels]); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := make([]P, width*height*depth*channels)
	if err := binary.Read(py.Out, binary.NativeEndian, want); err != nil {
		t.Fatal(name, err)
	}
	var err error
	if solid {
		err = denoise.VolumeNonLocalMeansInto(v, v, opt)
	} else {
		img := boxsum.Image[P]{Pix: v.Pix, Width: width, Height: height, Channels: channels, Stride: v.Stride}
		err = denoise.FloatNonLocalMeansInto(img, img, opt)
	}
	if err != nil {
		t.Fatal(name, err)
	}
	for k, w := range want {
		x, y, z := k%(width*channels), k/(width*channels)%height, k/(width*channels*height)
		if g := v.Pix[z*v.SliceStride+y*v.Stride+x]; !(math.Abs(float64(g-w)) <= tolerance) {
			t.Fatalf("%s: %v at (%d, %d, %d), scikit-image has %v", name, g, x, y, z, w)
		}
	}
}

// TestFloats compares centered patches with their definition, and all levels and numbers of workers with each other.
func TestFloats(t *testing.T) {
	rng := rand.New(rand.NewPCG(ref.Seed(t, 41), 41))
	v := hills[float64](rng, 31, 230, 1, 2)
	img := boxsum.Image[float64]{Pix: v.Pix, Width: 31, Height: 230, Channels: 2, Stride: v.Stride}
	opt := denoise.FloatOptions{Strength: 0.1, Patch: 5, Search: 7, Workers: 1}
	got, err := denoise.FloatNonLocalMeans(img, &opt)
	if err != nil {
		t.Fatal(err)
	}
	at := func(x, y, c int) float64 {
		x, y = max(x, -x), max(y, -y)
		return img.Row(min(y, 458-y))[min(x, 60-x)*2+c]
	}
	for range 100 {
		x, y := rng.IntN(31), rng.IntN(230)
		sums, total := [2]float64{}, 0.0
		for dy := -3; dy <= 3; dy++ {
			for dx := -3; dx <= 3; dx++ {
				d := 0.0
				for v := -2; v <= 2; v++ {
					for u := -2; u <= 2; u++ {
						for c := range 2 {
							d += math.Pow(at(x+u, y+v, c)-at(x+u+dx, y+v+dy, c), 2)
						}
					}
				}
				if d /= 2 * 0.1 * 0.1 * 25; d <= 5 {
					w := math.Float64frombits(uint64(int32(-1512775.3951951856938*d)+1072632447) << 32)
					total += w
					for c := range 2 {
						sums[c] += w * at(x+dx, y+dy, c)
					}
				}
			}
		}
		for c := range 2 {
			if g, want := got.Row(y)[x*2+c], sums[c]/total; math.Abs(g-want) > 1e-6 {
				t.Fatalf("%v at (%d, %d), want %v", g, x, y, want)
			}
		}
	}
	for _, level := range boxsum.Levels() {
		for _, workers := range []int{1, 2, 7} {
			opt.Level, opt.Workers = level, workers
			other, err := denoise.FloatNonLocalMeans(img, &opt)
			if err != nil || !slices.Equal(got.Pix, other.Pix) {
				t.Errorf("level %v with %d workers: other bits, error %v", level, workers, err)
			}
		}
	}
}

// TestTiles compares an image of several tiles with a part of it.
func TestTiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	v := hills[float64](rng, 1100, 30, 1, 1)
	img := boxsum.Image[float64]{Pix: v.Pix, Width: 1100, Height: 30, Channels: 1, Stride: v.Stride}
	opt := denoise.FloatOptions{Strength: 0.1, Patch: 5, Search: 39}
	all, err := denoise.FloatNonLocalMeans(img, &opt)
	if err != nil {
		t.Fatal(err)
	}
	const left, margin = 450, 22 // what patches and their search reach
	part := boxsum.Image[float64]{Pix: img.Pix[left:], Width: 120, Height: 30, Channels: 1, Stride: img.Stride}
	got, err := denoise.FloatNonLocalMeans(part, &opt)
	if err != nil {
		t.Fatal(err)
	}
	for y := range 30 {
		for x := margin; x < part.Width-margin; x++ {
			if g, want := got.Row(y)[x], all.Row(y)[left+x]; math.Abs(g-want) > 1e-6 {
				t.Fatalf("%v at (%d, %d), want %v", g, x, y, want)
			}
		}
	}
}

// canceledAfter is a context that is canceled after it has been asked a number of times.
type canceledAfter struct {
	context.Context
	asked *atomic.Int32
}

func (c canceledAfter) Done() <-chan struct{} { return make(chan struct{}) }

func (c canceledAfter) Err() error {
	if c.asked.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestCanceled tests that a context that is canceled at any time results in an error or in the whole image.
func TestCanceled(t *testing.T) {
	v := hills[float64](rand.New(rand.NewPCG(41, 43)), 30, 40, 1, 1)
	img, small := v.Slice(0), picture[uint8](rand.New(rand.NewPCG(41, 44)), 30, 40, 1)
	floats, err := denoise.FloatNonLocalMeans(img, &denoise.FloatOptions{Search: 5})
	if err != nil {
		t.Fatal(err)
	}
	bytes, err := denoise.NonLocalMeans(small, &denoise.Options{Search: 5})
	if err != nil {
		t.Fatal(err)
	}
	canceled := 0
	for n := range 60 {
		ctx := canceledAfter{context.Background(), new(atomic.Int32)}
		ctx.asked.Store(int32(n))
		got, err := denoise.FloatNonLocalMeans(img, &denoise.FloatOptions{Search: 5, Context: ctx})
		if !errors.Is(err, context.Canceled) && (err != nil || !slices.Equal(got.Pix, floats.Pix)) {
			t.Errorf("floats, canceled after %d times: another image, or error %v", n, err)
		}
		if err != nil {
			canceled++
		}
		ctx.asked.Store(int32(n))
		gotBytes, err := denoise.NonLocalMeans(small, &denoise.Options{Search: 5, Context: ctx})
		if !errors.Is(err, context.Canceled) && (err != nil || !slices.Equal(gotBytes.Pix, bytes.Pix)) {
			t.Errorf("bytes, canceled after %d times: another image, or error %v", n, err)
		}
	}
	if canceled < 3 || canceled == 60 {
		t.Errorf("%d of 60 calls were canceled, want some", canceled)
	}
}

func TestRefusedFloats(t *testing.T) {
	img, _ := boxsum.NewImage[float32](9, 7, 1)
	bad, _ := boxsum.NewImage[float32](9, 7, 1)
	bad.Pix[9] = float32(math.Inf(1))
	other, _ := boxsum.NewImage[float32](8, 7, 1)
	cleaned := func(img boxsum.Image[float32], opt denoise.FloatOptions) error {
		_, err := denoise.FloatNonLocalMeans(img, &opt)
		return err
	}
	for what, err := range map[string]error{
		"infinity":    cleaned(bad, denoise.FloatOptions{}),
		"patch":       cleaned(img, denoise.FloatOptions{Patch: -1}),
		"search":      cleaned(img, denoise.FloatOptions{Search: 1 << 20}),
		"strength":    cleaned(img, denoise.FloatOptions{Strength: -1}),
		"NaN":         cleaned(img, denoise.FloatOptions{Strength: math.NaN()}),
		"noise":       cleaned(img, denoise.FloatOptions{Noise: -1}),
		"workers":     cleaned(img, denoise.FloatOptions{Workers: -1}),
		"short":       cleaned(boxsum.Image[float32]{Pix: img.Pix, Width: 9, Height: 8}, denoise.FloatOptions{}),
		"destination": denoise.FloatNonLocalMeansInto(other, img, nil),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	empty, _ := volume.New[float64](0, 5, 2, 1)
	if _, err := denoise.VolumeNonLocalMeans(empty, nil); err != nil {
		t.Error(err)
	}
}
