//go:build cgo

package main

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/denoise"
	"github.com/boxsum/boxsum/enhance"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/gpu/interop"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/match"
	"github.com/boxsum/boxsum/quality"
	"github.com/boxsum/boxsum/rank"
	"github.com/boxsum/boxsum/threshold"
)

// TestFiltersOfADevice tests that filters of arrays on any available device equal those on the host.
func TestFiltersOfADevice(t *testing.T) {
	d, err := gpu.OpenBest()
	if err != nil {
		d, err = gpu.OpenBest(gpu.OpenCL) // a processor suffices
	}
	if err != nil {
		ref.NoDevice(t, err)
	}
	defer d.Close()
	const width, height, gap = 61, 47, 3
	src, err := boxsum.NewImage[uint8](width, height, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range src.Pix {
		src.Pix[i] = uint8(rand.Uint32())
	}
	memory := func(kind byte, bytes, height, width, gap int) flatArray {
		stride := (width + gap) * bytes
		handle, err := interop.Take(d, int64(height*stride))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { interop.Give(d, handle) })
		return flatArray{kind: int(kind), bytes: bytes, axes: 2, address: int(handle), shape: [4]int{height, width}, strides: [4]int{stride, bytes}}
	}
	pixels := memory('u', 1, height, width, gap)
	made := func(out flatArray) *resident { return newResidentOf([]flatArray{pixels, out}, d) }
	u8out, f32out := memory('u', 1, height, width, gap), memory('f', 4, height, width, 0)
	if err := imageOver[uint8](made(u8out), &made(u8out).image).Set(0, src); err != nil {
		t.Fatal(err)
	}
	w, opt := filter.Window{Width: 5, Height: 8}, &filter.Options{Border: filter.Clip}
	compare := func(name string, call func(), got func() (boxsum.Image[float32], error), want boxsum.Image[float32], tolerance float64) {
		if err := refused(call); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		g, err := got()
		if err != nil {
			t.Fatal(err)
		}
		for y := range want.Height {
			for x, v := range want.Row(y) {
				if math.Abs(float64(g.Row(y)[x]-v)) > tolerance {
					t.Fatalf("%s: %v at (%d, %d), want %v", name, g.Row(y)[x], x, y, v)
				}
			}
		}
	}
	floats := func(r *resident) func() (boxsum.Image[float32], error) {
		return func() (boxsum.Image[float32], error) { return imageOver[float32](r, &r.out).Download(0) }
	}
	bytes := func(r *resident) func() (boxsum.Image[float32], error) {
		return func() (boxsum.Image[float32], error) {
			img, err := imageOver[uint8](r, &r.out).Download(0)
			return asFloats(img), err
		}
	}
	box, _ := filter.Box(src, w, opt)
	compare("box", func() { made(u8out).filter("box", w, opt) }, bytes(made(u8out)), asFloats(box), 0)
	means, devs, _ := filter.MeanStdDev[float32](src, w, opt)
	compare("mean", func() { made(f32out).filter("mean", w, opt) }, floats(made(f32out)), means, 0)
	compare("std", func() { made(f32out).filter("std", w, opt) }, floats(made(f32out)), devs, 0)
	rule := threshold.New(threshold.Sauvola, 9)
	page, _ := threshold.Binarize(src, rule, nil)
	compare("sauvola", func() { made(u8out).threshold(rule) }, bytes(made(u8out)), asFloats(boxsum.Image[uint8]{Pix: page.Pix, Width: width, Height: height, Stride: page.Stride}), 0)

	equalized, _ := enhance.CLAHE(src, &enhance.Options{Across: 3, Down: 2, Clip: -1})
	compare("clahe", func() { made(u8out).clahe(&enhance.Options{Across: 3, Down: 2}) }, bytes(made(u8out)), asFloats(equalized), 0)
	ranked, _ := rank.Filter(src, rank.Percentile, w, &rank.Options{Fraction: 0.3})
	compare("percentile", func() { made(u8out).rank(rank.Percentile, w, &rank.Options{Fraction: 0.3}) }, bytes(made(u8out)), asFloats(ranked), 0)
	denoised, _ := denoise.NonLocalMeans(src, &denoise.Options{Strength: 50, Search: 7})
	compare("nl_means", func() { made(u8out).denoise(&denoise.Options{Strength: 50, Search: 7}) }, bytes(made(u8out)), asFloats(denoised), 0)
	similar, wanted, _ := quality.SSIMMap[float32](src, denoised, nil) // u8out holds the denoised image
	var score float64
	compare("ssim", func() { score = similarityThere([]flatArray{pixels, u8out, f32out}, d, nil) }, floats(made(f32out)), similar, 0)
	if score != wanted {
		t.Errorf("ssim: %v, want %v", score, wanted)
	}

	template := boxsum.Image[uint8]{Pix: src.Pix[5*src.Stride+7:], Width: 9, Height: 6, Stride: src.Stride}
	scores, _ := match.Match(src, template, match.ZNCC, nil)
	scoresOut := memory('f', 4, height-5, width-8, 0)
	var of view
	of.array = array{element: u8, data: unsafe.Pointer(&template.Pix[0])}
	of.layout = layout{width: 9, height: 6, depth: 1, channels: 1, stride: src.Stride, length: 5*src.Stride + 9}
	compare("zncc", func() { made(scoresOut).match(&of, match.ZNCC) }, floats(made(scoresOut)), scores, 1e-5)

	for name, call := range map[string]func(){
		"floats for bytes": func() { made(f32out).filter("box", w, opt) },
		"bytes for floats": func() { made(u8out).filter("mean", w, opt) },
		"no such filter":   func() { made(f32out).filter("median", w, opt) },
		"a map of bytes":   func() { similarityThere([]flatArray{pixels, u8out, u8out}, d, nil) },
		"two types":        func() { similarityThere([]flatArray{pixels, f32out}, d, nil) },
		"no such rank":     func() { made(u8out).rank(rank.Otsu, w, nil) },
		"floats of bytes":  func() { made(f32out).clahe(&enhance.Options{}) },
		"no such method":   func() { made(u8out).threshold(threshold.New(threshold.Wolf, 9)) },
		"a small result":   func() { made(f32out).match(&of, match.ZNCC) },
		"one axis":         func() { bad := pixels; bad.axes = 1; newResidentOf([]flatArray{bad, u8out}, d) },
	} {
		if err := refused(call); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func asFloats(img boxsum.Image[uint8]) boxsum.Image[float32] {
	f, _ := boxsum.NewImage[float32](img.Width, img.Height, 1)
	for y := range img.Height {
		for x, v := range img.Row(y) {
			f.Row(y)[x] = float32(v)
		}
	}
	return f
}
