package quality_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/quality"
	"github.com/boxsum/boxsum/volume"
)

// pair returns two volumes of similar voxels.
func pair[P quality.Pixel](rng *rand.Rand, width, height, depth, channels int) (a, b volume.Volume[P]) {
	stride := width*channels + rng.IntN(3)
	a = volume.Volume[P]{Pix: make([]P, stride*height*depth+3), Width: width, Height: height, Depth: depth, Channels: channels, Stride: stride, SliceStride: stride * height}
	b = a
	b.Pix = make([]P, len(a.Pix))
	most, scale := 255.0, 1.0
	if raster.TypeOf[P]() == raster.U16 {
		most, scale = 65535, 257
	}
	noise := float64(rng.IntN(60)) * scale
	for i := range a.Pix {
		v := rng.Float64() * most
		if i%5 > 0 && i > 0 {
			v = float64(a.Pix[i-1]) // some flat parts
		}
		a.Pix[i] = P(v)
		b.Pix[i] = P(min(max(v+noise*rng.NormFloat64(), 0), most))
	}
	return a, b
}

// plane returns the only slice of a volume.
func plane[P quality.Pixel](v volume.Volume[P]) boxsum.Image[P] {
	return boxsum.Image[P]{Pix: v.Pix, Width: v.Width, Height: v.Height, Channels: v.Channels, Stride: v.Stride}
}

// TestSkimage compares SSIM, its map, PSNR and MSE with scikit-image's, for 200 pairs.
func TestSkimage(t *testing.T) {
	ref.SkipRace(t)
	py := ref.StartPython(t, "testdata/peers.py")
	rng := rand.New(rand.NewPCG(ref.Seed(t, 41), 1))
	for i := range 200 {
		switch i % 4 {
		case 0:
			compareSkimage[uint8](t, py, rng, i)
		case 1:
			compareSkimage[uint16](t, py, rng, i)
		case 2:
			compareSkimage[float32](t, py, rng, i)
		default:
			compareSkimage[float64](t, py, rng, i)
		}
	}
}

func compareSkimage[P quality.Pixel](t *testing.T, py ref.Script, rng *rand.Rand, i int) {
	t.Helper()
	levels := boxsum.Levels()
	opt := &quality.Options{Workers: 1 + i%3, Level: levels[i%len(levels)], Population: i%5 == 0}
	window := 7
	if i%3 == 1 {
		opt.Window = 3 + 2*rng.IntN(8)
		window = opt.Window
	}
	if i%3 == 2 {
		opt.Sigma, window = 0.5+2*rng.Float64(), 0
	}
	least := max(window, 2*int(3.5*opt.Sigma+0.5)+1)
	solid := i/4%4 == 3
	width, height, depth, channels := least+rng.IntN(90), least+rng.IntN(150), 1, 1+i/4%3
	if solid {
		width, height, depth, channels = least+rng.IntN(20), least+rng.IntN(20), least+rng.IntN(9), 1+i/4%2
	}
	kind := raster.TypeOf[P]()
	if kind.Float() {
		opt.DataRange = 100 + 200*rng.Float64()
	}
	a, b := pair[P](rng, width, height, depth, channels)
	name := fmt.Sprintf("pair %d: %v %d×%d×%d×%d, window %d, sigma %v", i, kind, width, height, depth, channels, window, opt.Sigma)
	dtype := map[raster.Type]string{raster.U8: "u1", raster.U16: "u2", raster.F32: "f4", raster.F64: "f8"}[kind]
	fmt.Fprintf(py.In, "%s %d %v %v %v", dtype, window, opt.Sigma, !opt.Population, opt.DataRange)
	if solid {
		fmt.Fprintf(py.In, " %d", depth)
	}
	fmt.Fprintf(py.In, " %d %d %d\n", height, width, channels)
	for _, v := range []volume.Volume[P]{a, b} {
		for z := range depth {
			img := v.Slice(z)
			for y := range height {
				if err := binary.Write(py.In, binary.NativeEndian, img.Row(y)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	var wantMean, wantPSNR, wantMSE float64
	want := make([]float64, width*height*depth*channels)
	for _, to := range []any{&wantMean, want, &wantPSNR, &wantMSE} {
		if err := binary.Read(py.Out, binary.NativeEndian, to); err != nil {
			t.Fatal(name, err)
		}
	}
	var mean float64
	var err error
	m, _ := volume.New[float64](width, height, depth, channels)
	if solid {
		mean, err = quality.VolumeSSIMInto(m, a, b, opt)
	} else {
		mean, err = quality.SSIMInto(plane(m), plane(a), plane(b), opt)
	}
	if err != nil {
		t.Fatal(name, err)
	}
	if !(math.Abs(mean-wantMean) <= 1e-12) {
		t.Errorf("%s: SSIM %v, scikit-image has %v", name, mean, wantMean)
	}
	for k, v := range m.Pix {
		if !(math.Abs(v-want[k]) <= 1e-10) {
			t.Fatalf("%s: %v at %d, scikit-image has %v", name, v, k, want[k])
		}
	}
	if solid {
		return
	}
	psnr, err := quality.PSNR(plane(a), plane(b), opt)
	if err != nil {
		t.Fatal(name, err)
	}
	mse, err := quality.MSE(plane(a), plane(b), opt)
	if err != nil {
		t.Fatal(name, err)
	}
	if d := math.Abs(psnr - wantPSNR); !(d <= 1e-9) && psnr != wantPSNR || !(math.Abs(mse-wantMSE) <= 1e-12*wantMSE) {
		t.Errorf("%s: PSNR %v and MSE %v, scikit-image has %v and %v", name, psnr, mse, wantPSNR, wantMSE)
	}
}
