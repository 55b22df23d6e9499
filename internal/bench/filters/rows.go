package main

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
)

// rows is the table. To add one, write what we do and what the peer does in Python.
var rows = []row{
	{"box mean u8, k = 3", 1.5, box(3), "cv2.blur", "cv2.blur(a, (3, 3), dst=out)"},
	{"box mean u8, k = 9", 1.8, box(9), "cv2.blur", "cv2.blur(a, (9, 9), dst=out)"},
	{"box mean u8, k = 15", 1.8, box(15), "cv2.blur", "cv2.blur(a, (15, 15), dst=out)"},
	{"box mean u8, k = 31", 1.8, box(31), "cv2.blur", "cv2.blur(a, (31, 31), dst=out)"},
	{"box mean u8, k = 63", 1.8, box(63), "cv2.blur", "cv2.blur(a, (63, 63), dst=out)"},
	{"box mean u8, k = 127", 1.8, box(127), "cv2.blur", "cv2.blur(a, (127, 127), dst=out)"},
	{"box mean u8, k = 255", 1.8, box(255), "cv2.blur", "cv2.blur(a, (255, 255), dst=out)"},
	{"box mean u8×3, k = 15", 1.5, func(im *images, opt *filter.Options) error {
		return filter.BoxInto(im.outRGB, im.rgb, filter.Square(15), opt)
	}, "cv2.blur", "cv2.blur(rgb, (15, 15), dst=out_rgb)"},
	{"local mean + std to f32, k = 15", 3, func(im *images, opt *filter.Options) error {
		return filter.MeanStdDevInto(im.out32, im.other32, im.a, filter.Square(15), opt)
	}, "cv2 boxFilter + sqrBoxFilter", "stats(15)"},
	{"box f32, k = 15", 1.5, func(im *images, opt *filter.Options) error {
		return filter.BoxInto(im.out32, im.a32, filter.Square(15), opt)
	}, "cv2.blur", "cv2.blur(a32, (15, 15), dst=out32)"},
	{"box u16, k = 15", 8, func(im *images, opt *filter.Options) error {
		return filter.BoxInto(im.out16, im.a16, filter.Square(15), opt)
	}, "scipy uniform_filter", "ndimage.uniform_filter(a16, 15, output=out16)"},
	{"Gaussian σ 20", 2, gaussian(3), "cv2.stackBlur", "cv2.stackBlur(a, (63, 63), dst=out)"},
	{"Gaussian σ 20", 3, gaussian(3), "libvips", "vips.gaussblur(20).write_to_memory()"},
	{"Gaussian σ 20", 10, gaussian(3), "Pillow", "pil.filter(ImageFilter.GaussianBlur(20))"},
	{"Gaussian σ 20, 4 boxes", 0, gaussian(4), "cv2.GaussianBlur", "cv2.GaussianBlur(a, (0, 0), 20, dst=out)"},
	{"guided, gray, r 16", 4, func(im *images, opt *filter.Options) error {
		return filter.GuidedInto(im.out, im.b, im.a, filter.Radius(16), 100, opt)
	}, "cv2.ximgproc", "cv2.ximgproc.guidedFilter(a, b, 16, 100, out)"},
	{"guided by itself, r 16", 4, func(im *images, opt *filter.Options) error {
		return filter.GuidedInto(im.out, im.a, im.a, filter.Radius(16), 100, opt)
	}, "cv2.ximgproc", "cv2.ximgproc.guidedFilter(a, a, 16, 100, out)"},
	{"median u8, 3×3", 0, median(3), "cv2.medianBlur", "cv2.medianBlur(a, 3, dst=out)"},
	{"median u8, 5×5", 0, median(5), "cv2.medianBlur", "cv2.medianBlur(a, 5, dst=out)"},
	{"downsample u8, 2×2", 0, func(im *images, opt *filter.Options) error {
		return filter.DownsampleInto(im.half, im.a, 2, 2, opt)
	}, "cv2.resize", "cv2.resize(a, (w // 2, h // 2), interpolation=cv2.INTER_AREA)"},
}

func box(k int) func(*images, *filter.Options) error {
	return func(im *images, opt *filter.Options) error {
		return filter.BoxInto(im.out, im.a, filter.Square(k), opt)
	}
}

func gaussian(passes int) func(*images, *filter.Options) error {
	return func(im *images, opt *filter.Options) error {
		return filter.GaussianInto(im.out, im.a, filter.Sigma{X: 20, Y: 20, Passes: passes}, opt)
	}
}

func median(k int) func(*images, *filter.Options) error {
	return func(im *images, opt *filter.Options) error {
		return filter.MedianInto(im.out, im.a, filter.Square(k), opt)
	}
}

// images are what rows read and write: those of peers.py.
type images struct {
	a, b, out, half      boxsum.Image[uint8]
	rgb, outRGB          boxsum.Image[uint8]
	a16, out16           boxsum.Image[uint16]
	a32, out32, other32  boxsum.Image[float32]
	template32, template boxsum.Image[uint8]
}

func newImages(w, h int) *images {
	im := &images{
		a: pixels[uint8](w, h, 1), b: pixels[uint8](w, h, 1), out: pixels[uint8](w, h, 1), half: pixels[uint8](w/2, h/2, 1),
		rgb: pixels[uint8](w, h, 3), outRGB: pixels[uint8](w, h, 3), a16: pixels[uint16](w, h, 1), out16: pixels[uint16](w, h, 1),
		a32: pixels[float32](w, h, 1), out32: pixels[float32](w, h, 1), other32: pixels[float32](w, h, 1),
		template32: pixels[uint8](32, 32, 1), template: pixels[uint8](128, 128, 1),
	}
	for y := range h {
		for x := range w {
			v := uint8(uint32(x)*5/8 + uint32(y)*3/8 + (uint32(x)*2654435761+uint32(y)*40503)>>27)
			i := y*w + x
			im.a.Pix[i], im.b.Pix[(h-1-y)*w+x] = v, v
			im.rgb.Pix[3*i], im.rgb.Pix[3*i+1], im.rgb.Pix[3*i+2] = v, v, v
			im.a16.Pix[i], im.a32.Pix[i] = uint16(v)*257, float32(v)
		}
	}
	crop(im.template32, im.a)
	crop(im.template, im.a)
	return im
}

// crop copies a part of an image, from (40, 40) on.
func crop(dst, src boxsum.Image[uint8]) {
	for y := range dst.Height {
		if row := src.Row(min(40+y, src.Height-1)); len(row) >= 40+dst.Width {
			copy(dst.Row(y), row[40:])
		}
	}
}

func pixels[P boxsum.Pixel](w, h, channels int) boxsum.Image[P] {
	return boxsum.Image[P]{Pix: make([]P, w*h*channels), Stride: w * channels, Width: w, Height: h, Channels: channels}
}
